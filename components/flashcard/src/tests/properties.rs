//! Property tests: edits change only their range, and any text can be parsed.

use proptest::prelude::*;

use super::*;
use crate::cards::questions;
use crate::comment::parse;
use crate::lines::SCHEDULE;

/// Card lines and lines that only resemble cards.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec![
            "Q::A", "Q:::A", "?", "??", "a ==b== c ==d==", "{{c1::x}} {{y}}", "text", "", "", "  ", "# Heading", "- item::x",
            "> quote >> y", "```", "~~~", "$$", "%%", "<!--", "-->", "    code::x", "| a::b |", "#flashcards/x", "a ^id",
            "<!--SR:!2024-01-01,3,250-->", "b::c <!--SR:!2024-01-01,3,250!2024-02-01,4,260-->", "<!--SR:!x-->", "---", "日本::語 ==字==",
            "#flashcards/y t::u", "`a::b` ==c==", "[[a::b]] ;; c", "x\\", "<!--SR:", "**bold**",
        ]).prop_map(str::to_owned),
        1 => "\\PC{0,20}",
    ]
}

fn note() -> impl Strategy<Value = String> {
    let ending = prop::sample::select(vec!["\n", "\r\n"]);
    let begin = prop::sample::select(vec![
        "",
        "\u{feff}",
        "---\ntags: [flashcards]\n---\n",
        "---\r\ndeck: d\r\n---",
        "#flashcards\n",
    ]);
    (
        begin,
        prop::collection::vec(line(), 0..14),
        ending,
        any::<bool>(),
    )
        .prop_map(|(begin, lines, ending, ends)| {
            let last = if ends { ending } else { "" };
            format!("{begin}{}{last}", lines.join(ending))
        })
}

/// A note with its schedules blanked.
fn unscheduled(note: &str) -> String {
    let mut text = note.to_owned();
    for question in questions(note, false).into_iter().rev() {
        if let Some(comment) = question.schedule {
            text.replace_range(comment.range, "<!---->");
        }
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn parsing_is_deterministic_and_ranges_are_ordered(note in note(), odd in "(?s).{0,200}") {
        for text in [&note, &odd] {
            let found = questions(text, true);
            prop_assert_eq!(&found, &questions(text, true));
            let mut end = 0;
            for question in &found {
                prop_assert!(end <= question.whole.start && question.whole.end <= text.len());
                prop_assert!(question.whole.start <= question.range.start && question.range.end <= question.whole.end);
                prop_assert!(text.get(question.range.clone()).is_some() && text.get(question.whole.clone()).is_some());
                prop_assert!(!question.sides.is_empty());
                end = question.whole.end;
            }
        }
    }

    #[test]
    fn arbitrary_comments_are_parsed(inner in "[!,0-9a-z.:TZ-]{0,60}") {
        let note = format!("{SCHEDULE}{inner}-->");
        let comment = parse(&note, 0..note.len());
        for sibling in 0..=comment.entries.len() {
            if let Some(Ok(entry)) = comment.entry(&note, sibling) {
                let (range, with) = comment.with(&note, sibling, &entry, 0);
                let again = format!("{}{with}{}", &note[..range.start], &note[range.end..]);
                prop_assert_eq!(parse(&again, 0..again.len()).entry(&again, sibling), Some(Ok(entry)));
            }
        }
    }

    #[test]
    fn review_changes_only_the_schedule_and_can_be_undone(note in note(), rating in 1..=4, pick in any::<prop::sample::Index>()) {
        let vault = vault(&note);
        let all = cards(&vault);
        prop_assume!(!all.is_empty());
        let before = store(&vault);
        let card = &all[pick.index(all.len())];
        let answer = notehost_sdk::testing::reply::<Domain>(&vault, "review", &json!({ "card": card, "rating": rating }));
        let after = vault.text("N.md").unwrap();
        prop_assert_eq!(unscheduled(&after), unscheduled(&note));
        match answer {
            Ok(_) => {
                ok(&vault, "undo", json!({}));
                prop_assert_eq!(store(&vault), before);
            }
            Err(error) => prop_assert_eq!(error.code(), "unsupported"),
        }
        prop_assert_eq!(vault.text("N.md").unwrap(), note);
    }

    #[test]
    fn create_then_remove_restores_the_note(
        note in note(),
        front in prop::sample::select(vec!["front", "two\nlines", "日本"]),
        back in prop::sample::select(vec!["back", "- a\n- b", "x\n\ny"]),
    ) {
        let vault = vault(&note);
        let made = notehost_sdk::testing::reply::<Domain>(&vault, "create", &json!({ "path": "N", "cards": [{ "front": front, "back": back }] }));
        let Ok(made) = made else {
            prop_assert_eq!(vault.text("N.md").unwrap(), note);
            return Ok(());
        };
        let text = vault.text("N.md").unwrap();
        prop_assert!(text.starts_with(&note));
        let made = made.json();
        prop_assert_eq!(made["items"].as_array().unwrap().len(), 1);
        ok(&vault, "remove", json!({ "card": made["items"][0]["card"] }));
        prop_assert_eq!(vault.text("N.md").unwrap(), note);
    }

    #[test]
    fn code_math_and_comments_contain_no_cards(
        fence in prop::sample::select(vec![("```\n", "\n```"), ("~~~~\n", "\n~~~~"), ("$$\n", "\n$$"), ("%%\n", "\n%%"), ("<!--\n", "\n-->"), ("> ```\n> ", "\n> ```")]),
        inner in prop::sample::select(vec!["a::b", "==c==", "q\n?\na", "{{x}}", "a >> b"]),
    ) {
        let note = format!("{}{inner}{}\n\nreal::card\n", fence.0, fence.1);
        let found = questions(&note, true);
        prop_assert_eq!(found.len(), 1);
        prop_assert_eq!(found[0].sides[0].front.as_str(), "real");
    }
}

#[test]
fn parsing_a_huge_note_is_linear() {
    // Quadratic parsing would take more than a minute.
    let note = "word ==x `[[ $ %% <!-- {{ :: \n".repeat(300_000);
    assert!(questions(&note, true).len() < 300_000);
    let line = "`".repeat(1_000_000) + &"==a".repeat(1_000_000);
    assert_eq!(questions(&line, true), []);
    let cards = "q::a\n".repeat(100_000);
    assert_eq!(questions(&cards, true).len(), 100_000);
}
