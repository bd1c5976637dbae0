# SPDX-License-Identifier: GPL-3.0-or-later
# fish completion for bucketlab: the program says what there is to offer.

function __bucketlab_offers
    set -l words (commandline -opc)
    set -l token (commandline -ct)
    count $token >/dev/null; or set token ''
    set -l program (string escape -- $words[1])
    set -e words[1]
    set -l typed (string unescape -- $token); or set typed $token
    set -l lines (eval $program complete -- (string escape -- $words $typed) 2>/dev/null </dev/null)
    switch "$lines[1]"
        case files
            __fish_complete_path $token
        case folders
            __fish_complete_directories $token ''
        case scenarios
            __fish_complete_suffix .yaml
        case databases
            __fish_complete_suffix .db
        case '*'
            set -e lines[1]
            set -l head (string match -r -- '^--[^=]*=' $token); or set head ''
            for line in $lines
                string match -q -- '-*' "$line"; and not string match -q -- '-*' "$token"
                or echo $head$line
            end
    end
end

complete -c bucketlab -f -k -a '(__bucketlab_offers)'
