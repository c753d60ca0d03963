//! Fault injection at single host calls, for the conformance suite. Runs for callers have none.

use notehost_vault::VaultError;

/// Injects faults into the host calls of a run.
pub trait FaultInjector: Send + Sync {
    /// The fault of a host call, numbered from 1. Called before the host call is executed.
    fn at(&self, host_call: u64) -> Fault;
}

/// The fault of one host call.
#[derive(Debug)]
pub enum Fault {
    /// It proceeds normally.
    Nothing,
    /// It fails with this, where it can: a function that cannot refuse goes on.
    Refuse(VaultError),
    /// The caller gives up now.
    Cancel,
}
