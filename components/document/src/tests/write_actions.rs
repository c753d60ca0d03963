//! Creating and editing.

use super::*;

#[test]
fn create_adds_folders_extension_and_properties() {
    let vault = vault();
    let made = ok(
        &vault,
        "create",
        json!({ "path": "Work/New/Plan", "content": "# Plan\n", "properties": { "tags": ["a"], "n": 1 } }),
    );
    assert_eq!(made["path"], "Work/New/Plan.md");
    assert_eq!(made["created"], true);
    assert_eq!(
        vault.text("Work/New/Plan.md").unwrap(),
        "---\ntags:\n  - a\nn: 1\n---\n# Plan\n"
    );
    assert_eq!(
        refused(&vault, "create", json!({ "path": "Work/New/plan.md" })).code(),
        "already_exists"
    );
    assert_eq!(
        ok(&vault, "create", json!({ "path": "work/Other" }))["path"],
        "Work/Other.md"
    );
    assert_eq!(vault.text("Work/Other.md").unwrap(), "");
}

#[test]
fn create_can_open_an_existing_note() {
    let vault = vault().with("A.md", "text\n");
    let opened = ok(
        &vault,
        "create",
        json!({ "path": "a", "content": "other", "if_exists": "open" }),
    );
    assert_eq!(
        (&opened["created"], &opened["content"]),
        (&json!(false), &json!("text\n"))
    );
    assert_eq!(vault.commit("document.create"), None);
    assert_eq!(
        ok(
            &vault,
            "create",
            json!({ "path": "B", "content": "b", "if_exists": "open" })
        )["created"],
        true
    );
}

#[test]
fn create_fills_in_a_template() {
    let vault = vault().with(
        "Templates/Meeting.md",
        "---\ntype: meeting\n---\n# {{title}}\n{{date:YYYY}} {{other}}\n",
    );
    ok(
        &vault,
        "create",
        json!({ "path": "Work/Kick-off", "template": "Meeting", "properties": { "who": "Ana" } }),
    );
    let text = vault.text("Work/Kick-off.md").unwrap();
    assert!(
        text.starts_with("---\ntype: meeting\nwho: Ana\n---\n# Kick-off\n20"),
        "{text}"
    );
    assert!(text.ends_with(" {{other}}\n"), "{text}");
    let both = refused(
        &vault,
        "create",
        json!({ "path": "X", "template": "Meeting", "content": "x" }),
    );
    assert_eq!(both.code(), "validation_error");
    assert_eq!(
        refused(
            &vault,
            "create",
            json!({ "path": "X", "template": "Nothing" })
        )
        .code(),
        "not_found"
    );
}

#[test]
fn invalid_paths_are_rejected() {
    let vault = vault();
    for path in [
        "",
        "Work/",
        "../x",
        "/etc/x",
        "a//b",
        "a\u{0}b",
        ".obsidian/x",
        "Work/.hidden",
    ] {
        assert_eq!(
            refused(&vault, "create", json!({ "path": path })).code(),
            "validation_error",
            "{path}"
        );
    }
}

#[test]
fn update_keeps_frontmatter_and_line_endings() {
    let vault = vault().with("A.md", "\u{feff}---\r\nb:  1 # c\r\n---\r\nold\r\n");
    let edited = ok(
        &vault,
        "update",
        json!({ "path": "A", "content": "x\ny\n" }),
    );
    assert_eq!(
        vault.text("A.md").unwrap(),
        "\u{feff}---\r\nb:  1 # c\r\n---\r\nx\r\ny\r\n"
    );
    assert_eq!(edited["lines"], json!({ "from": 4, "to": 5, "total": 5 }));
    let again = ok(
        &vault,
        "update",
        json!({ "path": "A", "content": "x\ny\n" }),
    );
    assert_eq!(again, json!({ "path": "A.md", "changed": false }));
}

#[test]
fn repeated_frontmatter_is_not_duplicated() {
    let vault = vault()
        .with("A.md", "---\r\na: 1\r\n---\r\nold\r\n")
        .with("B.md", "b\n");
    ok(
        &vault,
        "update",
        json!({ "path": "A", "content": "---\na: 1\n---\nnew\n" }),
    );
    assert_eq!(vault.text("A.md").unwrap(), "---\r\na: 1\r\n---\r\nnew\r\n");
    for path in ["A", "B"] {
        let error = refused(
            &vault,
            "update",
            json!({ "path": path, "content": "---\na: 2\n---\nnew\n" }),
        );
        assert_eq!(error.code(), "validation_error");
        assert!(error.message().contains("`set_properties`"));
    }
}

#[test]
fn append_and_prepend_work_on_notes_and_sections() {
    let vault = vault().with("A.md", "---\na: 1\n---\n# H\none\n\n## Sub\nsub");
    ok(&vault, "append", json!({ "path": "A", "text": "end" }));
    ok(&vault, "prepend", json!({ "path": "A", "text": "top" }));
    let edited = ok(
        &vault,
        "append",
        json!({ "path": "A", "text": "two", "section": "H" }),
    );
    assert_eq!(edited["lines"], json!({ "from": 7, "to": 7, "total": 11 }));
    ok(
        &vault,
        "prepend",
        json!({ "path": "A", "text": "zero\n", "section": "H" }),
    );
    ok(
        &vault,
        "append_section",
        json!({ "path": "A", "text": "last", "section": "H > Sub" }),
    );
    assert_eq!(
        vault.text("A.md").unwrap(),
        "---\na: 1\n---\ntop\n# H\nzero\none\ntwo\n\n## Sub\nsub\nend\nlast"
    );
    for action in ["append", "prepend", "append_section"] {
        let error = refused(
            &vault,
            action,
            json!({ "path": "A", "text": "", "section": "H" }),
        );
        assert_eq!(error.code(), "validation_error");
        let error = refused(
            &vault,
            action,
            json!({ "path": "A", "text": "x", "section": "Nope" }),
        );
        assert_eq!(error.code(), "not_found");
    }
}

#[test]
fn insert_requires_exactly_one_anchor() {
    let vault = vault().with("A.md", "# H\na\r\nb\r\n");
    ok(
        &vault,
        "insert",
        json!({ "path": "A", "text": "x", "before": "a" }),
    );
    ok(
        &vault,
        "insert",
        json!({ "path": "A", "text": "y\nz", "after": "H" }),
    );
    assert_eq!(
        vault.text("A.md").unwrap(),
        "# H\ny\r\nz\r\nx\r\na\r\nb\r\n"
    );
    for arguments in [
        json!({ "path": "A", "text": "x" }),
        json!({ "path": "A", "text": "x", "before": "a", "after": "b" }),
    ] {
        assert_eq!(
            refused(&vault, "insert", arguments).code(),
            "validation_error"
        );
    }
    assert_eq!(
        refused(
            &vault,
            "insert",
            json!({ "path": "A", "text": "x", "after": "nothing" })
        )
        .code(),
        "not_found"
    );
    let twice = vault.with("B.md", "a a\n");
    assert_eq!(
        refused(
            &twice,
            "insert",
            json!({ "path": "B", "text": "x", "after": "a" })
        )
        .code(),
        "ambiguous_name"
    );
}

#[test]
fn edits_are_atomic() {
    let vault = vault().with("A.md", "one two\r\nthree three\r\n");
    let edited = ok(
        &vault,
        "edit",
        json!({ "path": "A", "edits": [{ "old": "two\nthree", "new": "2\n3" }, { "old": "e", "new": "E", "replace_all": true }] }),
    );
    assert_eq!(edited["replacements"], 4);
    assert_eq!(vault.text("A.md").unwrap(), "onE 2\r\n3 thrEE\r\n");
    let error = refused(
        &vault,
        "edit",
        json!({ "path": "A", "edits": [{ "old": "onE", "new": "x" }, { "old": "thrEe", "new": "x" }] }),
    );
    assert_eq!(error.code(), "not_found");
    assert!(error.message().contains("3 thrEE"), "{error}");
    assert_eq!(vault.text("A.md").unwrap(), "onE 2\r\n3 thrEE\r\n");
    assert_eq!(
        refused(&vault, "edit", json!({ "path": "A", "edits": [] })).code(),
        "validation_error"
    );
    let many = refused(
        &vault,
        "edit",
        json!({ "path": "A", "edits": [{ "old": "E", "new": "x" }] }),
    );
    assert_eq!(many.code(), "ambiguous_name");
}

#[test]
fn sections_are_replaced_and_deleted_with_subsections() {
    let vault = vault().with("A.md", "# A\n\n## B\nold\n### C\nc\n\n## D\nd");
    let edited = ok(
        &vault,
        "replace_section",
        json!({ "path": "A", "section": "B", "text": "## B\nnew\n" }),
    );
    assert_eq!(edited["lines"], json!({ "from": 4, "to": 4, "total": 7 }));
    assert_eq!(vault.text("A.md").unwrap(), "# A\n\n## B\nnew\n\n## D\nd");
    ok(
        &vault,
        "delete_section",
        json!({ "path": "A", "section": "A > B" }),
    );
    assert_eq!(vault.text("A.md").unwrap(), "# A\n\n## D\nd");
    assert_eq!(
        refused(
            &vault,
            "delete_section",
            json!({ "path": "A", "section": "B" })
        )
        .code(),
        "not_found"
    );
}

#[test]
fn duplicate_heading_is_ambiguous_and_its_choices_are_accepted() {
    let text = "# A\n## Log\n1\n## Log\n2\n# B\n## Log\n3\n";
    let vault = vault().with("N.md", text);
    for action in ["append", "append_section", "replace_section", "prepend"] {
        let error = refused(
            &vault,
            action,
            json!({ "path": "N", "section": "Log", "text": "x" }),
        );
        assert_eq!(error.code(), "ambiguous_name", "{action}");
        for (choice, number) in error.details().unwrap()["choices"]
            .as_array()
            .unwrap()
            .iter()
            .zip(1..)
        {
            let read = ok(
                &vault,
                "read",
                json!({ "path": "N", "section": choice["section"] }),
            );
            assert_eq!(read["content"], format!("## Log\n{number}\n"));
        }
    }
    assert_eq!(vault.text("N.md").unwrap(), text);
}

#[test]
fn set_properties_changes_nothing_else() {
    let vault = vault().with(
        "A.md",
        "---\r\ntitle: 'x' # keep\r\nauthor:\r\n  name: Ana\r\n---\r\nbody",
    );
    let known = ok(&vault, "properties", json!({ "path": "A" }));
    assert_eq!(
        known["properties"],
        json!({ "title": "x", "author": { "name": "Ana" } })
    );
    let edited = ok(
        &vault,
        "set_properties",
        json!({ "path": "A", "set": { "author.name": "Bo", "n": 2 } }),
    );
    assert_eq!(edited["changed"], true);
    assert_eq!(
        vault.text("A.md").unwrap(),
        "---\r\ntitle: 'x' # keep\r\nauthor:\r\n  name: Bo\r\nn: 2\r\n---\r\nbody"
    );
    let same = ok(
        &vault,
        "set_properties",
        json!({ "path": "A", "set": { "n": 2 }, "remove": ["nothing"] }),
    );
    assert_eq!(same["changed"], false);
    ok(
        &vault,
        "set_properties",
        json!({ "path": "A", "remove": ["author", "n"] }),
    );
    assert_eq!(
        vault.text("A.md").unwrap(),
        "---\r\ntitle: 'x' # keep\r\n---\r\nbody"
    );
    for arguments in [
        json!({ "path": "A" }),
        json!({ "path": "A", "set": { "a": 1 }, "remove": ["a"] }),
    ] {
        assert_eq!(
            refused(&vault, "set_properties", arguments).code(),
            "validation_error"
        );
    }
}

#[test]
fn read_only_notes_cannot_be_written() {
    let vault = vault()
        .with("Work/A.md", "# A\nx\n")
        .allow("Work", Tier::Read);
    for (action, arguments) in [
        ("create", json!({ "path": "Work/B" })),
        ("update", json!({ "path": "A", "content": "y" })),
        ("append", json!({ "path": "A", "text": "y" })),
        (
            "edit",
            json!({ "path": "A", "edits": [{ "old": "x", "new": "y" }] }),
        ),
        ("set_properties", json!({ "path": "A", "set": { "a": 1 } })),
        ("rename", json!({ "path": "A", "to": "B" })),
        ("copy", json!({ "path": "A", "to": "B" })),
        ("remove", json!({ "paths": ["A"] })),
        (
            "extract_section",
            json!({ "path": "A", "section": "A", "to": "B" }),
        ),
    ] {
        let error = refused(&vault, action, arguments);
        assert_eq!(error.code(), "permission_denied", "{action}");
        assert!(error.hint().unwrap().contains("permission set"), "{action}");
    }
    assert_eq!(vault.text("Work/A.md").unwrap(), "# A\nx\n");
}
