//! The description, and `list`, `get`, `children`, `permissions`.

use notehost_sdk::{Describes as _, prelude::*};

use super::{call, each, ok, refused, vault};
use crate::Domain;

#[test]
fn description_has_valid_schemas() {
    let described = Domain::describe();
    let actions = described["actions"].as_array().unwrap();
    let named = |name: &str| {
        actions
            .iter()
            .find(|action| action["name"] == name)
            .unwrap()
    };
    assert_eq!(actions.len(), 8);
    assert_eq!(named("remove")["effect"], "delete");
    assert_eq!(named("get")["input"]["required"], json!(["notebook"]));
    let sort = &named("configure")["input"]["properties"]["sort"];
    assert_eq!(
        sort["enum"],
        json!(["name", "name_reversed", "newest", "oldest", "largest"])
    );
    assert_eq!(sort["type"], "string");
    assert!(!described.to_string().contains("$ref"));
}

#[test]
fn list_returns_all_visible_notebooks() {
    let vault = vault()
        .allow("Diary", Tier::None)
        .allow("Work", Tier::Write);
    let reply = call(&vault, "list", json!({})).unwrap();
    assert_eq!(
        reply.json(),
        json!({
            "items": [
                {"notebook": ".", "path": "", "access": "rwd", "notes": 1, "folders": 0, "files": 0,
                 "size": 18, "sort": "name"},
                {"notebook": "Work", "path": "Work", "access": "rw", "notes": 3, "folders": 1, "files": 1,
                 "size": 73, "sort": "name"},
            ],
            "total": 2,
        })
    );
    assert_eq!(
        reply.text.lines().nth(1).unwrap(),
        "Work (rw): 3 notes, 1 folder, 1 file, 73 bytes"
    );
    let empty = call(&Vault::in_memory(), "list", json!({})).unwrap();
    assert_eq!(
        (empty.json()["total"].clone(), empty.text.contains("create")),
        (json!(0), true)
    );
}

#[test]
fn lists_are_paged() {
    let vault = vault();
    let first = ok(&vault, "list", json!({"limit": 2}));
    assert_eq!(each(&first, "notebook"), [".", "Diary"]);
    assert_eq!(
        (&first["next_cursor"], &first["total"]),
        (&json!("Diary"), &json!(3))
    );
    let second = ok(&vault, "list", json!({"limit": 2, "cursor": "Diary"}));
    assert_eq!(each(&second, "notebook"), ["Work"]);
    assert!(second.get("next_cursor").is_none());
    for bad in [
        json!({"limit": 0}),
        json!({"cursor": "gone"}),
        json!({"limt": 3}),
    ] {
        assert_eq!(refused(&vault, "list", bad).code(), "validation_error");
    }
}

#[test]
fn get_accepts_any_spelling_of_a_name() {
    let vault = vault();
    for name in ["Work", " work/ ", "./Work"] {
        let got = ok(&vault, "get", json!({"notebook": name}));
        assert_eq!(
            (&got["notebook"], &got["notes"], &got["size"]),
            (&json!("Work"), &json!(3), &json!(73))
        );
    }
    let root = ok(&vault, "get", json!({"notebook": "."}));
    assert_eq!((&root["notes"], &root["folders"]), (&json!(1), &json!(0)));
}

#[test]
fn unknown_notebook_error_lists_existing_ones() {
    let vault = vault().allow("Diary", Tier::None);
    let absent = refused(&vault, "get", json!({"notebook": "Wrk"}));
    assert_eq!(
        absent.to_string(),
        "not_found: no notebook `Wrk`; existing notebooks: `.`, `Work`"
    );
    let hidden = refused(&vault, "get", json!({"notebook": "Diary"}));
    assert_eq!(hidden.message(), absent.message().replace("Wrk", "Diary"));
    assert_eq!(
        refused(&vault, "get", json!({"notebook": "Welcome.md"})).code(),
        "not_found"
    );
    for bad in ["", "  ", "/", "Work/Projects", "../x", "a\nb"] {
        let error = refused(&vault, "get", json!({"notebook": bad}));
        assert_eq!(error.code(), "validation_error", "{bad:?}");
    }
    assert_eq!(
        refused(&vault, "get", json!({"notebook": ".obsidian"})).code(),
        "not_found"
    );
    let closed = vault.allow(".", Tier::None);
    assert_eq!(
        refused(&closed, "get", json!({"notebook": "."})).code(),
        "not_found"
    );
}

#[test]
fn children_are_a_sorted_tree() {
    let vault = vault();
    let reply = call(&vault, "children", json!({"notebook": "Work"})).unwrap();
    assert_eq!(
        each(&reply.json(), "path"),
        ["Work/Projects", "Work/photo.png", "Work/Plan.md"]
    );
    assert_eq!(each(&reply.json(), "kind"), ["folder", "file", "note"]);
    let deep = call(&vault, "children", json!({"notebook": "Work", "depth": 2})).unwrap();
    assert_eq!(
        deep.text,
        "Projects/ (2 notes)\n  Alpha.md (12 bytes)\n  Beta.md (12 bytes)\nphoto.png (3 bytes)\nPlan.md (46 bytes)"
    );
    ok(
        &vault,
        "configure",
        json!({"notebook": "Work", "sort": "largest"}),
    );
    let sorted = ok(&vault, "children", json!({"notebook": "Work"}));
    assert_eq!(
        each(&sorted, "path"),
        ["Work/Projects", "Work/Plan.md", "Work/photo.png"]
    );
    let root = ok(&vault, "children", json!({"notebook": "."}));
    assert_eq!(each(&root, "path"), ["Welcome.md"]);
}

#[test]
fn children_sort_by_time_and_name() {
    let vault = Vault::in_memory()
        .at(1)
        .with("N/b.md", "")
        .at(2)
        .with("N/a.md", "")
        .at(3)
        .with("N/c.md", "");
    for (sort, order) in [
        ("newest", ["N/c.md", "N/a.md", "N/b.md"]),
        ("oldest", ["N/b.md", "N/a.md", "N/c.md"]),
        ("name_reversed", ["N/c.md", "N/b.md", "N/a.md"]),
        ("name", ["N/a.md", "N/b.md", "N/c.md"]),
    ] {
        ok(&vault, "configure", json!({"notebook": "N", "sort": sort}));
        assert_eq!(
            each(&ok(&vault, "children", json!({"notebook": "N"})), "path"),
            order,
            "{sort}"
        );
    }
}

#[test]
fn children_of_a_folder_are_paged() {
    let vault = vault().with("Work/Work/Inner.md", "");
    for path in ["Projects", "Work/Projects/", " work/projects"] {
        let page = ok(
            &vault,
            "children",
            json!({"notebook": "Work", "path": path}),
        );
        assert_eq!(
            (&page["path"], &page["total"]),
            (&json!("Work/Projects"), &json!(2)),
            "{path}"
        );
    }
    let page = ok(
        &vault,
        "children",
        json!({"notebook": "Work", "path": "Projects", "limit": 1}),
    );
    assert_eq!(page["next_cursor"], "Work/Projects/Alpha.md");
    let cursor = page["next_cursor"].clone();
    let page = ok(
        &vault,
        "children",
        json!({"notebook": "Work", "path": "Projects", "cursor": cursor}),
    );
    assert_eq!(each(&page, "path"), ["Work/Projects/Beta.md"]);
    let inner = ok(
        &vault,
        "children",
        json!({"notebook": "Work", "path": "Work/Work"}),
    );
    assert_eq!(each(&inner, "path"), ["Work/Work/Inner.md"]);
}

#[test]
fn children_rejects_missing_folders() {
    let vault = vault();
    for (arguments, code) in [
        (json!({"notebook": "Nope"}), "not_found"),
        (json!({"notebook": "Work", "path": "Nope"}), "not_found"),
        (json!({"notebook": "Work", "path": "Diary"}), "not_found"),
        (
            json!({"notebook": "Work", "path": "Plan.md"}),
            "validation_error",
        ),
        (
            json!({"notebook": "Work", "path": "../Diary"}),
            "validation_error",
        ),
        (json!({"notebook": ".", "path": "Work"}), "validation_error"),
        (json!({"notebook": "Work", "depth": 0}), "validation_error"),
        (json!({"notebook": "Work", "depth": 21}), "validation_error"),
    ] {
        let error = refused(&vault, "children", arguments.clone());
        assert_eq!(error.code(), code, "{arguments}");
    }
}

#[test]
fn permissions_report_the_callers_access() {
    let vault = vault()
        .default_tier(Tier::Read)
        .allow("Work", Tier::Write)
        .allow(".", Tier::Delete);
    let reply = call(&vault, "permissions", json!({})).unwrap();
    assert_eq!(
        reply.text,
        ".: read, write, remove\nDiary: read only\nWork: read, write; no remove"
    );
    let one = ok(&vault, "permissions", json!({"notebook": "work"}));
    assert_eq!(
        one,
        json!({"items": [{"notebook": "Work", "path": "Work", "access": "rw", "write": true, "remove": false}],
               "total": 1})
    );
    let hidden = vault.allow("Diary", Tier::None);
    assert_eq!(
        refused(&hidden, "permissions", json!({"notebook": "Diary"})).code(),
        "not_found"
    );
    assert_eq!(ok(&hidden, "permissions", json!({}))["total"], 2);
}

#[test]
fn read_actions_write_nothing() {
    let vault = vault().as_effect(Effect::Read);
    for (action, arguments) in [
        ("list", json!({})),
        ("get", json!({"notebook": "Work"})),
        ("children", json!({"notebook": "Work"})),
        ("permissions", json!({})),
    ] {
        assert!(call(&vault, action, arguments).is_ok(), "{action}");
    }
    assert_eq!(
        call(&vault, "nope", json!({})).unwrap_err().code(),
        "not_found"
    );
}
