//! Sections: the part of a note under a heading, named by a heading path such as `Plan > Risks`.

use super::error::{SectionChoice, TextError};
use super::newline::{self, insert_lines};
use super::outline::{Heading, Outline, PATH_SEPARATOR, outline};
use super::splice::{self, Splice};
use crate::nearest::KnownNames;
use std::ops::Range;

/// The extent of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The text under the heading itself, up to the next heading of any level.
    Own,
    /// That and all nested sections.
    Whole,
}

/// The text of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section<'a> {
    /// The heading.
    pub heading: Heading,
    /// The path of the heading from the top of the note.
    pub path: String,
    /// The heading and its text.
    pub text: &'a str,
    /// Its byte range in the note.
    pub range: Range<usize>,
}

/// Reads a section with its heading.
///
/// # Errors
/// If no heading, or more than one, matches `wanted`.
pub fn read<'a>(text: &'a str, wanted: &str, extent: Extent) -> Result<Section<'a>, TextError> {
    let outline = outline(text)?;
    let index = find(&outline, wanted)?;
    let heading = &outline.headings[index];
    let range = heading.section.start..content(heading, extent).end;
    Ok(Section {
        heading: heading.clone(),
        path: outline.path(index),
        text: &text[range.clone()],
        range,
    })
}

/// Adds lines at the end of the text under the heading itself, before the next heading. Blank lines before that heading
/// stay.
///
/// # Errors
/// If no heading, or more than one, matches `wanted`.
pub fn append(text: &str, wanted: &str, addition: &str) -> Result<String, TextError> {
    let outline = outline(text)?;
    let heading = &outline.headings[find(&outline, wanted)?];
    let at = filled_lines(text, &heading.own).end;
    insert_at(text, &outline, at, addition)
}

/// Adds lines right below the heading.
///
/// # Errors
/// If no heading, or more than one, matches `wanted`.
pub fn prepend(text: &str, wanted: &str, addition: &str) -> Result<String, TextError> {
    let outline = outline(text)?;
    let at = outline.headings[find(&outline, wanted)?].range.end;
    insert_at(text, &outline, at, addition)
}

/// Replaces the text under the heading. Keeps the heading, and the blank lines after it and before the next heading.
///
/// # Errors
/// If no heading, or more than one, matches `wanted`.
pub fn replace(
    text: &str,
    wanted: &str,
    replacement: &str,
    extent: Extent,
) -> Result<String, TextError> {
    let outline = outline(text)?;
    let heading = &outline.headings[find(&outline, wanted)?];
    let filled = filled_lines(text, &content(heading, extent));
    if filled.is_empty() {
        return insert_at(text, &outline, filled.start, replacement);
    }
    let mut splice = if replacement.is_empty() {
        Splice::delete(heading.range.end..filled.end)
    } else {
        let converted = newline::in_style_of(text, replacement);
        let mut with = newline::without_final(&converted).to_owned();
        if text[filled.clone()].ends_with('\n') {
            with.push_str(newline::of_either(text, replacement));
        }
        Splice::replace(filled, with)
    };
    separate_from_setext(text, &outline, &mut splice);
    splice::apply(text, vec![splice])
}

/// Brings back a section of another version of the note, with its heading and nested sections: it replaces the section with
/// the same heading path. If the note no longer has it, it is inserted after the section that preceded it in that version,
/// else at the end of the section above it, else at the end of the note. Blank lines around it stay.
///
/// # Errors
/// If `wanted` does not match exactly one heading of the other version, or matches several of the note.
pub fn restore(text: &str, other: &str, wanted: &str) -> Result<String, TextError> {
    let (now, then) = (outline(text)?, outline(other)?);
    let old = find(&then, wanted)?;
    let lines = &other[filled_lines(other, &then.headings[old].section)];
    match find(&now, &choice(&then, old).section) {
        Ok(index) => {
            let filled = filled_lines(text, &now.headings[index].section);
            let converted = newline::in_style_of(text, lines);
            let mut with = newline::without_final(&converted).to_owned();
            if text[filled.clone()].ends_with('\n') {
                with.push_str(newline::of_either(text, lines));
            }
            let mut splice = Splice::replace(filled, with);
            separate_from_setext(text, &now, &mut splice);
            splice::apply(text, vec![splice])
        }
        Err(TextError::NoSection { .. }) => {
            let at = place_for(text, &now, &then, old);
            let gap = if text[..at].trim().is_empty() {
                ""
            } else {
                "\n"
            };
            insert_at(text, &now, at, &format!("{gap}{lines}"))
        }
        Err(ambiguous) => Err(ambiguous),
    }
}

/// Where a section of another version belongs: the end of the lines that precede it.
fn place_for(text: &str, now: &Outline, then: &Outline, old: usize) -> usize {
    let same = |index: usize| find(now, &choice(then, index).section).ok();
    let parent = then.headings[old].parent;
    let siblings = (0..old).rev();
    let preceding = siblings
        .filter(|index| then.headings[*index].parent == parent)
        .find_map(same);
    let range = match (preceding, parent.map(same)) {
        (Some(index), _) => now.headings[index].section.clone(),
        // The first section below its parent comes after the parent's own text.
        (None, Some(Some(above))) => now.headings[above].range.start..now.headings[above].own.end,
        (None, _) => now.body.clone(),
    };
    match filled_lines(text, &range) {
        filled if filled.is_empty() => range.end,
        filled => filled.end,
    }
}

/// Deletes the heading and its whole section.
///
/// # Errors
/// If no heading, or more than one, matches `wanted`.
pub fn delete(text: &str, wanted: &str) -> Result<String, TextError> {
    let outline = outline(text)?;
    let heading = &outline.headings[find(&outline, wanted)?];
    let mut splice = Splice::delete(heading.section.clone());
    let line_above = newline::without_final(&text[..heading.section.start]);
    if !line_above.is_empty() && !line_above.ends_with('\n') {
        separate_from_setext_below(text, &outline, &mut splice);
    }
    splice::apply(text, vec![splice])
}

fn content(heading: &Heading, extent: Extent) -> Range<usize> {
    match extent {
        Extent::Own => heading.own.clone(),
        Extent::Whole => heading.own.start..heading.section.end,
    }
}

/// The lines of a range from the first to the last non-blank one; empty at its start if all are blank.
fn filled_lines(text: &str, range: &Range<usize>) -> Range<usize> {
    let (mut at, mut filled) = (range.start, range.start..range.start);
    for line in text[range.clone()].split_inclusive('\n') {
        let start = at;
        at += line.len();
        if !line.trim().is_empty() {
            filled = (if filled.is_empty() {
                start
            } else {
                filled.start
            })..at;
        }
    }
    filled
}

fn insert_at(
    text: &str,
    outline: &Outline,
    at: usize,
    addition: &str,
) -> Result<String, TextError> {
    let mut splice = insert_lines(text, at, addition);
    separate_from_setext(text, outline, &mut splice);
    splice::apply(text, vec![splice])
}

/// Adds a blank line after an insertion right above a setext heading, which would otherwise absorb it.
pub(crate) fn separate_from_setext(text: &str, outline: &Outline, splice: &mut Splice) {
    let last_line = newline::without_final(&splice.with)
        .rsplit('\n')
        .next()
        .unwrap_or_default();
    if !last_line.trim().is_empty() {
        separate_from_setext_below(text, outline, splice);
    }
}

fn separate_from_setext_below(text: &str, outline: &Outline, splice: &mut Splice) {
    let end = splice.range.end;
    if outline
        .headings
        .iter()
        .any(|heading| heading.setext && heading.range.start == end)
    {
        splice.with.push_str(newline::of_either(text, ""));
    }
}

/// Finds the heading for a heading path, as an index into [`Outline::headings`].
///
/// `B` matches a heading anywhere, `A > B` one below `A` at any depth, `## B` one of the second level if there is one,
/// `B [2]` the second match of `B`. Case is relevant only to resolve ambiguity.
///
/// # Errors
/// [`TextError::NoSection`] with similar names, or [`TextError::AmbiguousSection`] with paths that each match only one
/// heading. It never silently picks the first match.
pub fn find(outline: &Outline, wanted: &str) -> Result<usize, TextError> {
    let trimmed = wanted.trim();
    let mut matches = matching(outline, trimmed);
    if matches.is_empty()
        && let Some((name, number)) = split_number(trimmed)
    {
        matches = self::matching(outline, name)
            .into_iter()
            .skip(number - 1)
            .take(1)
            .collect();
    }
    match matches.as_slice() {
        [only] => Ok(*only),
        [] => Err(TextError::NoSection {
            wanted: trimmed.to_owned(),
            nearest: similar(outline, trimmed),
        }),
        several => Err(TextError::AmbiguousSection {
            wanted: trimmed.to_owned(),
            choices: several
                .iter()
                .take(MAX_LISTED_CHOICES)
                .map(|index| choice(outline, *index))
                .collect(),
        }),
    }
}

/// The maximum number of choices in an error.
const MAX_LISTED_CHOICES: usize = 20;
/// The maximum number of similar names in an error.
const MAX_LISTED_SIMILAR: usize = 3;
/// The minimum similarity of a heading. Lower than for names: a note has few headings, and the caller means one of them.
const SIMILAR_HEADING: f64 = 0.6;
/// Longer headings are compared by their beginning.
const MAX_COMPARED_CHARS: usize = 80;

/// `B [2]` as (`B`, 2).
fn split_number(wanted: &str) -> Option<(&str, usize)> {
    let (name, number) = wanted.strip_suffix(']')?.rsplit_once('[')?;
    let number = number.parse().ok().filter(|number| *number > 0)?;
    Some((name.trim_end(), number))
}

/// The headings that match a path without a number.
fn matching(outline: &Outline, wanted: &str) -> Vec<usize> {
    let exact = matching_by(outline, wanted, |heading| {
        vec![heading.text.clone(), heading.raw.clone()]
    });
    if !exact.is_empty() {
        return exact;
    }
    matching_by(outline, &wanted.to_lowercase(), |heading| {
        vec![heading.text.to_lowercase(), heading.raw.to_lowercase()]
    })
}

fn matching_by(
    outline: &Outline,
    wanted: &str,
    spellings: impl Fn(&Heading) -> Vec<String>,
) -> Vec<usize> {
    let spellings: Vec<Vec<String>> = outline.headings.iter().map(spellings).collect();
    let all = (0..outline.headings.len())
        .filter(|index| matches_path(outline, &spellings, *index, wanted));
    let level = wanted.bytes().take_while(|byte| *byte == b'#').count();
    let (of_level, others): (Vec<usize>, Vec<usize>) =
        all.partition(|index| usize::from(outline.headings[*index].level) == level);
    if of_level.is_empty() {
        others
    } else {
        of_level
    }
}

/// Whether a path ends with this heading and the rest matches headings above. Matching from the end, names that contain
/// the separator need no escape.
fn matches_path(outline: &Outline, spellings: &[Vec<String>], index: usize, wanted: &str) -> bool {
    spellings[index].iter().any(|name| {
        let before = if name.is_empty() {
            wanted
                .strip_suffix('#')
                .map(|rest| rest.trim_end_matches('#'))
        } else {
            wanted.strip_suffix(name.as_str()).map(without_marks)
        };
        let Some(before) = before.map(str::trim_end) else {
            return false;
        };
        if before.is_empty() {
            return true;
        }
        let Some(path) = before
            .strip_suffix(PATH_SEPARATOR.trim())
            .map(str::trim_end)
        else {
            return false;
        };
        let mut above = outline.headings[index].parent;
        while let Some(parent) = above {
            if matches_path(outline, spellings, parent, path) {
                return true;
            }
            above = outline.headings[parent].parent;
        }
        false
    })
}

/// The text before a name, without an optional `## `.
fn without_marks(before: &str) -> &str {
    before.trim_end().trim_end_matches('#')
}

/// A heading path that only this heading matches.
fn choice(outline: &Outline, index: usize) -> SectionChoice {
    let path = outline.path(index);
    let matches = matching(outline, &path);
    let section = match matches.iter().position(|other| *other == index) {
        Some(place) if matches.len() > 1 => format!("{path} [{}]", place + 1),
        _ => path,
    };
    SectionChoice {
        section,
        line: outline.headings[index].line,
    }
}

/// The headings whose text is similar to the last part of a heading path.
fn similar(outline: &Outline, wanted: &str) -> Vec<SectionChoice> {
    let shortened = |text: &str| text.chars().take(MAX_COMPARED_CHARS).collect::<String>();
    let last = wanted
        .rsplit(PATH_SEPARATOR)
        .next()
        .unwrap_or(wanted)
        .trim_start_matches('#')
        .trim();
    let headings = outline.headings.iter().enumerate();
    let known: KnownNames<usize> = headings
        .map(|(index, heading)| (shortened(&heading.text), index))
        .collect();
    known
        .nearest(&shortened(last), SIMILAR_HEADING, MAX_LISTED_SIMILAR)
        .into_iter()
        .map(|index| choice(outline, *index))
        .collect()
}

#[cfg(test)]
mod tests;
