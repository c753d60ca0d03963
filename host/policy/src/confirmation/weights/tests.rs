//! Tests of what a call does to words and lines.

use proptest::prelude::*;

use super::*;

fn weights(before: &str, after: &str) -> TextWeights {
    TextWeights::of(before, after, false, &mut Budget::default())
}

fn drops_content(changes: &[StagedChange]) -> bool {
    CallWeights::of(changes).drops_content()
}

fn modify(before: &str, after: &str) -> StagedChange {
    StagedChange::of_texts("a.md", before, after)
}

#[test]
fn content_is_dropped_where_most_of_it_is_gone() {
    let drops = |before: &str, after: &str| drops_content(&[modify(before, after)]);
    assert!(drops("one two three four\n", "something else\n"));
    assert!(drops("one two three four\n", ""));
    assert!(!drops("one two three four\n", "one two three five\n"));
    assert!(!drops("", "new\n"));
    assert!(!drops("a\nb\n", "b\na\n"));
    // A word of many characters is not one word.
    let token = "0123456789abcdef".repeat(1250);
    assert!(drops(
        &format!("a b c d {token}\n"),
        "a b c d something else\n"
    ));
    assert!(!drops(
        &format!("{token}\n"),
        &format!("{}\n", &token[..12_000])
    ));
    let long = "a line of a long note\n".repeat(100);
    assert!(drops(&long, &long[..22 * 70]));
}

#[test]
fn other_changes_do_not_hide_dropped_content() {
    let wiped = modify("one two three four\n", "");
    let picture = StagedChange {
        path: "!.png".into(),
        kind: ChangeKind::Create,
        before: None,
        after: Some([0xff, 0xfe, 0].as_slice().into()),
        etag_before: None,
        added: 10_000,
        ..modify("", "")
    };
    assert!(drops_content(&[picture.clone(), wiped]));
    assert!(!drops_content(&[picture]));
    let too_large_to_show = StagedChange {
        before: None,
        ..modify("", "small\n")
    };
    assert!(drops_content(&[too_large_to_show]));
}

#[test]
fn moved_content_is_not_dropped() {
    let from = modify("one two three four\n", "[[b]]\n");
    let to = StagedChange {
        path: "b.md".into(),
        ..modify("", "one two three four\n")
    };
    assert!(drops_content(std::slice::from_ref(&from)));
    assert!(!drops_content(&[from, to]));
}

#[test]
fn other_notes_do_not_compensate_lost_lines() {
    let lines: String = (0..1000).map(|line| format!("line {line}\n")).collect();
    let kept = lines.split_inclusive('\n').skip(30).collect::<String>();
    let junk = StagedChange {
        path: "b.md".into(),
        ..modify("", &"junk\n".repeat(100))
    };
    assert!(drops_content(&[modify(&lines, &kept), junk]));
    let blank = format!("{}{kept}", "\n".repeat(30));
    assert!(drops_content(&[modify(&lines, &blank)]));
    let joined = lines.replace("\nline 1", " line 1");
    assert!(!drops_content(&[modify(&lines, &joined)]));
    assert_eq!(weights(&lines, &joined).joined, 111);
}

#[test]
fn unspaced_scripts_count_many_words() {
    let first = "今天去市场买了牛奶和面包，然后回家做饭。";
    let drops = |after: &str| {
        let before = format!("---\ntags: 日记\n---\n{first}\n");
        drops_content(&[modify(&before, &format!("---\ntags: 日记\n---\n{after}\n"))])
    };
    assert!(drops(""));
    assert!(drops("我们在山上看见了一只很大的鸟飞过来。"));
    assert!(!drops(&first.replace("牛奶", "豆浆")));
}

#[test]
fn new_notes_lose_nothing() {
    let picture = StagedChange {
        kind: ChangeKind::Create,
        before: None,
        after: Some([0xff, 0xfe, 0].as_slice().into()),
        etag_before: None,
        ..modify("", "")
    };
    let unseen = StagedChange {
        before: None,
        ..modify("", "small\n")
    };
    let weights = CallWeights::of(&[picture, unseen, modify("a b\n", "b\n")]);
    assert_eq!(weights.lost_words().collect::<Vec<_>>(), [0, u64::MAX, 1]);
}

#[test]
fn links_that_follow_a_rename_lose_nothing() {
    let rename = StagedChange {
        path: "Our plot.md".into(),
        kind: ChangeKind::Rename,
        from: Some("My plan.md".into()),
        before: None,
        after: None,
        ..modify("", "")
    };
    let index = modify(
        "[[My plan]]\n[x](My%20plan.md)\n",
        "[[Our plot]]\n[x](Our%20plot.md)\n",
    );
    assert!(drops_content(std::slice::from_ref(&index)));
    assert!(!drops_content(&[rename.clone(), index]));
    let other = modify("all my secrets are here\n", "gone\n");
    assert!(drops_content(&[rename.clone(), other]));
    let wiped = modify("[[My plan]] [[My plan]]\n", "\n");
    assert!(drops_content(&[rename, wiped]));
}

#[test]
fn lines_with_lost_words_are_lost_despite_replacements() {
    let lines: Vec<String> = (0..1000).map(|line| format!("line {line}\n")).collect();
    let text = lines.concat();
    let drops = |after: &str| drops_content(&[modify(&text, after)]);
    // Something else in their place, also in the middle of the note, and also beside much that is added.
    let junk = format!("{}{}", "x\n".repeat(490), lines[490..].concat());
    assert!(drops(&junk));
    let middle = [&lines[..400], &lines[421..]].map(|part| part.concat());
    assert!(drops(&middle.join(&"x\n".repeat(21))));
    // Joined into one line first, within the same call and in two calls.
    let kept = lines[490..].concat();
    assert!(drops(&kept.replace('\n', " ")));
    let joined = text.replace('\n', " ");
    assert!(!drops(&joined));
    assert_eq!(weights(&text, &joined).joined, 999);
    assert_eq!(
        weights(&text, &format!("{joined}\n{}", "x\n".repeat(2000))).joined,
        999
    );
    let words: Vec<String> = (0..5000).map(|word| format!("word{word} ")).collect();
    let without = |most: u64| words[most as usize..].concat();
    assert!(!drops_content(&[modify(
        &words.concat(),
        &without(WORDS_PER_LINE * 20)
    )]));
    assert!(drops_content(&[modify(
        &words.concat(),
        &without(WORDS_PER_LINE * 21)
    )]));
    // A word of many lines, and many words of few lines, are few lines.
    assert!(!drops(&text.replace("line", "row")));
    assert!(!drops(&lines[20..].concat()));
    let paragraphs = "a paragraph of some words\n".repeat(100);
    assert!(!drops_content(&[modify(
        &paragraphs,
        &paragraphs.replace(" paragraph of some words", " text of a few words")
    )]));
    // What only moves to another line or note is not lost.
    let turned: String = lines.iter().rev().cloned().collect();
    assert!(!drops(&turned));
    let there = StagedChange {
        path: "b.md".into(),
        ..modify("", &lines[..400].concat())
    };
    assert!(!drops_content(&[
        modify(&text, &lines[400..].concat()),
        there
    ]));
}

#[test]
fn a_large_note_that_changes_at_both_ends_is_counted_word_by_word() {
    let line =
        |number: usize| format!("- 12:{number} an entry of a log that has got long {number}\n");
    let log: String = (0..12_000).map(line).collect();
    assert!(log.len() > 500 << 10);
    let before = format!("---\nupdated: 2026-01-01\n---\n{log}");
    let after = format!("---\nupdated: 2026-01-02\n---\n{log}{}", line(12_000));
    assert!(!drops_content(&[modify(&before, &after)]));
    let weights = weights(&before, &after);
    assert_eq!((sum(&weights.removed), weights.removed_more), (1, 0));
    // Of such a note as well many lines are many.
    let kept: String = (30..12_000).map(line).collect();
    assert!(drops_content(&[modify(&before, &kept)]));
}

#[test]
fn counting_memory_of_a_call_is_bounded() {
    // Every word is another one, on a line of its own.
    let changes: Vec<StagedChange> = (0..8)
        .map(|note| {
            let words = |from: usize| -> String {
                (0..40_000)
                    .map(|word| format!("{:x}\n", from + word))
                    .collect()
            };
            modify(&words(note << 20), &words((note << 20) + (1 << 30)))
        })
        .collect();
    let weights = CallWeights::of(&changes);
    let texts = || weights.notes.iter().filter_map(|note| note.text.as_ref());
    let bags =
        texts().flat_map(|text| [Some(&text.removed), Some(&text.added), text.before.as_ref()]);
    let words: usize = bags.flatten().map(Bag::len).sum();
    let budget = Budget::default();
    assert!(words <= budget.words && words > budget.words / 2, "{words}");
    assert!(texts().map(|text| text.lines.words.len()).sum::<usize>() <= budget.words_in_lines);
    // What does not fit is counted as lost.
    assert_eq!(weights.lost_words().sum::<u64>(), 8 * 40_000);
}

#[test]
fn large_changes_are_counted_as_sums() {
    let started = std::time::Instant::now();
    let note = "some words of a long note\n".repeat(10 << 20 >> 4);
    let small = weights(&note, &note.replacen("some words", "words", 1));
    assert_eq!(sum(&small.removed), 1);
    assert!(small.before.is_none());
    assert_eq!(small.words_before, 6 * (10 << 20 >> 4));
    let large = weights(&note, &note.to_uppercase());
    assert_eq!(large.removed_more, large.words_before);
    // In a moment, also where nothing is optimised.
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

#[test]
fn a_share_is_rounded_up_and_bounded() {
    assert_eq!(share(30, 10, 200), 2);
    assert_eq!(share(30, 0, 200), 0);
    assert_eq!(share(30, 5, 0), 0);
    assert_eq!(share(u64::MAX, u64::MAX, 1), u64::MAX);
}

proptest! {
    /// Sums are never less than what counting word by word finds.
    #[test]
    fn sums_bound_what_is_counted(a in "([a-d水]{1,2}[ \n]){0,12}", b in "([a-d水]{1,2}[ \n]){0,12}") {
        let exact = weights(&a, &b);
        let none = &mut Budget { bytes: 0, words: 0, words_in_lines: 0 };
        let rough = TextWeights::of(&a, &b, false, none);
        let lines = |text: &TextWeights| text.lines_of(&text.removed, text.removed_more);
        prop_assert!(rough.removed_more >= sum(&exact.removed) + exact.removed_more);
        prop_assert!(rough.added_more >= sum(&exact.added));
        if !exact.only_adds() {
            prop_assert_eq!(rough.words_before, exact.words_before);
            prop_assert!(lines(&rough) >= lines(&exact));
        }
    }

    #[test]
    fn blank_lines_change_nothing(a in "([a-d] ?\n){0,30}", b in "([a-d] ?\n){0,30}", blank in 0usize..50) {
        let padded = format!("{b}{}", " \n\r\n".repeat(blank));
        let lines = |text: TextWeights| (text.lines_of(&text.removed, 0), text.joined);
        prop_assert_eq!(lines(weights(&a, &b)), lines(weights(&a, &padded)));
    }
}
