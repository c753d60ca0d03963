//! What the index answers.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Some of the notes that fulfil a query.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// In the order that was asked for.
    pub items: Vec<FoundNote>,
    /// How many there are in all.
    pub total: u64,
    /// Words that stand in no note as a whole, and were found within words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub widened: Vec<String>,
}

/// A note that fulfils a query. What was not asked for is not there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FoundNote {
    /// Its path.
    pub path: String,
    /// How well it fits; only where words were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Where the words stand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub snippets: Vec<Snippet>,
    /// Milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<u64>,
    /// In bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Names the content that was indexed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// Its properties, in their order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub properties: Option<Map<String, Value>>,
    /// Its tags, each as often as it stands there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<TagAt>>,
    /// Its other names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aliases: Option<Vec<String>>,
    /// Its headings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headings: Option<Vec<HeadingAt>>,
    /// Its links, in their order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<Vec<LinkAt>>,
    /// Its blocks that have an id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Vec<BlockAt>>,
    /// Its tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<Vec<TaskAt>>,
    /// The numbers of its links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degree: Option<Degree>,
}

/// A passage in which words stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snippet {
    /// The line of the file, from 1.
    pub line: u32,
    /// The line, cut to what stands around the words.
    pub text: String,
}

/// A tag of a note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TagAt {
    /// Without `#`, as it is written.
    pub tag: String,
    /// The line of the file, from 1; of a property the line on which the frontmatter begins.
    pub line: u32,
    /// Whether it stands in the properties.
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
    /// The line of the file on which the id stands, from 1.
    pub line: u32,
}

/// A task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskAt {
    /// What stands between its brackets; a space if it is open.
    pub status: char,
    /// What is to be done, as it is written.
    pub text: String,
    /// The line of the file, from 1.
    pub line: u32,
}

/// How a link is written.
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
    /// Whether the target is shown in place.
    pub fn is_embed(self) -> bool {
        matches!(self, LinkKind::Embed | LinkKind::Image)
    }
}

/// A link of a note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkAt {
    /// How it is written.
    pub kind: LinkKind,
    /// The target as it is meant, decoded and without fragment; empty for `[[#Heading]]`. A URL, for one that leads out.
    pub target: String,
    /// The place in the target: `#Heading#Below`, `#^block`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fragment: Option<String>,
    /// What a reader sees instead of the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The line of the file, from 1.
    pub line: u32,
    /// The file that it leads to, if it is there and the caller may see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// How many other files its words fit as well.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rivals: u32,
    /// Whether the place in the target is there; only for a fragment in a note that is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fragment_found: Option<bool>,
    /// Whether it leads out of the vault (a URL).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub external: bool,
}

/// How many links a note has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Degree {
    /// Links of other notes that lead to it.
    pub incoming: u32,
    /// Its links that lead to other files that are there.
    pub outgoing: u32,
    /// Its links that lead nowhere.
    pub broken: u32,
}

/// Links to a file, in order of path and line. A note's links to itself are not among them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backlinks {
    /// The links.
    pub items: Vec<Backlink>,
    /// How many there are in all.
    pub total: u64,
    /// In how many notes they stand.
    pub notes: u64,
}

/// A link, as its target sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backlink {
    /// The note in which it stands.
    pub path: String,
    /// The line of the file, from 1.
    pub line: u32,
    /// The text of that line, cut to what stands around the link.
    pub context: String,
    /// How it is written.
    pub kind: LinkKind,
    /// The place in the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fragment: Option<String>,
}

/// Targets that are not there: the most wanted first, then by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unresolved {
    /// The targets.
    pub items: Vec<Missing>,
    /// How many targets there are in all.
    pub total: u64,
    /// How many links lead to them.
    pub links: u64,
}

/// A target that is not there. Targets that differ only in case or Unicode spelling are one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// As the first link (by path and line) has it.
    pub target: String,
    /// How many links lead to it.
    pub count: u64,
    /// Where they stand, in order of path and line.
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

/// Tags of the vault. The tags above a nested one are among them (`vc` where there is `vc/project`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tags {
    /// The tags.
    pub items: Vec<TagCount>,
    /// How many there are in all.
    pub total: u64,
}

/// A tag and how often it is used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TagCount {
    /// Without `#`, in its most common spelling (of equally common ones the first by bytes).
    pub tag: String,
    /// How many notes have it or one below it.
    pub notes: u64,
    /// How many notes have it itself.
    pub own: u64,
}

/// Who links to whom. Numbers are places in `paths`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edges {
    /// The notes, in order of path.
    pub paths: Vec<String>,
    /// From, to, number of links; again and again. In order, no note to itself, notes only.
    pub edges: Vec<u32>,
    /// How many links of each note lead nowhere.
    pub broken: Vec<u32>,
}

/// A note's name or alias that stands in a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameAt {
    /// The note.
    pub path: String,
    /// The bytes of the text in which its name stands.
    pub start: u32,
    /// The first byte after it.
    pub end: u32,
    /// Whether it is an alias.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alias: bool,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}
