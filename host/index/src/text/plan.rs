//! Turns a query tree into a search plan: words, their weights for this caller, and the parts of a note in which they
//! count.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use notehost_sdk::index::Part;
use notehost_sdk::words::{self, Form};
use tantivy::postings::TermInfo;

use super::listed::{Listed, PhraseStarts, Sums};
use super::schema::{PARTS, place};
use super::weight::{Corpus, Weight};
use super::{Bitmap, SearchResult, Tree};

/// How many words represent the text of a `like` query, and how many candidates are considered.
const MAX_LIKE_WORDS: usize = 25;
const MAX_LIKE_CANDIDATES: usize = 400;
/// Below this number of notes, a word that most of them contain counts as well.
const RARE_WORD_NOTES: u64 = 8;

pub(super) enum Plan {
    Nothing,
    Every,
    Leaf(Leaf),
    All {
        with: Vec<Plan>,
        without: Vec<Plan>,
        within: Vec<Arc<Bitmap>>,
    },
    Any(Vec<Plan>),
    Not(Box<Plan>),
    Within(Arc<Bitmap>),
}

/// Something that is looked up in up to three parts. A note fulfils it if one part does; its score is the sum.
pub(super) struct Leaf {
    pub(super) parts: Vec<LeafPart>,
}

pub(super) struct LeafPart {
    pub(super) place: usize,
    pub(super) weight: Weight,
    pub(super) source: Source,
    /// How many visible notes fulfil it, where that is known.
    pub(super) notes: u64,
}

pub(super) enum Source {
    /// One word: where each segment has it.
    Word(Vec<Option<TermInfo>>),
    Phrase(Vec<(usize, String)>),
    /// What was found in each segment.
    Listed(Vec<Arc<Listed>>),
}

/// Makes plans, and remembers which words were widened.
pub(super) struct Planner<'c, 's> {
    pub(super) corpus: &'c Corpus<'s>,
    pub(super) widened: Vec<String>,
}

impl Planner<'_, '_> {
    pub(super) fn plan(&mut self, tree: &Tree) -> SearchResult<Plan> {
        self.corpus.deadline.check()?;
        Ok(match tree {
            Tree::All(trees) => self.all(trees)?,
            Tree::Any(trees) => self.any(trees)?,
            Tree::Not(tree) => match self.plan(tree)? {
                Plan::Nothing => Plan::Every,
                Plan::Every => Plan::Nothing,
                plan => Plan::Not(Box::new(plan)),
            },
            Tree::Words { text, part } => self.words(text, *part)?,
            Tree::Prefix { text, part } => self.prefix(text, *part)?,
            Tree::Like(text) => self.like(text)?,
            Tree::Bitmap(doc_ids) => Plan::Within(doc_ids.clone()),
        })
    }

    fn all(&mut self, trees: &[Tree]) -> SearchResult<Plan> {
        let mut with = Vec::new();
        let mut without = Vec::new();
        let mut within = Vec::new();
        // Every branch is planned, also after one without a match: the answer lists all widened words.
        let mut is_empty = false;
        for tree in trees {
            match self.plan(tree)? {
                Plan::Nothing => is_empty = true,
                Plan::Every => {}
                Plan::Not(plan) => without.push(*plan),
                Plan::Within(doc_ids) => within.push(doc_ids),
                Plan::All {
                    with: more,
                    without: more_without,
                    within: more_within,
                } => {
                    with.extend(more);
                    without.extend(more_without);
                    within.extend(more_within);
                }
                plan => with.push(plan),
            }
        }
        if is_empty {
            return Ok(Plan::Nothing);
        }
        if without.is_empty() && within.is_empty() {
            if with.is_empty() {
                return Ok(Plan::Every);
            }
            if with.len() == 1 {
                return Ok(with.remove(0));
            }
        }
        Ok(Plan::All {
            with,
            without,
            within,
        })
    }

    fn any(&mut self, trees: &[Tree]) -> SearchResult<Plan> {
        let mut plans = Vec::new();
        for tree in trees {
            match self.plan(tree)? {
                Plan::Nothing => {}
                plan => plans.push(plan),
            }
        }
        Ok(either(plans))
    }

    fn words(&mut self, text: &str, part: Option<Part>) -> SearchResult<Plan> {
        let terms = words::query_terms(text);
        match terms.as_slice() {
            [] => Ok(Plan::Nothing),
            [(_, word)] => {
                let plan = self.word(word, part, 1.0)?;
                if matches!(plan, Plan::Nothing) && word.chars().count() >= 2 {
                    let plan = self.listed(part, |corpus, place| {
                        each_segment(
                            corpus,
                            |words, documents| {
                                let mut sums = Sums::of(documents);
                                words.each_containing(word, corpus.deadline, |info| {
                                    sums.add(words, info, corpus.deadline)
                                })?;
                                sums.listed(corpus.deadline)
                            },
                            place,
                        )
                    })?;
                    if !matches!(plan, Plan::Nothing) && !self.widened.contains(word) {
                        self.widened.push(word.clone());
                    }
                    return Ok(plan);
                }
                Ok(plan)
            }
            _ => self.phrase(&terms, part),
        }
    }

    /// One word, as it is.
    fn word(&self, word: &str, part: Option<Part>, boost: f32) -> SearchResult<Plan> {
        let corpus = self.corpus;
        let mut parts = Vec::new();
        for place in places(part) {
            let mut infos = Vec::new();
            let mut notes = 0;
            for segment in corpus.state.segments() {
                let info = segment.parts[place].info(word)?;
                if let Some(info) = &info {
                    notes += u64::from(segment.count_visible(
                        place,
                        info,
                        corpus.visible,
                        corpus.is_all_visible,
                        corpus.deadline,
                    )?);
                }
                infos.push(info);
            }
            if notes > 0 {
                parts.push(LeafPart {
                    place,
                    weight: corpus.weight(place, corpus.rarity(notes), boost),
                    source: Source::Word(infos),
                    notes,
                });
            }
        }
        Ok(leaf(parts))
    }

    fn phrase(&self, terms: &[(usize, String)], part: Option<Part>) -> SearchResult<Plan> {
        let corpus = self.corpus;
        let mut parts = Vec::new();
        'places: for place in places(part) {
            let mut rarity = 0.0;
            let mut fewest = u64::MAX;
            for (_, word) in terms {
                corpus.deadline.check()?;
                let notes = corpus.notes_with(place, word)?;
                if notes == 0 {
                    continue 'places;
                }
                fewest = fewest.min(notes);
                rarity += corpus.rarity(notes);
            }
            parts.push(LeafPart {
                place,
                weight: corpus.weight(place, rarity, 1.0),
                source: Source::Phrase(terms.to_vec()),
                notes: fewest,
            });
        }
        Ok(leaf(parts))
    }

    fn prefix(&self, text: &str, part: Option<Part>) -> SearchResult<Plan> {
        let terms = words::query_terms(text);
        let Some(((distance, last), before)) = terms.split_last() else {
            return Ok(Plan::Nothing);
        };
        self.listed(part, |corpus, place| {
            each_segment(
                corpus,
                |words, documents| {
                    let deadline = corpus.deadline;
                    if before.is_empty() {
                        let mut sums = Sums::of(documents);
                        words.each_beginning(last, deadline, |info| {
                            sums.add(words, info, deadline)
                        })?;
                        sums.listed(deadline)
                    } else {
                        let mut begun = PhraseStarts::of(words, before, *distance, deadline)?;
                        if !begun.is_empty() {
                            words.each_beginning(last, deadline, |info| {
                                begun.follow(words, info, deadline)
                            })?;
                        }
                        Ok(begun.listed())
                    }
                },
                place,
            )
        })
    }

    /// What was found in each segment, as one word.
    fn listed(
        &self,
        part: Option<Part>,
        mut find: impl FnMut(&Corpus<'_>, usize) -> SearchResult<Vec<Arc<Listed>>>,
    ) -> SearchResult<Plan> {
        let corpus = self.corpus;
        let mut parts = Vec::new();
        for place in places(part) {
            let found = find(corpus, place)?;
            let mut notes = 0;
            for (segment, listed) in corpus.state.segments().zip(&found) {
                corpus.deadline.check()?;
                notes += listed.count_visible(segment, corpus.visible);
            }
            if notes > 0 {
                parts.push(LeafPart {
                    place,
                    weight: corpus.weight(place, corpus.rarity(notes), 1.0),
                    source: Source::Listed(found),
                    notes,
                });
            }
        }
        Ok(leaf(parts))
    }

    fn like(&self, text: &str) -> SearchResult<Plan> {
        let corpus = self.corpus;
        let mut counts: HashMap<String, (u32, usize)> = HashMap::new();
        let mut singles: Vec<(usize, String)> = Vec::new();
        let mut paired: HashSet<usize> = HashSet::new();
        let mut count = |word: String| {
            let next = counts.len();
            counts.entry(word).or_insert((0, next)).0 += 1;
        };
        words::for_each_word(text, |word| match word.form {
            Form::Cut => {}
            Form::Single => singles.push((word.position, word.text.to_owned())),
            Form::Pair => {
                paired.extend([word.position, word.position + 1]);
                count(word.text.to_owned());
            }
            Form::Whole | Form::Part => count(word.text.to_owned()),
        });
        for (position, word) in singles {
            if !paired.contains(&position) {
                count(word);
            }
        }
        // The most frequent first, then in order of occurrence.
        let mut counted: Vec<(String, u32, usize)> = counts
            .into_iter()
            .map(|(word, (count, first))| (word, count, first))
            .collect();
        counted.sort_by_key(|(_, count, first)| (std::cmp::Reverse(*count), *first));
        counted.truncate(MAX_LIKE_CANDIDATES);

        let text_place = place(Part::Text);
        let mut weighed: Vec<(f32, String)> = Vec::new();
        for (word, count, _) in counted {
            corpus.deadline.check()?;
            let notes = corpus.notes_with(text_place, &word)?;
            let is_common = corpus.notes > RARE_WORD_NOTES && notes * 2 > corpus.notes;
            if notes > 0 && !is_common {
                weighed.push((count as f32 * corpus.rarity(notes), word));
            }
        }
        weighed.sort_by(|(left, left_word), (right, right_word)| {
            right
                .total_cmp(left)
                .then_with(|| left_word.cmp(right_word))
        });
        weighed.truncate(MAX_LIKE_WORDS);
        let best = weighed.first().map_or(1.0, |(weight, _)| *weight);
        let mut plans = Vec::new();
        for (weight, word) in weighed {
            match self.word(&word, None, weight / best)? {
                Plan::Nothing => {}
                plan => plans.push(plan),
            }
        }
        Ok(either(plans))
    }
}

fn each_segment(
    corpus: &Corpus<'_>,
    mut find: impl FnMut(&super::segment::Words, u32) -> SearchResult<Listed>,
    place: usize,
) -> SearchResult<Vec<Arc<Listed>>> {
    corpus
        .state
        .segments()
        .map(|segment| Ok(Arc::new(find(&segment.parts[place], segment.len())?)))
        .collect()
}

fn either(mut plans: Vec<Plan>) -> Plan {
    match plans.len() {
        0 => Plan::Nothing,
        1 => plans.remove(0),
        _ => Plan::Any(plans),
    }
}

fn leaf(parts: Vec<LeafPart>) -> Plan {
    if parts.is_empty() {
        Plan::Nothing
    } else {
        Plan::Leaf(Leaf { parts })
    }
}

fn places(part: Option<Part>) -> std::ops::Range<usize> {
    match part {
        Some(part) => place(part)..place(part) + 1,
        None => 0..PARTS,
    }
}
