"""The agenda: tasks with a due date, collected from all notes and sorted by it."""

from datetime import date, datetime, timedelta

import tasks
from notehost import Domain, Refusal, invalid, not_found

domain = Domain(
    "agenda",
    "1.0.0",
    "The agenda: tasks with a due date in all notes (`- [ ] call Hana 📅 2026-05-01`). `list` returns them sorted by date, "
    "`finish` checks one off, `publish` writes them to a note.",
)

FOLDER = {"type": "string", "description": "Only notes below this folder; default: the whole vault", "optional": True}
TASK = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "line": {"type": "integer", "description": "The line of the file, from 1"},
        "text": {"type": "string", "description": "The task, without its date"},
        "due": {"type": "string"},
        "days": {"type": "integer", "description": "Days until it is due; negative if overdue"},
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
            "description": "The last day, such as 2026-05-01; default: a week from today",
            "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
            "optional": True,
        },
        "folder": FOLDER,
        "done": {"type": "boolean", "description": "Include completed tasks", "default": False, "optional": True},
    },
    output={
        "items": {"type": "array", "description": "The earliest first", "items": TASK},
        "today": {"type": "string"},
        "overdue": {"type": "integer", "description": "Number of overdue tasks"},
    },
    text=lambda answer: agenda_text(answer),
)
def due_until(vault, until=None, folder="", done=False):
    """List the tasks that are due until a day, overdue tasks first."""
    today = local_today(vault)
    last = day(until) if until else today + timedelta(days=7)
    items = [task for task in gather(vault, folder, today) if (done or not task["done"]) and task["due"] <= str(last)]
    overdue = sum(task["days"] < 0 and not task["done"] for task in items)
    return {"items": items, "today": str(today), "overdue": overdue}


@domain.action(
    effect="write",
    input={
        "path": {"type": "string", "description": "The note's path, or its unique name"},
        "line": {"type": "integer", "description": "The line of the task, as returned by `list`", "minimum": 1},
        "text": {
            "type": "string",
            "description": "The task, as returned by `list`; an error if the line has another task",
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
        raise not_found(f"no task with a date in line {line} of `{note.path}`: use `list` to find tasks")
    if text is not None and text != task.text:
        raise Refusal("conflict", f"line {line} of `{note.path}` has another task: {task.text}")
    if task.done:
        raise invalid(f"the task in line {line} of `{note.path}` is already done")
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
    output={"path": {"type": "string"}, "tasks": {"type": "integer", "description": "Number of tasks in it"}},
)
def publish(vault, path="Agenda.md", days=7, folder=""):
    """Write the due tasks to a note, by day and with links. Replaces the content of that note."""
    today = local_today(vault)
    last = str(today + timedelta(days=days))
    due = [t for t in gather(vault, folder, today) if not t["done"] and t["due"] <= last and t["path"] != path]
    lines, current = [f"# Agenda of {today}"], None
    for task in due:
        if task["due"] != current:
            current = task["due"]
            lines += ["", f"## {current}" + (" (overdue)" if task["days"] < 0 else ""), ""]
        # A bullet, not a checkbox: otherwise the task would exist twice.
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
    """Every task with a date below a folder, the earliest first. The index knows which notes have tasks."""
    found = []
    where = {"all": [{"under": folder.rstrip("/")}, {"has": "tasks"}]}
    for note in vault.find(where, limit=10_000).items:
        path = note.path
        try:
            text = vault.read(path).text
        except Refusal as refusal:
            # A note that is not UTF-8 has no tasks, and must not fail the call.
            if refusal.code == "unsupported":
                continue
            raise
        for task in tasks.of(text):
            place = {"path": path, "line": task.line, "text": task.text}
            found.append({**place, "due": str(task.due), "days": (task.due - today).days, "done": task.done})
    return sorted(found, key=lambda task: (task["due"], task["path"], task["line"]))


def local_today(vault):
    """Today in the owner's time zone."""
    now = vault.now()
    ahead = timedelta(minutes=now.offset_minutes)
    return (datetime(1970, 1, 1) + timedelta(milliseconds=now.milliseconds) + ahead).date()


def day(text):
    """Parses a date argument."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise invalid(f"`{text}` is not a date: use the form 2026-05-01") from None


def agenda_text(answer):
    """The agenda, one task per line."""
    if not answer["items"]:
        return "nothing is due"
    return "\n".join(f"{task['due']}  {task['text']}  ({task['path']}:{task['line']})" for task in answer["items"])
