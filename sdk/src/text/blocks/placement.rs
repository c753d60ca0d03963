//! The position of an insertion: adjacent blocks, prefix and blank lines.

use std::ops::Range;

use super::ids::article;
use super::markers::marker_of;
use super::prefix::{like, written};
use super::{BlockError, BlockKind, Blocks};
use crate::text::{body, newline};

/// The place of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Above a block, in the same container.
    Before(usize),
    /// Below a block, in the same container.
    After(usize),
    /// First in a container, a section or the note.
    First(Option<usize>),
    /// Last in a container, a section (before its subsections) or the note.
    Last(Option<usize>),
}

/// The side of the adjacent block on which a block is inserted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Above,
    Below,
    /// There is no adjacent block.
    Alone,
}

/// A resolved place in a note.
#[derive(Debug)]
pub(super) struct Spot {
    pub(super) container: Option<usize>,
    /// The byte offset of the insertion.
    pub(super) at: usize,
    side: Side,
    pub(super) previous: Option<usize>,
    pub(super) next: Option<usize>,
    /// Whether the next block is on the next line.
    pub(super) next_is_close: bool,
    /// The prefix of each line.
    prefix: String,
    /// The prefix below an item's text with tab indentation.
    tabbed: Option<String>,
}

/// A note with an insertion.
pub(super) struct Built {
    pub(super) text: String,
    /// All inserted bytes.
    pub(super) added: Range<usize>,
    /// The bytes of the inserted blocks, without the blank lines and prefix before them.
    pub(super) came: Range<usize>,
}

impl Spot {
    pub(super) fn find(blocks: &Blocks<'_>, place: Place) -> Result<Spot, BlockError> {
        match place {
            Place::Before(block) => above(blocks, block),
            Place::After(block) => Ok(below(blocks, block)),
            Place::First(None) | Place::Last(None) => in_note(blocks, place),
            Place::First(Some(parent)) => match first_in(blocks, parent)? {
                Some(place) => Spot::find(blocks, place),
                None => Ok(within(blocks, parent)),
            },
            Place::Last(Some(parent)) => match last_in(blocks, parent)? {
                Some(block) => Ok(below(blocks, block)),
                None => Ok(within(blocks, parent)),
            },
        }
    }

    /// The adjacent list that an inserted item belongs to: below an item's text any list, elsewhere one with the same marker.
    pub(super) fn list_beside(&self, blocks: &Blocks<'_>, addition: &str) -> Option<Place> {
        let own = marker_of(addition)?;
        let fits = |list: usize| {
            let is_nested = self
                .container
                .is_some_and(|container| blocks[container].kind.is_item());
            let sign = marker_of(&blocks.text_of(list)).map(|marker| marker.sign);
            blocks[list].kind == BlockKind::List && (is_nested || sign == Some(own.sign))
        };
        match self.side {
            Side::Below => self
                .previous
                .filter(|list| fits(*list))
                .map(|list| Place::Last(Some(list))),
            Side::Above => self
                .next
                .filter(|list| fits(*list))
                .map(|list| Place::First(Some(list))),
            Side::Alone => None,
        }
    }

    /// The possible prefixes of each line, best first.
    pub(super) fn prefixes(&self, blocks: &Blocks<'_>, addition: &str) -> Vec<&str> {
        match &self.tabbed {
            Some(tabbed) if addition.contains("\n\t") || uses_tabs(blocks) => {
                vec![tabbed, &self.prefix]
            }
            _ => vec![&self.prefix],
        }
    }

    /// The combinations of blank lines before and after to try, fewest first.
    pub(super) fn partings(&self, blocks: &Blocks<'_>, addition: &str) -> Vec<(bool, bool)> {
        let is_tight = match self.container.map(|container| blocks[container].kind) {
            Some(BlockKind::List) => is_tight(blocks, self.previous.or(self.next)),
            // A list directly below the text of its item.
            Some(BlockKind::Item | BlockKind::Task) if marker_of(addition).is_some() => true,
            _ => {
                let has_both = self.previous.is_some() && self.next.is_some();
                (has_both && self.is_close(blocks))
                    || (self.previous.is_none() && self.next.is_none())
            }
        };
        let default = match self.side {
            Side::Below => (true, false),
            Side::Above => (false, true),
            Side::Alone => (false, false),
        };
        let mut partings = Vec::with_capacity(5);
        if is_tight {
            partings.push((false, false));
        }
        for parting in [default, (true, false), (false, true), (true, true)] {
            if !partings.contains(&parting) {
                partings.push(parting);
            }
        }
        partings
    }

    fn is_close(&self, blocks: &Blocks<'_>) -> bool {
        match (self.previous, self.next) {
            // A block directly after the frontmatter does not count.
            (Some(previous), Some(next)) => {
                blocks[previous].kind != BlockKind::Frontmatter
                    && blocks[previous].last_line + 1 == blocks[next].line
            }
            _ => false,
        }
    }

    /// The note with lines inserted there.
    pub(super) fn build(
        &self,
        note: &str,
        prefix: &str,
        lines: &str,
        (lead, trail): (bool, bool),
    ) -> Built {
        let newline = newline::of_either(note, lines);
        let blank = prefix.trim_end_matches([' ', '\t']);
        let mut inserted = String::with_capacity(lines.len() + 16);
        if self.side == Side::Below {
            inserted.push_str(newline);
        }
        if lead {
            inserted.push_str(blank);
            inserted.push_str(newline);
        }
        let begin = self.at + inserted.len() + prefix.len();
        for (number, line) in lines.split('\n').enumerate() {
            if number > 0 {
                inserted.push_str(newline);
            }
            inserted.push_str(if line.trim().is_empty() {
                blank
            } else {
                prefix
            });
            inserted.push_str(line);
        }
        let end = self.at + inserted.len();
        let rest = &note[self.at..];
        match self.side {
            Side::Above => inserted.push_str(newline),
            Side::Alone if !rest.is_empty() && !rest.starts_with(['\n', '\r']) => {
                inserted.push_str(newline)
            }
            _ => {}
        }
        if trail && self.side == Side::Below {
            inserted.push_str(newline);
            inserted.push_str(blank);
        } else if trail {
            inserted.push_str(blank);
            inserted.push_str(newline);
        }
        let mut text = String::with_capacity(note.len() + inserted.len());
        text.push_str(&note[..self.at]);
        text.push_str(&inserted);
        text.push_str(rest);
        Built {
            text,
            added: self.at..self.at + inserted.len(),
            came: begin.min(end)..end,
        }
    }
}

/// The start of the line of a byte, after a byte order mark.
pub(super) fn line_start(note: &str, at: usize) -> usize {
    let start = note[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1);
    start.max(body::after_byte_order_mark(note)).min(at)
}

/// The text before a block on its first line.
pub(super) fn before_it<'t>(blocks: &Blocks<'t>, index: usize) -> &'t str {
    let start = blocks[index].range.start;
    &blocks.note()[line_start(blocks.note(), start)..start]
}

/// Whether a block starts its line, except for quote markers.
pub(super) fn begins_line(blocks: &Blocks<'_>, index: usize) -> bool {
    before_it(blocks, index)
        .bytes()
        .all(|byte| matches!(byte, b' ' | b'\t' | b'>'))
}

fn above(blocks: &Blocks<'_>, index: usize) -> Result<Spot, BlockError> {
    let block = &blocks[index];
    if block.kind == BlockKind::Frontmatter {
        return Err(BlockError::BadPlace(
            "nothing can be placed before the frontmatter: it must come first in the note"
                .to_owned(),
        ));
    }
    if !begins_line(blocks, index) {
        return Err(BlockError::BadPlace(format!(
            "nothing can be placed before the {} on line {}: it follows a list marker; use the item, or `after`",
            block.kind.as_str(),
            block.line
        )));
    }
    Ok(Spot {
        container: block.parent,
        at: line_start(blocks.note(), block.range.start),
        side: Side::Above,
        previous: blocks.before(index),
        next: Some(index),
        next_is_close: true,
        prefix: before_it(blocks, index).to_owned(),
        tabbed: None,
    })
}

fn below(blocks: &Blocks<'_>, index: usize) -> Spot {
    let block = &blocks[index];
    let next = blocks.after(index);
    let mut prefix = like(before_it(blocks, index));
    let mut tabbed = None;
    if !begins_line(blocks, index)
        && let Some(parent) = block.parent
    {
        let around = like(before_it(blocks, parent));
        match blocks[parent].kind {
            BlockKind::Footnote => prefix = around + "    ",
            _ => tabbed = Some(around + "\t"),
        }
    }
    Spot {
        container: block.parent,
        at: block.range.end,
        side: Side::Below,
        previous: Some(index),
        next,
        next_is_close: next.is_some_and(|next| blocks[next].line == block.last_line + 1),
        prefix,
        tabbed,
    }
}

/// Below the first line of an empty container.
fn within(blocks: &Blocks<'_>, parent: usize) -> Spot {
    let block = &blocks[parent];
    Spot {
        container: Some(parent),
        at: block.range.end,
        side: Side::Below,
        previous: None,
        next: None,
        next_is_close: false,
        prefix: written(&block.inner),
        tabbed: None,
    }
}

fn in_note(blocks: &Blocks<'_>, place: Place) -> Result<Spot, BlockError> {
    let first = blocks
        .children(None)
        .find(|at| blocks[*at].kind != BlockKind::Frontmatter);
    match (place, first, blocks.children(None).last()) {
        (Place::First(_), Some(first), _) => above(blocks, first),
        (_, _, Some(last)) => Ok(below(blocks, last)),
        _ => Ok(Spot {
            container: None,
            at: body::start(blocks.note()),
            side: Side::Alone,
            previous: None,
            next: None,
            next_is_close: false,
            prefix: String::new(),
            tabbed: None,
        }),
    }
}

fn first_in(blocks: &Blocks<'_>, parent: usize) -> Result<Option<Place>, BlockError> {
    let kind = blocks[parent].kind;
    if kind == BlockKind::Heading {
        let own = blocks.section(parent, true);
        return Ok(Some(match own.is_empty() {
            true => Place::After(parent),
            false => Place::Before(own.start),
        }));
    }
    contains(blocks, parent)?;
    let mut children = blocks.children(Some(parent));
    let Some(first) = children.next() else {
        return Ok(None);
    };
    // The text of an item must remain its first block.
    Ok(Some(match (begins_line(blocks, first), children.next()) {
        (true, _) => Place::Before(first),
        (false, Some(second)) if begins_line(blocks, second) => Place::Before(second),
        (false, _) => Place::After(first),
    }))
}

fn last_in(blocks: &Blocks<'_>, parent: usize) -> Result<Option<usize>, BlockError> {
    if blocks[parent].kind == BlockKind::Heading {
        let own = blocks.section(parent, true);
        let mut last = parent;
        while let Some(next) = blocks.after(last).filter(|next| own.contains(next)) {
            last = next;
        }
        return Ok(Some(last));
    }
    contains(blocks, parent)?;
    Ok(blocks.children(Some(parent)).last())
}

fn contains(blocks: &Blocks<'_>, parent: usize) -> Result<(), BlockError> {
    let block = &blocks[parent];
    if block.kind.is_container() {
        return Ok(());
    }
    Err(BlockError::BadPlace(format!(
        "{} (line {}) cannot contain blocks: choose a heading, list, item, quote, callout or footnote, or use `after`",
        article(block.kind),
        block.line
    )))
}

/// Whether a list is tight (no blank lines between items).
fn is_tight(blocks: &Blocks<'_>, item: Option<usize>) -> bool {
    let Some(item) = item else {
        return true;
    };
    match (blocks.before(item), blocks.after(item)) {
        (Some(before), _) => blocks[before].last_line + 1 == blocks[item].line,
        (None, Some(after)) => blocks[item].last_line + 1 == blocks[after].line,
        (None, None) => true,
    }
}

/// Whether the note indents nested items with tabs.
fn uses_tabs(blocks: &Blocks<'_>) -> bool {
    let nested = (0..blocks.len()).find(|at| {
        let block = &blocks[*at];
        block.kind.is_item() && block.depth > 1 && begins_line(blocks, *at)
    });
    nested.is_some_and(|at| before_it(blocks, at).contains('\t'))
}
