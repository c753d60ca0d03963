# Completion of notehost for fish: `notehost completions fish | source`, or as a file
# ~/.config/fish/completions/notehost.fish
function __notehost_complete
    set -l words (commandline -opc)
    set -l program $words[1]
    set -e words[1]
    $program complete fish -- $words (commandline -ct) 2>/dev/null
end
complete -c notehost -f -a '(__notehost_complete)'
