"""Write a tool domain for Notehost in Python.

A domain is a name and a list of actions; an action is a function with a description and its fields. This file implements
the contract's exports, passes each action a `Vault`, and has a vault in memory for tests. It imports nothing from the
host: `component.py` passes in the host's interfaces, so a domain can be tested with plain Python.
"""

import json

# No path of a vault has more characters.
MAX_NAME_LENGTH = 4096


class Refusal(Exception):
    """An error of an action: a code of the contract, and a message from which a model can correct its call."""

    def __init__(self, code, message, hint=None, details=None):
        super().__init__(message)
        self.code, self.message, self.hint, self.details = code, message, hint, details


def invalid(message):
    """The arguments are invalid."""
    return Refusal("validation_error", message)


def not_found(message):
    """It does not exist."""
    return Refusal("not_found", message)


class Domain:
    """A domain: a name, a version, a description, actions and prompts.

    `prompts` is a list of prompts that users can pick in their client: dicts with `name`, `description`, `arguments` (dicts
    with `name`, `description`, `required`, `kind`) and `text`.
    """

    def __init__(self, name, version, description, prompts=()):
        self.name, self.version, self.description = name, version, description
        self.actions, self.prompts = {}, list(prompts)

    def action(self, effect, input=None, output=None, text=None, name=None):
        """Offers a function `(vault, **fields)` as an action, under its own or another name. Its docstring is the description.

        `effect` is "read", "write" or "delete", and the host enforces it. `input` and `output` map fields to JSON Schemas,
        each required unless it has `"optional": True`. The function returns a dict that matches `output`; the optional
        `text(result)` returns it as a sentence.
        """

        def offer(function):
            offered = name or function.__name__
            self.actions[offered] = {
                "run": function,
                "text": text or readable,
                "described": {
                    "name": offered,
                    "description": " ".join((function.__doc__ or "").split()),
                    "effect": effect,
                    "input": {**_schema(input or {}), "additionalProperties": False},
                    "output": _schema(output or {}),
                },
            }
            return function

        return offer

    def describe(self):
        """The description of the domain."""
        return {
            "name": self.name,
            "version": self.version,
            "description": self.description,
            "actions": [action["described"] for action in self.actions.values()],
            "prompts": self.prompts,
        }

    def run(self, vault, action, **fields):
        """Runs one action as the host would; returns the result, and the result as text."""
        if action not in self.actions:
            raise not_found(f"`{self.name}` has no action `{action}`")
        answer = self.actions[action]["run"](vault, **fields)
        return answer, self.actions[action]["text"](answer)

    def defect(self, vault, action, error):
        """An unexpected exception as a refusal; its stack trace goes to the host's log."""
        vault.log("error", f"{action}: {type(error).__name__}: {error}, at {_place(error)}")
        return Refusal(
            "internal_error",
            f"`{self.name}.{action}` failed: {type(error).__name__}: {error}",
            "the host's log has the stack trace; report it to the author of the component",
        )


def _place(error):
    # The module `traceback` would read source files, and the sandbox has none.
    places, trace = [], error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        places.append(f"{code.co_filename}:{trace.tb_lineno} ({code.co_name})")
        trace = trace.tb_next
    return " > ".join(places)


def _schema(fields):
    properties, required = {}, []
    for name, field in fields.items():
        field = dict(field)
        if not field.pop("optional", False):
            required.append(name)
        properties[name] = field
    return {"type": "object", "properties": properties, "required": required}


def readable(value, depth=0):
    """A result as indented lines, without JSON's punctuation."""
    indent, lines = "  " * depth, []
    if isinstance(value, list):
        for item in value:
            line = ", ".join(f"{key}: {inner}" for key, inner in item.items()) if isinstance(item, dict) else item
            lines.append(f"{indent}- {line}")
    elif isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, (list, dict)) and inner:
                lines.append(f"{indent}{key}:\n{readable(inner, depth + 1)}")
            else:
                lines.append(f"{indent}{key}: {'none' if isinstance(inner, (list, dict)) else inner}")
    else:
        lines.append(f"{indent}{value}")
    return "\n".join(lines)


class Note:
    """A file and its content: path, text, and the etag that identifies this content."""

    def __init__(self, path, text, etag):
        self.path, self.text, self.etag = path, text, etag


class Vault:
    """The vault of a call, with the notes that this call may see and change.

    `handle` is the contract's vault and `host` has its other interfaces; `wit/domain.wit` is the full reference.
    `time_left` is the time until the call is terminated, in milliseconds as of its start; `reply_bytes` the maximum size of
    the result as JSON. The host truncates larger ones.
    """

    def __init__(self, handle, host, time_left=2**32 - 1, reply_bytes=2**32 - 1):
        self.handle, self.host = handle, host
        self.time_left, self.reply_bytes = time_left, reply_bytes

    def find_note(self, name):
        """The path of the note that a caller identifies by its path, with or without `.md`, or by its unique name."""
        if len(name) > MAX_NAME_LENGTH:
            raise invalid(f"the name has {len(name)} characters; the limit is {MAX_NAME_LENGTH}")
        wanted = name.strip()
        if wanted.startswith("[[") and wanted.endswith("]]"):
            wanted = wanted[2:-2].split("|")[0].split("#")[0].strip()
        notes = [path for path in self._ask(self.handle.resolve, wanted, None) if is_note(path)]
        for path in notes:
            if path in (wanted, f"{wanted}.md"):
                return path
        if not notes:
            raise not_found(f"no note `{wanted}`")
        if len(notes) > 1:
            choices = ", ".join(f"`{path}`" for path in notes[:5])
            raise Refusal("ambiguous_name", f"`{wanted}` matches {len(notes)} notes: {choices}")
        return notes[0]

    def read(self, path):
        """Reads a file as text."""
        blob = self._ask(self.handle.read, path)
        try:
            return Note(path, bytes(blob.bytes).decode(), blob.etag)
        except UnicodeDecodeError:
            raise Refusal("unsupported", f"`{path}` is not UTF-8 text") from None

    def read_note(self, name):
        """Reads the note that a caller identifies by path or name."""
        return self.read(self.find_note(name))

    def create(self, path, text):
        """Creates a file; an error if it exists."""
        return self._ask(self.handle.create, path, text.encode())

    def write(self, note, text):
        """Replaces the text of a file that was read; an error if it changed since."""
        return self._ask(self.handle.write, note.path, text.encode(), note.etag)

    def rename(self, before, after):
        """Renames or moves a file or folder."""
        self._ask(self.handle.rename, before, after)

    def remove(self, path):
        """Moves a file or folder to the trash. Requires the effect "delete"."""
        return self._ask(self.handle.remove, path)

    def exists(self, path):
        """Whether a path exists, as far as this caller may see."""
        try:
            self._ask(self.handle.stat, path)
            return True
        except Refusal as refusal:
            if refusal.code == "not_found":
                return False
            raise

    def notes(self, folder=""):
        """The paths of all notes below a folder; `""` is the whole vault."""
        after = None
        while True:
            page = self._ask(self.handle.list, folder, True, after, 4096)
            # A folder's name may end with `.md` as well.
            yield from (e.path for e in page.entries if is_note(e.path) and getattr(e.kind, "name", e.kind) == "FILE")
            after = page.next
            if after is None:
                return

    def find(self, where=None, sort=(), offset=0, limit=100, fields=(), snippets=0):
        """The notes that match a condition: an object with `items`, `total` and `widened`.

        A condition is a dict with one key, nested with `all`, `any` and `not`:
        `{"all": [{"tag": "tea"}, {"not": {"under": "Archive"}}, {"property": {"key": "rating", "at_least": 4}}]}`.
        `sort` is a list of `(key, descending)`, `fields` a list of names. The conditions, sort keys and fields are those of
        `wit/domain.wit`, with underscores.
        """
        index = self.host.index
        query = index.Query(
            [_condition(index, kind, value) for kind, value in conditions(where)],
            [index.Sort(_sort_key(index, key), descending) for key, descending in sort],
            offset,
            limit,
            [index.Field[field.upper()] for field in fields],
            snippets,
        )
        found = self._ask(index.find, self.handle, query)
        for note in found.items:
            if note.properties is not None:
                note.properties = json.loads(note.properties)
        return found

    def backlinks(self, path, offset=0, limit=100):
        """The links to a file, with line and context: an object with `items`, `total` and `notes`."""
        index = self.host.index
        return self._ask(index.backlinks, self.handle, index.BacklinksQuery(path, offset, limit))

    def unresolved(self, under="", offset=0, limit=100, places=10):
        """The unresolved links, by missing target: an object with `items`, `total` and `links`."""
        index = self.host.index
        return self._ask(index.unresolved, self.handle, index.UnresolvedQuery(under, offset, limit, places))

    def tags(self, prefix="", under="", by_count=False, offset=0, limit=100):
        """The tags with their counts: an object with `items` and `total`."""
        index = self.host.index
        return self._ask(index.tags, self.handle, index.TagsQuery(prefix, under, by_count, offset, limit))

    def now(self):
        """The current time, and the local offset from UTC: an object with `milliseconds`, `offset_minutes` and `zone`.

        Python's own clock does not work in the sandbox.
        """
        return self.host.host.now()

    def recall(self, key):
        """The value of a key in this component's store for this vault, or None."""
        kept = self._ask(self.host.store.get, key)
        return None if kept is None else json.loads(bytes(kept))

    def keep(self, key, value):
        """Stores a value in this component's store for this vault. Committed together with the call's other writes."""
        self._ask(self.host.store.set, key, json.dumps(value).encode())

    def log(self, level, message):
        """Writes a line to the host's log; `level` is "debug", "info", "warn" or "error". Never log the content of notes."""
        self.host.write_log(level, message)

    def _ask(self, function, *words):
        """Calls the host. Its errors become a `Refusal`, which an action may catch or pass on."""
        try:
            return function(*words)
        except self.host.Refused as error:
            refused = error.value
            details = json.loads(refused.details) if refused.details else None
            raise Refusal(refused.code, refused.message, refused.hint, details) from None


def is_note(path):
    """Whether a path is a note's."""
    return len(path) > 3 and path.lower().endswith(".md")


def conditions(where):
    """A nested condition as a list of kinds and values, in which each condition refers to later ones by their place."""
    queue, converted = [] if where is None else [where], []
    while len(converted) < len(queue):
        ((kind, value),) = queue[len(converted)].items()
        if kind in ("all", "any"):
            queue.extend(value)
            value = list(range(len(queue) - len(value), len(queue)))
        elif kind == "not":
            queue.append(value)
            value = len(queue) - 1
        converted.append((kind, value))
    return converted


def _condition(index, kind, value):
    """A condition in the form of the contract."""
    if kind in ("words", "prefix"):
        words = {"text": value} if isinstance(value, str) else value
        part = words.get("part")
        value = index.Words(words["text"], part and index.Part[part.upper()])
    elif kind == "property":
        value = _property_test(index, value)
    elif kind in ("modified", "size"):
        value = index.Span(value.get("from"), value.get("to"))
    elif kind == "has":
        value = index.Feature[value.upper()]
    return getattr(index, "Condition_" + _camel(kind))(value)


def _property_test(index, test):
    json_of = lambda name: json.dumps(test[name]) if name in test else None
    values = {name: json_of(name) for name in ("equals", "greater", "at_least", "less", "at_most")}
    return index.PropertyTest(key=test["key"], exists=test.get("exists"), contains=test.get("contains"), **values)


def _sort_key(index, key):
    """A sort key: a name, or `{"property": "due"}`."""
    if isinstance(key, dict):
        return index.SortKey_Property(key["property"])
    return getattr(index, "SortKey_" + _camel(key))()


def _camel(name):
    return "".join(part.capitalize() for part in name.split("_"))


class MemoryVault(Vault):
    """A vault in memory, for tests: `MemoryVault({"A.md": "text"})`. Its files are in `files`, its log in `lines`.

    Its `find` knows the conditions `all`, `any`, `not`, `under` and `has` with `tasks`.
    """

    def __init__(self, files=None, milliseconds=0, offset_minutes=0):
        self.files, self.kept, self.lines = dict(files or {}), {}, []
        self.moment = _Record(milliseconds=milliseconds, offset_minutes=offset_minutes, zone=None)
        super().__init__(_MemoryHandle(self.files), _MemoryHost(self))

    def find(self, where=None, sort=(), offset=0, limit=100, fields=(), snippets=0):
        parts = conditions(where)

        def holds(place, path):
            kind, value = parts[place]
            if kind == "all":
                return all(holds(inner, path) for inner in value)
            if kind == "any":
                return any(holds(inner, path) for inner in value)
            if kind == "not":
                return not holds(value, path)
            if kind == "under":
                return not value or path == value or path.startswith(f"{value}/")
            if (kind, value) == ("has", "tasks"):
                return "[" in self.files[path]
            raise NotImplementedError(f"the vault in memory does not know the condition `{kind}`")

        notes = sorted(path for path in self.files if is_note(path) and (not parts or holds(0, path)))
        items = [_Record(path=path) for path in notes[offset : offset + limit]]
        return _Record(items=items, total=len(notes), widened=[])


class _Record:
    def __init__(self, **fields):
        self.__dict__.update(fields)


class _Refused(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.value = _Record(code=code, message=message, hint=None, details=None)


class _MemoryHost:
    Refused = _Refused

    def __init__(self, vault):
        self.host = _Record(now=lambda: vault.moment)
        self.store = _Record(get=vault.kept.get, set=vault.kept.__setitem__)
        self.write_log = lambda level, message: vault.lines.append(f"{level}: {message}")


class _MemoryHandle:
    def __init__(self, files):
        self.files = files

    def _need(self, path):
        if path not in self.files:
            raise _Refused("not_found", f"no file `{path}`")
        return self.files[path]

    def _must_be_free(self, path):
        if path in self.files:
            raise _Refused("already_exists", f"`{path}` already exists")

    def stat(self, path):
        return _Record(path=path, kind="FILE", size=len(self._need(path)), modified=0)

    def read(self, path):
        return _Record(bytes=self._need(path).encode(), etag=str(hash(self._need(path))))

    def list(self, folder, recursive, after, limit):
        inside = sorted(path for path in self.files if not folder or path.startswith(f"{folder}/"))
        return _Record(entries=[self.stat(path) for path in inside], next=None)

    def resolve(self, name, source):
        plain = lambda path: path.lower().removesuffix(".md")
        fits = lambda path: plain(path) == plain(name) or plain(path).endswith(f"/{plain(name)}")
        return sorted(filter(fits, self.files), key=len)

    def create(self, path, content):
        self._must_be_free(path)
        self.files[path] = content.decode()
        return str(hash(self.files[path]))

    def write(self, path, content, if_match):
        if if_match is not None and if_match != str(hash(self._need(path))):
            raise _Refused("conflict", f"`{path}` changed since it was read")
        self._need(path)
        self.files[path] = content.decode()
        return str(hash(self.files[path]))

    def rename(self, before, after):
        self._must_be_free(after)
        self.files[after] = self._need(before)
        del self.files[before]

    def remove(self, path):
        self._need(path)
        del self.files[path]
        return [path]
