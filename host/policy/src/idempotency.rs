//! Idempotency keys: a repeated call runs once. The first call with a key claims it; if it succeeds, its reply is
//! returned to later calls with the same arguments. A failed call changed nothing and releases its key.
//!
//! The key is also stored with the commit in the vault's history, which shows after a crash between commit and reply
//! that the call was done.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use notehost_platform::clock::now_ms;
use notehost_platform::random::{self, RandomError};
use notehost_records::RecordsError;
use notehost_records::store::{IdempotencyRecords, KeyClaim, KeyState};

/// The keys of this machine.
pub struct Idempotency {
    records: Arc<dyn IdempotencyRecords>,
    /// Identifies this process.
    owner: String,
}

/// The state of a key that a call claims.
pub enum Claimed {
    /// It is unused: the call runs, and its reply is stored.
    Ours(Claim),
    /// An exited process had claimed it; its progress is unknown.
    Orphan(Claim),
    /// It was answered before.
    Answered(String),
    /// The same call is running.
    InFlight,
    /// It was used for another call.
    Mismatch,
}

/// A claimed key. It is released when this is dropped.
pub struct Claim {
    records: Arc<dyn IdempotencyRecords>,
    caller: String,
    key: String,
    arguments: String,
    /// What happens to it at the end.
    fate: AtomicU8,
}

/// Nothing was committed: the key is released.
const FREE: u8 = 0;
/// A commit has begun; only the history shows whether it succeeded.
const UNKNOWN: u8 = 1;
/// The reply is stored.
const KEPT: u8 = 2;

impl Idempotency {
    /// The keys in these records.
    pub fn new(records: Arc<dyn IdempotencyRecords>) -> Result<Idempotency, RandomError> {
        Ok(Idempotency {
            records,
            owner: random::id(16)?,
        })
    }

    /// Claims a key for a call.
    pub fn claim(
        &self,
        caller: &str,
        key: &str,
        arguments: &str,
        keep_ms: i64,
    ) -> Result<Claimed, RecordsError> {
        let now = now_ms();
        let state = self.records.claim_key(&KeyClaim {
            caller,
            key,
            arguments,
            owner: &self.owner,
            now,
            expires: now.saturating_add(keep_ms),
        })?;
        let claim = || Claim {
            records: self.records.clone(),
            caller: caller.to_owned(),
            key: key.to_owned(),
            arguments: arguments.to_owned(),
            fate: AtomicU8::new(FREE),
        };
        Ok(match state {
            KeyState::Claimed => Claimed::Ours(claim()),
            KeyState::TakenOver => Claimed::Orphan(claim()),
            KeyState::Answered(reply) => Claimed::Answered(reply),
            KeyState::InFlight => Claimed::InFlight,
            KeyState::Mismatch => Claimed::Mismatch,
        })
    }
}

impl Claim {
    /// Identifies this call in the vault's history.
    pub fn in_history(&self) -> String {
        format!("{}\n{}\n{}", self.caller, self.key, self.arguments)
    }

    /// A commit has begun, or has ended without effect.
    pub fn committing(&self, is_begun: bool) {
        let fate = if is_begun { UNKNOWN } else { FREE };
        self.fate.store(fate, Ordering::SeqCst);
    }

    /// Stores the reply for repeated calls.
    pub fn keep(&self, reply: &str) {
        match self.records.store_reply(&self.caller, &self.key, reply) {
            Ok(()) => self.fate.store(KEPT, Ordering::SeqCst),
            // The key is disowned with this claim: the next call with it reads the history.
            Err(error) => {
                tracing::error!("the reply to an idempotent call could not be stored: {error}");
            }
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let released = match self.fate.load(Ordering::SeqCst) {
            FREE => self.records.release_key(&self.caller, &self.key),
            // The next call with it reads the history.
            UNKNOWN => self.records.disown_key(&self.caller, &self.key),
            _ => return,
        };
        if let Err(error) = released {
            tracing::error!("an idempotency key could not be released: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(state: &tempfile::TempDir) -> Idempotency {
        Idempotency::new(notehost_records::open(state.path()).expect("records"))
            .expect("random numbers")
    }

    #[test]
    fn a_key_is_for_one_call_of_one_caller() {
        let state = tempfile::tempdir().expect("a folder");
        let keys = open(&state);
        let claim = |caller: &str, arguments: &str| {
            keys.claim(caller, "k", arguments, 60_000).expect("claimed")
        };
        let Claimed::Ours(first) = claim("ana", "a") else {
            panic!("free")
        };
        assert!(matches!(claim("ana", "a"), Claimed::InFlight));
        assert!(matches!(claim("ana", "b"), Claimed::Mismatch));
        assert!(matches!(claim("bob", "b"), Claimed::Ours(_)));
        first.keep("done");
        assert!(matches!(claim("ana", "a"), Claimed::Answered(reply) if reply == "done"));
        assert!(matches!(claim("ana", "b"), Claimed::Mismatch));
    }

    #[test]
    fn failed_or_expired_keys_are_released() {
        let state = tempfile::tempdir().expect("a folder");
        let keys = open(&state);
        let Claimed::Ours(first) = keys.claim("ana", "k", "a", 60_000).expect("claimed") else {
            panic!("free")
        };
        drop(first);
        let Claimed::Ours(second) = keys.claim("ana", "k", "b", 0).expect("claimed") else {
            panic!("free")
        };
        second.keep("done");
        assert!(matches!(
            keys.claim("ana", "k", "c", 0).expect("claimed"),
            Claimed::Ours(_)
        ));
    }

    #[test]
    fn claims_are_orphaned_after_a_crash() {
        let state = tempfile::tempdir().expect("a folder");
        let Claimed::Ours(crashed) = open(&state)
            .claim("ana", "k", "a", 60_000)
            .expect("claimed")
        else {
            panic!("free")
        };
        std::mem::forget(crashed);
        assert!(matches!(
            open(&state)
                .claim("ana", "k", "a", 60_000)
                .expect("claimed"),
            Claimed::Orphan(_)
        ));
    }
}
