//! Tests of `of`, `unused`, `remove_unused` and `missing`.

use crate::Domain;
use notehost_sdk::prelude::*;
use notehost_sdk::testing::each;
use notehost_sdk::{MemoryVault, Tier, calls};

calls!(Domain);

#[test]
fn the_files_of_a_note_are_listed() {
    let vault = Vault::in_memory()
        .with("P/a.png", "123")
        .with("b.pdf", "1")
        .with("Other.md", "")
        .with(
            "N.md",
            "---\ncover: \"[[a.png]]\"\n---\n![[a.png]] [b](b.pdf#page=2) [[Other]]\n![[gone.jpg]] [[Gone]] https://x/y.png\n![](https://x/y.png)",
        );
    let used = ok(&vault, "of", json!({"path": "N"}));
    assert_eq!(used["note"], "N.md");
    assert_eq!(
        each(&used, "path"),
        ["P/a.png", "P/a.png", "b.pdf", "gone.jpg"]
    );
    assert_eq!(each(&used, "embedded"), [false, true, false, true]);
    assert_eq!(each(&used, "exists"), [true, true, true, false]);
    assert_eq!(each(&used, "line"), [2, 4, 4, 5]);
    assert_eq!(used["items"][1]["size"], 3);
    assert!(used["items"][3].get("size").is_none());
    assert_eq!(all_pages(&vault, "of", &json!({"path": "N"}), 3).len(), 4);
    assert!(text_of(&vault, "of", json!({"path": "Other"})).contains("uses no files"));
    assert_eq!(
        refused(&vault, "of", json!({"path": "Gone"})).code(),
        "not_found"
    );
    assert_eq!(
        refused(&vault, "of", json!({"path": "N", "limit": 0})).code(),
        "validation_error"
    );
}

fn garden() -> MemoryVault {
    Vault::in_memory()
        .with("F/linked.png", "1")
        .with("F/canvas.png", "1")
        .with("F/text.png", "1")
        .with("F/html.png", "1")
        .with("F/cover.png", "1")
        .with("F/un used.png", "12")
        .with("F/unused.pdf", "123")
        .with("F/Map.canvas", "{\"nodes\":[{\"file\":\"F/canvas.png\"},{\"text\":\"![[text.png]]\"}]}")
        .with("F/Data.base", "")
        .with("N.md", "---\ncover: F/cover.png\nlist: [{deep: x.y}]\n---\n![[linked.png]] <IMG alt=x SRC = 'F/html%2Epng'> `un used.png`")
}

#[test]
fn a_file_is_unused_only_without_any_reference() {
    let unused = ok(&garden(), "unused", json!({}));
    assert_eq!(each(&unused, "path"), ["F/un used.png", "F/unused.pdf"]);
    assert_eq!(
        (&unused["total"], &unused["total_size"]),
        (&json!(2), &json!(5))
    );
    assert!(unused["caveat"].as_str().unwrap().contains("may not read"));
    let pictures = ok(
        &garden(),
        "unused",
        json!({"kinds": ["image"], "path": "F"}),
    );
    assert_eq!(each(&pictures, "path"), ["F/un used.png"]);
    assert_eq!(all_pages(&garden(), "unused", &json!({}), 1).len(), 2);
    assert_eq!(
        refused(&garden(), "unused", json!({"path": "Gone"})).code(),
        "not_found"
    );
    assert_eq!(
        refused(&garden(), "unused", json!({"kinds": []})).code(),
        "validation_error"
    );
}

#[test]
fn hidden_notes_are_not_revealed() {
    let vault = garden()
        .with("Hidden/N.md", "![[unused.pdf]]")
        .allow("Hidden", Tier::None);
    let unused = ok(&vault, "unused", json!({}));
    assert_eq!(unused, ok(&garden(), "unused", json!({})));
}

#[test]
fn unused_files_are_moved_to_the_trash() {
    let vault = garden().with("R/kept.png", "").allow("R", Tier::Write);
    let removed = ok(&vault, "remove_unused", json!({}));
    assert_eq!(removed["paths"], json!(["F/un used.png", "F/unused.pdf"]));
    assert_eq!(removed["kept"], json!(["R/kept.png"]));
    assert_eq!((&removed["size"], &removed["left"]), (&json!(5), &json!(0)));
    assert_eq!(removed["trash_ids"].as_array().unwrap().len(), 2);
    assert!(vault.bytes("F/unused.pdf").is_none() && vault.bytes("F/html.png").is_some());
    let again = ok(&vault, "remove_unused", json!({"path": "F"}));
    assert_eq!(again["paths"], json!([]));
    assert_eq!(
        refused(&vault, "remove_unused", json!({"path": "Gone"})).code(),
        "not_found"
    );
    assert_eq!(
        refused(&vault, "remove_unused", json!({"kinds": []})).code(),
        "validation_error"
    );
}

#[test]
fn missing_files_are_listed_with_their_places() {
    let vault = Vault::in_memory()
        .with("Old/a.png", "")
        .with(
            "B.md",
            "x\n![[New/a.png]] ![[gone.pdf]] [[Gone note]] [[Note.with.dots]]",
        )
        .with("A/C.md", "![](gone.PDF)");
    let missing = ok(&vault, "missing", json!({}));
    assert_eq!(each(&missing, "path"), ["A/C.md", "B.md", "B.md"]);
    assert_eq!(each(&missing, "line"), [1, 2, 2]);
    assert_eq!(missing["items"][1]["target"], "New/a.png");
    assert_eq!(missing["items"][1]["elsewhere"], json!(["Old/a.png"]));
    let below = ok(&vault, "missing", json!({"path": "A"}));
    assert_eq!(below["total"], 1);
    assert_eq!(all_pages(&vault, "missing", &json!({}), 1).len(), 3);
    assert!(text_of(&Vault::in_memory(), "missing", json!({})).contains("no link"));
    assert_eq!(
        refused(&vault, "missing", json!({"path": "Gone"})).code(),
        "not_found"
    );
    assert_eq!(
        refused(&vault, "missing", json!({"cursor": "?"})).code(),
        "validation_error"
    );
}
