//! Tests of every action, called by name with JSON as the host does.

mod context;
mod find_actions;
mod query_syntax;
mod regex;
mod replace;

use notehost_sdk::serde_json::{Value, json};
use notehost_sdk::testing::{assert_described, paths};
use notehost_sdk::{Effect, MemoryVault, Tier, Vault};

use crate::Domain;

notehost_sdk::calls!(Domain);

/// The vault of most tests.
fn vault() -> MemoryVault {
    Vault::in_memory()
        .with(
            "Work/Plan.md",
            "---\nstatus: open\nrating: 4\ndue: 2024-03-01\nowner: \"[[Ana]]\"\n---\n# The plan\n\nA quick brown fox. See [[Budget]].\n\n## Risks\nNone so far #work/urgent\n- [ ] call Ana\n",
        )
        .with("Work/Budget.md", "---\nstatus: done\nrating: 2\n---\nTen thousand for the fox\nand a TODO 2024\n")
        .with("People/Ana.md", "Ana draws foxes. 中文笔记\n")
        .with("Diary/Secret.md", "the secret fox #hidden\n")
        .with_bytes("Work/fox.png", &[1, 2, 3])
        .with_bytes("Diary/hidden.png", &[1])
        .with_bytes("Old.md", b"fox \xff")
}
