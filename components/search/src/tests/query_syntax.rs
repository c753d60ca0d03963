//! The description of the domain, and the syntax of text queries.

use proptest::prelude::*;

use super::*;
use crate::query;

#[test]
fn the_description_is_complete_and_small() {
    assert_described::<Domain>(
        &[
            "text", "regex", "query", "similar", "recent", "assets", "replace", "context",
        ],
        7_000,
    );
}

#[test]
fn queries_are_parsed_into_conditions() {
    let parsed = |text: &str| {
        let condition = query::parse(text, &at(1_709_200_805_042)).unwrap();
        notehost_sdk::serde_json::to_value(condition).unwrap()
    };
    let word = |text: &str| json!({ "words": { "text": text } });
    let property = |test: Value| json!({ "property": test });
    for (text, expected) in [
        ("fox", word("fox")),
        ("quick fox", json!({ "all": [word("quick"), word("fox")] })),
        (
            "quick AND fox",
            json!({ "all": [word("quick"), word("fox")] }),
        ),
        ("\"quick fox\"", word("quick fox")),
        ("“quick fox”", word("quick fox")),
        ("qui*", json!({ "prefix": { "text": "qui" } })),
        ("\"quick fo\"*", json!({ "prefix": { "text": "quick fo" } })),
        ("-fox", json!({ "not": word("fox") })),
        ("NOT fox", json!({ "not": word("fox") })),
        (
            "a-b c - d -> e",
            json!({ "all": [word("a-b"), word("c"), word("d"), word("e")] }),
        ),
        (
            "a OR b c",
            json!({ "any": [word("a"), { "all": [word("b"), word("c")] }] }),
        ),
        ("a | b", json!({ "any": [word("a"), word("b")] })),
        ("OR a OR", word("a")),
        (
            "(a OR b) -(c d)",
            json!({ "all": [
            { "any": [word("a"), word("b")] }, { "not": { "all": [word("c"), word("d")] } }] }),
        ),
        (
            "title:plan",
            json!({ "words": { "text": "plan", "in": "name" } }),
        ),
        (
            "heading:\"two words\"",
            json!({ "words": { "text": "two words", "in": "headings" } }),
        ),
        (
            "content:(a OR b*)",
            json!({ "any": [
            { "words": { "text": "a", "in": "text" } }, { "prefix": { "text": "b", "in": "text" } }] }),
        ),
        ("#work/urgent", json!({ "tag": "work/urgent" })),
        ("tag:#work", json!({ "tag": "work" })),
        ("#123", word("#123")),
        ("has:open_tasks", json!({ "has": "open_tasks" })),
        (
            "path:Work/A",
            json!({ "any": [{ "path": "**/*Work/A*" }, { "path": "**/*Work/A*/**" }] }),
        ),
        (
            "path:Work/**",
            json!({ "any": [{ "path": "**/Work/**" }, { "path": "Work/**" }] }),
        ),
        (
            "path:Work/*",
            json!({ "any": [{ "path": "**/Work/*" }, { "path": "Work/*" }] }),
        ),
        (
            "path:*.md",
            json!({ "any": [{ "path": "**/*.md" }, { "path": "*.md" }] }),
        ),
        (
            "status:open",
            property(json!({ "key": "status", "equals": "open" })),
        ),
        (
            "status:\"in work\"",
            property(json!({ "key": "status", "equals": "in work" })),
        ),
        (
            "\"due date\":x",
            property(json!({ "key": "due date", "equals": "x" })),
        ),
        (
            "rating:4",
            property(json!({ "key": "rating", "equals": 4 })),
        ),
        (
            "v:1.10",
            json!({ "any": [
            property(json!({ "key": "v", "equals": 1.1 })), property(json!({ "key": "v", "equals": "1.10" }))] }),
        ),
        (
            "due:>2024-01-01",
            property(json!({ "key": "due", "greater": "2024-01-01" })),
        ),
        (
            "due:<=+1d",
            property(json!({ "key": "due", "at_most": "2024-03-01" })),
        ),
        (
            "status:~dra",
            property(json!({ "key": "status", "contains": "dra" })),
        ),
        (
            "status:dra*",
            property(json!({ "key": "status", "at_least": "dra", "less": "dra\u{10ffff}" })),
        ),
        (
            "status:(a OR b)",
            json!({ "any": [
            property(json!({ "key": "status", "equals": "a" })), property(json!({ "key": "status", "equals": "b" }))] }),
        ),
        (
            "status: fox",
            json!({ "all": [property(json!({ "key": "status", "exists": true })), word("fox")] }),
        ),
        (
            "[status]",
            property(json!({ "key": "status", "exists": true })),
        ),
        (
            "[status:null]",
            property(json!({ "key": "status", "exists": false })),
        ),
        (
            "[status:open]",
            property(json!({ "key": "status", "equals": "open" })),
        ),
        (
            "[rating:>=3]",
            property(json!({ "key": "rating", "at_least": 3 })),
        ),
        (
            "[status:a OR b]",
            json!({ "any": [
            property(json!({ "key": "status", "equals": "a" })), property(json!({ "key": "status", "equals": "b" }))] }),
        ),
        ("[[Plan]]", word("[[Plan]]")),
        ("https://example.com", word("https://example.com")),
        ("at 10:30", json!({ "all": [word("at"), word("10:30")] })),
        ("std::path", word("std::path")),
        ("中文 笔记", json!({ "all": [word("中文"), word("笔记")] })),
    ] {
        assert_eq!(parsed(text), expected, "{text}");
    }
}

#[test]
fn invalid_queries_are_rejected_with_the_reason() {
    let vault = vault();
    for (text, wrong) in [
        ("", "has no search terms"),
        ("  -> ... ", "has no search terms"),
        ("OR", "has no search terms"),
        ("-", "has no search terms"),
        ("\"open", "unclosed quote"),
        ("(a b", "unclosed `(`"),
        ("a) b", "unmatched `)`"),
        ("title:", "`title:` in `query` needs a value"),
        ("path: x", "`path:` in `query` needs a value"),
        ("has:money", "use one of `tags`"),
    ] {
        let error = refused(&vault, "text", json!({ "query": text }));
        assert_eq!(error.code(), "validation_error", "{text}");
        assert!(
            error.message().contains(wrong),
            "{text}: {}",
            error.message()
        );
    }
    let deep = format!("{}a{}", "(".repeat(100), ")".repeat(100));
    assert!(
        refused(&vault, "text", json!({ "query": deep }))
            .message()
            .contains("nested")
    );
    let long = "a ".repeat(3000);
    assert!(
        refused(&vault, "text", json!({ "query": long }))
            .message()
            .contains("`similar`")
    );
    let notted = format!("{} a", "NOT ".repeat(900));
    assert!(
        refused(&vault, "text", json!({ "query": notted }))
            .message()
            .contains("nested")
    );
}

proptest! {
    #[test]
    fn the_parser_never_panics(text in "\\PC{0,60}") {
        let _ = query::parse(&text, &at(0));
        let _ = query::plain_words(&text);
    }

    #[test]
    fn the_parser_never_panics_on_operators_and_conditions_round_trip(text in "[ab:\\-()\"\\[\\]|*#~<>= .é中ORNT]{0,40}") {
        let condition = query::parse(&text, &at(0));
        if let Ok(condition) = condition {
            let json = notehost_sdk::serde_json::to_value(&condition).unwrap();
            prop_assert_eq!(notehost_sdk::serde_json::from_value::<notehost_sdk::index::Condition>(json).unwrap(), condition);
        }
    }
}

fn at(milliseconds: u64) -> notehost_sdk::host::Now {
    notehost_sdk::host::Now {
        milliseconds,
        ..notehost_sdk::host::Now::default()
    }
}
