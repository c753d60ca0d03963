//! Matching documents of a segment that do not come from a single posting list: phrases and groups of words.

use tantivy::postings::{Postings as _, SegmentPostings, TermInfo};
use tantivy::{DocSet as _, TERMINATED};

use super::segment::{Segment, Words};
use super::{Bitmap, SearchResult};
use crate::limits::deadline::Deadline;

/// Documents in order, with frequencies.
#[derive(Debug, Default)]
pub(super) struct Listed {
    pub(super) docs: Vec<u32>,
    pub(super) frequencies: Vec<u32>,
}

impl Listed {
    /// How many of them belong to a visible note.
    pub(super) fn count_visible(&self, segment: &Segment, visible: &Bitmap) -> u64 {
        self.docs
            .iter()
            .filter(|doc| visible.contains(segment.doc_ids[**doc as usize]))
            .count() as u64
    }

    fn push(&mut self, doc: u32, frequency: u32) {
        self.docs.push(doc);
        self.frequencies.push(frequency);
    }
}

/// Documents that have one of several words: as if they were all the same. One word after the other is added.
pub(super) struct Sums(Vec<u32>);

impl Sums {
    /// None yet, of so many documents.
    pub(super) fn of(documents: u32) -> Sums {
        Sums(vec![0; documents as usize])
    }

    pub(super) fn add(
        &mut self,
        words: &Words,
        info: &TermInfo,
        deadline: &Deadline,
    ) -> SearchResult<()> {
        let mut blocks = words.blocks(info)?;
        while !blocks.docs().is_empty() {
            deadline.step()?;
            for (doc, frequency) in blocks.docs().iter().zip(blocks.freqs()) {
                let sum = &mut self.0[*doc as usize];
                *sum = sum.saturating_add(*frequency);
            }
            blocks.advance();
        }
        Ok(())
    }

    pub(super) fn listed(self, deadline: &Deadline) -> SearchResult<Listed> {
        let mut listed = Listed::default();
        for (doc, sum) in self.0.into_iter().enumerate() {
            deadline.step()?;
            if sum > 0 {
                listed.push(doc as u32, sum);
            }
        }
        Ok(listed)
    }
}

/// Documents in which these words occur at these distances.
pub(super) fn phrase(
    words: &Words,
    phrase: &[(usize, String)],
    deadline: &Deadline,
) -> SearchResult<Listed> {
    let mut listed = Listed::default();
    each_phrase(words, phrase, deadline, |doc, starts| {
        listed.push(doc, starts.len() as u32)
    })?;
    Ok(listed)
}

/// Documents that have a phrase: where it begins in each, and how often one of several words follows it.
pub(super) struct PhraseStarts {
    documents: Vec<(u32, Vec<u32>, u32)>,
    distance: usize,
    positions: Vec<u32>,
}

impl PhraseStarts {
    /// The documents in which these words occur at these distances; what follows them stands at another.
    pub(super) fn of(
        words: &Words,
        phrase: &[(usize, String)],
        distance: usize,
        deadline: &Deadline,
    ) -> SearchResult<PhraseStarts> {
        let mut documents = Vec::new();
        each_phrase(words, phrase, deadline, |doc, starts| {
            documents.push((doc, starts.to_vec(), 0))
        })?;
        Ok(PhraseStarts {
            documents,
            distance,
            positions: Vec::new(),
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// Counts where one of the words follows.
    pub(super) fn follow(
        &mut self,
        words: &Words,
        info: &TermInfo,
        deadline: &Deadline,
    ) -> SearchResult<()> {
        let positions = &mut self.positions;
        let mut postings = words.positions(info)?;
        for (doc, starts, count) in &mut self.documents {
            deadline.step()?;
            if postings.doc() < *doc {
                postings.seek(*doc);
            }
            if postings.doc() == TERMINATED {
                break;
            }
            if postings.doc() != *doc {
                continue;
            }
            take_positions(&mut postings, positions, deadline)?;
            shift(positions, self.distance);
            *count += positions
                .iter()
                .filter(|start| starts.binary_search(start).is_ok())
                .count() as u32;
        }
        Ok(())
    }

    pub(super) fn listed(self) -> Listed {
        let mut listed = Listed::default();
        for (doc, _, count) in self.documents {
            if count > 0 {
                listed.push(doc, count);
            }
        }
        listed
    }
}

/// Where a word occurs in the document on which `postings` is. A large note can have it a million times.
fn take_positions(
    postings: &mut SegmentPostings,
    positions: &mut Vec<u32>,
    deadline: &Deadline,
) -> SearchResult<()> {
    deadline.before(postings.term_freq() as usize * size_of::<u32>())?;
    postings.positions(positions);
    Ok(())
}

/// Hands every document that has a phrase to `take`, with the places where it begins.
fn each_phrase(
    words: &Words,
    phrase: &[(usize, String)],
    deadline: &Deadline,
    mut take: impl FnMut(u32, &[u32]),
) -> SearchResult<()> {
    let mut lists: Vec<(usize, SegmentPostings)> = Vec::with_capacity(phrase.len());
    for (distance, word) in phrase {
        deadline.step()?;
        let Some(info) = words.info(word)? else {
            return Ok(());
        };
        lists.push((*distance, words.positions(&info)?));
    }
    let Some(mut bigrams) = words.bigrams(phrase)? else {
        return Ok(());
    };
    // The rarest word is iterated.
    lists.sort_by_key(|(_, postings)| postings.doc_freq());
    let mut starts = Vec::new();
    let mut positions = Vec::new();
    let mut target = 0;
    'documents: loop {
        let words = lists.iter_mut().map(|(_, postings)| postings);
        for postings in bigrams.iter_mut().chain(words) {
            deadline.step()?;
            if postings.doc() < target {
                postings.seek(target);
            }
            let found = postings.doc();
            if found == TERMINATED {
                return Ok(());
            }
            if found != target {
                target = found;
                continue 'documents;
            }
        }
        for (at, (distance, postings)) in lists.iter_mut().enumerate() {
            take_positions(postings, &mut positions, deadline)?;
            shift(&mut positions, *distance);
            if at == 0 {
                std::mem::swap(&mut starts, &mut positions);
                starts.dedup();
            } else {
                keep_common(&mut starts, &positions);
            }
            if starts.is_empty() {
                break;
            }
        }
        if !starts.is_empty() {
            take(target, &starts);
        }
        target += 1;
    }
}

/// From where a word occurs to where its phrase begins.
fn shift(positions: &mut Vec<u32>, distance: usize) {
    positions.retain_mut(|position| match position.checked_sub(distance as u32) {
        Some(start) => {
            *position = start;
            true
        }
        None => false,
    });
}

/// Both are in order.
fn keep_common(starts: &mut Vec<u32>, others: &[u32]) {
    let mut at = 0;
    starts.retain(|start| {
        while others.get(at).is_some_and(|other| other < start) {
            at += 1;
        }
        others.get(at) == Some(start)
    });
}
