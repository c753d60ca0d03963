//! What can be asked of the host's index, and what it answers: the records behind the JSON of the contract's `index`
//! interface. Host and components share them, so they cannot drift apart. Within a track a record may gain optional
//! fields and an enum may gain cases; nothing else changes.
//!
//! Every answer is made of notes that the caller may see, and of nothing else: hits, counts, scores, link targets.
//! Answers tell the vault as it was when the call began; what the call itself staged is not in them.

mod answers;
mod building;
mod property;

pub use answers::*;
pub use building::{Building, building, unfinished};
pub use property::{order, property, sort_value};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How far the index is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexState {
    /// Whether every note is in it.
    pub state: Progress,
    /// How many notes are in it.
    pub done: u64,
    /// How many notes there are.
    pub total: u64,
    /// The tag of notes that are written for assistants, if models are to be told of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assistant_tag: Option<String>,
}

/// Whether the index is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// Notes are still being read.
    Building,
    /// Every note is in it.
    Ready,
}

/// Which notes, in which order, and what to tell of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Query {
    /// What a note must fulfil; nothing means every note.
    #[serde(rename = "where", default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Condition>,
    /// The order. Without it: the best score first where words are asked for, else by path. Equals are in order of path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sort: Vec<Sort>,
    /// How many to leave out at the beginning.
    #[serde(default)]
    pub offset: u64,
    /// How many to tell; 0 only counts.
    pub limit: u32,
    /// What to tell of each, beside its path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Field>,
    /// How many snippets of each note to make, where words are asked for.
    #[serde(default)]
    pub snippets: u32,
}

/// What a note must fulfil.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// All of these; an empty list is fulfilled by every note.
    All(Vec<Condition>),
    /// At least one of these; an empty list is fulfilled by no note.
    Any(Vec<Condition>),
    /// Not this.
    Not(Box<Condition>),
    /// These words stand in the note, one after the other (see [`crate::words`]); a single word is the common case. Where
    /// no note has a word as a whole, notes that have it within a word are found.
    Words(Words),
    /// A word that begins so stands in the note.
    Prefix(Words),
    /// The note is like this text: it has some of the words that set the text apart. Never fulfilled by a text without
    /// words.
    Like(String),
    /// The note lies in this folder or below it (`""` is the vault), or is this note.
    Under(String),
    /// The path fits this glob (`*`, `**`, `?`, `[…]`, `{a,b}`), whatever the case.
    Path(String),
    /// The note has this tag or one below it (`vc` is had by what has `vc/project`), whatever the case.
    Tag(String),
    /// A property of the note is so.
    Property(Box<PropertyTest>),
    /// It was changed in this time.
    Modified(Span),
    /// Its size in bytes is between these.
    Size(Span),
    /// It links to this file.
    LinksTo(String),
    /// This note links to it.
    LinkedFrom(String),
    /// There is at least one of these in it.
    Has(Has),
}

/// How many conditions a question may have, nested ones included.
pub const MAX_CONDITIONS: usize = 1000;

impl Condition {
    /// Whether it has more than [`MAX_CONDITIONS`] parts; such a question is refused.
    pub fn is_too_large(&self) -> bool {
        let mut seen = 0;
        let mut open = vec![self];
        while let Some(condition) = open.pop() {
            seen += 1;
            if seen > MAX_CONDITIONS {
                return true;
            }
            match condition {
                Condition::All(inner) | Condition::Any(inner) => {
                    if inner.len() > MAX_CONDITIONS {
                        return true;
                    }
                    open.extend(inner);
                }
                Condition::Not(inner) => open.push(inner),
                _ => {}
            }
        }
        false
    }
}

impl Query {
    /// Refuses a query that no host answers.
    ///
    /// # Errors
    /// `too_large`
    pub fn check(&self) -> crate::Result<()> {
        match &self.condition {
            Some(condition) if condition.is_too_large() => Err(crate::Error::new(
                crate::Code::TooLarge,
                format!("more than {MAX_CONDITIONS} conditions in one query: use fewer"),
            )),
            _ => Ok(()),
        }
    }
}

/// Words, and where they must stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    /// The words.
    pub text: String,
    /// Where; nothing means anywhere.
    #[serde(rename = "in", default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
}

/// A part of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Its file name without `.md`, its aliases and its property `title`.
    Name,
    /// Its headings.
    Headings,
    /// All of its text.
    Text,
}

/// A test of one property. Several tests must all hold. A value that is a list fulfils a test if one of its items does.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PropertyTest {
    /// Its name, whatever the case; parts of a nested one with dots between.
    pub key: String,
    /// Whether it is there at all (and not empty).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exists: Option<bool>,
    /// It is this: texts whatever their case, numbers by value, links by what stands between their brackets or by the
    /// name of the note alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equals: Option<Value>,
    /// It contains this text, whatever the case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contains: Option<String>,
    /// It is greater: numbers by value, everything else as text (so dates compare as dates).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub greater: Option<Value>,
    /// It is this or greater.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<Value>,
    /// It is less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub less: Option<Value>,
    /// It is this or less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<Value>,
}

/// From here (included) to there (excluded); milliseconds since 1970, or bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// The first that is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
    /// The first that is out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
}

/// What a note may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the words say it")]
pub enum Has {
    Tags,
    Properties,
    Aliases,
    Headings,
    /// Links to files of the vault, whether they are there or not.
    Links,
    /// Links that lead nowhere.
    BrokenLinks,
    /// Another note that links to it.
    Backlinks,
    Embeds,
    Blocks,
    Tasks,
    OpenTasks,
}

/// One criterion of an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sort {
    /// By what.
    pub by: SortBy,
    /// Whether the greatest comes first.
    #[serde(default)]
    pub descending: bool,
}

/// What to sort by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the words say it")]
pub enum SortBy {
    Score,
    Path,
    /// The file name without `.md`, whatever the case.
    Name,
    Modified,
    Size,
    /// How many links of other notes lead to it.
    Incoming,
    /// How many of its links lead to files that are there.
    Outgoing,
    /// A property; notes without it come last.
    Property(String),
}

/// What to tell of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the words say it")]
pub enum Field {
    Modified,
    Size,
    Etag,
    Properties,
    Tags,
    Aliases,
    Headings,
    Links,
    Blocks,
    Tasks,
    /// The numbers of links in and out.
    Degree,
}

/// Which links to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BacklinksOf {
    /// The file: exactly this path.
    pub path: String,
    /// How many to leave out at the beginning.
    #[serde(default)]
    pub offset: u64,
    /// How many to tell.
    pub limit: u32,
}

/// Which links lead nowhere.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnresolvedIn {
    /// Only those that stand in this folder or below it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub under: String,
    /// How many to leave out at the beginning.
    #[serde(default)]
    pub offset: u64,
    /// How many to tell.
    pub limit: u32,
    /// How many places to tell of each.
    pub places: u32,
}

/// Which tags.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TagsOf {
    /// Only tags that begin so, whatever the case.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prefix: String,
    /// Only tags of notes in this folder or below it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub under: String,
    /// Whether the most used come first; otherwise they come by name.
    #[serde(default)]
    pub by_count: bool,
    /// How many to leave out at the beginning.
    #[serde(default)]
    pub offset: u64,
    /// How many to tell.
    pub limit: u32,
}
