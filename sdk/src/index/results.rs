//! Results of index queries.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A page of the notes that match a query.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// In the requested order.
    pub items: Vec<FoundNote>,
    /// The total number.
    pub total: u64,
    /// Words that no note contains as a whole, and that were searched within words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub widened: Vec<String>,
}

/// A note that matches a query. Fields that were not requested are omitted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FoundNote {
    /// Its path.
    pub path: String,
    /// The relevance score; only if the condition has words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Lines that contain the words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub snippets: Vec<Snippet>,
    /// Milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<u64>,
    /// In bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// The etag of the indexed content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// Its properties, in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub properties: Option<Map<String, Value>>,
    /// Its tags, one entry per occurrence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<TagAt>>,
    /// Its aliases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aliases: Option<Vec<String>>,
    /// Its headings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headings: Option<Vec<HeadingAt>>,
    /// Its links, in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<Vec<LinkAt>>,
    /// Its blocks with an id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Vec<BlockAt>>,
    /// Its tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<Vec<TaskAt>>,
    /// The numbers of its links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degree: Option<Degree>,
}

/// A line that contains words of the query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snippet {
    /// The line of the file, from 1.
    pub line: u32,
    /// The line, truncated around the words.
    pub text: String,
}

/// A tag of a note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TagAt {
    /// Without `#`, as written.
    pub tag: String,
    /// The line of the file, from 1; for a property the first line of the frontmatter.
    pub line: u32,
    /// Whether it is in the properties.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub property: bool,
}

/// A heading of a note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeadingAt {
    /// 1 to 6.
    pub level: u8,
    /// Its text.
    pub text: String,
    /// The line of the file, from 1.
    pub line: u32,
}

/// A block that has an id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockAt {
    /// Without `^`.
    pub id: String,
    /// The line of the id in the file, from 1.
    pub line: u32,
}

/// A task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskAt {
    /// The character between its brackets; a space if it is open.
    pub status: char,
    /// Its text, as written.
    pub text: String,
    /// The line of the file, from 1.
    pub line: u32,
}

/// The syntax of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkKind {
    /// `[[Note]]`
    Wiki,
    /// `![[Note]]`
    Embed,
    /// `[text](note.md)`
    Markdown,
    /// `![text](picture.png)`
    Image,
    /// `[label]: note.md`
    Definition,
    /// `"[[Note]]"` in the frontmatter.
    Property,
}

impl LinkKind {
    /// Whether it embeds the target.
    pub fn is_embed(self) -> bool {
        matches!(self, LinkKind::Embed | LinkKind::Image)
    }
}

/// A link of a note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkAt {
    /// Its syntax.
    pub kind: LinkKind,
    /// The decoded target without fragment; empty for `[[#Heading]]`. The URL of an external link.
    pub target: String,
    /// The fragment: `#Heading#Below`, `#^block`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fragment: Option<String>,
    /// The displayed text, if not the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The line of the file, from 1.
    pub line: u32,
    /// The path that it resolves to, if the file exists and the caller may see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The number of other files that the target also matches.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rivals: u32,
    /// Whether the fragment exists in the target; only if the target is an existing note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fragment_found: Option<bool>,
    /// Whether it points outside the vault (a URL).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub external: bool,
}

/// The numbers of links of a note.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Degree {
    /// Links from other notes.
    pub incoming: u32,
    /// Its resolved links to other files.
    pub outgoing: u32,
    /// Its unresolved links.
    pub broken: u32,
}

/// Links to a file, in order of path and line, without a note's links to itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backlinks {
    /// The links.
    pub items: Vec<Backlink>,
    /// The total number.
    pub total: u64,
    /// The number of notes with such links.
    pub notes: u64,
}

/// A link to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backlink {
    /// The note that contains it.
    pub path: String,
    /// The line of the file, from 1.
    pub line: u32,
    /// The text of that line, truncated around the link.
    pub context: String,
    /// Its syntax.
    pub kind: LinkKind,
    /// The fragment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fragment: Option<String>,
}

/// Missing targets, those with the most links first, then by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unresolved {
    /// The targets.
    pub items: Vec<Missing>,
    /// The total number of targets.
    pub total: u64,
    /// The total number of links to them.
    pub links: u64,
}

/// A missing target. Targets that differ only in case or Unicode normalization are one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// As written in the first link (by path and line).
    pub target: String,
    /// The number of links to it.
    pub count: u64,
    /// The places of the links, in order of path and line.
    pub places: Vec<PlaceAt>,
}

/// A line of a note.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PlaceAt {
    /// The note.
    pub path: String,
    /// The line of the file, from 1.
    pub line: u32,
}

/// Tags of the vault, including the parents of nested tags (`vc` for `vc/project`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tags {
    /// The tags.
    pub items: Vec<TagCount>,
    /// The total number.
    pub total: u64,
}

/// A tag and its counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TagCount {
    /// Without `#`, in its most common spelling (ties: the first by bytes).
    pub tag: String,
    /// The number of notes with it or a tag nested in it.
    pub notes: u64,
    /// The number of notes with exactly this tag.
    pub own: u64,
}

/// The graph of links between notes. Notes are indices into `paths`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edges {
    /// The notes, in order of path.
    pub paths: Vec<String>,
    /// Triples of source, target and number of links, sorted; without links of a note to itself.
    pub edges: Vec<u32>,
    /// The number of unresolved links of each note.
    pub broken: Vec<u32>,
}

/// A name or alias of a note that occurs in a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameAt {
    /// The note.
    pub path: String,
    /// The byte offset of its start in the text.
    pub start: u32,
    /// The byte offset of its end.
    pub end: u32,
    /// Whether it is an alias.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alias: bool,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}
