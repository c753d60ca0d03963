//! Unlinked mentions of names in prose. Matching is by words and ignores case and accents. A name inside a longer word,
//! code, a link, a tag or a URL is not a mention: only places where a link could be written count.

use std::collections::HashSet;
use std::ops::Range;

use notehost_sdk::text::{facts, frontmatter, lines, links, tags};
use notehost_sdk::words::{self, Form};

/// Inserted to test whether a link is parsed at a position.
const PROBE: &str = "[[x]]";

/// A mention of a name in a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mention {
    /// Its byte range.
    pub(crate) range: Range<usize>,
    /// The line of the file, from 1.
    pub(crate) line: u32,
    /// The line, truncated around the mention.
    pub(crate) context: String,
}

/// A note that is searched for names.
pub(crate) struct Prose<'n> {
    note: &'n str,
    /// The end of the frontmatter.
    body: usize,
    /// The ranges of links and tags.
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

    /// The ranges at which a name is a mention. `places` are sorted and do not overlap.
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

    /// The ranges where a link would be parsed as a link: not in code, math, HTML or comments. Decided by the parser
    /// itself, with a link inserted at every range.
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

    /// All mentions of the names, in order; the longest match at each position.
    pub(crate) fn of_names(&self, names: &[Name]) -> Vec<Mention> {
        let text = &self.note[self.body..];
        let words = split_words(text);
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

    /// Whether it is part of a URL such as `https://host/Name` or an email address.
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

/// A name to search for.
pub(crate) struct Name {
    /// The folded words.
    words: Vec<String>,
    /// The name from its first to its last word, folded.
    core: String,
    /// The punctuation before and after the words, as in `C++`.
    before: String,
    after: String,
}

impl Name {
    /// `None` for a name without words: it would match punctuation.
    pub(crate) fn new(name: &str) -> Option<Name> {
        let words = split_words(name);
        let (first, last) = (words.first()?, words.last()?);
        Some(Name {
            core: folded(&name[first.range.start..last.range.end]),
            before: name[..first.range.start].trim_start().to_owned(),
            after: name[last.range.end..].trim_end().to_owned(),
            words: words.into_iter().map(|word| word.text).collect(),
        })
    }

    /// The range of the name, if it starts at the first of these words.
    fn at(&self, text: &str, words: &[Word]) -> Option<Range<usize>> {
        let here = words.get(..self.words.len())?;
        if here
            .iter()
            .zip(&self.words)
            .any(|(word, expected)| word.text != *expected)
        {
            return None;
        }
        let core = here.first()?.range.start..here.last()?.range.end;
        if folded(&text[core.clone()]) != self.core {
            return None;
        }
        let is_whole =
            text[..core.start].ends_with(&self.before) && text[core.end..].starts_with(&self.after);
        is_whole.then(|| core.start - self.before.len()..core.end + self.after.len())
    }
}

/// A word of a text, or one letter of a script without spaces.
struct Word {
    text: String,
    range: Range<usize>,
}

fn split_words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    words::for_each_word(text, |word| {
        if matches!(word.form, Form::Whole | Form::Cut | Form::Single) {
            words.push(Word {
                text: word.text.to_owned(),
                range: word.range,
            });
        }
    });
    words
}

/// Folds a text and collapses whitespace.
fn folded(text: &str) -> String {
    let folded = words::fold(text);
    folded.split_whitespace().collect::<Vec<_>>().join(" ")
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
    fn mentions_are_found_only_in_prose() {
        let note = "---\na: Big plan\n---\nThe big  Plan, the BIG\nplan, `Big plan`, [[Big plan]], [Big plan](x.md), #Big plan, \
                    https://x/big plan, bigger plan, Big plans, Big. Plan [Big plan][1] (Big plan)\n\n```\nBig plan\n```\n";
        assert_eq!(
            found(note, &["Big plan"]),
            ["big  Plan", "BIG\nplan", "Big plan"]
        );
    }

    #[test]
    fn the_longest_name_wins() {
        assert_eq!(
            found("Plan B and Plan C++, plan", &["Plan", "Plan B", "C++"]),
            ["Plan B", "Plan", "C++", "plan"]
        );
        assert_eq!(found("C and C#", &["C++"]), [""; 0]);
        assert_eq!(found("café Cafe", &["Café"]), ["café", "Cafe"]);
    }

    #[test]
    fn names_are_found_in_scripts_without_spaces() {
        assert_eq!(found("今日の計画を見る", &["計画"]), ["計画"]);
        assert_eq!(found("--- and ***", &["---"]), [""; 0]);
    }
}
