//! Finds and adds block ids. An id is at the end of a paragraph, item or heading; for other blocks (tables, code, quotes) on a
//! separate line below.

use std::ops::Range;

use super::edit::Changed;
use super::placement::{Place, Spot};
use super::verification::undisturbed;
use super::{BlockError, BlockKind, Blocks};
use crate::text::splice::{self, Splice};

/// Whether a text is a valid id: ASCII letters, digits and `-`.
pub fn is_id(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// The id at the end of a part of a note, with its `^`.
pub(super) fn id_at_end(note: &str, range: &Range<usize>) -> Option<Range<usize>> {
    let text = &note[range.clone()];
    let line = text.rsplit(['\n', '\r']).find(|line| !line.is_empty())?;
    if !text.ends_with(line) {
        return None;
    }
    let content = line.trim_end();
    let (before, id) = content.rsplit_once('^')?;
    let is_apart = before.chars().next_back().is_none_or(char::is_whitespace);
    if !is_apart || !is_id(id) {
        return None;
    }
    let start = range.end - line.len() + before.len();
    Some(start..start + 1 + id.len())
}

/// An unused id, derived from the block's text, so that the same call gives the same id.
pub fn free_id(blocks: &Blocks<'_>, index: usize) -> String {
    const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let mut seed = blake3::Hasher::new();
    seed.update(blocks.text_of(index).as_bytes());
    let mut attempt = 0_u64;
    loop {
        let mut hasher = seed.clone();
        hasher.update(&attempt.to_le_bytes());
        let hash = hasher.finalize();
        let letters = hash.as_bytes()[..6].iter();
        let id: String = letters
            .map(|byte| char::from(LETTERS[usize::from(byte % 32)]))
            .collect();
        if blocks.with_id(&id).is_empty() {
            return id;
        }
        attempt += 1;
    }
}

/// The block that an id at the end of this one refers to: for the first paragraph of an item it is the item.
fn named_by_id(blocks: &Blocks<'_>, index: usize) -> usize {
    let block = &blocks[index];
    match block.parent {
        Some(parent)
            if parent + 1 == index
                && block.kind == BlockKind::Paragraph
                && (blocks[parent].kind.is_item()
                    || blocks[parent].kind == BlockKind::Footnote) =>
        {
            parent
        }
        _ => index,
    }
}

/// Adds an unused id to a block. A block that has one keeps it.
///
/// # Errors
/// If links cannot point to the block, or the id would be parsed as something else.
pub fn identify(blocks: &Blocks<'_>, index: usize, id: &str) -> Result<Changed, BlockError> {
    let index = named_by_id(blocks, index);
    let block = &blocks[index];
    if block.id.is_some() {
        return Ok(Changed {
            text: blocks.note().to_owned(),
            range: block.range.clone(),
        });
    }
    let end = match block.kind {
        BlockKind::Paragraph | BlockKind::Heading => block.range.end,
        BlockKind::Item | BlockKind::Task | BlockKind::Footnote => blocks
            .children(Some(index))
            .next()
            .filter(|first| blocks[*first].kind == BlockKind::Paragraph)
            .map(|first| blocks[first].range.end)
            .ok_or_else(|| {
                BlockError::Unsuited(format!(
                    "an id follows the text of {}, and this one has no text",
                    article(block.kind)
                ))
            })?,
        BlockKind::Frontmatter
        | BlockKind::Definition
        | BlockKind::ThematicBreak
        | BlockKind::Comment => {
            return Err(BlockError::Unsuited(format!(
                "{} cannot have an id: links cannot point to it",
                article(block.kind)
            )));
        }
        _ => {
            return below(blocks, index, id);
        }
    };
    let text = blocks.note();
    let begin = block.range.start;
    // In a setext heading, and in one with closing `#`, the id follows the text.
    let at = match block.kind {
        BlockKind::Heading => heading_text_end(&text[block.range.clone()]) + begin,
        _ => end,
    };
    let spaced = match text[begin..at].ends_with([' ', '\t']) {
        true => format!("^{id}"),
        false => format!(" ^{id}"),
    };
    verified(
        splice::apply(text, vec![Splice::insert(at, spaced)])?,
        begin,
        id,
    )
}

/// Adds an id on a separate line below a block.
fn below(blocks: &Blocks<'_>, index: usize, id: &str) -> Result<Changed, BlockError> {
    let spot = Spot::find(blocks, Place::After(index))?;
    let mut exempt = blocks.containers(index);
    exempt.push(index);
    let removed = spot.at..spot.at;
    let mut refused = None;
    for prefix in spot.prefixes(blocks, "") {
        for trail in [spot.next_is_close, true] {
            let built = spot.build(blocks.note(), prefix, &format!("^{id}"), (true, trail));
            let proof = {
                let after = super::blocks(&built.text)?;
                undisturbed(blocks, &after, &removed, &built.added, &exempt)
            };
            match proof {
                Ok(()) => return verified(built.text, blocks[index].range.start, id),
                Err(error) => refused = refused.or(Some(error)),
            }
        }
    }
    Err(refused.unwrap_or_else(|| BlockError::Unsuited("no id can be added there".to_owned())))
}

/// The end of a heading's text, without a setext underline.
pub(super) fn heading_text_end(heading: &str) -> usize {
    let is_marked = heading.trim_start().starts_with('#');
    match heading.rfind(['\n', '\r']) {
        Some(last) if !is_marked => heading[..last].trim_end_matches(['\n', '\r']).len(),
        _ => heading.len(),
    }
}

/// Verifies that the block at `start` has the id.
fn verified(text: String, start: usize, id: &str) -> Result<Changed, BlockError> {
    let range = {
        let blocks = super::blocks(&text)?;
        let found = blocks
            .with_id(id)
            .into_iter()
            .find(|found| blocks[*found].range.start == start);
        found.map(|found| blocks[found].range.clone())
    };
    match range {
        Some(range) => Ok(Changed { text, range }),
        None => Err(BlockError::Unsuited(
            "an id at the end of this block would be parsed as part of something else".to_owned(),
        )),
    }
}

/// `a task`, `an item`.
pub(super) fn article(kind: BlockKind) -> String {
    let word = kind.as_str().replace('_', " ");
    match kind {
        BlockKind::Item => format!("an {word}"),
        BlockKind::Html | BlockKind::Math | BlockKind::Code | BlockKind::Frontmatter => word,
        _ => format!("a {word}"),
    }
}
