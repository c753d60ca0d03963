//! Names that stand in prose without being linked. Found as words are, so case and accents do not matter; a name within
//! a longer word, in code, in a link, in a tag or in an address is no mention: it is one where a link could stand.

use std::collections::HashSet;
use std::ops::Range;

use notehost_sdk::text::{facts, frontmatter, lines, links, tags};
use notehost_sdk::words::{self, Form};

/// What is written to see whether a link can stand in a place.
const PROBE: &str = "[[x]]";

/// A name that stands in a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mention {
    /// Its bytes.
    pub(crate) range: Range<usize>,
    /// The line of the file, from 1.
    pub(crate) line: u32,
    /// The line, cut to what stands around it.
    pub(crate) context: String,
}

/// A note in which names are looked for.
pub(crate) struct Prose<'n> {
    note: &'n str,
    /// Where the frontmatter ends.
    body: usize,
    /// Links and tags.
    taken: Vec<Range<usize>>,
}

impl<'n> Prose<'n> {
    pub(crate) fn of(note: &'n str) -> Prose<'n> {
        let mut taken: Vec<Range<usize>> = tags::tags(note)
            .into_iter()
            .filter_map(|tag| tag.range)
            .collect();
        taken.extend(links::parse(note).into_iter().map(|link| link.range));
        Prose {
            note,
            body: frontmatter::locate(note).map_or(0, |found| found.block.end),
            taken,
        }
    }

    /// Those of some places, in order and apart, at which a name is a mention.
    pub(crate) fn mentions(&self, mut places: Vec<Range<usize>>) -> Vec<Range<usize>> {
        let is_apart = |place: &Range<usize>, taken: &Range<usize>| {
            place.end <= taken.start || taken.end <= place.start
        };
        places.retain(|place| {
            place.start >= self.body
                && self.taken.iter().all(|taken| is_apart(place, taken))
                && !self.is_in_address(place)
                && !self.is_reference(place)
        });
        self.linkable(places)
    }

    /// Those places at which a link would be one: not in code, math, HTML or comments. Asked of the parser itself, with
    /// a link written at every place.
    fn linkable(&self, places: Vec<Range<usize>>) -> Vec<Range<usize>> {
        if places.is_empty() {
            return places;
        }
        let mut probe = String::with_capacity(self.note.len() + PROBE.len() * places.len());
        let mut copied = 0;
        let mut starts = Vec::new();
        for place in &places {
            probe.push_str(&self.note[copied..place.start]);
            starts.push(probe.len());
            probe.push_str(PROBE);
            copied = place.end;
        }
        probe.push_str(&self.note[copied..]);
        let links: HashSet<usize> = links::parse(&probe)
            .into_iter()
            .map(|link| link.range.start)
            .collect();
        let places = places.into_iter().zip(starts);
        let linkable = places.filter(|(_, start)| links.contains(start));
        linkable.map(|(place, _)| place).collect()
    }

    pub(crate) fn mention(&self, range: Range<usize>) -> Mention {
        Mention {
            line: u32::try_from(lines::line_of(self.note, range.start)).unwrap_or(u32::MAX),
            context: facts::context(self.note, &range),
            range,
        }
    }

    /// Every mention of one of some names, in order; the longest at each place.
    pub(crate) fn of_names(&self, names: &[Name]) -> Vec<Mention> {
        let text = &self.note[self.body..];
        let words = cut(text);
        let mut places: Vec<Range<usize>> = Vec::new();
        for start in 0..words.len() {
            let longest = names
                .iter()
                .filter_map(|name| name.at(text, &words[start..]))
                .max_by_key(Range::len);
            let Some(range) = longest else { continue };
            let range = self.body + range.start..self.body + range.end;
            if places.last().is_none_or(|last| last.end <= range.start) {
                places.push(range);
            }
        }
        let mentions = self.mentions(places).into_iter();
        mentions.map(|range| self.mention(range)).collect()
    }

    /// Whether it is part of something like `https://host/Name`.
    fn is_in_address(&self, range: &Range<usize>) -> bool {
        let before = self.note[..range.start]
            .rsplit(char::is_whitespace)
            .next()
            .unwrap_or_default();
        before.contains("://") || before.ends_with('@')
    }

    /// Whether it is the text or the label of `[text][label]`.
    fn is_reference(&self, range: &Range<usize>) -> bool {
        self.note[..range.start].ends_with('[') && self.note[range.end..].starts_with(']')
    }
}

/// A name that is looked for.
pub(crate) struct Name {
    /// Its words, folded.
    words: Vec<String>,
    /// It from its first word to its last, folded.
    core: String,
    /// What stands before and behind, such as the signs of `C++`.
    before: String,
    behind: String,
}

impl Name {
    /// Nothing for a name without words, which could not be told from punctuation.
    pub(crate) fn new(name: &str) -> Option<Name> {
        let words = cut(name);
        let (first, last) = (words.first()?, words.last()?);
        Some(Name {
            core: folded(&name[first.range.start..last.range.end]),
            before: name[..first.range.start].trim_start().to_owned(),
            behind: name[last.range.end..].trim_end().to_owned(),
            words: words.into_iter().map(|word| word.text).collect(),
        })
    }

    /// Where it stands, if it begins with the first of these words.
    fn at(&self, text: &str, words: &[Cut]) -> Option<Range<usize>> {
        let here = words.get(..self.words.len())?;
        if here
            .iter()
            .zip(&self.words)
            .any(|(word, wanted)| word.text != *wanted)
        {
            return None;
        }
        let core = here.first()?.range.start..here.last()?.range.end;
        if folded(&text[core.clone()]) != self.core {
            return None;
        }
        let is_whole = text[..core.start].ends_with(&self.before)
            && text[core.end..].starts_with(&self.behind);
        is_whole.then(|| core.start - self.before.len()..core.end + self.behind.len())
    }
}

/// A word of a text: one that stands by itself, or one letter of a script without spaces.
struct Cut {
    text: String,
    range: Range<usize>,
}

fn cut(text: &str) -> Vec<Cut> {
    let mut words = Vec::new();
    words::for_each_word(text, |word| {
        if matches!(word.form, Form::Whole | Form::Cut | Form::Single) {
            words.push(Cut {
                text: word.text.to_owned(),
                range: word.range,
            });
        }
    });
    words
}

/// A text as words are, with one blank wherever some are.
fn folded(text: &str) -> String {
    let blanks = words::fold(text);
    blanks.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<'n>(note: &'n str, names: &[&str]) -> Vec<&'n str> {
        let names: Vec<Name> = names.iter().filter_map(|name| Name::new(name)).collect();
        Prose::of(note)
            .of_names(&names)
            .into_iter()
            .map(|mention| &note[mention.range])
            .collect()
    }

    #[test]
    fn a_name_is_mentioned_in_prose_and_nowhere_else() {
        let note = "---\na: Big plan\n---\nThe big  Plan, the BIG\nplan, `Big plan`, [[Big plan]], [Big plan](x.md), #Big plan, \
                    https://x/big plan, bigger plan, Big plans, Big. Plan [Big plan][1] (Big plan)\n\n```\nBig plan\n```\n";
        assert_eq!(
            found(note, &["Big plan"]),
            ["big  Plan", "BIG\nplan", "Big plan"]
        );
    }

    #[test]
    fn the_longest_name_counts() {
        assert_eq!(
            found("Plan B and Plan C++, plan", &["Plan", "Plan B", "C++"]),
            ["Plan B", "Plan", "C++", "plan"]
        );
        assert_eq!(found("C and C#", &["C++"]), [""; 0]);
        assert_eq!(found("café Cafe", &["Café"]), ["café", "Cafe"]);
    }

    #[test]
    fn scripts_without_spaces_are_searched_too() {
        assert_eq!(found("今日の計画を見る", &["計画"]), ["計画"]);
        assert_eq!(found("--- and ***", &["---"]), [""; 0]);
    }
}
