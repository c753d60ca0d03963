//! Writing: insert, append, prepend, update, edit, move, remove.

use super::*;

/// The text of the plan after a call, from its second heading to its third.
fn tasks(vault: &MemoryVault) -> String {
    let text = vault.text("Work/Plan.md").unwrap();
    let from = text.find("## Tasks").unwrap();
    let to = text.find("> [!tip]").unwrap();
    text[from..to].to_owned()
}

#[test]
fn insert_places_blocks_before_after_and_inside() {
    let vault = vault();
    let milk = named(&vault, "Plan", "- [ ] buy milk");
    let written = ok(
        &vault,
        "insert",
        json!({ "path": "Plan", "after": milk, "text": "- [ ] bread" }),
    );
    assert_eq!(written["blocks"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&written["blocks"][0]["type"], &written["blocks"][0]["line"]),
        (&json!("task"), &json!(11))
    );
    let bread = ok(&vault, "get", json!({ "block": written["block"] }));
    assert_eq!(bread["text"], "- [ ] bread");
    ok(
        &vault,
        "insert",
        json!({ "before": "Plan#^ana", "text": "eggs" }),
    );
    ok(
        &vault,
        "insert",
        json!({ "path": "Plan", "parent": "^ana", "text": "* milk?" }),
    );
    assert_eq!(
        tasks(&vault),
        "## Tasks\n\n- [ ] buy milk\n- [ ] bread\n- [ ] eggs\n- [x] call Ana ^ana\n  - ask about tea\n  - milk?\n- plain\n\n"
    );
}

#[test]
fn append_and_prepend_add_child_blocks() {
    let vault = vault();
    ok(
        &vault,
        "append",
        json!({ "parent": "Plan#Last", "text": "the end" }),
    );
    ok(
        &vault,
        "prepend",
        json!({ "parent": "Plan#Tasks", "text": "first" }),
    );
    ok(
        &vault,
        "append",
        json!({ "parent": named(&vault, "Plan", "> [!tip]+"), "text": "```\ncode\n```" }),
    );
    ok(
        &vault,
        "append",
        json!({ "parent": "Plan", "text": "last line" }),
    );
    ok(
        &vault,
        "prepend",
        json!({ "parent": "Work/Plan", "text": "top" }),
    );
    let text = vault.text("Work/Plan.md").unwrap();
    assert!(
        text.starts_with("---\ntitle: Plan\n---\ntop\n\n# Plan\n"),
        "{text}"
    );
    assert!(text.contains("## Tasks\n\nfirst\n\n- [ ]"), "{text}");
    assert!(
        text.contains("> inner text\n>\n> ```\n> code\n> ```\n\n|"),
        "{text}"
    );
    assert!(text.ends_with("```\n\nthe end\n\nlast line\n"), "{text}");
}

#[test]
fn invalid_inserts_are_rejected_and_change_nothing() {
    let vault = vault()
        .with("Locked/L.md", "l ^l\n")
        .with("Other.md", "o ^o\n")
        .allow("Locked", Tier::Read);
    let table = named(&vault, "Plan", "| a | b |");
    let front = named(&vault, "Plan", "---");
    for (action, arguments, code) in [
        (
            "insert",
            json!({ "path": "Plan", "text": "x" }),
            "validation_error",
        ),
        (
            "insert",
            json!({ "path": "Plan", "text": "x", "before": "^ana", "after": "^ana" }),
            "validation_error",
        ),
        (
            "insert",
            json!({ "text": "x", "after": "^ana" }),
            "validation_error",
        ),
        (
            "insert",
            json!({ "path": "Plan", "text": "x", "after": "Other#^o" }),
            "validation_error",
        ),
        (
            "insert",
            json!({ "path": "Plan", "text": " \n", "after": "^ana" }),
            "validation_error",
        ),
        (
            "insert",
            json!({ "path": "Plan", "text": "```\nopen", "after": "Tasks" }),
            "validation_error",
        ),
        (
            "insert",
            json!({ "path": "Plan", "text": "new ^ana", "after": "Tasks" }),
            "already_exists",
        ),
        (
            "insert",
            json!({ "path": "Plan", "text": "x", "before": front }),
            "validation_error",
        ),
        (
            "append",
            json!({ "parent": table, "text": "x" }),
            "validation_error",
        ),
        (
            "append",
            json!({ "parent": "Plan#^no", "text": "x" }),
            "not_found",
        ),
        (
            "prepend",
            json!({ "parent": table, "text": "x" }),
            "validation_error",
        ),
        (
            "prepend",
            json!({ "parent": "Nobody", "text": "x" }),
            "not_found",
        ),
        (
            "append",
            json!({ "parent": "Locked/L", "text": "x" }),
            "permission_denied",
        ),
        (
            "update",
            json!({ "block": "L#^l", "text": "x" }),
            "permission_denied",
        ),
        (
            "update",
            json!({ "block": "Plan#^ana", "text": "" }),
            "validation_error",
        ),
        (
            "update",
            json!({ "block": "Plan#^ana", "text": "%%\nopen" }),
            "validation_error",
        ),
        (
            "edit",
            json!({ "block": "Plan#^ana", "edits": [] }),
            "validation_error",
        ),
        (
            "edit",
            json!({ "block": "Plan#^ana", "edits": [{ "old": "nobody", "new": "x" }] }),
            "not_found",
        ),
        (
            "edit",
            json!({ "block": "Plan#^ana", "edits": [{ "old": "a", "new": "x" }] }),
            "ambiguous_name",
        ),
        (
            "edit",
            json!({ "block": "Other#^o", "edits": [{ "old": "o ^o", "new": "" }] }),
            "validation_error",
        ),
        ("move", json!({ "block": "Plan#^ana" }), "validation_error"),
        (
            "move",
            json!({ "block": "Plan#^ana", "parent": "Plan#^ana" }),
            "validation_error",
        ),
        (
            "move",
            json!({ "block": front, "after": "Plan#^ana" }),
            "unsupported",
        ),
        (
            "move",
            json!({ "block": "Plan#^ana", "after": "L#^l" }),
            "permission_denied",
        ),
        ("remove", json!({ "block": "Plan#^no" }), "not_found"),
        ("remove", json!({ "block": "L#^l" }), "permission_denied"),
    ] {
        let error = refused(&vault, action, arguments.clone());
        assert_eq!(error.code(), code, "{action} {arguments}: {error}");
        vault.rollback();
        assert_eq!(vault.text("Work/Plan.md").unwrap(), PLAN);
    }
}

#[test]
fn update_replaces_text_and_keeps_the_id() {
    let vault = vault();
    let written = ok(
        &vault,
        "update",
        json!({ "block": "Plan#^ana", "text": "- [ ] call Bob" }),
    );
    assert_eq!(written["block"], "Work/Plan.md#^ana");
    assert_eq!(
        tasks(&vault),
        "## Tasks\n\n- [ ] buy milk\n- [ ] call Bob ^ana\n- plain\n\n"
    );
    let same = ok(
        &vault,
        "update",
        json!({ "block": "Plan#^ana", "text": "- [ ] call Bob ^ana" }),
    );
    assert_eq!(same["changed"], false);
    let first = ok(
        &vault,
        "update",
        json!({ "block": named(&vault, "Plan", "- [ ] buy"), "text": "- [x] buy tea" }),
    );
    assert_eq!(first["blocks"][0]["type"], "task");
    let code = named(&vault, "Plan", "```rust");
    ok(
        &vault,
        "update",
        json!({ "block": code, "text": "~~~\nx\n~~~" }),
    );
    assert!(
        vault
            .text("Work/Plan.md")
            .unwrap()
            .ends_with("## Last\n\n~~~\nx\n~~~\n")
    );
}

#[test]
fn edit_replaces_exact_text() {
    let vault = Vault::in_memory().with("A.md", "one\r\n\r\n> two\r\n> three two\r\n\r\ntwo\r\n");
    let inner = named(&vault, "A", "two");
    ok(
        &vault,
        "edit",
        json!({ "block": inner, "edits": [{ "old": "two\nthree", "new": "2\n3\n4" }] }),
    );
    assert_eq!(
        vault.text("A.md").unwrap(),
        "one\r\n\r\n> 2\r\n> 3\r\n> 4 two\r\n\r\ntwo\r\n"
    );
    let error = refused(
        &vault,
        "edit",
        json!({ "block": named(&vault, "A", "2"), "edits": [{ "old": "4 tow", "new": "x" }] }),
    );
    assert_eq!(error.details().unwrap()["nearest"]["line"], 5);
}

#[test]
fn move_keeps_child_items() {
    let vault = vault();
    let plain = named(&vault, "Plan", "- plain");
    let moved = ok(
        &vault,
        "move",
        json!({ "block": "Plan#^ana", "parent": plain }),
    );
    assert_eq!(moved["block"], "Work/Plan.md#^ana");
    assert_eq!(
        tasks(&vault),
        "## Tasks\n\n- [ ] buy milk\n- plain\n  - [x] call Ana ^ana\n    - ask about tea\n\n"
    );
    ok(
        &vault,
        "move",
        json!({ "block": "Plan#^ana", "before": named(&vault, "Plan", "- plain") }),
    );
    assert_eq!(
        tasks(&vault),
        "## Tasks\n\n- [ ] buy milk\n- [x] call Ana ^ana\n  - ask about tea\n- plain\n\n"
    );
}

#[test]
fn move_to_another_note_rewrites_links() {
    let vault = vault()
        .with("B.md", "# B\n")
        .with(
            "C.md",
            "see [[Plan#^ana|her]] and [x](Work/Plan.md#^ana), ![[Work/Plan#^ana]]\n",
        )
        .with("Locked/L.md", "[[Plan#^ana]]\n")
        .allow("Locked", Tier::Read);
    let moved = ok(
        &vault,
        "move",
        json!({ "block": "Plan#^ana", "parent": "B#B" }),
    );
    assert_eq!(
        (&moved["path"], &moved["from"], &moved["block"]),
        (&json!("B.md"), &json!("Work/Plan.md"), &json!("B.md#^ana"))
    );
    assert_eq!(moved["links_rewritten"], 3);
    assert_eq!(moved["links_left"][0]["path"], "Locked/L.md");
    assert_eq!(
        vault.text("B.md").unwrap(),
        "# B\n\n- [x] call Ana ^ana\n  - ask about tea\n"
    );
    assert_eq!(
        vault.text("C.md").unwrap(),
        "see [[B#^ana|her]] and [x](B.md#^ana), ![[B#^ana]]\n"
    );
    assert_eq!(tasks(&vault), "## Tasks\n\n- [ ] buy milk\n- plain\n\n");
}

#[test]
fn move_rejects_a_duplicate_id() {
    let vault = vault().with("D.md", "d ^ana\n");
    let error = refused(
        &vault,
        "move",
        json!({ "block": "Plan#^ana", "after": "D#^ana" }),
    );
    assert_eq!(error.code(), "already_exists");
}

#[test]
fn remove_deletes_a_block() {
    let vault = vault();
    let removed = ok(&vault, "remove", json!({ "block": "Plan#^ana" }));
    assert_eq!(
        (&removed["line"], &removed["text"]),
        (&json!(11), &json!("- [x] call Ana ^ana\n  - ask about tea"))
    );
    ok(
        &vault,
        "remove",
        json!({ "block": named(&vault, "Plan", "> [!tip]+") }),
    );
    ok(
        &vault,
        "remove",
        json!({ "block": named(&vault, "Plan", "```rust") }),
    );
    ok(
        &vault,
        "remove",
        json!({ "block": named(&vault, "Plan", "---") }),
    );
    assert_eq!(
        vault.text("Work/Plan.md").unwrap(),
        "# Plan\n\nIntro text here.\n\n## Tasks\n\n- [ ] buy milk\n- plain\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n## Last\n"
    );
}
