//! The blocks of a note with their exact bytes: paragraphs, headings, lists and their items, tables, callouts and the rest.
//!
//! The parser provides the lines of a block. Its columns are not reliable, so the bytes are computed here, by stripping the
//! prefixes of containers from each line (`prefix`). `handles` names blocks so that names survive edits elsewhere;
//! `edit` changes one block and verifies that all others are parsed as before.

mod edit;
mod error;
mod handles;
mod ids;
mod markers;
mod parser;
mod placement;
mod prefix;
mod replacement;
mod verification;

#[cfg(test)]
mod tests;

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::TextError;
use prefix::Step;

pub use edit::{Changed, insert, relocate, remove, take_out};
pub use error::BlockError;
pub use handles::{BlockLookupError, Named};
pub use ids::{free_id, identify, is_id};
pub use markers::{Fold, Marker, callout_head, marker_of, task_state};
pub use placement::Place;
pub use replacement::replace;

/// The kind of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are self-explanatory")]
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
    /// The name that callers see.
    pub fn as_str(self) -> &'static str {
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

    /// Whether it is a list item, including tasks.
    pub fn is_item(self) -> bool {
        matches!(self, BlockKind::Item | BlockKind::Task)
    }

    /// Whether it can contain other blocks.
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
    /// Its bytes, including `^`.
    pub range: Range<usize>,
}

/// A block of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Its kind.
    pub kind: BlockKind,
    /// Its bytes, from its first character to the end of its last line, without the line ending. Includes an id on a separate
    /// line below it.
    pub range: Range<usize>,
    /// Its first line in the file, from 1.
    pub line: usize,
    /// Its last line in the file.
    pub last_line: usize,
    /// 1 to 6 for a heading, else 0.
    pub level: u8,
    /// Its container.
    pub parent: Option<usize>,
    /// The index of the first block after its descendants.
    pub next: usize,
    /// The number of its containers.
    pub depth: usize,
    /// Its id.
    pub id: Option<BlockId>,
    /// The prefix steps of its lines after the first.
    own: Vec<Step>,
    /// The prefix steps of the lines of its children.
    inner: Vec<Step>,
}

/// All blocks of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks<'t> {
    text: &'t str,
    /// In document order, parents before children.
    all: Vec<Block>,
}

/// The blocks of a note.
///
/// # Errors
/// [`TextError::TooLarge`] for a note whose structure exceeds a component's memory.
pub fn blocks(text: &str) -> Result<Blocks<'_>, TextError> {
    Ok(Blocks {
        text,
        all: parser::read(text)?,
    })
}

impl std::ops::Index<usize> for Blocks<'_> {
    type Output = Block;

    fn index(&self, index: usize) -> &Block {
        &self.all[index]
    }
}

impl<'t> Blocks<'t> {
    /// The text of the note.
    pub fn note(&self) -> &'t str {
        self.text
    }

    /// The number of blocks.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The blocks in document order, parents before children.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Block> {
        self.all.iter()
    }

    /// The text of a block without the prefixes of its containers. Lines end with `\n`.
    pub fn text_of(&self, index: usize) -> String {
        let block = &self.all[index];
        prefix::peeled(&self.text[block.range.clone()], &block.own)
    }

    /// The direct children of a block, or of the note.
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

    /// The previous sibling of a block.
    pub fn before(&self, index: usize) -> Option<usize> {
        let parent = self.all[index].parent;
        // Scanning backwards takes at most as many steps as the previous sibling has descendants.
        let first = parent.map_or(0, |parent| parent + 1);
        let mut at = index.checked_sub(1).filter(|at| *at >= first)?;
        while self.all[at].parent != parent {
            at = self.all[at].parent?;
        }
        Some(at)
    }

    /// The next sibling of a block.
    pub fn after(&self, index: usize) -> Option<usize> {
        let block = &self.all[index];
        let end = block
            .parent
            .map_or(self.all.len(), |parent| self.all[parent].next);
        (block.next < end).then_some(block.next)
    }

    /// The headings above a block, outermost first, that is its heading path. Does not include the block itself.
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

    /// The containers of a block, outermost first.
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

    /// The blocks under a heading, in its container: up to the next heading of the same or a higher level, or with `own` of
    /// any level.
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

    /// The blocks with this id (case-insensitive).
    pub fn with_id(&self, id: &str) -> Vec<usize> {
        let has = |block: &Block| {
            let own = block.id.as_ref();
            own.is_some_and(|own| own.name.eq_ignore_ascii_case(id))
        };
        (0..self.all.len())
            .filter(|at| has(&self.all[*at]))
            .collect()
    }

    /// The innermost block that starts at a byte.
    pub fn beginning_at(&self, byte: usize) -> Option<usize> {
        let end = self.all.partition_point(|block| block.range.start <= byte);
        let last = end.checked_sub(1)?;
        (self.all[last].range.start == byte).then_some(last)
    }
}
