//! Queries and results of the host's index, shared by host and components: the types of the contract's `index`
//! interface, with conditions as a tree.
//!
//! Results depend only on notes that the caller may see: hits, counts, scores, link targets. They reflect the vault at the
//! start of the call, without the call's staged writes.

mod build_progress;
mod property;
mod results;

pub use build_progress::{Building, building, unfinished};
pub use property::{order, property, sort_value};
pub use results::*;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The state of the index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexState {
    /// Whether it is complete.
    pub state: Progress,
    /// Notes indexed so far.
    pub done: u64,
    /// Notes in all.
    pub total: u64,
    /// The tag of notes that are addressed to assistants, if models should know of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assistant_tag: Option<String>,
}

/// Whether the index is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// Notes are still being indexed.
    Building,
    /// Every note is indexed.
    Ready,
}

/// A query for notes: condition, order, page and fields.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Query {
    /// The condition; `None` matches every note.
    #[serde(rename = "where", default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Condition>,
    /// The order. Default: best score first if the condition has words, else by path. Ties are in order of path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sort: Vec<Sort>,
    /// The number of items to skip.
    #[serde(default)]
    pub offset: u64,
    /// The maximum number of items; 0 only counts.
    pub limit: u32,
    /// The fields to return for each note, besides its path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Field>,
    /// The number of snippets per note, if the condition has words.
    #[serde(default)]
    pub snippets: u32,
}

/// A condition on a note.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// All of these; an empty list matches every note.
    All(Vec<Condition>),
    /// At least one of these; an empty list matches no note.
    Any(Vec<Condition>),
    /// Not this.
    Not(Box<Condition>),
    /// The note contains these words as a phrase (see [`crate::words`]), usually a single word. If no note contains a
    /// single word as a whole, notes that contain it within a word match.
    Words(Words),
    /// The note contains a word with this prefix.
    Prefix(Words),
    /// The note is similar to this text: it contains some of its most distinctive words. A text without words matches
    /// nothing.
    Like(String),
    /// The note is in this folder or below it (`""` is the vault), or is this note.
    Under(String),
    /// The path matches this glob (`*`, `**`, `?`, `[…]`, `{a,b}`), case-insensitive.
    Path(String),
    /// The note has this tag or a nested one (`vc` matches `vc/project`), case-insensitive.
    Tag(String),
    /// A property of the note passes this test.
    Property(Box<PropertyTest>),
    /// It was modified in this time range.
    Modified(Span),
    /// Its size in bytes is in this range.
    Size(Span),
    /// It links to this file.
    LinksTo(String),
    /// It is linked from this note.
    LinkedFrom(String),
    /// It has at least one of these.
    Has(Has),
}

/// The maximum number of conditions in a query, including nested ones.
pub const MAX_CONDITIONS: usize = 1000;

impl Condition {
    /// Whether it has more than [`MAX_CONDITIONS`] parts; such a query is an error.
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
    /// Checks the limits of a query.
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

/// Words, and the part of the note that must contain them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    /// The words.
    pub text: String,
    /// The part; `None` for anywhere.
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

/// A test of one property. All given comparisons must hold. A list passes a comparison if one of its items does.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PropertyTest {
    /// Its name, case-insensitive; nested keys are joined with dots.
    pub key: String,
    /// Whether it exists and is not empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exists: Option<bool>,
    /// It equals this value: text case-insensitive, numbers by value, links by their target or the bare name of the note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equals: Option<Value>,
    /// It contains this text, case-insensitive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contains: Option<String>,
    /// It is greater: numbers by value, everything else as text (so ISO dates compare correctly).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub greater: Option<Value>,
    /// It is greater or equal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<Value>,
    /// It is less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub less: Option<Value>,
    /// It is less or equal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<Value>,
}

/// A half-open range of milliseconds since 1970, or of bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// The inclusive lower bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
    /// The exclusive upper bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
}

/// A feature of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub enum Has {
    Tags,
    Properties,
    Aliases,
    Headings,
    /// Links to files of the vault, resolved or not.
    Links,
    /// Unresolved links.
    BrokenLinks,
    /// Links from other notes.
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
    /// The key.
    pub by: SortBy,
    /// Whether the order is descending.
    #[serde(default)]
    pub descending: bool,
}

/// A sort key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub enum SortBy {
    Score,
    Path,
    /// The file name without `.md`, case-insensitive.
    Name,
    Modified,
    Size,
    /// The number of links from other notes.
    Incoming,
    /// The number of its resolved links.
    Outgoing,
    /// A property; notes without it come last.
    Property(String),
}

/// A field of a note in results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are self-explanatory")]
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
    /// The numbers of incoming and outgoing links.
    Degree,
}

/// A query for the links to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BacklinksQuery {
    /// The exact path of the file.
    pub path: String,
    /// The number of items to skip.
    #[serde(default)]
    pub offset: u64,
    /// The maximum number of items.
    pub limit: u32,
}

/// A query for unresolved links.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnresolvedQuery {
    /// Only links in notes in this folder or below it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub under: String,
    /// The number of items to skip.
    #[serde(default)]
    pub offset: u64,
    /// The maximum number of items.
    pub limit: u32,
    /// The maximum number of places per target.
    pub places: u32,
}

/// A query for tags.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TagsQuery {
    /// Only tags with this prefix, case-insensitive.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prefix: String,
    /// Only tags of notes in this folder or below it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub under: String,
    /// Whether to sort by count, most used first, instead of by name.
    #[serde(default)]
    pub by_count: bool,
    /// The number of items to skip.
    #[serde(default)]
    pub offset: u64,
    /// The maximum number of items.
    pub limit: u32,
}
