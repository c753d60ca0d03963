//! The notes that an action is about: those that a caller names, or all that have a tag.

use notehost_sdk::index::{Condition, Progress, Query, Sort, SortBy, TagsQuery};
use notehost_sdk::prelude::*;
use notehost_sdk::text::TextError;
use notehost_sdk::text::facts::facts;

use crate::names::common;

/// How many notes a caller may name.
const MOST_NAMED: usize = 500;
/// How many notes the index is asked for at once.
const AT_ONCE: u32 = 500;
/// How many tags are suggested.
const SUGGESTED: usize = 5;

/// A note that was left alone.
#[reply]
pub struct NoteLeft {
    /// The note.
    pub path: String,
    /// Why.
    pub reason: String,
}

/// The notes that a caller named, each once.
pub(crate) fn named(vault: &Vault, paths: &[String]) -> Result<Vec<Note>> {
    if paths.is_empty() {
        return Err(Error::validation(
            "`paths` is empty: name at least one note",
        ));
    }
    if paths.len() > MOST_NAMED {
        return Err(Error::too_large(format!(
            "`paths` has {} notes, and may have {MOST_NAMED}: use several calls",
            paths.len()
        )));
    }
    let mut notes: Vec<Note> = Vec::new();
    for name in paths {
        let note = vault.read_note(name)?;
        if !notes.iter().any(|known| known.path == note.path) {
            notes.push(note);
        }
    }
    Ok(notes)
}

/// The notes that have a tag.
#[derive(Default)]
pub(crate) struct Tagged {
    pub(crate) notes: Vec<Note>,
    /// Those that cannot be changed.
    pub(crate) left: Vec<NoteLeft>,
}

impl Tagged {
    fn take(&mut self, vault: &Vault, path: &str) -> Result<()> {
        match vault.read_text(path) {
            Ok(note) => self.notes.push(note),
            Err(error) if error.kind() == Code::Unsupported => self.left.push(NoteLeft {
                path: path.to_owned(),
                reason: "the note is not UTF-8 text".to_owned(),
            }),
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// Every note that has a tag or one below it; none is missing, also while the index is being built.
pub(crate) fn tagged(vault: &Vault, tag: &str) -> Result<Tagged> {
    let mut tagged = Tagged::default();
    if vault.index_state().state == Progress::Building {
        // YAML may write letters as codes.
        let texts = [tag, r"\u", r"\x", r"\U"].map(str::to_owned).to_vec();
        for path in vault.containing(&[texts])? {
            let bytes = vault.read(&path)?.bytes;
            if has(&String::from_utf8_lossy(&bytes), tag) {
                tagged.take(vault, &path)?;
            }
        }
        return Ok(tagged);
    }
    let mut query = Query {
        condition: Some(Condition::Tag(tag.to_owned())),
        sort: vec![Sort {
            by: SortBy::Path,
            descending: false,
        }],
        limit: AT_ONCE,
        ..Query::default()
    };
    loop {
        let page = vault.find(&query)?;
        let is_last = page.items.is_empty();
        query.offset += page.items.len() as u64;
        for found in page.items {
            tagged.take(vault, &found.path)?;
        }
        if is_last || query.offset >= page.total {
            return Ok(tagged);
        }
    }
}

fn has(note: &str, tag: &str) -> bool {
    let mut tags = facts(note).tags.into_iter();
    tags.any(|found| common(&found.tag, tag).is_some())
}

/// The refusal of a tag that no note has.
pub(crate) fn no_tag(vault: &Vault, tag: &str) -> Result<Error> {
    let first: String = tag.chars().take(1).collect();
    let mut near = Vec::new();
    // A misspelt tag mostly begins as the right one does; if not, the most used are a beginning.
    for prefix in [tag, &first, ""] {
        let found = vault.tags(&TagsQuery {
            prefix: prefix.to_owned(),
            by_count: true,
            limit: u32::try_from(SUGGESTED).unwrap_or(u32::MAX),
            ..TagsQuery::default()
        })?;
        near = found.items.into_iter().map(|tag| tag.tag).collect();
        if !near.is_empty() {
            break;
        }
    }
    if near.is_empty() {
        return Ok(Error::not_found(format!(
            "no note has the tag `{tag}`; there are no tags"
        )));
    }
    let listed: Vec<String> = near.iter().map(|tag| format!("`{tag}`")).collect();
    Ok(Error::not_found(format!(
        "no note has the tag `{tag}`; there is {}",
        listed.join(", ")
    ))
    .with_details(json!({ "nearest": near })))
}

/// An error that says in which note.
pub(crate) fn in_note(path: &str, error: TextError) -> Error {
    let told = Error::from(error);
    let message = format!("`{path}`: {}", told.message());
    let named = Error::new(told.kind(), message);
    match told.details() {
        Some(details) => named.with_details(details.clone()),
        None => named,
    }
}
