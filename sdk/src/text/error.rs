//! Errors of editing a note, with what the caller needs to correct the request.

use super::similar_passage::Passage;
use super::yaml_gate::YamlLimit;
use crate::{Code, Error};
use serde_json::{Value, json};
use std::fmt;

/// Why a note could not be read or edited. The note is unchanged whenever this is returned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// The text of an edit or of an anchor does not occur in the note.
    #[error("{what} does not occur in the note{}", nearest_text(.nearest.as_ref()))]
    NoMatch {
        /// Which argument: `edits[0].old`, `before`, ….
        what: String,
        /// The passage of the note that resembles it most.
        nearest: Option<Passage>,
    },
    /// The text occurs more than once.
    #[error("{what} occurs {count} times, on {}; give more of the surrounding text", lines_text(.lines))]
    ManyMatches {
        /// Which argument: `edits[0].old`, `before`, ….
        what: String,
        /// The number of occurrences.
        count: usize,
        /// The lines of the first few occurrences.
        lines: Vec<usize>,
    },
    /// The text to find is empty.
    #[error("{what} is empty; pass the exact text to find")]
    NothingToFind {
        /// Which argument.
        what: String,
    },
    /// An edit whose `old` and `new` are the same.
    #[error("{what} would change nothing: `old` and `new` are the same")]
    NothingToChange {
        /// Which edit: `edits[0]`, ….
        what: String,
    },
    /// The note is too large to be parsed.
    #[error("the note is too large to parse its headings: {bytes} bytes, at most {limit}")]
    TooLarge {
        /// The size of the note, or of its skeleton.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// No heading matches.
    #[error("no heading `{wanted}`{}", choices_text("; similar headings: ", .nearest))]
    NoSection {
        /// The requested heading path.
        wanted: String,
        /// Headings with similar names, best first.
        nearest: Vec<SectionChoice>,
    },
    /// Several headings match.
    #[error("`{wanted}` matches {} headings; use one of these: {}", .choices.len(), choices_text("", .choices))]
    AmbiguousSection {
        /// The requested heading path.
        wanted: String,
        /// Each matching heading, with a heading path that only it matches.
        choices: Vec<SectionChoice>,
    },
    /// The frontmatter is not valid YAML.
    #[error("the frontmatter is not valid YAML, line {line}: {message}")]
    BrokenFrontmatter {
        /// The line of the file.
        line: usize,
        /// The message of the parser.
        message: String,
    },
    /// The frontmatter is YAML, but not a mapping.
    #[error("the frontmatter at line {line} is not a mapping of `key: value` properties")]
    NoProperties {
        /// The line of the file where it begins.
        line: usize,
    },
    /// The frontmatter exceeds a limit and is not parsed.
    #[error("the YAML at line {line} is too complex to parse: {limit}")]
    YamlTooComplex {
        /// The line of the file where it begins.
        line: usize,
        /// The limit that it exceeds.
        limit: YamlLimit,
    },
    /// A dotted key passes through a value that is not a mapping.
    #[error("property `{key}` cannot be set: `{parent}` is a plain value, not a mapping")]
    NotNested {
        /// The key to set.
        key: String,
        /// The part of it that exists and is not a mapping.
        parent: String,
    },
    /// The property cannot be changed without touching others.
    #[error(
        "property `{key}` uses YAML syntax that cannot be edited safely; edit the text instead"
    )]
    NotEditable {
        /// The key to set or remove.
        key: String,
    },
    /// Splices that are out of bounds or overlap.
    #[error("cannot splice bytes {start}..{end} into a text of {length} bytes")]
    BadSplice {
        /// Where the splice begins.
        start: usize,
        /// Where it ends.
        end: usize,
        /// The length of the text.
        length: usize,
    },
}

impl TextError {
    /// The error code that callers see.
    pub fn code(&self) -> Code {
        match self {
            Self::NoMatch { .. } | Self::NoSection { .. } => Code::NotFound,
            Self::AmbiguousSection { .. } | Self::ManyMatches { .. } => Code::AmbiguousName,
            Self::NothingToFind { .. } | Self::NothingToChange { .. } | Self::NotNested { .. } => {
                Code::ValidationError
            }
            Self::TooLarge { .. } | Self::YamlTooComplex { .. } => Code::TooLarge,
            Self::BrokenFrontmatter { .. }
            | Self::NoProperties { .. }
            | Self::NotEditable { .. } => Code::Unsupported,
            Self::BadSplice { .. } => Code::InternalError,
        }
    }

    /// The error of an action, prefixed with the path of the note.
    pub fn in_note(self, path: &str) -> Error {
        Error::from(self).context(format_args!("`{path}`"))
    }

    /// The `details` of the error.
    fn details(&self) -> Option<Value> {
        match self {
            Self::NoMatch {
                nearest: Some(nearest),
                ..
            } => Some(json!({ "nearest": nearest })),
            Self::ManyMatches { count, lines, .. } => {
                Some(json!({ "count": count, "lines": lines }))
            }
            Self::TooLarge { bytes, limit } => Some(json!({ "bytes": bytes, "limit": limit })),
            Self::NoSection { nearest, .. } => Some(json!({ "nearest": nearest })),
            Self::AmbiguousSection { choices, .. } => Some(json!({ "choices": choices })),
            Self::BrokenFrontmatter { line, .. }
            | Self::NoProperties { line }
            | Self::YamlTooComplex { line, .. } => Some(json!({ "line": line })),
            _ => None,
        }
    }
}

impl From<TextError> for Error {
    fn from(error: TextError) -> Self {
        let converted = Error::new(error.code(), error.to_string());
        match error.details() {
            Some(details) => converted.with_details(details),
            None => converted,
        }
    }
}

/// A heading that can be used in a request.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct SectionChoice {
    /// The heading path; valid wherever a section is an argument.
    pub section: String,
    /// The line of the heading in the file.
    pub line: usize,
}

impl fmt::Display for SectionChoice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "`{}` (line {})", self.section, self.line)
    }
}

fn nearest_text(nearest: Option<&Passage>) -> String {
    match nearest {
        Some(passage) => format!(
            "; closest passage, line {}: `{}`",
            passage.line, passage.text
        ),
        None => String::new(),
    }
}

fn lines_text(lines: &[usize]) -> String {
    let numbers: Vec<String> = lines.iter().map(usize::to_string).collect();
    format!(
        "{} {}",
        if lines.len() == 1 { "line" } else { "lines" },
        numbers.join(", ")
    )
}

fn choices_text(lead: &str, choices: &[SectionChoice]) -> String {
    if choices.is_empty() {
        return String::new();
    }
    let names: Vec<String> = choices.iter().map(SectionChoice::to_string).collect();
    format!("{lead}{}", names.join(", "))
}
