//! Tests of `write`, `rename` and `remove`.

use super::fixtures::GIF;
use crate::Domain;
use notehost_sdk::prelude::*;
use notehost_sdk::{MemoryVault, Tier, calls};
use proptest::prelude::*;

calls!(Domain);

#[test]
fn a_file_is_written_from_text_or_base64() {
    let vault = Vault::in_memory();
    let written = ok(
        &vault,
        "write",
        json!({"path": "New/a.csv", "text": "a,b\r\n"}),
    );
    assert_eq!(
        (&written["created"], &written["kind"], &written["size"]),
        (&json!(true), &json!("document"), &json!(5))
    );
    assert_eq!(vault.text("New/a.csv").unwrap(), "a,b\r\n");
    let base64 = crate::encoding::encode(GIF);
    let written = ok(
        &vault,
        "write",
        json!({"path": "new/a.gif", "base64": base64}),
    );
    assert_eq!(
        (&written["path"], &written["width"], &written["mime"]),
        (&json!("New/a.gif"), &json!(3), &json!("image/gif"))
    );
    assert_eq!(vault.bytes("New/a.gif").unwrap(), GIF);
    let written = ok(&vault, "write", json!({"path": "a.png", "base64": base64}));
    assert!(written["warning"].as_str().unwrap().contains("image/gif"));
}

#[test]
fn an_existing_file_is_only_replaced_with_overwrite() {
    let vault = Vault::in_memory().with("a.txt", "old");
    let error = refused(&vault, "write", json!({"path": "A.txt", "text": "new"}));
    assert_eq!(error.code(), "already_exists");
    assert!(error.message().contains("`overwrite`"), "{error}");
    let written = ok(
        &vault,
        "write",
        json!({"path": "a.txt", "text": "new", "if_exists": "overwrite"}),
    );
    assert_eq!(written["created"], false);
    assert_eq!(vault.text("a.txt").unwrap(), "new");
}

#[test]
fn failed_writes_change_nothing() {
    let vault = Vault::in_memory()
        .with("Read/a.txt", "")
        .with_folder("Folder.txt")
        .allow("Read", Tier::Read);
    let before = vault.paths();
    for (arguments, code) in [
        (json!({"path": "a.md", "text": ""}), "validation_error"),
        (json!({"path": "", "text": ""}), "validation_error"),
        (json!({"path": "a/", "text": ""}), "validation_error"),
        (json!({"path": "a.txt"}), "validation_error"),
        (
            json!({"path": "a.txt", "text": "", "base64": ""}),
            "validation_error",
        ),
        (json!({"path": "a.bin", "base64": "!"}), "validation_error"),
        (json!({"path": "Folder.txt", "text": ""}), "already_exists"),
        (
            json!({"path": "Read/b.txt", "text": ""}),
            "permission_denied",
        ),
    ] {
        let error = refused(&vault, "write", arguments.clone());
        assert_eq!(error.code(), code, "{arguments}: {error}");
    }
    let error = refused(&vault, "write", json!({"path": "Work/A.md", "text": ""}));
    assert!(error.message().contains("`document.create`"), "{error}");
    assert_eq!(vault.paths(), before);
}

fn garden() -> MemoryVault {
    Vault::in_memory()
        .with_bytes("P/my pic.png", b"\x00\xff")
        .with(
            "A.md",
            "![[my pic.png|300]]\r\n![x](P/my%20pic.png) [[P/my pic.png]] `![[my pic.png]]`",
        )
        .with(
            "B.md",
            "---\ncover: \"[[my pic.png]]\"\n---\n[ref]: <P/my pic.png>\n",
        )
        .with("Map.canvas", "{\"nodes\":[ {\"file\":\"P/my pic.png\"} ]}")
        .with(
            "Text.canvas",
            "{\"nodes\":[\n{\"text\":\"![[my pic.png]]\"}]}",
        )
}

#[test]
fn links_of_all_kinds_are_updated() {
    let vault = garden();
    let renamed = ok(
        &vault,
        "rename",
        json!({"path": "my pic.png", "to": "new pic"}),
    );
    assert_eq!(
        (&renamed["path"], &renamed["from"]),
        (&json!("P/new pic.png"), &json!("P/my pic.png"))
    );
    assert_eq!(renamed["links_rewritten"], 6);
    assert_eq!(
        vault.text("A.md").unwrap(),
        "![[new pic.png|300]]\r\n![x](P/new%20pic.png) [[P/new pic.png]] `![[my pic.png]]`"
    );
    assert_eq!(
        vault.text("B.md").unwrap(),
        "---\ncover: \"[[new pic.png]]\"\n---\n[ref]: <P/new pic.png>\n"
    );
    assert_eq!(
        vault.text("Map.canvas").unwrap(),
        "{\"nodes\":[ {\"file\":\"P/new pic.png\"} ]}"
    );
    assert_eq!(
        renamed["links_left"],
        json!([{"path": "Text.canvas", "line": 2, "link": "![[my pic.png]]", "reason": "links in the text of a canvas are not updated"}])
    );
    assert_eq!(vault.bytes("P/new pic.png").unwrap(), b"\x00\xff");
}

#[test]
fn a_file_is_moved_into_a_folder_or_stays() {
    let vault = garden();
    let moved = ok(
        &vault,
        "rename",
        json!({"path": "P/my pic.png", "to": "New/"}),
    );
    assert_eq!(moved["path"], "New/my pic.png");
    let stays = ok(
        &vault,
        "rename",
        json!({"path": "New/my pic.png", "to": "my pic.png"}),
    );
    assert_eq!(
        (&stays["path"], &stays["links_rewritten"]),
        (&json!("New/my pic.png"), &json!(0))
    );
}

#[test]
fn links_without_write_permission_are_reported() {
    let vault = garden()
        .with("R/N.md", "x\n![[my pic.png]]")
        .with("R/M.canvas", "{\"file\":\"P/my pic.png\"}")
        .allow("R", Tier::Read);
    let renamed = ok(
        &vault,
        "rename",
        json!({"path": "my pic.png", "to": "Q/other.png"}),
    );
    let left: Vec<_> = renamed["links_left"]
        .as_array()
        .unwrap()
        .iter()
        .map(|left| left["path"].clone())
        .collect();
    assert_eq!(left, ["R/N.md", "R/M.canvas", "Text.canvas"]);
    assert_eq!(vault.text("R/N.md").unwrap(), "x\n![[my pic.png]]");
    assert_eq!(
        vault.text("R/M.canvas").unwrap(),
        "{\"file\":\"P/my pic.png\"}"
    );
}

#[test]
fn failed_renames_change_nothing() {
    let vault = garden()
        .with("P/b.png", "")
        .with("R/c.png", "")
        .allow("R", Tier::Read);
    let before: Vec<_> = vault
        .paths()
        .into_iter()
        .map(|path| (vault.bytes(&path), path))
        .collect();
    for (arguments, code) in [
        (json!({"path": "gone.png", "to": "x"}), "not_found"),
        (json!({"path": "A", "to": "x"}), "validation_error"),
        (json!({"path": "b.png", "to": "x.md"}), "validation_error"),
        (json!({"path": "b.png", "to": ""}), "validation_error"),
        (
            json!({"path": "b.png", "to": "my pic.png"}),
            "already_exists",
        ),
        (json!({"path": "c.png", "to": "x"}), "permission_denied"),
    ] {
        let error = refused(&vault, "rename", arguments.clone());
        assert_eq!(error.code(), code, "{arguments}: {error}");
        vault.rollback();
    }
    let after: Vec<_> = vault
        .paths()
        .into_iter()
        .map(|path| (vault.bytes(&path), path))
        .collect();
    assert_eq!(before, after);
}

#[test]
fn removing_a_file_reports_broken_links() {
    let vault = garden();
    let removed = ok(&vault, "remove", json!({"path": "my pic.png"}));
    assert_eq!(removed["path"], "P/my pic.png");
    assert_eq!(removed["links_broken"], 5);
    assert_eq!(removed["links"][0], json!({"path": "A.md", "line": 1}));
    assert!(vault.bytes("P/my pic.png").is_none());
    vault
        .restore(removed["trash_id"].as_str().unwrap(), None)
        .unwrap();
    assert!(vault.bytes("P/my pic.png").is_some());
}

#[test]
fn invalid_removals_are_rejected() {
    let vault = garden().with("R/c.png", "").allow("R", Tier::Write);
    for (arguments, code) in [
        (json!({"path": "gone.png"}), "not_found"),
        (json!({"path": "A.md"}), "validation_error"),
        (json!({"path": "c.png"}), "permission_denied"),
    ] {
        let error = refused(&vault, "remove", arguments.clone());
        assert_eq!(error.code(), code, "{arguments}: {error}");
    }
    assert!(vault.bytes("R/c.png").is_some());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Links are updated, the text between them does not change.
    #[test]
    fn only_embeds_are_updated(
        parts in prop::collection::vec(("[ a-zé\n\r\t.,#*-]{0,8}", 0usize..7), 0..8),
        end in "[ a-zé\n]{0,8}",
    ) {
        let old = ["![[p c.png]]", "![[p c.png|30]]", "[[F/p c.png]]", "![](F/p%20c.png)", "[t](<F/p c.png>)", "`![[p c.png]]`", "![[other.png]]"];
        let new = ["![[q.png]]", "![[q.png|30]]", "[[F/q.png]]", "![](F/q.png)", "[t](<F/q.png>)", "`![[p c.png]]`", "![[other.png]]"];
        let written = |links: [&str; 7]| {
            let mut text = String::from("x ");
            for (before, link) in &parts {
                // An indented or marked line may be code, and code contains no links.
                text.push_str(&before.replace(['\t', '\n', '\r', '-', '#', '*'], "_"));
                text.push(' ');
                text.push_str(links[*link]);
                text.push_str("\r\ny ");
            }
            text + &end
        };
        let vault = Vault::in_memory().with("F/p c.png", "x").with("N.md", &written(old));
        let renamed = ok(&vault, "rename", json!({"path": "p c.png", "to": "q.png"}));
        prop_assert_eq!(vault.text("N.md").unwrap(), written(new));
        prop_assert_eq!(renamed["links_left"].as_array().unwrap().len(), 0);
    }
}
