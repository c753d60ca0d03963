//! The published test vectors of the FSRS project, and cases that they do not cover.

use super::*;

/// Ratings, and the interval in whole days after each if every card is reviewed on its due day. From
/// py-fsrs 6.3.2, `tests/test_basic.py`, `test_review_card`; default parameters of FSRS-6, retention 0.9, no fuzz.
const PUBLISHED: [(u64, u32); 13] = [
    (3, 0),
    (3, 2),
    (3, 11),
    (3, 46),
    (3, 163),
    (3, 498),
    (1, 0),
    (1, 0),
    (3, 2),
    (3, 4),
    (3, 7),
    (3, 12),
    (3, 21),
];

/// Ratings and the days before each, and the memory after all of them. From py-fsrs 6.3.2, `tests/test_basic.py`,
/// `test_memo_state`.
const REVIEWS: [(u64, u32); 6] = [(1, 0), (3, 0), (3, 1), (3, 3), (3, 8), (3, 21)];
const STABILITY: f32 = 53.626_91;
const DIFFICULTY: f32 = 6.357_486_7;

/// The first answer to a new card: stability, difficulty. From the documentation of `next_states` in the crate `fsrs`
/// 6.6.2.
const FIRST: [(f32, f32); 4] = [
    (0.212, 6.4133),
    (1.2931, 5.112_170_7),
    (2.3065, 2.118_104),
    (8.2956, 1.0),
];

fn scheduler() -> Scheduler {
    Scheduler::new(DEFAULT_RETENTION).expect("the default parameters are good")
}

#[test]
fn intervals_match_the_published_vectors() {
    let mut memory = None;
    let mut days = 0;
    for (at, (number, expected)) in PUBLISHED.into_iter().enumerate() {
        let rating = Rating::of_number(number).unwrap();
        let (next, interval) = scheduler()
            .review(memory.as_ref(), days, rating, None)
            .unwrap();
        days = match interval {
            Interval::Soon(_) => 0,
            Interval::Days(days) => days,
        };
        assert_eq!(days, expected, "answer {at}");
        memory = Some(next);
    }
}

#[test]
fn memory_state_matches_the_published_vectors() {
    let mut memory = None;
    for (number, days) in REVIEWS {
        let rating = Rating::of_number(number).unwrap();
        let next = scheduler().review(memory.as_ref(), days, rating, None);
        memory = Some(next.unwrap().0);
    }
    let memory = memory.unwrap();
    assert!((memory.stability - STABILITY).abs() < 1e-3, "{memory:?}");
    assert!((memory.difficulty - DIFFICULTY).abs() < 1e-3, "{memory:?}");
    for (rating, (stability, difficulty)) in Rating::ALL.into_iter().zip(FIRST) {
        let (memory, _) = scheduler().review(None, 0, rating, None).unwrap();
        assert!((memory.stability - stability).abs() < 1e-5, "{memory:?}");
        assert!((memory.difficulty - difficulty).abs() < 1e-5, "{memory:?}");
    }
}

#[test]
fn a_new_card_passes_through_its_learning_steps() {
    let reviewed = |memory: Option<&Memory>, rating| {
        let (memory, interval) = scheduler().review(memory, 0, rating, None).unwrap();
        (memory, interval)
    };
    let (again, wait) = reviewed(None, Rating::Again);
    assert_eq!(
        (again.phase, wait),
        (Phase::Learning, Interval::Soon(MINUTE))
    );
    let (_, wait) = reviewed(None, Rating::Hard);
    assert_eq!(wait, Interval::Soon(330_000));
    let (good, wait) = reviewed(None, Rating::Good);
    assert_eq!((good.step, wait), (1, Interval::Soon(10 * MINUTE)));
    let (learned, wait) = reviewed(Some(&good), Rating::Good);
    assert_eq!((learned.phase, wait), (Phase::Review, Interval::Days(2)));
    let (easy, wait) = reviewed(None, Rating::Easy);
    assert_eq!((easy.phase, wait), (Phase::Review, Interval::Days(8)));
    let (forgotten, wait) = reviewed(Some(&learned), Rating::Again);
    assert_eq!(
        (forgotten.phase, wait),
        (Phase::Relearning, Interval::Soon(10 * MINUTE))
    );
    let (_, wait) = reviewed(Some(&forgotten), Rating::Hard);
    assert_eq!(wait, Interval::Soon(15 * MINUTE));
}

#[test]
fn fuzz_is_small_deterministic_and_differs_between_cards() {
    let varied: Vec<u32> = (0..200).map(|seed| whole_days(100.0, Some(seed))).collect();
    assert_eq!(
        varied,
        (0..200)
            .map(|seed| whole_days(100.0, Some(seed)))
            .collect::<Vec<_>>()
    );
    assert!(
        varied.iter().all(|days| (93..=107).contains(days)),
        "{varied:?}"
    );
    assert!(varied.iter().any(|days| *days != varied[0]));
    assert_eq!(whole_days(2.4, Some(7)), 2);
    assert_eq!(whole_days(f32::MAX, None), MAX_INTERVAL_DAYS);
    assert_eq!(whole_days(0.01, None), 1);
}

#[test]
fn higher_retention_shortens_intervals_and_invalid_input_is_clamped() {
    let days = |retention| {
        let scheduler = Scheduler::new(retention).unwrap();
        match scheduler.review(None, 0, Rating::Easy, None).unwrap().1 {
            Interval::Days(days) => days,
            Interval::Soon(_) => 0,
        }
    };
    assert!(days(0.97) < days(0.9) && days(0.9) < days(0.8));
    assert_eq!(days(f32::NAN), days(0.9));
    assert_eq!(days(7.0), days(0.99));
    let broken = Memory {
        stability: f32::NAN,
        difficulty: 5.0,
        phase: Phase::Review,
        step: 0,
    };
    assert!(
        scheduler()
            .review(Some(&broken), 3, Rating::Good, None)
            .is_none()
    );
    assert_eq!(Rating::of_number(0), None);
    assert_eq!(Rating::of_number(5), None);
}
