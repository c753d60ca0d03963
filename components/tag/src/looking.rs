//! Which tags there are, which notes have them, which a note has.

use notehost_sdk::index::{Condition, Field, Query, Sort, SortBy, TagsQuery};
use notehost_sdk::prelude::*;
use notehost_sdk::text::facts::facts;

use crate::names::{common, is_same, known_tag};
use notehost_sdk::index::{Building, building, unfinished};
use notehost_sdk::pages::counted;
use notehost_sdk::pages::{Span, more};

/// List the tags of the vault and in how many notes each is.
///
/// Example: `{"sort": "count"}`
/// Example (of a folder): `{"path": "Coffee"}`
#[args]
pub struct List {
    /// Only tags that begin so, whatever the case: `project/`.
    pub prefix: Option<String>,
    /// The order (default `name`):
    pub sort: Option<Order>,
    /// Only tags of notes in this folder.
    pub path: Option<String>,
    /// How many, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// In which order tags come.
#[args]
#[derive(Copy, PartialEq, Eq)]
pub enum Order {
    /// by name.
    Name,
    /// the most used first.
    Count,
}

/// Tags of the vault.
#[reply]
pub struct TagPage {
    /// The tags. Those above a nested one are among them.
    pub items: Vec<TagItem>,
    /// For the next page.
    pub next_cursor: Option<String>,
    /// How many there are.
    pub total: u64,
    /// Only while the index is being built.
    pub index: Option<Building>,
}

/// A tag.
#[reply]
pub struct TagItem {
    /// Without `#`, in its most common spelling.
    pub tag: String,
    /// How many notes have it or one below it.
    pub notes: u64,
    /// How many notes have it itself.
    pub own: u64,
}

impl Action for List {
    type Output = TagPage;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<TagPage> {
        let span = Span::new(self.limit, self.cursor.as_deref())?;
        let prefix = self.prefix.as_deref().map(str::trim).unwrap_or_default();
        let found = vault.tags(&TagsQuery {
            prefix: prefix.strip_prefix('#').unwrap_or(prefix).to_owned(),
            under: folder(vault, self.path.as_deref())?,
            by_count: self.sort == Some(Order::Count),
            offset: span.begin as u64,
            limit: span.count(),
        })?;
        let next_cursor = span.next(found.items.len(), found.total);
        let items = found.items.into_iter().map(|tag| TagItem {
            tag: tag.tag,
            notes: tag.notes,
            own: tag.own,
        });
        Ok(TagPage {
            items: items.collect(),
            next_cursor,
            total: found.total,
            index: building(vault),
        })
    }

    fn text(output: &TagPage) -> String {
        let mut text = counted(output.total, "tag");
        for item in &output.items {
            text.push_str(&format!("\n{:>5}  #{}", item.notes, item.tag));
        }
        text + &more(output.next_cursor.as_ref()) + &unfinished(output.index.as_ref())
    }
}

/// A folder as callers write it: `""`, `.` and `/` are the vault itself.
fn folder(vault: &Vault, path: Option<&str>) -> Result<String> {
    let path = match path.map(str::trim).unwrap_or_default() {
        "." | "/" | "" => return Ok(String::new()),
        path => path.strip_suffix('/').unwrap_or(path),
    };
    match vault.stat(path) {
        Ok(entry) => Ok(entry.path),
        Err(error) if error.kind() == Code::NotFound => Err(Error::not_found(format!(
            "no folder `{path}`: leave `path` out for the whole vault"
        ))),
        Err(error) => Err(error),
    }
}

/// List the notes that have a tag or one below it: `vc` finds `vc/project`.
///
/// Example: `{"tag": "garden"}`
#[args]
pub struct Notes {
    /// The tag.
    pub tag: String,
    /// How many, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// The notes that have a tag.
#[reply]
pub struct NotePage {
    /// The tag.
    pub tag: String,
    /// The notes, by path.
    pub items: Vec<TaggedNote>,
    /// For the next page.
    pub next_cursor: Option<String>,
    /// How many there are.
    pub total: u64,
    /// Only while the index is being built.
    pub index: Option<Building>,
}

/// A note that has a tag.
#[reply]
pub struct TaggedNote {
    /// The note.
    pub path: String,
    /// The line where the tag first stands; of a property the one on which the frontmatter begins.
    pub line: u32,
    /// The tags that were looked for, as the note writes them.
    pub tags: Vec<String>,
}

impl Action for Notes {
    type Output = NotePage;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<NotePage> {
        let span = Span::new(self.limit, self.cursor.as_deref())?;
        let tag = known_tag(&self.tag)?;
        let found = vault.find(&Query {
            condition: Some(Condition::Tag(tag.clone())),
            sort: vec![Sort {
                by: SortBy::Path,
                descending: false,
            }],
            offset: span.begin as u64,
            limit: span.count(),
            fields: vec![Field::Tags],
            ..Query::default()
        })?;
        let next_cursor = span.next(found.items.len(), found.total);
        let items = found.items.into_iter().map(|note| {
            let all = note.tags.unwrap_or_default();
            let places: Vec<_> = all
                .into_iter()
                .filter(|found| common(&found.tag, &tag).is_some())
                .collect();
            TaggedNote {
                path: note.path,
                line: places.iter().map(|place| place.line).min().unwrap_or(1),
                tags: each_once(places.into_iter().map(|place| place.tag)),
            }
        });
        let items = items.collect();
        Ok(NotePage {
            tag,
            items,
            next_cursor,
            total: found.total,
            index: building(vault),
        })
    }

    fn text(output: &NotePage) -> String {
        let mut text = format!("{} with `#{}`", counted(output.total, "note"), output.tag);
        for item in &output.items {
            text.push_str(&format!("\n{}  #{}", item.path, item.tags.join(" #")));
        }
        text + &more(output.next_cursor.as_ref()) + &unfinished(output.index.as_ref())
    }
}

/// Tell the tags of a note and where they stand.
///
/// Example: `{"path": "Coffee/Beans"}`
#[args]
pub struct Of {
    /// The note: path, unique name or `[[link]]`.
    pub path: String,
    /// How many places, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// The tags of a note.
#[reply]
pub struct TagsOfNote {
    /// The note.
    pub path: String,
    /// For `if_match`.
    pub etag: String,
    /// Its tags, each once.
    pub tags: Vec<String>,
    /// Where they stand: those of the properties first, then those of the text in their order.
    pub items: Vec<TagPlace>,
    /// For the next page.
    pub next_cursor: Option<String>,
    /// How many places there are.
    pub total: usize,
}

/// A tag in a note.
#[reply]
pub struct TagPlace {
    /// The note.
    pub path: String,
    /// The line of the file, from 1; of a property the one on which the frontmatter begins.
    pub line: u32,
    /// Without `#`.
    pub tag: String,
    /// Whether it stands in the properties.
    pub property: bool,
}

impl Action for Of {
    type Output = TagsOfNote;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<TagsOfNote> {
        let span = Span::new(self.limit, self.cursor.as_deref())?;
        let note = vault.read_note(&self.path)?;
        let places = facts(&note.text).tags;
        let tags = each_once(places.iter().map(|place| place.tag.clone()));
        let total = places.len();
        let (places, next_cursor) = span.of(places);
        let items = places.into_iter().map(|place| TagPlace {
            path: note.path.clone(),
            line: place.line,
            tag: place.tag,
            property: place.property,
        });
        Ok(TagsOfNote {
            items: items.collect(),
            path: note.path,
            etag: note.etag,
            tags,
            next_cursor,
            total,
        })
    }

    fn text(output: &TagsOfNote) -> String {
        if output.tags.is_empty() {
            return format!("`{}` has no tags", output.path);
        }
        let text = format!("`{}`: #{}", output.path, output.tags.join(" #"));
        text + &more(output.next_cursor.as_ref())
    }
}

/// Each tag in its first spelling.
fn each_once(tags: impl Iterator<Item = String>) -> Vec<String> {
    let mut once: Vec<String> = Vec::new();
    for tag in tags {
        if !once.iter().any(|known| is_same(known, &tag)) {
            once.push(tag);
        }
    }
    once
}
