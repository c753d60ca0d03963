//! `mv`, `cp`, `rm`.

use super::*;

#[test]
fn mv_renames_and_rewrites_links() {
    let vault = vault();
    let moved = ok(
        &vault,
        "mv",
        json!({ "from": "/Work/Plan.md", "to": "./Goal" }),
    );
    assert_eq!(moved["paths"], json!(["Goal.md"]));
    assert_eq!(moved["links_rewritten"], 3);
    assert_eq!(vault.text("Index.md").unwrap(), "[[Goal]] [[Old]]\n");
    assert!(
        vault
            .text("Work/Budget.md")
            .unwrap()
            .ends_with("back to [[Goal]]")
    );
    assert!(
        vault
            .text("Goal.md")
            .unwrap()
            .contains("[b](Work/Budget.md)")
    );
}

#[test]
fn mv_moves_into_an_existing_folder_or_trailing_slash() {
    let vault = vault();
    let to = |from: &str, to: &str| {
        ok(&vault, "mv", json!({ "from": from, "to": to }))["paths"][0].clone()
    };
    assert_eq!(to("Plan", "work/deep"), "Work/Deep/Plan.md");
    assert_eq!(to("Plan", "New/"), "New/Plan.md");
    assert_eq!(to("Plan", "/"), "Plan.md");
    assert_eq!(to("Work/data.csv", "table"), "table");
    assert_eq!(to("Plan", "plan.txt"), "plan.txt");
    assert_eq!(to("Work/Deep", "Index files"), "Index files");
    assert_eq!(vault.text("Index files/Old.md").unwrap(), "TODO three\n");
    assert_eq!(to("Index files", "New"), "New/Index files");
    // Only the case changes.
    assert_eq!(to("Work", "WORK"), "WORK");
    assert!(vault.text("WORK/Budget.md").is_some());
    let error = refused(&vault, "mv", json!({ "from": "WORK", "to": "WORK" }));
    assert_eq!(error.code(), "validation_error");
}

#[test]
fn mv_moves_several_into_one_folder() {
    let vault = vault();
    let moved = ok(
        &vault,
        "mv",
        json!({ "paths": ["Plan", "Work/Deep/", "[[Plan]]", "Work/data.csv"], "to": "Archive/2026" }),
    );
    assert_eq!(
        moved["paths"],
        json!([
            "Archive/2026/Plan.md",
            "Archive/2026/Deep",
            "Archive/2026/data.csv"
        ])
    );
    assert_eq!(
        vault.text("Index.md").unwrap(),
        "[[Archive/2026/Plan]] [[Old]]\n"
    );
}

#[test]
fn cp_copies_files_and_folders() {
    let vault = vault();
    let copied = ok(&vault, "cp", json!({ "from": "Plan", "to": "Copy" }));
    assert_eq!(copied, json!({ "path": "Copy.md", "from": "Work/Plan.md" }));
    assert_eq!(vault.text("Copy.md"), vault.text("Work/Plan.md"));
    let copied = ok(
        &vault,
        "cp",
        json!({ "from": "Work/pic.png", "to": "Pictures/" }),
    );
    assert_eq!(copied["path"], "Pictures/pic.png");
    ok(&vault, "mkdir", json!({ "path": "Work/Deep/Empty" }));
    let copied = ok(
        &vault,
        "cp",
        json!({ "from": "Work", "to": "Twice", "recursive": true }),
    );
    assert_eq!(copied, json!({ "path": "Twice", "from": "Work" }));
    assert_eq!(vault.text("Twice/Deep/Old.md").unwrap(), "TODO three\n");
    let folders = ok(&vault, "find", json!({ "path": "Twice", "type": "folder" }));
    assert_eq!(paths(&folders), ["Twice/Deep", "Twice/Deep/Empty"]);
    let copied = ok(
        &vault,
        "cp",
        json!({ "from": "Work", "to": "Twice", "recursive": true }),
    );
    assert_eq!(copied["path"], "Twice/Work");
    assert_eq!(
        text_of(&vault, "cp", json!({ "from": "Work/Plan", "to": "Index2" })),
        "copied `Work/Plan.md` to `Index2.md`"
    );
}

#[test]
fn rm_moves_files_and_folders_to_the_trash() {
    let vault = vault();
    let removed = ok(&vault, "rm", json!({ "path": "/Work/data.csv" }));
    assert_eq!(removed["paths"], json!(["Work/data.csv"]));
    assert_eq!(removed["trash_ids"].as_array().unwrap().len(), 1);
    let removed = ok(
        &vault,
        "rm",
        json!({ "paths": ["Work/", "Index", "Index.md"], "recursive": true }),
    );
    assert_eq!(removed["paths"], json!(["Work", "Index.md"]));
    assert_eq!(removed["trash_ids"].as_array().unwrap().len(), 6);
    assert_eq!(paths(&ok(&vault, "find", json!({}))), ["Latin.md"]);
    ok(&vault, "mkdir", json!({ "path": "Empty" }));
    assert_eq!(
        text_of(&vault, "rm", json!({ "path": "Empty", "recursive": true })),
        "removed: Empty"
    );
}

#[test]
fn rejected_moves_and_removals_change_nothing() {
    let vault = vault()
        .with("Archive/A.md", "a")
        .allow("Archive", Tier::Read)
        .with("Keep/A.md", "a")
        .allow("Keep", Tier::Write)
        .with("Alone.md", "");
    for (action, arguments, code) in [
        ("mv", json!({ "to": "x" }), "validation_error"),
        (
            "mv",
            json!({ "from": "Plan", "paths": ["Plan"], "to": "x" }),
            "validation_error",
        ),
        ("mv", json!({ "paths": [], "to": "x" }), "validation_error"),
        (
            "mv",
            json!({ "from": "Plan", "to": "" }),
            "validation_error",
        ),
        (
            "mv",
            json!({ "from": "Plan", "to": "../x" }),
            "validation_error",
        ),
        (
            "mv",
            json!({ "from": "Plan", "to": "[[x]]" }),
            "validation_error",
        ),
        ("mv", json!({ "from": "/", "to": "x" }), "validation_error"),
        (
            "mv",
            json!({ "from": "Plan", "to": "Index.md" }),
            "already_exists",
        ),
        ("mv", json!({ "from": "Nothing", "to": "x" }), "not_found"),
        ("mv", json!({ "from": "Alone/", "to": "x" }), "not_found"),
        (
            "mv",
            json!({ "from": "Work", "to": "Work/Deep" }),
            "validation_error",
        ),
        (
            "mv",
            json!({ "paths": ["Work", "Plan"], "to": "x" }),
            "validation_error",
        ),
        (
            "mv",
            json!({ "paths": ["Plan"], "to": "Index.md" }),
            "validation_error",
        ),
        (
            "mv",
            json!({ "paths": ["Archive/A", "Keep/A"], "to": "x" }),
            "validation_error",
        ),
        (
            "mv",
            json!({ "from": "Archive/A", "to": "x" }),
            "permission_denied",
        ),
        (
            "mv",
            json!({ "from": "Plan", "to": "Archive/" }),
            "permission_denied",
        ),
        (
            "cp",
            json!({ "from": "Work", "to": "x" }),
            "validation_error",
        ),
        ("cp", json!({ "from": "/", "to": "x" }), "validation_error"),
        (
            "cp",
            json!({ "from": "/", "to": "x", "recursive": true }),
            "validation_error",
        ),
        (
            "cp",
            json!({ "from": "Work", "to": "Work/Deep", "recursive": true }),
            "validation_error",
        ),
        (
            "cp",
            json!({ "from": "Plan", "to": "Index" }),
            "already_exists",
        ),
        (
            "cp",
            json!({ "from": "Plan", "to": "Archive/" }),
            "permission_denied",
        ),
        ("cp", json!({ "from": "Secret", "to": "x" }), "not_found"),
        ("rm", json!({}), "validation_error"),
        ("rm", json!({ "paths": [] }), "validation_error"),
        (
            "rm",
            json!({ "path": "Plan", "paths": ["Plan"] }),
            "validation_error",
        ),
        ("rm", json!({ "path": "Work" }), "validation_error"),
        (
            "rm",
            json!({ "path": "/", "recursive": true }),
            "validation_error",
        ),
        (
            "rm",
            json!({ "path": "Work/..", "recursive": true }),
            "validation_error",
        ),
        ("rm", json!({ "path": "/Plan" }), "not_found"),
        (
            "rm",
            json!({ "path": "Alone/", "recursive": true }),
            "not_found",
        ),
        (
            "rm",
            json!({ "path": "Diary", "recursive": true }),
            "not_found",
        ),
        (
            "rm",
            json!({ "paths": ["Work", "Work/Plan"], "recursive": true }),
            "validation_error",
        ),
        ("rm", json!({ "path": "Keep/A" }), "permission_denied"),
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
fn cp_rejects_too_large_folders() {
    let mut vault = Vault::in_memory();
    for number in 0..=500 {
        vault = vault.with(&format!("Many/{number}.md"), "");
    }
    let error = refused(
        &vault,
        "cp",
        json!({ "from": "Many", "to": "More", "recursive": true }),
    );
    assert_eq!(error.code(), "too_large");
}
