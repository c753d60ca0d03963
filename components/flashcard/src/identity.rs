//! Matches stored records to the current cards of a note, so that a card keeps its history when its wording changes,
//! its note is renamed, or it moves to another note.

use std::collections::{HashMap, HashSet};

use notehost_sdk::fold_name;

use crate::records::Record;

/// Maximum stored length of a question, in characters.
const MAX_FRONT_CHARS: usize = 240;
/// Minimum similarity of two questions to be the same card, 0 to 1.
const MIN_SIMILARITY: f32 = 0.55;
/// Minimum similarity if the answers are equal.
const MIN_SIMILARITY_SAME_ANSWER: f32 = 0.3;
/// Maximum number of pairs compared by similarity: more cards are not reworded at once.
const MAX_PAIRS: usize = 40_000;

/// The traits that identify a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Traits {
    /// Its id if no record matches.
    pub(crate) id: String,
    pub(crate) front: String,
    pub(crate) back: String,
    pub(crate) block: Option<String>,
    pub(crate) sibling: usize,
}

impl Traits {
    /// The traits of a card with these texts.
    pub(crate) fn of(front: &str, back: &str, block: Option<&String>, sibling: usize) -> Traits {
        Traits {
            id: String::new(),
            front: words(front).chars().take(MAX_FRONT_CHARS).collect(),
            back: hash(&words(back)),
            block: block.cloned(),
            sibling,
        }
    }
}

/// Normalises a text: removes markup, punctuation and extra spaces.
fn words(text: &str) -> String {
    let mut kept = String::with_capacity(text.len().min(4 * MAX_FRONT_CHARS));
    for letter in fold_name(text).chars() {
        if letter.is_alphanumeric() || !letter.is_ascii() && !letter.is_whitespace() {
            kept.push(letter);
        } else if !kept.is_empty() && !kept.ends_with(' ') {
            kept.push(' ');
        }
    }
    match kept.trim() {
        // A question may consist of punctuation only, such as `+=`.
        "" => text.trim().to_owned(),
        trimmed => trimmed.to_owned(),
    }
}

/// The hash of a text, eight hex digits.
fn hash(text: &str) -> String {
    let digest = blake3::hash(text.as_bytes());
    digest.as_bytes()[..4]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// For each card, the index of its record.
pub(crate) fn matched(cards: &[Traits], records: &[Record]) -> Vec<Option<usize>> {
    let mut matching = Matching {
        cards,
        records,
        of_card: vec![None; cards.len()],
        taken: vec![false; records.len()],
    };
    // Equal cards are distinguished by their ids, which depend on their order.
    let id_and_front = |id: &str, front: &str| Some(format!("{id}\0{front}"));
    matching.match_by(
        |card| id_and_front(&card.id, &card.front),
        |record| id_and_front(&record.id, &record.front),
    );
    let block_and_front =
        |block: Option<&String>, front: &str| block.map(|block| format!("{block}\0{front}"));
    matching.match_by(
        |card| block_and_front(card.block.as_ref(), &card.front),
        |record| block_and_front(record.block.as_ref(), &record.front),
    );
    // The siblings of a cloze have different questions, so the question identifies them even if others are inserted.
    matching.match_by(
        |card| Some(format!("{}\0{}", card.front, card.back)),
        |record| Some(format!("{}\0{}", record.front, record.back)),
    );
    matching.match_by(
        |card| Some(card.front.clone()),
        |record| Some(record.front.clone()),
    );
    let block_and_sibling =
        |block: Option<&String>, sibling: usize| block.map(|block| format!("{block}\0{sibling}"));
    matching.match_by(
        |card| block_and_sibling(card.block.as_ref(), card.sibling),
        |record| block_and_sibling(record.block.as_ref(), record.sibling),
    );
    matching.match_by_similarity();
    matching.of_card
}

struct Matching<'a> {
    cards: &'a [Traits],
    records: &'a [Record],
    of_card: Vec<Option<usize>>,
    taken: Vec<bool>,
}

impl Matching<'_> {
    fn match_by(
        &mut self,
        of_card: impl Fn(&Traits) -> Option<String>,
        of_record: impl Fn(&Record) -> Option<String>,
    ) {
        let mut free: HashMap<String, Vec<usize>> = HashMap::new();
        for at in (0..self.records.len()).rev().filter(|at| !self.taken[*at]) {
            if let Some(key) = of_record(&self.records[at]) {
                free.entry(key).or_default().push(at);
            }
        }
        for at in 0..self.cards.len() {
            if self.of_card[at].is_none()
                && let Some(key) = of_card(&self.cards[at])
                && let Some(record) = free.get_mut(&key).and_then(Vec::pop)
            {
                self.of_card[at] = Some(record);
                self.taken[record] = true;
            }
        }
    }

    /// Matches the remaining pairs, the most similar first.
    fn match_by_similarity(&mut self) {
        let cards: Vec<usize> = (0..self.cards.len())
            .filter(|at| self.of_card[*at].is_none())
            .collect();
        let records: Vec<usize> = (0..self.records.len())
            .filter(|at| !self.taken[*at])
            .collect();
        if cards.len().saturating_mul(records.len()) > MAX_PAIRS {
            return;
        }
        let of_records: Vec<HashSet<[char; 3]>> = records
            .iter()
            .map(|at| trigrams(&self.records[*at].front))
            .collect();
        let mut pairs: Vec<(f32, usize, usize)> = Vec::new();
        for &card in &cards {
            let own = trigrams(&self.cards[card].front);
            for (&record, other) in records.iter().zip(&of_records) {
                let kept = &self.records[record];
                let needed = if kept.back == self.cards[card].back {
                    MIN_SIMILARITY_SAME_ANSWER
                } else {
                    MIN_SIMILARITY
                };
                let score = similarity(&own, other);
                if kept.sibling == self.cards[card].sibling && score >= needed {
                    pairs.push((score, card, record));
                }
            }
        }
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
        for (_, card, record) in pairs {
            if self.of_card[card].is_none() && !self.taken[record] {
                self.of_card[card] = Some(record);
                self.taken[record] = true;
            }
        }
    }
}

fn trigrams(text: &str) -> HashSet<[char; 3]> {
    let letters: Vec<char> = [' ', ' ']
        .into_iter()
        .chain(text.chars())
        .chain([' '])
        .collect();
    letters
        .windows(3)
        .map(|part| [part[0], part[1], part[2]])
        .collect()
}

/// The Dice coefficient of two sets of trigrams.
fn similarity(one: &HashSet<[char; 3]>, other: &HashSet<[char; 3]>) -> f32 {
    let common = one.intersection(other).count();
    2.0 * common as f32 / (one.len() + other.len()).max(1) as f32
}

/// Assigns ids derived from the texts of the cards; equal cards get different ids by order.
pub(crate) fn assign_ids(path: &str, cards: &mut [Traits]) {
    let mut copies: HashMap<(String, usize), usize> = HashMap::new();
    for card in cards {
        let copy = copies
            .entry((card.front.clone(), card.sibling))
            .or_default();
        card.id = hash(&format!("{path}\0{}\0{}\0{copy}", card.front, card.sibling));
        *copy += 1;
    }
}

/// The unique ids of the cards of a note: from the record, else their own.
pub(crate) fn ids(cards: &[Traits], records: &[Option<Record>]) -> Vec<String> {
    let mut taken: HashSet<String> = records
        .iter()
        .flatten()
        .map(|record| record.id.clone())
        .collect();
    let mut of = |(card, record): (&Traits, &Option<Record>)| {
        let mut id = match record {
            Some(record) => return record.id.clone(),
            None => card.id.clone(),
        };
        while !taken.insert(id.clone()) {
            id = hash(&id);
        }
        id
    };
    cards.iter().zip(records).map(&mut of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traits(front: &str, back: &str) -> Traits {
        Traits::of(front, back, None, 0)
    }

    fn record(front: &str, back: &str) -> Record {
        let traits = traits(front, back);
        Record {
            front: traits.front,
            back: traits.back,
            ..Record::default()
        }
    }

    #[test]
    fn reworded_cards_keep_their_record() {
        let records = [
            record("What is the capital of France?", "Paris"),
            record("What is the capital of Spain?", "Madrid"),
        ];
        let cards = [
            traits("The capital of Spain is what?", "Madrid"),
            traits("What is the **capital** of france", "Paris (since 508)"),
            traits("Who wrote Faust?", "Goethe"),
        ];
        assert_eq!(matched(&cards, &records), [Some(1), Some(0), None]);
    }

    #[test]
    fn equal_answers_alone_do_not_match() {
        let records = [record("Is water wet?", "yes")];
        assert_eq!(
            matched(&[traits("Do penguins fly north?", "yes")], &records),
            [None]
        );
    }

    #[test]
    fn a_block_id_identifies_a_reworded_card() {
        let anchored = |front: &str| Traits::of(front, "x", Some(&"q1".to_owned()), 0);
        let before = anchored("Old words");
        let records = [Record {
            front: before.front,
            back: before.back,
            block: before.block,
            ..Record::default()
        }];
        assert_eq!(matched(&[anchored("Nothing like it")], &records), [Some(0)]);
    }

    #[test]
    fn equal_cards_have_different_ids() {
        let mut cards = [traits("a", "b"), traits("a", "b")];
        assign_ids("n.md", &mut cards);
        let ids = ids(&cards, &[None, None]);
        assert_ne!(ids[0], ids[1]);
        let second = Record {
            id: ids[1].clone(),
            ..record("a", "b")
        };
        assert_eq!(matched(&cards, &[second]), [None, Some(0)]);
        assert_eq!(words("++"), "++");
    }
}
