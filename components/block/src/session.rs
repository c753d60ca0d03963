//! The notes that one call works on. Changes are collected here and written at the end, each note once. A call with many
//! steps is one change, and a failed step changes nothing.

use std::collections::HashMap;
use std::ops::Range;

use notehost_sdk::prelude::*;
use notehost_sdk::text::blocks::{BlockKind, Blocks, Changed};

use crate::block_names::{find, handle, parse_name, read};

/// A created or changed block.
#[reply]
pub struct TouchedBlock {
    /// The block's new name.
    pub block: String,
    /// The note.
    pub path: String,
    /// Line in the file, 1-based.
    pub line: usize,
    /// The block type.
    #[serde(rename = "type")]
    pub kind: BlockKind,
}

/// The result of changing a note.
#[reply]
pub struct WriteResult {
    /// The note.
    pub path: String,
    /// `false`: the text was already the same, nothing was written.
    pub changed: bool,
    /// The name of the first new or changed block.
    pub block: Option<String>,
    /// All new or changed blocks.
    pub blocks: Vec<TouchedBlock>,
}

impl WriteResult {
    /// The result as text, such as `inserted in …`.
    pub(crate) fn summary(&self, verb: &str) -> String {
        summary(
            &self.path,
            self.changed,
            &self.blocks,
            &format!("{verb} in `{}`", self.path),
        )
    }
}

/// The text of a change: what was done, then the new or changed blocks.
pub(crate) fn summary(path: &str, changed: bool, blocks: &[TouchedBlock], done: &str) -> String {
    if !changed {
        return format!("`{path}` already has this text: nothing changed");
    }
    let mut text = done.to_owned();
    for block in blocks {
        text.push_str(&format!(
            "\n{} (line {}): {}",
            block.kind.as_str(),
            block.line,
            block.block
        ));
    }
    text
}

struct OpenNote {
    note: Note,
    text: String,
}

/// A block of an opened note, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockPosition {
    pub(crate) note: usize,
    pub(crate) block: usize,
}

pub(crate) struct Session<'v> {
    pub(crate) vault: &'v Vault,
    notes: Vec<OpenNote>,
}

/// A change of blocks: an action of its own, or an operation of a `batch`.
pub(crate) trait BlockChange {
    /// The result of the action.
    type Output;

    /// Makes the change in a session, which writes it at its end.
    fn change(&self, session: &mut Session<'_>) -> Result<Self::Output>;

    /// Makes the change and writes it.
    fn commit(&self, vault: &Vault) -> Result<Self::Output> {
        Session::commit(vault, |session| self.change(session))
    }
}

/// Makes a change of a note an action. Its text begins with what was done, such as `changed`.
macro_rules! write_action {
    ($change:ty, $done:literal) => {
        impl Action for $change {
            type Output = WriteResult;
            const EFFECT: Effect = Effect::Write;

            fn run(self, vault: &Vault) -> Result<WriteResult> {
                self.commit(vault)
            }

            fn text(output: &WriteResult) -> String {
                output.summary($done)
            }
        }
    };
}
pub(crate) use write_action;

impl<'v> Session<'v> {
    pub(crate) fn new(vault: &'v Vault) -> Session<'v> {
        Session {
            vault,
            notes: Vec::new(),
        }
    }

    /// Opens a session, makes changes in it and writes the changed notes, unless a change fails.
    pub(crate) fn commit<T>(
        vault: &'v Vault,
        change: impl FnOnce(&mut Session<'v>) -> Result<T>,
    ) -> Result<T> {
        let mut session = Session::new(vault);
        let output = change(&mut session)?;
        session.finish()?;
        Ok(output)
    }

    /// Opens a note by its name.
    pub(crate) fn open(&mut self, name: &str) -> Result<usize> {
        let path = self.vault.find_note(name)?;
        if let Some(known) = self.notes.iter().position(|open| open.note.path == path) {
            return Ok(known);
        }
        let note = self.vault.read_text(&path)?;
        self.notes.push(OpenNote {
            text: note.text.clone(),
            note,
        });
        Ok(self.notes.len() - 1)
    }

    /// Resolves a block name. A name without a note refers to the note `within`.
    pub(crate) fn find(&mut self, name: &str, within: Option<usize>) -> Result<BlockPosition> {
        let parsed = parse_name(name);
        let note = self.note_of(name, parsed.note, within)?;
        // With `within`, a bare name may be a place in that note.
        let place = match (parsed.place, within) {
            (Some(place), _) => place,
            (None, Some(_)) => parsed.note,
            (None, None) => {
                return Err(Error::validation(format!(
                    "`{name}` does not name a block: use the `block` value of a reply, `Note#^id` or `Note#Heading`"
                )));
            }
        };
        let block = find(self.path(note), &self.blocks(note)?, place)?;
        Ok(BlockPosition { note, block })
    }

    fn note_of(&mut self, name: &str, note: &str, within: Option<usize>) -> Result<usize> {
        let is_bare = parse_name(name).place.is_none() && within.is_some();
        match within {
            Some(expected) if note.is_empty() || is_bare => Ok(expected),
            Some(expected) => {
                let opened = self.open(note)?;
                if opened != expected {
                    return Err(Error::validation(format!(
                        "`{name}` is a block of `{}`, but `path` is `{}`: both must name the same note",
                        self.path(opened),
                        self.path(expected)
                    )));
                }
                Ok(opened)
            }
            None if note.is_empty() => Err(Error::validation(format!(
                "`{name}` does not name a note: use `Note#^id`"
            ))),
            None => self.open(note),
        }
    }

    /// Resolves a name that may also refer to a whole note.
    pub(crate) fn find_or_note(&mut self, name: &str) -> Result<(usize, Option<usize>)> {
        let parsed = parse_name(name);
        match parsed.place {
            Some(_) => {
                let found = self.find(name, None)?;
                Ok((found.note, Some(found.block)))
            }
            None => Ok((self.open(parsed.note)?, None)),
        }
    }

    pub(crate) fn path(&self, note: usize) -> &str {
        &self.notes[note].note.path
    }

    pub(crate) fn etag(&self, note: usize) -> &str {
        &self.notes[note].note.etag
    }

    pub(crate) fn text(&self, note: usize) -> &str {
        &self.notes[note].text
    }

    pub(crate) fn blocks(&self, note: usize) -> Result<Blocks<'_>> {
        read(self.path(note), self.text(note))
    }

    /// Sets the text of a note. Rejects duplicate ids that the note did not have before.
    pub(crate) fn set(&mut self, note: usize, text: String) -> Result<()> {
        if text == self.notes[note].text {
            return Ok(());
        }
        let before = ids(&self.blocks(note)?);
        for (id, count) in ids(&read(self.path(note), &text)?) {
            if count > 1 && before.get(&id).is_none_or(|was| *was < count) {
                return Err(Error::already_exists(format!(
                    "`{}` already has a block `^{id}`: use another id for the new one, or none",
                    self.path(note)
                )));
            }
        }
        self.notes[note].text = text;
        Ok(())
    }

    /// Applies a change of blocks and returns the changed blocks.
    pub(crate) fn apply(&mut self, note: usize, changed: Changed) -> Result<WriteResult> {
        let is_changed = changed.text != self.notes[note].text;
        self.set(note, changed.text)?;
        let blocks = self.touched_blocks(note, &changed.range)?;
        Ok(WriteResult {
            path: self.path(note).to_owned(),
            changed: is_changed,
            block: blocks.first().map(|first| first.block.clone()),
            blocks,
        })
    }

    /// The outermost blocks within a range; a list with one item is returned as the item.
    fn touched_blocks(&self, note: usize, range: &Range<usize>) -> Result<Vec<TouchedBlock>> {
        let path = self.path(note);
        let blocks = self.blocks(note)?;
        let names = blocks.names();
        let mut touched = Vec::new();
        let mut at = 0;
        while at < blocks.len() {
            let block = &blocks[at];
            let is_within = block.range.start >= range.start && block.range.end <= range.end;
            let is_single = block.kind == BlockKind::List && blocks.children(Some(at)).count() == 1;
            if !is_within || is_single {
                at += 1;
                continue;
            }
            touched.push(TouchedBlock {
                block: handle(path, &names[at].fragment),
                path: path.to_owned(),
                line: block.line,
                kind: block.kind,
            });
            at = block.next;
        }
        Ok(touched)
    }

    /// Writes the changed notes.
    fn finish(self) -> Result<()> {
        for open in &self.notes {
            self.vault.write_note(&open.note, &open.text)?;
        }
        Ok(())
    }
}

/// The number of occurrences of each id in a note.
fn ids(blocks: &Blocks<'_>) -> HashMap<String, usize> {
    let mut ids = HashMap::new();
    for id in blocks.iter().filter_map(|block| block.id.as_ref()) {
        *ids.entry(id.name.to_ascii_lowercase()).or_default() += 1;
    }
    ids
}
