"""A tool domain for Notehost. An action is a function: a model reads its docstring, the decorator describes its fields.
The vault that it receives permits exactly what the caller may do."""

from notehost import Domain, invalid

domain = Domain(
    "domain_name",
    "0.1.0",
    "Count the words of a note (`count`), and append a line to it (`add`).",
)

PATH = {"type": "string", "description": "The note's path, or its unique name"}
COUNTED = {
    "path": {"type": "string", "description": "The note"},
    "words": {"type": "integer", "description": "Number of words"},
}


@domain.action(
    effect="read",
    input={"path": PATH},
    output=COUNTED,
    text=lambda counted: f"{counted['path']} has {counted['words']} words",
)
def count(vault, path):
    """Count the words of a note."""
    note = vault.read_note(path)
    return {"path": note.path, "words": len(note.text.split())}


# The host enforces the effect: an action with the effect "read" cannot write.
@domain.action(
    effect="write",
    input={"path": PATH, "line": {"type": "string", "description": "The line, without a line break"}},
    output=COUNTED,
    text=lambda counted: f"added; {counted['path']} has {counted['words']} words now",
)
def add(vault, path, line):
    """Add a line to the end of a note."""
    if "\n" in line:
        raise invalid("`line` has a line break: add one line at a time")
    note = vault.read_note(path)
    gap = "" if not note.text or note.text.endswith("\n") else "\n"
    text = f"{note.text}{gap}{line}\n"
    # Staged: committed when the action returns, discarded if it raises.
    vault.write(note, text)
    return {"path": note.path, "words": len(text.split())}
