//! Tests of `templates` and `render`.

use crate::Domain;
use notehost_sdk::calls;
use notehost_sdk::host::Conventions;
use notehost_sdk::prelude::*;
use notehost_sdk::testing::each;

calls!(Domain);

#[test]
fn the_templates_of_the_owner_are_listed() {
    let vault = Vault::in_memory()
        .with("Meta/T/Meeting.md", "# {{title}}\n{{date:DD}} {{who}}")
        .with("Meta/T/picture.png", "")
        .with_bytes("Meta/T/latin.md", b"\xff")
        .with("Templates/Other.md", "")
        .with_conventions(Conventions {
            templates: Some("Meta/T".to_owned()),
            ..Conventions::default()
        });
    let list = ok(&vault, "templates", json!({}));
    assert_eq!(list["folder"], "Meta/T");
    assert_eq!(
        each(&list, "path"),
        ["Meta/T/Meeting.md", "Meta/T/latin.md"]
    );
    assert_eq!(
        list["items"][0]["variables"],
        json!(["title", "date:DD", "who"])
    );
    assert_eq!(all_pages(&vault, "templates", &json!({}), 1).len(), 2);

    let vault = Vault::in_memory().with("Templates/Other.md", "");
    assert_eq!(
        ok(&vault, "templates", json!({}))["items"][0]["name"],
        "Other"
    );
    let empty = ok(&Vault::in_memory(), "templates", json!({}));
    assert_eq!(empty, json!({"items": [], "total": 0}));
    assert_eq!(
        refused(&vault, "templates", json!({"limit": 501})).code(),
        "validation_error"
    );
}

#[test]
fn a_template_is_rendered_and_missing_variables_are_reported() {
    let vault = Vault::in_memory()
        .at(1_767_261_845_000)
        .with(
            "Templates/T.md",
            "# {{title}}\r\n{{date}} {{time:HH}} {{who}} {{n}}",
        )
        .with("T.md", "another");
    let rendered = ok(
        &vault,
        "render",
        json!({"template": "t", "variables": {"Title": "Plan", "n": 3, "x": true}}),
    );
    assert_eq!(
        rendered,
        json!({
            "path": "Templates/T.md",
            "content": "# Plan\r\n2026-01-01 10 {{who}} 3",
            "unknown": ["who"],
            "unneeded": ["x"]
        })
    );
    let rendered = ok(
        &vault,
        "render",
        json!({"template": "Templates/T.md", "variables": {"date": "2024-02-29"}}),
    );
    assert_eq!(
        rendered["content"],
        "# {{title}}\r\n2024-02-29 10 {{who}} {{n}}"
    );
    assert_eq!(rendered["unknown"], json!(["title", "who", "n"]));
    assert!(vault.text("Templates/T.md").unwrap().contains("{{title}}"));
}

#[test]
fn invalid_renders_are_rejected() {
    let vault = Vault::in_memory()
        .with("Templates/T.md", "")
        .with_bytes("Templates/L.md", b"\xff");
    for (arguments, code) in [
        (json!({"template": "Gone"}), "not_found"),
        (json!({"template": ""}), "validation_error"),
        (json!({"template": "L"}), "unsupported"),
        (
            json!({"template": "T", "variables": {"a": [1]}}),
            "validation_error",
        ),
        (
            json!({"template": "T", "variables": {"a": null}}),
            "validation_error",
        ),
        (
            json!({"template": "T", "variables": {" ": "x"}}),
            "validation_error",
        ),
        (
            json!({"template": "T", "variables": {"a}": "x"}}),
            "validation_error",
        ),
    ] {
        assert_eq!(
            refused(&vault, "render", arguments.clone()).code(),
            code,
            "{arguments}"
        );
    }
}
