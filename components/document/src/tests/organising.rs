//! Moving, removing, listing, history, splitting and joining.

use super::*;

#[test]
fn links_follow_a_renamed_note() {
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
fn notes_move_into_a_folder() {
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
    let twins = refused(
        &vault,
        "move",
        json!({ "paths": ["Sub/A", "New/Folder/A"], "to": "X" }),
    );
    assert_eq!(twins.code(), "validation_error");
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
fn a_copy_has_the_same_bytes() {
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
fn removed_notes_go_to_the_trash_and_come_back() {
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
fn links_to_a_removed_note_are_kept_marked_or_unlinked() {
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
fn writing_is_not_removing() {
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

#[test]
fn a_folder_is_listed_in_pages_and_orders() {
    let vault = vault()
        .at(3_000)
        .with("Work/b.md", "bb")
        .at(2_000)
        .with("Work/Sub/A.md", "a")
        .at(1_000)
        .with("c.md", "ccc")
        .with("pic.png", "")
        .with("Diary/x.md", "")
        .allow("Diary", Tier::None);
    let listed = |arguments| ok(&vault, "list", arguments);
    let paths = |listed: &Value| -> Vec<String> {
        listed["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["path"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        listed(json!({}))["items"],
        json!([{ "path": "Work", "kind": "folder" }, { "path": "c.md" }])
    );
    assert_eq!(
        paths(&listed(json!({ "path": "work/", "recursive": true }))),
        ["Work/Sub/A.md", "Work/b.md"]
    );
    assert_eq!(
        paths(&listed(json!({ "recursive": true, "sort": "name" }))),
        ["Work/Sub/A.md", "Work/b.md", "c.md"]
    );
    assert_eq!(
        paths(&listed(json!({ "recursive": true, "sort": "size" }))),
        ["c.md", "Work/b.md", "Work/Sub/A.md"]
    );
    let latest = listed(json!({ "recursive": true, "sort": "modified", "limit": 2 }));
    assert_eq!(paths(&latest), ["Work/b.md", "Work/Sub/A.md"]);
    assert_eq!(latest["items"][0]["modified"], "1970-01-01T00:00:03Z");
    assert_eq!(latest["total"], 3);
    let rest = listed(
        json!({ "recursive": true, "sort": "modified", "limit": 2, "cursor": latest["next_cursor"] }),
    );
    assert_eq!(paths(&rest), ["c.md"]);
    assert_eq!(
        listed(json!({ "format": "detailed" }))["items"][1]["size"],
        3
    );
    assert_eq!(
        refused(&vault, "list", json!({ "path": "Diary" })).code(),
        "not_found"
    );
    assert_eq!(
        refused(&vault, "list", json!({ "cursor": "n" })).code(),
        "validation_error"
    );
    assert_eq!(
        refused(&vault, "list", json!({ "limit": 501 })).code(),
        "validation_error"
    );
}

#[test]
fn a_tree_is_nested_and_drawn() {
    let vault = vault()
        .with("Work/Sub/Deep/A.md", "")
        .with("Work/B.md", "")
        .with("C.md", "")
        .with("x.png", "");
    let tree = ok(&vault, "tree", json!({ "depth": 2 }));
    assert_eq!(
        tree["items"],
        json!([
            { "path": "Work", "kind": "folder", "notes": 2, "items": [
                { "path": "Work/Sub", "kind": "folder", "notes": 1 },
                { "path": "Work/B.md" },
            ] },
            { "path": "C.md" },
        ])
    );
    let text = reply(&vault, "tree", json!({ "path": "Work" }))
        .unwrap()
        .text;
    assert_eq!(
        text,
        "Work: 2 notes\n├─ Sub/ (1)\n│  └─ Deep/ (1)\n│     └─ A\n└─ B"
    );
    assert_eq!(
        refused(&vault, "tree", json!({ "depth": 0 })).code(),
        "validation_error"
    );
    assert_eq!(
        refused(&vault, "tree", json!({ "path": "Nobody" })).code(),
        "not_found"
    );

    let large = (0..60).flat_map(|folder| (0..10).map(move |note| format!("F{folder}/N{note}.md")));
    let large = large.fold(Vault::in_memory(), |vault, path| vault.with(&path, ""));
    let tree = ok(&large, "tree", json!({}));
    assert_eq!((&tree["depth"], &tree["total"]), (&json!(1), &json!(600)));
}

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
fn history_goes_through_renames_and_removal() {
    let (vault, changes) = with_history();
    let history = ok(&vault, "history", json!({ "path": "B" }));
    let items = history["items"].as_array().unwrap();
    let told: Vec<(&str, &str)> = items
        .iter()
        .map(|item| {
            (
                item["change"].as_str().unwrap(),
                item["path"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        told,
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
fn a_diff_tells_what_changes_did() {
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
fn undo_takes_back_change_after_change() {
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

#[test]
fn a_section_becomes_a_note_and_links_follow_it() {
    let text = "# Plan\r\nsee [[#Risks]] and [[#Goals]]\r\n## Risks\r\n[[Plan#Deep]] [[#Goals]] [x](Other.md)\r\n### Deep\r\n- d ^b1\r\n\r\n## Goals\r\ng\r\n";
    let vault = vault().with("Work/Plan.md", text).with(
        "Work/Other.md",
        "[[Plan#Risks|r]] [[Plan#^b1]] [[Plan#Goals]] [[Plan]] [m](Plan.md#Deep)\n",
    );
    let made = ok(
        &vault,
        "extract_section",
        json!({ "path": "Plan", "section": "Risks", "to": "Home/Risks" }),
    );
    assert_eq!(
        (&made["path"], &made["line"], &made["links_rewritten"]),
        (&json!("Home/Risks.md"), &json!(3), &json!(3))
    );
    assert_eq!(
        vault.text("Home/Risks.md").unwrap(),
        "## Risks\r\n[[Risks#Deep]] [[Work/Plan#Goals]] [x](../Work/Other.md)\r\n### Deep\r\n- d ^b1\r\n"
    );
    assert_eq!(
        vault.text("Work/Plan.md").unwrap(),
        "# Plan\r\nsee [[Home/Risks#Risks]] and [[#Goals]]\r\n\r\n[[Risks]]\r\n\r\n## Goals\r\ng\r\n"
    );
    assert_eq!(
        vault.text("Work/Other.md").unwrap(),
        "[[Risks#Risks|r]] [[Risks#^b1]] [[Plan#Goals]] [[Plan]] [m](../Home/Risks.md#Deep)\n"
    );
    let taken = refused(
        &vault,
        "extract_section",
        json!({ "path": "Plan", "section": "Goals", "to": "Other" }),
    );
    assert_eq!(taken.code(), "already_exists");
}

#[test]
fn an_extracted_section_can_stay_embedded_and_keeps_its_end() {
    let vault = vault().with("A.md", "## B\nb\nSet\n===\n## C\nc");
    ok(
        &vault,
        "extract_section",
        json!({ "path": "A", "section": "B", "to": "B", "embed": true }),
    );
    ok(
        &vault,
        "extract_section",
        json!({ "path": "A", "section": "C", "to": "C#1" }),
    );
    assert_eq!(vault.text("B.md").unwrap(), "## B\n");
    assert_eq!(vault.text("C#1.md").unwrap(), "## C\nc");
    assert_eq!(
        vault.text("A.md").unwrap(),
        "![[B]]\n\nb\nSet\n===\n\n[C#1](C%231.md)"
    );
}

#[test]
fn a_note_becomes_a_section_and_links_lead_there() {
    let vault = vault()
        .with(
            "Work/Plan.md",
            "---\nowner: Ana\n---\n# Plan\nintro [[#Risks]] [o](Other.md)\n## Risks\nr [[Plan]]\n",
        )
        .with(
            "Home/All.md",
            "# All\n\n## Now\nsee [[Plan]]\n\n## Later\nl",
        )
        .with("Work/Other.md", "[[Plan]] [[Plan#Risks|r]] [p](Plan.md)\n")
        .with("Locked/L.md", "[[Plan]]\n")
        .allow("Locked", Tier::Read);
    let merged = ok(
        &vault,
        "merge",
        json!({ "path": "Plan", "into": "All", "section": "Now" }),
    );
    assert_eq!(
        (&merged["path"], &merged["section"], &merged["line"]),
        (&json!("Home/All.md"), &json!("All > Now > Plan"), &json!(6))
    );
    assert_eq!(merged["properties_left"], json!({ "owner": "Ana" }));
    assert_eq!(merged["links_left"][0]["path"], "Locked/L.md");
    assert_eq!(
        vault.text("Home/All.md").unwrap(),
        "# All\n\n## Now\nsee [[All#Plan]]\n\n### Plan\n\nintro [[#Risks]] [o](../Work/Other.md)\n#### Risks\nr [[All#Plan]]\n\n## Later\nl"
    );
    assert_eq!(
        vault.text("Work/Other.md").unwrap(),
        "[[All#Plan]] [[All#Risks|r]] [p](../Home/All.md#Plan)\n"
    );
    assert!(vault.text("Work/Plan.md").is_none());
    ok(
        &vault,
        "restore",
        json!({ "trash_id": merged["trash_ids"][0] }),
    );
    assert_eq!(
        refused(&vault, "merge", json!({ "path": "Plan", "into": "Plan" })).code(),
        "validation_error"
    );
    assert_eq!(
        refused(
            &vault,
            "merge",
            json!({ "path": "Plan", "into": "All", "section": "No" })
        )
        .code(),
        "not_found"
    );
}

#[test]
fn a_merged_note_fits_the_end_of_the_other() {
    for (into, from, merged) in [
        ("", "a\n", "## A\n\na\n"),
        ("x\r\n", "a\nb", "x\r\n\r\n## A\r\n\r\na\r\nb\r\n"),
        ("# T\n## One\n\n", "", "# T\n## One\n\n## A\n"),
        (
            "# One\n# Two",
            "Head\n===\nh\n",
            "# One\n# Two\n\n# A\n\n## Head\nh",
        ),
    ] {
        let vault = vault().with("Into.md", into).with("A.md", from);
        ok(&vault, "merge", json!({ "path": "A", "into": "Into" }));
        assert_eq!(vault.text("Into.md").unwrap(), merged);
    }
}
