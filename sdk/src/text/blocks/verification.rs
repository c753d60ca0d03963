//! Verifies that a change of one block changed no other: both notes are parsed, and the blocks outside the change must be
//! equal. Lists are ignored: they only group items, and two of them may merge.

use std::ops::Range;

use super::{Block, BlockError, BlockKind, Blocks};

/// The properties of a block that a change elsewhere must not affect.
#[derive(PartialEq, Eq)]
struct BlockShape {
    kind: BlockKind,
    level: u8,
    depth: usize,
    range: Range<usize>,
}

/// Verifies that the blocks outside of `removed` (in the old note) and `added` (its replacement) are equal. The containers of the
/// change are `exempt`: only their kind and start must be equal.
pub(super) fn undisturbed(
    before: &Blocks<'_>,
    after: &Blocks<'_>,
    removed: &Range<usize>,
    added: &Range<usize>,
    exempt: &[usize],
) -> Result<(), BlockError> {
    let mut kept = Vec::with_capacity(exempt.len());
    for container in exempt.iter().map(|at| &before[*at]) {
        if container.kind == BlockKind::List {
            continue;
        }
        let same = (0..after.len()).find(|at| {
            let block = &after[*at];
            block.kind == container.kind && block.range.start == container.range.start
        });
        kept.push(same.ok_or_else(|| disturbs(container))?);
    }
    let old = outside(before, removed, exempt);
    let new = outside(after, added, &kept);
    let mut others = new.iter();
    for (index, shape) in &old {
        let is_after = shape.range.start >= removed.end && shape.range.end > removed.start;
        let now = match is_after {
            true => {
                shape.range.start - removed.end + added.end
                    ..shape.range.end - removed.end + added.end
            }
            false => shape.range.clone(),
        };
        let same = others.next().is_some_and(|(_, other)| {
            other.kind == shape.kind
                && other.level == shape.level
                && other.depth == shape.depth
                && other.range == now
        });
        if !same {
            return Err(disturbs(&before[*index]));
        }
    }
    match others.next() {
        None => Ok(()),
        Some((index, _)) => Err(BlockError::Disturbs {
            what: format!("line {} of the resulting note", after[*index].line),
        }),
    }
}

fn disturbs(block: &Block) -> BlockError {
    BlockError::Disturbs {
        what: format!(
            "the {} on line {} of the note",
            block.kind.as_str(),
            block.line
        ),
    }
}

/// The blocks entirely before or after a change.
fn outside(
    blocks: &Blocks<'_>,
    change: &Range<usize>,
    exempt: &[usize],
) -> Vec<(usize, BlockShape)> {
    let mut depths: Vec<usize> = Vec::with_capacity(blocks.len());
    let mut shapes = Vec::new();
    for index in 0..blocks.len() {
        let block = &blocks[index];
        let depth = block.parent.map_or(0, |parent| {
            depths[parent] + usize::from(blocks[parent].kind != BlockKind::List)
        });
        depths.push(depth);
        let is_outside = block.range.end <= change.start || block.range.start >= change.end;
        if block.kind == BlockKind::List || !is_outside || exempt.contains(&index) {
            continue;
        }
        shapes.push((
            index,
            BlockShape {
                kind: block.kind,
                level: block.level,
                depth,
                range: block.range.clone(),
            },
        ));
    }
    shapes
}

/// Verifies that the inserted bytes are one or more blocks of the container, and nothing else.
pub(super) fn forms_blocks(
    after: &Blocks<'_>,
    added: &Range<usize>,
    depth: usize,
) -> Result<(), BlockError> {
    let refused = |why: &str| {
        Err(BlockError::NotABlock {
            why: why.to_owned(),
        })
    };
    let mut first = None;
    let mut last = None;
    let mut depths: Vec<usize> = Vec::with_capacity(after.len());
    for index in 0..after.len() {
        let block = &after[index];
        let own = block.parent.map_or(0, |parent| {
            depths[parent] + usize::from(after[parent].kind != BlockKind::List)
        });
        depths.push(own);
        let is_within = block.range.start >= added.start && block.range.end <= added.end;
        if own != depth || !is_within || block.kind == BlockKind::List {
            continue;
        }
        if block.kind == BlockKind::Frontmatter {
            return refused("it would become the frontmatter");
        }
        first = first.or(Some(block.range.start));
        last = Some(block.range.end);
    }
    let (Some(first), Some(last)) = (first, last) else {
        return refused("it would merge with an adjacent block, or vanish");
    };
    let note = after.note();
    if !note[added.start..first].trim().is_empty() || !note[last..added.end].trim().is_empty() {
        return refused("only part of it would");
    }
    Ok(())
}
