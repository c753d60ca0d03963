//! Tests of `replace`.

use proptest::prelude::*;

use super::*;

#[test]
fn text_is_replaced_in_all_notes_and_counted() {
    let vault = vault().as_effect(Effect::Write);
    let reply = ok(
        &vault,
        "replace",
        json!({ "find": "fox", "replace": "$1 hound" }),
    );
    assert_eq!(reply["replaced"], 4);
    assert_eq!(
        paths(&reply),
        [
            "Diary/Secret.md",
            "People/Ana.md",
            "Work/Budget.md",
            "Work/Plan.md"
        ]
    );
    assert_eq!(
        reply["items"][2],
        json!({ "path": "Work/Budget.md", "line": 5, "count": 1 })
    );
    assert_eq!(
        reply["left_alone"],
        json!([{ "path": "Old.md", "reason": "not UTF-8 text" }])
    );
    assert_eq!(
        vault.text("Diary/Secret.md").unwrap(),
        "the secret $1 hound #hidden\n"
    );
    assert_eq!(vault.bytes("Old.md").unwrap(), b"fox \xff");
}

#[test]
fn regex_groups_and_case_insensitive_replacement() {
    let vault = vault();
    ok(
        &vault,
        "replace",
        json!({ "find": r"(\w+) fox", "replace": "fox of ${1}!", "regex": true, "path": "Diary" }),
    );
    assert_eq!(
        vault.text("Diary/Secret.md").unwrap(),
        "the fox of secret! #hidden\n"
    );
    ok(
        &vault,
        "replace",
        json!({ "find": "ANA", "replace": "Eva", "case": false, "path": "People/*" }),
    );
    assert_eq!(
        vault.text("People/Ana.md").unwrap(),
        "Eva draws foxes. 中文笔记\n"
    );
    ok(
        &vault,
        "replace",
        json!({ "find": "^and", "replace": "or", "regex": true }),
    );
    assert!(
        vault
            .text("Work/Budget.md")
            .unwrap()
            .ends_with("\nor a TODO 2024\n")
    );
    ok(&vault, "replace", json!({ "find": "笔记", "replace": "" }));
    assert_eq!(
        vault.text("People/Ana.md").unwrap(),
        "Eva draws foxes. 中文\n"
    );
}

#[test]
fn the_line_endings_of_the_note_are_preserved() {
    let vault = Vault::in_memory()
        .with("A.md", "one\r\ntwo\r\n")
        .with("B.md", "one\ntwo\n");
    ok(
        &vault,
        "replace",
        json!({ "find": "one\ntwo", "replace": "1\n2" }),
    );
    assert_eq!(vault.text("A.md").unwrap(), "1\r\n2\r\n");
    assert_eq!(vault.text("B.md").unwrap(), "1\n2\n");
    ok(
        &vault,
        "replace",
        json!({ "find": "\r\n", "replace": "\n" }),
    );
    assert_eq!(vault.text("A.md").unwrap(), "1\n2\n");
}

#[test]
fn notes_without_write_permission_are_skipped() {
    let vault = vault().allow("Work", Tier::Read).allow("Diary", Tier::None);
    let reply = ok(
        &vault,
        "replace",
        json!({ "find": "fox", "replace": "cat" }),
    );
    assert_eq!(paths(&reply), ["People/Ana.md"]);
    let left = reply["left_alone"].as_array().unwrap();
    assert_eq!(left.len(), 3);
    assert_eq!(
        left[1],
        json!({ "path": "Work/Budget.md", "reason": "no write permission" })
    );
    assert_eq!(
        vault.text("Diary/Secret.md").unwrap(),
        "the secret fox #hidden\n"
    );
    let error = refused(
        &vault,
        "replace",
        json!({ "find": "fox", "replace": "cat", "path": "Work" }),
    );
    assert_eq!(error.code(), "permission_denied");
    assert!(error.hint().unwrap().contains("permission set Work rw"));
}

#[test]
fn notes_whose_frontmatter_would_break_are_skipped() {
    let vault = Vault::in_memory()
        .with("A.md", "---\na: b\n---\nb\n")
        .with("B.md", "b\n");
    let reply = ok(&vault, "replace", json!({ "find": "b", "replace": "[c" }));
    assert_eq!(paths(&reply), ["B.md"]);
    assert_eq!(
        reply["left_alone"][0]["reason"],
        "the change would make its properties unreadable"
    );
    assert_eq!(vault.text("A.md").unwrap(), "---\na: b\n---\nb\n");
    let error = refused(
        &vault,
        "replace",
        json!({ "find": "---", "replace": "***" }),
    );
    assert_eq!(error.code(), "unsupported");
}

#[test]
fn failed_calls_change_nothing() {
    let mut vault = vault();
    for (arguments, code) in [
        (json!({ "find": "", "replace": "x" }), "validation_error"),
        (
            json!({ "find": "(", "replace": "x", "regex": true }),
            "validation_error",
        ),
        (
            json!({ "find": "(f)ox", "replace": "$2", "regex": true }),
            "validation_error",
        ),
        (
            json!({ "find": "(f)ox", "replace": "$1x", "regex": true }),
            "validation_error",
        ),
        (
            json!({ "find": "nowhere at all", "replace": "x" }),
            "not_found",
        ),
        (json!({ "find": "fox", "replace": "fox" }), "not_found"),
        (
            json!({ "find": "fox", "replace": "x", "path": "Nowhere" }),
            "not_found",
        ),
    ] {
        assert_eq!(
            refused(&vault, "replace", arguments.clone()).code(),
            code,
            "{arguments}"
        );
    }
    for number in 0..=crate::replace::MAX_NOTES {
        vault = vault.with(&format!("Many/{number}.md"), "word");
    }
    let error = refused(
        &vault,
        "replace",
        json!({ "find": "word", "replace": "x", "path": "Many" }),
    );
    assert_eq!(error.code(), "too_large");
    assert!(vault.commit("search.replace").is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Equivalent to `str::replace`: bytes outside of matches do not change.
    #[test]
    fn bytes_outside_matches_are_untouched(text in "[abé中\r\n #$.]{0,40}", find in "[abé中.$]{1,2}", with in "[xy$1é]{0,3}") {
        let vault = Vault::in_memory().with("A.md", &text);
        let arguments = json!({ "find": find, "replace": with });
        let reply = notehost_sdk::testing::reply::<Domain>(&vault, "replace", &arguments);
        let expected = text.replace(&find, &with);
        prop_assert_eq!(vault.text("A.md").unwrap(), expected.clone());
        prop_assert_eq!(reply.is_ok(), expected != text);
    }
}
