//! Patterns, and the notes that they may match. The regex engine runs in time linear in the pattern and the text; this
//! module bounds the size of the pattern.

use regex::{Regex, RegexBuilder};

use super::literals;
use super::places::Place;
use crate::index::building;
use crate::is_note;
use crate::prelude::*;

/// The longest pattern.
const MAX_PATTERN_BYTES: usize = 2000;
/// The largest compiled pattern: `\w{100}` fits, `\w{1000}` does not.
const MAX_COMPILED_BYTES: usize = 2 << 20;

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// The compiled regex.
    pub regex: Regex,
    /// Every match contains at least one text of each list.
    required: literals::Required,
    /// Whether it contains a line break.
    pub names_line_end: bool,
}

/// The syntax of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// Literal text.
    Plain,
    /// The syntax of the Rust `regex` crate.
    Regex,
}

impl Pattern {
    /// Compiles a pattern. `argument` is its name in error messages.
    pub fn new(argument: &str, text: &str, written: Written, case: bool) -> Result<Pattern> {
        if text.is_empty() {
            return Err(Error::validation(format!("`{argument}` is empty")));
        }
        if text.len() > MAX_PATTERN_BYTES {
            return Err(Error::validation(format!(
                "`{argument}` has {} bytes; the limit is {MAX_PATTERN_BYTES}",
                text.len()
            )));
        }
        let pattern = match written {
            Written::Plain => regex::escape(text),
            Written::Regex => text.to_owned(),
        };
        let hir = regex_syntax::ParserBuilder::new()
            .case_insensitive(!case)
            .multi_line(true)
            .crlf(true)
            .build()
            .parse(&pattern)
            .map_err(|error| refused(argument, text, &error))?;
        let regex = RegexBuilder::new(&pattern)
            .case_insensitive(!case)
            .multi_line(true)
            .crlf(true)
            .size_limit(MAX_COMPILED_BYTES)
            .dfa_size_limit(2 * MAX_COMPILED_BYTES)
            .build()
            .map_err(|error| match error {
                regex::Error::CompiledTooBig(_) => Error::validation(format!(
                    "`{argument}` `{text}` compiles to a too large regex: use smaller counts in `{{…}}`, or `\\d` and `[a-z]` for `\\w`"
                )),
                error => Error::validation(format!("`{argument}` `{text}` is not a valid regex: {error}")),
            })?;
        Ok(Pattern {
            names_line_end: text.contains('\n')
                || written == Written::Regex && text.contains(r"\n"),
            required: literals::required(&hir),
            regex,
        })
    }

    /// The notes in a place that may have a match, in order of path: a superset of those that have one.
    pub fn candidates(&self, vault: &Vault, place: &Place) -> Result<Vec<String>> {
        if let Place::Note(note) = place {
            return Ok(vec![note.clone()]);
        }
        let paths = if !self.required.is_empty() {
            vault.containing(&self.required)?
        } else if let (None, Place::Vault | Place::Glob(..)) = (building(vault), place) {
            let mut files = vault.files()?;
            files.retain(|path| is_note(path));
            files
        } else {
            // List the files: the index may not have all notes yet.
            let folder = match place {
                Place::Folder(folder) => folder.as_str(),
                _ => "",
            };
            let notes = vault.notes(folder)?;
            notes.into_iter().map(|entry| entry.path).collect()
        };
        let mut paths: Vec<String> = paths.into_iter().filter(|path| place.holds(path)).collect();
        // Cursors rely on this order.
        paths.sort();
        Ok(paths)
    }
}

/// A note that was skipped.
#[reply]
pub struct Skipped {
    /// The note.
    pub path: String,
    /// Why.
    pub reason: String,
}

/// A note's text, or why the note is skipped: it was deleted in the meantime, or is not text.
pub fn read(vault: &Vault, path: &str) -> Result<std::result::Result<Note, Skipped>> {
    match vault.read_text(path) {
        Ok(note) => Ok(Ok(note)),
        Err(error) if error.kind() == Code::Unsupported => Ok(Err(Skipped {
            path: path.to_owned(),
            reason: "not UTF-8 text".to_owned(),
        })),
        Err(error) if error.kind() == Code::NotFound => Ok(Err(Skipped {
            path: path.to_owned(),
            reason: "deleted during the search".to_owned(),
        })),
        Err(error) => Err(error),
    }
}

fn refused(argument: &str, text: &str, error: &regex_syntax::Error) -> Error {
    let (what, at) = match error {
        regex_syntax::Error::Parse(error) => (error.kind().to_string(), error.span().start.offset),
        regex_syntax::Error::Translate(error) => {
            (error.kind().to_string(), error.span().start.offset)
        }
        error => (error.to_string(), 0),
    };
    // Features that users of other engines expect.
    let advice = match &*what {
        what if what.contains("look-around") => {
            ": look-around is not supported (matching time must stay linear); use a broader pattern and filter the matches"
        }
        what if what.contains("backreference") => ": backreferences are not supported",
        _ => "",
    };
    Error::validation(format!(
        "`{argument}` `{text}` is not a valid regex: {} at byte {at}{advice}",
        what.trim_end_matches('.')
    ))
    .with_details(json!({ "at": at }))
}
