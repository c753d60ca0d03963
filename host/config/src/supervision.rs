//! What keeps components from being called: their own failures, and an admin's word.

use serde::{Deserialize, Serialize};

/// When a component that fails is given a rest, and for how long.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SupervisionSettings {
    /// After so many failures of its own; 0 is never.
    pub strikes: u32,
    /// Within so many seconds.
    pub window_s: u64,
    /// How many seconds it rests the first time; each failed trial doubles it.
    pub first_pause_s: u64,
    /// How many seconds it rests at most.
    pub longest_pause_s: u64,
}

impl Default for SupervisionSettings {
    fn default() -> Self {
        SupervisionSettings {
            strikes: 5,
            window_s: 60,
            first_pause_s: 30,
            longest_pause_s: 3600,
        }
    }
}

/// Why something is switched off, and by whom.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SwitchReason {
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// Who did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}
