//! Finds phrases in a text.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::words;

/// A sequence of words.
#[derive(Debug, Clone)]
pub(super) struct Phrase {
    /// Folded, with their positions; never empty.
    words: Vec<(usize, String)>,
    last: Last,
}

/// How the last word of a phrase matches.
#[derive(Debug, Clone, Copy)]
pub(super) enum Last {
    Whole,
    Beginning,
    /// Anywhere in a word.
    Within,
}

impl Phrase {
    /// The phrase of a text; `None` if it has no words.
    pub(super) fn of(text: &str, last: Last) -> Option<Phrase> {
        let words = words::query_terms(text);
        (!words.is_empty()).then_some(Phrase { words, last })
    }

    /// The word, if there is only one.
    pub(super) fn only_word(&self) -> Option<&str> {
        match self.words.as_slice() {
            [(_, word)] => Some(word),
            _ => None,
        }
    }

    pub(super) fn occurs_in(&self, text: &str) -> bool {
        !self.places(text).is_empty()
    }

    /// Its occurrences, in order.
    pub(super) fn places(&self, text: &str) -> Vec<Range<usize>> {
        let mut actual: BTreeMap<usize, Vec<(String, Range<usize>)>> = BTreeMap::new();
        words::for_each_word(text, |word| {
            let here = actual.entry(word.position).or_default();
            here.push((word.text.to_owned(), word.range.clone()));
        });
        let first = self.words[0].0;
        let beginnings = actual.keys();
        beginnings
            .filter_map(|at| {
                let mut range: Option<Range<usize>> = None;
                for (index, (position, word)) in self.words.iter().enumerate() {
                    let is_last = index + 1 == self.words.len();
                    let here = actual.get(&(at + position - first))?;
                    let (_, place) = here
                        .iter()
                        .find(|(actual, _)| self.is_word(word, actual, is_last))?;
                    range = Some(match range {
                        None => place.clone(),
                        Some(range) => range.start..place.end.max(range.end),
                    });
                }
                range
            })
            .collect()
    }

    fn is_word(&self, expected: &str, actual: &str, is_last: bool) -> bool {
        match self.last {
            Last::Beginning if is_last => actual.starts_with(expected),
            Last::Within if is_last => actual.contains(expected),
            _ => actual == expected,
        }
    }
}
