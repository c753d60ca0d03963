//! Tests of every action, called as the host calls it: by name, with JSON.

mod description;
mod history;
mod list_actions;
mod merge_and_extract;
mod move_actions;
mod read_actions;
mod write_actions;

use notehost_sdk::serde_json::{Value, json};
use notehost_sdk::{Effect, MemoryVault, Tier, Vault};

use crate::Domain;

notehost_sdk::calls!(Domain);

/// The vault used by most tests.
fn vault() -> MemoryVault {
    Vault::in_memory()
}
