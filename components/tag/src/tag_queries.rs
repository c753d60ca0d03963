//! Tag queries: all tags, the notes of a tag, the tags of a note.

use notehost_sdk::documents::naming;
use notehost_sdk::index::{Building, Condition, Field, Query, Sort, TagsQuery, building};
use notehost_sdk::pages::{Span, counted, more};
use notehost_sdk::prelude::*;
use notehost_sdk::text::facts::facts;

use crate::names::{is_same, known_tag, prefix_length};

/// List the tags of the vault with the number of notes of each.
///
/// Example: `{"sort": "count"}`
/// Example (of a folder): `{"path": "Coffee"}`
#[args]
pub struct List {
    /// Only tags with this prefix (case-insensitive): `project/`.
    pub prefix: Option<String>,
    /// The sort order (default `name`):
    pub sort: Option<Order>,
    /// Only tags of notes in this folder.
    pub path: Option<String>,
    /// Page size, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// The sort order of tags.
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
    /// The tags, including the parents of nested tags.
    pub items: Vec<TagItem>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Total number of results.
    pub total: u64,
    /// Present while the index is being built.
    pub index: Option<Building>,
}

/// A tag.
#[reply]
pub struct TagItem {
    /// The tag without `#`, in its most common spelling.
    pub tag: String,
    /// Number of notes with it or a tag nested in it.
    pub notes: u64,
    /// Number of notes with exactly this tag.
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
        ReplyText::new(counted(output.total, "tag"))
            .lines(&output.items, |item| {
                format!("{:>5}  #{}", item.notes, item.tag)
            })
            .more(&output.next_cursor)
            .unfinished(&output.index)
            .into()
    }
}

/// Resolves a `path` argument to a folder; `""`, `.` and `/` are the vault root.
fn folder(vault: &Vault, path: Option<&str>) -> Result<String> {
    let path = naming::folder(path);
    if path.is_empty() {
        return Ok(String::new());
    }
    match vault.entry(path)? {
        Some(entry) => Ok(entry.path),
        None => Err(naming::no_folder(path)),
    }
}

/// List the notes that have a tag or a tag nested in it: `vc` also finds `vc/project`.
///
/// Example: `{"tag": "garden"}`
#[args]
pub struct Notes {
    /// The tag.
    pub tag: String,
    /// Page size, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// The notes that have a tag.
#[reply]
pub struct NotePage {
    /// The tag.
    pub tag: String,
    /// The notes, by path.
    pub items: Vec<TaggedNote>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Total number of results.
    pub total: u64,
    /// Present while the index is being built.
    pub index: Option<Building>,
}

/// A note that has a tag.
#[reply]
pub struct TaggedNote {
    /// The note.
    pub path: String,
    /// The line of its first occurrence; for a property the first line of the frontmatter.
    pub line: u32,
    /// The matching tags, as written in the note.
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
            sort: Sort::by_path(),
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
                .filter(|found| prefix_length(&found.tag, &tag).is_some())
                .collect();
            TaggedNote {
                path: note.path,
                line: places.iter().map(|place| place.line).min().unwrap_or(1),
                tags: deduplicated(places.into_iter().map(|place| place.tag)),
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
        ReplyText::new(format!(
            "{} with `#{}`",
            counted(output.total, "note"),
            output.tag
        ))
        .lines(&output.items, |item| {
            format!("{}  #{}", item.path, item.tags.join(" #"))
        })
        .more(&output.next_cursor)
        .unfinished(&output.index)
        .into()
    }
}

/// Show the tags of a note and the lines where they occur.
///
/// Example: `{"path": "Coffee/Beans"}`
#[args]
pub struct Of {
    /// The note: path, unique name or `[[link]]`.
    pub path: String,
    /// Page size, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// The tags of a note.
#[reply]
pub struct TagsOfNote {
    /// The note.
    pub path: String,
    /// Etag, for `if_match`.
    pub etag: String,
    /// Its tags, without duplicates.
    pub tags: Vec<String>,
    /// The occurrences: in properties first, then in the text, in order.
    pub items: Vec<TagPlace>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Total number of occurrences.
    pub total: usize,
}

/// An occurrence of a tag.
#[reply]
pub struct TagPlace {
    /// The note.
    pub path: String,
    /// The line number in the file, from 1; for a property the first line of the frontmatter.
    pub line: u32,
    /// The tag without `#`.
    pub tag: String,
    /// Whether it is in the properties.
    pub property: bool,
}

impl Action for Of {
    type Output = TagsOfNote;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<TagsOfNote> {
        let span = Span::new(self.limit, self.cursor.as_deref())?;
        let note = vault.read_note(&self.path)?;
        let places = facts(&note.text).tags;
        let tags = deduplicated(places.iter().map(|place| place.tag.clone()));
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

/// Removes duplicates, keeping the first spelling.
fn deduplicated(tags: impl Iterator<Item = String>) -> Vec<String> {
    let mut once: Vec<String> = Vec::new();
    for tag in tags {
        if !once.iter().any(|known| is_same(known, &tag)) {
            once.push(tag);
        }
    }
    once
}
