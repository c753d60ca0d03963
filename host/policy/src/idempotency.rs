//! Idempotency keys: a repeated call runs once. The first call with a key claims it; if it succeeds, its reply is
//! returned to later calls with the same arguments. A failed call changed nothing and releases its key.
//!
//! The key is also stored with the commit in the vault's history, which tells after a crash between commit and reply
//! that the call was done.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use rusqlite::{OptionalExtension as _, params};

use notehost_records::database::{Database, DatabaseError, now_ms, random_word};

/// Where keys and replies are kept.
pub const IDEMPOTENCY_TABLE: &str = "
CREATE TABLE IF NOT EXISTS idempotency (
    caller TEXT NOT NULL,
    key TEXT NOT NULL,
    arguments TEXT NOT NULL,        -- a hash of domain, action, vault and arguments
    owner TEXT NOT NULL,            -- the process that runs the call
    reply TEXT,                     -- JSON; NULL while it runs
    expires INTEGER NOT NULL,
    PRIMARY KEY (caller, key)
) STRICT;
CREATE INDEX IF NOT EXISTS idempotency_expires ON idempotency (expires);";

/// The keys of this machine.
pub struct Idempotency {
    database: Arc<Database>,
    /// Names this process.
    owner: String,
}

/// What a key comes to.
pub enum Claimed {
    /// Nobody has used it: go ahead, and keep the reply.
    Ours(Claim),
    /// An exited process had claimed it; its progress is unknown.
    Orphan(Claim),
    /// It was answered before.
    Answered(String),
    /// The same call is running.
    InFlight,
    /// It was used for something else.
    Mismatch,
}

/// A key that is ours. Dropped, it is given back.
pub struct Claim {
    database: Arc<Database>,
    caller: String,
    key: String,
    arguments: String,
    /// What to do with it at the end.
    fate: AtomicU8,
}

/// Nothing happened: the key is free again.
const FREE: u8 = 0;
/// A commit has begun; only the history tells whether it succeeded.
const UNKNOWN: u8 = 1;
/// The reply is kept.
const KEPT: u8 = 2;

impl Idempotency {
    /// The keys in these records.
    pub fn new(database: Arc<Database>) -> Result<Idempotency, getrandom::Error> {
        Ok(Idempotency {
            database,
            owner: random_word(16)?,
        })
    }

    /// Claim a key for a call.
    pub fn claim(
        &self,
        caller: &str,
        key: &str,
        arguments: &str,
        keep_ms: i64,
    ) -> Result<Claimed, DatabaseError> {
        let now = now_ms();
        let ours = || Claim {
            database: self.database.clone(),
            caller: caller.to_owned(),
            key: key.to_owned(),
            arguments: arguments.to_owned(),
            fate: AtomicU8::new(FREE),
        };
        self.database.with(|connection| {
            let transaction =
                connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            transaction.execute("DELETE FROM idempotency WHERE expires <= ?1", [now])?;
            let row: Option<(String, String, Option<String>)> = transaction
                .query_row(
                    "SELECT arguments, owner, reply FROM idempotency WHERE caller = ?1 AND key = ?2",
                    params![caller, key],
                    |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
                )
                .optional()?;
            let claimed = match row {
                Some((before, ..)) if before != arguments => Claimed::Mismatch,
                Some((_, _, Some(reply))) => Claimed::Answered(reply),
                Some((_, owner, None)) if owner == self.owner => Claimed::InFlight,
                // The vault has one writer, and that is us: whoever claimed it is gone.
                Some(_) => {
                    transaction.execute(
                        "UPDATE idempotency SET owner = ?3 WHERE caller = ?1 AND key = ?2",
                        params![caller, key, self.owner],
                    )?;
                    Claimed::Orphan(ours())
                }
                None => {
                    transaction.execute(
                        "INSERT INTO idempotency VALUES (?1, ?2, ?3, ?4, NULL, ?5)",
                        params![caller, key, arguments, self.owner, now.saturating_add(keep_ms)],
                    )?;
                    Claimed::Ours(ours())
                }
            };
            transaction.commit()?;
            Ok(claimed)
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
        let kept = self.database.with(|connection| {
            connection.execute(
                "UPDATE idempotency SET reply = ?3 WHERE caller = ?1 AND key = ?2",
                params![self.caller, self.key, reply],
            )
        });
        match kept {
            Ok(_) => self.fate.store(KEPT, Ordering::SeqCst),
            // The key is given back with this claim: whoever comes next with it asks the history.
            Err(error) => {
                tracing::error!("the reply to an idempotent call could not be stored: {error}");
            }
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let query = match self.fate.load(Ordering::SeqCst) {
            FREE => "DELETE FROM idempotency WHERE caller = ?1 AND key = ?2 AND reply IS NULL",
            // Nobody's: whoever comes next with it asks the history.
            UNKNOWN => {
                "UPDATE idempotency SET owner = '' WHERE caller = ?1 AND key = ?2 AND reply IS NULL"
            }
            _ => return,
        };
        let given_back = self
            .database
            .with(|connection| connection.execute(query, params![self.caller, self.key]));
        if let Err(error) = given_back {
            tracing::error!("an idempotency key could not be released: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(state: &tempfile::TempDir) -> Idempotency {
        Idempotency::new(Arc::new(
            crate::open_records(state.path()).expect("records"),
        ))
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
