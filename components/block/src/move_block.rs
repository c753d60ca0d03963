//! Moving blocks within a note or to another one: `move`. Links to their ids are rewritten.

use notehost_sdk::prelude::*;
use notehost_sdk::text::blocks::{insert, relocate, take_out};
use notehost_sdk::text::moving::LinkLeft;

use crate::block_names::note_error;
use crate::insert_actions::InsertPosition;
use crate::link_transfer::{Transfer, unrewritten_summary};
use crate::session::{BlockChange, Session, TouchedBlock, WriteResult, summary};

/// Move a block with its nested blocks within its note or to another note; links to its `^id` are rewritten. Pass exactly
/// one of `before`, `after`, `parent`.
///
/// Example: `{"block": "Coffee/The morning cup#^promise", "parent": "Coffee/The morning cup#Notes to self"}`
#[args]
pub struct Move {
    /// The block.
    pub block: String,
    /// Move above this block.
    pub before: Option<String>,
    /// Move below this block.
    pub after: Option<String>,
    /// Move to the end of this heading, list, item, quote, callout, footnote or note.
    pub parent: Option<String>,
}

/// A moved block.
#[reply]
pub struct MovedBlock {
    /// The note it is in now.
    pub path: String,
    /// The note it was in.
    pub from: String,
    /// `false`: it was already there.
    pub changed: bool,
    /// The block's new name.
    pub block: Option<String>,
    /// All moved blocks.
    pub blocks: Vec<TouchedBlock>,
    /// Number of links rewritten to the new note.
    pub links_rewritten: usize,
    /// Links that could not be rewritten and still point to the old note.
    pub links_left: Vec<LinkLeft>,
}

impl Action for Move {
    type Output = MovedBlock;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<MovedBlock> {
        self.commit(vault)
    }

    fn text(output: &MovedBlock) -> String {
        let done = format!("moved from `{}` to `{}`", output.from, output.path);
        summary(&output.path, output.changed, &output.blocks, &done)
            + &unrewritten_summary(output.links_rewritten, &output.links_left)
    }
}

impl BlockChange for Move {
    type Output = MovedBlock;

    fn change(&self, session: &mut Session<'_>) -> Result<MovedBlock> {
        let found = session.find(&self.block, None)?;
        let from = session.path(found.note).to_owned();
        let position = InsertPosition {
            before: self.before.as_deref(),
            after: self.after.as_deref(),
            parent: self.parent.as_deref(),
        };
        let (note, place) = position.find(session, None)?;
        if note == found.note {
            let changed = relocate(&session.blocks(note)?, found.block, place)
                .map_err(|error| note_error(&from, error))?;
            let written = session.apply(note, changed)?;
            return Ok(MovedBlock::new(written, from));
        }
        let ids: Vec<String> = {
            let blocks = session.blocks(found.note)?;
            let within = found.block..blocks[found.block].next;
            within
                .filter_map(|at| Some(blocks[at].id.as_ref()?.name.clone()))
                .collect()
        };
        let (text, without) = take_out(&session.blocks(found.note)?, found.block)
            .map_err(|error| note_error(&from, error))?;
        let changed = insert(&session.blocks(note)?, place, &text)
            .map_err(|error| note_error(session.path(note), error))?;
        session.set(found.note, without.text)?;
        let written = session.apply(note, changed)?;
        let mut moved = MovedBlock::new(written, from.clone());
        let to = session.path(note).to_owned();
        for id in &ids {
            let transfer = Transfer {
                from: &from,
                from_id: id,
                to: &to,
                to_id: id,
            };
            let done = transfer.run(session)?;
            moved.links_rewritten += done.rewritten;
            moved.links_left.extend(done.left);
        }
        Ok(moved)
    }
}

impl MovedBlock {
    fn new(written: WriteResult, from: String) -> MovedBlock {
        MovedBlock {
            path: written.path,
            from,
            changed: written.changed,
            block: written.block,
            blocks: written.blocks,
            links_rewritten: 0,
            links_left: Vec::new(),
        }
    }
}
