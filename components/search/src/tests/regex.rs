//! Tests of `regex`.

use std::time::Duration;

use super::*;
use crate::pattern::RegexSearch;

fn search(pattern: &str, limit: usize, cursor: Option<String>) -> RegexSearch {
    RegexSearch {
        pattern: pattern.to_owned(),
        path: None,
        case: None,
        multiline: false,
        limit: Some(limit),
        cursor,
    }
}

#[test]
fn lines_are_matched_separately_in_path_order() {
    let vault = vault();
    let reply = ok(&vault, "regex", json!({ "pattern": "fox(es)?" }));
    let lines: Vec<(&str, u64, &str)> = reply["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| {
            (
                item["path"].as_str().unwrap(),
                item["line"].as_u64().unwrap(),
                item["match"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        lines,
        [
            ("Diary/Secret.md", 1, "fox"),
            ("People/Ana.md", 1, "foxes"),
            ("Work/Budget.md", 5, "fox"),
            ("Work/Plan.md", 9, "fox")
        ]
    );
    assert_eq!(
        reply["skipped"],
        json!([{ "path": "Old.md", "reason": "not UTF-8 text" }])
    );
    let found = |arguments: Value| {
        ok(&vault, "regex", arguments)["items"]
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!(found(json!({ "pattern": "FOX" })), 0);
    assert_eq!(found(json!({ "pattern": "FOX", "case": false })), 4);
    assert_eq!(found(json!({ "pattern": "fox$", "path": "Work" })), 1);
    assert_eq!(found(json!({ "pattern": r"fox\s+and" })), 0);
    assert_eq!(
        found(json!({ "pattern": r"fox\s+and", "multiline": true })),
        1
    );
    assert_eq!(
        found(json!({ "pattern": r"fox\nand", "multiline": true })),
        1
    );
    assert_eq!(
        found(json!({ "pattern": r"\d{4}$", "path": "**/Budget.md" })),
        1
    );
    assert_eq!(found(json!({ "pattern": "^$", "path": "Plan" })), 2);
    assert_eq!(found(json!({ "pattern": "中.笔" })), 1);
}

#[test]
fn carriage_returns_are_part_of_line_endings() {
    let vault = Vault::in_memory().with("A.md", "one\r\ntwo\r\n");
    assert_eq!(
        ok(&vault, "regex", json!({ "pattern": "one$" }))["items"][0]["match"],
        "one"
    );
    assert_eq!(
        ok(
            &vault,
            "regex",
            json!({ "pattern": "one$", "multiline": true })
        )["items"][0]["match"],
        "one"
    );
}

#[test]
fn pages_continue_where_the_previous_one_ended() {
    let vault = Vault::in_memory()
        .with("A.md", "x1\nx2\nx3\n")
        .with("B.md", "x4\n")
        .with("C.md", "y\n")
        .with("D.md", "x5\nx6");
    for limit in 1..=7 {
        for multiline in [false, true] {
            let mut matched = Vec::new();
            let mut cursor: Option<String> = None;
            loop {
                let search = RegexSearch {
                    multiline,
                    ..search("x.", limit, cursor)
                };
                let page = search.search(&vault, Duration::from_secs(60)).unwrap();
                assert!(page.items.len() <= limit && page.incomplete.is_none());
                matched.extend(page.items.into_iter().map(|item| item.matched));
                cursor = page.next_cursor;
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!(matched, ["x1", "x2", "x3", "x4", "x5", "x6"], "{limit}");
        }
    }
}

#[test]
fn a_page_cut_by_the_time_limit_is_incomplete_and_can_be_continued() {
    let vault = Vault::in_memory()
        .with("A.md", "x1\n")
        .with("B.md", "y\n")
        .with("C.md", "x2\n");
    let mut matched = Vec::new();
    let mut cursor = None;
    let mut calls = 0;
    loop {
        let page = search("x.", 10, cursor)
            .search(&vault, Duration::ZERO)
            .unwrap();
        calls += 1;
        assert_eq!(page.incomplete.is_some(), page.next_cursor.is_some());
        matched.extend(page.items.into_iter().map(|item| item.matched));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(
        (matched, calls),
        (vec!["x1".to_owned(), "x2".to_owned()], 3)
    );
}

#[test]
fn invalid_patterns_are_rejected_with_a_hint() {
    let vault = vault();
    for (pattern, wrong) in [
        ("", "empty"),
        ("(a", "unclosed group at byte 0"),
        ("(?=a)", "look-around is not supported"),
        (r"(a)\1", "backreferences are not supported"),
        (r"\w{1000}{1000}", "too large"),
        (r"a\nb", "set `multiline` to true"),
    ] {
        let error = refused(&vault, "regex", json!({ "pattern": pattern }));
        assert_eq!(error.code(), "validation_error", "{pattern}");
        assert!(
            error.message().contains(wrong),
            "{pattern}: {}",
            error.message()
        );
    }
    for cursor in ["x", "r", "r1", "rzz.A.md", "r1."] {
        let error = refused(&vault, "regex", json!({ "pattern": "a", "cursor": cursor }));
        assert!(error.message().contains("invalid `cursor`"), "{cursor}");
    }
}

#[test]
fn catastrophic_backtracking_patterns_run_in_linear_time() {
    let vault = Vault::in_memory().with("A.md", &"a".repeat(50_000));
    let reply = ok(&vault, "regex", json!({ "pattern": "^(a+)+$|(a|aa)+b" }));
    assert_eq!(reply["items"].as_array().unwrap().len(), 1);
}
