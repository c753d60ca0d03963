//! The notes of a call: those given by path, or all that have a tag.

use notehost_sdk::index::{Condition, Progress, Query, Sort, TagsQuery};
use notehost_sdk::prelude::*;
use notehost_sdk::quoted;
use notehost_sdk::text::facts::facts;

use crate::names::prefix_length;

/// The maximum number of `paths`.
const MAX_PATHS: usize = 500;
/// The maximum number of suggested tags.
const MAX_SUGGESTIONS: usize = 5;

/// A note that was not changed.
#[reply]
pub struct NoteLeft {
    /// The note.
    pub path: String,
    /// The reason.
    pub reason: String,
}

/// Reads the notes of a `paths` argument, without duplicates.
pub(crate) fn read_notes(vault: &Vault, paths: &[String]) -> Result<Vec<Note>> {
    if paths.is_empty() {
        return Err(Error::validation(
            "`paths` is empty: give at least one note",
        ));
    }
    if paths.len() > MAX_PATHS {
        return Err(Error::too_large(format!(
            "`paths` has {} notes; the limit is {MAX_PATHS}: use several calls",
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
pub(crate) struct TaggedNotes {
    pub(crate) notes: Vec<Note>,
    /// Notes that cannot be changed.
    pub(crate) left: Vec<NoteLeft>,
}

impl TaggedNotes {
    fn add(&mut self, vault: &Vault, path: &str) -> Result<()> {
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

/// All notes that have a tag or a tag nested in it. Complete even while the index is being built.
pub(crate) fn tagged_notes(vault: &Vault, tag: &str) -> Result<TaggedNotes> {
    let mut tagged = TaggedNotes::default();
    if vault.index_state().state == Progress::Building {
        // YAML strings may contain escape sequences.
        let texts = [tag, r"\u", r"\x", r"\U"].map(str::to_owned).to_vec();
        for path in vault.containing(&[texts])? {
            let bytes = vault.read(&path)?.bytes;
            if has_tag(&String::from_utf8_lossy(&bytes), tag) {
                tagged.add(vault, &path)?;
            }
        }
        return Ok(tagged);
    }
    for found in vault.find_all(Query {
        condition: Some(Condition::Tag(tag.to_owned())),
        sort: Sort::by_path(),
        ..Query::default()
    }) {
        tagged.add(vault, &found?.path)?;
    }
    Ok(tagged)
}

fn has_tag(note: &str, tag: &str) -> bool {
    let mut tags = facts(note).tags.into_iter();
    tags.any(|found| prefix_length(&found.tag, tag).is_some())
}

/// The error for a tag that no note has, with suggestions.
pub(crate) fn tag_not_found(vault: &Vault, tag: &str) -> Result<Error> {
    let first: String = tag.chars().take(1).collect();
    let mut near = Vec::new();
    // A misspelt tag usually starts like the right one; otherwise suggest the most used tags.
    for prefix in [tag, &first, ""] {
        let found = vault.tags(&TagsQuery {
            prefix: prefix.to_owned(),
            by_count: true,
            limit: u32::try_from(MAX_SUGGESTIONS).unwrap_or(u32::MAX),
            ..TagsQuery::default()
        })?;
        near = found.items.into_iter().map(|tag| tag.tag).collect();
        if !near.is_empty() {
            break;
        }
    }
    if near.is_empty() {
        return Ok(Error::not_found(format!(
            "no note has the tag `{tag}`: the vault has no tags"
        )));
    }
    Ok(Error::not_found(format!(
        "no note has the tag `{tag}`; existing tags: {}",
        quoted(&near)
    ))
    .with_details(json!({ "nearest": near })))
}
