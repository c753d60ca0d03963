// Write a tool domain for Notehost in JavaScript.
//
// A domain is a name and a list of actions; an action is its words, its fields and a function. This file turns that
// into what the contract asks for (`expose`), hands each action a `Vault`, and has a vault in memory for tests. It
// imports nothing: what the host offers is handed in by `component.js`, so a domain can be tested by plain Node.

/** Why an action refuses: a code of the contract, and a message that tells a model how to mend its call. */
export class Refusal extends Error {
  constructor(code, message, { hint, details } = {}) {
    super(message);
    this.name = "Refusal";
    this.code = code;
    this.hint = hint;
    this.details = details;
  }
}

/** The arguments cannot mean anything. */
export const invalid = (message) => new Refusal("validation_error", message);
/** It is not there. */
export const notFound = (message) => new Refusal("not_found", message);

/**
 * A domain. `actions` maps each name to `{ description, effect, input, output, run, text }`:
 * `effect` is "read", "write" or "delete", and the host holds the action to it; `input` and `output` map fields to JSON
 * Schemas, each required unless it says `optional: true`; `run(arguments, vault)` returns the answer, an object that fits
 * `output`; `text(answer)` says it in a sentence, if you like. `prompts` is a list of what people can begin with:
 * `{ name, description, arguments: [{ name, description, required, kind }], text }`.
 */
export function domain({ name, version, description, actions, prompts = [] }) {
  return { name, version, description, actions, prompts };
}

/** What the contract asks of a domain: `describe` and `call`. `host` holds the modules that the host offers. */
export function expose(domain, host) {
  return {
    describe: () => JSON.stringify(describe(domain)),
    call(handle, action, json) {
      try {
        return answer(domain, new Vault(handle, host), action, JSON.parse(json));
      } catch (error) {
        throw told(domain, action, error, host);
      }
    },
  };
}

/** Run one action as the host would, for tests: arguments and answer are plain objects. */
export function run(domain, vault, action, fields = {}) {
  return JSON.parse(answer(domain, vault, action, fields).structured);
}

/** What a domain says of itself, as an object. */
export function describe({ name, version, description, actions, prompts }) {
  const described = Object.entries(actions).map(([name, action]) => ({
    name,
    description: action.description,
    effect: action.effect,
    input: { ...schema(action.input), additionalProperties: false },
    output: schema(action.output),
  }));
  return { name, version, description, actions: described, prompts };
}

function schema(fields = {}) {
  const properties = {};
  const required = [];
  for (const [name, { optional, ...field }] of Object.entries(fields)) {
    properties[name] = field;
    if (!optional) required.push(name);
  }
  return { type: "object", properties, required };
}

function answer(domain, vault, name, fields) {
  const action = Object.hasOwn(domain.actions, name) ? domain.actions[name] : undefined;
  if (!action) throw notFound(`\`${domain.name}\` has no action \`${name}\``);
  const answered = action.run(fields, vault);
  const text = action.text ? action.text(answered) : readable(answered);
  return { text, structured: JSON.stringify(answered), content: [] };
}

/** An error in the form of the contract. One that nobody meant is a defect, and goes to the host's log as well. */
function told(domain, action, error, host) {
  if (error instanceof Refusal) {
    const details = error.details === undefined ? undefined : JSON.stringify(error.details);
    return { code: error.code, message: error.message, hint: error.hint, details };
  }
  host.log?.write("error", `${action}: ${error?.stack ? `${error}\n${error.stack}` : error}`);
  return {
    code: "internal_error",
    message: `\`${domain.name}.${action}\` broke: ${error?.message ?? error}`,
    hint: "the log has the place; tell the author of the component",
    details: undefined,
  };
}

/** An answer as indented lines, without JSON's punctuation. */
export function readable(value, depth = 0) {
  const indent = "  ".repeat(depth);
  if (Array.isArray(value)) {
    return value.map((item) => `${indent}- ${isPlain(item) ? item : oneLine(item)}`).join("\n");
  }
  if (isPlain(value)) return `${indent}${value}`;
  const lines = Object.entries(value).map(([key, inner]) => {
    const isEmpty = !isPlain(inner) && Object.keys(inner).length === 0;
    if (isPlain(inner) || isEmpty) return `${indent}${key}: ${isEmpty ? "none" : (inner ?? "–")}`;
    return `${indent}${key}:\n${readable(inner, depth + 1)}`;
  });
  return lines.join("\n");
}

const isPlain = (value) => value === null || typeof value !== "object";
const oneLine = (value) =>
  Object.entries(value)
    .map(([key, inner]) => `${key}: ${isPlain(inner) ? inner : JSON.stringify(inner)}`)
    .join(", ");

/** What an action is handed: the notes, as far as this call may see and change them. `wit/domain.wit` has every word. */
export class Vault {
  constructor(handle, host) {
    this.handle = handle;
    this.host = host;
  }

  /** The path of the note that a caller named: by its path, with or without `.md`, or by its unique name. */
  findNote(name) {
    if (name.length > LONGEST_NAME) throw invalid(`no note has a name of ${name.length} characters`);
    const wanted = name.trim().replace(/^\[\[([^|#\]]*).*\]\]$/, "$1").trim();
    const notes = asked(() => this.handle.resolve(wanted, undefined)).filter(isNote);
    const exact = notes.find((path) => [wanted, `${wanted}.md`].includes(path));
    if (exact) return exact;
    if (notes.length === 0) throw notFound(`no note \`${wanted}\``);
    if (notes.length === 1) return notes[0];
    const choices = notes.slice(0, 5).map((path) => `\`${path}\``);
    throw new Refusal("ambiguous_name", `\`${wanted}\` could be ${notes.length} notes: ${choices.join(", ")}`);
  }

  /** A file as text, with its etag. */
  read(path) {
    const { bytes, etag } = asked(() => this.handle.read(path));
    try {
      // Byte for byte: a mark at the beginning stays, and what is no text is refused, never repaired.
      const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes));
      return { path, text, etag };
    } catch {
      throw new Refusal("unsupported", `\`${path}\` is not UTF-8 text`);
    }
  }

  /** The note that a caller named, as text. */
  readNote(name) {
    return this.read(this.findNote(name));
  }

  /** A new file; refused if there is one. */
  create(path, text) {
    return asked(() => this.handle.create(path, new TextEncoder().encode(text)));
  }

  /** Other text for a file that was read; refused if it changed since. */
  write({ path, etag }, text) {
    return asked(() => this.handle.write(path, new TextEncoder().encode(text), etag));
  }

  /** Another path for a file or a folder. */
  rename(from, to) {
    asked(() => this.handle.rename(from, to));
  }

  /** A file or a folder goes to the trash. Only an action with the effect "delete" may. */
  remove(path) {
    return asked(() => this.handle.remove(path));
  }

  /** Whether something is at a path, as far as this caller may know. */
  exists(path) {
    try {
      return Boolean(asked(() => this.handle.stat(path)));
    } catch (error) {
      if (error.code === "not_found") return false;
      throw error;
    }
  }

  /** The paths of all notes below a folder; `""` is the whole vault. */
  notes(folder = "") {
    const paths = [];
    let after;
    do {
      const page = asked(() => this.handle.list(folder, true, after, 4096));
      paths.push(...page.entries.filter(({ kind, path }) => kind === "file" && isNote(path)).map(({ path }) => path));
      after = page.next;
    } while (after !== undefined && after !== null);
    return paths;
  }

  /** Ask the index: `find`, `backlinks`, `unresolved`, `tags`, with a question and an answer as objects. */
  ask(what, question) {
    return JSON.parse(asked(() => this.host.index[what](this.handle, JSON.stringify(question))));
  }

  /** The moment, and how far local time is ahead of UTC: `{ milliseconds, offset_minutes, zone }`. */
  now() {
    return JSON.parse(this.host.host.now());
  }

  /** A value that this component kept in this vault, or undefined. */
  recall(key) {
    const kept = asked(() => this.host.store.get(key));
    return kept ? JSON.parse(new TextDecoder().decode(Uint8Array.from(kept))) : undefined;
  }

  /** Keep a value in this vault. It lands with the call's other writes, or not at all. */
  keep(key, value) {
    asked(() => this.host.store.set(key, new TextEncoder().encode(JSON.stringify(value))));
  }

  /** A line for the host's log: "debug", "info", "warn" or "error". Never the content of notes. */
  log(level, message) {
    this.host.log.write(level, String(message));
  }
}

/** `console.log` and the like as lines of the host's log: nothing else listens in the sandbox. */
export function consoleTo(log) {
  const to = (level) => (...words) => log.write(level, words.map((word) => shown(word)).join(" "));
  return { debug: to("debug"), log: to("info"), info: to("info"), warn: to("warn"), error: to("error") };
}

const shown = (word) => (typeof word === "string" ? word : word instanceof Error ? String(word) : JSON.stringify(word));

/** No path of a vault is longer. */
const LONGEST_NAME = 4096;

/** Whether a path names a note. */
export const isNote = (path) => path.length > 3 && path.toLowerCase().endsWith(".md");

/** What the host answered; what it refused becomes a `Refusal`, which an action may catch or let pass. */
function asked(question) {
  try {
    return question();
  } catch (error) {
    const refused = error?.payload ?? error;
    if (typeof refused?.code !== "string" || refused instanceof Refusal) throw error;
    const details = refused.details ? JSON.parse(refused.details) : undefined;
    throw new Refusal(refused.code, refused.message, { hint: refused.hint ?? undefined, details });
  }
}

/** A vault in memory, for tests: `memoryVault({ "A.md": "text" })`. Its files are in `files`, its log in `lines`. */
export function memoryVault(files = {}, { milliseconds = 0, offset_minutes = 0 } = {}) {
  const contents = new Map(Object.entries(files));
  const kept = new Map();
  const lines = [];
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  const refuse = (code, message) => {
    throw { payload: { code, message } };
  };
  const need = (path) => (contents.has(path) ? contents.get(path) : refuse("not_found", `no file \`${path}\``));
  const etag = (text) => `${text.length}-${[...text].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) >>> 0, 7)}`;
  const handle = {
    stat: (path) => ({ path, kind: "file", size: BigInt(need(path).length), modified: 0n }),
    read: (path) => ({ bytes: encoder.encode(need(path)), etag: etag(need(path)) }),
    list: (folder) => {
      const inside = [...contents.keys()].filter((path) => folder === "" || path.startsWith(`${folder}/`)).sort();
      return { entries: inside.map((path) => ({ ...handle.stat(path) })), next: undefined };
    },
    resolve: (name) => {
      const plain = (path) => path.toLowerCase().replace(/\.md$/, "");
      const fits = (path) => plain(path) === plain(name) || plain(path).endsWith(`/${plain(name)}`);
      return [...contents.keys()].filter(fits).sort((one, other) => one.length - other.length);
    },
    create: (path, bytes) => {
      if (contents.has(path)) refuse("already_exists", `there is a file \`${path}\``);
      contents.set(path, decoder.decode(bytes));
      return etag(contents.get(path));
    },
    write: (path, bytes, ifMatch) => {
      if (ifMatch && ifMatch !== etag(need(path))) refuse("conflict", `\`${path}\` changed meanwhile`);
      need(path);
      contents.set(path, decoder.decode(bytes));
      return etag(contents.get(path));
    },
    rename: (from, to) => {
      if (contents.has(to)) refuse("already_exists", `there is a file \`${to}\``);
      contents.set(to, need(from));
      contents.delete(from);
    },
    remove: (path) => {
      need(path);
      contents.delete(path);
      return [path];
    },
  };
  const vault = new Vault(handle, {
    host: { now: () => JSON.stringify({ milliseconds, offset_minutes }) },
    store: { get: (key) => kept.get(key), set: (key, value) => kept.set(key, value) },
    log: { write: (level, message) => lines.push(`${level}: ${message}`) },
  });
  return Object.assign(vault, { files: contents, lines });
}
