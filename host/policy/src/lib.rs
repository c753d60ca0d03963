//! The rules about callers: who calls (`auth`), what callers and components may do (`rights`), what a person has to confirm
//! (`confirmation`, `approvals`), how often (`rates`), and that a repeated call runs once (`idempotency`). What is stored
//! between calls is in the crate `records`; here are the rules for it.

pub mod auth;

mod approvals;
mod confirmation;
mod idempotency;
mod rates;
mod rights;

pub use approvals::{Approval, ApprovalError, ApprovalState, Approvals, Confirmed};
pub use confirmation::{CallWeights, DropCount, DropLedger, NotCounted};
pub use idempotency::{Claim, Claimed, Idempotency};
pub use notehost_records::store::{ConfirmedVia, FrozenEnvironment, Question, VaultPlace};
pub use rates::Rates;
pub use rights::{
    BadGlob, BadHost, Decision, Grant, HostGrant, Intersection, Narrowing, Permissions, StatedTier,
    Within,
};
