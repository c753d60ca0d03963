//! When to ask a flashcard again: FSRS-6, with the short steps of a card that is being learned.
//!
//! The memory model is the `fsrs` crate's. The steps around it (one minute, ten minutes, then days) and the rules by
//! which a card passes from one phase to the next are those that the FSRS project publishes for its schedulers, so its
//! test vectors hold here. Days are counts since 1970, by the caller's own idea of when a day begins.

use fsrs::{FSRS, MemoryState};
use serde::{Deserialize, Serialize};

/// What share of cards should be remembered when they are asked, unless somebody says otherwise.
pub const USUAL_RETENTION: f32 = 0.9;
/// The retentions that make sense: below, hardly anything is remembered; above, everything is asked every day.
pub const RETENTIONS: std::ops::RangeInclusive<f32> = 0.7..=0.99;
/// The longest interval, in days.
pub const LONGEST: u32 = 36_500;

const MINUTE: u64 = 60_000;
/// The steps of a new card.
const LEARNING: [u64; 2] = [MINUTE, 10 * MINUTE];
/// The steps of a card that was forgotten.
const RELEARNING: [u64; 1] = [10 * MINUTE];
/// From which interval on it is varied, and by which share of the days in each range.
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
    /// Without thinking.
    Easy,
}

impl Rating {
    /// All of them, from worst to best.
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
    pub fn word(self) -> &'static str {
        match self {
            Rating::Again => "again",
            Rating::Hard => "hard",
            Rating::Good => "good",
            Rating::Easy => "easy",
        }
    }
}

/// How far a card is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// It goes through its first steps.
    Learning,
    /// It is asked after days.
    Review,
    /// It was forgotten and goes through steps again.
    Relearning,
}

impl Phase {
    /// The word that callers see.
    pub fn word(self) -> &'static str {
        match self {
            Phase::Learning => "learning",
            Phase::Review => "review",
            Phase::Relearning => "relearning",
        }
    }
}

/// What is known of how well a card is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// After how many days it is remembered with 90 %.
    pub stability: f32,
    /// From 1 (easy) to 10.
    pub difficulty: f32,
    /// How far it is.
    pub phase: Phase,
    /// Which of its steps comes next.
    pub step: u8,
}

/// When a card is asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interval {
    /// After so many milliseconds.
    Soon(u64),
    /// After so many days.
    Days(u32),
}

/// Tells when to ask again.
pub struct Scheduler {
    model: FSRS,
    retention: f32,
}

impl Scheduler {
    /// A scheduler that aims at this share of remembered cards; one that makes no sense is brought into [`RETENTIONS`].
    /// Nothing if the model refuses its own default parameters.
    pub fn new(retention: f32) -> Option<Scheduler> {
        let retention = if retention.is_finite() {
            retention.clamp(*RETENTIONS.start(), *RETENTIONS.end())
        } else {
            USUAL_RETENTION
        };
        Some(Scheduler {
            model: FSRS::new(&[]).ok()?,
            retention,
        })
    }

    /// What a rating makes of a card that was asked so many days after it was last asked. A `seed` varies the interval by
    /// a few days, always the same for the same seed, so that cards that were learned together do not stay together.
    /// Nothing if the memory it has is beyond what the model can take.
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

    /// How likely a card is remembered so many days after it was last asked.
    pub fn retrievability(memory: &Memory, days: u32) -> f32 {
        let state = MemoryState {
            stability: memory.stability.max(0.001),
            difficulty: memory.difficulty,
        };
        let likely = fsrs::current_retrievability(state, days as f32, fsrs::FSRS6_DEFAULT_DECAY);
        if likely.is_finite() { likely } else { 0.0 }
    }
}

/// What becomes of a card within its steps: its phase, its step, and after how long it is asked if not after days.
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

/// An interval in whole days, varied by a seed.
fn whole_days(interval: f32, seed: Option<u64>) -> u32 {
    let plain = interval.round().clamp(1.0, LONGEST as f32);
    let Some(seed) = seed.filter(|_| plain >= 2.5) else {
        return plain as u32;
    };
    let mut spread = 1.0;
    for (from, to, share) in FUZZ {
        spread += share * (plain.min(to) - from).max(0.0);
    }
    let least = (plain - spread).round().max(2.0) as u32;
    let most = ((plain + spread).round() as u32).min(LONGEST);
    least.min(most) + (seed % u64::from(most.saturating_sub(least) + 1)) as u32
}

#[cfg(test)]
mod tests;
