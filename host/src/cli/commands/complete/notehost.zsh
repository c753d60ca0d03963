#compdef notehost
# Completion of notehost for zsh: `source <(notehost completions zsh)`, or as a file `_notehost` in a folder of $fpath.
_notehost() {
    local value about
    local -a whole whole_told open open_told
    while IFS=$'\t' read -r value about; do
        if [[ $value == */ ]]; then
            open+=("$value")
            open_told+=("$value${about:+  -- $about}")
        else
            whole+=("$value")
            whole_told+=("$value${about:+  -- $about}")
        fi
    done < <("${(Q)words[1]}" complete zsh -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)
    compadd -l -d whole_told -a whole
    # A folder is not the end of a path.
    compadd -S '' -l -d open_told -a open
}
if [[ $funcstack[1] == _notehost ]]; then
    _notehost "$@"
else
    compdef _notehost notehost
fi
