// A tool domain for Notehost. An action is a description, which a model reads, its fields, and a function. The vault that
// it receives permits exactly what the caller may do.
import { domain, invalid } from "./notehost.js";

const path = { type: "string", description: "The note's path, or its unique name" };
const counted = {
  path: { type: "string", description: "The note" },
  words: { type: "integer", description: "Number of words" },
};
const wordsOf = (text) => text.split(/\s+/).filter(Boolean).length;

export default domain({
  name: "domain_name",
  version: "0.1.0",
  description: "Count the words of a note (`count`), and append a line to it (`add`).",
  actions: {
    count: {
      description: "Count the words of a note.",
      effect: "read",
      input: { path },
      output: counted,
      run({ path }, vault) {
        const note = vault.readNote(path);
        return { path: note.path, words: wordsOf(note.text) };
      },
      text: ({ path, words }) => `${path} has ${words} words`,
    },

    add: {
      description: "Add a line to the end of a note.",
      // The host enforces it: an action with the effect "read" cannot write.
      effect: "write",
      input: { path, line: { type: "string", description: "The line, without a line break" } },
      output: counted,
      run({ path, line }, vault) {
        if (line.includes("\n")) throw invalid("`line` has a line break: add one line at a time");
        const note = vault.readNote(path);
        const gap = note.text === "" || note.text.endsWith("\n") ? "" : "\n";
        const text = `${note.text}${gap}${line}\n`;
        // Staged: committed when the action returns, discarded if it throws.
        vault.write(note, text);
        return { path: note.path, words: wordsOf(text) };
      },
      text: ({ path, words }) => `added; ${path} has ${words} words now`,
    },
  },
});
