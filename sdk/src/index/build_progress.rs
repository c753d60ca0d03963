//! How replies report an index that is still being built.

use super::Progress;
use crate::{Vault, reply};

/// Progress of the index; only while it is being built, when results may be incomplete.
#[reply]
pub struct Building {
    /// `building`.
    pub state: String,
    /// Notes indexed so far.
    pub done: u64,
    /// Notes in all.
    pub total: u64,
}

/// The progress of the index, if it is being built.
pub fn building(vault: &Vault) -> Option<Building> {
    let state = vault.index_state();
    (state.state == Progress::Building).then(|| Building {
        state: "building".to_owned(),
        done: state.done,
        total: state.total,
    })
}

/// The last line of a text reply whose results may be incomplete.
pub fn unfinished(building: Option<&Building>) -> String {
    building.map_or_else(String::new, |building| {
        format!(
            "\nthe index is being built ({} of {} notes done): results may be incomplete, try again later",
            building.done, building.total
        )
    })
}
