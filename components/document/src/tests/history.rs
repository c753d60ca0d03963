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
fn history_counts_lines_and_names_states_of_other_programs() {
    let vault = vault().with("Work/A.md", "one\n");
    ok(&vault, "append", json!({ "path": "A", "text": "two" }));
    let change = vault.commit("document.append").unwrap();
    let page = ok(&vault, "history", json!({ "path": "A" }));
    assert_eq!(
        page["items"],
        json!([
            {
                "version": change,
                "path": "Work/A.md",
                "change": change,
                "time": "2026-01-01T00:00:00Z",
                "caller": "test",
                "action": "document.append",
                "kind": "modify",
                "added": 1,
                "removed": 0
            },
            { "version": format!("before-{change}"), "path": "Work/A.md" }
        ])
    );
    for arguments in [
        json!({ "path": "A", "cursor": "n1" }),
        json!({ "path": "A", "limit": 0 }),
        json!({ "path": "A", "limit": 501 }),
    ] {
        assert_eq!(
            refused(&vault, "history", arguments).code(),
            "validation_error"
        );
    }
}

#[test]
fn diff_shows_added_and_removed_lines() {
    let (vault, changes) = with_history();
    let diff = |arguments| ok(&vault, "diff", arguments);
    let since = diff(json!({ "path": "B", "version": changes[0] }));
    assert_eq!((&since["added"], &since["removed"]), (&json!(1), &json!(0)));
    assert!(
        since["diff"]
            .as_str()
            .unwrap()
            .ends_with("@@ -1 +1,2 @@\n one\n+two\n"),
        "{}",
        since["diff"]
    );
    let before = format!("before-{}", changes[0]);
    let made = diff(json!({ "path": "B", "version": before, "to": changes[0] }));
    assert!(
        made["diff"]
            .as_str()
            .unwrap()
            .ends_with("@@ -0,0 +1 @@\n+one\n"),
        "{}",
        made["diff"]
    );
    let same = diff(json!({ "path": "B", "version": changes[2] }));
    assert_eq!(same["diff"], "");
    for arguments in [
        json!({ "path": "B", "version": "nothing" }),
        json!({ "path": "B", "version": changes[1], "to": "nothing" }),
    ] {
        assert_eq!(refused(&vault, "diff", arguments).code(), "not_found");
    }
}

#[test]
fn an_earlier_version_can_be_read() {
    let (vault, changes) = with_history();
    let read = |arguments| ok(&vault, "read", arguments);
    let old = read(json!({ "path": "B", "version": changes[0] }));
    assert_eq!(
        (&old["path"], &old["content"], &old["version"]),
        (&json!("Work/B.md"), &json!("one\n"), &json!(changes[0]))
    );
    assert_ne!(old["etag"], read(json!({ "path": "B" }))["etag"]);
    let page = read(json!({ "path": "B", "version": changes[1], "offset": 2, "limit": 1 }));
    assert_eq!(page["content"], "two\n");
    let detailed = read(json!({ "path": "B", "version": changes[0], "format": "detailed" }));
    assert_eq!(
        (&detailed["size"], &detailed["modified"]),
        (&json!(4), &json!(null))
    );
    assert_eq!(
        refused(&vault, "read", json!({ "path": "B", "version": "nothing" })).code(),
        "not_found"
    );
}

#[test]
fn a_version_is_restored_although_the_note_changed_later() {
    let (vault, changes) = with_history();
    let restore = |arguments| ok(&vault, "restore_version", arguments);
    let done = restore(json!({ "path": "B", "version": changes[0] }));
    assert_eq!(
        done,
        json!({ "path": "Work/B.md", "version": changes[0], "changed": true })
    );
    assert_eq!(vault.text("Work/B.md").unwrap(), "one\n");
    let restored = vault.commit("document.restore_version").unwrap();
    assert_eq!(
        restore(json!({ "path": "B", "version": restored }))["changed"],
        false
    );
    ok(&vault, "undo", json!({ "change": restored }));
    assert_eq!(vault.text("Work/B.md").unwrap(), "one\ntwo\n");
    vault.commit("document.undo");
    // A removed note comes back where it was.
    ok(&vault, "remove", json!({ "paths": ["B"] }));
    vault.commit("document.remove");
    restore(json!({ "path": "Work/B", "version": changes[1] }));
    assert_eq!(vault.text("Work/B.md").unwrap(), "one\ntwo\n");
    for version in ["nothing", &format!("before-{}", changes[0])] {
        let arguments = json!({ "path": "Work/B", "version": version });
        assert_eq!(
            refused(&vault, "restore_version", arguments).code(),
            "not_found"
        );
    }
}

#[test]
fn one_section_of_a_version_is_restored() {
    let vault = vault().with("A.md", "# T\n\n## Plan\none\n\n## Log\nlater\n");
    let text = "# T\n\n## Plan\nchanged\n\n## Log\nlater\nnow\n";
    ok(&vault, "update", json!({ "path": "A", "content": text }));
    let change = vault.commit("document.update").unwrap();
    let version = format!("before-{change}");
    let restore = |section| {
        let arguments = json!({ "path": "A", "version": version, "section": section });
        ok(&vault, "restore_version", arguments)
    };
    assert_eq!(restore("Plan")["lines"]["from"], 4);
    assert_eq!(
        vault.text("A.md").unwrap(),
        "# T\n\n## Plan\none\n\n## Log\nlater\nnow\n"
    );
    ok(
        &vault,
        "delete_section",
        json!({ "path": "A", "section": "Plan" }),
    );
    restore("Plan");
    assert_eq!(
        vault.text("A.md").unwrap(),
        "# T\n\n## Plan\none\n\n## Log\nlater\nnow\n"
    );
    let unknown = json!({ "path": "A", "version": version, "section": "Nowhere" });
    assert_eq!(
        refused(&vault, "restore_version", unknown).code(),
        "not_found"
    );
}

#[test]
fn versions_have_names() {
    let (vault, changes) = with_history();
    let name = |arguments| ok(&vault, "name_version", arguments);
    assert_eq!(
        name(json!({ "path": "B", "name": " final " })),
        json!({ "path": "Work/B.md", "version": "current", "name": "final" })
    );
    name(json!({ "path": "B", "version": changes[0], "name": "draft" }));
    let listed = ok(&vault, "history", json!({ "path": "B" }));
    let names: Vec<&Value> = listed["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| &item["name"])
        .collect();
    assert_eq!(names, [&json!("final"), &json!(null), &json!("draft")]);
    let old = ok(&vault, "read", json!({ "path": "B", "version": "draft" }));
    assert_eq!(old["content"], "one\n");
    ok(
        &vault,
        "restore_version",
        json!({ "path": "B", "version": "draft" }),
    );
    assert_eq!(vault.text("Work/B.md").unwrap(), "one\n");
    // A new name replaces the old one, and names are unique per note.
    name(json!({ "path": "B", "version": "draft", "name": "first" }));
    for (arguments, code) in [
        (
            json!({ "path": "B", "version": "draft", "name": "x" }),
            "not_found",
        ),
        (
            json!({ "path": "B", "version": changes[0], "name": "Final" }),
            "already_exists",
        ),
        (
            json!({ "path": "B", "name": "before-x" }),
            "validation_error",
        ),
        (json!({ "path": "Nobody", "name": "x" }), "not_found"),
    ] {
        assert_eq!(refused(&vault, "name_version", arguments).code(), code);
    }
    name(json!({ "path": "B", "version": "first", "name": "" }));
    let again = json!({ "path": "B", "version": changes[0], "name": "" });
    assert_eq!(refused(&vault, "name_version", again).code(), "not_found");
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
