//! Where words stand in a text.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::words;

/// Words that stand one after the other.
#[derive(Debug, Clone)]
pub(super) struct Phrase {
    /// Folded, with their positions; never empty.
    words: Vec<(usize, String)>,
    last: Last,
}

/// How the last word of a phrase is meant.
#[derive(Debug, Clone, Copy)]
pub(super) enum Last {
    Whole,
    Beginning,
    /// Anywhere in a word.
    Within,
}

impl Phrase {
    /// The words of a text; nothing if there are none in it.
    pub(super) fn of(text: &str, last: Last) -> Option<Phrase> {
        let words = words::asked(text);
        (!words.is_empty()).then_some(Phrase { words, last })
    }

    /// The only word, if there is but one.
    pub(super) fn only_word(&self) -> Option<&str> {
        match self.words.as_slice() {
            [(_, word)] => Some(word),
            _ => None,
        }
    }

    pub(super) fn stands_in(&self, text: &str) -> bool {
        !self.places(text).is_empty()
    }

    /// Where it stands, in order.
    pub(super) fn places(&self, text: &str) -> Vec<Range<usize>> {
        let mut standing: BTreeMap<usize, Vec<(String, Range<usize>)>> = BTreeMap::new();
        words::each(text, |word| {
            let here = standing.entry(word.position).or_default();
            here.push((word.text.to_owned(), word.range.clone()));
        });
        let first = self.words[0].0;
        let beginnings = standing.keys();
        beginnings
            .filter_map(|at| {
                let mut range: Option<Range<usize>> = None;
                for (index, (position, word)) in self.words.iter().enumerate() {
                    let is_last = index + 1 == self.words.len();
                    let here = standing.get(&(at + position - first))?;
                    let (_, place) = here
                        .iter()
                        .find(|(standing, _)| self.is_word(word, standing, is_last))?;
                    range = Some(match range {
                        None => place.clone(),
                        Some(range) => range.start..place.end.max(range.end),
                    });
                }
                range
            })
            .collect()
    }

    fn is_word(&self, wanted: &str, standing: &str, is_last: bool) -> bool {
        match self.last {
            Last::Beginning if is_last => standing.starts_with(wanted),
            Last::Within if is_last => standing.contains(wanted),
            _ => standing == wanted,
        }
    }
}
