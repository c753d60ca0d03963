//! The settings that keep components from being called: the circuit breaker, and the reason of a switched-off component.

use serde::{Deserialize, Serialize};

/// The circuit breaker of components.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SupervisionSettings {
    /// The number of failures that open the circuit breaker; 0 is never.
    pub strikes: u32,
    /// The time window of those failures in seconds.
    pub window_s: u64,
    /// The first pause in seconds; each failed trial call doubles it.
    pub first_pause_s: u64,
    /// The longest pause in seconds.
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

/// Why a component or action is switched off, and by whom.
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
