//! attributes, set_attributes.

use super::*;

#[test]
fn attributes_are_read_for_every_block_type() {
    let vault = Vault::in_memory().with(
        "A.md",
        "## Head [k:: v]\n\n- [/] do it [due:: 2024-05-01] (who:: [[Ana]]) ^t\n  - [x:: y]\n\n> [!Warning|meta]- Careful now\n> x\n\n```rust ignore\n```\n\nrating:: 5\ntext\n",
    );
    let known = |block: String| ok(&vault, "attributes", json!({ "block": block }));
    let head = known(named(&vault, "A", "## Head"));
    assert_eq!(
        (&head["level"], &head["fields"]),
        (&json!(2), &json!({ "k": "v" }))
    );
    let task = known("A#^t".into());
    assert_eq!(
        (&task["state"], &task["done"]),
        (&json!("/"), &json!(false))
    );
    assert_eq!(
        task["fields"],
        json!({ "due": "2024-05-01", "who": "[[Ana]]" })
    );
    let callout = known(named(&vault, "A", "> [!Warning"));
    assert_eq!(
        (&callout["callout"], &callout["title"], &callout["fold"]),
        (&json!("Warning"), &json!("Careful now"), &json!("closed"))
    );
    assert_eq!(known(named(&vault, "A", "```rust"))["language"], "rust");
    assert_eq!(
        known(named(&vault, "A", "rating"))["fields"],
        json!({ "rating": "5" })
    );
    assert_eq!(
        refused(&vault, "attributes", json!({ "block": "A#^no" })).code(),
        "not_found"
    );
}

#[test]
fn set_attributes_changes_nothing_else() {
    for (note, begins, set, expected) in [
        (
            "- [ ] a ^i\n  - b\n",
            "- [ ] a",
            json!({ "state": "x" }),
            "- [x] a ^i\n  - b\n",
        ),
        ("- a\n", "- a", json!({ "state": " " }), "- [ ] a\n"),
        ("1. [x] a\n", "1. [x]", json!({ "state": "" }), "1. a\n"),
        ("## A ##\n", "## A", json!({ "level": 4 }), "#### A ##\n"),
        ("A\n===\n", "A", json!({ "level": 2 }), "A\n---\n"),
        ("A\nB\n===\n", "A", json!({ "level": 3 }), "### A B\n"),
        (
            "> [!note]- T\n> x\n",
            "> [!note]",
            json!({ "callout": "tip", "fold": "open", "title": "New T" }),
            "> [!tip]+ New T\n> x\n",
        ),
        (
            "> [!note|m] T\r\n> x\r\n",
            "> [!note",
            json!({ "title": "", "fold": "closed" }),
            "> [!note|m]-\r\n> x\r\n",
        ),
        (
            "> x\n",
            "> x",
            json!({ "callout": "tip" }),
            "> [!tip]\n> x\n",
        ),
        (
            "- a [k:: 1] ^i\n  - b\n",
            "- a",
            json!({ "fields": { "k": 2, "new": true } }),
            "- a [k:: 2] [new:: true] ^i\n  - b\n",
        ),
        ("a (k:: 1) b", "a", json!({ "remove_fields": ["K"] }), "a b"),
        (
            "> k:: 1\n> text\n",
            "k::",
            json!({ "fields": { "k": "2" } }),
            "> k:: 2\n> text\n",
        ),
        (
            "- [ ] a\n",
            "- [ ]",
            json!({ "fields": { "due": "today" }, "state": "x" }),
            "- [x] a [due:: today]\n",
        ),
    ] {
        let vault = Vault::in_memory().with("A.md", note);
        let mut arguments = set.clone();
        arguments["block"] = named(&vault, "A", begins).into();
        let written = ok(&vault, "set_attributes", arguments);
        assert_eq!(vault.text("A.md").unwrap(), expected, "{set}");
        assert!(written["block"].is_string(), "{written}");
    }
}

#[test]
fn inapplicable_attributes_are_rejected() {
    let vault = Vault::in_memory().with("A.md", "# H\n\npara\n\n- a\n\n> [!n] T\n\n```\nx\n```\n");
    for (begins, set, code) in [
        ("para", json!({}), "validation_error"),
        ("para", json!({ "state": "x" }), "validation_error"),
        ("para", json!({ "level": 2 }), "validation_error"),
        ("para", json!({ "callout": "tip" }), "validation_error"),
        ("# H", json!({ "level": 7 }), "validation_error"),
        ("- a", json!({ "state": "xx" }), "validation_error"),
        ("- a", json!({ "state": "]" }), "validation_error"),
        ("> [!n]", json!({ "callout": "a]b" }), "validation_error"),
        ("> [!n]", json!({ "title": "a\nb" }), "validation_error"),
        ("> [!n]", json!({ "fold": "half" }), "validation_error"),
        ("```", json!({ "fields": { "k": "v" } }), "validation_error"),
        (
            "para",
            json!({ "fields": { "k": ["v"] } }),
            "validation_error",
        ),
        (
            "para",
            json!({ "fields": { "k]": "v" } }),
            "validation_error",
        ),
        ("para", json!({ "remove_fields": ["k"] }), "not_found"),
    ] {
        let mut arguments = set.clone();
        arguments["block"] = named(&vault, "A", begins).into();
        assert_eq!(
            refused(&vault, "set_attributes", arguments).code(),
            code,
            "{set}"
        );
    }
}
