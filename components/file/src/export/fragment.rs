//! Resolves the fragment of an embed to the part of the note: a section or a block.

use notehost_sdk::fold_name;
use notehost_sdk::text;
use notehost_sdk::text::section::{self, Extent};

use super::links::slug;

/// The part of a note that a fragment refers to, with its offset; the body without a fragment.
pub(super) fn part_of<'n>(note: &'n str, fragment: Option<&str>) -> Option<(usize, &'n str)> {
    let Some(fragment) = fragment else {
        let start = text::body::start(note);
        return Some((start, &note[start..]));
    };
    let innermost = fragment.rsplit('#').next().unwrap_or(fragment).trim();
    if let Some(block) = innermost.strip_prefix('^') {
        return block_of(note, block);
    }
    let path: Vec<&str> = fragment.split('#').map(str::trim).collect();
    let found = section::read(note, &path.join(" > "), Extent::Whole).ok();
    // Like Obsidian, use the first of several matching headings.
    found
        .map(|found| (found.range.start, found.text))
        .or_else(|| first_section(note, innermost))
}

fn first_section<'n>(note: &'n str, heading: &str) -> Option<(usize, &'n str)> {
    let outline = text::outline(note).ok()?;
    let heading_slug = slug(heading);
    let found = outline.headings.iter().find(|found| {
        fold_name(&found.name()) == fold_name(heading) || slug(&found.name()) == heading_slug
    })?;
    Some((found.section.start, note.get(found.section.clone())?))
}

/// The paragraph of a block id.
fn block_of<'n>(note: &'n str, block: &str) -> Option<(usize, &'n str)> {
    let facts = text::facts::facts(note);
    let at = facts
        .blocks
        .iter()
        .find(|found| fold_name(&found.id) == fold_name(block))?;
    let lines: Vec<&str> = note.split_inclusive('\n').collect();
    let index = usize::try_from(at.line).ok()?.checked_sub(1)?;
    let is_item = |line: &str| {
        let line = line.trim_start();
        line.starts_with(['-', '*', '+']) || line.starts_with(|first: char| first.is_ascii_digit())
    };
    let own = lines.get(index)?;
    // A block id on its own line belongs to the paragraph above.
    let mut first = index;
    let is_own_line = own.trim_start().starts_with('^');
    if is_own_line {
        while first > 0 && lines[first - 1].trim().is_empty() {
            first -= 1;
        }
    }
    if is_own_line || !is_item(own) {
        while first > 0 && !lines[first - 1].trim().is_empty() {
            first -= 1;
        }
    }
    let start: usize = lines[..first].iter().map(|line| line.len()).sum();
    let length: usize = lines[first..=index].iter().map(|line| line.len()).sum();
    Some((start, &note[start..start + length]))
}
