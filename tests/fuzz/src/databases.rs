//! Databases: the text of a `.base` file, and expressions.

use notehost_database::Domain as Database;
use notehost_sdk::{MemoryVault, Vault};
use serde_json::json;

use crate::{BETWEEN, call, call_and_rollback};

fn rows() -> MemoryVault {
    Vault::in_memory()
        .with(
            "Books/Dune.md",
            "---\nrating: 5\ntags: [a, b/c]\ndue: 2024-05-31\nread: true\n---\n# Dune\n[[Emma]]\n",
        )
        .with(
            "Books/Emma.md",
            "---\nrating: 3.5\nname: Émma\ndue: 2024-05-31T10:20:30\nlist: [1, x, null]\n---\n#a\n",
        )
        .with("Books/Plain.md", "- [ ] nothing\n")
}

/// A `.base` file, also as a code block of a note: reads, queries and edits it.
pub fn base(input: &[u8]) {
    let mut vault = rows().with_bytes("Shelf.base", input);
    if let Ok(text) = std::str::from_utf8(input) {
        vault = vault.with(
            "Books/Shelf.md",
            &format!("# Shelf\n\n```base\n{text}\n```\n"),
        );
    }
    for database in ["Shelf.base", "Books/Shelf.md"] {
        call::<Database>(&vault, "get", json!({ "database": database }));
        call::<Database>(&vault, "query", json!({ "database": database }));
        call::<Database>(&vault, "columns", json!({ "database": database }));
        call_and_rollback::<Database>(
            &vault,
            "add_column",
            json!({ "database": database, "name": "price", "type": "number" }),
        );
        call_and_rollback::<Database>(
            &vault,
            "add_column",
            json!({ "database": database, "name": "sum", "formula": "rating + 1" }),
        );
        call_and_rollback::<Database>(
            &vault,
            "remove_column",
            json!({ "database": database, "name": "rating" }),
        );
        call_and_rollback::<Database>(
            &vault,
            "add_rows",
            json!({ "database": database, "rows": [{ "name": "New", "rating": 1 }] }),
        );
    }
    call_and_rollback::<Database>(
        &vault,
        "duplicate",
        json!({ "database": "Shelf.base", "to": "Second.base" }),
    );
}

/// An expression, as a filter and as the formula of a column. After [`BETWEEN`], how to sort and group.
pub fn expression(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let (filter, order) = text.split_once(BETWEEN).unwrap_or((text, ""));
    let vault = rows();
    call::<Database>(
        &vault,
        "query",
        json!({ "database": "Books", "filter": filter }),
    );
    if !order.is_empty() {
        call::<Database>(
            &vault,
            "query",
            json!({ "database": "Books", "sort": order, "group": order }),
        );
        call::<Database>(
            &vault,
            "values",
            json!({ "database": "Books", "column": order }),
        );
    }
    let views = json!({ "formulas": { "it": filter }, "views": [{ "type": "table", "name": "All", "order": ["formula.it"] }] });
    // JSON is valid YAML, so that the expression needs no other quoting.
    let vault = vault.with("Shelf.base", &views.to_string());
    call::<Database>(
        &vault,
        "query",
        json!({ "database": "Shelf.base", "sort": "formula.it" }),
    );
}
