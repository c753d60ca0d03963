//! Index queries that several actions share, and how links are named.

use notehost_sdk::documents::naming;
use notehost_sdk::index::{
    Condition, Field, FoundNote, LinkAt, LinkKind, PlaceAt, Query, building,
};
use notehost_sdk::prelude::*;
use notehost_sdk::stem_of;

/// The syntax of a link.
#[reply]
#[derive(Copy, PartialEq, Eq)]
pub enum Kind {
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
    /// `"[[Note]]"` in the frontmatter
    Property,
}

impl From<LinkKind> for Kind {
    fn from(kind: LinkKind) -> Kind {
        match kind {
            LinkKind::Wiki => Kind::Wiki,
            LinkKind::Embed => Kind::Embed,
            LinkKind::Markdown => Kind::Markdown,
            LinkKind::Image => Kind::Image,
            LinkKind::Definition => Kind::Definition,
            LinkKind::Property => Kind::Property,
        }
    }
}

/// A line of a note.
#[reply]
#[derive(PartialEq, Eq)]
pub struct Place {
    /// The note.
    pub path: String,
    /// The line number in the file, from 1.
    pub line: u32,
}

impl From<PlaceAt> for Place {
    fn from(place: PlaceAt) -> Place {
        Place {
            path: place.path,
            line: place.line,
        }
    }
}

/// Reads fields of one note from the index.
pub(crate) fn indexed(vault: &Vault, path: &str, fields: Vec<Field>) -> Result<FoundNote> {
    let found = vault.find(&Query {
        condition: Some(Condition::Under(path.to_owned())),
        limit: 1,
        fields,
        ..Query::default()
    })?;
    let note = found.items.into_iter().find(|note| note.path == path);
    note.ok_or_else(|| match building(vault) {
        Some(building) => Error::new(
            Code::Unavailable,
            format!(
                "`{path}` is not indexed yet ({} of {} notes are): retry in a moment",
                building.done, building.total
            ),
        ),
        // It was changed or created a moment ago, or it is not text.
        None => match vault.read_text(path) {
            Ok(_) => Error::new(
                Code::Unavailable,
                format!("`{path}` is not indexed yet: retry in a moment"),
            ),
            Err(error) => error,
        },
    })
}

/// The links of one note.
pub(crate) fn links_of(vault: &Vault, path: &str) -> Result<Vec<LinkAt>> {
    let note = indexed(vault, path, vec![Field::Links])?;
    Ok(note.links.unwrap_or_default())
}

/// The shortest link target for a note: its name if that resolves to it, else its path.
pub(crate) fn shortest_name(vault: &Vault, path: &str, source: &str) -> Result<String> {
    let name = stem_of(path);
    let resolved = vault.resolve(name, Some(source))?;
    Ok(match resolved.as_slice() {
        [only] if only == path => name.to_owned(),
        _ => path
            .get(..path.len().saturating_sub(".md".len()))
            .filter(|_| notehost_sdk::is_note(path))
            .unwrap_or(path)
            .to_owned(),
    })
}

/// Resolves a `path` argument to an existing folder or note; `""`, `.` and `/` are the vault root.
pub(crate) fn folder(vault: &Vault, path: Option<&str>) -> Result<String> {
    let path = naming::folder(path);
    if path.is_empty() {
        return Ok(String::new());
    }
    match vault.entry(path)? {
        Some(entry) => Ok(entry.path),
        None => vault.find_note(path).map_err(|_| naming::no_folder(path)),
    }
}
