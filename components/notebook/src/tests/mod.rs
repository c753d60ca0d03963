//! A test vault, and calls to the domain as the host makes them: by name, with JSON.

mod edit_actions;
mod read_actions;

use notehost_sdk::{Describes as _, MemoryVault, Reply, prelude::*, serde_json::Value};

use crate::Domain;

fn vault() -> MemoryVault {
    Vault::in_memory()
        .with("Welcome.md", "see [[Work/Plan]]\n")
        .with(
            "Work/Plan.md",
            "# Plan\n[[Projects/Alpha]] [up](../Welcome.md)\n",
        )
        .with("Work/Projects/Alpha.md", "of [[Plan]]\n")
        .with("Work/Projects/Beta.md", "longer text\n")
        .with_bytes("Work/photo.png", &[1, 2, 3])
        .with("Diary/Monday.md", "[[Work/Plan|plan]]\n")
}

fn call(vault: &MemoryVault, action: &str, arguments: Value) -> Result<Reply> {
    Domain::call(vault, action, &arguments.to_string())
}

fn told(vault: &MemoryVault, action: &str, arguments: Value) -> Value {
    call(vault, action, arguments).unwrap().json()
}

/// A call that fails and changes nothing.
fn refused(vault: &MemoryVault, action: &str, arguments: Value) -> Error {
    let before = vault.paths();
    let error = call(vault, action, arguments).unwrap_err();
    assert_eq!(vault.paths(), before);
    error
}

fn names(page: &Value, field: &str) -> Vec<String> {
    let items = page["items"].as_array().unwrap();
    let name = |item: &Value| item[field].as_str().unwrap().to_owned();
    items.iter().map(name).collect()
}
