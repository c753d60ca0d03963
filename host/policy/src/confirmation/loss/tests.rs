//! Tests of the arithmetic: one caller and one note, call by call.

use proptest::prelude::*;

use super::super::weights::Budget;
use super::super::word_bag;
use super::*;

fn bag(text: &str) -> Bag {
    word_bag::bag(text, 1000).expect("few words")
}

fn weights(before: &str, after: &str) -> TextWeights {
    TextWeights::of(before, after, false, &mut Budget::default())
}

/// One caller and one note, call by call.
struct Story {
    ledger: Ledger,
    text: String,
    hour: i64,
}

impl Story {
    fn new(text: &str) -> Story {
        Story {
            ledger: Ledger::default(),
            text: text.to_owned(),
            hour: 1000,
        }
    }

    /// The caller writes; returns whether a person has to be asked. Then nothing is written.
    fn writes(&mut self, after: &str) -> bool {
        let text = weights(&self.text, after);
        self.changes(&text, after)
    }

    /// The same, with text that was in the trash or in the history.
    fn restores(&mut self, after: &str) -> bool {
        let mut text = weights(&self.text, after);
        text.is_restored = true;
        self.changes(&text, after)
    }

    fn changes(&mut self, text: &TextWeights, after: &str) -> bool {
        let mut notes = [NoteEdit {
            ledger: self.ledger.clone(),
            text,
        }];
        let is_confirmed = count(&mut notes, self.hour)[0];
        if !is_confirmed {
            let [note] = notes;
            self.ledger = note.ledger;
            self.text = after.to_owned();
        }
        is_confirmed
    }
}

fn numbered(from: usize, to: usize) -> String {
    (from..to).map(|number| format!("w{number} ")).collect()
}

#[test]
fn small_steps_add_up() {
    let mut story = Story::new(&numbered(0, 512));
    let mut is_confirmed = false;
    for step in 0..9 {
        let left: Vec<&str> = story.text.split_whitespace().collect();
        // The half that was there first goes, something new comes.
        let kept = left.iter().filter(|word| word.starts_with('w'));
        let kept: Vec<&str> = kept.copied().collect();
        let half = kept[..kept.len() / 2].join(" ");
        let text = format!(
            "{half} {}",
            numbered(0, 50).replace('w', &format!("n{step}-"))
        );
        is_confirmed |= story.writes(&text);
    }
    assert!(is_confirmed);
    let kept = story
        .text
        .split_whitespace()
        .filter(|word| word.starts_with('w'));
    assert!(kept.count() >= 256);
}

#[test]
fn many_lines_in_small_steps_add_up() {
    let lines: Vec<String> = (0..200).map(|line| format!("line {line}\n")).collect();
    let mut story = Story::new(&lines.concat());
    assert!(!story.writes(&lines[10..].concat()));
    assert!(!story.writes(&lines[20..].concat()));
    assert!(story.writes(&lines[30..].concat()));
}

#[test]
fn callers_may_drop_their_own_additions() {
    let text = numbered(0, 100);
    let mut story = Story::new(&text);
    for round in 0..20 {
        let own = numbered(1000 * (round + 1), 1000 * (round + 1) + 300);
        assert!(!story.writes(&format!("{text}{own}")));
        assert!(!story.writes(&text));
    }
    // A paragraph is rewritten again and again.
    let (kept, paragraph) = text.split_at(text.len() / 2);
    for round in 0..20 {
        let rewritten = paragraph.replace('w', &format!("r{round}-"));
        assert!(!story.writes(&format!("{kept}{rewritten}")));
    }
    // What is undone is not lost.
    assert!(!story.writes(&text));
    assert_eq!(story.ledger.lost_words(), 0);
}

#[test]
fn additions_of_others_count_as_theirs() {
    let mut story = Story::new(&numbered(0, 10));
    story.text += &numbered(10, 100);
    assert!(!story.writes(&numbered(0, 60)));
    assert!(story.writes(&numbered(0, 40)));
}

#[test]
fn drops_count_for_a_day_or_until_approved() {
    let mut story = Story::new(&numbered(0, 100));
    assert!(!story.writes(&numbered(0, 55)));
    assert!(story.writes(&numbered(0, 45)));
    story.hour += WINDOW_HOURS - 1;
    assert!(story.writes(&numbered(0, 45)));
    story.hour += 1;
    assert!(!story.writes(&numbered(0, 45)));
    assert!(story.writes(&numbered(0, 20)));
    story.ledger.reset();
    assert!(!story.writes(&numbered(0, 23)));
}

/// One call that moves the words of a note `from` to `to` and leaves the rest; both ledgers afterwards.
fn moves(from: (&Ledger, &str, &str), to: (&Ledger, &str, &str)) -> (Vec<bool>, [Ledger; 2]) {
    let texts = [weights(from.1, from.2), weights(to.1, to.2)];
    let mut notes = [(from.0, &texts[0]), (to.0, &texts[1])].map(|(ledger, text)| NoteEdit {
        ledger: ledger.clone(),
        text,
    });
    let is_confirmed = count(&mut notes, 1000);
    (is_confirmed, notes.map(|note| note.ledger))
}

#[test]
fn moved_words_are_neither_lost_nor_own() {
    let text = numbered(0, 100);
    let (kept, gone) = text.split_at(text.len() / 3);
    let none = Ledger::default();
    let (is_confirmed, [_, there]) = moves((&none, &text, kept), (&none, "", gone));
    assert_eq!(is_confirmed, [false, false]);
    let mut story = Story {
        ledger: there,
        ..Story::new(gone)
    };
    assert!(story.writes("w1"));
}

#[test]
fn losses_follow_moved_words() {
    let mut story = Story::new(&numbered(0, 100));
    assert!(!story.writes(&numbered(0, 50)));
    // All that is left moves: not a word of it may go.
    let own = numbered(1000, 3000);
    let there = format!("{own}{}", numbered(0, 50));
    let (is_confirmed, [_, ledger]) = moves(
        (&story.ledger, &story.text, ""),
        (&Ledger::default(), &own, &there),
    );
    assert_eq!(is_confirmed, [false, false]);
    assert_eq!(ledger.lost_words(), 50);
    let mut moved = Story {
        ledger,
        ..Story::new(&numbered(0, 50))
    };
    assert!(moved.writes(&numbered(0, 49)));
    // A tenth of it takes a tenth along.
    let (kept, part) = (numbered(0, 45), numbered(45, 50));
    let (_, [_, ledger]) = moves(
        (&story.ledger, &story.text, &kept),
        (&Ledger::default(), "", &part),
    );
    assert_eq!(ledger.lost_words(), 5);
}

#[test]
fn own_padding_does_not_hide_losses() {
    // As much as fits into a ledger, more than that, and more than is counted word by word.
    for words in [1000, MAX_WORDS + 5000, 300_000] {
        let mut story = Story::new(&numbered(0, 100));
        let junk = numbered(1000, 1000 + words);
        assert!(!story.writes(&format!("{}{junk}", numbered(0, 100))));
        assert!(story.writes(&junk), "{words}");
        // Neither does it where only the sums are left.
        story.ledger.slim(1000);
        assert!(story.writes(&junk), "{words}");
    }
}

#[test]
fn restored_words_are_not_own() {
    let mut story = Story::new("");
    assert!(!story.restores(&numbered(0, 100)));
    assert!(!story.writes(&numbered(0, 50)));
    assert!(story.writes(&numbered(0, 25)));
    // What the caller wrote it may drop.
    let mut story = Story::new("");
    assert!(!story.writes(&numbered(0, 100)));
    assert!(!story.writes(&numbered(0, 50)));
    assert!(!story.writes(&numbered(0, 25)));
}

#[test]
fn lines_that_are_joined_or_replaced_in_small_steps_add_up() {
    let lines: Vec<String> = (0..1000).map(|line| format!("line {line}\n")).collect();
    let text = lines.concat();
    let junk = |lines: usize| "x\n".repeat(lines);
    let mut story = Story::new(&text);
    assert!(!story.writes(&format!("{}{}", junk(15), lines[15..].concat())));
    assert!(story.writes(&format!("{}{}", junk(30), lines[30..].concat())));
    // Words that the caller added itself do not hide them.
    let own = numbered(0, 10_000);
    let mut story = Story::new(&text);
    assert!(!story.writes(&format!("{text}{own}")));
    assert!(story.writes(&lines[100..].concat()));
    // Nor does it help to join them first, beside much that is added.
    let mut story = Story::new(&text);
    assert!(!story.writes(&format!(
        "{}\n{own}\n{}",
        text.replace('\n', " "),
        junk(2000)
    )));
    let kept = lines[100..].concat().replace('\n', " ");
    assert!(story.writes(&format!("{kept}\n{own}\n{}", junk(2000))));
    assert!(story.writes(&kept));
    // To join lines and to drop a few words is no harm.
    let mut story = Story::new(&text);
    assert!(!story.writes(&text.replace('\n', " ")));
    for words in 1..15 {
        let kept = lines[words..].concat().replace('\n', " ");
        assert!(!story.writes(&kept), "{words}");
    }
    // Few words at a time of very long lines.
    let long = numbered(0, 10_000);
    let mut story = Story::new(&long);
    let steps = (1..100).take_while(|step| !story.writes(&numbered(step * 30, 10_000)));
    let dropped = steps.count() as u64 * 30;
    assert!(
        (20 * WORDS_PER_LINE..=21 * WORDS_PER_LINE).contains(&dropped),
        "{dropped}"
    );
}

#[test]
fn forgotten_own_words_need_no_approval() {
    let large = MAX_WORDS + 20_000;
    for words in [1000, large] {
        let text = |from: usize| {
            format!(
                "{}{}",
                numbered(1_000_000, 1_000_000 + from),
                numbered(from, words)
            )
        };
        let mut story = Story::new("");
        assert!(!story.writes(&text(0)));
        if words < large {
            story.ledger.slim(1000);
        }
        // Words here and there, up to a small share of the note.
        let share = words as u64 / FREE_SHARE;
        let steps = if words < large { 20 } else { 1 };
        for step in 1..=steps {
            assert!(!story.writes(&text(step)), "{words}: {step}");
        }
        assert_eq!(story.ledger.lost_words(), 0);
        assert!(!story.writes(&text(share as usize)));
        assert!(story.writes(&text(words / 2)), "{words}");
    }
    // Among words of others, it is a share of those.
    let others = numbered(0, 100);
    let mut story = Story::new(&others);
    let own = numbered(1000, 3000);
    assert!(!story.writes(&format!("{others}{own}")));
    story.ledger.slim(1000);
    assert!(!story.writes(&format!("{}{own}", numbered(0, 60))));
    assert_eq!(story.ledger.lost_words(), 35);
    assert!(story.writes(&format!("{}{own}", numbered(0, 40))));
}

#[test]
fn blank_lines_hide_nothing() {
    let lines: Vec<String> = (0..200).map(|line| format!("line {line}\n")).collect();
    let mut story = Story::new(&lines.concat());
    assert!(!story.writes(&format!("{}{}", lines.concat(), "\n".repeat(1000))));
    assert!(story.writes(&format!("{}{}", "\n".repeat(1030), lines[30..].concat())));
    // Lines that the caller added it may drop.
    let own: String = (0..100).map(|line| format!("own {line}\n")).collect();
    assert!(!story.writes(&format!("{}{own}", lines.concat())));
    assert!(!story.writes(&lines.concat()));
    assert!(!story.writes(&lines[10..].concat()));
}

#[test]
fn what_one_dropped_of_ones_own_hides_nothing_when_it_is_restored() {
    let text = numbered(0, 500);
    // As much as fits into a ledger, and more than that, dropped in several steps.
    for (words, step) in [(500, 500), (MAX_WORDS + 3000, 1000)] {
        for slims in [false, true] {
            let mut story = Story::new(&text);
            let junk = |from: usize| numbered(1000 + from, 1000 + words);
            let padded = format!("{text}{}", junk(0));
            assert!(!story.writes(&padded));
            assert!(!story.writes(&format!("{text}{}", junk(step))));
            if slims {
                story.ledger.slim(story.hour);
            }
            assert!(!story.restores(&padded));
            assert!(story.writes(&junk(0)), "{words} {slims}");
        }
    }
    // What was restored may be dropped again.
    let mut story = Story::new(&text);
    let padded = format!("{text}{}", numbered(1000, 1500));
    for _ in 0..3 {
        assert!(!story.writes(&padded));
        assert!(!story.writes(&text));
        assert!(!story.restores(&padded));
    }
    assert!(!story.writes(&text));
    assert_eq!(story.ledger.lost_words(), 0);
}

/// One step of a caller.
#[derive(Debug, Clone)]
enum Step {
    Writes(String),
    /// Brings back what the note was after so many steps.
    Restores(prop::sample::Index),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        "[a-h]( [a-h]){0,12}".prop_map(Step::Writes),
        "[a-p]( [a-p]){0,24}".prop_map(Step::Writes),
        any::<prop::sample::Index>().prop_map(Step::Restores),
    ]
}

proptest! {
    /// Whatever the caller writes and brings back: unasked, half of what was there at first is still there.
    #[test]
    fn half_of_it_stays(steps in prop::collection::vec(step(), 1..25)) {
        let first = "a b c d e f g h a b c d e f g h";
        let mut story = Story::new(first);
        let mut past = vec![first.to_owned()];
        for step in &steps {
            match step {
                Step::Writes(text) => story.writes(text),
                Step::Restores(at) => story.restores(&past[at.index(past.len())]),
            };
            past.push(story.text.clone());
        }
        let mut left = bag(&story.text);
        let kept: u32 = bag(first)
            .into_iter()
            .map(|(word, count)| take(&mut left, word, count))
            .sum();
        prop_assert!(kept >= 8, "{} of 16 words: {}", kept, story.text);
    }

    /// Nobody is asked who only drops what it added.
    #[test]
    fn own_words_are_free(steps in prop::collection::vec("( [a-h]){0,12}", 1..25)) {
        let mut story = Story::new("x y z");
        for step in &steps {
            let text = format!("x y z{step}");
            prop_assert!(!story.writes(&text));
        }
        prop_assert_eq!(story.ledger.lost_words(), 0);
    }

    /// One call and the same change in two calls are judged alike, if the first is not asked about.
    #[test]
    fn small_steps_and_one_large_step_are_equal(
        first in "[a-e]( [a-e]){3,12}", between in "[a-e]( [a-e]){0,12}", last in "[a-e]( [a-e]){0,12}"
    ) {
        let mut steps = Story::new(&first);
        prop_assume!(!steps.writes(&between));
        let lost = |story: &Story| {
            let mut left = bag(&story.text);
            let gone = bag(&first).into_iter();
            gone.map(|(word, count)| u64::from(count - take(&mut left, word, count))).sum::<u64>()
        };
        prop_assert!(steps.ledger.lost_words() >= lost(&steps));
        if !steps.writes(&last) {
            prop_assert!(steps.ledger.lost_words() >= lost(&steps));
            prop_assert!(!Story::new(&first).writes(&last));
        }
    }
}
