//! Fault injection at single host calls, for the conformance suite. Runs for callers have none.

use notehost_vault::VaultError;

/// Somebody who meddles with a run.
pub trait FaultInjector: Send + Sync {
    /// What happens to a host call; the first is 1. It is asked before anything is done.
    fn at(&self, host_call: u64) -> Fault;
}

/// What happens to one host call.
#[derive(Debug)]
pub enum Fault {
    /// It goes on as ever.
    Nothing,
    /// It fails with this, where it can: a function that cannot refuse goes on.
    Refuse(VaultError),
    /// The caller gives up now.
    Cancel,
}
