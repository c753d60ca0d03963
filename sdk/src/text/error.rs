//! What can go wrong when a note is edited, told so that the caller can mend the request.

use super::nearest::Passage;
use super::yaml_gate::YamlLimit;
use crate::{Code, Error};
use serde_json::{Value, json};
use std::fmt;

/// Why a note could not be read or edited as asked. The note is unchanged whenever this is returned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// The text of an edit or of an anchor does not occur in the note.
    #[error("{what} does not occur in the note{}", nearest_words(.nearest.as_ref()))]
    NoMatch {
        /// Which argument: `edits[0].old`, `before`, ….
        what: String,
        /// The passage of the note that resembles it most.
        nearest: Option<Passage>,
    },
    /// The text occurs more often than once.
    #[error("{what} occurs {count} times, on {}; give more of the surrounding text", lines_words(.lines))]
    ManyMatches {
        /// Which argument: `edits[0].old`, `before`, ….
        what: String,
        /// How often it occurs.
        count: usize,
        /// The lines where it begins, the first few.
        lines: Vec<usize>,
    },
    /// There is nothing to look for.
    #[error("{what} is empty; give the exact text that is to be found")]
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
    /// The note is larger than its structure can be computed for.
    #[error("the note is too large to be read by its headings: {bytes} bytes, at most {limit}")]
    TooLarge {
        /// The size of the note, or of what its structure is found in.
        bytes: usize,
        /// The largest size that works.
        limit: usize,
    },
    /// No heading fits.
    #[error("no heading `{wanted}`{}", choices_words("; the nearest: ", .nearest))]
    NoSection {
        /// The heading path that was asked for.
        wanted: String,
        /// Headings with similar names, best first.
        nearest: Vec<SectionChoice>,
    },
    /// Several headings fit.
    #[error("`{wanted}` fits {} headings; choose one: {}", .choices.len(), choices_words("", .choices))]
    AmbiguousSection {
        /// The heading path that was asked for.
        wanted: String,
        /// Each heading that fits, spelt so that only it fits.
        choices: Vec<SectionChoice>,
    },
    /// The frontmatter is not valid YAML.
    #[error("the frontmatter is not valid YAML, line {line}: {message}")]
    BrokenFrontmatter {
        /// The line of the file.
        line: usize,
        /// What the parser says.
        message: String,
    },
    /// The frontmatter is YAML, but no list of `key: value`.
    #[error("the frontmatter from line {line} holds no `key: value` properties")]
    NoProperties {
        /// The line of the file where it begins.
        line: usize,
    },
    /// The frontmatter exceeds a limit, and is not parsed.
    #[error("the YAML from line {line} is too complex to be read: {limit}")]
    YamlTooComplex {
        /// The line of the file where it begins.
        line: usize,
        /// The limit that it exceeds.
        limit: YamlLimit,
    },
    /// A dotted key leads through a value that holds no keys.
    #[error("property `{key}` cannot be set: `{parent}` holds a plain value, not further keys")]
    NotNested {
        /// The key that was to be set.
        key: String,
        /// The part of it that exists and holds a value.
        parent: String,
    },
    /// The property is written in a way that cannot be changed without touching others.
    #[error(
        "property `{key}` is written in a way that cannot be changed safely; use an edit of the text instead"
    )]
    NotEditable {
        /// The key that was to be set or removed.
        key: String,
    },
    /// A set of splices that do not fit the text or each other.
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
    /// The code that callers see.
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

    /// What a program may want to know, beside the message.
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
        let told = Error::new(error.code(), error.to_string());
        match error.details() {
            Some(details) => told.with_details(details),
            None => told,
        }
    }
}

/// A heading as it can be named in a request.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct SectionChoice {
    /// The heading path, accepted as it is wherever a section is asked for.
    pub section: String,
    /// The line of the file where the heading stands.
    pub line: usize,
}

impl fmt::Display for SectionChoice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "`{}` (line {})", self.section, self.line)
    }
}

fn nearest_words(nearest: Option<&Passage>) -> String {
    match nearest {
        Some(passage) => format!(
            "; the nearest passage, line {}: `{}`",
            passage.line, passage.text
        ),
        None => String::new(),
    }
}

fn lines_words(lines: &[usize]) -> String {
    let numbers: Vec<String> = lines.iter().map(usize::to_string).collect();
    format!(
        "{} {}",
        if lines.len() == 1 { "line" } else { "lines" },
        numbers.join(", ")
    )
}

fn choices_words(lead: &str, choices: &[SectionChoice]) -> String {
    if choices.is_empty() {
        return String::new();
    }
    let names: Vec<String> = choices.iter().map(SectionChoice::to_string).collect();
    format!("{lead}{}", names.join(", "))
}
