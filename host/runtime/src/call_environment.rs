//! The environment of a call: what a guest may query about the host, its messages and progress, and the usage of its
//! run. Implemented by the caller of the runtime.

use std::sync::Arc;

use notehost_sdk::host::{About, CallerInfo, Conventions, Now};

use notehost_vault::{Rules, Transaction, VaultError};

/// The environment of one call.
pub trait CallEnvironment: Send + Sync {
    /// The current time in the owner's time zone.
    fn now(&self) -> Now;
    /// The clock and the randomness of a run that has to come out the same when it is repeated.
    fn repeatable(&self) -> Option<Repeatable> {
        None
    }
    /// Information about the host.
    fn about(&self) -> About;
    /// The caller. May block on the disk.
    fn caller(&self) -> CallerInfo;
    /// The conventions of the vault. May block on the index.
    fn conventions(&self, transaction: &mut Transaction) -> Conventions;

    /// A changed number means that the rights of the call may have changed. Read at every host call, so it must
    /// cost nothing.
    fn generation(&self) -> u64 {
        0
    }

    /// The number that held when the call was allowed.
    fn began(&self) -> u64 {
        0
    }

    /// The current rights of the call; an error ends it.
    fn standing(&self) -> Result<CallRights, VaultError> {
        Ok(CallRights::default())
    }

    /// Stores a line that the guest printed or logged. Untrusted.
    fn said(&self, stream: &'static str, line: &str) {
        let _ = (stream, line);
    }

    /// Reports the guest's progress. Untrusted, at any rate.
    fn progress(&self, progress: Progress) {
        let _ = progress;
    }

    /// The usage of the run, reported once when the guest has ended.
    fn used(&self, used: Used) {
        let _ = used;
    }
}

/// The clock and the randomness of a run that can be repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeatable {
    /// The time of the frozen clock, in milliseconds since 1970.
    pub milliseconds: u64,
    /// What random numbers are made from.
    pub seed: [u8; 32],
}

/// The current rights of a call.
#[derive(Clone, Default)]
pub struct CallRights {
    /// The rules that hold now, where they are others than at the beginning.
    pub rules: Option<Arc<dyn Rules>>,
    /// Why nothing may be written any more, if so.
    pub closed: Option<VaultError>,
}

/// What a run used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Used {
    /// The most memory that it had, in bytes.
    pub memory_bytes: usize,
    /// How many host functions refused or hid something that the component was not granted.
    pub denials: u64,
}

/// The progress of a call as its guest reports it: bounded, and hostile until it is shown as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// How much is done.
    pub done: u64,
    /// Of how much, if that is known.
    pub total: Option<u64>,
    /// What is being done, in a few words.
    pub message: String,
}

/// A message for the people who watch, as a guest gave it: bounded, and hostile until it is shown as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// `debug`, `info`, `warn` or `error`.
    pub level: &'static str,
    /// What it says.
    pub message: String,
}
