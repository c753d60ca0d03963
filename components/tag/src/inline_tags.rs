//! Renames and removes tags in the text of a note.
//!
//! Removing a tag can change how Markdown parses the text around it: a dash may become a list, a line a heading. The
//! note is parsed again afterwards, and where its structure would change, the tag becomes a plain word instead.

use std::ops::Range;

use notehost_sdk::text::facts::{Facts, facts};
use notehost_sdk::text::{Splice, Tag, TextError, splice, tags};

use crate::names::{TagMatcher, prefix_length};

/// How a tag is removed from the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RemovalMode {
    /// Delete the whole tag.
    Delete,
    /// Delete only the `#`.
    KeepWord,
}

/// A note with changed tags in its text.
pub(crate) struct EditedText {
    pub(crate) text: String,
    /// The number of changed tags.
    pub(crate) count: usize,
}

/// Renames a tag and its nested tags in the text.
pub(crate) fn rename(note: &str, from: &str, to: &str) -> Result<EditedText, TextError> {
    let mut splices = Vec::new();
    for tag in tags(note) {
        let (Some(range), Some(length)) = (tag.range, prefix_length(&tag.name, from)) else {
            continue;
        };
        let start = range.start + 1;
        if &note[start..start + length] != to {
            splices.push(Splice::replace(start..start + length, to));
        }
    }
    let count = splices.len();
    Ok(EditedText {
        text: splice::apply(note, splices)?,
        count,
    })
}

/// Removes tags from the text.
pub(crate) fn remove(
    note: &str,
    matcher: &TagMatcher<'_>,
    mode: RemovalMode,
) -> Result<EditedText, TextError> {
    let all = tags(note);
    let is_matched = |tag: &&Tag| tag.range.is_some() && matcher.matches(&tag.name);
    let ranges: Vec<Range<usize>> = all
        .iter()
        .filter(is_matched)
        .filter_map(|tag| tag.range.clone())
        .collect();
    if ranges.is_empty() {
        return Ok(EditedText {
            text: note.to_owned(),
            count: 0,
        });
    }
    let before = Structure::of(note);
    let count = ranges.len();
    let is_unchanged = |text: &str| before.is_same(&Structure::of(text), matcher, count);
    if mode == RemovalMode::Delete
        && let Some(text) = without(note, &ranges)?
        && is_unchanged(&text)
    {
        return Ok(EditedText { text, count });
    }
    // One by one from the end, so that the remaining ranges stay valid.
    let mut text = note.to_owned();
    for range in ranges.iter().rev() {
        let out = match mode {
            RemovalMode::Delete => without(&text, std::slice::from_ref(range))?,
            RemovalMode::KeepWord => None,
        };
        text = match out.filter(|out| Structure::of(&text).is_same(&Structure::of(out), matcher, 1))
        {
            Some(out) => out,
            None => {
                let hash = range.start..range.start + 1;
                splice::apply(&text, vec![Splice::delete(hash)])?
            }
        };
    }
    if is_unchanged(&text) {
        Ok(EditedText { text, count })
    } else {
        Err(TextError::NotEditable {
            key: "#".to_owned() + &matcher.tags.join(", #"),
        })
    }
}

/// A note without the tags at some ranges; `None` if the text after one of them would start a block.
fn without(note: &str, ranges: &[Range<usize>]) -> Result<Option<String>, TextError> {
    // Tags separated only by blanks are removed together.
    let mut runs: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match runs.last_mut() {
            Some(last) if is_blank(&note[last.end..range.start]) => last.end = range.end,
            _ => runs.push(range.clone()),
        }
    }
    let cuts: Vec<Range<usize>> = runs.iter().map(|run| widened(note, run)).collect();
    if cuts.iter().any(|cut| would_begin_block(note, cut)) {
        return Ok(None);
    }
    let cuts = cuts
        .into_iter()
        .map(|cut| Splice::delete(whole_line(note, cut)));
    splice::apply(note, cuts.collect()).map(Some)
}

/// Whether the text after a cut would move to the start of a line and start a block there: a list, a quote, a rule, a
/// fence, a table, HTML.
fn would_begin_block(note: &str, cut: &Range<usize>) -> bool {
    let line = note[..cut.start].rfind('\n').map_or(0, |at| at + 1);
    let is_mark = |letter: char| " \t>-+*.)[]".contains(letter) || letter.is_ascii_digit();
    if !note[line..cut.start].chars().all(is_mark) {
        return false;
    }
    let rest = note[cut.end..].split('\n').next().unwrap_or_default();
    let rest = rest.trim();
    let after_digits = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_numbered = after_digits.len() < rest.len() && after_digits.starts_with(['.', ')']);
    is_numbered
        || rest.starts_with([
            '-', '+', '*', '_', '>', '=', '~', '`', '|', '<', '$', '%', ':', '\t',
        ])
}

fn is_blank(text: &str) -> bool {
    text.chars().all(|letter| letter == ' ' || letter == '\t')
}

/// The range of a tag with the blanks that would be superfluous without it.
fn widened(note: &str, tag: &Range<usize>) -> Range<usize> {
    let blank = |letter: char| letter == ' ' || letter == '\t';
    let line_start = note[..tag.start].rfind('\n').map_or(0, |at| at + 1);
    let before = &note[line_start..tag.start];
    let blanks_before = before.len() - before.trim_end_matches(blank).len();
    let after = &note[tag.end..];
    let blanks_after = after.len() - after.trim_start_matches(blank).len();
    let next = after[blanks_after..].chars().next();
    let ends_line = next.is_none_or(|letter| letter == '\n' || letter == '\r');
    let begins_line = blanks_before == before.len();
    if begins_line && !ends_line {
        // The blanks before are the indentation.
        return tag.start..tag.end + blanks_after;
    }
    let is_closing = next.is_some_and(|letter| ",.;:!?)".contains(letter));
    if !begins_line && (ends_line || blanks_after > 0 || is_closing) {
        return tag.start - blanks_before..tag.end;
    }
    tag.clone()
}

/// Extends a cut to the whole line if only blanks would remain.
fn whole_line(note: &str, cut: Range<usize>) -> Range<usize> {
    let start = note[..cut.start].rfind('\n').map_or(0, |at| at + 1);
    let end = note[cut.end..]
        .find('\n')
        .map_or(note.len(), |at| cut.end + at + 1);
    let is_empty = note[start..cut.start].trim().is_empty() && note[cut.end..end].trim().is_empty();
    if is_empty && end > cut.end && note[..end].ends_with('\n') {
        start..end
    } else {
        cut
    }
}

/// The structure of a note: headings, links, blocks, tasks, properties, tags.
struct Structure {
    facts: Facts,
}

impl Structure {
    fn of(note: &str) -> Structure {
        Structure { facts: facts(note) }
    }

    /// Whether another note has the same structure, except for `removed` tags that `matcher` matches.
    fn is_same(&self, other: &Structure, matcher: &TagMatcher<'_>, removed: usize) -> bool {
        let (one, other) = (&self.facts, &other.facts);
        let levels = |facts: &Facts| -> Vec<u8> {
            facts.headings.iter().map(|heading| heading.level).collect()
        };
        let links = |facts: &Facts| -> Vec<(String, Option<String>)> {
            let links = facts.links.iter();
            links
                .map(|link| (link.target.clone(), link.fragment.clone()))
                .collect()
        };
        let blocks = |facts: &Facts| -> Vec<String> {
            facts.blocks.iter().map(|block| block.id.clone()).collect()
        };
        let tasks =
            |facts: &Facts| -> Vec<char> { facts.tasks.iter().map(|task| task.status).collect() };
        let others = |facts: &Facts| -> Vec<String> {
            let inline = facts.tags.iter().filter(|tag| !tag.property);
            inline
                .filter(|tag| !matcher.matches(&tag.tag))
                .map(|tag| tag.tag.clone())
                .collect()
        };
        let matched = |facts: &Facts| {
            let inline = facts.tags.iter().filter(|tag| !tag.property);
            inline.filter(|tag| matcher.matches(&tag.tag)).count()
        };
        matched(one) == matched(other) + removed
            && levels(one) == levels(other)
            && links(one) == links(other)
            && blocks(one) == blocks(other)
            && tasks(one) == tasks(other)
            && others(one) == others(other)
            && one.properties == other.properties
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn removed(note: &str) -> String {
        let tags = ["x".to_owned()];
        let matcher = TagMatcher {
            tags: &tags,
            nested: true,
        };
        remove(note, &matcher, RemovalMode::Delete).unwrap().text
    }

    #[test]
    fn a_tag_is_removed_with_its_blank() {
        for (before, after) in [
            ("a #x b", "a b"),
            ("a #x, b #X/y.", "a, b."),
            ("#x a", "a"),
            ("  #x a", "  a"),
            ("a #x", "a"),
            ("a #x\r\nb", "a\r\nb"),
            ("a #x(b)", "a (b)"),
            ("a\n#x\nb", "a\nb"),
            ("a\n#x #x/y\nb", "a\nb"),
            ("#x", ""),
            ("#x #y #x #z", "#y #z"),
            ("- #x\n- b", "-\n- b"),
            (
                "| #x | b |\n|---|---|\n| c | #x d |",
                "| | b |\n|---|---|\n| c | d |",
            ),
            ("`#x` [[a#x]] #xy", "`#x` [[a#x]] #xy"),
        ] {
            assert_eq!(removed(before), after, "{before:?}");
        }
    }

    #[test]
    fn the_word_is_kept_where_the_structure_would_change() {
        for (before, after) in [
            ("text\n- #x", "text\n- x"),
            ("#x # no heading", "x # no heading"),
            ("#x\n===\n", "x\n===\n"),
            ("#x - b #x", "x - b"),
            ("#x #x/y 1. b", "x 1. b"),
            ("- #x > b", "- x > b"),
            ("#x\n---\na: 1\n---\n", "x\n---\na: 1\n---\n"),
        ] {
            assert_eq!(removed(before), after, "{before:?}");
        }
    }

    #[test]
    fn nested_tags_are_renamed_too() {
        let renamed = rename(
            "#Old #old/a #older `#old` [x](#old) #a/old",
            "old",
            "new/one",
        )
        .unwrap();
        assert_eq!(
            renamed.text,
            "#new/one #new/one/a #older `#old` [x](#old) #a/old"
        );
        assert_eq!(renamed.count, 2);
    }
}
