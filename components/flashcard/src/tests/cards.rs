//! The card parser.

use super::*;

fn sides(note: &str) -> Vec<(String, String)> {
    let of = |question: Question| {
        question
            .sides
            .into_iter()
            .map(|side| (side.front, side.back))
    };
    questions(note, false).into_iter().flat_map(of).collect()
}

fn pair(front: &str, back: &str) -> (String, String) {
    (front.to_owned(), back.to_owned())
}

#[test]
fn every_notation_yields_cards() {
    assert_eq!(sides("Q::A"), [pair("Q", "A")]);
    assert_eq!(sides("- [ ] Q :: A ^id1\n"), [pair("Q", "A")]);
    assert_eq!(sides("Q:::A"), [pair("Q", "A"), pair("A", "Q")]);
    assert_eq!(
        sides("Q >> A\nQ ;; B\nC >< D"),
        [
            pair("Q", "A"),
            pair("Q", "B"),
            pair("C", "D"),
            pair("D", "C")
        ]
    );
    assert_eq!(sides("## Q\n?\n- a\n- b\n\nrest"), [pair("Q", "- a\n- b")]);
    assert_eq!(
        sides("Q1\nQ2\r\n??\r\nA\r\n"),
        [pair("Q1\nQ2", "A"), pair("A", "Q1\nQ2")]
    );
    assert_eq!(
        sides("A ==b== c {{d}}."),
        [
            pair("A [...] c d.", "A b c d."),
            pair("A b c [...].", "A b c d.")
        ]
    );
    assert_eq!(
        sides("{{c1::a}} {{c2::b::hint}} {{c1::c}}"),
        [pair("[...] b [...]", "a b c"), pair("a [hint] c", "a b c")]
    );
    assert_eq!(sides("#flashcards/x Q::A"), [pair("Q", "A")]);
    assert_eq!(
        sides("Q\n?\n```\nx\n\ny::z\n```\nend"),
        [pair("Q", "```\nx\n\ny::z\n```\nend")]
    );
}

#[test]
fn bold_text_is_a_cloze_only_if_enabled() {
    assert_eq!(questions("a **b** c", false), []);
    assert_eq!(questions("a **b** c", true)[0].sides[0].front, "a [...] c");
}

#[test]
fn code_math_comments_and_incomplete_cards_are_ignored() {
    for none in [
        "```\na::b\n```",
        "    a::b",
        "`a::b`",
        "$a::b$",
        "$$\na::b\n$$",
        "%%a::b%%",
        "%%\na::b\n%%",
        "<!-- a::b -->",
        "<!--\na::b\n-->",
        "---\na: b::c\n---\n",
        "| a::b | c |",
        "::b",
        "a::",
        "?\nb",
        "a\n?",
        "a\n?\n\nb",
        "",
        "plain ==",
    ] {
        assert_eq!(sides(none), [], "{none}");
    }
}

#[test]
fn a_schedule_belongs_to_the_preceding_passage() {
    let note = "Q::A <!--SR:!2024-01-01,3,250-->\nB::C\n<!--SR:!2024-01-02,3,250-->\nD\n?\nE\n<!--SR:!2024-01-03,3,250-->\nF::G\n";
    let found = questions(note, false);
    let schedules: Vec<Option<&str>> = found
        .iter()
        .map(|question| {
            question
                .schedule
                .as_ref()
                .map(|comment| &note[comment.range.clone()])
        })
        .collect();
    assert_eq!(
        schedules,
        [
            Some("<!--SR:!2024-01-01,3,250-->"),
            Some("<!--SR:!2024-01-02,3,250-->"),
            Some("<!--SR:!2024-01-03,3,250-->"),
            None
        ]
    );
    assert_eq!(&note[found[0].range.clone()], "Q::A");
    assert_eq!(
        &note[found[1].whole.clone()],
        "B::C\n<!--SR:!2024-01-02,3,250-->\n"
    );
    assert_eq!(
        &note[found[2].whole.clone()],
        "D\n?\nE\n<!--SR:!2024-01-03,3,250-->\n"
    );
    assert_eq!(found[2].line, 4);
    let in_code = "a ==b==\n```\n<!--SR:!2024-01-02,3,250-->\n```\n";
    assert_eq!(questions(in_code, false)[0].schedule, None);
}

#[test]
fn lines_and_block_ids_are_reported() {
    let note = "---\na: 1\n---\n\nQ::A ^one\n\ntext\nwith ==gap== ^two\n";
    let found = questions(note, false);
    assert_eq!((found[0].line, found[0].block.as_deref()), (5, Some("one")));
    assert_eq!((found[1].line, found[1].block.as_deref()), (7, Some("two")));
    assert_eq!(found[1].numbered.as_deref(), Some("text\nwith {{c1::gap}}"));
}
