//! The seam to the shared records: what is stored of calls and callers, as typed operations.
//!
//! Each operation is atomic as a whole, also towards other processes that use the same records: it takes everything that
//! it needs as arguments and returns when its effect is stored. No query, connection, row number or transaction passes
//! through, so that records on a database server of several hosts can take the place of the file (`sqlite`). Rules are not
//! here: limits, times and digests are arguments, and the crate `policy` decides them.

mod approvals;
mod audit;
mod breakers;
mod drops;
mod idempotency;
mod rates;
mod tokens;

pub use approvals::{
    ApprovalDecision, ApprovalLimits, ApprovalRecord, ApprovalRecords, ConfirmedVia, DecidedState,
    FrozenEnvironment, NewApproval, Question, VaultPlace,
};
pub use audit::{AuditRecords, CallDuration, CallSample};
pub use breakers::{BreakerRecord, BreakerRecords};
pub use drops::{DropRecord, DropRecords, DropUpdate, SlimUpdate};
pub use idempotency::{IdempotencyRecords, KeyClaim, KeyState};
pub use rates::{RateRecord, RateRecords};
pub use tokens::{FirstToken, RecordsVersion, TokenRecord, TokenRecords, VaultBinding};

use std::fmt;
use std::sync::Arc;

/// All shared records of a host.
pub trait Records:
    ApprovalRecords
    + AuditRecords
    + BreakerRecords
    + DropRecords
    + IdempotencyRecords
    + RateRecords
    + TokenRecords
{
    /// Another handle on the same records. Operations of one handle may wait for each other; those of different handles
    /// wait only where they write.
    fn reopen(&self) -> Result<Arc<dyn Records>, RecordsError>;
}

/// The records cannot be opened, read or written.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RecordsError {
    /// The store failed.
    #[error("cannot use the records in `{place}`: {reason}")]
    Unavailable {
        /// Where the records are.
        place: String,
        /// The error of the store.
        reason: String,
    },
    /// A record has content that this version cannot read.
    #[error("cannot read {record}: {reason}")]
    Unreadable {
        /// The record.
        record: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl RecordsError {
    /// The store at this place failed.
    pub fn unavailable(place: impl fmt::Display, reason: impl fmt::Display) -> RecordsError {
        RecordsError::Unavailable {
            place: place.to_string(),
            reason: reason.to_string(),
        }
    }

    /// This record cannot be read.
    pub fn unreadable(record: impl Into<String>, reason: impl fmt::Display) -> RecordsError {
        RecordsError::Unreadable {
            record: record.into(),
            reason: reason.to_string(),
        }
    }
}
