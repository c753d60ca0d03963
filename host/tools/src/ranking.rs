//! Ranks actions for a query in a few words: BM25 over the name and the first paragraph of each action's description,
//! on stems, with synonyms (`synonyms`). Independent of tools and snapshots; built once per snapshot.
//!
//! Measured on `tests/surface/needs.toml`, of which `tune` is for tuning and `report` only for measuring; the test
//! `ranking_reaches_its_bar` prints the numbers. Percent of the 139 queries of `report` that are found first, and among
//! the first three:
//!
//! | ranking | first | three |
//! |---|---|---|
//! | as it is | 89.2 | 98.6 |
//! | before: two BM25 with 15 tuned weights, light words, arguments | 89.9 | 98.6 |
//! | plain BM25 without any of the following | 42.4 | 61.2 |
//! | without synonyms | 54.0 | 72.7 |
//! | without phrases | 82.7 | 93.5 |
//! | without stems | 82.0 | 95.0 |
//! | without stop words | 86.3 | 98.6 |
//! | with the arguments' descriptions | 82.0 | 95.7 |
//!
//! Removing single phrases and synonyms that `tune` does not need costs up to 18 points on `report`: they are general
//! words, and no set of queries is large enough to judge each of them.

use std::collections::HashMap;

use crate::synonyms::{Query, stems, without_stop_words};

/// The parameters of BM25, with their usual values.
const K1: f32 = 1.2;
const B: f32 = 0.75;
/// How often the name counts as part of the text. As often as the description: 85.6 and 97.8.
const NAME_COUNT: usize = 8;
/// The bonus for an action whose domain is in the query. Without it: 79.9 and 93.5.
const DOMAIN_BONUS: f32 = 4.0;
/// The bonus for an action that changes something exactly if the query does. Without it: 86.3 and 97.8.
const INTENT_BONUS: f32 = 3.0;
/// The penalty for a word of an action's name that is not in the query. Without it: 86.3 and 98.6.
const MISSING_WORD_PENALTY: f32 = 1.0;

/// An action as the ranking sees it.
pub(crate) struct Entry<'a> {
    pub(crate) domain: &'a str,
    pub(crate) action: &'a str,
    pub(crate) description: &'a str,
    /// Whether it changes something.
    pub(crate) changes: bool,
}

/// A searchable index of actions.
pub(crate) struct Ranking {
    actions: Vec<Candidate>,
    /// For each stem the actions with it, and its weight there: the part of BM25 that does not depend on the query.
    postings: HashMap<String, Vec<(usize, f32)>>,
}

struct Candidate {
    /// The stems of its name.
    name: Vec<String>,
    /// The stems of its domain's name.
    domain: Vec<String>,
    changes: bool,
}

impl Ranking {
    /// Indexes the actions. Their order decides between equal scores.
    pub(crate) fn new<'a>(entries: impl Iterator<Item = Entry<'a>>) -> Ranking {
        let mut actions = Vec::new();
        let mut texts: Vec<Vec<String>> = Vec::new();
        for entry in entries {
            let name = stems(entry.action);
            // The paragraphs after the first one are examples and details.
            let paragraph = entry.description.lines().next().unwrap_or_default();
            let name_part = std::iter::repeat_n(&name, NAME_COUNT).flatten();
            let mut text: Vec<String> = name_part.cloned().collect();
            text.extend(without_stop_words(paragraph));
            texts.push(text);
            actions.push(Candidate {
                name,
                domain: stems(entry.domain),
                changes: entry.changes,
            });
        }
        Ranking {
            actions,
            postings: postings(&texts),
        }
    }

    /// The positions of matching actions, the best first.
    pub(crate) fn best(&self, query: &str) -> Vec<usize> {
        let query = Query::new(query);
        let mut found = Vec::new();
        for (at, text) in self.text_scores(&query).into_iter().enumerate() {
            let action = &self.actions[at];
            let domain = action.domain.iter().map(|stem| query.weight_of(stem));
            let relevance = text + DOMAIN_BONUS * domain.fold(1.0, f32::min);
            if relevance > 0.0 {
                let mut score = relevance;
                if query.is_order() == action.changes {
                    score += INTENT_BONUS;
                }
                let name = action.name.iter();
                let missing: f32 = name.map(|stem| 1.0 - query.weight_of(stem)).sum();
                found.push((score - MISSING_WORD_PENALTY * missing, at));
            }
        }
        found.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        found.into_iter().map(|(_, at)| at).collect()
    }

    /// The BM25 score of each action. A word and its synonyms are one term: the best of them counts.
    fn text_scores(&self, query: &Query) -> Vec<f32> {
        let count = self.actions.len();
        let mut scores = vec![0.0; count];
        for variants in query.terms() {
            let mut best = vec![0.0; count];
            for (stem, weight) in variants {
                for (at, in_text) in self.postings.get(stem).into_iter().flatten() {
                    best[*at] = f32::max(best[*at], weight * in_text);
                }
            }
            let highest = best.iter().copied().fold(0.0, f32::max);
            if highest > 0.0 {
                // An action that has the term weakly counts as a part of one that has it. Counted in full: 84.9 and 97.8.
                let having: f32 = best.iter().map(|best| best / highest).sum();
                let rarity = ((count as f32 - having + 0.5) / (having + 0.5) + 1.0).ln();
                for (score, best) in scores.iter_mut().zip(best) {
                    *score += rarity * best;
                }
            }
        }
        scores
    }
}

fn postings(texts: &[Vec<String>]) -> HashMap<String, Vec<(usize, f32)>> {
    let words: usize = texts.iter().map(Vec::len).sum();
    let average_length = words as f32 / texts.len().max(1) as f32;
    let mut postings: HashMap<String, Vec<(usize, f32)>> = HashMap::new();
    for (at, text) in texts.iter().enumerate() {
        let mut counts: HashMap<&str, f32> = HashMap::new();
        for stem in text {
            *counts.entry(stem).or_default() += 1.0;
        }
        let dilution = K1 * (1.0 - B + B * text.len() as f32 / average_length);
        for (stem, count) in counts {
            let weight = count * (K1 + 1.0) / (count + dilution);
            let posting = postings.entry(stem.to_owned()).or_default();
            posting.push((at, weight));
        }
    }
    postings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry<'a>(domain: &'a str, action: &'a str, about: &'a str, changes: bool) -> Entry<'a> {
        Entry {
            domain,
            action,
            description: about,
            changes,
        }
    }

    #[test]
    fn synonyms_find_actions() {
        let entries = [
            entry("garden", "list", "List the plants.", false),
            entry("garden", "remove", "Pull a plant out.", true),
            entry("weather", "remove", "Forget a forecast.", true),
        ];
        let ranking = Ranking::new(entries.into_iter());
        assert_eq!(ranking.best("which plants are there")[0], 0);
        assert_eq!(ranking.best("delete a plant in the garden")[0], 1);
        assert_eq!(ranking.best("get rid of forecasts")[0], 2);
        assert!(ranking.best("qqq").is_empty() && ranking.best("").is_empty());
    }

    #[test]
    fn empty_queries_and_indexes_return_nothing() {
        assert!(Ranking::new(std::iter::empty()).best("note").is_empty());
    }
}
