//! The actions that edit databases and their notes.

use super::*;
use notehost_sdk::Tier;
use notehost_sdk::host::Conventions;
use notehost_sdk::serde_json::Value;
use std::collections::BTreeMap;

#[test]
fn add_column_changes_nothing_else() {
    let vault = vault();
    let reply = ok(
        &vault,
        "add_column",
        json!({"database": "Books.base", "name": "rating", "type": "number"}),
    );
    assert_eq!(reply["views"], json!(["All", "Open"]));
    let expected = BOOKS
        .replace(
            "displayName: \"Price\" # in euro\n",
            "displayName: \"Price\" # in euro\n  rating:\n    type: number\n",
        )
        .replace(
            "      - formula.ppp\n",
            "      - formula.ppp\n      - rating\n",
        )
        .replace("[file.name, author]", "[file.name, author, rating]");
    assert_eq!(vault.text("Books.base").unwrap(), expected);
    let error = refused(
        &vault,
        "add_column",
        json!({"database": "Books.base", "name": "Rating", "type": "number"}),
    );
    assert_eq!(error.code(), "already_exists");
    let error = refused(
        &vault,
        "set_cells",
        json!({"database": "Books.base", "cells": [{"row": "Emma", "column": "rating", "value": "good"}]}),
    );
    assert!(
        error
            .message()
            .contains("cell 1, `Books/Emma.md`, column `rating`: invalid value `\"good\"`: the column has the type `number`"),
        "{error}"
    );
    ok(
        &vault,
        "remove_column",
        json!({"database": "Books.base", "name": "rating"}),
    );
    assert_eq!(vault.text("Books.base").unwrap(), BOOKS);
}

#[test]
fn add_column_supports_formula_default_and_view() {
    let vault = vault();
    ok(
        &vault,
        "add_column",
        json!({"database": "Books.base", "name": "twice", "formula": "price * 2", "view": "Open"}),
    );
    let base = vault.text("Books.base").unwrap();
    assert!(
        base.contains("  twice: price * 2\n")
            && base.contains("[file.name, author, formula.twice]"),
        "{base}"
    );
    let reply = ok(
        &vault,
        "add_column",
        json!({"database": "Books.base", "name": "shelf", "type": "text", "default": "A"}),
    );
    assert_eq!(reply["notes"], json!(3));
    assert_eq!(
        vault
            .text("Books/Ubik.md")
            .unwrap()
            .matches("shelf: A\r\n")
            .count(),
        1
    );
    assert_eq!(
        vault.text("Books/Notes.md").unwrap(),
        "---\nprice: 1\n---\nno book\n"
    );
    let reply = ok(
        &vault,
        "remove_column",
        json!({"database": "Books.base", "name": "shelf", "values": true}),
    );
    assert_eq!(reply["notes"], json!(3));
    assert!(!vault.text("Books/Ubik.md").unwrap().contains("shelf"));
    let reply = ok(
        &vault,
        "add_column",
        json!({"database": "Books/", "name": "year", "type": "number", "default": "1999"}),
    );
    assert_eq!(reply["notes"], json!(4));
    assert!(
        vault
            .text("Books/Notes.md")
            .unwrap()
            .contains("year: 1999\n")
    );
    ok(
        &vault,
        "add_column",
        json!({"database": "Report#base-2", "name": "x", "type": "text"}),
    );
    assert!(vault.text("Report.md").unwrap().contains("- type: list\n  name: Two\n  order:\n    - file.name\n    - x\nproperties:\n  x:\n    type: text\n~~~\n"));
}

#[test]
fn invalid_columns_are_rejected() {
    let owner = Conventions {
        property_types: BTreeMap::from([("due".to_owned(), "date".to_owned())]),
        ..Conventions::default()
    };
    let vault = vault().with_conventions(owner);
    for (arguments, expected) in [
        (
            json!({"database": "Books.base", "name": "x"}),
            "`type` is missing",
        ),
        (
            json!({"database": "Books.base", "name": " ", "type": "text"}),
            "`name` must be",
        ),
        (
            json!({"database": "Books.base", "name": "file.x", "type": "text"}),
            "is a file attribute",
        ),
        (
            json!({"database": "Books.base", "name": "x", "formula": "frob()"}),
            "unknown function `frob`",
        ),
        (
            json!({"database": "Books.base", "name": "ppp", "formula": "1"}),
            "already has a formula",
        ),
        (
            json!({"database": "Books.base", "name": "x", "formula": "1", "type": "text"}),
            "cannot be combined with `type`",
        ),
        (
            json!({"database": "Books.base", "name": "due", "type": "text"}),
            "already has the type `date`",
        ),
        (
            json!({"database": "Books.base", "name": "x", "type": "number", "default": "y"}),
            "`default`, column `x`",
        ),
        (
            json!({"database": "Books.base", "name": "x", "type": "text", "view": "No"}),
            "no view `No`",
        ),
        (
            json!({"database": "Books/", "name": "x", "type": "text"}),
            "is a folder",
        ),
    ] {
        let error = refused(&vault, "add_column", arguments);
        assert!(error.message().contains(expected), "{error}");
        assert_eq!(vault.text("Books.base").unwrap(), BOOKS);
    }
    for (arguments, expected) in [
        (
            json!({"database": "Books.base", "name": "nope"}),
            "no column `nope`",
        ),
        (
            json!({"database": "Books/", "name": "price"}),
            "pass `values: true`",
        ),
        (
            json!({"database": "Books.base", "name": "formula.ppp", "values": true}),
            "is not a property",
        ),
    ] {
        let error = refused(&vault, "remove_column", arguments);
        assert!(error.message().contains(expected), "{error}");
    }
    let reply = ok(
        &vault,
        "remove_column",
        json!({"database": "Books.base", "name": "price"}),
    );
    assert_eq!(
        reply["still_used"],
        json!(["formula `ppp`", "formula `label`"])
    );
    let base = vault.text("Books.base").unwrap();
    assert!(
        !base.contains("- price") && !base.contains("sort:") && !base.contains("displayName"),
        "{base}"
    );
}

#[test]
fn set_cells_is_all_or_nothing() {
    let vault = vault();
    let cells = json!([
        {"row": "Dune", "column": "price", "value": 13},
        {"row": "Books/Dune.md", "column": "done", "value": null},
        {"row": "[[Ubik]]", "column": "Price", "value": 21.5},
    ]);
    let reply = ok(
        &vault,
        "set_cells",
        json!({"database": "Books.base", "cells": cells}),
    );
    assert_eq!(reply["paths"], json!(["Books/Dune.md", "Books/Ubik.md"]));
    assert_eq!(
        vault.text("Books/Dune.md").unwrap(),
        "---\ntags: [book]\nprice: 13 # eur\npages: 400\nauthor: \"[[Frank]]\"\ndone:\n---\nText\n"
    );
    assert!(
        vault
            .text("Books/Ubik.md")
            .unwrap()
            .contains("price: 21.5\r\n")
    );
    let left = ok(
        &vault,
        "set_cells",
        json!({"database": "Books.base", "cells": [{"row": "Emma", "column": "tags", "value": ["x"]}]}),
    );
    assert_eq!(left["left"], json!(["Books/Emma.md"]));
}

#[test]
fn invalid_cells_are_rejected() {
    let vault = vault().with("Books/Bad.md", "---\ntags: [book\n---\n#book\n");
    let before: Vec<_> = vault.paths().iter().map(|path| vault.bytes(path)).collect();
    let cell = |row: &str, column: &str, value: Value| json!([{"row": "Emma", "column": "pages", "value": 1}, {"row": row, "column": column, "value": value}]);
    for (cells, expected) in [
        (
            cell("Dune", "price", json!("x")),
            "cell 2, `Books/Dune.md`, column `price`: invalid value `\"x\"`: the column has the type `number`",
        ),
        (
            cell("Dune", "done", json!("yes")),
            "takes `true` or `false`",
        ),
        (cell("Dune", "tags", json!("x")), "takes a list"),
        (cell("Dune", "author", json!("Frank")), "takes a link"),
        (cell("Dune", "nope", json!(1)), "no column `nope`"),
        (cell("Dune", "file.name", json!("x")), "is a file attribute"),
        (
            cell("Dune", "formula.ppp", json!(1)),
            "is computed by a formula",
        ),
        (
            cell("Pan", "price", json!(1)),
            "`Other/Pan.md` is not a row",
        ),
        (cell("Nobody", "price", json!(1)), "no note `Nobody`"),
        (cell("Emma", "pages", json!(2)), "is set twice"),
        (cell("Bad", "price", json!(2)), "`Books/Bad.md`"),
        (json!([]), "`cells` is empty"),
        (
            json!([{"row": "Emma", "column": "pages"}]),
            "cell 1 has no `value`",
        ),
        (
            json!([{"row": "Emma", "column": "pages", "value": 1, "x": 1}]),
            "cell 1: unknown key `x`",
        ),
        (
            json!([{"column": "pages", "value": 1}]),
            "cell 1: `row` must be a non-empty string",
        ),
        (
            json!([{"row": "Emma", "column": "pages", "value": 1, "if_match": "old"}]),
            "changed since it was read",
        ),
    ] {
        let error = refused(
            &vault,
            "set_cells",
            json!({"database": "Books.base", "cells": cells}),
        );
        assert!(error.message().contains(expected), "{error}");
        vault.rollback();
        let after: Vec<_> = vault.paths().iter().map(|path| vault.bytes(path)).collect();
        assert_eq!(before, after);
    }
    let read_only = vault.allow("Books", Tier::Read);
    let cells = json!([{"row": "Emma", "column": "pages", "value": 1}]);
    assert_eq!(
        refused(
            &read_only,
            "set_cells",
            json!({"database": "Books.base", "cells": cells})
        )
        .code(),
        "permission_denied"
    );
}

#[test]
fn added_rows_match_the_filters() {
    let vault = vault().with(
        "Tagged.base",
        "filters: file.hasTag(\"x\") && kind == \"a\"\n",
    );
    let rows = json!([{"name": "Solaris", "price": 9, "tags": ["sf"]}, {"file.name": "Kim.md"}]);
    let reply = ok(
        &vault,
        "add_rows",
        json!({"database": "Books.base", "rows": rows}),
    );
    assert_eq!(reply["outside"], json!([]));
    assert_eq!(
        vault.text("Books/Solaris.md").unwrap(),
        "---\nprice: 9\ntags:\n  - sf\n  - book\n---\n"
    );
    assert_eq!(
        ok(&vault, "query", json!({"database": "Books.base"}))["total"],
        json!(5)
    );
    let reply = ok(
        &vault,
        "add_rows",
        json!({"database": "Tagged.base", "folder": "New", "rows": [{"name": "A"}, {"name": "B", "kind": "b"}]}),
    );
    assert_eq!(reply["outside"], json!(["New/B.md"]));
    assert_eq!(
        vault.text("New/A.md").unwrap(),
        "---\nkind: a\ntags:\n  - x\n---\n"
    );
    ok(
        &vault,
        "add_rows",
        json!({"database": "Other", "rows": [{"name": "Q", "any": [1]}]}),
    );
    assert!(vault.text("Other/Q.md").is_some());
    for (arguments, expected) in [
        (
            json!({"database": "Tagged.base", "rows": [{"name": "C"}]}),
            "pass `folder`",
        ),
        (
            json!({"database": "Books.base", "rows": []}),
            "`rows` is empty",
        ),
        (
            json!({"database": "Books.base", "rows": [{"price": 1}]}),
            "row 1 has no `name`",
        ),
        (
            json!({"database": "Books.base", "rows": [{"name": "a/b"}]}),
            "is not allowed in note names",
        ),
        (
            json!({"database": "Books.base", "rows": [{"name": "N", "price": "x"}]}),
            "row 1, `N`, column `price`",
        ),
        (
            json!({"database": "Books.base", "rows": [{"name": "N"}, {"name": "Dune"}]}),
            "Books/Dune.md",
        ),
    ] {
        let error = refused(&vault, "add_rows", arguments);
        assert!(error.message().contains(expected), "{error}");
    }
}

#[test]
fn removed_rows_are_moved_to_the_trash() {
    let vault = vault();
    let reply = ok(
        &vault,
        "remove_rows",
        json!({"database": "Books.base", "rows": ["Dune", "Books/Dune.md", "Emma"]}),
    );
    assert_eq!(reply["paths"], json!(["Books/Dune.md", "Books/Emma.md"]));
    assert_eq!(reply["trash_ids"].as_array().unwrap().len(), 2);
    assert!(vault.text("Books/Dune.md").is_none());
    assert!(
        refused(
            &vault,
            "remove_rows",
            json!({"database": "Books.base", "rows": ["Pan"]})
        )
        .message()
        .contains("is not a row")
    );
    assert!(
        refused(
            &vault,
            "remove_rows",
            json!({"database": "Books.base", "rows": []})
        )
        .message()
        .contains("`rows` is empty")
    );
}

#[test]
fn databases_are_created_and_duplicated() {
    let vault = vault();
    let columns = json!(["author", {"name": "price", "type": "number"}, {"name": "double", "formula": "price * 2"}]);
    ok(
        &vault,
        "create",
        json!({"path": "New/Cheap", "columns": columns, "source": "Books"}),
    );
    assert_eq!(
        vault.text("New/Cheap.base").unwrap(),
        "filters:\n  and:\n    - file.inFolder(\"Books\")\nformulas:\n  double: price * 2\nproperties:\n  price:\n    type: number\nviews:\n  - type: table\n    name: Table\n    order:\n      - file.name\n      - author\n      - price\n      - formula.double\n"
    );
    let rows = ok(
        &vault,
        "query",
        json!({"database": "New/Cheap.base", "sort": "price"}),
    );
    assert_eq!(rows["items"][0]["values"]["formula.double"], json!(2));
    ok(
        &vault,
        "create",
        json!({"path": "Tag.base", "columns": [], "source": "#book"}),
    );
    assert_eq!(
        ok(&vault, "query", json!({"database": "Tag.base"}))["total"],
        json!(4)
    );
    ok(
        &vault,
        "create",
        json!({"path": "Dear.base", "columns": [], "source": "price > 10"}),
    );
    assert_eq!(
        ok(&vault, "query", json!({"database": "Dear.base"}))["total"],
        json!(2)
    );
    ok(
        &vault,
        "duplicate",
        json!({"database": "Books.base", "to": "Copy"}),
    );
    assert_eq!(vault.text("Copy.base").unwrap(), BOOKS);
    ok(
        &vault,
        "duplicate",
        json!({"database": "Report#base-2", "to": "Two.base"}),
    );
    assert_eq!(
        vault.text("Two.base").unwrap(),
        "views:\n- type: list\n  name: Two\n"
    );
    ok(
        &vault,
        "duplicate",
        json!({"database": "Other/", "to": "Other.base"}),
    );
    assert_eq!(
        ok(&vault, "query", json!({"database": "Other.base"}))["total"],
        json!(1)
    );
    for (action, arguments, expected) in [
        (
            "create",
            json!({"path": "Books.base", "columns": []}),
            "Books.base",
        ),
        (
            "create",
            json!({"path": "X.md", "columns": []}),
            "is a note",
        ),
        (
            "create",
            json!({"path": "", "columns": []}),
            "is not a file path",
        ),
        (
            "create",
            json!({"path": "X", "columns": [{"type": "text"}]}),
            "no `name`",
        ),
        (
            "create",
            json!({"path": "X", "columns": [{"name": "a", "type": "money"}]}),
            "the types are `text`",
        ),
        (
            "create",
            json!({"path": "X", "columns": ["a", "a"]}),
            "duplicate column `a`",
        ),
        (
            "create",
            json!({"path": "X", "columns": [{"name": "a", "formula": "frob()"}]}),
            "unknown function `frob`",
        ),
        (
            "create",
            json!({"path": "X", "columns": [], "source": "frob()"}),
            "unknown function `frob`",
        ),
        (
            "create",
            json!({"path": "X", "columns": [1]}),
            "must be a name or an object",
        ),
        (
            "duplicate",
            json!({"database": "Books.base", "to": "Copy.base"}),
            "Copy.base",
        ),
        (
            "duplicate",
            json!({"database": "Nope.base", "to": "X"}),
            "no database",
        ),
    ] {
        let error = refused(&vault, action, arguments);
        assert!(error.message().contains(expected), "{error}");
    }
}
