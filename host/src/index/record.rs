//! What the index keeps of one note: its facts in a compact form, decoded only when somebody asks for them.

use std::borrow::Cow;

use notehost_sdk::index::{BlockAt, HeadingAt, LinkKind, TagAt, TaskAt};
use notehost_sdk::text::facts::Facts;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What the index keeps of a note.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Note {
    /// Names its content.
    pub(super) etag: Box<str>,
    /// Names its path and its content, for the full-text half.
    pub(super) key: u64,
    /// How many words it has in its name, its headings and its text.
    pub(super) lengths: [u32; 3],
    /// Which kinds of things are in it.
    pub(super) has: Holds,
    /// Asked for in whole vaults, so it is kept as it is.
    pub(super) properties: Option<Box<Map<String, Value>>>,
    links: Box<[u8]>,
    rest: Box<[u8]>,
}

/// Which kinds of things a note holds, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Holds(u16);

impl Holds {
    pub(super) const TAGS: u16 = 1;
    pub(super) const PROPERTIES: u16 = 1 << 1;
    pub(super) const ALIASES: u16 = 1 << 2;
    pub(super) const HEADINGS: u16 = 1 << 3;
    pub(super) const LINKS: u16 = 1 << 4;
    pub(super) const EMBEDS: u16 = 1 << 5;
    pub(super) const BLOCKS: u16 = 1 << 6;
    pub(super) const TASKS: u16 = 1 << 7;
    pub(super) const OPEN_TASKS: u16 = 1 << 8;

    pub(super) fn contains(self, kind: u16) -> bool {
        self.0 & kind != 0
    }

    fn of(facts: &Facts) -> Holds {
        let mut inside = facts.links.iter().filter(|link| !link.external);
        let held = [
            (!facts.tags.is_empty(), Holds::TAGS),
            (!facts.properties.is_empty(), Holds::PROPERTIES),
            (!facts.aliases.is_empty(), Holds::ALIASES),
            (!facts.headings.is_empty(), Holds::HEADINGS),
            (inside.any(|link| !link.target.is_empty()), Holds::LINKS),
            (
                facts.links.iter().any(|link| link.kind.is_embed()),
                Holds::EMBEDS,
            ),
            (!facts.blocks.is_empty(), Holds::BLOCKS),
            (!facts.tasks.is_empty(), Holds::TASKS),
            (
                facts.tasks.iter().any(|task| task.status == ' '),
                Holds::OPEN_TASKS,
            ),
        ];
        Holds(held.iter().filter(|(is, _)| *is).map(|(_, bit)| bit).sum())
    }
}

/// A link as it is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Link<'a> {
    pub(super) kind: LinkKind,
    pub(super) target: &'a str,
    pub(super) fragment: Option<&'a str>,
    pub(super) text: Option<&'a str>,
    pub(super) line: u32,
    /// `None` where it is that of the link before.
    context: Option<&'a str>,
    pub(super) external: bool,
}

/// What else is kept of a note.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rest {
    pub(super) aliases: Vec<String>,
    pub(super) title: Option<String>,
    pub(super) tags: Vec<TagAt>,
    pub(super) headings: Vec<HeadingAt>,
    pub(super) blocks: Vec<BlockAt>,
    pub(super) tasks: Vec<TaskAt>,
}

/// The same, as it is written down: without names of fields.
#[derive(Serialize, Deserialize)]
struct Packed {
    aliases: Vec<String>,
    title: Option<String>,
    tags: Vec<(String, u32, bool)>,
    headings: Vec<(u8, String, u32)>,
    blocks: Vec<(String, u32)>,
    tasks: Vec<(char, String, u32)>,
}

impl Note {
    /// What is kept of a note with these facts.
    pub(super) fn new(etag: &str, key: u64, facts: Facts) -> Note {
        let has = Holds::of(&facts);
        let mut before = "";
        let mut links = Vec::with_capacity(facts.links.len());
        for link in &facts.links {
            links.push(Link {
                kind: link.kind,
                target: &link.target,
                fragment: link.fragment.as_deref(),
                text: link.text.as_deref(),
                line: link.line,
                context: (link.context != before).then_some(&link.context),
                external: link.external,
            });
            before = &link.context;
        }
        let links = packed(&links);
        let rest = Packed {
            aliases: facts.aliases,
            title: facts.title,
            tags: facts
                .tags
                .into_iter()
                .map(|tag| (tag.tag, tag.line, tag.property))
                .collect(),
            headings: facts
                .headings
                .into_iter()
                .map(|heading| (heading.level, heading.text, heading.line))
                .collect(),
            blocks: facts
                .blocks
                .into_iter()
                .map(|block| (block.id, block.line))
                .collect(),
            tasks: facts
                .tasks
                .into_iter()
                .map(|task| (task.status, task.text, task.line))
                .collect(),
        };
        Note {
            etag: etag.into(),
            key,
            lengths: [0; 3],
            has,
            properties: (!facts.properties.is_empty()).then(|| Box::new(facts.properties)),
            links,
            rest: packed(&rest),
        }
    }

    /// Its links, in their order.
    pub(super) fn links(&self) -> Vec<Link<'_>> {
        postcard::from_bytes(&self.links).unwrap_or_default()
    }

    /// Its links with the lines in which they stand.
    pub(super) fn links_in_context(&self) -> impl Iterator<Item = (Link<'_>, &str)> {
        let mut before = "";
        self.links().into_iter().map(move |link| {
            before = link.context.unwrap_or(before);
            (link, before)
        })
    }

    /// Everything but its links and properties.
    pub(super) fn rest(&self) -> Rest {
        let Ok(packed) = postcard::from_bytes::<Packed>(&self.rest) else {
            return Rest::default();
        };
        Rest {
            aliases: packed.aliases,
            title: packed.title,
            tags: packed
                .tags
                .into_iter()
                .map(|(tag, line, property)| TagAt {
                    tag,
                    line,
                    property,
                })
                .collect(),
            headings: packed
                .headings
                .into_iter()
                .map(|(level, text, line)| HeadingAt { level, text, line })
                .collect(),
            blocks: packed
                .blocks
                .into_iter()
                .map(|(id, line)| BlockAt { id, line })
                .collect(),
            tasks: packed
                .tasks
                .into_iter()
                .map(|(status, text, line)| TaskAt { status, text, line })
                .collect(),
        }
    }
}

/// A note as it lies on disk.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredNote<'a> {
    etag: Cow<'a, str>,
    key: u64,
    lengths: [u32; 3],
    has: Holds,
    properties: Option<Cow<'a, str>>,
    links: Cow<'a, [u8]>,
    rest: Cow<'a, [u8]>,
}

impl<'a> From<&'a Note> for StoredNote<'a> {
    fn from(note: &'a Note) -> StoredNote<'a> {
        let properties = note.properties.as_ref();
        StoredNote {
            etag: Cow::Borrowed(&note.etag),
            key: note.key,
            lengths: note.lengths,
            has: note.has,
            properties: properties
                .and_then(|properties| serde_json::to_string(properties).ok())
                .map(Cow::Owned),
            links: Cow::Borrowed(&note.links),
            rest: Cow::Borrowed(&note.rest),
        }
    }
}

impl StoredNote<'_> {
    /// The note; `None` if what was stored cannot be read.
    pub(super) fn restored(self) -> Option<Note> {
        let properties = match self.properties {
            Some(text) => Some(Box::new(serde_json::from_str(&text).ok()?)),
            None => None,
        };
        Some(Note {
            etag: self.etag.into(),
            key: self.key,
            lengths: self.lengths,
            has: self.has,
            properties,
            links: self.links.into_owned().into(),
            rest: self.rest.into_owned().into(),
        })
    }
}

fn packed(value: &impl Serialize) -> Box<[u8]> {
    // Plain data into memory: nothing can fail, and nothing is what would be kept if it did.
    postcard::to_stdvec(value).unwrap_or_default().into()
}
