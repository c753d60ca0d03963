//! Those who meddle with a run, one host call at a time, and count how many there are.

use notehost_sdk::Code;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use notehost_runtime::{Interference, Meddling};
use notehost_vault::VaultError;

/// What is done, and at which host call.
#[derive(Debug, Clone)]
pub(super) enum Plan {
    /// Nothing is.
    Watch,
    /// The host call is refused with this code.
    Refuse { at: u64, code: Code },
    /// The caller gives up.
    Cancel { at: u64 },
    /// Somebody edits these notes.
    Edit { at: u64, files: Vec<PathBuf> },
}

/// Carries out a plan, and counts host calls.
#[derive(Debug)]
pub(super) struct Meddler {
    plan: Plan,
    host_calls: AtomicU64,
}

impl Meddler {
    pub(super) fn new(plan: Plan) -> Meddler {
        Meddler {
            plan,
            host_calls: AtomicU64::new(0),
        }
    }

    /// How many host calls there were.
    pub(super) fn host_calls(&self) -> u64 {
        self.host_calls.load(Ordering::Relaxed)
    }
}

impl Interference for Meddler {
    fn at(&self, host_call: u64) -> Meddling {
        self.host_calls.store(host_call, Ordering::Relaxed);
        match &self.plan {
            Plan::Refuse { at, code } if *at == host_call => {
                Meddling::Refuse(VaultError::new(*code, "the conformance kit refuses this"))
            }
            Plan::Cancel { at } if *at == host_call => Meddling::Cancel,
            Plan::Edit { at, files } if *at == host_call => {
                for file in files {
                    edit(file, host_call);
                }
                Meddling::Nothing
            }
            _ => Meddling::Nothing,
        }
    }
}

/// As an editor would that knows nothing of us. Where it fails nothing changed, and the call meets nothing odd.
fn edit(file: &PathBuf, host_call: u64) {
    let changed = format!("# Changed\n\nBy somebody else, at host call {host_call}.\n");
    if let Err(error) = std::fs::write(file, changed) {
        tracing::debug!("a note of the kit could not be changed: {error}");
    }
}
