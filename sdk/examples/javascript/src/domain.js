// Reading statistics: the length of notes, their reading time, and the longest notes.
import { domain, invalid } from "./notehost.js";
import { measure, withProperty } from "./text.js";

const count = (description) => ({ type: "integer", description });
const path = { type: "string", description: "The note's path, or its unique name" };
const pace = {
  type: "integer",
  description: "Reading speed in words per minute",
  minimum: 50,
  maximum: 2000,
  default: 230,
  optional: true,
};

const figures = {
  words: count("Words; each Chinese or Japanese character counts as one"),
  characters: count("Characters, without frontmatter and code"),
  sentences: count("Sentences"),
  minutes: count("Reading time in minutes, rounded up"),
};

/** The text of a note; undefined if it is not UTF-8, so that one such note does not fail the call. */
function textOf(vault, path) {
  try {
    return vault.read(path).text;
  } catch (error) {
    if (error.code === "unsupported") return undefined;
    throw error;
  }
}

/** The paths of the notes below a folder that have a tag, from the host's index. */
function tagged(vault, under, tag) {
  const found = vault.find({ where: { all: [{ under }, { tag: tag.replace(/^#/, "") }] }, limit: 10_000 });
  return found.items.map(({ path }) => path);
}

export default domain({
  name: "reading",
  version: "1.0.0",
  description:
    "Reading statistics: the word count and reading time of a `note`, the longest notes of a folder or with a tag " +
    "(`longest`), and the reading time written to a property of a note (`stamp`).",
  actions: {
    note: {
      description: "Measure a note: words, characters, sentences, reading time in minutes.",
      effect: "read",
      input: { path, pace },
      output: { path: { type: "string" }, ...figures },
      run({ path, pace }, vault) {
        const note = vault.readNote(path);
        return { path: note.path, ...measure(note.text, pace) };
      },
      text: ({ path, words, minutes }) => `${path}: ${words} words, ${minutes} min`,
    },

    longest: {
      description: "List the notes of a folder or with a tag that have the longest reading time, and the total of all.",
      effect: "read",
      input: {
        folder: { type: "string", description: "Only notes below this folder; default: the whole vault", optional: true },
        tag: { type: "string", description: "Only notes with this tag or a nested one, without `#`", optional: true },
        limit: {
          type: "integer",
          description: "Maximum number of notes",
          minimum: 1,
          maximum: 100,
          default: 10,
          optional: true,
        },
        pace,
      },
      output: {
        items: {
          type: "array",
          description: "The longest first",
          items: { type: "object", properties: { path: { type: "string" }, ...figures }, required: ["path"] },
        },
        notes: count("Number of notes in the folder"),
        words: count("Words in all of them"),
        minutes: count("Reading time of all of them in minutes"),
      },
      run({ folder = "", tag, limit = 10, pace }, vault) {
        const below = folder.replace(/\/+$/, "");
        const paths = tag === undefined ? vault.notes(below) : tagged(vault, below, tag);
        const items = paths.flatMap((path) => {
          const text = textOf(vault, path);
          return text === undefined ? [] : [{ path, ...measure(text, pace) }];
        });
        items.sort((one, other) => other.words - one.words || (one.path < other.path ? -1 : 1));
        const sum = (figure) => items.reduce((total, item) => total + item[figure], 0);
        return { items: items.slice(0, limit), notes: items.length, words: sum("words"), minutes: sum("minutes") };
      },
      text: ({ items, notes, words, minutes }) =>
        [`${notes} notes, ${words} words, ${minutes} min`, ...items.map((item) => `${item.minutes} min  ${item.path}`)].join(
          "\n",
        ),
    },

    stamp: {
      description: "Write the reading time to a property of a note, so that notes can be sorted by it.",
      effect: "write",
      input: {
        path,
        property: {
          type: "string",
          description: "The name of the property",
          default: "reading_minutes",
          optional: true,
        },
        pace,
      },
      output: { path: { type: "string" }, property: { type: "string" }, minutes: figures.minutes },
      run({ path, property = "reading_minutes", pace }, vault) {
        if (!/^[A-Za-z_\u00c0-\uffff][\w\u00c0-\uffff-]*$/.test(property)) {
          throw invalid(`\`${property}\` is not a property name: use letters, digits, _ and -`);
        }
        const note = vault.readNote(path);
        const { minutes } = measure(note.text, pace);
        const stamped = withProperty(note.text, property, minutes);
        if (stamped !== note.text) vault.write(note, stamped);
        return { path: note.path, property, minutes };
      },
      text: ({ path, property, minutes }) => `${path}: ${property} is ${minutes}`,
    },
  },
});
