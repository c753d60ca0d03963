//! The actions that read databases.

use super::*;
use notehost_sdk::Tier;
use notehost_sdk::testing::paths;

#[test]
fn list_returns_every_database() {
    let vault = vault();
    let reply = ok(&vault, "list", json!({}));
    let names: Vec<&str> = reply["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["database"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "Books.base",
            "Report.md#base-1",
            "Report.md#base-2",
            "Books/",
            "Other/"
        ]
    );
    assert_eq!(reply["items"][0]["views"], json!(["All", "Open"]));
    assert_eq!(reply["items"][2]["line"], json!(18));
    assert_eq!(reply["items"][3]["notes"], json!(4));
    assert_eq!(all_pages(&vault, "list", &json!({}), 2).len(), 5);
    assert_eq!(
        ok(&vault, "list", json!({"kind": "base"}))["total"],
        json!(1)
    );
    let broken = vault.with("Bad.base", "views: [\n");
    assert!(text_of(&broken, "list", json!({})).contains("invalid YAML on line"));
}

#[test]
fn get_describes_a_database() {
    let reply = ok(&vault(), "get", json!({"database": "Books.base"}));
    assert_eq!(reply["rows"], json!(3));
    assert_eq!(reply["views"][1]["group"], json!("author"));
    assert_eq!(reply["views"][0]["sort"], json!(["-price"]));
    assert_eq!(reply["formulas"]["ppp"], json!("(price / pages).round(3)"));
    assert!(reply["etag"].is_string() && reply["content"] == json!(BOOKS));
    let folder = ok(&vault(), "get", json!({"database": "Books/"}));
    assert_eq!(
        (&folder["kind"], &folder["rows"]),
        (&json!("folder"), &json!(4))
    );
    let block = ok(&vault(), "get", json!({"database": "Report#base-2"}));
    assert_eq!((&block["line"], &block["rows"]), (&json!(19), &json!(6)));
}

#[test]
fn database_names_are_resolved_or_rejected() {
    let vault = vault();
    for (name, code) in [
        ("Books", "ambiguous_name"),
        ("Report", "ambiguous_name"),
        ("Report#base-9", "not_found"),
        ("Books/Dune.md", "not_found"),
        ("Nowhere", "not_found"),
        ("Nowhere.base", "not_found"),
        ("Nowhere/", "not_found"),
        (" ", "validation_error"),
    ] {
        assert_eq!(
            refused(&vault, "get", json!({"database": name})).code(),
            code,
            "{name}"
        );
    }
    for name in [
        "[[Books.base]]",
        "books.BASE",
        "Books/",
        "Other",
        ".",
        "Report#base-1",
    ] {
        ok(&vault, "get", json!({"database": name}));
    }
}

#[test]
fn query_filters_sorts_and_summarises_a_view() {
    let vault = vault();
    let reply = ok(&vault, "query", json!({"database": "Books.base"}));
    assert_eq!(
        paths(&reply),
        ["Books/Ubik.md", "Books/Dune.md", "Books/Emma.md"]
    );
    assert_eq!(
        reply["items"][0]["values"],
        json!({"file.name": "Ubik", "price": 20, "formula.ppp": 0.1})
    );
    assert_eq!(
        reply["columns"][1],
        json!({"column": "price", "name": "Price", "type": "number"})
    );
    assert_eq!(
        reply["summaries"]["price"],
        json!({"summary": "Average", "value": 13.5})
    );
    assert_eq!(
        reply["summaries"]["formula.ppp"],
        json!({"summary": "spread", "value": 0.084})
    );
    let text = text_of(&vault, "query", json!({"database": "Books.base"}));
    assert!(
        text.contains("| name | Price | ppp |\n| --- | --- | --- |\n| [[Books/Ubik]] | 20 | 0.1 |"),
        "{text}"
    );
    assert!(text.contains("Average of price: 13.5"), "{text}");
}

#[test]
fn query_counts_groups_and_applies_the_view_limit() {
    let vault = vault();
    let reply = ok(
        &vault,
        "query",
        json!({"database": "Books.base", "view": "open"}),
    );
    assert_eq!(
        (&reply["total"], &reply["view"]),
        (&json!(2), &json!("Open"))
    );
    assert_eq!(
        reply["groups"],
        json!([{"value": "[[Jane]]", "count": 1}, {"value": "[[Philip|P | D]]", "count": 1}])
    );
    let text = text_of(
        &vault,
        "query",
        json!({"database": "Books.base", "view": "Open"}),
    );
    assert!(
        text.contains("**[[Jane]]** (1)")
            && text.contains(r"| [[Books/Ubik]] | [[Philip\|P \| D]] |"),
        "{text}"
    );
    let reply = ok(
        &vault,
        "query",
        json!({"database": "Books/", "group": "-done", "sort": "-price"}),
    );
    assert_eq!(
        reply["groups"],
        json!([{"value": true, "count": 1}, {"value": null, "count": 3}])
    );
    assert_eq!(
        paths(&reply),
        [
            "Books/Dune.md",
            "Books/Ubik.md",
            "Books/Emma.md",
            "Books/Notes.md"
        ]
    );
}

#[test]
fn query_applies_filter_sort_and_paging_arguments() {
    let vault = vault();
    let arguments = json!({"database": "Books.base", "filter": "price < 15 && !author.isEmpty()", "sort": "price"});
    assert_eq!(
        paths(&ok(&vault, "query", arguments.clone())),
        ["Books/Emma.md", "Books/Dune.md"]
    );
    assert_eq!(all_pages(&vault, "query", &arguments, 1).len(), 2);
    let report = ok(
        &vault,
        "query",
        json!({"database": "Report.md#base-1", "sort": "-file.name"}),
    );
    assert_eq!(
        paths(&report),
        ["Books/Ubik.md", "Report.md", "Books/Dune.md"]
    );
    let folder = ok(&vault, "query", json!({"database": "Other"}));
    assert_eq!(
        folder["items"][0]["values"],
        json!({"file.name": "Pan", "tags": ["book"]})
    );
}

#[test]
fn invalid_queries_are_rejected() {
    let vault = vault()
        .with("Loop.base", "formulas:\n  a: formula.b\n  b: formula.a + 1\nviews:\n  - type: table\n    name: T\n    order: [formula.a]\n")
        .with("Odd.base", "views:\n  - name: T\n    order: [file.name]\n    filters: frob(1)\n")
        .with("Unused.base", "formulas:\n  x: frob(1)\nviews:\n  - name: T\n    order: [file.name]\n");
    for (arguments, expected) in [
        (
            json!({"database": "Books.base", "view": "Nope"}),
            "no view `Nope`; known views: `All`, `Open`",
        ),
        (
            json!({"database": "Books.base", "filter": "frob(1)"}),
            "unknown function `frob`",
        ),
        (
            json!({"database": "Books.base", "filter": "formula.x"}),
            "no formula `x`",
        ),
        (
            json!({"database": "Books.base", "sort": "a,,b"}),
            "`sort` has an empty column name",
        ),
        (
            json!({"database": "Books.base", "group": "file.nmae"}),
            "unknown column `file.nmae`",
        ),
        (
            json!({"database": "Books.base", "sort": "formula.x"}),
            "no formula `x`; known formulas: `formula.ppp`",
        ),
        (
            json!({"database": "Loop.base"}),
            "cyclic formulas: `a` → `b` → `a`",
        ),
        (
            json!({"database": "Odd.base"}),
            "`Odd.base`: view `T`: `frob(1)`: unknown function `frob` (at character 1)",
        ),
        (
            json!({"database": "Books.base", "limit": 0}),
            "`limit` is 0",
        ),
        (
            json!({"database": "Books.base", "cursor": "x"}),
            "invalid `cursor`: `x`",
        ),
    ] {
        let error = refused(&vault, "query", arguments);
        assert!(error.message().contains(expected), "{error}");
    }
    ok(&vault, "query", json!({"database": "Unused.base"}));
    assert!(
        text_of(&vault, "get", json!({"database": "Unused.base"}))
            .contains("unknown function `frob`")
    );
}

#[test]
fn failed_cells_are_empty_and_reported_as_problems() {
    let vault = vault().with("T.base", "filters: file.inFolder(\"Books\")\nformulas:\n  x: author.year + pages.lower()\nviews:\n  - name: T\n    order: [formula.x]\n");
    let reply = ok(&vault, "query", json!({"database": "T.base"}));
    assert_eq!(reply["total"], json!(4));
    assert!(
        reply["problems"][0]["message"]
            .as_str()
            .unwrap()
            .contains("a number has no function `lower`")
    );
    assert!(
        text_of(&vault, "query", json!({"database": "T.base"}))
            .contains("not computed: `Books/Dune.md`")
    );
}

#[test]
fn columns_and_values_are_listed() {
    let vault = vault();
    let reply = ok(&vault, "columns", json!({"database": "Books.base"}));
    let names: Vec<&str> = reply["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["column"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "file.name",
            "price",
            "formula.ppp",
            "author",
            "formula.label",
            "tags",
            "pages",
            "done"
        ]
    );
    assert_eq!(reply["items"][3]["type"], json!("link"));
    assert_eq!(
        reply["items"][7],
        json!({"column": "done", "name": "done", "kind": "note", "type": "checkbox", "filled": 1, "views": []})
    );
    let reply = ok(
        &vault,
        "values",
        json!({"database": "Books/", "column": "tags"}),
    );
    assert_eq!(reply["items"], json!([{"value": "book", "count": 3}]));
    assert_eq!(reply["empty"], json!(1));
    assert_eq!(
        ok(
            &vault,
            "values",
            json!({"database": "Books.base", "column": "Price"})
        )["total"],
        json!(3)
    );
    let error = refused(
        &vault,
        "values",
        json!({"database": "Books.base", "column": "prize"}),
    );
    assert!(
        error.message().contains("no column `prize`") && error.message().contains("`price`"),
        "{error}"
    );
}

#[test]
fn folder_names_match_any_case_and_unicode_form() {
    let vault = Vault::in_memory()
        .with("Cafe\u{301}/A.md", "---\nx: 1\n---\n")
        .with("T.base", "filters: file.inFolder(\"caf\u{e9}/\")\n");
    assert_eq!(
        ok(&vault, "query", json!({"database": "T.base"}))["total"],
        json!(1)
    );
    assert_eq!(
        ok(&vault, "query", json!({"database": "CAF\u{c9}/"}))["total"],
        json!(1)
    );
}

#[test]
fn hidden_notes_are_not_rows() {
    let vault = vault().allow("Other", Tier::None);
    assert!(!text_of(&vault, "list", json!({})).contains("Other"));
    assert_eq!(
        ok(&vault, "query", json!({"database": "."}))["total"],
        json!(5)
    );
    assert_eq!(
        refused(&vault, "get", json!({"database": "Other/"})).code(),
        "not_found"
    );
}

#[test]
fn argument_descriptions_are_short_and_schemas_are_plain() {
    use notehost_sdk::Describes as _;
    let mut words = 0;
    for action in Domain::describe()["actions"].as_array().unwrap() {
        let properties = action["input"]["properties"].as_object().unwrap();
        for (name, argument) in properties {
            words += argument["description"].as_str().unwrap_or_default().len();
            assert!(!argument["type"].is_null(), "{name}: {argument}");
            for union in ["oneOf", "anyOf", "$ref"] {
                assert!(argument.get(union).is_none(), "{name}: {argument}");
            }
        }
    }
    assert!(words < 3600, "{words}");
}
