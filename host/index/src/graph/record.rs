//! The indexed facts of one note, in a compact form that is decoded on demand.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::File;
use std::sync::Arc;

use notehost_sdk::fold_name;
use notehost_sdk::index::{BlockAt, HeadingAt, LinkKind, TagAt, TaskAt};
use notehost_sdk::text::facts::Facts;
use notehost_sdk::text::links::target_file_name;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::contexts::LinkContexts;

/// What the index keeps of a note.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Note {
    /// Names its content.
    pub(crate) etag: Box<str>,
    /// Names its path and its content, for the full-text half.
    pub(crate) key: u64,
    /// How many words it has in its name, its headings and its text.
    pub(crate) lengths: [u32; 3],
    /// Which kinds of things are in it.
    pub(crate) has: Holds,
    /// Needed for all notes at once, so it is not encoded.
    pub(crate) properties: Option<Box<Map<String, Value>>>,
    /// About how many bytes these take, in memory or as JSON.
    property_bytes: usize,
    links: Box<[u8]>,
    contexts: LinkContexts,
    rest: Box<[u8]>,
    /// Made before the graph is locked, if making it takes a while.
    keys: Option<Box<Keys>>,
}

/// By what the graph finds a note: each once, however often it occurs in the note.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Keys {
    /// The folded names that its links refer to.
    pub(crate) link_names: Box<[Box<str>]>,
    /// Its tags as they are written, and how often.
    pub(crate) tags: Box<[(Box<str>, u32)]>,
    /// Its aliases, folded.
    pub(crate) aliases: Box<[Box<str>]>,
}

/// From this size on the keys of a note are computed once, and cached.
const LARGE_BYTES: usize = 16 << 10;

/// Which kinds of things a note holds, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Holds(u16);

impl Holds {
    pub(crate) const TAGS: u16 = 1;
    pub(crate) const PROPERTIES: u16 = 1 << 1;
    pub(crate) const ALIASES: u16 = 1 << 2;
    pub(crate) const HEADINGS: u16 = 1 << 3;
    pub(crate) const LINKS: u16 = 1 << 4;
    pub(crate) const EMBEDS: u16 = 1 << 5;
    pub(crate) const BLOCKS: u16 = 1 << 6;
    pub(crate) const TASKS: u16 = 1 << 7;
    pub(crate) const OPEN_TASKS: u16 = 1 << 8;
    /// Not what it holds but what is missing: its frontmatter cannot be read, and it has no properties here.
    pub(crate) const UNREAD_PROPERTIES: u16 = 1 << 9;

    pub(crate) fn contains(self, kind: u16) -> bool {
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
            (facts.properties_error.is_some(), Holds::UNREAD_PROPERTIES),
        ];
        Holds(held.iter().filter(|(is, _)| *is).map(|(_, bit)| bit).sum())
    }
}

/// A link as it is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Link<'a> {
    pub(crate) kind: LinkKind,
    pub(crate) target: &'a str,
    pub(crate) fragment: Option<&'a str>,
    pub(crate) text: Option<&'a str>,
    pub(crate) line: u32,
    pub(crate) external: bool,
}

/// What else is kept of a note.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rest {
    pub(crate) aliases: Vec<String>,
    pub(crate) title: Option<String>,
    pub(crate) tags: Vec<TagAt>,
    pub(crate) headings: Vec<HeadingAt>,
    pub(crate) blocks: Vec<BlockAt>,
    pub(crate) tasks: Vec<TaskAt>,
}

/// What of it the graph finds a note by, not copied.
#[derive(Deserialize)]
struct PackedKeys<'a> {
    #[serde(borrow)]
    aliases: Vec<&'a str>,
    #[serde(borrow)]
    title: Option<&'a str>,
    #[serde(borrow)]
    tags: Vec<(&'a str, u32, bool)>,
}

/// The same as it is saved: without names of fields.
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
    pub(crate) fn new(etag: &str, key: u64, facts: Facts) -> Note {
        let has = Holds::of(&facts);
        let mut before = "";
        let mut links = Vec::with_capacity(facts.links.len());
        let mut contexts = Vec::with_capacity(facts.links.len());
        for link in &facts.links {
            links.push(Link {
                kind: link.kind,
                target: &link.target,
                fragment: link.fragment.as_deref(),
                text: link.text.as_deref(),
                line: link.line,
                external: link.external,
            });
            contexts.push((link.context != before).then_some(link.context.as_str()));
            before = &link.context;
        }
        let links = packed(&links);
        let contexts = LinkContexts::new(&contexts);
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
            property_bytes: fields_bytes(&facts.properties),
            properties: (!facts.properties.is_empty()).then(|| Box::new(compact(facts.properties))),
            links,
            contexts,
            rest: packed(&rest),
            keys: None,
        }
        .with_keys()
    }

    /// How much has to be gone through for its properties: in a lookup their names, in a test their values.
    pub(crate) fn property_bytes(&self) -> usize {
        self.property_bytes
    }

    fn with_keys(mut self) -> Note {
        if self.link_bytes() + self.rest_bytes() > LARGE_BYTES {
            self.keys = Some(Box::new(self.made_keys()));
        }
        self
    }

    /// How much has to be decoded for its links.
    pub(crate) fn link_bytes(&self) -> usize {
        self.links.len()
    }

    /// How much has to be decoded for everything but its links and properties.
    pub(crate) fn rest_bytes(&self) -> usize {
        self.rest.len()
    }

    /// By what the graph finds it.
    pub(crate) fn keys(&self) -> Cow<'_, Keys> {
        match &self.keys {
            Some(keys) => Cow::Borrowed(keys),
            None => Cow::Owned(self.made_keys()),
        }
    }

    fn made_keys(&self) -> Keys {
        // A target occurs often, so it is folded once.
        let links = self.links();
        let targets: HashSet<&str> = links
            .iter()
            .filter(|link| !link.external && !link.target.is_empty())
            .map(|link| link.target)
            .collect();
        let link_names: BTreeSet<String> = targets.into_iter().map(target_file_name).collect();
        // The rest of the record is not decoded.
        let Ok((packed, _)) = postcard::take_from_bytes::<PackedKeys<'_>>(&self.rest) else {
            return Keys::default();
        };
        let _ = packed.title;
        let mut tags: HashMap<&str, u32> = HashMap::new();
        for (tag, _, _) in packed.tags {
            let count = tags.entry(tag).or_default();
            *count = count.saturating_add(1);
        }
        let mut tags: Vec<(Box<str>, u32)> = tags
            .into_iter()
            .map(|(tag, count)| (tag.into(), count))
            .collect();
        tags.sort_unstable();
        let aliases = packed.aliases.into_iter().map(fold_name);
        let aliases: BTreeSet<String> = aliases.collect();
        Keys {
            link_names: link_names.into_iter().map(Into::into).collect(),
            tags: tags.into(),
            aliases: aliases.into_iter().map(Into::into).collect(),
        }
    }

    /// Its links, in their order.
    pub(crate) fn links(&self) -> Vec<Link<'_>> {
        postcard::from_bytes(&self.links).unwrap_or_default()
    }

    /// The lines in which its links occur.
    pub(crate) fn contexts(&self) -> &LinkContexts {
        &self.contexts
    }

    /// Replaces them by the same lines in another place.
    pub(crate) fn set_contexts(&mut self, contexts: LinkContexts) {
        self.contexts = contexts;
    }

    /// Everything but its links and properties.
    pub(crate) fn rest(&self) -> Rest {
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

/// A note as it is on disk.
#[derive(Serialize, Deserialize)]
pub(crate) struct StoredNote<'a> {
    etag: &'a str,
    key: u64,
    lengths: [u32; 3],
    has: Holds,
    #[serde(borrow)]
    properties: Option<Cow<'a, str>>,
    links: &'a [u8],
    /// Where the lines of its links are in the file, and how many bytes they take.
    contexts: (u64, u32),
    rest: &'a [u8],
}

impl<'a> StoredNote<'a> {
    /// A note whose lines of links are there in the file.
    pub(crate) fn new(note: &'a Note, contexts: (u64, u32)) -> StoredNote<'a> {
        let properties = note.properties.as_ref();
        StoredNote {
            etag: &note.etag,
            key: note.key,
            lengths: note.lengths,
            has: note.has,
            properties: properties
                .and_then(|properties| serde_json::to_string(properties).ok())
                .map(Cow::Owned),
            links: &note.links,
            contexts,
            rest: &note.rest,
        }
    }

    /// The note, stored in this file; `None` if what was stored cannot be read.
    pub(crate) fn restored(self, file: &Arc<File>) -> Option<Note> {
        let properties: Option<Box<Map<String, Value>>> = match self.properties {
            Some(text) => Some(Box::new(compact(serde_json::from_str(&text).ok()?))),
            None => None,
        };
        let note = Note {
            etag: self.etag.into(),
            key: self.key,
            lengths: self.lengths,
            has: self.has,
            property_bytes: properties.as_deref().map_or(0, fields_bytes),
            properties,
            links: self.links.into(),
            contexts: LinkContexts::Saved {
                file: Arc::clone(file),
                offset: self.contexts.0,
                length: self.contexts.1,
            },
            rest: self.rest.into(),
            keys: None,
        };
        Some(note.with_keys())
    }
}

/// The same properties without room for more: there are as many maps as notes, and each had room for four properties and
/// each list for four values.
fn compact(fields: Map<String, Value>) -> Map<String, Value> {
    let mut compacted = Map::with_capacity(fields.len());
    compacted.extend(fields.into_iter().map(|(key, value)| (key, shrunk(value))));
    compacted
}

fn shrunk(value: Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.into_iter().map(shrunk).collect()),
        Value::Object(fields) => Value::Object(compact(fields)),
        Value::String(mut text) => {
            text.shrink_to_fit();
            Value::String(text)
        }
        other => other,
    }
}

/// What a key or a value takes beside its text.
const VALUE_BYTES: usize = 16;

fn fields_bytes(fields: &Map<String, Value>) -> usize {
    let fields = fields.iter();
    fields
        .map(|(key, value)| VALUE_BYTES + key.len() + value_bytes(value))
        .sum()
}

fn value_bytes(value: &Value) -> usize {
    VALUE_BYTES
        + match value {
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(value_bytes).sum(),
            Value::Object(fields) => fields_bytes(fields),
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
}

fn packed(value: &impl Serialize) -> Box<[u8]> {
    // Plain data into memory: nothing can fail, and nothing is what would be kept if it did.
    postcard::to_stdvec(value).unwrap_or_default().into()
}
