//! The SM-2 variant of Obsidian's spaced-repetition plugin, for cards with a schedule in that format: reviews here and
//! in the plugin must give the same dates. The load balancing of the plugin is omitted, as it needs all cards.

use notehost_sdk::scheduling::Rating;

use crate::comment::{FIRST_EASE, Sm2};

const EASY_BONUS: f64 = 1.3;
const AFTER_HARD: f64 = 0.5;
const MIN_EASE: i64 = 130;
const EASE_STEP: i64 = 20;
const MAX_INTERVAL_DAYS: f64 = 36_525.0;
const FIRST_INTERVAL: f64 = 1.0;

/// The schedule after a review.
pub(crate) fn review(before: Option<&Sm2>, rating: Rating, today: i64) -> Sm2 {
    let (interval, ease, late) = match before {
        None => (FIRST_INTERVAL, FIRST_EASE, 0.0),
        Some(before) => (
            before.interval,
            before.ease,
            (today.saturating_sub(before.due)).max(0) as f64,
        ),
    };
    let (interval, ease) = match rating {
        // A reset in the plugin: the card starts over and stays due today.
        Rating::Again => {
            return Sm2 {
                due: today,
                interval: FIRST_INTERVAL,
                ease: FIRST_EASE,
            };
        }
        Rating::Hard => {
            let ease = (ease - EASE_STEP).max(MIN_EASE);
            (((interval + late / 4.0) * AFTER_HARD).max(1.0), ease)
        }
        Rating::Good => ((interval + late / 2.0) * ease as f64 / 100.0, ease),
        Rating::Easy => {
            let ease = ease + EASE_STEP;
            ((interval + late) * ease as f64 / 100.0 * EASY_BONUS, ease)
        }
    };
    let interval = (interval.min(MAX_INTERVAL_DAYS) * 10.0).round() / 10.0;
    Sm2 {
        due: today + interval.round() as i64,
        interval: interval.round(),
        ease,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Interval, ease, days late, rating; then interval and ease after it, by the plugin's formula.
    const KNOWN: [(f64, i64, i64, Rating, f64, i64); 7] = [
        (1.0, 250, 0, Rating::Easy, 4.0, 270),
        (1.0, 250, 0, Rating::Good, 3.0, 250),
        (1.0, 250, 0, Rating::Hard, 1.0, 230),
        (10.0, 250, 2, Rating::Easy, 42.0, 270),
        (10.0, 250, 2, Rating::Good, 28.0, 250),
        (10.0, 250, 2, Rating::Hard, 5.0, 230),
        (10.0, 140, 0, Rating::Again, 1.0, 250),
    ];

    #[test]
    fn intervals_and_ease_match_the_plugin() {
        for (interval, ease, late, rating, after, ease_after) in KNOWN {
            let before = Sm2 {
                due: 100 - late,
                interval,
                ease,
            };
            let next = review(Some(&before), rating, 100);
            assert_eq!(
                (next.interval, next.ease),
                (after, ease_after),
                "{rating:?} of {before:?}"
            );
            let days = if rating == Rating::Again {
                0
            } else {
                after as i64
            };
            assert_eq!(next.due, 100 + days);
        }
        assert_eq!(
            review(None, Rating::Good, 5),
            Sm2 {
                due: 8,
                interval: 3.0,
                ease: 250
            }
        );
        let old = Sm2 {
            due: 0,
            interval: 30_000.0,
            ease: 300,
        };
        assert_eq!(
            review(Some(&old), Rating::Easy, 0).interval,
            MAX_INTERVAL_DAYS
        );
    }
}
