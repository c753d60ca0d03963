//! History, diffs, undo.

use super::*;

/// A note with three changes: made, edited, renamed.
fn with_history() -> (MemoryVault, Vec<String>) {
    let vault = vault();
    let mut changes = Vec::new();
    for (action, arguments) in [
        ("create", json!({ "path": "Work/A", "content": "one\n" })),
        ("append", json!({ "path": "A", "text": "two" })),
        ("rename", json!({ "path": "A", "to": "B" })),
    ] {
        ok(&vault, action, arguments);
        changes.push(vault.commit(&format!("document.{action}")).unwrap());
    }
    (vault, changes)
}

#[test]
fn history_follows_renames_and_removal() {
    let (vault, changes) = with_history();
    let history = ok(&vault, "history", json!({ "path": "B" }));
    let items = history["items"].as_array().unwrap();
    let listed: Vec<(&str, &str)> = items
        .iter()
        .map(|item| {
            (
                item["change"].as_str().unwrap(),
                item["path"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        listed,
        [
            (&*changes[2], "Work/B.md"),
            (&*changes[1], "Work/A.md"),
            (&*changes[0], "Work/A.md")
        ]
    );
    assert_eq!(
        (&items[0]["kind"], &items[0]["from"]),
        (&json!("rename"), &json!("Work/A.md"))
    );
    assert_eq!(
        (&items[1]["kind"], &items[1]["action"]),
        (&json!("modify"), &json!("document.append"))
    );
    let page = ok(&vault, "history", json!({ "path": "B", "limit": 2 }));
    let rest = ok(
        &vault,
        "history",
        json!({ "path": "B", "limit": 2, "cursor": page["next_cursor"] }),
    );
    assert_eq!(rest["items"][0]["change"], changes[0]);

    ok(&vault, "remove", json!({ "paths": ["B"] }));
    vault.commit("document.remove");
    assert_eq!(
        ok(&vault, "history", json!({ "path": "Work/B" }))["items"][0]["kind"],
        "delete"
    );
    assert_eq!(
        refused(&vault, "history", json!({ "path": "Nobody" })).code(),
        "not_found"
    );
}

#[test]
fn diff_shows_added_and_removed_lines() {
    let (vault, changes) = with_history();
    let diff = ok(
        &vault,
        "diff",
        json!({ "path": "B", "version": changes[1] }),
    );
    assert_eq!((&diff["added"], &diff["removed"]), (&json!(1), &json!(0)));
    assert!(
        diff["diff"]
            .as_str()
            .unwrap()
            .ends_with("@@ -1 +1,2 @@\n one\n+two\n"),
        "{}",
        diff["diff"]
    );
    let made = ok(
        &vault,
        "diff",
        json!({ "path": "B", "version": changes[0], "to": changes[0] }),
    );
    assert!(
        made["diff"]
            .as_str()
            .unwrap()
            .ends_with("@@ -0,0 +1 @@\n+one\n"),
        "{}",
        made["diff"]
    );
    assert_eq!(
        ok(
            &vault,
            "diff",
            json!({ "path": "B", "version": changes[2] })
        )["diff"],
        ""
    );
    assert_eq!(
        refused(&vault, "diff", json!({ "path": "B", "version": "nothing" })).code(),
        "not_found"
    );
    assert_eq!(
        refused(
            &vault,
            "diff",
            json!({ "path": "B", "version": changes[1], "to": "nothing" })
        )
        .code(),
        "not_found"
    );
}

#[test]
fn undo_reverts_changes_in_order() {
    let (vault, changes) = with_history();
    let undone = ok(&vault, "undo", json!({ "path": "B" }));
    assert_eq!(
        (&undone["undone"], &undone["action"]),
        (&json!(changes[2]), &json!("document.rename"))
    );
    vault.commit("document.undo");
    assert_eq!(vault.paths(), ["Work/A.md"]);
    assert_eq!(
        ok(&vault, "undo", json!({ "path": "A" }))["undone"],
        changes[1]
    );
    vault.commit("document.undo");
    assert_eq!(vault.text("Work/A.md").unwrap(), "one\n");
    assert_eq!(
        ok(&vault, "undo", json!({ "change": changes[0] }))["paths"],
        json!(["Work/A.md"])
    );
    vault.commit("document.undo");
    assert_eq!(vault.paths(), [""; 0]);
    assert_eq!(
        refused(&vault, "undo", json!({ "path": "Work/A" })).code(),
        "not_found"
    );
    for arguments in [json!({}), json!({ "path": "A", "change": "x" })] {
        assert_eq!(
            refused(&vault, "undo", arguments).code(),
            "validation_error"
        );
    }
    assert_eq!(
        refused(&vault, "undo", json!({ "change": "nothing" })).code(),
        "not_found"
    );
}
