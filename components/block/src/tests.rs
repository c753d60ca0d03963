//! Tests of every action, called as the host calls it: by name, with JSON.

mod attributes;
mod batch;
mod edit_actions;
mod properties;
mod read_actions;
mod references;

use notehost_sdk::serde_json::json;
use notehost_sdk::{MemoryVault, Tier, Vault};

use crate::Domain;

notehost_sdk::calls!(Domain);

/// A note with many types of blocks.
const PLAN: &str = "---\ntitle: Plan\n---\n# Plan\n\nIntro text here.\n\n## Tasks\n\n- [ ] buy milk\n- [x] call Ana ^ana\n  - ask about tea\n- plain\n\n> [!tip]+ Hint\n> inner text\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n## Last\n\n```rust\nfn main() {}\n```\n";

fn vault() -> MemoryVault {
    Vault::in_memory().with("Work/Plan.md", PLAN)
}

/// The name of the first block of a note that starts with this text.
#[track_caller]
fn named(vault: &MemoryVault, path: &str, begins: &str) -> String {
    let listed = ok(vault, "list", json!({ "path": path, "limit": 500 }));
    let items = listed["items"].as_array().expect("items");
    let found = items
        .iter()
        .filter(|item| item["type"] != "list")
        .find(|item| {
            let text = item["text"].as_str().expect("text");
            text.starts_with(begins)
        });
    let found = found.unwrap_or_else(|| panic!("no block {begins:?} in {listed:#}"));
    found["block"].as_str().expect("a name").to_owned()
}
