//! Tests of `add`, `take`, `rename` and `remove`.

use super::*;

#[test]
fn tags_are_added_to_several_notes() {
    let vault = Vault::in_memory()
        .with("A.md", "---\r\ntags: [old]\r\n---\r\nbody #inline\r\n")
        .with("B.md", "no frontmatter")
        .with("C.md", "---\ntag: a, b\n---\n");
    let added = ok(
        &vault,
        "add",
        json!({ "paths": ["A", "B.md", "[[A]]", "C"], "tags": ["#new/one", "OLD", "Inline", "new/one"] }),
    );
    assert_eq!(each(&added, "path"), ["A.md", "B.md", "C.md"]);
    assert_eq!(added["items"][0]["added"], json!(["new/one"]));
    assert_eq!(added["items"][0]["already"], json!(["OLD", "Inline"]));
    assert_eq!(
        vault.text("A.md").unwrap(),
        "---\r\ntags: [old, new/one]\r\n---\r\nbody #inline\r\n"
    );
    assert_eq!(
        vault.text("B.md").unwrap(),
        "---\ntags:\n  - new/one\n  - OLD\n  - Inline\n---\nno frontmatter"
    );
    assert_eq!(
        vault.text("C.md").unwrap(),
        "---\ntag: a, b, new/one, OLD, Inline\n---\n"
    );
}

#[test]
fn invalid_additions_change_nothing() {
    let vault = Vault::in_memory()
        .with("A.md", "a")
        .with("Broken.md", "---\ntags: [a\n---\n#x")
        .with("Odd.md", "---\ntags: {a: 1}\n---\n")
        .with("Locked/L.md", "l")
        .with("Hidden/H.md", "h")
        .allow("Locked", Tier::Read)
        .allow("Hidden", Tier::None);
    for (arguments, code) in [
        (json!({ "paths": [], "tags": ["x"] }), "validation_error"),
        (json!({ "paths": ["A"], "tags": [] }), "validation_error"),
        (
            json!({ "paths": ["A"], "tags": ["two words"] }),
            "validation_error",
        ),
        (
            json!({ "paths": ["A"], "tags": ["2024"] }),
            "validation_error",
        ),
        (json!({ "paths": ["Nobody"], "tags": ["x"] }), "not_found"),
        (json!({ "paths": ["H"], "tags": ["x"] }), "not_found"),
        (json!({ "paths": ["Broken"], "tags": ["y"] }), "unsupported"),
        (json!({ "paths": ["Odd"], "tags": ["y"] }), "unsupported"),
        (
            json!({ "paths": ["L"], "tags": ["y"] }),
            "permission_denied",
        ),
    ] {
        let error = refused(&vault, "add", arguments.clone());
        assert_eq!(error.code(), code, "{arguments}: {error}");
    }
    let error = refused(&vault, "add", json!({ "paths": ["Broken"], "tags": ["y"] }));
    assert!(
        error
            .message()
            .starts_with("`Broken.md`: the frontmatter is not valid YAML, line")
    );
    let error = refused(
        &vault,
        "take",
        json!({ "paths": ["Broken"], "tags": ["x"] }),
    );
    assert_eq!(error.code(), "unsupported");
    assert_eq!(vault.text("A.md").unwrap(), "a");
}

#[test]
fn tags_are_taken_from_text_and_properties() {
    let note = "---\ntags:\n  - a # kept\n  - b/c\n---\nText #a, #A/b and `#a`. #ab\n";
    let vault = Vault::in_memory().with("N.md", note).with("M.md", "x");
    let taken = ok(
        &vault,
        "take",
        json!({ "paths": ["N", "M"], "tags": ["a", "z"], "nested": false }),
    );
    assert_eq!(
        taken["items"][0],
        json!({"path": "N.md", "properties": 1, "inline": 1, "missing": ["z"]})
    );
    assert_eq!(taken["items"][1]["missing"], json!(["a", "z"]));
    assert_eq!(
        vault.text("N.md").unwrap(),
        "---\ntags:\n  - b/c\n---\nText, #A/b and `#a`. #ab\n"
    );
    ok(
        &vault,
        "take",
        json!({ "paths": ["N"], "tags": ["#a", "b"] }),
    );
    assert_eq!(vault.text("N.md").unwrap(), "Text, and `#a`. #ab\n");
    ok(
        &vault,
        "take",
        json!({ "paths": ["N"], "tags": ["ab"], "inline": "word" }),
    );
    assert_eq!(vault.text("N.md").unwrap(), "Text, and `#a`. ab\n");
    assert_eq!(vault.text("M.md").unwrap(), "x");
}

fn tagged() -> MemoryVault {
    Vault::in_memory()
        .with(
            "A.md",
            "---\ntags: [Old, \"old/x\", new] # c\n---\n#OLD #old/x/y #older\n",
        )
        .with("B.md", "#new")
        .with("C.md", "---\ntags: [broken\n---\n#old\n")
        .with("Locked/L.md", "#old")
        .with("Hidden/H.md", "#old #hidden")
        .allow("Locked", Tier::Read)
        .allow("Hidden", Tier::None)
}

#[test]
fn a_renamed_tag_is_merged_with_an_existing_one() {
    let vault = tagged();
    let renamed = ok(&vault, "rename", json!({ "from": "#old", "to": "new" }));
    assert_eq!(
        vault.text("A.md").unwrap(),
        "---\ntags: [\"new/x\", new] # c\n---\n#new #new/x/y #older\n"
    );
    assert_eq!(
        vault.text("C.md").unwrap(),
        "---\ntags: [broken\n---\n#new\n"
    );
    assert_eq!(vault.text("Hidden/H.md").unwrap(), "#old #hidden");
    assert_eq!(
        renamed,
        json!({"tag": "old", "to": "new", "notes": 2, "inline": 3, "properties": 2,
               "notes_left": [{"path": "Locked/L.md", "reason": "no write permission"}]})
    );
}

#[test]
fn a_tag_can_be_nested_in_itself_or_change_case() {
    let vault = Vault::in_memory().with("A.md", "---\ntags: a, a/b\n---\n#a #a/b\n");
    ok(&vault, "rename", json!({ "from": "a", "to": "a/b" }));
    assert_eq!(
        vault.text("A.md").unwrap(),
        "---\ntags: a/b, a/b/b\n---\n#a/b #a/b/b\n"
    );
    let vault = Vault::in_memory().with("A.md", "---\ntags: [a]\n---\n#A #a/b\n");
    ok(&vault, "rename", json!({ "from": "a", "to": "A" }));
    assert_eq!(
        vault.text("A.md").unwrap(),
        "---\ntags: [A]\n---\n#A #A/b\n"
    );
}

#[test]
fn a_tag_is_removed_everywhere() {
    let vault = tagged();
    let removed = ok(&vault, "remove", json!({ "tag": "old" }));
    assert_eq!(
        vault.text("A.md").unwrap(),
        "---\ntags: [new] # c\n---\n#older\n"
    );
    assert_eq!(removed["notes"], 2);
    assert_eq!(removed["notes_left"][0]["path"], "Locked/L.md");
    assert!(removed.get("to").is_none());
    let described = crate::Domain::describe();
    let actions = described["actions"].as_array().unwrap();
    let remove = actions.iter().find(|action| action["name"] == "remove");
    assert_eq!(remove.unwrap()["effect"], Effect::Delete.as_str());
}

#[test]
fn unknown_tags_are_not_found() {
    let vault = tagged();
    for (action, arguments, code) in [
        (
            "rename",
            json!({ "from": "nobody", "to": "x" }),
            "not_found",
        ),
        (
            "rename",
            json!({ "from": "hidden", "to": "x" }),
            "not_found",
        ),
        (
            "rename",
            json!({ "from": "old", "to": "old" }),
            "validation_error",
        ),
        (
            "rename",
            json!({ "from": "old", "to": "not a tag" }),
            "validation_error",
        ),
        (
            "rename",
            json!({ "from": "", "to": "x" }),
            "validation_error",
        ),
        ("remove", json!({ "tag": "hidden" }), "not_found"),
        ("remove", json!({ "tag": "#" }), "validation_error"),
    ] {
        let error = refused(&vault, action, arguments.clone());
        assert_eq!(error.code(), code, "{arguments}: {error}");
        assert!(!error.message().contains("`hidden`") || arguments.to_string().contains("hidden"));
    }
    let error = refused(&vault, "remove", json!({ "tag": "nee" }));
    assert_eq!(
        error.message(),
        "no note has the tag `nee`; existing tags: `new`"
    );
}
