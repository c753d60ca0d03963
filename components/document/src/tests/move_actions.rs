//! Moving, copying, removing, restoring.

use super::*;

#[test]
fn rename_rewrites_links() {
    let vault = vault()
        .with("Work/Plan.md", "# Plan\n")
        .with(
            "Home.md",
            "[[Plan]] ![[plan#Goals]] [p](Work/Plan.md) `[[Plan]]`\r\n",
        )
        .with("Locked/L.md", "see [[Plan]]\n")
        .allow("Locked", Tier::Read);
    let moved = ok(&vault, "rename", json!({ "path": "Plan", "to": "Roadmap" }));
    assert_eq!(moved["paths"], json!(["Work/Roadmap.md"]));
    assert_eq!(moved["links_rewritten"], 3);
    assert_eq!(moved["links_left"][0]["path"], "Locked/L.md");
    assert_eq!(moved["links_left"][0]["line"], 1);
    assert_eq!(
        vault.text("Home.md").unwrap(),
        "[[Roadmap]] ![[Roadmap#Goals]] [p](Work/Roadmap.md) `[[Plan]]`\r\n"
    );

    assert_eq!(
        ok(
            &vault,
            "rename",
            json!({ "path": "Roadmap", "to": "Home/Plan.md" })
        )["paths"],
        json!(["Home/Plan.md"])
    );
    let same = ok(
        &vault,
        "rename",
        json!({ "path": "Home/Plan", "to": "Plan" }),
    );
    assert_eq!(
        (&same["paths"], &same["links_rewritten"]),
        (&json!(["Home/Plan.md"]), &json!(0))
    );
    let vault = vault.with("A.md", "").with("B.md", "");
    assert_eq!(
        refused(&vault, "rename", json!({ "path": "A", "to": "b" })).code(),
        "already_exists"
    );
    assert_eq!(
        refused(&vault, "rename", json!({ "path": "A", "to": "" })).code(),
        "validation_error"
    );
    assert_eq!(
        ok(&vault, "rename", json!({ "path": "A", "to": "a" }))["paths"],
        json!(["a.md"])
    );
}

#[test]
fn move_puts_notes_into_a_folder() {
    let vault = vault()
        .with("A.md", "[[B]] [b](B.md)\n")
        .with("B.md", "x")
        .with_bytes("Odd.md", b"\xff")
        .with("Sub/A.md", "");
    let moved = ok(
        &vault,
        "move",
        json!({ "paths": ["A.md", "Odd", "A.md"], "to": "New/Folder" }),
    );
    assert_eq!(
        moved["paths"],
        json!(["New/Folder/A.md", "New/Folder/Odd.md"])
    );
    assert_eq!(
        vault.text("New/Folder/A.md").unwrap(),
        "[[B]] [b](../../B.md)\n"
    );
    assert_eq!(vault.bytes("New/Folder/Odd.md").unwrap(), b"\xff");
    assert_eq!(
        ok(&vault, "move", json!({ "paths": ["Odd"], "to": "/" }))["paths"],
        json!(["Odd.md"])
    );
    assert_eq!(
        refused(&vault, "move", json!({ "paths": [], "to": "X" })).code(),
        "validation_error"
    );
    let same_name = refused(
        &vault,
        "move",
        json!({ "paths": ["Sub/A", "New/Folder/A"], "to": "X" }),
    );
    assert_eq!(same_name.code(), "validation_error");
    assert_eq!(
        refused(
            &vault,
            "move",
            json!({ "paths": ["Sub/A"], "to": "New/Folder" })
        )
        .code(),
        "already_exists"
    );
}

#[test]
fn copy_has_the_same_bytes() {
    let vault = vault().with_bytes("Work/A.md", b"\xef\xbb\xbfa\r\n\xff");
    assert_eq!(
        ok(&vault, "copy", json!({ "path": "A", "to": "B" }))["path"],
        "Work/B.md"
    );
    assert_eq!(
        ok(&vault, "copy", json!({ "path": "Work/A", "to": "Home/" }))["path"],
        "Home/A.md"
    );
    assert_eq!(vault.bytes("Home/A.md"), vault.bytes("Work/A.md"));
    assert_eq!(
        refused(&vault, "copy", json!({ "path": "Work/A", "to": "b" })).code(),
        "already_exists"
    );
}

#[test]
fn removed_notes_can_be_restored() {
    let vault = vault()
        .with("Work/A.md", "a")
        .with("B.md", "[[A]]")
        .with("C.md", "c");
    let removed = ok(&vault, "remove", json!({ "paths": ["A", "C.md", "[[A]]"] }));
    assert_eq!(removed["paths"], json!(["Work/A.md", "C.md"]));
    assert_eq!(vault.paths(), ["B.md"]);
    assert_eq!(vault.text("B.md").unwrap(), "[[A]]");
    vault.commit("document.remove");
    let trash = ok(&vault, "trash", json!({ "limit": 1 }));
    assert_eq!(trash["items"][0]["path"], "C.md");
    let rest = ok(
        &vault,
        "trash",
        json!({ "limit": 1, "cursor": trash["next_cursor"] }),
    );
    assert_eq!(rest["items"][0]["trash_id"], removed["trash_ids"][0]);
    assert!(rest.get("next_cursor").is_none());
    assert_eq!(
        ok(
            &vault,
            "restore",
            json!({ "trash_id": removed["trash_ids"][0] })
        )["path"],
        "Work/A.md"
    );
    assert_eq!(
        ok(
            &vault,
            "restore",
            json!({ "trash_id": removed["trash_ids"][1], "to": "Work/D" })
        )["path"],
        "Work/D.md"
    );
    assert_eq!(
        refused(&vault, "restore", json!({ "trash_id": "nothing" })).code(),
        "not_found"
    );
    assert_eq!(
        refused(&vault, "remove", json!({ "paths": [] })).code(),
        "validation_error"
    );
    assert_eq!(
        refused(&vault, "remove", json!({ "paths": ["B", "Nobody"] })).code(),
        "not_found"
    );
    assert_eq!(ok(&vault, "trash", json!({}))["items"], json!([]));
}

#[test]
fn remove_keeps_marks_or_unlinks_links() {
    for (links, text, count) in [
        ("keep", "[[My A|x]] [y](Work/My%20A.md) [[B]]", 0),
        ("mark", "~~x~~ ~~y~~ [[B]]", 2),
        ("unlink", "x y [[B]]", 2),
    ] {
        let vault = vault()
            .with("Work/My A.md", "")
            .with("B.md", "[[My A|x]] [y](Work/My%20A.md) [[B]]")
            .with("Locked/L.md", "\n[[My A]]\n")
            .allow("Locked", Tier::Read);
        let removed = ok(
            &vault,
            "remove",
            json!({ "paths": ["My A"], "links": links }),
        );
        assert_eq!(vault.text("B.md").unwrap(), text);
        assert_eq!(removed["links_rewritten"], count);
        if links != "keep" {
            assert_eq!(removed["links_left"][0]["line"], 2);
            assert_eq!(removed["links_left"][0]["link"], "[[My A]]");
        }
    }
}

#[test]
fn write_access_does_not_allow_removal() {
    let vault = vault()
        .with("Work/A.md", "a")
        .with("B.md", "b")
        .allow("Work", Tier::Write);
    assert_eq!(
        refused(&vault, "remove", json!({ "paths": ["A"] })).code(),
        "permission_denied"
    );
    assert_eq!(
        refused(&vault, "merge", json!({ "path": "A", "into": "B" })).code(),
        "permission_denied"
    );
}
