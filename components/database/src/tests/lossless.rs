//! Property tests: edits change nothing outside their target.

use super::*;
use notehost_sdk::serde_json::Value;
use notehost_sdk::text::frontmatter;
use proptest::prelude::*;

/// `.base` files in many styles; `§` marks where a new column of the second view is inserted.
fn base() -> impl Strategy<Value = String> {
    let comment = prop::sample::select(vec!["", "# a comment\n", "\n", "# - type: no\n\n"]);
    let indent = prop::sample::select(vec!["", "  ", "    "]);
    let quote = prop::sample::select(vec!["", "\"", "'"]);
    let tail = prop::sample::select(vec!["", "extra: {a: 1}\n", "# the end\n"]);
    (comment.clone(), indent, quote, comment, tail, any::<bool>(), any::<bool>()).prop_map(
        |(first, indent, quote, between, tail, is_flow, is_crlf)| {
            let order = match is_flow {
                true => format!("{indent}  order: [{quote}file.name{quote}, b c§F]\n"),
                false => format!("{indent}  order:\n{indent}    - {quote}file.name{quote} # why\n{indent}    - b c\n§B{indent}"),
            };
            let order = match is_flow {
                true => order,
                false => order.trim_end_matches(' ').to_owned(),
            };
            let text = format!(
                "{first}filters: 'file.inFolder(\"A\")'\nviews: # all\n{indent}- type: table\n{indent}  name: {quote}One{quote}\n{between}{indent}- name: Two\n{order}{indent}  custom: [ x,  y ]\n{between}{tail}"
            );
            if is_crlf { text.replace('\n', "\r\n") } else { text }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn add_column_changes_only_its_lines(base in base(), has_mark: bool) {
        let newline = if base.contains("\r\n") { "\r\n" } else { "\n" };
        let mark = if has_mark { "\u{feff}" } else { "" };
        let before = format!("{mark}{}", base.replace("§F", "").replace("§B", ""));
        let vault = Vault::in_memory().with("X.base", &before);
        ok(&vault, "add_column", json!({"database": "X.base", "name": "new", "formula": "1 + 1", "view": "Two"}));
        let after = vault.text("X.base").unwrap();
        let column = base.lines().find(|line| line.contains("- b c")).map(|line| line.len() - line.trim_start().len());
        let item = format!("{}- formula.new{newline}", " ".repeat(column.unwrap_or_default()));
        let expected = format!("{mark}{}", base.replace("§F", ", formula.new").replace("§B", &item));
        let formula = format!("formulas:{newline}  new: 1 + 1{newline}");
        prop_assert_eq!(after.replace(&formula, ""), expected);
        ok(&vault, "remove_column", json!({"database": "X.base", "name": "formula.new"}));
        prop_assert_eq!(vault.text("X.base").unwrap(), before);
    }

    #[test]
    fn set_cells_changes_only_its_property(
        value in prop_oneof![Just(json!(7)), Just(json!(true)), "[a-z :#\\[\"'日]{0,12}".prop_map(|text| json!(text)), Just(json!(["a", "b, c"]))],
        others in prop::collection::vec(prop::sample::select(vec!["a: 1 # one", "b: \"two\"", "c: [x,  y]", "# comment", "d:\n  - 1\n  - 2", "e: '3'"]), 0..6),
        has_cell: bool,
        body in "[\\PC\n]{0,40}",
    ) {
        let mut others = others;
        others.sort_unstable();
        others.dedup();
        let cell = if has_cell { "cell:\n" } else { "" };
        let lines: String = others.iter().map(|line| format!("{line}\n")).collect();
        let vault = Vault::in_memory().with("N/A.md", &format!("---\n{lines}{cell}---\n{body}"));
        ok(&vault, "set_cells", json!({"database": "N/", "cells": [{"row": "N/A.md", "column": "cell", "value": value}]}));
        let after = vault.text("N/A.md").unwrap();
        prop_assert!(after.starts_with(&format!("---\n{lines}cell:")), "{}", after);
        prop_assert!(after.ends_with(&format!("---\n{body}")), "{}", after);
        prop_assert_eq!(frontmatter::properties(&after).unwrap()["cell"].clone(), value);
    }

    #[test]
    fn arbitrary_text_never_panics(text in "[\\PC\n]{0,80}", block in "(```base\n[a-z:\\[\\]\\- \n]{0,40}\n```\n){0,3}") {
        let vault = Vault::in_memory().with("X.base", &text).with("N.md", &block);
        for name in ["X.base", "N.md", "N.md#base-2"] {
            for action in ["get", "query", "columns"] {
                let _ = notehost_sdk::testing::reply::<Domain>(&vault, action, &json!({ "database": name }));
            }
        }
        let listed: Value = ok(&vault, "list", json!({}));
        prop_assert!(listed["total"].as_u64() >= Some(1));
    }
}
