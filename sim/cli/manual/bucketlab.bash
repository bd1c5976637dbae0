# SPDX-License-Identifier: GPL-3.0-or-later
# bash completion for bucketlab: the program says what there is to offer.

# All names that begin with $current and match $1, and all folders.
_bucketlab_files() {
    local path=$current name extglob
    case $path in
    \'* | \"*) path=${path:1} ;;
    *) path=${path//\\/} ;;
    esac
    extglob=$(shopt -p extglob)
    shopt -s extglob
    while IFS= read -r name; do
        COMPREPLY+=("$name")
    done < <(compgen -d -- "$path"; [[ -z $1 ]] || compgen -f -X "!$1" -- "$path")
    eval "$extglob"
    compopt -o filenames 2>/dev/null
}

_bucketlab() {
    local current=$2 program=${COMP_WORDS[0]} head='' word at
    local -a words=() lines
    # shellcheck disable=SC2088
    [[ $program == '~/'* ]] && program=$HOME/${program:2}
    # bash splits '--db=x' and '3:label' into three words, unless the user has changed COMP_WORDBREAKS.
    for ((at = 1; at <= COMP_CWORD; at++)); do
        word=${COMP_WORDS[at]//\\/}
        word=${word//[\'\"]/}
        # shellcheck disable=SC2088
        [[ $word == '~/'* ]] && word=$HOME/${word:2}
        if ((at > 1)) && [[ $word == [=:] || ${COMP_WORDS[at - 1]} == [=:] ]]; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
    done
    [[ $current == [=:] ]] && current=
    [[ $current == --*=* ]] && head=${current%%=*}=
    COMPREPLY=()
    mapfile -t lines < <("$program" complete -- "${words[@]}" 2>/dev/null </dev/null)
    case ${lines[0]} in
    files) _bucketlab_files '*' ;;
    folders) _bucketlab_files '' ;;
    scenarios) _bucketlab_files '*.@(yaml|yml)' ;;
    databases) _bucketlab_files '*.db' ;;
    *)
        for word in "${lines[@]:1}"; do
            COMPREPLY+=("$head${word%%$'\t'*}")
        done
        [[ ${lines[0]} != nospace ]] || compopt -o nospace 2>/dev/null
        ;;
    esac
}

complete -F _bucketlab bucketlab
