//! Lists and trees.

use super::*;

#[test]
fn list_supports_paging_and_sorting() {
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
fn tree_is_nested_and_rendered() {
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
    let text = text_of(&vault, "tree", json!({ "path": "Work" }));
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
