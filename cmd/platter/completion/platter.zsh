#compdef platter
# zsh completion for platter: it asks the command itself.
_platter() {
    local -a answers words_before
    local cur="${words[CURRENT]}"
    words_before=("${(@)words[1,CURRENT-1]}")
    if [[ "$cur" == -* ]]; then
        words_before+=("$cur")
    fi
    answers=("${(@f)$("${words_before[@]}" --generate-bash-completion 2>/dev/null)}")
    if [[ -n "${answers[1]}" ]]; then
        compadd -a answers
    else
        _files
    fi
}
compdef _platter platter
