//! batch.

use super::*;

#[test]
fn batch_applies_all_operations_in_one_commit() {
    let vault = vault().with("B.md", "# B\n");
    let milk = named(&vault, "Plan", "- [ ] buy milk");
    let done = ok(
        &vault,
        "batch",
        json!({ "ops": [
            { "action": "insert", "path": "Plan", "before": milk, "text": "- [ ] first" },
            { "action": "set_attributes", "block": milk, "state": "x" },
            { "action": "append", "parent": "$0", "text": "- below" },
            { "action": "identify", "block": named(&vault, "Plan", "Intro"), "id": "intro" },
            { "action": "edit", "block": "$3", "edits": [{ "old": "text", "new": "words" }] },
            { "action": "move", "block": "Plan#^ana", "parent": "B" },
            { "action": "update", "block": "B#B", "text": "# Bee" },
            { "action": "prepend", "parent": "B#Bee", "text": "top" },
            { "action": "remove", "block": named(&vault, "Plan", "- plain") },
            { "action": "transfer_references", "from": "B#^ana", "to": "Plan#^intro" },
        ] }),
    );
    assert_eq!(done["total"], 10);
    assert_eq!(done["results"][4]["block"], "Work/Plan.md#^intro");
    let text = vault.text("Work/Plan.md").unwrap();
    assert!(text.contains("Intro words here. ^intro\n"), "{text}");
    assert!(
        text.contains("## Tasks\n\n- [ ] first\n  - below\n- [x] buy milk\n\n> [!tip]"),
        "{text}"
    );
    assert_eq!(
        vault.text("B.md").unwrap(),
        "# Bee\n\ntop\n\n- [x] call Ana ^ana\n  - ask about tea\n"
    );
    assert!(
        text_of(
            &vault,
            "batch",
            json!({ "ops": [{ "action": "append", "parent": "B", "text": "x" }] })
        )
        .starts_with("1 operation applied\n$0 append: B.md#b")
    );
}

#[test]
fn failed_batch_changes_nothing() {
    let vault = vault()
        .with("Written/W.md", "w ^w\n")
        .allow("Written", Tier::Write);
    let fine = json!({ "action": "append", "parent": "Plan", "text": "x" });
    for (operation, code) in [
        (json!({}), "validation_error"),
        (json!({ "action": "batch" }), "validation_error"),
        (
            json!({ "action": "update", "block": "Plan#^ana" }),
            "validation_error",
        ),
        (
            json!({ "action": "update", "block": "Plan#^ana", "text": "x", "typo": 1 }),
            "validation_error",
        ),
        (
            json!({ "action": "update", "block": "Plan#^no", "text": "x" }),
            "not_found",
        ),
        (
            json!({ "action": "remove", "block": "$7" }),
            "validation_error",
        ),
        (
            json!({ "action": "remove", "block": "W#^w" }),
            "permission_denied",
        ),
    ] {
        let error = refused(&vault, "batch", json!({ "ops": [fine, operation] }));
        assert_eq!(error.code(), code, "{operation}: {error}");
        assert!(error.message().starts_with("`ops[1]`: "), "{error}");
        assert_eq!(vault.text("Work/Plan.md").unwrap(), PLAN);
    }
    for (ops, code) in [
        (json!([]), "validation_error"),
        (json!(vec![fine; 201]), "too_large"),
        (json!([1]), "validation_error"),
    ] {
        assert_eq!(refused(&vault, "batch", json!({ "ops": ops })).code(), code);
    }
}
