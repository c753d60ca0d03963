// Write a tool domain for Notehost in JavaScript.
//
// A domain is a name and a list of actions; an action is a description, its fields and a function. This file implements
// the contract's exports (`expose`), passes each action a `Vault`, and has a vault in memory for tests. It imports
// nothing: `component.js` passes in the host's interfaces, so a domain can be tested with plain Node.

/** An error of an action: a code of the contract, and a message from which a model can correct its call. */
export class Refusal extends Error {
  constructor(code, message, { hint, details } = {}) {
    super(message);
    this.name = "Refusal";
    this.code = code;
    this.hint = hint;
    this.details = details;
  }
}

/** The arguments are invalid. */
export const invalid = (message) => new Refusal("validation_error", message);
/** It does not exist. */
export const notFound = (message) => new Refusal("not_found", message);

/**
 * A domain. `actions` maps each name to `{ description, effect, input, output, run, text }`:
 * `effect` is "read", "write" or "delete", and the host enforces it; `input` and `output` map fields to JSON Schemas, each
  * required unless it has `optional: true`; `run(arguments, vault)` returns the result, an object that matches `output`;
  * the optional `text(result)` returns it as a sentence. `prompts` is a list of prompts that users can pick in their
  * client: `{ name, description, arguments: [{ name, description, required, kind }], text }`.
 */
export function domain({ name, version, description, actions, prompts = [] }) {
  return { name, version, description, actions, prompts };
}

/** The exports of the contract, `describe` and `call`. `host` has the interfaces that the host provides. */
export function expose(domain, host) {
  return {
    describe: () => describe(domain),
    call(handle, request) {
      try {
        return answer(domain, new Vault(handle, host, request), request.action, JSON.parse(request.arguments));
      } catch (error) {
        throw toWire(domain, request.action, error, host);
      }
    },
  };
}

/** Runs one action as the host would, for tests: arguments and result are plain objects. */
export function run(domain, vault, action, fields = {}) {
  return JSON.parse(answer(domain, vault, action, fields).structured);
}

/** The description of a domain, in the form of the contract: schemas are JSON. */
export function describe({ name, version, description, actions, prompts }) {
  const described = Object.entries(actions).map(([name, action]) => ({
    name,
    description: action.description,
    effect: action.effect,
    input: JSON.stringify({ ...schema(action.input), additionalProperties: false }),
    output: JSON.stringify(schema(action.output)),
  }));
  return { name, version, description, actions: described, prompts: prompts.map(prompt) };
}

function prompt({ name, title, description, arguments: fields = [], text }) {
  const described = fields.map(({ name, description = "", required = false, kind = "text" }) => {
    return { name, description, required, kind };
  });
  return { name, title, description, arguments: described, text };
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

/** An error in the form of the contract. Anything but a `Refusal` is a defect, which is also logged. */
function toWire(domain, action, error, host) {
  if (error instanceof Refusal) {
    const details = error.details === undefined ? undefined : JSON.stringify(error.details);
    return { code: error.code, message: error.message, hint: error.hint, details };
  }
  host.log?.write("error", `${action}: ${error?.stack ? `${error}\n${error.stack}` : error}`);
  return {
    code: "internal_error",
    message: `\`${domain.name}.${action}\` failed: ${error?.message ?? error}`,
    hint: "the host's log has the stack trace; report it to the author of the component",
    details: undefined,
  };
}

/** A result as indented lines, without JSON's punctuation. */
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

/** The vault of a call, with the notes that this call may see and change. `wit/domain.wit` is the full reference. */
export class Vault {
  constructor(handle, host, { timeLeft = Infinity, replyBytes = Infinity } = {}) {
    this.handle = handle;
    this.host = host;
    /** Milliseconds until the call is terminated, as of its start. */
    this.timeLeft = timeLeft;
    /** The maximum size of the result as JSON, in bytes; the host truncates larger ones. */
    this.replyBytes = replyBytes;
  }

  /** The path of the note that a caller identifies by its path, with or without `.md`, or by its unique name. */
  findNote(name) {
    if (name.length > MAX_NAME_LENGTH) throw invalid(`the name has ${name.length} characters; the limit is ${MAX_NAME_LENGTH}`);
    const wanted = name.trim().replace(/^\[\[([^|#\]]*).*\]\]$/, "$1").trim();
    const notes = calling(() => this.handle.resolve(wanted, undefined)).filter(isNote);
    const exact = notes.find((path) => [wanted, `${wanted}.md`].includes(path));
    if (exact) return exact;
    if (notes.length === 0) throw notFound(`no note \`${wanted}\``);
    if (notes.length === 1) return notes[0];
    const choices = notes.slice(0, 5).map((path) => `\`${path}\``);
    throw new Refusal("ambiguous_name", `\`${wanted}\` matches ${notes.length} notes: ${choices.join(", ")}`);
  }

  /** A file as text, with its etag. */
  read(path) {
    const { bytes, etag } = calling(() => this.handle.read(path));
    try {
      // Lossless: a byte order mark is kept, and a file that is not UTF-8 is an error, never repaired.
      const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes));
      return { path, text, etag };
    } catch {
      throw new Refusal("unsupported", `\`${path}\` is not UTF-8 text`);
    }
  }

  /** Reads the note that a caller identifies by path or name. */
  readNote(name) {
    return this.read(this.findNote(name));
  }

  /** Creates a file; an error if it exists. */
  create(path, text) {
    return calling(() => this.handle.create(path, new TextEncoder().encode(text)));
  }

  /** Replaces the text of a file that was read; an error if it changed since. */
  write({ path, etag }, text) {
    return calling(() => this.handle.write(path, new TextEncoder().encode(text), etag));
  }

  /** Renames or moves a file or folder. */
  rename(from, to) {
    calling(() => this.handle.rename(from, to));
  }

  /** Moves a file or folder to the trash. Requires the effect "delete". */
  remove(path) {
    return calling(() => this.handle.remove(path));
  }

  /** Whether a path exists, as far as this caller may see. */
  exists(path) {
    try {
      return Boolean(calling(() => this.handle.stat(path)));
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
      const page = calling(() => this.handle.list(folder, true, after, 4096));
      paths.push(...page.entries.filter(({ kind, path }) => kind === "file" && isNote(path)).map(({ path }) => path));
      after = page.next;
    } while (after !== undefined && after !== null);
    return paths;
  }

  /**
   * The notes that match a condition: `{ items, total, widened }`. A condition is an object with one key, nested with `all`,
   * `any` and `not`: `{ all: [{ tag: "tea" }, { not: { under: "Archive" } }, { property: { key: "rating", atLeast: 4 } }] }`.
   * `sort` is a list of `{ by, descending }`, `fields` a list of names. The conditions, sort keys and fields are those of
   * `wit/domain.wit`, in camel case.
   */
  find({ where, sort = [], offset = 0, limit = 100, fields = [], snippets = 0 } = {}) {
    const query = {
      where: conditions(where),
      sort: sort.map(({ by, descending = false }) => ({ by: variant(by), descending })),
      offset: BigInt(offset),
      limit,
      fields: fields.map(kebab),
      snippets,
    };
    const found = plain(calling(() => this.host.index.find(this.handle, query)));
    for (const note of found.items) if (note.properties) note.properties = JSON.parse(note.properties);
    return found;
  }

  /** The links to a file, with line and context: `{ items, total, notes }`. */
  backlinks(path, { offset = 0, limit = 100 } = {}) {
    return plain(calling(() => this.host.index.backlinks(this.handle, { path, offset: BigInt(offset), limit })));
  }

  /** The unresolved links, by missing target: `{ items, total, links }`. */
  unresolved({ under = "", offset = 0, limit = 100, places = 10 } = {}) {
    const query = { under, offset: BigInt(offset), limit, places };
    return plain(calling(() => this.host.index.unresolved(this.handle, query)));
  }

  /** The tags with their counts: `{ items, total }`. */
  tags({ prefix = "", under = "", byCount = false, offset = 0, limit = 100 } = {}) {
    const query = { prefix, under, byCount, offset: BigInt(offset), limit };
    return plain(calling(() => this.host.index.tags(this.handle, query)));
  }

  /** The current time, and the local offset from UTC: `{ milliseconds, offsetMinutes, zone }`. */
  now() {
    return plain(this.host.host.now());
  }

  /** The value of a key in this component's store for this vault, or undefined. */
  recall(key) {
    const kept = calling(() => this.host.store.get(key));
    return kept ? JSON.parse(new TextDecoder().decode(Uint8Array.from(kept))) : undefined;
  }

  /** Stores a value in this component's store for this vault. Committed together with the call's other writes. */
  keep(key, value) {
    calling(() => this.host.store.set(key, new TextEncoder().encode(JSON.stringify(value))));
  }

  /** Writes a line to the host's log; `level` is "debug", "info", "warn" or "error". Never log the content of notes. */
  log(level, message) {
    this.host.log.write(level, String(message));
  }
}

/** A nested condition as the contract's list, in which each condition refers to later ones by their place. */
export function conditions(where) {
  const queue = where === undefined ? [] : [where];
  const refer = (inner) => queue.push(inner) - 1;
  // The queue grows while it is read.
  const list = [];
  while (list.length < queue.length) {
    const [[key, value]] = Object.entries(queue[list.length]);
    const nested = { all: () => value.map(refer), any: () => value.map(refer), not: () => refer(value) };
    const converted = {
      words: () => (typeof value === "string" ? { text: value } : value),
      prefix: () => (typeof value === "string" ? { text: value } : value),
      property: () => propertyTest(value),
      modified: () => span(value),
      size: () => span(value),
      has: () => kebab(value),
      ...nested,
    };
    list.push({ tag: kebab(key), val: converted[key] ? converted[key]() : value });
  }
  return list;
}

const JSON_VALUES = ["equals", "greater", "atLeast", "less", "atMost"];

function propertyTest(test) {
  const values = JSON_VALUES.filter((name) => test[name] !== undefined).map((name) => [name, JSON.stringify(test[name])]);
  return { ...test, ...Object.fromEntries(values) };
}

const span = ({ from, to }) => ({ from: from === undefined ? from : BigInt(from), to: to === undefined ? to : BigInt(to) });

/** A sort key: a name, or `{ property: "due" }`. */
function variant(key) {
  if (typeof key === "string") return { tag: kebab(key) };
  const [[tag, val]] = Object.entries(key);
  return { tag, val };
}

const kebab = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** A value of the host with numbers in place of 64-bit integers. */
function plain(value) {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}

/** A `console` that writes to the host's log; the sandbox has no other output. */
export function consoleTo(log) {
  const to = (level) => (...words) => log.write(level, words.map((word) => shown(word)).join(" "));
  return { debug: to("debug"), log: to("info"), info: to("info"), warn: to("warn"), error: to("error") };
}

const shown = (word) => (typeof word === "string" ? word : word instanceof Error ? String(word) : JSON.stringify(word));

/** No path of a vault has more characters. */
const MAX_NAME_LENGTH = 4096;

/** Whether a path is a note's. */
export const isNote = (path) => path.length > 3 && path.toLowerCase().endsWith(".md");

/** Calls the host. Its errors become a `Refusal`, which an action may catch or pass on. */
function calling(call) {
  try {
    return call();
  } catch (error) {
    const refused = error?.payload ?? error;
    if (typeof refused?.code !== "string" || refused instanceof Refusal) throw error;
    const details = refused.details ? JSON.parse(refused.details) : undefined;
    throw new Refusal(refused.code, refused.message, { hint: refused.hint ?? undefined, details });
  }
}

/**
 * A vault in memory, for tests: `memoryVault({ "A.md": "text" })`. Its files are in `files`, its log in `lines`. Its `find`
 * knows the conditions `all`, `any`, `not`, `under` and `tag` (in the text of a note).
 */
export function memoryVault(files = {}, { milliseconds = 0, offsetMinutes = 0 } = {}) {
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
      if (contents.has(path)) refuse("already_exists", `\`${path}\` already exists`);
      contents.set(path, decoder.decode(bytes));
      return etag(contents.get(path));
    },
    write: (path, bytes, ifMatch) => {
      if (ifMatch && ifMatch !== etag(need(path))) refuse("conflict", `\`${path}\` changed since it was read`);
      need(path);
      contents.set(path, decoder.decode(bytes));
      return etag(contents.get(path));
    },
    rename: (from, to) => {
      if (contents.has(to)) refuse("already_exists", `\`${to}\` already exists`);
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
    host: { now: () => ({ milliseconds: BigInt(milliseconds), offsetMinutes }) },
    index: { find: (_, query) => findIn(contents, query) },
    store: { get: (key) => kept.get(key), set: (key, value) => kept.set(key, value) },
    log: { write: (level, message) => lines.push(`${level}: ${message}`) },
  });
  return Object.assign(vault, { files: contents, lines });
}

function findIn(contents, { where, offset, limit }) {
  const tagged = (text, tag) => new RegExp(`#${tag}(?![^\\s/])`, "i").test(text);
  const holds = (place, path) => {
    const { tag, val } = where[place];
    if (tag === "all") return val.every((inner) => holds(inner, path));
    if (tag === "any") return val.some((inner) => holds(inner, path));
    if (tag === "not") return !holds(val, path);
    if (tag === "under") return val === "" || path === val || path.startsWith(`${val}/`);
    if (tag === "tag") return tagged(contents.get(path), val);
    throw new Error(`the vault in memory does not know the condition \`${tag}\``);
  };
  const notes = [...contents.keys()].filter((path) => isNote(path) && (where.length === 0 || holds(0, path))).sort();
  const items = notes.slice(Number(offset), Number(offset) + limit).map((path) => ({ path }));
  return { items, total: BigInt(notes.length), widened: [] };
}
