//! Tags in the prose of a note: given another name, or taken out with as little else as a reader would take out.
//!
//! Taking a tag out can make other things of what stands around it: a list of a dash, a heading of a line. So the note is
//! looked at again afterwards, and where it would be read differently, the tag becomes a plain word instead.

use std::ops::Range;

use notehost_sdk::text::facts::{Facts, facts};
use notehost_sdk::text::{Splice, Tag, TextError, splice, tags};

use crate::names::{Meant, common};

/// What becomes of a tag in the prose that is taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taking {
    /// It goes.
    Out,
    /// Its words stay, without the `#`.
    Hash,
}

/// A note with other tags in its prose.
pub(crate) struct Changed {
    pub(crate) text: String,
    /// How many tags are different.
    pub(crate) count: usize,
}

/// Gives a tag of the prose, and those below it, another name.
pub(crate) fn rename(note: &str, from: &str, to: &str) -> Result<Changed, TextError> {
    let mut splices = Vec::new();
    for tag in tags(note) {
        let (Some(range), Some(length)) = (tag.range, common(&tag.name, from)) else {
            continue;
        };
        let start = range.start + 1;
        if &note[start..start + length] != to {
            splices.push(Splice::replace(start..start + length, to));
        }
    }
    let count = splices.len();
    Ok(Changed {
        text: splice::apply(note, splices)?,
        count,
    })
}

/// Takes tags out of the prose.
pub(crate) fn take(note: &str, meant: &Meant<'_>, how: Taking) -> Result<Changed, TextError> {
    let all = tags(note);
    let is_meant = |tag: &&Tag| tag.range.is_some() && meant.has(&tag.name);
    let ranges: Vec<Range<usize>> = all
        .iter()
        .filter(is_meant)
        .filter_map(|tag| tag.range.clone())
        .collect();
    if ranges.is_empty() {
        return Ok(Changed {
            text: note.to_owned(),
            count: 0,
        });
    }
    let before = Shape::of(note);
    let count = ranges.len();
    let reads_the_same = |text: &str| before.fits(&Shape::of(text), meant, count);
    if how == Taking::Out
        && let Some(text) = without(note, &ranges)?
        && reads_the_same(&text)
    {
        return Ok(Changed { text, count });
    }
    // One by one from the end, so that the places of those before stay what they are.
    let mut text = note.to_owned();
    for range in ranges.iter().rev() {
        let out = match how {
            Taking::Out => without(&text, std::slice::from_ref(range))?,
            Taking::Hash => None,
        };
        text = match out.filter(|out| Shape::of(&text).fits(&Shape::of(out), meant, 1)) {
            Some(out) => out,
            None => {
                let hash = range.start..range.start + 1;
                splice::apply(&text, vec![Splice::delete(hash)])?
            }
        };
    }
    if reads_the_same(&text) {
        Ok(Changed { text, count })
    } else {
        Err(TextError::NotEditable {
            key: "#".to_owned() + &meant.tags.join(", #"),
        })
    }
}

/// A note without the tags at some places; nothing if what follows one of them would begin a block.
fn without(note: &str, ranges: &[Range<usize>]) -> Result<Option<String>, TextError> {
    // Tags with nothing but blanks between them go together.
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

/// Whether what follows a cut would come to stand at the beginning of a line, and mean something else there: a list, a
/// quote, a rule, a fence, a table, HTML.
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

/// A tag with the blanks that would be too many without it.
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
        // What stands before is the indentation.
        return tag.start..tag.end + blanks_after;
    }
    let is_closing = next.is_some_and(|letter| ",.;:!?)".contains(letter));
    if !begins_line && (ends_line || blanks_after > 0 || is_closing) {
        return tag.start - blanks_before..tag.end;
    }
    tag.clone()
}

/// A cut that leaves nothing but blanks of a line takes the line.
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

/// What a reader sees in a note, beside its words.
struct Shape {
    facts: Facts,
}

impl Shape {
    fn of(note: &str) -> Shape {
        Shape { facts: facts(note) }
    }

    /// Whether another note has the same headings, links, blocks, tasks and properties, and the same tags but for so many
    /// of some.
    fn fits(&self, other: &Shape, but: &Meant<'_>, gone: usize) -> bool {
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
                .filter(|tag| !but.has(&tag.tag))
                .map(|tag| tag.tag.clone())
                .collect()
        };
        let meant = |facts: &Facts| {
            let inline = facts.tags.iter().filter(|tag| !tag.property);
            inline.filter(|tag| but.has(&tag.tag)).count()
        };
        meant(one) == meant(other) + gone
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

    fn taken(note: &str) -> String {
        let tags = ["x".to_owned()];
        let meant = Meant {
            tags: &tags,
            nested: true,
        };
        take(note, &meant, Taking::Out).unwrap().text
    }

    #[test]
    fn a_tag_goes_with_its_blank() {
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
            assert_eq!(taken(before), after, "{before:?}");
        }
    }

    #[test]
    fn what_would_be_read_differently_keeps_the_word() {
        for (before, after) in [
            ("text\n- #x", "text\n- x"),
            ("#x # no heading", "x # no heading"),
            ("#x\n===\n", "x\n===\n"),
            ("#x - b #x", "x - b"),
            ("#x #x/y 1. b", "x 1. b"),
            ("- #x > b", "- x > b"),
            ("#x\n---\na: 1\n---\n", "x\n---\na: 1\n---\n"),
        ] {
            assert_eq!(taken(before), after, "{before:?}");
        }
    }

    #[test]
    fn a_renamed_tag_takes_those_below_it_along() {
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
