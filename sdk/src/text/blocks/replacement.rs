//! Replaces the text of a block. Unchanged lines keep every byte, including the notation of their container prefixes.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::edit::{Changed, depth_in, plain_lines};
use super::ids::identify;
use super::placement::{before_it, line_start};
use super::prefix::{like, peel};
use super::verification::{forms_blocks, undisturbed};
use super::{BlockError, BlockKind, Blocks};
use crate::text::{frontmatter, newline};

/// Replaces the text of a block. Keeps its id if the new text has none.
///
/// # Errors
/// If the text does not form separate blocks at that place, or changes how others are parsed.
pub fn replace(blocks: &Blocks<'_>, index: usize, text: &str) -> Result<Changed, BlockError> {
    let block = &blocks[index];
    let old = blocks.text_of(index);
    let new = match text.replace("\r\n", "\n") {
        same if same == old => same,
        other => plain_lines(&other),
    };
    let new = match block.kind {
        BlockKind::Quote | BlockKind::Callout => quoted(&old, new),
        _ => new,
    };
    if new == old || new == old.trim_end() {
        return Ok(Changed {
            text: blocks.note().to_owned(),
            range: block.range.clone(),
        });
    }
    if new.is_empty() {
        return Err(BlockError::Empty {
            advice: "use `remove` to remove a block",
        });
    }
    let changed = spliced(blocks, index, &old, &new)?;
    if block.kind == BlockKind::Frontmatter {
        return checked_frontmatter(changed);
    }
    keep_id(blocks, index, changed)
}

/// The new text of a quote, with the quote marker added to new lines without it. Without it they would be lazy continuations,
/// and another kind of block would end the quote.
fn quoted(old: &str, new: String) -> String {
    if !new.trim_start().starts_with('>') || new == old {
        return new;
    }
    let known: HashSet<&str> = old.split('\n').collect();
    let mut lines: Vec<Cow<'_, str>> = Vec::new();
    let mut is_quote = true;
    for line in new.split('\n') {
        // After a blank line there is another block, or the id.
        is_quote &= !line.trim().is_empty();
        lines.push(
            match is_quote && !line.trim_start().starts_with('>') && !known.contains(line) {
                true => Cow::Owned(format!("> {line}")),
                false => Cow::Borrowed(line),
            },
        );
    }
    lines.join("\n")
}

fn spliced(blocks: &Blocks<'_>, index: usize, old: &str, new: &str) -> Result<Changed, BlockError> {
    let note = blocks.note();
    let block = &blocks[index];
    let (removed, lines) = difference(blocks, index, old, new);
    let newline = newline::of_either(note, new);
    let prefix = continuation_prefix(blocks, index);
    let mut with = String::with_capacity(new.len());
    for (number, line) in lines.iter().enumerate() {
        if number > 0 {
            with.push_str(newline);
        }
        if !(number == 0 && removed.start == block.range.start) {
            with.push_str(match line.is_empty() {
                true => prefix.trim_end(),
                false => &prefix,
            });
        }
        with.push_str(line);
    }
    let blank = like(before_it(blocks, index));
    let blank = blank.trim_end();
    let depth = depth_in(blocks, block.parent);
    let exempt = blocks.containers(index);
    let line = line_start(note, block.range.start);
    let is_own_line = super::placement::begins_line(blocks, index);
    let mut refused = None;
    for (lead, trail) in [(false, false), (true, false), (false, true), (true, true)] {
        if lead && !is_own_line {
            continue;
        }
        let mut text = String::with_capacity(note.len() + with.len());
        text.push_str(&note[..line]);
        if lead {
            text.push_str(blank);
            text.push_str(newline);
        }
        let moved = text.len() - line;
        text.push_str(&note[line..removed.start]);
        text.push_str(&with);
        text.push_str(&note[removed.end..block.range.end]);
        let came = block.range.start + moved..text.len();
        if trail {
            text.push_str(newline);
            text.push_str(blank);
        }
        // The text before the block on its line belongs to its containers.
        let added = block.range.start..text.len();
        text.push_str(&note[block.range.end..]);
        let proof = {
            let after = super::blocks(&text)?;
            let is_frontmatter = block.kind == BlockKind::Frontmatter;
            undisturbed(blocks, &after, &block.range, &added, &exempt).and_then(|()| {
                match is_frontmatter {
                    true => Ok(()),
                    false => forms_blocks(&after, &came, depth),
                }
            })
        };
        match proof {
            Ok(()) => return Ok(Changed { text, range: came }),
            Err(error) => refused = Some(error),
        }
    }
    Err(refused.unwrap_or(BlockError::Empty {
        advice: "there is nothing to write",
    }))
}

/// The bytes of a block's lines that differ from the new text, and the new lines for them.
fn difference<'n>(
    blocks: &Blocks<'_>,
    index: usize,
    old: &str,
    new: &'n str,
) -> (Range<usize>, Vec<&'n str>) {
    let block = &blocks[index];
    let raw = &blocks.note()[block.range.clone()];
    let old: Vec<&str> = old.split('\n').collect();
    let new: Vec<&str> = new.split('\n').collect();
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    // Replace at least one line, so that there is a place for the new ones.
    let head = head.min(old.len() - 1).min(new.len() - 1);
    let tail = old[head + 1..]
        .iter()
        .rev()
        .zip(new[head + 1..].iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let ends: Vec<usize> = raw.split_inclusive('\n').map(str::len).collect();
    let start: usize = ends[..head].iter().sum();
    let kept: usize = ends[old.len() - tail..].iter().sum();
    let mut end = raw.len() - kept;
    if tail > 0 {
        // Keep the line ending of the last replaced line.
        let cut = raw[..end].strip_suffix('\n').unwrap_or(&raw[..end]);
        end = cut.strip_suffix('\r').unwrap_or(cut).len();
    }
    let range = block.range.start + start..block.range.start + end.max(start);
    (range, new[head..new.len() - tail].to_vec())
}

/// The prefix of a block's lines after the first: that of its second line, or derived from the first.
fn continuation_prefix(blocks: &Blocks<'_>, index: usize) -> String {
    let block = &blocks[index];
    let raw = &blocks.note()[block.range.clone()];
    let second = raw.split('\n').skip(1).find_map(|line| {
        let line = line.trim_end_matches('\r');
        let cut = peel(line, &block.own).at.byte;
        (!line[cut..].trim().is_empty() && !line[cut..].starts_with([' ', '\t']))
            .then(|| line[..cut].to_owned())
    });
    let first = like(before_it(blocks, index));
    match second {
        // A lazy continuation lacks the quote markers; new lines get them.
        Some(second) if second.matches('>').count() == first.matches('>').count() => {
            match second.is_empty() {
                true => first,
                false => second,
            }
        }
        _ => first,
    }
}

/// Verifies that a new frontmatter is valid.
fn checked_frontmatter(changed: Changed) -> Result<Changed, BlockError> {
    let is_one = frontmatter::locate(&changed.text)
        .is_some_and(|found| changed.text[..found.block.end].trim_end().len() >= changed.range.end);
    if !is_one {
        return Err(BlockError::NotABlock {
            why: "frontmatter must begin and end with a line `---`".to_owned(),
        });
    }
    match frontmatter::properties(&changed.text) {
        Ok(_) => Ok(changed),
        Err(error) => Err(BlockError::NotABlock {
            why: error.to_string(),
        }),
    }
}

/// Adds the id of the replaced block to its replacement.
fn keep_id(blocks: &Blocks<'_>, index: usize, changed: Changed) -> Result<Changed, BlockError> {
    let Some(id) = blocks[index].id.as_ref() else {
        return Ok(changed);
    };
    let after = super::blocks(&changed.text)?;
    if !after.with_id(&id.name).is_empty() || blocks.with_id(&id.name).len() > 1 {
        return Ok(changed);
    }
    let first = (0..after.len()).find(|at| {
        let block = &after[*at];
        block.range.start >= changed.range.start
            && (block.kind != BlockKind::List || blocks[index].kind == BlockKind::List)
    });
    match first {
        // The new text has its own id.
        Some(first) if after[first].id.is_some() => Ok(changed),
        Some(first) => identify(&after, first, &id.name),
        None => Ok(changed),
    }
}
