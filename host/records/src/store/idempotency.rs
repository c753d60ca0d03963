//! Idempotency keys and the replies of the calls that claimed them.

use super::RecordsError;

/// A claim of a key for a call.
#[derive(Debug, Clone, Copy)]
pub struct KeyClaim<'a> {
    /// The caller; keys of different callers are different.
    pub caller: &'a str,
    /// The key.
    pub key: &'a str,
    /// A hash of domain, action, vault and arguments.
    pub arguments: &'a str,
    /// Identifies the process that runs the call.
    pub owner: &'a str,
    /// The current time, in milliseconds since 1970.
    pub now: i64,
    /// When the key expires.
    pub expires: i64,
}

/// The state of a key that a call claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyState {
    /// It was free, and is claimed now.
    Claimed,
    /// Another owner had claimed it and stored no reply; it is claimed now. A vault has one writer, so that owner has
    /// exited.
    TakenOver,
    /// It was claimed for the same call, which was answered with this reply.
    Answered(String),
    /// The same owner runs the same call.
    InFlight,
    /// It was claimed for another call.
    Mismatch,
}

/// The idempotency keys.
pub trait IdempotencyRecords: Send + Sync {
    /// Claims a key after expired ones were deleted. Of several calls with one key, exactly one claims it.
    fn claim_key(&self, claim: &KeyClaim<'_>) -> Result<KeyState, RecordsError>;

    /// Stores the reply for repeated calls.
    fn store_reply(&self, caller: &str, key: &str, reply: &str) -> Result<(), RecordsError>;

    /// Deletes a key without a reply: the next call with it runs.
    fn release_key(&self, caller: &str, key: &str) -> Result<(), RecordsError>;

    /// Removes the owner of a key without a reply: the next claim takes it over.
    fn disown_key(&self, caller: &str, key: &str) -> Result<(), RecordsError>;
}
