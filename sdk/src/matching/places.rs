//! The scope of a search: the vault, a folder, a note, or the paths of a glob.

use crate::index::Condition;
use crate::prelude::*;
use crate::{Entry, Kind, fold_name, is_note};

/// The scope of a search.
#[derive(Debug, Clone)]
pub enum Place {
    /// All notes.
    Vault,
    /// This folder and everything below it.
    Folder(String),
    /// This note.
    Note(String),
    /// Notes whose path matches.
    Glob(String, Glob),
}

impl Place {
    /// The scope that a `path` argument selects.
    pub fn find(vault: &Vault, path: Option<&str>) -> Result<Place> {
        let path = path.map(str::trim).unwrap_or_default();
        let path = path.strip_suffix('/').unwrap_or(path);
        if matches!(path, "" | ".") {
            return Ok(Place::Vault);
        }
        match vault.stat(path) {
            Ok(Entry {
                path,
                kind: Kind::Folder,
                ..
            }) => return Ok(Place::Folder(path)),
            Ok(entry) if is_note(&entry.path) => return Ok(Place::Note(entry.path)),
            Ok(entry) => {
                return Err(Error::validation(format!(
                    "`{}` is not a note or folder",
                    entry.path
                )));
            }
            // A file name may contain glob characters, so the literal path is tried first.
            Err(_) if is_glob(path) => {
                return Ok(Place::Glob(path.to_owned(), glob(path)?));
            }
            Err(error) if error.kind() == Code::NotFound => {}
            Err(error) => return Err(error),
        }
        match vault.find_note(path) {
            Ok(path) => Ok(Place::Note(path)),
            Err(error) if error.kind() == Code::NotFound => Err(Error::not_found(format!(
                "no folder or note `{path}`; use a glob such as `{path}*/**` to search several folders"
            ))),
            Err(error) => Err(error),
        }
    }

    /// The condition for an index query; `None` for the whole vault.
    pub fn condition(&self) -> Option<Condition> {
        match self {
            Place::Vault => None,
            Place::Folder(path) | Place::Note(path) => Some(Condition::Under(path.clone())),
            Place::Glob(glob, _) => Some(Condition::Path(glob.clone())),
        }
    }

    /// Whether a path is in scope.
    pub fn holds(&self, path: &str) -> bool {
        match self {
            Place::Vault => true,
            Place::Note(note) => path == note,
            Place::Folder(folder) => path
                .strip_prefix(folder.as_str())
                .is_some_and(|rest| rest.starts_with('/')),
            Place::Glob(_, glob) => glob.is_match(&fold_name(path)),
        }
    }
}

/// Whether a text has glob characters.
pub fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

/// The glob that matches a text literally.
pub fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter {
            '*' | '?' | '[' | ']' | '{' | '}' => {
                escaped.push('[');
                escaped.push(letter);
                escaped.push(']');
            }
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// A compiled glob. It matches folded paths ([`fold_name`]).
pub type Glob = regex::Regex;

/// The maximum length of a glob and the maximum depth of its braces. The host has the same limits.
const MAX_GLOB_BYTES: usize = 1 << 10;
const MAX_BRACE_DEPTH: usize = 10;

/// A glob over folded paths: `*` and `?` stay within a folder, `**` matches any number of them.
pub fn glob(text: &str) -> Result<Glob> {
    let invalid = |reason: &str| {
        let shown: String = text.chars().take(80).collect();
        Error::validation(format!("`{shown}` is not a glob: {reason}"))
    };
    let folded = fold_name(text);
    if folded.len() > MAX_GLOB_BYTES {
        return Err(invalid(&format!(
            "it is longer than {MAX_GLOB_BYTES} bytes"
        )));
    }
    let letters: Vec<char> = folded.chars().collect();
    let mut pattern = String::from("(?s)^");
    let mut depth = 0;
    let mut at = 0;
    while let Some(letter) = letters.get(at) {
        at += 1;
        match letter {
            '*' if letters.get(at) == Some(&'*') => {
                let begins = at < 2 || letters[at - 2] == '/';
                at += 1;
                match letters.get(at) {
                    // `a/**/b` is also `a/b`.
                    Some('/') if begins => {
                        pattern.push_str("(?:[^/]+/)*");
                        at += 1;
                    }
                    None if begins => pattern.push_str(".+"),
                    _ => pattern.push_str("[^/]*"),
                }
            }
            '*' => pattern.push_str("[^/]*"),
            '?' => pattern.push_str("[^/]"),
            '[' => {
                at =
                    class(&letters, at, &mut pattern).ok_or_else(|| invalid("`[` is not closed"))?
            }
            '{' => {
                depth += 1;
                if depth > MAX_BRACE_DEPTH {
                    return Err(invalid(&format!(
                        "braces nest deeper than {MAX_BRACE_DEPTH}"
                    )));
                }
                pattern.push_str("(?:");
            }
            '}' if depth > 0 => {
                depth -= 1;
                pattern.push(')');
            }
            '}' => return Err(invalid("`}` without `{`")),
            ',' if depth > 0 => pattern.push('|'),
            letter => pattern.push_str(&regex::escape(letter.encode_utf8(&mut [0; 4]))),
        }
    }
    if depth > 0 {
        return Err(invalid("`{` is not closed"));
    }
    pattern.push('$');
    regex::RegexBuilder::new(&pattern)
        .size_limit(1 << 20)
        .build()
        .map_err(|_| invalid("it is too long, or has a range in descending order"))
}

/// Writes the character class whose `[` precedes `at`; returns where it ends.
fn class(letters: &[char], mut at: usize, pattern: &mut String) -> Option<usize> {
    pattern.push('[');
    if matches!(letters.get(at), Some('!' | '^')) {
        pattern.push_str("^/");
        at += 1;
    }
    let first = at;
    loop {
        let letter = *letters.get(at)?;
        // A leading bracket is a literal member of the class.
        if letter == ']' && at > first {
            pattern.push(']');
            return Some(at + 1);
        }
        let is_range =
            letter == '-' && at > first && letters.get(at + 1).is_some_and(|next| *next != ']');
        if is_range {
            pattern.push('-');
        } else {
            pattern.push_str(&regex::escape(letter.encode_utf8(&mut [0; 4])));
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_as_in_the_host() {
        for (text, path, fits) in [
            ("Work/*.md", "work/PLAN.md", true),
            ("Work/*.md", "Work/A/Plan.md", false),
            ("Work/**", "Work/A/Plan.md", true),
            ("Work/**", "Work", false),
            ("**/Plan.md", "Plan.md", true),
            ("Work/**/Plan.md", "Work/Plan.md", true),
            ("**/{plan,log}.md", "A/B/Log.md", true),
            ("[!a-v]*", "Work.md", true),
            ("[a-v]*", "Work.md", false),
            ("a?c", "a/c", false),
            ("a[.]c", "abc", false),
            ("[]]", "]", true),
            ("a**", "ab", true),
            ("a**", "ab/c", false),
        ] {
            assert_eq!(
                glob(text).unwrap().is_match(&fold_name(path)),
                fits,
                "{text} {path}"
            );
        }
        let deep = format!("{}a{}", "{".repeat(11), "}".repeat(11));
        for text in ["a[", "a{b", "b}", "[z-a]", &deep, &"a".repeat(1025)] {
            assert_eq!(glob(text).unwrap_err().code(), "validation_error", "{text}");
        }
        assert!(glob(&escape("a[*]{x}!?")).unwrap().is_match("a[*]{x}!?"));
    }
}
