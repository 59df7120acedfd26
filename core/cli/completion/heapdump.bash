# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Completion for bash: "heapdump --complete" says what the last word may become, so that no list here gets old.
# Words are given to it as they are: nothing of the line is evaluated, and nothing that it names is opened.

_heapdump()
{
    local program status word current=${COMP_WORDS[COMP_CWORD]}
    local -a words=() found=()
    COMPREPLY=()
    # Only the program of PATH is run: TAB must not run a program of the current folder.
    program=$(type -P heapdump)
    if [[ $program != /* ]]; then
        compopt -o default
        return
    fi
    # bash takes --format=json for three words.
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        if [[ ${#words[@]} -gt 0 && ( $word == = || ${words[-1]} == *= ) ]]; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
    done
    mapfile -t found < <("$program" --complete "${words[@]}" 2>/dev/null; printf '%d\n' "$?")
    status=${found[-1]}
    unset 'found[-1]'
    [[ ${words[-1]} == "$current" ]] || found=("${found[@]#*=}")
    if [[ $status == 1 ]]; then
        # A word with quotes or escapes is readline's business, which takes them off and puts them back.
        if [[ ${#found[@]} -eq 0 || $current == *[!A-Za-z0-9_./+@%,:-]* ]]; then
            compopt -o default
            return
        fi
        compopt -o filenames
        mapfile -t -O "${#found[@]}" found < <(compgen -f -- "$current")
    fi
    COMPREPLY=("${found[@]}")
}

complete -F _heapdump heapdump
