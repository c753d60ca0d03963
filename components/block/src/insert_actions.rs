//! Inserting blocks: `insert`, `append`, `prepend`.

use notehost_sdk::prelude::*;
use notehost_sdk::text::blocks::{Place, insert};

use crate::block_names::note_error;
use crate::session::{BlockChange, Session, WriteResult, write_action};

/// Insert text as a new block. Pass exactly one of `before`, `after`, `parent`. Indent, `>` and blank lines are adapted.
///
/// Example: `{"text": "- [ ] Water the mint", "after": "Garden/Balcony plan#This month"}`
#[args]
pub struct Insert {
    /// The note; optional if the block names it.
    pub path: Option<String>,
    /// Markdown; in a list it becomes a list item.
    pub text: String,
    /// Insert above this block.
    pub before: Option<String>,
    /// Insert below this block.
    pub after: Option<String>,
    /// Insert at the end of this heading, list, item, quote, callout or footnote.
    pub parent: Option<String>,
}

/// Add text as the last block of a note, a heading's section, a list, an item or a callout.
///
/// Example: `{"parent": "Coffee/Beans#To buy", "text": "- [ ] Oat milk"}`
#[args]
pub struct Append {
    /// The parent block, or a note.
    pub parent: String,
    /// Markdown.
    pub text: String,
}

/// Add text as the first block of a note, a heading's section, a list, an item or a callout.
///
/// Example: `{"parent": "Coffee/Beans#To buy", "text": "- [ ] Oat milk"}`
#[args]
pub struct Prepend {
    /// The parent block, or a note.
    pub parent: String,
    /// Markdown.
    pub text: String,
}

write_action!(Insert, "inserted");

impl BlockChange for Insert {
    type Output = WriteResult;

    fn change(&self, session: &mut Session<'_>) -> Result<WriteResult> {
        let path_note = match &self.path {
            Some(path) => Some(session.open(path)?),
            None => None,
        };
        let position = InsertPosition {
            before: self.before.as_deref(),
            after: self.after.as_deref(),
            parent: self.parent.as_deref(),
        };
        let (note, place) = position.find(session, path_note)?;
        insert_at(session, note, place, &self.text)
    }
}

/// The target position of a block, from the arguments `before`, `after` and `parent`.
pub(crate) struct InsertPosition<'w> {
    pub(crate) before: Option<&'w str>,
    pub(crate) after: Option<&'w str>,
    pub(crate) parent: Option<&'w str>,
}

impl InsertPosition<'_> {
    pub(crate) fn find(
        &self,
        session: &mut Session<'_>,
        path_note: Option<usize>,
    ) -> Result<(usize, Place)> {
        match (self.before, self.after, self.parent) {
            (Some(name), None, None) => {
                let found = session.find(name, path_note)?;
                Ok((found.note, Place::Before(found.block)))
            }
            (None, Some(name), None) => {
                let found = session.find(name, path_note)?;
                Ok((found.note, Place::After(found.block)))
            }
            (None, None, Some(name)) if path_note.is_some() => {
                let found = session.find(name, path_note)?;
                Ok((found.note, Place::Last(Some(found.block))))
            }
            (None, None, Some(name)) => {
                let (note, block) = session.find_or_note(name)?;
                Ok((note, Place::Last(block)))
            }
            (None, None, None) => Err(Error::validation(
                "one of `before`, `after` and `parent` is required",
            )),
            _ => Err(Error::validation(
                "`before`, `after` and `parent` are mutually exclusive: pass one of them",
            )),
        }
    }
}

/// Inserts text as a block at a place in a note.
pub(crate) fn insert_at(
    session: &mut Session<'_>,
    note: usize,
    place: Place,
    text: &str,
) -> Result<WriteResult> {
    let changed = insert(&session.blocks(note)?, place, text)
        .map_err(|error| note_error(session.path(note), error))?;
    session.apply(note, changed)
}

write_action!(Append, "appended");

impl BlockChange for Append {
    type Output = WriteResult;

    fn change(&self, session: &mut Session<'_>) -> Result<WriteResult> {
        let (note, block) = session.find_or_note(&self.parent)?;
        insert_at(session, note, Place::Last(block), &self.text)
    }
}

write_action!(Prepend, "prepended");

impl BlockChange for Prepend {
    type Output = WriteResult;

    fn change(&self, session: &mut Session<'_>) -> Result<WriteResult> {
        let (note, block) = session.find_or_note(&self.parent)?;
        insert_at(session, note, Place::First(block), &self.text)
    }
}
