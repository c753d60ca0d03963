//! Patterns, and the notes that they may match. The regex engine takes time in proportion to pattern and text whatever
//! they are; how large a pattern may become is bounded here.

use regex::{Regex, RegexBuilder};

use super::literals;
use super::places::Place;
use crate::index::building;
use crate::is_note;
use crate::prelude::*;

/// The longest pattern, in bytes.
const LONGEST: usize = 2000;
/// How large it may be when it is compiled: `\w{100}` passes, `\w{1000}` does not.
const LARGEST: usize = 2 << 20;

/// A pattern that can be looked for.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// Compiled.
    pub regex: Regex,
    /// For each list: one of its texts stands in every match.
    required: literals::Required,
    /// Whether it names a line end.
    pub names_line_end: bool,
}

/// How a pattern is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// As it stands.
    Plain,
    /// In the syntax of the Rust engine.
    Regex,
}

impl Pattern {
    /// Understand a pattern. `argument` is what the caller calls it.
    pub fn new(argument: &str, text: &str, written: Written, case: bool) -> Result<Pattern> {
        if text.is_empty() {
            return Err(Error::validation(format!("`{argument}` is empty")));
        }
        if text.len() > LONGEST {
            return Err(Error::validation(format!(
                "`{argument}` has {} bytes, and {LONGEST} are the most",
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
            .size_limit(LARGEST)
            .dfa_size_limit(2 * LARGEST)
            .build()
            .map_err(|error| match error {
                regex::Error::CompiledTooBig(_) => Error::validation(format!(
                    "`{argument}` `{text}` becomes too large: use smaller counts than in `{{…}}`, or `\\d` and `[a-z]` for `\\w`"
                )),
                error => Error::validation(format!("`{argument}` `{text}` is no regex: {error}")),
            })?;
        Ok(Pattern {
            names_line_end: text.contains('\n')
                || written == Written::Regex && text.contains(r"\n"),
            required: literals::required(&hir),
            regex,
        })
    }

    /// The notes in a place that may have a match, in order of path. None that has one is missing.
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
            // The disk knows all notes, also those that the index has yet to see.
            let folder = match place {
                Place::Folder(folder) => folder.as_str(),
                _ => "",
            };
            let notes = vault.notes(folder)?;
            notes.into_iter().map(|entry| entry.path).collect()
        };
        let mut paths: Vec<String> = paths.into_iter().filter(|path| place.holds(path)).collect();
        // Pages go on by path, so the order must be this one, whoever told the paths.
        paths.sort();
        Ok(paths)
    }
}

/// A note that was passed over.
#[reply]
pub struct Skipped {
    /// The note.
    pub path: String,
    /// Why.
    pub reason: String,
}

/// A note's text, or why it has none: it is gone meanwhile, or is no text.
pub fn read(vault: &Vault, path: &str) -> Result<std::result::Result<Note, Skipped>> {
    match vault.read_text(path) {
        Ok(note) => Ok(Ok(note)),
        Err(error) if error.kind() == Code::Unsupported => Ok(Err(Skipped {
            path: path.to_owned(),
            reason: "not UTF-8 text".to_owned(),
        })),
        Err(error) if error.kind() == Code::NotFound => Ok(Err(Skipped {
            path: path.to_owned(),
            reason: "gone meanwhile".to_owned(),
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
    // These are what people miss who know other engines.
    let advice = match &*what {
        what if what.contains("look-around") => {
            ": this engine has no look-around, so that no pattern can hang it; match more and look at the hits"
        }
        what if what.contains("backreference") => ": this engine has no backreferences",
        _ => "",
    };
    Error::validation(format!(
        "`{argument}` `{text}` is no regex: {} at byte {at}{advice}",
        what.trim_end_matches('.')
    ))
    .with_details(json!({ "at": at }))
}
