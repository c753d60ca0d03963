"""The agenda: tasks with a date, gathered from all notes, in the order in which they are due."""

from datetime import date, datetime, timedelta

import tasks
from notehost import Domain, Refusal, invalid, not_found

domain = Domain(
    "agenda",
    "1.0.0",
    "The agenda: tasks of all notes that have a date (`- [ ] call Hana 📅 2026-05-01`), as a `list` in the order in which "
    "they are due; `finish` checks one off, `publish` writes them into a note.",
)

FOLDER = {"type": "string", "description": "Only below this folder; without it the whole vault", "optional": True}
TASK = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "line": {"type": "integer", "description": "The line of the file, from 1"},
        "text": {"type": "string", "description": "What to do, without its date"},
        "due": {"type": "string"},
        "days": {"type": "integer", "description": "Days until then; below 0 it is overdue"},
        "done": {"type": "boolean"},
    },
    "required": ["path", "line", "text", "due", "days", "done"],
}


@domain.action(
    name="list",
    effect="read",
    input={
        "until": {
            "type": "string",
            "description": "The last day, such as 2026-05-01; without it a week from today",
            "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
            "optional": True,
        },
        "folder": FOLDER,
        "done": {"type": "boolean", "description": "Also what is done already", "default": False, "optional": True},
    },
    output={
        "items": {"type": "array", "description": "The earliest first", "items": TASK},
        "today": {"type": "string"},
        "overdue": {"type": "integer", "description": "How many are overdue"},
    },
    text=lambda answer: told(answer),
)
def due_until(vault, until=None, folder="", done=False):
    """What is due until a day, overdue tasks first."""
    today = of_clock(vault)
    last = day(until) if until else today + timedelta(days=7)
    items = [task for task in gather(vault, folder, today) if (done or not task["done"]) and task["due"] <= str(last)]
    overdue = sum(task["days"] < 0 and not task["done"] for task in items)
    return {"items": items, "today": str(today), "overdue": overdue}


@domain.action(
    effect="write",
    input={
        "path": {"type": "string", "description": "The note's path, or its unique name"},
        "line": {"type": "integer", "description": "The line of the task, as `list` tells it", "minimum": 1},
        "text": {
            "type": "string",
            "description": "The task, as `list` tells it; refused if another stands there",
            "optional": True,
        },
    },
    output={"path": {"type": "string"}, "line": {"type": "integer"}, "text": {"type": "string"}},
    text=lambda answer: f"done: {answer['text']} ({answer['path']}:{answer['line']})",
)
def finish(vault, path, line, text=None):
    """Check a task off."""
    note = vault.read_note(path)
    task = next((task for task in tasks.of(note.text) if task.line == line), None)
    if task is None:
        raise not_found(f"no task with a date in line {line} of `{note.path}`: `list` tells where they are")
    if text is not None and text != task.text:
        raise Refusal("conflict", f"line {line} of `{note.path}` has another task: {task.text}")
    if task.done:
        raise invalid(f"the task in line {line} of `{note.path}` is done already")
    vault.write(note, tasks.checked(note.text, task))
    return {"path": note.path, "line": line, "text": task.text}


@domain.action(
    effect="write",
    input={
        "path": {
            "type": "string",
            "description": "The note to write, such as Agenda.md",
            "default": "Agenda.md",
            "optional": True,
        },
        "days": {
            "type": "integer",
            "description": "How many days from today",
            "minimum": 1,
            "maximum": 366,
            "default": 7,
            "optional": True,
        },
        "folder": FOLDER,
    },
    output={"path": {"type": "string"}, "tasks": {"type": "integer", "description": "How many tasks are in it"}},
)
def publish(vault, path="Agenda.md", days=7, folder=""):
    """Write what is due into a note of its own, by day and with links; what stood in that note is replaced."""
    today = of_clock(vault)
    last = str(today + timedelta(days=days))
    due = [t for t in gather(vault, folder, today) if not t["done"] and t["due"] <= last and t["path"] != path]
    lines, current = [f"# Agenda of {today}"], None
    for task in due:
        if task["due"] != current:
            current = task["due"]
            lines += ["", f"## {current}" + (" (overdue)" if task["days"] < 0 else ""), ""]
        # A bullet, not a box: the task itself stays where it is, and counts once.
        lines.append(f"- {task['text']} ([[{task['path'].removesuffix('.md')}]])")
    text = "\n".join(lines) + "\n"
    if vault.exists(path):
        note = vault.read(path)
        if note.text != text:
            vault.write(note, text)
    else:
        vault.create(path, text)
    return {"path": path, "tasks": len(due)}


def gather(vault, folder, today):
    """Every task with a date below a folder, the earliest first."""
    found = []
    for path in vault.notes(folder.rstrip("/")):
        try:
            text = vault.read(path).text
        except Refusal as refusal:
            # A note that is no text has no tasks, and must not spoil the rest.
            if refusal.code == "unsupported":
                continue
            raise
        for task in tasks.of(text):
            place = {"path": path, "line": task.line, "text": task.text}
            found.append({**place, "due": str(task.due), "days": (task.due - today).days, "done": task.done})
    return sorted(found, key=lambda task: (task["due"], task["path"], task["line"]))


def of_clock(vault):
    """Today, by the clock on the owner's wall."""
    now = vault.now()
    ahead = timedelta(minutes=now.get("offset_minutes", 0))
    return (datetime(1970, 1, 1) + timedelta(milliseconds=now["milliseconds"]) + ahead).date()


def day(text):
    """A day as a caller writes it."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise invalid(f"`{text}` is no day: write it as 2026-05-01") from None


def told(answer):
    """The agenda as a person would write it down."""
    if not answer["items"]:
        return "nothing is due"
    return "\n".join(f"{task['due']}  {task['text']}  ({task['path']}:{task['line']})" for task in answer["items"])
