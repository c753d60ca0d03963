//! Word weights: BM25 over the notes that the caller can see.

use std::sync::Arc;

use tantivy::fieldnorm::FieldNormReader;

use super::schema::PARTS;
use super::state::State;
use super::{Bitmap, SearchResult};
use crate::limits::deadline::Deadline;

const K: f32 = 1.2;
const B: f32 = 0.75;

/// The weights of a word in the name, in a heading and in the text.
pub(super) const BOOSTS: [f32; PARTS] = [3.0, 1.5, 1.0];

/// The notes that a caller sees, counted.
pub(super) struct Corpus<'s> {
    pub(super) state: &'s State,
    pub(super) visible: &'s Bitmap,
    pub(super) deadline: &'s Deadline,
    pub(super) is_all_visible: bool,
    /// How many notes there are.
    pub(super) notes: u64,
    averages: [f32; PARTS],
    /// What each length costs, in each part.
    norms: [Arc<[f32; 256]>; PARTS],
}

/// What a word in a part brings a note.
#[derive(Debug, Clone)]
pub(super) struct Weight {
    /// The maximum of its score.
    pub(super) most: f32,
    norms: Arc<[f32; 256]>,
}

impl<'s> Corpus<'s> {
    pub(super) fn new(state: &'s State, visible: &'s Bitmap, deadline: &'s Deadline) -> Corpus<'s> {
        let is_all_visible = state.live.is_within(visible);
        let notes = state.live.len_of_both(visible) as u64;
        let tokens = state.tokens(visible, is_all_visible);
        // A part without words has no average.
        let averages = tokens.map(|tokens| tokens.max(1) as f32 / notes.max(1) as f32);
        let norms = averages.map(|average| {
            Arc::new(std::array::from_fn(|id| {
                let length = FieldNormReader::id_to_fieldnorm(id as u8) as f32;
                K * (1.0 - B + B * length / average)
            }))
        });
        Corpus {
            state,
            visible,
            deadline,
            is_all_visible,
            notes,
            averages,
            norms,
        }
    }

    pub(super) fn average(&self, place: usize) -> f32 {
        self.averages[place]
    }

    /// The inverse document frequency of a word that occurs in so many notes.
    pub(super) fn rarity(&self, notes: u64) -> f32 {
        let others = self.notes.saturating_sub(notes) as f32;
        (1.0 + (others + 0.5) / (notes as f32 + 0.5)).ln()
    }

    pub(super) fn weight(&self, place: usize, rarity: f32, boost: f32) -> Weight {
        Weight {
            most: rarity * (1.0 + K) * BOOSTS[place] * boost,
            norms: self.norms[place].clone(),
        }
    }

    /// In how many notes a word occurs in a part.
    pub(super) fn notes_with(&self, place: usize, word: &str) -> SearchResult<u64> {
        let mut notes = 0;
        for segment in self.state.segments() {
            if let Some(info) = segment.parts[place].info(word)? {
                notes += u64::from(segment.count_visible(
                    place,
                    &info,
                    self.visible,
                    self.is_all_visible,
                    self.deadline,
                )?);
            }
        }
        Ok(notes)
    }
}

impl Weight {
    #[inline]
    pub(super) fn score(&self, norm: u8, frequency: u32) -> f32 {
        let frequency = frequency as f32;
        self.most * (frequency / (frequency + self.norms[norm as usize]))
    }
}
