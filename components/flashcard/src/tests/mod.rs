//! Every action, called as the host calls it: by name, with JSON.

mod anki_exchange;
mod edit_actions;
mod identity;
mod properties;
mod read_actions;
mod review;

use notehost_sdk::serde_json::json;
use notehost_sdk::{Describes as _, MemoryVault, Tier, Vault};

use crate::Domain;

notehost_sdk::calls!(Domain);

/// One day, in milliseconds.
const DAY: u64 = 86_400_000;
/// Noon of the first of January 2026.
const NOON: u64 = 1_767_225_600_000 + DAY / 2;

/// A vault at noon with one note.
fn vault(note: &str) -> MemoryVault {
    Vault::in_memory().at(NOON).with("N.md", note)
}

/// The ids of the cards of `N.md`.
fn cards(vault: &MemoryVault) -> Vec<String> {
    let listed = ok(vault, "list", json!({ "path": "N" }));
    let items = listed["items"].as_array().unwrap().iter();
    items
        .map(|item| item["card"].as_str().unwrap().to_owned())
        .collect()
}

/// The first card of `N.md`.
fn card(vault: &MemoryVault) -> String {
    cards(vault)[0].clone()
}

/// The content of the store.
fn store(vault: &MemoryVault) -> Vec<(String, Vec<u8>)> {
    let keys = vault.store_keys("").unwrap();
    keys.into_iter()
        .map(|key| (key.clone(), vault.store_get(&key).unwrap().unwrap()))
        .collect()
}
