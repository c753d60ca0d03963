//! New blocks: before or after another, or in one that can hold others.

use notehost_sdk::prelude::*;
use notehost_sdk::text::blocks::{Place, insert};

use crate::block_names::in_note;
use crate::session::{Session, Written};

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

impl Action for Insert {
    type Output = Written;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Written> {
        let mut session = Session::new(vault);
        let written = self.within(&mut session)?;
        session.finish()?;
        Ok(written)
    }

    fn text(output: &Written) -> String {
        output.sentence(&format!("inserted in `{}`", output.path))
    }
}

impl Insert {
    pub(crate) fn within(&self, session: &mut Session<'_>) -> Result<Written> {
        let given = match &self.path {
            Some(path) => Some(session.open(path)?),
            None => None,
        };
        let where_to = WhereTo {
            before: self.before.as_deref(),
            after: self.after.as_deref(),
            parent: self.parent.as_deref(),
        };
        let (note, place) = where_to.find(session, given)?;
        put(session, note, place, &self.text)
    }
}

/// Where a block is to go, as callers say it.
pub(crate) struct WhereTo<'w> {
    pub(crate) before: Option<&'w str>,
    pub(crate) after: Option<&'w str>,
    pub(crate) parent: Option<&'w str>,
}

impl WhereTo<'_> {
    pub(crate) fn find(
        &self,
        session: &mut Session<'_>,
        given: Option<usize>,
    ) -> Result<(usize, Place)> {
        match (self.before, self.after, self.parent) {
            (Some(name), None, None) => {
                let found = session.find(name, given)?;
                Ok((found.note, Place::Before(found.block)))
            }
            (None, Some(name), None) => {
                let found = session.find(name, given)?;
                Ok((found.note, Place::After(found.block)))
            }
            (None, None, Some(name)) if given.is_some() => {
                let found = session.find(name, given)?;
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

/// Put a text at a place of a note.
pub(crate) fn put(
    session: &mut Session<'_>,
    note: usize,
    place: Place,
    text: &str,
) -> Result<Written> {
    let changed = insert(&session.blocks(note)?, place, text)
        .map_err(|error| in_note(session.path(note), error))?;
    session.apply(note, changed)
}

impl Action for Append {
    type Output = Written;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Written> {
        let mut session = Session::new(vault);
        let written = self.within(&mut session)?;
        session.finish()?;
        Ok(written)
    }

    fn text(output: &Written) -> String {
        output.sentence(&format!("appended in `{}`", output.path))
    }
}

impl Append {
    pub(crate) fn within(&self, session: &mut Session<'_>) -> Result<Written> {
        let (note, block) = session.find_or_note(&self.parent)?;
        put(session, note, Place::Last(block), &self.text)
    }
}

impl Action for Prepend {
    type Output = Written;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Written> {
        let mut session = Session::new(vault);
        let written = self.within(&mut session)?;
        session.finish()?;
        Ok(written)
    }

    fn text(output: &Written) -> String {
        output.sentence(&format!("prepended in `{}`", output.path))
    }
}

impl Prepend {
    pub(crate) fn within(&self, session: &mut Session<'_>) -> Result<Written> {
        let (note, block) = session.find_or_note(&self.parent)?;
        put(session, note, Place::First(block), &self.text)
    }
}
