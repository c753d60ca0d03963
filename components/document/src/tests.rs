//! Every action, called as the host calls it: by name, with JSON.

mod asking;
mod history;
mod joining;
mod listing;
mod moving;
mod reading;
mod writing;

use notehost_sdk::serde_json::{Value, json};
use notehost_sdk::{Describes as _, Effect, MemoryVault, Tier, Vault};

use crate::Domain;

notehost_sdk::calls!(Domain);

/// A vault as most tests want it.
fn vault() -> MemoryVault {
    Vault::in_memory()
}
