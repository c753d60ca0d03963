//! Blocks that go elsewhere, in their note or to another. Links to an id go along.

use notehost_sdk::prelude::*;
use notehost_sdk::text::blocks::{insert, relocate, take_out};
use notehost_sdk::text::moving::LinkLeft;

use crate::inserting::WhereTo;
use crate::naming::in_note;
use crate::session::{Session, TouchedBlock, Written};
use crate::transferring::{Transfer, left_lines};

/// Move a block with all that stands in it, in its note or to another; links to its `^id` follow. Give exactly one of
/// `before`, `after`, `parent`.
///
/// Example: `{"block": "Coffee/The morning cup#^promise", "parent": "Coffee/The morning cup#Notes to self"}`
#[args]
pub struct Move {
    /// The block.
    pub block: String,
    /// The block above which it goes.
    pub before: Option<String>,
    /// The block below which it goes.
    pub after: Option<String>,
    /// A heading, list, item, quote, callout, footnote or note: it becomes the last in it.
    pub parent: Option<String>,
}

/// A block that was moved.
#[reply]
pub struct Moved {
    /// The note in which it is.
    pub path: String,
    /// The note in which it was.
    pub from: String,
    /// `false`: it was there already.
    pub changed: bool,
    /// Its name from now on.
    pub block: Option<String>,
    /// All blocks that were moved.
    pub blocks: Vec<TouchedBlock>,
    /// How many links follow it to another note.
    pub links_rewritten: usize,
    /// Links that lead to where it was.
    pub links_left: Vec<LinkLeft>,
}

impl Action for Move {
    type Output = Moved;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Moved> {
        let mut session = Session::new(vault);
        let moved = self.within(&mut session)?;
        session.finish()?;
        Ok(moved)
    }

    fn text(output: &Moved) -> String {
        let written = Written {
            path: output.path.clone(),
            changed: output.changed,
            block: output.block.clone(),
            blocks: output.blocks.clone(),
        };
        let done = format!("moved from `{}` to `{}`", output.from, output.path);
        written.sentence(&done) + &left_lines(output.links_rewritten, &output.links_left)
    }
}

impl Move {
    pub(crate) fn within(&self, session: &mut Session<'_>) -> Result<Moved> {
        let found = session.find(&self.block, None)?;
        let from = session.path(found.note).to_owned();
        let where_to = WhereTo {
            before: self.before.as_deref(),
            after: self.after.as_deref(),
            parent: self.parent.as_deref(),
        };
        let (note, place) = where_to.find(session, None)?;
        if note == found.note {
            let changed = relocate(&session.blocks(note)?, found.block, place)
                .map_err(|error| in_note(&from, error))?;
            let written = session.apply(note, changed)?;
            return Ok(Moved::new(written, from));
        }
        let ids: Vec<String> = {
            let blocks = session.blocks(found.note)?;
            let within = found.block..blocks[found.block].next;
            within
                .filter_map(|at| Some(blocks[at].id.as_ref()?.name.clone()))
                .collect()
        };
        let (text, without) = take_out(&session.blocks(found.note)?, found.block)
            .map_err(|error| in_note(&from, error))?;
        let changed = insert(&session.blocks(note)?, place, &text)
            .map_err(|error| in_note(session.path(note), error))?;
        session.set(found.note, without.text)?;
        let written = session.apply(note, changed)?;
        let mut moved = Moved::new(written, from.clone());
        let to = session.path(note).to_owned();
        for id in &ids {
            let transfer = Transfer {
                from: &from,
                from_id: id,
                to: &to,
                to_id: id,
            };
            let done = transfer.carry_out(session)?;
            moved.links_rewritten += done.rewritten;
            moved.links_left.extend(done.left);
        }
        Ok(moved)
    }
}

impl Moved {
    fn new(written: Written, from: String) -> Moved {
        Moved {
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
