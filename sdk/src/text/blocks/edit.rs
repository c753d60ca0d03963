//! Inserts, removes and moves blocks. Several variants are tried, those with the fewest blank lines first; the first one that
//! leaves all other blocks unchanged is used.

use std::ops::Range;

use super::markers::{Marker, marker_of, task_state};
use super::placement::{Place, Spot, begins_line, line_start};
use super::verification::{forms_blocks, undisturbed};
use super::{BlockError, BlockKind, Blocks};
use crate::text::newline::Newline;
use crate::text::splice::{self, Splice};

/// A note after a change of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// The whole text.
    pub text: String,
    /// The new bytes of the block, or the place where it was removed.
    pub range: Range<usize>,
}

/// Inserts a text as one or more blocks, adapted to the place: its lines get the prefix of the container, and in a list it
/// becomes an item.
///
/// # Errors
/// If the text does not form blocks of that container, or changes how others are parsed.
pub fn insert(blocks: &Blocks<'_>, place: Place, addition: &str) -> Result<Changed, BlockError> {
    let mut spot = Spot::find(blocks, place)?;
    let mut addition = plain_lines(addition);
    if let Some(place) = spot.list_beside(blocks, &addition)
        && !is_break(&addition)
    {
        spot = Spot::find(blocks, place)?;
    }
    if addition.is_empty() {
        return Err(BlockError::Empty {
            advice: "there is nothing to insert",
        });
    }
    let container = spot.container.map(|at| blocks[at].kind);
    if container == Some(BlockKind::List)
        && let Some(model) = spot.previous.or(spot.next)
    {
        addition = as_item(blocks, model, spot.previous.is_some(), &addition);
    }
    let mut exempt = Vec::new();
    if let Some(container) = spot.container {
        exempt = blocks.containers(container);
        exempt.push(container);
    }
    let depth = depth_in(blocks, spot.container);
    let removed = spot.at..spot.at;
    let mut refused = None;
    for prefix in spot.prefixes(blocks, &addition) {
        for parting in spot.partings(blocks, &addition) {
            let built = spot.build(blocks.note(), prefix, &addition, parting);
            let proof = {
                let after = super::blocks(&built.text)?;
                undisturbed(blocks, &after, &removed, &built.added, &exempt)
                    .and_then(|()| forms_blocks(&after, &built.came, depth))
            };
            match proof {
                Ok(()) => {
                    return Ok(Changed {
                        text: built.text,
                        range: built.came,
                    });
                }
                Err(error) => refused = Some(error),
            }
        }
    }
    Err(refused.unwrap_or(BlockError::Empty {
        advice: "there is nothing to insert",
    }))
}

/// The number of containers, without lists, of a block in this container.
pub(super) fn depth_in(blocks: &Blocks<'_>, container: Option<usize>) -> usize {
    let Some(container) = container else {
        return 0;
    };
    let mut all = blocks.containers(container);
    all.push(container);
    all.iter()
        .filter(|at| blocks[**at].kind != BlockKind::List)
        .count()
}

/// A text with `\n` line endings and without blank lines at its beginning and end.
pub(super) fn plain_lines(text: &str) -> String {
    let text = Newline::Lf.convert(text);
    let text = text.trim_end();
    let mut begin = 0;
    for line in text.split_inclusive('\n') {
        if !line.trim().is_empty() {
            break;
        }
        begin += line.len();
    }
    text[begin..].to_owned()
}

/// A text as an item of the list that contains the item `model`, with that list's marker.
fn as_item(blocks: &Blocks<'_>, model: usize, is_after: bool, addition: &str) -> String {
    let text = blocks.text_of(model);
    let Some(like) = marker_of(&text) else {
        return addition.to_owned();
    };
    let written = match like.number {
        Some(number) if is_after => format!("{}{}", number.saturating_add(1), like.sign),
        Some(number) => format!("{number}{}", like.sign),
        None => like.sign.to_string(),
    };
    let own = marker_of(addition).filter(|_| !is_break(addition));
    match own {
        None => {
            let state = match task_state(&text[like.content..]) {
                Some(_) => "[ ] ",
                None => "",
            };
            let indent = " ".repeat(written.len() + 1);
            format!("{written} {state}{}", indented(addition, &indent))
        }
        Some(own) if own.sign != like.sign && is_one_item(addition) => {
            remarked(addition, &own, &written)
        }
        Some(_) => addition.to_owned(),
    }
}

fn is_break(text: &str) -> bool {
    let read = super::blocks(text);
    read.is_ok_and(|read| {
        read.iter()
            .next()
            .is_some_and(|first| first.kind == BlockKind::ThematicBreak)
    })
}

fn is_one_item(text: &str) -> bool {
    let Ok(read) = super::blocks(text) else {
        return false;
    };
    read.children(None).count() == 1 && read.children(Some(0)).count() == 1
}

/// An item with another marker; the indentation of its content is adjusted.
fn remarked(item: &str, own: &Marker, written: &str) -> String {
    let old = own.range.len();
    let rest = &item[own.range.end..];
    let (first, below) = rest.split_once('\n').unwrap_or((rest, ""));
    let mut text = format!("{}{written}{first}", &item[..own.range.start]);
    for line in below.split('\n').filter(|_| rest.contains('\n')) {
        text.push('\n');
        if written.len() > old && !line.trim().is_empty() {
            text.push_str(&" ".repeat(written.len() - old));
            text.push_str(line);
        } else {
            let spaces = line.len() - line.trim_start_matches(' ').len();
            text.push_str(&line[spaces.min(old.saturating_sub(written.len()))..]);
        }
    }
    text
}

fn indented(text: &str, indent: &str) -> String {
    let mut lines = text.split('\n');
    let mut indented = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        indented.push('\n');
        if !line.trim().is_empty() {
            indented.push_str(indent);
            indented.push_str(line);
        }
    }
    indented
}

/// Removes a block with its children. A container that becomes empty is removed as well.
///
/// # Errors
/// If another block would be parsed differently without it.
pub fn remove(blocks: &Blocks<'_>, index: usize) -> Result<Changed, BlockError> {
    let index = whole(blocks, index);
    let note = blocks.note();
    let exempt = blocks.containers(index);
    let mut refused = None;
    for (removed, with) in removals(blocks, index) {
        let added = removed.start..removed.start + with.len();
        let text = splice::apply(note, vec![Splice::replace(removed.clone(), with)])?;
        let proof = {
            let after = super::blocks(&text)?;
            undisturbed(blocks, &after, &removed, &added, &exempt)
        };
        match proof {
            Ok(()) => {
                return Ok(Changed { text, range: added });
            }
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    Err(match refused {
        Some(BlockError::Disturbs { what }) => BlockError::BadPlace(format!(
            "removing this block would change how {what} is parsed: use `update` or `document.edit`"
        )),
        other => other.unwrap_or_else(|| BlockError::BadPlace("it cannot be removed".to_owned())),
    })
}

/// The outermost container that would become empty without a block, or the block itself.
fn whole(blocks: &Blocks<'_>, mut index: usize) -> usize {
    while let Some(parent) = blocks[index].parent {
        let is_only = blocks.children(Some(parent)).count() == 1;
        if !is_only || blocks[parent].kind == BlockKind::Callout {
            break;
        }
        index = parent;
    }
    index
}

/// The variants of a removal, best first: the bytes to delete, and their replacement.
fn removals(blocks: &Blocks<'_>, index: usize) -> Vec<(Range<usize>, String)> {
    let note = blocks.note();
    let block = &blocks[index];
    if !begins_line(blocks, index) {
        let mut ways = vec![(block.range.clone(), String::new())];
        if let Some(next) = blocks
            .after(index)
            .filter(|next| begins_line(blocks, *next))
        {
            // The next block takes its place after the marker.
            ways.push((block.range.start..blocks[next].range.start, String::new()));
        }
        return ways;
    }
    let start = line_start(note, block.range.start);
    let end = block.range.end;
    let newline = match &note.as_bytes()[end..] {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => 0,
    };
    let lines = (start..end + newline, String::new());
    let (previous, next) = (blocks.before(index), blocks.after(index));
    match (previous, next) {
        (_, Some(next)) => {
            let with_gap = start..line_start(note, blocks[next].range.start).max(end);
            let is_parted =
                previous.is_none_or(|previous| blocks[previous].last_line + 1 < block.line);
            let blank = (
                start..end,
                note[start..block.range.start].trim_end().to_owned(),
            );
            match is_parted {
                true => vec![(with_gap, String::new()), lines, blank],
                false => vec![lines, (with_gap, String::new()), blank],
            }
        }
        (Some(previous), None) => vec![
            (blocks[previous].range.end..end, String::new()),
            lines,
            (start..end, String::new()),
        ],
        (None, None) => {
            let mut ways = vec![lines];
            if block.parent.is_some() {
                // Directly below the title of a callout.
                let before = note[..start].trim_end_matches(['\n', '\r']).len();
                ways.insert(0, (before..end, String::new()));
            }
            ways
        }
    }
}

/// Removes a block; returns its text and the note without it.
///
/// # Errors
/// As [`remove`].
pub fn take_out(blocks: &Blocks<'_>, index: usize) -> Result<(String, Changed), BlockError> {
    if blocks[index].kind == BlockKind::Frontmatter {
        return Err(BlockError::Unsuited(
            "the frontmatter cannot be moved: it must come first in the note".to_owned(),
        ));
    }
    let whole = whole(blocks, index);
    // An item that would become empty is removed with its text.
    let index = if blocks[whole].kind.is_item() {
        whole
    } else {
        index
    };
    Ok((blocks.text_of(index), remove(blocks, index)?))
}

/// Moves a block with its children to another place of the note. Only the indentation of its lines changes.
///
/// # Errors
/// If the place is in the block itself, and as [`insert`] and [`remove`].
pub fn relocate(blocks: &Blocks<'_>, index: usize, place: Place) -> Result<Changed, BlockError> {
    let target = match place {
        Place::Before(target) | Place::After(target) => Some(target),
        Place::First(target) | Place::Last(target) => target,
    };
    if target.is_some_and(|target| (index..blocks[index].next).contains(&target)) {
        return Err(BlockError::BadPlace(
            "a block cannot be moved into or beside itself: choose another block".to_owned(),
        ));
    }
    let (text, without) = take_out(blocks, index)?;
    let removed = blocks.note().len() - without.text.len();
    let after = super::blocks(&without.text)?;
    let lands_at = |target: usize| {
        let block = &blocks[target];
        let start = match block.range.start > without.range.start {
            true => block.range.start.saturating_sub(removed),
            false => block.range.start,
        };
        (0..after.len())
            .find(|at| after[*at].kind == block.kind && after[*at].range.start == start)
            .ok_or_else(|| {
                BlockError::BadPlace(format!(
                    "the {} on line {} is part of the moved block: choose another place",
                    block.kind.as_str(),
                    block.line
                ))
            })
    };
    let place = match place {
        Place::Before(target) => Place::Before(lands_at(target)?),
        Place::After(target) => Place::After(lands_at(target)?),
        Place::First(Some(target)) => Place::First(Some(lands_at(target)?)),
        Place::Last(Some(target)) => Place::Last(Some(lands_at(target)?)),
        whole => whole,
    };
    insert(&after, place, &text)
}
