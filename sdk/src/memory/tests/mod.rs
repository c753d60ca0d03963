//! The vault that most tests start with.

mod files;
mod history;

use crate::{MemoryVault, Vault};

fn vault() -> MemoryVault {
    Vault::in_memory()
        .with("Inbox.md", "todo\n")
        .with("Work/Plan.md", "# Plan\n")
        .with("Work/Ideas/Café.md", "coffee\n")
        .with("Diary/Plan.md", "secret plan\n")
        .with_bytes("Work/photo.png", &[0xff, 0xd8])
}

fn listed(vault: &MemoryVault, folder: &str, recursive: bool) -> Vec<String> {
    let entries = vault.list_all(folder, recursive).unwrap();
    entries.into_iter().map(|entry| entry.path).collect()
}
