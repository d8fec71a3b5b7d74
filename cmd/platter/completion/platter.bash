# bash completion for platter: it asks the command itself.
_platter() {
    local cur words
    cur="${COMP_WORDS[COMP_CWORD]}"
    words=("${COMP_WORDS[@]:0:COMP_CWORD}")
    if [[ "$cur" == -* ]]; then
        words+=("$cur")
    fi
    mapfile -t COMPREPLY < <(compgen -W "$("${words[@]}" --generate-bash-completion 2>/dev/null)" -- "$cur")
    if [[ ${#COMPREPLY[@]} -eq 0 ]]; then
        compopt -o default
    fi
}
complete -F _platter platter
