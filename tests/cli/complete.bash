# SPDX-License-Identifier: GPL-3.0-or-later
# complete.bash SCRIPT WORD...: what bash offers for the last word, a line each. Each WORD is one of COMP_WORDS.
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
function=$(complete -p bucketlab | sed 's/.*-F \([^ ]*\).*/\1/')
before=${COMP_WORDS[COMP_CWORD - 1]}
"$function" bucketlab "${COMP_WORDS[COMP_CWORD]}" "$before"
((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}"
