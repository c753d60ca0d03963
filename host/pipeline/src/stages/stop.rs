//! Why an attempt of a call ended without a reply.

use notehost_vault::{CommitError, VaultError};

use crate::CallError;

/// Why an attempt ended without a reply.
#[must_use]
pub enum Stop {
    /// The call failed; running it again does not help.
    Failed(CallError),
    /// What the action had read changed meanwhile: the call runs again, on a fresh instance and what is there now.
    Rerun {
        /// The file that changed, if it was one file.
        conflict: Option<String>,
    },
}

impl From<CallError> for Stop {
    fn from(error: CallError) -> Stop {
        Stop::Failed(error)
    }
}

impl From<VaultError> for Stop {
    fn from(error: VaultError) -> Stop {
        Stop::Failed(error.into())
    }
}

impl From<CommitError> for Stop {
    fn from(error: CommitError) -> Stop {
        match error {
            CommitError::Conflict { path } => Stop::Rerun { conflict: path },
            CommitError::Failed(error) | CommitError::Unsettled(error) => error.into(),
        }
    }
}
