//! Evaluates conditions on notes, and computes scores.

use std::collections::{BTreeMap, BTreeSet};

use super::glob::Glob;
use super::links::is_under;
use super::phrase::{Last, Phrase};
use super::scan::{Scan, Scanned};
use super::snippet;
use crate::index::{Condition, Has, Part, Snippet, Span};
use crate::{Error, Result, fold_name, words};

/// The number of distinctive words of a text in a similarity query.
const MAX_DISTINCTIVE_WORDS: usize = 24;

/// A condition whose words have been looked up in all notes.
pub(super) struct Prepared<'a> {
    scan: &'a Scan,
    /// The conditions on words in it.
    leaves: Vec<Leaf<'a>>,
    /// The mean size of notes, for scores.
    mean_size: f64,
}

struct Leaf<'a> {
    condition: &'a Condition,
    /// The note must contain one of them.
    phrases: Vec<Phrase>,
    /// The rarity (IDF) of each phrase.
    rarities: Vec<f64>,
    part: Option<Part>,
    /// Whether it is under a `Not`.
    is_negated: bool,
    /// The word, if no note contains it as a whole.
    widened: Option<String>,
}

impl<'a> Prepared<'a> {
    pub(super) fn of(scan: &'a Scan, condition: &'a Condition) -> Result<Prepared<'a>> {
        let size: u64 = scan.notes.iter().map(|note| note.size).sum();
        let mut prepared = Prepared {
            scan,
            leaves: Vec::new(),
            mean_size: (size as f64 / scan.notes.len().max(1) as f64).max(1.0),
        };
        prepared.look_up(condition, false)?;
        Ok(prepared)
    }

    /// Whether it has words that are not negated.
    pub(super) fn has_words(&self) -> bool {
        self.leaves.iter().any(|leaf| !leaf.is_negated)
    }

    pub(super) fn fits(&self, note: &Scanned, condition: &Condition) -> bool {
        match condition {
            Condition::All(all) => all.iter().all(|one| self.fits(note, one)),
            Condition::Any(any) => any.iter().any(|one| self.fits(note, one)),
            Condition::Not(other) => !self.fits(note, other),
            Condition::Words(_) | Condition::Prefix(_) | Condition::Like(_) => {
                let mut leaves = self.leaves.iter();
                leaves
                    .find(|leaf| leaf.condition == condition)
                    .is_some_and(|leaf| leaf.fits(note))
            }
            Condition::Under(folder) => is_under(&note.path, folder),
            Condition::Path(glob) => {
                Glob::parse(&fold_name(glob)).is_ok_and(|glob| glob.fits(&fold_name(&note.path)))
            }
            Condition::Tag(tag) => {
                let wanted = fold_name(tag);
                let mut tags = note.facts.tags.iter().map(|tag| fold_name(&tag.tag));
                tags.any(|tag| {
                    let rest = tag.strip_prefix(&wanted);
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                })
            }
            Condition::Property(test) => test.holds(Some(&note.facts.properties)),
            Condition::Modified(span) => is_within(note.modified, span),
            Condition::Size(span) => is_within(note.size, span),
            Condition::LinksTo(path) => note.path != *path && note.links_to(path).next().is_some(),
            Condition::LinkedFrom(path) => {
                let source = self
                    .scan
                    .note(path)
                    .filter(|source| source.path != note.path);
                source.is_some_and(|source| source.links_to(&note.path).next().is_some())
            }
            Condition::Has(what) => self.has(note, *what),
        }
    }

    /// The BM25 score of a note; words in names and headings have a higher weight.
    pub(super) fn score(&self, note: &Scanned) -> Option<f64> {
        let scores: Vec<f64> = self
            .phrases()
            .map(|(phrase, rarity, part)| rarity * self.frequency(note, phrase, part))
            .collect();
        self.has_words().then(|| scores.iter().sum())
    }

    /// The lines that contain the most words, best first.
    pub(super) fn snippets(&self, note: &Scanned, limit: usize) -> Vec<Snippet> {
        let mut lines: BTreeMap<u32, (BTreeSet<usize>, Snippet)> = BTreeMap::new();
        for (number, (phrase, _, part)) in self.phrases().enumerate() {
            for place in phrase.places(&note.text) {
                let snippet = snippet(note, &place);
                let mut headings = note.facts.headings.iter();
                let is_there = match part {
                    None | Some(Part::Text) => true,
                    Some(Part::Headings) => headings.any(|heading| heading.line == snippet.line),
                    Some(Part::Name) => false,
                };
                if is_there {
                    let line = lines
                        .entry(snippet.line)
                        .or_insert_with(|| (BTreeSet::new(), snippet));
                    line.0.insert(number);
                }
            }
        }
        let mut lines: Vec<_> = lines.into_values().collect();
        lines.sort_by_key(|(phrases, _)| std::cmp::Reverse(phrases.len()));
        lines
            .into_iter()
            .take(limit)
            .map(|(_, snippet)| snippet)
            .collect()
    }

    pub(super) fn widened(&self) -> Vec<String> {
        let mut widened: Vec<String> = Vec::new();
        for word in self.leaves.iter().filter_map(|leaf| leaf.widened.as_ref()) {
            if !widened.contains(word) {
                widened.push(word.clone());
            }
        }
        widened
    }

    /// The phrases that are not negated, with their rarity and part.
    fn phrases(&self) -> impl Iterator<Item = (&Phrase, f64, Option<Part>)> {
        let leaves = self.leaves.iter().filter(|leaf| !leaf.is_negated);
        leaves.flat_map(|leaf| {
            let phrases = leaf.phrases.iter().zip(&leaf.rarities);
            phrases.map(|(phrase, rarity)| (phrase, *rarity, leaf.part))
        })
    }

    fn look_up(&mut self, condition: &'a Condition, is_negated: bool) -> Result<()> {
        let mut leaf = Leaf {
            condition,
            phrases: Vec::new(),
            rarities: Vec::new(),
            part: None,
            is_negated,
            widened: None,
        };
        match condition {
            Condition::All(inner) | Condition::Any(inner) => {
                for condition in inner {
                    self.look_up(condition, is_negated)?;
                }
                return Ok(());
            }
            Condition::Not(inner) => return self.look_up(inner, !is_negated),
            Condition::Words(words) => {
                leaf.part = words.part;
                leaf.phrases.extend(Phrase::of(&words.text, Last::Whole));
                let mut notes = self.scan.notes.iter();
                if let [phrase] = leaf.phrases.as_slice()
                    && let Some(word) = phrase.only_word()
                    && !notes.any(|note| leaf.fits(note))
                {
                    let word = word.to_owned();
                    leaf.phrases = Phrase::of(&words.text, Last::Within).into_iter().collect();
                    let mut notes = self.scan.notes.iter();
                    leaf.widened = notes.any(|note| leaf.fits(note)).then_some(word);
                }
            }
            Condition::Prefix(words) => {
                leaf.part = words.part;
                leaf.phrases
                    .extend(Phrase::of(&words.text, Last::Beginning));
            }
            Condition::Like(text) => leaf.phrases = self.distinctive(text),
            Condition::Path(glob) => {
                if let Err(reason) = Glob::parse(&fold_name(glob)) {
                    return Err(Error::validation(format!(
                        "`{glob}` is not a glob: {reason}"
                    )));
                }
                return Ok(());
            }
            _ => return Ok(()),
        }
        let rarity = |phrase| self.rarity(phrase, leaf.part).unwrap_or(0.0);
        leaf.rarities = leaf.phrases.iter().map(rarity).collect();
        self.leaves.push(leaf);
        Ok(())
    }

    /// The most distinctive words of a text: frequent in it, rare in other notes.
    fn distinctive(&self, text: &str) -> Vec<Phrase> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for (_, word) in words::query_terms(text) {
            *counts.entry(word).or_default() += 1;
        }
        let mut weighed: Vec<(f64, Phrase)> = counts
            .into_iter()
            .filter_map(|(word, count)| {
                let phrase = Phrase::of(&word, Last::Whole)?;
                let rarity = self.rarity(&phrase, None)?;
                Some((count as f64 * rarity, phrase))
            })
            .collect();
        weighed.sort_by(|one, other| other.0.total_cmp(&one.0));
        weighed.truncate(MAX_DISTINCTIVE_WORDS);
        weighed.into_iter().map(|(_, phrase)| phrase).collect()
    }

    /// The rarity (IDF) of a phrase; `None` if no note has it.
    fn rarity(&self, phrase: &Phrase, part: Option<Part>) -> Option<f64> {
        let all = self.scan.notes.len() as f64;
        let having = |note: &&Scanned| parts(note, part).any(|(text, _)| phrase.occurs_in(text));
        let having = self.scan.notes.iter().filter(having).count() as f64;
        (having > 0.0).then(|| (1.0 + (all - having + 0.5) / (having + 0.5)).ln())
    }

    /// The saturated, length-normalized frequency of a phrase in a note.
    fn frequency(&self, note: &Scanned, phrase: &Phrase, part: Option<Part>) -> f64 {
        const SATURATION: f64 = 1.2;
        const LENGTH: f64 = 0.75;
        let count: f64 = parts(note, part)
            .map(|(text, weight)| weight * phrase.places(text).len() as f64)
            .sum();
        let length = 1.0 - LENGTH + LENGTH * note.size as f64 / self.mean_size;
        count * (SATURATION + 1.0) / (count + SATURATION * length)
    }

    fn has(&self, note: &Scanned, what: Has) -> bool {
        let facts = &note.facts;
        let mut links = note.links.iter();
        match what {
            Has::Tags => !facts.tags.is_empty(),
            Has::Properties => !facts.properties.is_empty(),
            Has::Aliases => !facts.aliases.is_empty(),
            Has::Headings => !facts.headings.is_empty(),
            Has::Links => links.any(|link| !link.external && !link.target.is_empty()),
            Has::BrokenLinks => note.broken_links().next().is_some(),
            Has::Backlinks => self.scan.degree(note).incoming > 0,
            Has::Embeds => links.any(|link| link.kind.is_embed()),
            Has::Blocks => !facts.blocks.is_empty(),
            Has::Tasks => !facts.tasks.is_empty(),
            Has::OpenTasks => facts.tasks.iter().any(|task| task.status == ' '),
        }
    }
}

impl Leaf<'_> {
    fn fits(&self, note: &Scanned) -> bool {
        let mut phrases = self.phrases.iter();
        phrases.any(|phrase| parts(note, self.part).any(|(text, _)| phrase.occurs_in(text)))
    }
}

/// The texts of a part of a note, and the weight of words in them.
fn parts(note: &Scanned, part: Option<Part>) -> impl Iterator<Item = (&str, f64)> {
    let names = note.names().map(|name| (Part::Name, name, 3.0));
    let headings = note.facts.headings.iter();
    let headings = headings.map(|heading| (Part::Headings, heading.text.as_str(), 2.0));
    names
        .chain(headings)
        .chain([(Part::Text, note.text.as_str(), 1.0)])
        .filter(move |(of, ..)| part.is_none_or(|part| part == *of))
        .map(|(_, text, weight)| (text, weight))
}

fn is_within(number: u64, span: &Span) -> bool {
    span.from.is_none_or(|from| number >= from) && span.to.is_none_or(|to| number < to)
}
