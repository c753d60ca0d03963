//! Idempotency keys.

use rusqlite::{OptionalExtension as _, TransactionBehavior, params};

use super::Sqlite;
use crate::store::{IdempotencyRecords, KeyClaim, KeyState, RecordsError};

pub(super) const TABLE: &str = "
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

impl IdempotencyRecords for Sqlite {
    fn claim_key(&self, claim: &KeyClaim<'_>) -> Result<KeyState, RecordsError> {
        self.run("claim idempotency key", |connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute("DELETE FROM idempotency WHERE expires <= ?1", [claim.now])?;
            let row: Option<(String, String, Option<String>)> = transaction
                .query_row(
                    "SELECT arguments, owner, reply FROM idempotency WHERE caller = ?1 AND key = ?2",
                    params![claim.caller, claim.key],
                    |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
                )
                .optional()?;
            let state = match row {
                Some((arguments, ..)) if arguments != claim.arguments => KeyState::Mismatch,
                Some((_, _, Some(reply))) => KeyState::Answered(reply),
                Some((_, owner, None)) if owner == claim.owner => KeyState::InFlight,
                Some(_) => {
                    transaction.execute(
                        "UPDATE idempotency SET owner = ?3 WHERE caller = ?1 AND key = ?2",
                        params![claim.caller, claim.key, claim.owner],
                    )?;
                    KeyState::TakenOver
                }
                None => {
                    transaction.execute(
                        "INSERT INTO idempotency VALUES (?1, ?2, ?3, ?4, NULL, ?5)",
                        params![
                            claim.caller,
                            claim.key,
                            claim.arguments,
                            claim.owner,
                            claim.expires
                        ],
                    )?;
                    KeyState::Claimed
                }
            };
            transaction.commit()?;
            Ok(state)
        })
    }

    fn store_reply(&self, caller: &str, key: &str, reply: &str) -> Result<(), RecordsError> {
        self.run("store idempotent reply", |connection| {
            connection.execute(
                "UPDATE idempotency SET reply = ?3 WHERE caller = ?1 AND key = ?2",
                params![caller, key, reply],
            )
        })?;
        Ok(())
    }

    fn release_key(&self, caller: &str, key: &str) -> Result<(), RecordsError> {
        self.run("release idempotency key", |connection| {
            connection.execute(
                "DELETE FROM idempotency WHERE caller = ?1 AND key = ?2 AND reply IS NULL",
                [caller, key],
            )
        })?;
        Ok(())
    }

    fn disown_key(&self, caller: &str, key: &str) -> Result<(), RecordsError> {
        self.run("disown idempotency key", |connection| {
            connection.execute(
                "UPDATE idempotency SET owner = '' WHERE caller = ?1 AND key = ?2 AND reply IS NULL",
                [caller, key],
            )
        })?;
        Ok(())
    }
}
