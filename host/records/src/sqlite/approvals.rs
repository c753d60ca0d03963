//! Questions and decisions.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::{Sqlite, integer, json};
use crate::store::{
    ApprovalDecision, ApprovalLimits, ApprovalRecord, ApprovalRecords, ConfirmedVia, DecidedState,
    FrozenEnvironment, NewApproval, Question, RecordsError, VaultPlace,
};

pub(super) const TABLE: &str = "
CREATE TABLE IF NOT EXISTS approvals (
    id TEXT PRIMARY KEY,
    caller TEXT NOT NULL,
    action TEXT NOT NULL,           -- domain.action
    vault TEXT NOT NULL,
    identity TEXT NOT NULL,         -- of the vault's folder on this machine
    folder TEXT NOT NULL,           -- the name of that folder
    paths TEXT NOT NULL,            -- JSON list of every path that would be touched
    arguments TEXT NOT NULL,        -- a hash
    change TEXT NOT NULL,           -- the digest of what was staged
    summary TEXT NOT NULL,
    diff TEXT NOT NULL,
    created INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    state TEXT NOT NULL,            -- pending, approved, denied, used
    decided_by TEXT,
    decided_via TEXT,               -- client, approval, terminal
    frozen TEXT,                    -- JSON: the clock and the seed that the call ran with
    valid_ms INTEGER NOT NULL       -- how long the question, and then the decision, is valid
) STRICT;";

/// Every column that [`record`] reads, with at most `?1` characters of the diff. Without a diff, the stored one is not read.
const COLUMNS: &str = "id, caller, action, vault, identity, folder, paths, arguments, change, summary, created, expires, state, decided_by, \
    decided_via, CASE WHEN ?1 = 0 THEN '' WHEN length(diff) <= ?1 THEN diff ELSE substr(diff, 1, ?1) END AS diff, \
    ?1 > 0 AND length(diff) > ?1 AS is_diff_cut";

impl ApprovalRecords for Sqlite {
    fn ask_approval(&self, new: &NewApproval<'_>) -> Result<Option<String>, RecordsError> {
        let (question, limits, now) = (new.question, new.limits, new.now);
        self.run("ask approval", |connection| {
            let transaction = connection.transaction()?;
            delete_excess(&transaction, &question.caller, limits, now)?;
            let pending: Option<String> = transaction
                .query_row(
                    "SELECT id FROM approvals WHERE caller = ?1 AND action = ?2 AND identity = ?3 AND arguments = ?4
                     AND change = ?5 AND state = 'pending' AND expires > ?6",
                    params![
                        question.caller,
                        question.action,
                        question.place.identity,
                        question.arguments,
                        question.change,
                        now
                    ],
                    |row| row.get(0),
                )
                .optional()?;
            let id = match pending {
                Some(id) => {
                    transaction.execute(
                        "UPDATE approvals SET expires = ?2, valid_ms = ?3 WHERE id = ?1",
                        params![id, now + new.valid_ms, new.valid_ms],
                    )?;
                    id
                }
                None if is_full(&transaction, &question.caller, limits, now)? => return Ok(None),
                None => {
                    insert(&transaction, new)?;
                    new.id.to_owned()
                }
            };
            transaction.commit()?;
            Ok(Some(id))
        })
    }

    fn approval(
        &self,
        id: &str,
        max_diff_chars: usize,
    ) -> Result<Option<ApprovalRecord>, RecordsError> {
        self.run("find approval", |connection| {
            let mut statement = connection
                .prepare_cached(&format!("SELECT {COLUMNS} FROM approvals WHERE id = ?2"))?;
            let row = statement.query_row(params![integer(max_diff_chars), id], record);
            row.optional()
        })
    }

    fn approvals(
        &self,
        with_decided: bool,
        now: i64,
        max: usize,
        max_diff_chars: usize,
    ) -> Result<Vec<ApprovalRecord>, RecordsError> {
        self.run("list approvals", |connection| {
            let mut statement = connection.prepare(&format!(
                "SELECT {COLUMNS} FROM approvals WHERE ?2 OR (state = 'pending' AND expires > ?3)
                 ORDER BY created DESC, id LIMIT ?4"
            ))?;
            let parameters = params![integer(max_diff_chars), with_decided, now, integer(max)];
            statement.query_map(parameters, record)?.collect()
        })
    }

    fn frozen_environment(
        &self,
        id: Option<&str>,
        caller: &str,
        arguments: &str,
        now: i64,
    ) -> Result<Option<FrozenEnvironment>, RecordsError> {
        let found: Option<String> = self.run("find frozen environment", |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT frozen FROM approvals WHERE caller = ?1 AND arguments = ?2 AND expires > ?3 AND frozen IS NOT NULL
                 AND (id = ?4 AND state IN ('pending', 'approved') OR ?4 IS NULL AND state = 'pending')
                 ORDER BY created DESC LIMIT 1",
            )?;
            let row = statement.query_row(params![caller, arguments, now, id], |row| row.get(0));
            row.optional()
        })?;
        Ok(found.and_then(|json| serde_json::from_str(&json).ok()))
    }

    fn decide_approval(&self, decision: &ApprovalDecision<'_>) -> Result<bool, RecordsError> {
        let state = match decision.is_approved {
            true => "approved",
            false => "denied",
        };
        let changed = self.run("decide approval", |connection| {
            connection.execute(
                "UPDATE approvals SET state = ?2, decided_by = ?3, decided_via = ?5, expires = max(expires, ?4 + valid_ms)
                 WHERE id = ?1 AND state = 'pending' AND expires > ?4",
                params![
                    decision.id,
                    state,
                    decision.by,
                    decision.now,
                    decision.via.as_str()
                ],
            )
        })?;
        Ok(changed > 0)
    }

    fn use_approval(&self, id: &str, now: i64) -> Result<bool, RecordsError> {
        let used = self.run("use approval", |connection| {
            connection.execute(
                "UPDATE approvals SET state = 'used' WHERE id = ?1 AND state = 'approved' AND expires > ?2",
                params![id, now],
            )
        })?;
        Ok(used > 0)
    }
}

fn delete_excess(
    connection: &Connection,
    caller: &str,
    limits: ApprovalLimits,
    now: i64,
) -> rusqlite::Result<()> {
    connection.execute(
        "DELETE FROM approvals WHERE expires < ?1",
        [now - limits.retention_ms],
    )?;
    connection.execute(
        "DELETE FROM approvals WHERE id IN (SELECT id FROM approvals WHERE caller = ?1
             AND (state IN ('denied', 'used') OR expires <= ?2) ORDER BY created DESC LIMIT -1 OFFSET ?3)",
        params![caller, now, integer(limits.max_decided)],
    )?;
    Ok(())
}

/// Whether too many or too large questions of a caller are pending.
fn is_full(
    connection: &Connection,
    caller: &str,
    limits: ApprovalLimits,
    now: i64,
) -> rusqlite::Result<bool> {
    let (pending, bytes): (i64, i64) = connection.query_row(
        "SELECT coalesce(sum(state = 'pending'), 0), coalesce(sum(octet_length(diff)), 0) FROM approvals
         WHERE caller = ?1 AND state IN ('pending', 'approved') AND expires > ?2",
        params![caller, now],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    Ok(pending >= integer(limits.max_pending) || bytes > integer(limits.max_diff_bytes))
}

fn insert(connection: &Connection, new: &NewApproval<'_>) -> rusqlite::Result<usize> {
    let question = new.question;
    connection.execute(
        "INSERT INTO approvals (id, caller, action, vault, arguments, change, summary, diff, created, expires,
             state, frozen, valid_ms, identity, folder, paths)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'pending', ?11, ?12, ?13, ?14, ?15)",
        params![
            new.id,
            question.caller,
            question.action,
            question.vault,
            question.arguments,
            question.change,
            question.summary,
            question.diff,
            new.now,
            new.now + new.valid_ms,
            question.frozen.as_ref().map(json),
            new.valid_ms,
            question.place.identity,
            question.place.folder,
            json(&question.paths),
        ],
    )
}

fn record(row: &Row<'_>) -> rusqlite::Result<ApprovalRecord> {
    let (state, via): (String, Option<String>) = (row.get("state")?, row.get("decided_via")?);
    let paths: String = row.get("paths")?;
    Ok(ApprovalRecord {
        id: row.get("id")?,
        question: Question {
            caller: row.get("caller")?,
            action: row.get("action")?,
            vault: row.get("vault")?,
            place: VaultPlace {
                identity: row.get("identity")?,
                folder: row.get("folder")?,
            },
            paths: serde_json::from_str(&paths).unwrap_or_default(),
            arguments: row.get("arguments")?,
            change: row.get("change")?,
            summary: row.get("summary")?,
            diff: row.get("diff")?,
            frozen: None,
        },
        is_diff_cut: row.get("is_diff_cut")?,
        created: row.get("created")?,
        expires: row.get("expires")?,
        state: match state.as_str() {
            "approved" => DecidedState::Approved,
            "denied" => DecidedState::Denied,
            "used" => DecidedState::Used,
            _ => DecidedState::Pending,
        },
        decided_via: via.map(|via| match via.as_str() {
            "client" => ConfirmedVia::Client,
            "terminal" => ConfirmedVia::Terminal,
            _ => ConfirmedVia::Approval,
        }),
        decided_by: row.get("decided_by")?,
    })
}
