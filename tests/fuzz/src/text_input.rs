//! Caller input: searches, patterns, paths, names.

use notehost_sdk::{MemoryVault, Vault};
use serde_json::{Value, json};

use crate::{call, call_and_rollback, texts};

fn vault() -> MemoryVault {
    Vault::in_memory()
        .with("Work/Plan.md", "---\nstatus: open\ndue: 2024-05-31\naliases: [Draft]\n---\n# Plan\n\n#todo 日本語 [[Notes]]\n")
        .with("Work/Straße.md", "# A\n\nStraße [[Plan#Plan|p]] ^id\n")
        .with("Home/Notes.md", "- [ ] milk\r\n- [x] eggs\r\n")
        .with_bytes("Home/photo.png", b"\x89PNG")
}

/// Search terms, patterns and filters.
pub fn query(input: &[u8]) {
    type Search = notehost_search::Domain;
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let vault = vault();
    call::<Search>(&vault, "text", json!({ "query": text }));
    call::<Search>(&vault, "context", json!({ "query": text }));
    call::<Search>(&vault, "similar", json!({ "text": text }));
    call::<Search>(&vault, "assets", json!({ "query": text }));
    call::<Search>(&vault, "regex", json!({ "pattern": text }));
    call::<Search>(
        &vault,
        "regex",
        json!({ "pattern": text, "multiline": true, "case": false }),
    );
    call::<notehost_fs::Domain>(&vault, "grep", json!({ "pattern": text, "context": 2 }));
    call::<notehost_fs::Domain>(
        &vault,
        "grep",
        json!({ "pattern": text, "fixed": true, "ignore_case": true }),
    );
    if let Ok(filter @ Value::Object(_)) = serde_json::from_str(text) {
        call::<Search>(&vault, "query", json!({ "filter": filter }));
        call::<Search>(
            &vault,
            "text",
            json!({ "query": "plan", "properties": filter }),
        );
    }
}

/// Paths, names, globs, line ranges and dates: two texts.
pub fn path(input: &[u8]) {
    type Files = notehost_fs::Domain;
    type Document = notehost_document::Domain;
    let Some([first, second]) = texts(input) else {
        return;
    };
    let vault = vault();
    call::<Files>(
        &vault,
        "ls",
        json!({ "path": first, "all": true, "long": true }),
    );
    call::<Files>(&vault, "tree", json!({ "path": first }));
    call::<Files>(&vault, "cat", json!({ "path": first, "lines": second }));
    call::<Files>(
        &vault,
        "cat",
        json!({ "path": "Home/Notes.md", "lines": first }),
    );
    call::<Files>(&vault, "find", json!({ "path": second, "name": first }));
    call::<Files>(&vault, "find", json!({ "newer": first }));
    call::<Files>(&vault, "grep", json!({ "pattern": "a", "path": first }));
    for by in ["path", "name", "alias", "link"] {
        call::<Document>(&vault, "lookup", json!({ by: first }));
    }
    call::<Document>(&vault, "list", json!({ "path": first, "cursor": second }));
    call::<notehost_file::Domain>(&vault, "read", json!({ "path": first, "pages": second }));
    call::<notehost_block::Domain>(&vault, "get", json!({ "block": first }));
    call::<notehost_search::Domain>(&vault, "recent", json!({ "path": first, "since": second }));
    call::<notehost_link::Domain>(
        &vault,
        "backlinks",
        json!({ "path": first, "mentions": "also" }),
    );
    call::<notehost_tag::Domain>(&vault, "notes", json!({ "tag": first }));
    call_and_rollback::<Document>(
        &vault,
        "create",
        json!({ "path": first, "content": second }),
    );
    call_and_rollback::<Document>(
        &vault,
        "rename",
        json!({ "path": "Work/Plan.md", "to": first }),
    );
    call_and_rollback::<Document>(
        &vault,
        "move",
        json!({ "paths": ["Home/Notes.md", first], "to": second }),
    );
    call_and_rollback::<Files>(&vault, "write", json!({ "path": first, "content": second }));
    call_and_rollback::<Files>(&vault, "mv", json!({ "from": "Work", "to": first }));
    call_and_rollback::<Files>(&vault, "cp", json!({ "from": first, "to": second }));
    call_and_rollback::<Files>(&vault, "mkdir", json!({ "path": first }));
    call_and_rollback::<Files>(&vault, "rm", json!({ "path": first }));
    call_and_rollback::<notehost_file::Domain>(
        &vault,
        "rename",
        json!({ "path": "Home/photo.png", "to": first }),
    );
}
