"""Tasks in the text of a note: list items with a checkbox and a date. Skips fenced code."""

import re
from dataclasses import dataclass
from datetime import date

BOX = re.compile(r"^(?P<before>\s*(?:>\s*)*(?:[-*+]|\d+[.)])\s+\[)(?P<mark>.)(?P<after>\]\s+)(?P<text>.*)$")
# The syntax of the Tasks plugin, of Dataview, and a plain one.
DUE = re.compile(r"\s*(?:📅\ufe0f?\s*|\[due::\s*|\(due::?\s*|@)(\d{4}-\d{2}-\d{2})[\])]?")
FENCE = re.compile(r"^\s*(```|~~~)")


@dataclass
class Task:
    line: int
    text: str
    due: date
    done: bool


def of(text):
    """The tasks of a note that have a date."""
    fence = None
    for number, line in enumerate(text.split("\n"), 1):
        if marker := FENCE.match(line):
            fence = None if fence == marker[1] else fence or marker[1]
            continue
        box = None if fence else BOX.match(line.rstrip("\r"))
        due = box and DUE.search(box["text"])
        if not due:
            continue
        try:
            when = date.fromisoformat(due[1])
        except ValueError:
            continue
        yield Task(number, DUE.sub("", box["text"], count=1).strip(), when, box["mark"] in "xX-")


def checked(text, task):
    """The text with one task checked; every other byte stays."""
    lines = text.split("\n")
    line = lines[task.line - 1]
    at = BOX.match(line.rstrip("\r")).end("before")
    lines[task.line - 1] = line[:at] + "x" + line[at + 1 :]
    return "\n".join(lines)
