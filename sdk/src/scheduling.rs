//! Scheduling of flashcard reviews: FSRS-6, with short learning steps.
//!
//! The memory model is the `fsrs` crate's. The learning steps (one minute, ten minutes, then days) and the phase transitions
//! are those of the FSRS project's schedulers, so its test vectors apply. Days are numbers since 1970; the caller decides
//! when a day begins.

use fsrs::{FSRS, MemoryState};
use serde::{Deserialize, Serialize};

/// The default desired retention: the share of cards that should be remembered at review.
pub const DEFAULT_RETENTION: f32 = 0.9;
/// The range of useful retentions: below it cards are forgotten, above it every card is due every day.
pub const RETENTIONS: std::ops::RangeInclusive<f32> = 0.7..=0.99;
/// The longest interval, in days.
pub const MAX_INTERVAL_DAYS: u32 = 36_500;

const MINUTE: u64 = 60_000;
/// The learning steps of a new card.
const LEARNING: [u64; 2] = [MINUTE, 10 * MINUTE];
/// The relearning steps of a forgotten card.
const RELEARNING: [u64; 1] = [10 * MINUTE];
/// Fuzz ranges: from and to which interval in days, and the share of those days to vary it by.
const FUZZ: [(f32, f32, f32); 3] = [(2.5, 7.0, 0.15), (7.0, 20.0, 0.1), (20.0, f32::MAX, 0.05)];

/// How well a card was remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rating {
    /// Not at all.
    Again,
    /// With effort.
    Hard,
    /// Well.
    Good,
    /// Without effort.
    Easy,
}

impl Rating {
    /// All ratings, from worst to best.
    pub const ALL: [Rating; 4] = [Rating::Again, Rating::Hard, Rating::Good, Rating::Easy];

    /// The rating of a number from 1 to 4.
    pub fn of_number(number: u64) -> Option<Rating> {
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
        Rating::ALL.get(at).copied()
    }

    /// Its number, from 1 to 4.
    pub fn number(self) -> u8 {
        self as u8 + 1
    }

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Rating::Again => "again",
            Rating::Hard => "hard",
            Rating::Good => "good",
            Rating::Easy => "easy",
        }
    }
}

/// The phase of a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// In its learning steps.
    Learning,
    /// Reviewed at intervals of days.
    Review,
    /// Forgotten, and in its relearning steps.
    Relearning,
}

impl Phase {
    /// The name that callers see.
    pub fn as_str(self) -> &'static str {
        match self {
            Phase::Learning => "learning",
            Phase::Review => "review",
            Phase::Relearning => "relearning",
        }
    }
}

/// The memory state of a card.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// The days after which it is remembered with a probability of 90 %.
    pub stability: f32,
    /// From 1 (easy) to 10.
    pub difficulty: f32,
    /// Its phase.
    pub phase: Phase,
    /// The index of its next step.
    pub step: u8,
}

/// The time until the next review.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interval {
    /// In milliseconds.
    Soon(u64),
    /// In days.
    Days(u32),
}

/// Computes the next review of cards.
pub struct Scheduler {
    model: FSRS,
    retention: f32,
}

impl Scheduler {
    /// A scheduler for a desired retention, clamped to [`RETENTIONS`]. `None` if the model rejects its default parameters.
    pub fn new(retention: f32) -> Option<Scheduler> {
        let retention = if retention.is_finite() {
            retention.clamp(*RETENTIONS.start(), *RETENTIONS.end())
        } else {
            DEFAULT_RETENTION
        };
        Some(Scheduler {
            model: FSRS::new(&[]).ok()?,
            retention,
        })
    }

    /// The memory state and interval after a rating, `days` after the last review. A `seed` varies the interval by a few
    /// days, deterministically, so that cards that were learned together spread out. `None` if the memory state is out of
    /// the model's range.
    pub fn review(
        &self,
        memory: Option<&Memory>,
        days: u32,
        rating: Rating,
        seed: Option<u64>,
    ) -> Option<(Memory, Interval)> {
        let before = memory.map(|memory| MemoryState {
            stability: memory.stability,
            difficulty: memory.difficulty,
        });
        let states = self.model.next_states(before, self.retention, days).ok()?;
        let next = match rating {
            Rating::Again => states.again,
            Rating::Hard => states.hard,
            Rating::Good => states.good,
            Rating::Easy => states.easy,
        };
        let phase = memory.map_or(Phase::Learning, |memory| memory.phase);
        let step = memory.map_or(0, |memory| usize::from(memory.step));
        let (phase, step, soon) = match phase {
            Phase::Learning => stepped(Phase::Learning, &LEARNING, step, rating),
            Phase::Relearning => stepped(Phase::Relearning, &RELEARNING, step, rating),
            Phase::Review if rating == Rating::Again => (Phase::Relearning, 0, Some(RELEARNING[0])),
            Phase::Review => (Phase::Review, 0, None),
        };
        let interval = match soon {
            Some(soon) => Interval::Soon(soon),
            None => Interval::Days(whole_days(next.interval, seed)),
        };
        let memory = Memory {
            stability: next.memory.stability,
            difficulty: next.memory.difficulty,
            phase,
            step: u8::try_from(step).unwrap_or(0),
        };
        Some((memory, interval))
    }

    /// The probability that a card is remembered, `days` after the last review.
    pub fn retrievability(memory: &Memory, days: u32) -> f32 {
        let state = MemoryState {
            stability: memory.stability.max(0.001),
            difficulty: memory.difficulty,
        };
        let likely = fsrs::current_retrievability(state, days as f32, fsrs::FSRS6_DEFAULT_DECAY);
        if likely.is_finite() { likely } else { 0.0 }
    }
}

/// The next phase and step of a card in its steps, and the delay in milliseconds, if it is not in days.
fn stepped(
    phase: Phase,
    steps: &[u64],
    step: usize,
    rating: Rating,
) -> (Phase, usize, Option<u64>) {
    let done = (Phase::Review, 0, None);
    match rating {
        Rating::Again => (phase, 0, steps.first().copied()),
        Rating::Easy => done,
        _ if step >= steps.len() => done,
        Rating::Hard => {
            let wait = match (step, steps) {
                (0, [only]) => only * 3 / 2,
                (0, [first, second, ..]) => (first + second) / 2,
                _ => steps[step],
            };
            (phase, step, Some(wait))
        }
        Rating::Good if step + 1 == steps.len() => done,
        Rating::Good => (phase, step + 1, Some(steps[step + 1])),
    }
}

/// An interval in whole days, with fuzz from a seed.
fn whole_days(interval: f32, seed: Option<u64>) -> u32 {
    let plain = interval.round().clamp(1.0, MAX_INTERVAL_DAYS as f32);
    let Some(seed) = seed.filter(|_| plain >= 2.5) else {
        return plain as u32;
    };
    let mut spread = 1.0;
    for (from, to, share) in FUZZ {
        spread += share * (plain.min(to) - from).max(0.0);
    }
    let least = (plain - spread).round().max(2.0) as u32;
    let most = ((plain + spread).round() as u32).min(MAX_INTERVAL_DAYS);
    least.min(most) + (seed % u64::from(most.saturating_sub(least) + 1)) as u32
}

#[cfg(test)]
mod tests;
