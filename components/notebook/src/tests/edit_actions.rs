//! `create`, `configure`, `rename`, `remove`.

use notehost_sdk::prelude::*;

use super::{call, each, ok, refused, vault};

#[test]
fn create_adds_a_folder_and_stores_settings() {
    let vault = vault();
    let arguments = json!({"notebook": " Garden ", "icon": "🌱", "description": "What grows"});
    let reply = call(&vault, "create", arguments).unwrap();
    assert_eq!(reply.text, "created the notebook 🌱 Garden");
    assert_eq!(
        reply.json(),
        json!({"notebook": "Garden", "path": "Garden", "icon": "🌱", "description": "What grows", "sort": "name"})
    );
    let got = call(&vault, "get", json!({"notebook": "garden"})).unwrap();
    assert_eq!(got.text, "🌱 Garden (rwd): 0 notes, 0 bytes – What grows");
    vault.rollback();
    assert_eq!(
        refused(&vault, "get", json!({"notebook": "Garden"})).code(),
        "not_found"
    );
}

#[test]
fn create_rejects_existing_and_invalid_names() {
    let vault = vault();
    assert_eq!(
        refused(&vault, "create", json!({"notebook": "work"})).code(),
        "already_exists"
    );
    for bad in [
        ".",
        "",
        "a/b",
        ".hidden",
        "a#b",
        "a[b]",
        "a:b",
        "con",
        &"n".repeat(181),
    ] {
        let error = refused(&vault, "create", json!({"notebook": bad}));
        assert_eq!(error.code(), "validation_error", "{bad}");
    }
    let long = json!({"notebook": "New", "icon": "x".repeat(33)});
    assert_eq!(refused(&vault, "create", long).code(), "validation_error");
    let vault = vault.default_tier(Tier::Read);
    let error = refused(&vault, "create", json!({"notebook": "New"}));
    assert_eq!(error.code(), "permission_denied");
    assert_eq!(
        error.hint().unwrap(),
        "an admin can allow it: `notehost permission set New rw`"
    );
}

#[test]
fn configure_sets_keeps_and_clears_settings() {
    let vault = vault();
    ok(
        &vault,
        "configure",
        json!({"notebook": "Work", "icon": "📘", "description": "Job", "sort": "newest"}),
    );
    let kept = ok(&vault, "configure", json!({"notebook": "work", "icon": ""}));
    assert_eq!(
        kept,
        json!({"notebook": "Work", "path": "Work", "description": "Job", "sort": "newest"})
    );
    ok(&vault, "configure", json!({"notebook": ".", "icon": "🏠"}));
    let page = ok(&vault, "list", json!({}));
    assert_eq!(
        (&page["items"][0]["icon"], &page["items"][2]["sort"]),
        (&json!("🏠"), &json!("newest"))
    );
    assert_eq!(
        vault.commit("notebook.configure"),
        None,
        "no file is touched"
    );
}

#[test]
fn configure_rejects_empty_and_invalid_settings() {
    let vault = vault().allow("Diary", Tier::Read);
    for bad in [
        json!({"notebook": "Work"}),
        json!({"notebook": "Work", "sort": "random"}),
        json!({"notebook": "Work", "description": "x".repeat(2001)}),
    ] {
        assert_eq!(refused(&vault, "configure", bad).code(), "validation_error");
    }
    assert_eq!(
        refused(
            &vault,
            "configure",
            json!({"notebook": "Nope", "icon": "x"})
        )
        .code(),
        "not_found"
    );
    let error = refused(
        &vault,
        "configure",
        json!({"notebook": "Diary", "icon": "x"}),
    );
    assert_eq!(error.code(), "permission_denied");
    assert_eq!(
        error.hint().unwrap(),
        "an admin can allow it: `notehost permission set Diary rw`"
    );
}

#[test]
fn rename_rewrites_links_and_keeps_settings() {
    let vault = vault();
    ok(
        &vault,
        "configure",
        json!({"notebook": "Work", "icon": "📘"}),
    );
    let reply = call(&vault, "rename", json!({"notebook": "work", "to": "Job"})).unwrap();
    assert_eq!(
        reply.json(),
        json!({"notebook": "Job", "path": "Job", "from": "Work", "files": 4, "links_rewritten": 2, "links_left": []})
    );
    assert_eq!(
        reply.text,
        "renamed Work to Job: 4 files moved, 2 links rewritten"
    );
    assert_eq!(vault.text("Welcome.md").unwrap(), "see [[Job/Plan]]\n");
    assert_eq!(
        vault.text("Diary/Monday.md").unwrap(),
        "[[Job/Plan|plan]]\n"
    );
    assert_eq!(
        vault.text("Job/Plan.md").unwrap(),
        "# Plan\n[[Projects/Alpha]] [up](../Welcome.md)\n"
    );
    assert_eq!(vault.bytes("Job/photo.png").unwrap(), [1, 2, 3]);
    let page = ok(&vault, "list", json!({}));
    assert_eq!(each(&page, "notebook"), [".", "Diary", "Job"]);
    assert_eq!(page["items"][2]["icon"], "📘");
    ok(&vault, "create", json!({"notebook": "Work"}));
    assert!(
        ok(&vault, "get", json!({"notebook": "Work"}))
            .get("icon")
            .is_none()
    );
}

#[test]
fn rename_can_change_only_the_case() {
    let vault = vault();
    ok(
        &vault,
        "configure",
        json!({"notebook": "Work", "icon": "📘"}),
    );
    let renamed = ok(&vault, "rename", json!({"notebook": "Work", "to": "WORK"}));
    assert_eq!(renamed["notebook"], "WORK");
    assert_eq!(vault.text("Welcome.md").unwrap(), "see [[WORK/Plan]]\n");
    assert_eq!(ok(&vault, "get", json!({"notebook": "WORK"}))["icon"], "📘");
}

#[test]
fn rename_reports_links_that_could_not_be_rewritten() {
    let vault = vault().allow("Diary", Tier::Read);
    let reply = call(&vault, "rename", json!({"notebook": "Work", "to": "Job"})).unwrap();
    let left = &reply.json()["links_left"].clone();
    assert_eq!(
        (&left[0]["path"], &left[0]["line"]),
        (&json!("Diary/Monday.md"), &json!(1))
    );
    assert!(
        reply
            .text
            .contains("1 link could not be rewritten:\n- Diary/Monday.md:1: "),
        "{}",
        reply.text
    );
    assert_eq!(
        vault.text("Diary/Monday.md").unwrap(),
        "[[Work/Plan|plan]]\n"
    );
}

#[test]
fn rename_rejects_root_existing_and_invalid_names() {
    let vault = vault();
    for (notebook, to, code) in [
        (".", "New", "validation_error"),
        ("Work", ".", "validation_error"),
        ("Work", "Work", "validation_error"),
        ("Work", "Work/Sub", "validation_error"),
        ("Work", "a|b", "validation_error"),
        ("Work", ".git", "validation_error"),
        ("Work", "diary", "already_exists"),
        ("Nope", "New", "not_found"),
    ] {
        let error = refused(&vault, "rename", json!({"notebook": notebook, "to": to}));
        assert_eq!(error.code(), code, "{notebook} to {to}");
    }
    let vault = vault.allow("Work/Plan.md", Tier::Read);
    let error = refused(&vault, "rename", json!({"notebook": "Work", "to": "Job"}));
    assert_eq!(error.code(), "permission_denied");
}

#[test]
fn remove_moves_files_to_trash_and_deletes_settings() {
    let vault = vault();
    ok(
        &vault,
        "configure",
        json!({"notebook": "Work", "icon": "📘"}),
    );
    let reply = call(&vault, "remove", json!({"notebook": "Work/"})).unwrap();
    assert_eq!(
        reply.text,
        "removed the notebook Work: 4 files in the trash"
    );
    assert_eq!(reply.json()["trash_ids"].as_array().unwrap().len(), 4);
    assert_eq!(vault.paths(), ["Diary/Monday.md", "Welcome.md"]);
    assert_eq!(vault.trash(None, 9).unwrap().len(), 4);
    let again = ok(&vault, "create", json!({"notebook": "Work"}));
    assert!(again.get("icon").is_none());
}

#[test]
fn remove_rejects_root_missing_and_denied() {
    let vault = vault().allow("Work", Tier::Write);
    assert_eq!(
        refused(&vault, "remove", json!({"notebook": "."})).code(),
        "validation_error"
    );
    assert_eq!(
        refused(&vault, "remove", json!({"notebook": "Nope"})).code(),
        "not_found"
    );
    assert_eq!(
        refused(&vault, "remove", json!({"notebook": "Work/Projects"})).code(),
        "validation_error"
    );
    let error = refused(&vault, "remove", json!({"notebook": "Work"}));
    assert_eq!(error.code(), "permission_denied");
    assert_eq!(
        error.hint().unwrap(),
        "an admin can allow it: `notehost permission set Work rwd`"
    );
}
