//! Ranks actions for a query in a few words. BM25 twice: over the domains, and over the descriptions of the actions,
//! each field with its own weight; words are reduced to stems, and synonyms count too (`synonyms`). Built once per
//! snapshot; independent of tools and snapshots.
//!
//! The weights were tuned on the training needs in `tests/surface/needs.toml`; a test measures them on the others.

use std::collections::HashMap;

use super::synonyms::{Intent, Query, stems, telling_stems};

/// The weights of fields: the action's name, the first sentence of its description, the rest of it, its arguments.
const ACTION: [f32; 4] = [10.0, 2.0, 1.4, 0.2];
/// The same for a domain: its description, and those of its actions.
const DOMAIN: [f32; 2] = [4.2, 0.5];
/// The weight of the domain's name or a synonym of it.
const NAMED: f32 = 3.0;

/// How quickly repeated words saturate.
const SATURATION: f32 = 3.2;
/// How much a long field dilutes its words.
const DILUTION: f32 = 0.15;
/// The weight of the domain's score.
const OF_DOMAIN: f32 = 0.7;
/// The weight of a matching intent: a question for reading actions, an imperative for others.
const INTENT: f32 = 1.5;
/// The part of it if both change something, but only one removes.
const NEARLY: f32 = 0.9;
/// The penalty for a word of an action's name that is not in the query.
const UNSAID: f32 = 0.5;

/// An action as the ranking sees it.
pub(super) struct Entry<'a> {
    pub(super) domain: &'a str,
    /// The description of its domain.
    pub(super) domain_about: &'a str,
    pub(super) action: &'a str,
    /// Its description.
    pub(super) about: &'a str,
    /// Its arguments with their descriptions.
    pub(super) arguments: String,
    /// Its effect.
    pub(super) intent: Intent,
}

/// A searchable index of actions.
pub(super) struct Ranking {
    actions: Vec<Candidate>,
    action_texts: Texts,
    /// The stems of the domains' names.
    domains: Vec<Vec<String>>,
    domain_texts: Texts,
}

struct Candidate {
    /// The stems of its name.
    name: Vec<String>,
    /// The place of its domain.
    domain: usize,
    intent: Intent,
}

impl Ranking {
    /// The actions in their order, which decides between equals; those of a domain stand together.
    pub(super) fn new<'a>(entries: impl Iterator<Item = Entry<'a>>) -> Ranking {
        let mut actions = Vec::new();
        let mut action_texts = Vec::new();
        let mut domains: Vec<Vec<String>> = Vec::new();
        let mut domain_texts: Vec<[Vec<String>; 2]> = Vec::new();
        let mut last = None;
        for entry in entries {
            if last.replace(entry.domain) != Some(entry.domain) {
                domains.push(stems(entry.domain));
                domain_texts.push([telling_stems(entry.domain_about), Vec::new()]);
            }
            // What follows the first paragraph are examples and asides.
            let about = entry.about.lines().next().unwrap_or_default();
            let (first, rest) = about.split_once(". ").unwrap_or((about, ""));
            let name = stems(entry.action);
            let [first, rest, arguments] = [first, rest, &entry.arguments].map(telling_stems);
            if let Some([_, said]) = domain_texts.last_mut() {
                said.extend(name.iter().chain(&first).cloned());
            }
            actions.push(Candidate {
                name: name.clone(),
                domain: domains.len() - 1,
                intent: entry.intent,
            });
            action_texts.push([name, first, rest, arguments]);
        }
        Ranking {
            actions,
            action_texts: Texts::new(&action_texts, ACTION),
            domains,
            domain_texts: Texts::new(&domain_texts, DOMAIN),
        }
    }

    /// The positions of matching actions, the best first.
    pub(super) fn best(&self, words: &str) -> Vec<usize> {
        let wanted = Query::new(words);
        let mut domains = self.domain_texts.scores(&wanted);
        for (score, name) in domains.iter_mut().zip(&self.domains) {
            let surely = name.iter().map(|stem| wanted.says(stem));
            *score += NAMED * surely.fold(1.0, f32::min);
        }
        let mut found = Vec::new();
        let texts = self.action_texts.scores(&wanted);
        for ((at, action), text) in self.actions.iter().enumerate().zip(texts) {
            let fits = text + OF_DOMAIN * domains[action.domain];
            if fits > 0.0 {
                let unsaid: f32 = action.name.iter().map(|stem| 1.0 - wanted.says(stem)).sum();
                let suits = suits(wanted.intent(), action.intent);
                found.push((fits + INTENT * suits - UNSAID * unsaid, at));
            }
        }
        found.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        found.into_iter().map(|(_, at)| at).collect()
    }
}

/// How well an action's effect matches the intent, from 0 to 1.
fn suits(wanted: Intent, action: Intent) -> f32 {
    match (wanted, action) {
        _ if wanted == action => 1.0,
        (Intent::Look, _) | (_, Intent::Look) => 0.0,
        _ => NEARLY,
    }
}

/// A searchable index of texts with several fields.
struct Texts {
    size: usize,
    /// The texts of each stem, with its frequency there.
    postings: HashMap<String, Vec<(usize, f32)>>,
}

impl Texts {
    fn new<const FIELDS: usize>(texts: &[[Vec<String>; FIELDS]], weights: [f32; FIELDS]) -> Texts {
        let mut usual = [0.0; FIELDS];
        for text in texts {
            for (length, field) in usual.iter_mut().zip(text) {
                *length += field.len() as f32 / texts.len() as f32;
            }
        }
        let mut postings: HashMap<String, Vec<(usize, f32)>> = HashMap::new();
        for (at, text) in texts.iter().enumerate() {
            let mut said: HashMap<&str, f32> = HashMap::new();
            for ((field, weight), usual) in text.iter().zip(weights).zip(usual) {
                let length = field.len() as f32 / f32::max(usual, 1.0);
                let once = weight / (1.0 - DILUTION + DILUTION * length);
                for stem in field {
                    *said.entry(stem).or_default() += once;
                }
            }
            for (stem, amount) in said {
                let posting = postings.entry(stem.to_owned()).or_default();
                posting.push((at, amount));
            }
        }
        Texts {
            size: texts.len(),
            postings,
        }
    }

    /// The score of each text.
    fn scores(&self, wanted: &Query) -> Vec<f32> {
        let mut scores = vec![0.0; self.size];
        for variants in wanted.words() {
            let mut best = vec![0.0; self.size];
            for (stem, weight) in variants {
                for (at, amount) in self.postings.get(stem).into_iter().flatten() {
                    best[*at] = f32::max(best[*at], weight * amount / (amount + SATURATION));
                }
            }
            let most = best.iter().copied().fold(0.0, f32::max);
            if most > 0.0 {
                // A word is as rare as all words for the same together; a text that barely has it barely counts.
                let having: f32 = best.iter().map(|best| best / most).sum();
                let rarity = ((self.size as f32 - having + 0.5) / (having + 0.5) + 1.0).ln();
                for (score, best) in scores.iter_mut().zip(best) {
                    *score += rarity * best;
                }
            }
        }
        scores
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry<'a>(domain: &'a str, action: &'a str, about: &'a str, intent: Intent) -> Entry<'a> {
        Entry {
            domain,
            domain_about: domain,
            action,
            about,
            arguments: String::new(),
            intent,
        }
    }

    #[test]
    fn synonyms_find_actions() {
        let entries = [
            entry("garden", "list", "List the plants.", Intent::Look),
            entry("garden", "remove", "Pull a plant out.", Intent::Remove),
            entry("weather", "remove", "Forget a forecast.", Intent::Remove),
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
