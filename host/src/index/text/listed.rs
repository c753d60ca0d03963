//! Documents of a segment that were found by more than looking up one word: phrases, and words that are taken for one.

use tantivy::postings::{Postings as _, SegmentPostings, TermInfo};
use tantivy::{DocSet as _, TERMINATED};

use super::Slots;
use super::segment::{Segment, Words};

/// Documents, in order, and how often each has what was asked for.
#[derive(Debug, Default)]
pub(super) struct Listed {
    pub(super) docs: Vec<u32>,
    pub(super) frequencies: Vec<u32>,
}

impl Listed {
    /// How many of them stand for a visible note.
    pub(super) fn count_visible(&self, segment: &Segment, visible: &Slots) -> u64 {
        self.docs
            .iter()
            .filter(|doc| visible.contains(segment.slots[**doc as usize]))
            .count() as u64
    }

    fn push(&mut self, doc: u32, frequency: u32) {
        self.docs.push(doc);
        self.frequencies.push(frequency);
    }
}

/// Documents that have one of these words: as if they were all the same.
pub(super) fn either(words: &Words, infos: &[TermInfo], documents: u32) -> tantivy::Result<Listed> {
    let mut sums = vec![0_u32; documents as usize];
    for info in infos {
        let mut blocks = words.blocks(info)?;
        while !blocks.docs().is_empty() {
            for (doc, frequency) in blocks.docs().iter().zip(blocks.freqs()) {
                sums[*doc as usize] += frequency;
            }
            blocks.advance();
        }
    }
    let mut listed = Listed::default();
    for (doc, sum) in sums.into_iter().enumerate() {
        if sum > 0 {
            listed.push(doc as u32, sum);
        }
    }
    Ok(listed)
}

/// Documents in which these words stand at these distances.
pub(super) fn phrase(words: &Words, asked: &[(usize, String)]) -> tantivy::Result<Listed> {
    let mut listed = Listed::default();
    each_phrase(words, asked, |doc, starts| {
        listed.push(doc, starts.len() as u32)
    })?;
    Ok(listed)
}

/// The same, followed at a distance by one of these words.
pub(super) fn phrase_before(
    words: &Words,
    asked: &[(usize, String)],
    distance: usize,
    infos: &[TermInfo],
) -> tantivy::Result<Listed> {
    let mut begun: Vec<(u32, Vec<u32>, u32)> = Vec::new();
    each_phrase(words, asked, |doc, starts| {
        begun.push((doc, starts.to_vec(), 0))
    })?;
    let mut positions = Vec::new();
    for info in infos {
        let mut postings = words.positions(info)?;
        for (doc, starts, count) in &mut begun {
            if postings.doc() < *doc {
                postings.seek(*doc);
            }
            if postings.doc() != *doc {
                continue;
            }
            postings.positions(&mut positions);
            shift(&mut positions, distance);
            *count += positions
                .iter()
                .filter(|start| starts.binary_search(start).is_ok())
                .count() as u32;
        }
    }
    let mut listed = Listed::default();
    for (doc, _, count) in begun {
        if count > 0 {
            listed.push(doc, count);
        }
    }
    Ok(listed)
}

/// Hands every document that has a phrase to `take`, with the places where it begins.
fn each_phrase(
    words: &Words,
    asked: &[(usize, String)],
    mut take: impl FnMut(u32, &[u32]),
) -> tantivy::Result<()> {
    let mut lists: Vec<(usize, SegmentPostings)> = Vec::with_capacity(asked.len());
    for (distance, word) in asked {
        let Some(info) = words.info(word)? else {
            return Ok(());
        };
        lists.push((*distance, words.positions(&info)?));
    }
    let Some(mut neighbours) = words.neighbours(asked)? else {
        return Ok(());
    };
    // The rarest leads.
    lists.sort_by_key(|(_, postings)| postings.doc_freq());
    let mut starts = Vec::new();
    let mut positions = Vec::new();
    let mut target = 0;
    'documents: loop {
        let words = lists.iter_mut().map(|(_, postings)| postings);
        for postings in neighbours.iter_mut().chain(words) {
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
            postings.positions(&mut positions);
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

/// From where a word stands to where its phrase begins.
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
