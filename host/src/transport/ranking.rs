//! Which action somebody means who says in a few words what they want. BM25 twice: over the domains, and over what the
//! actions say of themselves, each field with a weight of its own; words are reduced to their stems, and other words for
//! the same count too. Made once for a snapshot; knows nothing of tools or snapshots itself.

use std::collections::HashMap;

use super::synonyms::{self, Intent, Wanted};

/// What is known of an action.
pub(super) struct Entry<'a> {
    pub(super) domain: &'a str,
    /// What the domain says of itself.
    pub(super) domain_about: &'a str,
    pub(super) action: &'a str,
    /// What the action says of itself.
    pub(super) about: &'a str,
    /// The names of its arguments.
    pub(super) arguments: String,
    /// What it may do.
    pub(super) intent: Intent,
}

/// How much a word counts: in the action's name, in the first sentence about it, in the rest of what is said about it, in
/// the names of its arguments.
const ACTION: [f32; 4] = [12.0, 2.1, 1.0, 0.2];
/// The same for a domain: in what it says of itself, in what its actions say.
const DOMAIN: [f32; 2] = [4.2, 0.5];
/// What it counts that the domain's name was said, or another word for it.
const NAMED: f32 = 2.9;

/// How soon a word that is said again counts no more.
const SATURATION: f32 = 3.0;
/// How much a long field dilutes its words.
const DILUTION: f32 = 0.2;
/// What it counts that the domain fits.
const OF_DOMAIN: f32 = 0.7;
/// What it counts that a question leads to an action that only looks, and an order to one that does something.
const INTENT: f32 = 1.75;
/// What of that it counts that both change something, one by doing away with it.
const NEARLY: f32 = 1.0;
/// What is lost for a word of an action's name that was not said.
const UNSAID: f32 = 0.5;

/// The actions, made ready to be searched.
pub(super) struct Ranking {
    actions: Texts,
    domains: Texts,
    action_names: Vec<Vec<String>>,
    /// The stems of the domains' names.
    names: Vec<Vec<String>>,
    /// For each action the place of its domain, and what it may do.
    facts: Vec<(usize, Intent)>,
}

impl Ranking {
    /// The actions in their order, which decides between equals; those of a domain stand together.
    pub(super) fn new<'a>(entries: impl Iterator<Item = Entry<'a>>) -> Ranking {
        let mut actions = Vec::new();
        let mut domains: Vec<(&str, [Vec<String>; 2])> = Vec::new();
        let mut facts = Vec::new();
        for entry in entries {
            let (first, rest) = entry.about.split_once(". ").unwrap_or((entry.about, ""));
            let [first, rest, arguments] =
                [first, rest, &entry.arguments].map(synonyms::telling_stems);
            let fields = [synonyms::stems(entry.action), first, rest, arguments];
            if domains.last().is_none_or(|(name, _)| *name != entry.domain) {
                let about = synonyms::telling_stems(entry.domain_about);
                domains.push((entry.domain, [about, Vec::new()]));
            }
            if let Some((_, domain)) = domains.last_mut() {
                domain[1].extend(fields[..2].concat());
            }
            facts.push((domains.len() - 1, entry.intent));
            actions.push(fields);
        }
        let names = domains.iter().map(|(name, _)| synonyms::stems(name));
        let names = names.collect();
        let domains: Vec<_> = domains.into_iter().map(|(_, fields)| fields).collect();
        Ranking {
            names,
            action_names: actions
                .iter()
                .map(|a: &[Vec<String>; 4]| a[0].clone())
                .collect(),
            actions: Texts::new(&actions, ACTION),
            domains: Texts::new(&domains, DOMAIN),
            facts,
        }
    }

    /// The actions that fit these words, by their place in the order that was given, the best first.
    pub(super) fn best(&self, words: &str) -> Vec<usize> {
        let wanted = Wanted::new(words);
        let mut domains = self.domains.scores(&wanted);
        for (score, name) in domains.iter_mut().zip(&self.names) {
            *score += NAMED * wanted.naming(name);
        }
        let mut scores = self.actions.scores(&wanted);
        for (at, (score, (domain, intent))) in scores.iter_mut().zip(&self.facts).enumerate() {
            *score += OF_DOMAIN * domains[*domain];
            *score -= UNSAID
                * self.action_names[at]
                    .iter()
                    .map(|name| 1.0 - wanted.naming(std::slice::from_ref(name)))
                    .sum::<f32>();
            if *score > 0.0 {
                *score += match (wanted.intent(), intent) {
                    (wanted, intent) if wanted == *intent => INTENT,
                    (Intent::Look, _) | (_, Intent::Look) => 0.0,
                    _ => INTENT * NEARLY,
                };
            }
        }
        let mut found: Vec<usize> = (0..scores.len()).filter(|at| scores[*at] > 0.0).collect();
        found.sort_by(|one, other| scores[*other].total_cmp(&scores[*one]));
        found
    }
}

/// Texts of several fields, made ready to be searched.
struct Texts {
    size: usize,
    /// For each stem the texts that have it, with how much it is said there.
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

    /// How well each text fits.
    fn scores(&self, wanted: &Wanted) -> Vec<f32> {
        let mut scores = vec![0.0; self.size];
        for variants in wanted.words() {
            // What says the same in another word is as common as all these words together.
            let mut best = vec![0.0; self.size];
            for (stem, weight) in variants {
                for (at, amount) in self.postings.get(stem).into_iter().flatten() {
                    best[*at] = f32::max(best[*at], weight * amount / (amount + SATURATION));
                }
            }
            let most = best.iter().copied().fold(0.0, f32::max);
            if most == 0.0 {
                continue;
            }
            let having = best.iter().map(|best| best / most).sum();
            let rarity = self.rarity(having);
            for (score, best) in scores.iter_mut().zip(best) {
                *score += rarity * best;
            }
        }
        scores
    }

    fn rarity(&self, having: f32) -> f32 {
        let all = self.size as f32;
        ((all - having + 0.5) / (having + 0.5) + 1.0).ln()
    }
}
