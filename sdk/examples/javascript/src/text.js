// What a note's text amounts to, and one careful edit of its frontmatter: every byte that is not the property stays.

const FRONTMATTER = /(?<![\s\S])(\uFEFF?---\r?\n)([\s\S]*?)(^---[ \t]*(?:\r?\n|$))/m;

/** Words, characters, sentences and minutes of what a person reads: no frontmatter, no code, no comments. */
export function measure(text, pace = 230) {
  const read = text
    .replace(FRONTMATTER, "")
    .replace(/^(```|~~~)[\s\S]*?^\1[^\n]*$/gm, "")
    .replace(/%%[\s\S]*?%%|<!--[\s\S]*?-->/g, "")
    .replace(/!?\[\[(?:[^\]|]*\|)?([^\]]*)\]\]/g, "$1")
    .replace(/\]\([^)\s]*\)/g, "]")
    .trim();
  // Scripts without spaces are read character by character.
  const dense = read.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu) ?? [];
  const spaced = read.replace(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu, " ");
  const words = dense.length + (spaced.match(/[\p{L}\p{N}][\p{L}\p{N}'’_-]*/gu) ?? []).length;
  const sentences = (read.match(/[^.!?。！？\n]*[\p{L}\p{N}][^.!?。！？\n]*/gu) ?? []).length;
  return { words, characters: [...read].length, sentences, minutes: Math.ceil(words / pace) };
}

/** The text with a property in its frontmatter, which is made where there is none. */
export function withProperty(text, property, value) {
  const newline = /\r\n/.test(text) ? "\r\n" : "\n";
  const line = `${property}: ${value}`;
  const found = FRONTMATTER.exec(text);
  if (!found || found.index !== 0) return `---${newline}${line}${newline}---${newline}${text}`;
  const [all, open, properties, close] = found;
  const known = new RegExp(`^${property}:[^\\r\\n]*`, "m");
  const changed = known.test(properties) ? properties.replace(known, line) : `${properties}${line}${newline}`;
  return open + changed + close + text.slice(all.length);
}
