//! `write`, `edit`, `mkdir`.

use super::*;
use proptest::prelude::*;

#[test]
fn write_creates_and_overwrites_files() {
    let vault = vault();
    let made = ok(
        &vault,
        "write",
        json!({ "path": "/WORK/New/Note", "content": "a\nb" }),
    );
    assert_eq!(
        made,
        json!({ "path": "Work/New/Note.md", "created": true, "changed": true, "lines": { "from": 1, "to": 2, "total": 2 } })
    );
    assert_eq!(vault.text("Work/New/Note.md").unwrap(), "a\nb");
    let again = ok(
        &vault,
        "write",
        json!({ "path": "Work/New/Note", "content": "a\nc" }),
    );
    assert_eq!(
        (&again["created"], &again["lines"]["from"]),
        (&json!(false), &json!(2))
    );
    assert_eq!(vault.text("Work/New/Note.md").unwrap(), "a\nc");
    let same = ok(
        &vault,
        "write",
        json!({ "path": "Work/New/Note.md", "content": "a\nc" }),
    );
    assert_eq!(same["changed"], false);
    ok(
        &vault,
        "write",
        json!({ "path": "Work/data.csv", "content": "" }),
    );
    assert_eq!(vault.text("Work/data.csv").unwrap(), "");
    // `write` does not resolve note names: the path is exact.
    let root = ok(&vault, "write", json!({ "path": "Plan", "content": "x" }));
    assert_eq!(root["path"], "Plan.md");
    assert_eq!(
        text_of(
            &vault,
            "write",
            json!({ "path": "List.txt", "content": "x" })
        ),
        "created `List.txt`"
    );
    assert_eq!(
        text_of(
            &vault,
            "write",
            json!({ "path": "List.txt", "content": "y" })
        ),
        "`List.txt` changed: line 1 of 1 is new"
    );
}

#[test]
fn append_uses_the_files_line_endings() {
    let vault = vault();
    let arguments = json!({ "path": "Work/Budget", "content": "new\nlines", "append": true });
    let reply = ok(&vault, "write", arguments);
    assert_eq!(reply["lines"], json!({ "from": 4, "to": 5, "total": 5 }));
    assert_eq!(
        vault.text("Work/Budget.md").unwrap(),
        "Ten\r\ntodo two\r\nback to [[Plan]]\r\nnew\r\nlines"
    );
    ok(
        &vault,
        "write",
        json!({ "path": "Log", "content": "first\n", "append": true }),
    );
    ok(
        &vault,
        "write",
        json!({ "path": "Log", "content": "second", "append": true }),
    );
    assert_eq!(vault.text("Log.md").unwrap(), "first\nsecond\n");
}

#[test]
fn rejected_writes_change_nothing() {
    let vault = vault()
        .allow("Archive", Tier::Read)
        .with("Archive/A.md", "a");
    for (action, arguments, code) in [
        (
            "write",
            json!({ "path": "Work", "content": "x" }),
            "validation_error",
        ),
        (
            "write",
            json!({ "path": "Work/", "content": "x" }),
            "validation_error",
        ),
        (
            "write",
            json!({ "path": "New/", "content": "x" }),
            "validation_error",
        ),
        (
            "write",
            json!({ "path": "/", "content": "x" }),
            "validation_error",
        ),
        (
            "write",
            json!({ "path": "[[Plan]]", "content": "x" }),
            "validation_error",
        ),
        (
            "write",
            json!({ "path": "../x", "content": "x" }),
            "validation_error",
        ),
        (
            "write",
            json!({ "path": "a:b", "content": "x" }),
            "validation_error",
        ),
        (
            "write",
            json!({ "path": "Plan", "content": "", "append": true }),
            "validation_error",
        ),
        (
            "write",
            json!({ "path": "Work/pic.png", "content": "x" }),
            "unsupported",
        ),
        (
            "write",
            json!({ "path": "Latin", "content": "x", "append": true }),
            "unsupported",
        ),
        (
            "write",
            json!({ "path": "Archive/A.md", "content": "x" }),
            "permission_denied",
        ),
        (
            "write",
            json!({ "path": "Archive/B", "content": "x" }),
            "permission_denied",
        ),
        (
            "edit",
            json!({ "path": "Plan", "edits": [] }),
            "validation_error",
        ),
        (
            "edit",
            json!({ "path": "Plan", "edits": [{ "old": "nowhere", "new": "x" }] }),
            "not_found",
        ),
        (
            "edit",
            json!({ "path": "Nothing", "edits": [{ "old": "a", "new": "x" }] }),
            "not_found",
        ),
        (
            "edit",
            json!({ "path": "Work/Deep", "edits": [{ "old": "a", "new": "x" }] }),
            "validation_error",
        ),
        (
            "edit",
            json!({ "path": "Latin", "edits": [{ "old": "a", "new": "x" }] }),
            "unsupported",
        ),
        (
            "edit",
            json!({ "path": "Archive/A", "edits": [{ "old": "a", "new": "x" }] }),
            "permission_denied",
        ),
        (
            "mkdir",
            json!({ "path": "Work/Plan.md" }),
            "validation_error",
        ),
        (
            "mkdir",
            json!({ "path": "Work/data.csv" }),
            "already_exists",
        ),
        ("mkdir", json!({ "path": "[[Plan]]" }), "validation_error"),
        ("mkdir", json!({ "path": ".." }), "validation_error"),
        (
            "mkdir",
            json!({ "path": "Archive/Sub" }),
            "permission_denied",
        ),
    ] {
        let error = refused(&vault, action, arguments.clone());
        assert_eq!(
            error.code(),
            code,
            "{action} {arguments}: {}",
            error.message()
        );
        assert!(vault.commit("fs").is_none(), "{action} {arguments}");
    }
}

#[test]
fn edit_replaces_exact_text_in_any_text_file() {
    let vault = vault();
    let edited = ok(
        &vault,
        "edit",
        json!({ "path": "./Work/Plan", "edits": [{ "old": "TODO one", "new": "done" }] }),
    );
    assert_eq!(
        (&edited["replacements"], &edited["lines"]["from"]),
        (&json!(1), &json!(7))
    );
    assert!(
        vault
            .text("Work/Plan.md")
            .unwrap()
            .starts_with("---\nstatus: open # why\n---\n")
    );
    ok(
        &vault,
        "edit",
        json!({ "path": "data.csv", "edits": [{ "old": "1", "new": "2" }] }),
    );
    assert_eq!(vault.text("Work/data.csv").unwrap(), "a,b\n2,TODO\n");
}

#[test]
fn mkdir_creates_parents_and_accepts_an_existing_folder() {
    let vault = vault();
    assert_eq!(
        ok(&vault, "mkdir", json!({ "path": "/WORK/A//B/" })),
        json!({ "path": "Work/A/B", "created": true })
    );
    assert_eq!(
        ok(&vault, "mkdir", json!({ "path": "Work/A/b" })),
        json!({ "path": "Work/A/B", "created": false })
    );
    assert_eq!(
        text_of(&vault, "mkdir", json!({ "path": "Work/C" })),
        "created the folder `Work/C`"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Written text is read back byte for byte, whatever the file contained before.
    #[test]
    fn written_text_is_read_back(before in proptest::option::of("[ab\r\n\u{feff}é]{0,12}"), text in "\\PC{0,20}|[a\r\n\u{feff}\t -]{0,20}") {
        let mut vault = Vault::in_memory().with("Other.md", "x");
        if let Some(before) = &before {
            vault = vault.with("A.md", before);
        }
        let written = ok(&vault, "write", json!({ "path": "A", "content": text }));
        prop_assert_eq!(&written["created"], &json!(before.is_none()));
        prop_assert_eq!(&written["changed"], &json!(before.as_ref() != Some(&text)));
        prop_assert_eq!(vault.text("A.md").unwrap(), text.clone());
        prop_assert_eq!(ok(&vault, "cat", json!({ "path": "/A.md" }))["content"].clone(), json!(text));
        prop_assert_eq!(vault.text("Other.md").unwrap(), "x");
    }

    /// Existing bytes stay unchanged in front of appended text.
    #[test]
    fn append_keeps_existing_bytes(before in "[ab\r\n\u{feff}é]{0,12}", text in "[xy\n]{1,8}") {
        let vault = Vault::in_memory().with("A.md", &before);
        ok(&vault, "write", json!({ "path": "A", "content": text, "append": true }));
        let after = vault.text("A.md").unwrap();
        prop_assert!(after.starts_with(&before));
        let flat = |text: &str| text.replace(['\r', '\n'], "");
        prop_assert_eq!(flat(&after), flat(&before) + &flat(&text));
    }

    /// No path makes the domain panic or points outside the vault.
    #[test]
    fn arbitrary_paths_never_panic(path in "[a.:\\\\/ \u{0}é\\[\\]*{|#-]{0,8}", action in 0..11_usize) {
        let vault = Vault::in_memory().with("a/a.md", "[[a]]").with("a.b", "");
        let described = Domain::describe();
        let action = described["actions"][action]["name"].as_str().unwrap();
        let arguments = match action {
            "mv" | "cp" => json!({ "from": path, "to": path }),
            "write" => json!({ "path": path, "content": "x" }),
            "edit" => json!({ "path": path, "edits": [{ "old": "a", "new": "b" }] }),
            "grep" => json!({ "path": path, "pattern": "a" }),
            _ => json!({ "path": path }),
        };
        if let Ok(reply) = Domain::call(&vault, action, &arguments.to_string()) {
            let reply: Value = notehost_sdk::serde_json::from_str(&reply.structured).unwrap();
            if let Some(path) = reply["path"].as_str() {
                prop_assert!(!path.starts_with('/') && !path.split('/').any(|part| part == ".."));
            }
        }
    }
}
