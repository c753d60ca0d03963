//! `regex`.

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
fn lines_are_matched_one_by_one_in_order_of_path() {
    let vault = vault();
    let reply = ok(&vault, "regex", json!({ "pattern": "fox(es)?" }));
    let told: Vec<(&str, u64, &str)> = reply["items"]
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
        told,
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
fn carriage_returns_belong_to_line_ends() {
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
fn pages_go_on_where_they_ended() {
    let vault = Vault::in_memory()
        .with("A.md", "x1\nx2\nx3\n")
        .with("B.md", "x4\n")
        .with("C.md", "y\n")
        .with("D.md", "x5\nx6");
    for limit in 1..=7 {
        for multiline in [false, true] {
            let mut seen = Vec::new();
            let mut cursor: Option<String> = None;
            loop {
                let search = RegexSearch {
                    multiline,
                    ..search("x.", limit, cursor)
                };
                let page = search.look(&vault, Duration::from_secs(60)).unwrap();
                assert!(page.items.len() <= limit && page.incomplete.is_none());
                seen.extend(page.items.into_iter().map(|item| item.matched));
                cursor = page.next_cursor;
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!(seen, ["x1", "x2", "x3", "x4", "x5", "x6"], "{limit}");
        }
    }
}

#[test]
fn time_that_is_up_is_told_and_the_next_call_goes_on() {
    let vault = Vault::in_memory()
        .with("A.md", "x1\n")
        .with("B.md", "y\n")
        .with("C.md", "x2\n");
    let mut seen = Vec::new();
    let mut cursor = None;
    let mut calls = 0;
    loop {
        let page = search("x.", 10, cursor)
            .look(&vault, Duration::ZERO)
            .unwrap();
        calls += 1;
        assert_eq!(page.incomplete.is_some(), page.next_cursor.is_some());
        seen.extend(page.items.into_iter().map(|item| item.matched));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!((seen, calls), (vec!["x1".to_owned(), "x2".to_owned()], 3));
}

#[test]
fn patterns_that_cannot_be_are_refused_with_advice() {
    let vault = vault();
    for (pattern, wrong) in [
        ("", "empty"),
        ("(a", "unclosed group at byte 0"),
        ("(?=a)", "no look-around"),
        (r"(a)\1", "no backreferences"),
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
        assert!(error.message().contains("which no reply gave"), "{cursor}");
    }
}

#[test]
fn a_pattern_that_hangs_others_does_not_hang_this() {
    let vault = Vault::in_memory().with("A.md", &"a".repeat(50_000));
    let reply = ok(&vault, "regex", json!({ "pattern": "^(a+)+$|(a|aa)+b" }));
    assert_eq!(reply["items"].as_array().unwrap().len(), 1);
}
