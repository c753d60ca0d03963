// Text statistics, and a lossless edit of one frontmatter property: every other byte stays.

const FRONTMATTER = /(?<![\s\S])(\uFEFF?---\r?\n)([\s\S]*?)(^---[ \t]*(?:\r?\n|$))/m;

// The engine in the sandbox has no Unicode tables (`\p{…}`), so these are ranges: Chinese and Japanese characters, and
// everything except white space and punctuation.
const DENSE = /[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]/g;
const WORD = /[^\s!-/:-@[-^`{-~\u00a0-\u00bf\u2000-\u206f\u3000-\u303f\uff00-\uff0f][^\s!-&(-,./:-@[-^`{-~\u3000-\u303f]*/g;

/** Words, characters, sentences and minutes, without frontmatter, code and comments. */
export function measure(text, pace = 230) {
  const read = text
    .replace(FRONTMATTER, "")
    .replace(/^(```|~~~)[\s\S]*?^\1[^\n]*$/gm, "")
    .replace(/%%[\s\S]*?%%|<!--[\s\S]*?-->/g, "")
    .replace(/!?\[\[(?:[^\]|]*\|)?([^\]]*)\]\]/g, "$1")
    .replace(/\]\([^)\s]*\)/g, "]")
    .trim();
  // In scripts without spaces each character counts as a word.
  const dense = read.match(DENSE) ?? [];
  const words = dense.length + (read.replace(DENSE, " ").match(WORD) ?? []).length;
  const sentences = read.split(/[.!?\n\u3002\uff01\uff1f]+/).filter((part) => part.search(WORD) >= 0).length;
  return { words, characters: [...read].length, sentences, minutes: Math.ceil(words / pace) };
}

/** The text with a property set in its frontmatter, which is created if missing. */
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
