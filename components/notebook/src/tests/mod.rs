//! A test vault, and calls to the domain as the host makes them: by name, with JSON.

mod edit_actions;
mod read_actions;

use notehost_sdk::testing::{self, each};
use notehost_sdk::{MemoryVault, Reply, prelude::*, serde_json::Value};

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
    testing::reply::<Domain>(vault, action, &arguments)
}

fn ok(vault: &MemoryVault, action: &str, arguments: Value) -> Value {
    testing::succeeded::<Domain>(vault, action, &arguments).json()
}

/// A call that fails and changes nothing.
fn refused(vault: &MemoryVault, action: &str, arguments: Value) -> Error {
    let before = vault.paths();
    let error = testing::refused::<Domain>(vault, action, &arguments);
    assert_eq!(vault.paths(), before);
    error
}
