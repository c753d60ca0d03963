//! Fault injection: acts on one run at a given host call, and counts host calls.

use notehost_sdk::Code;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use notehost_runtime::{Fault, FaultInjector};
use notehost_vault::VaultError;

/// A fault, and the host call at which it occurs.
#[derive(Debug, Clone)]
pub(super) enum FaultPlan {
    /// No fault; only counts.
    Watch,
    /// The host call is refused with this code.
    Refuse { at: u64, code: Code },
    /// The caller cancels.
    Cancel { at: u64 },
    /// Another program edits these notes.
    Edit { at: u64, files: Vec<PathBuf> },
}

/// Injects the planned fault, and counts host calls.
#[derive(Debug)]
pub(super) struct FaultScheduler {
    plan: FaultPlan,
    host_calls: AtomicU64,
}

impl FaultScheduler {
    pub(super) fn new(plan: FaultPlan) -> FaultScheduler {
        FaultScheduler {
            plan,
            host_calls: AtomicU64::new(0),
        }
    }

    /// How many host calls there were.
    pub(super) fn host_calls(&self) -> u64 {
        self.host_calls.load(Ordering::Relaxed)
    }
}

impl FaultInjector for FaultScheduler {
    fn at(&self, host_call: u64) -> Fault {
        self.host_calls.store(host_call, Ordering::Relaxed);
        match &self.plan {
            FaultPlan::Refuse { at, code } if *at == host_call => Fault::Refuse(VaultError::new(
                *code,
                "the conformance suite refuses this host call",
            )),
            FaultPlan::Cancel { at } if *at == host_call => Fault::Cancel,
            FaultPlan::Edit { at, files } if *at == host_call => {
                for file in files {
                    edit(file, host_call);
                }
                Fault::Nothing
            }
            _ => Fault::Nothing,
        }
    }
}

/// Edits a file as an unaware editor would. If that fails, nothing changed and the call sees no fault.
fn edit(file: &PathBuf, host_call: u64) {
    let changed = format!("# Changed\n\nBy somebody else, at host call {host_call}.\n");
    if let Err(error) = std::fs::write(file, changed) {
        tracing::debug!("a note of the conformance suite could not be changed: {error}");
    }
}
