# Completion of notehost for bash: `source <(notehost completions bash)`, or as a file
# ~/.local/share/bash-completion/completions/notehost
_notehost() {
    local candidate
    COMPREPLY=()
    while IFS= read -r candidate; do
        COMPREPLY+=("$candidate")
    done < <("${COMP_WORDS[0]}" complete bash -- "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
}
# Complete candidates already end with a space; folders do not.
complete -o nospace -o nosort -F _notehost notehost
