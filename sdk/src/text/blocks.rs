//! The blocks of a note with their exact bytes: paragraphs, headings, lists and their items, tables, callouts and the rest.
//!
//! The parser tells which lines a block has; the bytes are found here, by peeling off what containers put before each line
//! (`prefix`), because the parser's columns cannot be relied on. `handles` names blocks so that a name survives edits
//! elsewhere, `editing` changes one block and proves that no other became something else.

mod describing;
mod editing;
mod error;
mod handles;
mod identifying;
mod placing;
mod prefix;
mod proving;
mod reading;
mod replacing;

#[cfg(test)]
mod tests;

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::TextError;
use prefix::Step;

pub use describing::{Fold, Marker, callout_head, marker_of, task_state};
pub use editing::{Changed, insert, relocate, remove, take_out};
pub use error::BlockError;
pub use handles::{Named, Unfound};
pub use identifying::{free_id, identify, is_id};
pub use placing::Place;
pub use replacing::replace;

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the words say it")]
pub enum BlockKind {
    Frontmatter,
    Heading,
    Paragraph,
    List,
    Item,
    Task,
    Table,
    Callout,
    Quote,
    Code,
    Math,
    Html,
    Footnote,
    Comment,
    ThematicBreak,
    Definition,
}

impl BlockKind {
    /// The word that callers see.
    pub fn word(self) -> &'static str {
        match self {
            BlockKind::Frontmatter => "frontmatter",
            BlockKind::Heading => "heading",
            BlockKind::Paragraph => "paragraph",
            BlockKind::List => "list",
            BlockKind::Item => "item",
            BlockKind::Task => "task",
            BlockKind::Table => "table",
            BlockKind::Callout => "callout",
            BlockKind::Quote => "quote",
            BlockKind::Code => "code",
            BlockKind::Math => "math",
            BlockKind::Html => "html",
            BlockKind::Footnote => "footnote",
            BlockKind::Comment => "comment",
            BlockKind::ThematicBreak => "thematic_break",
            BlockKind::Definition => "definition",
        }
    }

    /// Whether it is a list's item, to be done or not.
    pub fn is_item(self) -> bool {
        matches!(self, BlockKind::Item | BlockKind::Task)
    }

    /// Whether other blocks stand in it, line for line.
    pub fn is_container(self) -> bool {
        self.is_item()
            || matches!(
                self,
                BlockKind::List | BlockKind::Callout | BlockKind::Quote | BlockKind::Footnote
            )
    }
}

/// The id of a block: `^id`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockId {
    /// Without `^`.
    pub name: String,
    /// Where it stands, with its `^`.
    pub range: Range<usize>,
}

/// A block of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// Its bytes, from its first character to the end of its last line, without that line's ending. An id that stands on a
    /// line of its own below it belongs to it.
    pub range: Range<usize>,
    /// The line of the file on which it begins, from 1.
    pub line: usize,
    /// The line of the file on which it ends.
    pub last_line: usize,
    /// 1 to 6 for a heading, else 0.
    pub level: u8,
    /// The container in which it stands.
    pub parent: Option<usize>,
    /// The first block that does not stand in it.
    pub next: usize,
    /// How many containers it stands in.
    pub depth: usize,
    /// Its id.
    pub id: Option<BlockId>,
    /// What to peel off its lines but the first.
    own: Vec<Step>,
    /// What to peel off the lines of what stands in it.
    inner: Vec<Step>,
}

/// All blocks of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks<'t> {
    text: &'t str,
    /// In the order of the note, each before what stands in it.
    all: Vec<Block>,
}

/// The blocks of a note.
///
/// # Errors
/// [`TextError::TooLarge`] for a note whose structure does not fit into a component's memory.
pub fn blocks(text: &str) -> Result<Blocks<'_>, TextError> {
    Ok(Blocks {
        text,
        all: reading::read(text)?,
    })
}

impl std::ops::Index<usize> for Blocks<'_> {
    type Output = Block;

    fn index(&self, index: usize) -> &Block {
        &self.all[index]
    }
}

impl<'t> Blocks<'t> {
    /// The note.
    pub fn note(&self) -> &'t str {
        self.text
    }

    /// How many blocks there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The blocks in their order, each before what stands in it.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Block> {
        self.all.iter()
    }

    /// A block as it is written, without what its containers put before its lines. Lines end with `\n`.
    pub fn text_of(&self, index: usize) -> String {
        let block = &self.all[index];
        prefix::peeled(&self.text[block.range.clone()], &block.own)
    }

    /// The blocks that stand directly in one, or in the note.
    pub fn children(&self, parent: Option<usize>) -> impl Iterator<Item = usize> {
        let (mut at, end) = match parent {
            Some(parent) => (parent + 1, self.all[parent].next),
            None => (0, self.all.len()),
        };
        std::iter::from_fn(move || {
            let child = (at < end).then_some(at)?;
            at = self.all[child].next;
            Some(child)
        })
    }

    /// The block before one in the same container.
    pub fn before(&self, index: usize) -> Option<usize> {
        let parent = self.all[index].parent;
        // Going back from the block is at most as long as what stands in the one before it.
        let first = parent.map_or(0, |parent| parent + 1);
        let mut at = index.checked_sub(1).filter(|at| *at >= first)?;
        while self.all[at].parent != parent {
            at = self.all[at].parent?;
        }
        Some(at)
    }

    /// The block after one in the same container.
    pub fn after(&self, index: usize) -> Option<usize> {
        let block = &self.all[index];
        let end = block
            .parent
            .map_or(self.all.len(), |parent| self.all[parent].next);
        (block.next < end).then_some(block.next)
    }

    /// The headings above a block, the outermost first: what a reader would call the place where it stands. A heading is
    /// not among its own.
    pub fn headings_above(&self, index: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let mut at = index;
        loop {
            let is_heading = at == index && self.all[at].kind == BlockKind::Heading;
            let mut level = if is_heading { self.all[at].level } else { 7 };
            let mut earlier = self.before(at);
            while let Some(other) = earlier {
                let block = &self.all[other];
                if block.kind == BlockKind::Heading && block.level < level {
                    level = block.level;
                    found.push(other);
                }
                earlier = if level > 1 { self.before(other) } else { None };
            }
            match self.all[at].parent {
                Some(parent) => at = parent,
                None => break,
            }
        }
        found.reverse();
        found
    }

    /// The containers of a block, the outermost first.
    pub fn containers(&self, index: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let mut parent = self.all[index].parent;
        while let Some(above) = parent {
            found.push(above);
            parent = self.all[above].parent;
        }
        found.reverse();
        found
    }

    /// The blocks under a heading, in its container: to the next heading of the same or a higher level, or (`own`) of any.
    pub fn section(&self, heading: usize, own: bool) -> Range<usize> {
        let level = self.all[heading].level;
        let begin = self.all[heading].next;
        let mut end = begin;
        let mut next = self.after(heading);
        while let Some(at) = next {
            let block = &self.all[at];
            if block.kind == BlockKind::Heading && (own || block.level <= level) {
                break;
            }
            end = block.next;
            next = self.after(at);
        }
        begin..end
    }

    /// The blocks that have this id, whatever the case.
    pub fn with_id(&self, id: &str) -> Vec<usize> {
        let has = |block: &Block| {
            let own = block.id.as_ref();
            own.is_some_and(|own| own.name.eq_ignore_ascii_case(id))
        };
        (0..self.all.len())
            .filter(|at| has(&self.all[*at]))
            .collect()
    }

    /// The innermost block that begins at a byte.
    pub fn beginning_at(&self, byte: usize) -> Option<usize> {
        let end = self.all.partition_point(|block| block.range.start <= byte);
        let last = end.checked_sub(1)?;
        (self.all[last].range.start == byte).then_some(last)
    }
}
