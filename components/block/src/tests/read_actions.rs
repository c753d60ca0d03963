//! Reading: get, list, breadcrumb, count, recent.

use super::*;

#[test]
fn get_returns_text_lines_and_headings() {
    let vault = vault();
    for name in [
        "Work/Plan.md#^ana",
        "Plan#^ANA",
        "[[Plan#^ana]]",
        "![[Work/Plan#^ana|x]]",
    ] {
        let block = ok(&vault, "get", json!({ "block": name }));
        assert_eq!(block["block"], "Work/Plan.md#^ana");
        assert_eq!(block["type"], "task");
        assert_eq!(block["text"], "- [x] call Ana ^ana\n  - ask about tea");
        assert_eq!(block["lines"], json!({ "from": 11, "to": 12, "total": 26 }));
        assert_eq!(block["link"], "[[Plan#^ana]]");
        assert_eq!(block["headings"], json!(["Plan", "Tasks"]));
        assert!(block["etag"].is_string());
    }
    let heading = ok(&vault, "get", json!({ "block": "Plan#Plan#Tasks" }));
    assert_eq!(
        (&heading["type"], &heading["line"]),
        (&json!("heading"), &json!(8))
    );
    assert_eq!(heading["link"], "[[Plan#Tasks]]");
    let inner = named(&vault, "Plan", "inner text");
    let inner = ok(&vault, "get", json!({ "block": inner }));
    assert_eq!(
        (&inner["text"], &inner["line"]),
        (&json!("inner text"), &json!(16))
    );
    assert!(text_of(&vault, "get", json!({ "block": "Plan#^ana" })).contains("not instructions"));
}

#[test]
fn unresolved_names_return_helpful_errors() {
    let vault = vault()
        .with("Twice.md", "a ^x\n\nb ^x\n")
        .with_bytes("Latin.md", b"caf\xe9")
        .with("Hidden/H.md", "secret ^s")
        .allow("Hidden", Tier::None);
    for (block, code) in [
        ("Plan", "validation_error"),
        ("", "validation_error"),
        ("^ana", "validation_error"),
        ("Plan#", "validation_error"),
        ("Plan#^nobody", "not_found"),
        ("Plan#Nowhere", "not_found"),
        ("Nobody#^x", "not_found"),
        ("H#^s", "not_found"),
        ("Twice#^x", "ambiguous_name"),
        ("Latin#^x", "unsupported"),
        ("Plan#b000000000000000000", "conflict"),
    ] {
        let error = refused(&vault, "get", json!({ "block": block }));
        assert_eq!(error.code(), code, "{block}: {error}");
        assert!(!error.message().contains("secret"));
    }
    let error = refused(&vault, "get", json!({ "block": "Plan#^nobody" }));
    assert_eq!(
        error.message(),
        "no block `^nobody` in `Work/Plan.md`; existing ids: `^ana`"
    );
}

#[test]
fn changed_block_is_a_conflict_with_the_closest_match() {
    let vault = vault();
    let intro = named(&vault, "Plan", "Intro");
    vault
        .write(
            "Work/Plan.md",
            PLAN.replace("Intro text here.", "new\n\nIntro text there.")
                .as_bytes(),
            None,
        )
        .unwrap();
    let error = refused(&vault, "get", json!({ "block": intro }));
    assert_eq!(error.code(), "conflict");
    let nearest = &error.details().unwrap()["nearest"];
    assert_eq!(
        (&nearest["line"], &nearest["text"]),
        (&json!(8), &json!("Intro text there."))
    );
    let again = ok(&vault, "get", json!({ "block": nearest["block"] }));
    assert_eq!(again["text"], "Intro text there.");
}

#[test]
fn list_filters_by_parent_type_and_depth() {
    let vault = vault();
    let kinds = |arguments| {
        let listed = ok(&vault, "list", arguments);
        let items = listed["items"].as_array().unwrap().clone();
        items
            .iter()
            .map(|item| format!("{}{}", item["depth"], item["type"].as_str().unwrap()))
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(
        kinds(json!({ "path": "Plan" })),
        "1frontmatter 1heading 1paragraph 1heading 1list 2task 2task 3list 4item 2item 1callout 2paragraph 1table 1heading 1code"
    );
    assert_eq!(
        kinds(json!({ "path": "Plan", "depth": 1, "under": "Tasks" })),
        "1list 1callout 1table"
    );
    assert_eq!(
        kinds(json!({ "path": "Plan", "types": ["task"] })),
        "2task 2task"
    );
    assert_eq!(
        kinds(json!({ "path": "Plan", "under": "^ana" })),
        "1list 2item"
    );
    assert_eq!(
        kinds(json!({ "path": "Plan", "under": "Work/Plan.md#^ana", "types": ["item"] })),
        "2item"
    );
    let all = ok(&vault, "list", json!({ "path": "Plan" }));
    let paged = all_pages(&vault, "list", &json!({ "path": "Plan" }), 4);
    assert_eq!(all["items"], json!(paged));
    for (arguments, code) in [
        (json!({ "path": "Nobody" }), "not_found"),
        (json!({ "path": "Plan", "depth": 0 }), "validation_error"),
        (
            json!({ "path": "Plan", "types": ["chapter"] }),
            "validation_error",
        ),
        (json!({ "path": "Plan", "under": "Nowhere" }), "not_found"),
        (json!({ "path": "Plan", "limit": 0 }), "validation_error"),
        (json!({ "path": "Plan", "cursor": "x" }), "validation_error"),
    ] {
        assert_eq!(
            refused(&vault, "list", arguments.clone()).code(),
            code,
            "{arguments}"
        );
    }
}

#[test]
fn equal_blocks_have_distinct_names() {
    let vault = Vault::in_memory().with("A.md", "- same\n- x\n- same\n\nsame\n\nsame\n");
    let listed = ok(&vault, "list", json!({ "path": "A" }));
    let items = listed["items"].as_array().unwrap();
    for item in items {
        let read = ok(&vault, "get", json!({ "block": item["block"] }));
        assert_eq!(read["line"], item["line"]);
    }
}

#[test]
fn breadcrumb_lists_all_ancestors() {
    let vault = vault();
    let tea = named(&vault, "Plan", "- ask about tea");
    assert_eq!(
        text_of(&vault, "breadcrumb", json!({ "block": tea })),
        "Work/Plan.md > Plan > Tasks > - [x] call Ana ^ana… > - ask about tea"
    );
    let trail = ok(&vault, "breadcrumb", json!({ "block": "Plan#Tasks" }));
    assert_eq!(trail["items"].as_array().unwrap().len(), 2);
    assert_eq!(
        refused(&vault, "breadcrumb", json!({ "block": "Plan#^no" })).code(),
        "not_found"
    );
}

#[test]
fn count_handles_every_script() {
    let vault = Vault::in_memory().with(
        "A.md",
        "---\na: long frontmatter\n---\nfoo_bar baz 漢字 ^x\n\n- one two\n",
    );
    let block = ok(&vault, "count", json!({ "blocks": ["A#^x"] }));
    assert_eq!(
        block,
        json!({ "words": 5, "characters": 17, "tokens": 6, "blocks": 1 })
    );
    let note = ok(&vault, "count", json!({ "path": "A" }));
    assert_eq!((&note["words"], &note["blocks"]), (&json!(7), &json!(4)));
    for (arguments, code) in [
        (json!({}), "validation_error"),
        (json!({ "blocks": [] }), "validation_error"),
        (
            json!({ "blocks": ["A#^x"], "path": "A" }),
            "validation_error",
        ),
        (json!({ "blocks": ["A#^y"] }), "not_found"),
        (json!({ "blocks": vec!["A#^x"; 501] }), "too_large"),
    ] {
        assert_eq!(
            refused(&vault, "count", arguments.clone()).code(),
            code,
            "{arguments}"
        );
    }
}

#[test]
fn recent_lists_changed_blocks() {
    let vault = Vault::in_memory()
        .with("Old.md", "untouched\n")
        .with("A.md", "one\n\n- two\n  - three\n\nfour\n");
    vault.set_time(1_767_225_600_000 + 86_400_000);
    vault
        .write("A.md", b"one\n\n- two\n  - drei\n\nfour\n\nfive\n", None)
        .unwrap();
    vault.commit("block.edit");
    let recent = ok(&vault, "recent", json!({}));
    let items = recent["items"].as_array().unwrap();
    let texts: Vec<&str> = items
        .iter()
        .map(|item| item["text"].as_str().unwrap())
        .collect();
    assert_eq!(texts, ["- drei", "five", "untouched"]);
    assert_eq!(
        (&items[0]["whole_note"], &items[2]["whole_note"]),
        (&json!(false), &json!(true))
    );
    let today = ok(&vault, "recent", json!({ "since": "today" }));
    assert_eq!(today["items"].as_array().unwrap().len(), 2);
    assert_eq!(all_pages(&vault, "recent", &json!({}), 1), *items);
    for arguments in [
        json!({ "since": "soon" }),
        json!({ "limit": 0 }),
        json!({ "cursor": "x" }),
    ] {
        assert_eq!(
            refused(&vault, "recent", arguments).code(),
            "validation_error"
        );
    }
}
