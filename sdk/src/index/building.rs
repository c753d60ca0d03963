//! What a reply says of an index that is still being built.

use super::Progress;
use crate::{Vault, reply};

/// How far the index is; only told while it is being built, when a reply has only what is known so far.
#[reply]
pub struct Building {
    /// `building`.
    pub state: String,
    /// How many notes are known.
    pub done: u64,
    /// How many there are.
    pub total: u64,
}

/// How far the index is, if it is being built.
pub fn building(vault: &Vault) -> Option<Building> {
    let state = vault.index_state();
    (state.state == Progress::Building).then(|| Building {
        state: "building".to_owned(),
        done: state.done,
        total: state.total,
    })
}

/// The line that tells a reader of a text that a list may lack something.
pub fn unfinished(building: Option<&Building>) -> String {
    building.map_or_else(String::new, |building| {
        format!(
            "\nthe index is being built, {} of {} notes are known: ask again for the rest",
            building.done, building.total
        )
    })
}
