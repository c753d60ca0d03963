//! Changing and removing blocks: `update`, `edit`, `remove`.

use notehost_sdk::prelude::*;
use notehost_sdk::text::blocks::{remove, replace};
use notehost_sdk::text::{Edit, TextError, apply_edits};

use crate::block_names::note_error;
use crate::session::{BlockChange, Session, WriteResult, write_action};

/// Replace a block's whole text, including its nested blocks. Its `^id` is kept.
///
/// Example: `{"block": "Coffee/The morning cup#^promise", "text": "One cup, and no thinking before it is done."}`
#[args]
pub struct Update {
    /// The block.
    pub block: String,
    /// The new Markdown.
    pub text: String,
}

/// Edit a block by exact text: each `old` must occur exactly once (or `replace_all`). All edits are made, or none.
///
/// Example: `{"block": "Coffee/The morning cup#^promise", "edits": [{"old": "one hand free", "new": "both hands
/// free"}]}`
#[args]
pub struct EditBlock {
    /// The block.
    pub block: String,
    /// The edits, applied in order.
    pub edits: Vec<Edit>,
}

/// Remove a block with its nested blocks.
///
/// Example: `{"block": "Garden/Balcony plan#Water"}`
#[args]
pub struct Remove {
    /// The block.
    pub block: String,
}

/// A removed block.
#[reply]
pub struct RemovedBlock {
    /// The note.
    pub path: String,
    /// The line it was on.
    pub line: usize,
    /// Its text.
    pub text: String,
}

write_action!(Update, "changed");

impl BlockChange for Update {
    type Output = WriteResult;

    fn change(&self, session: &mut Session<'_>) -> Result<WriteResult> {
        let found = session.find(&self.block, None)?;
        rewrite(session, found.note, found.block, &self.text)
    }
}

/// Replaces the text of a block.
pub(crate) fn rewrite(
    session: &mut Session<'_>,
    note: usize,
    block: usize,
    text: &str,
) -> Result<WriteResult> {
    let changed = replace(&session.blocks(note)?, block, text)
        .map_err(|error| note_error(session.path(note), error))?;
    session.apply(note, changed)
}

write_action!(EditBlock, "changed");

impl BlockChange for EditBlock {
    type Output = WriteResult;

    fn change(&self, session: &mut Session<'_>) -> Result<WriteResult> {
        if self.edits.is_empty() {
            return Err(Error::validation(
                "`edits` is empty: pass at least one `{old, new}`",
            ));
        }
        let found = session.find(&self.block, None)?;
        let (text, line) = {
            let blocks = session.blocks(found.note)?;
            (blocks.text_of(found.block), blocks[found.block].line)
        };
        let edited =
            apply_edits(&text, &self.edits).map_err(|error| with_file_lines(error, line))?;
        if edited.text.trim().is_empty() {
            return Err(Error::validation(
                "the edits would leave the block empty: use `remove` to remove it",
            ));
        }
        rewrite(session, found.note, found.block, &edited.text)
    }
}

/// Converts line numbers of an error from the block to the file.
fn with_file_lines(error: TextError, first: usize) -> Error {
    let above = first - 1;
    Error::from(match error {
        TextError::NoMatch { what, nearest } => TextError::NoMatch {
            what,
            nearest: nearest.map(|mut passage| {
                passage.line += above;
                passage
            }),
        },
        TextError::ManyMatches { what, count, lines } => TextError::ManyMatches {
            what,
            count,
            lines: lines.into_iter().map(|line| line + above).collect(),
        },
        other => other,
    })
}

impl Action for Remove {
    type Output = RemovedBlock;
    const EFFECT: Effect = Effect::Delete;

    fn run(self, vault: &Vault) -> Result<RemovedBlock> {
        self.commit(vault)
    }

    fn text(output: &RemovedBlock) -> String {
        format!("removed from `{}`, line {}", output.path, output.line)
    }
}

impl BlockChange for Remove {
    type Output = RemovedBlock;

    fn change(&self, session: &mut Session<'_>) -> Result<RemovedBlock> {
        let found = session.find(&self.block, None)?;
        let (changed, text, line) = {
            let blocks = session.blocks(found.note)?;
            let changed = remove(&blocks, found.block)
                .map_err(|error| note_error(session.path(found.note), error))?;
            (
                changed,
                blocks.text_of(found.block),
                blocks[found.block].line,
            )
        };
        session.set(found.note, changed.text)?;
        Ok(RemovedBlock {
            path: session.path(found.note).to_owned(),
            line,
            text,
        })
    }
}
