//! Approvals: changes that a person decides before they are committed. A question is bound to one caller, one action,
//! its arguments and exactly one change; its approval is valid once, for a limited time.

use std::sync::Arc;

use rusqlite::{OptionalExtension as _, Row, params};
use tokio::sync::watch;

use super::question::{
    Approval, ApprovalError, ApprovalState, Confirmed, ConfirmedVia, FrozenEnvironment,
    MAX_WAITING, Question,
};
use notehost_records::database::{Database, now_ms, random_word};

/// The table of approvals.
pub const APPROVALS_TABLE: &str = "
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
    valid_ms INTEGER NOT NULL DEFAULT 0 -- how long the question, and then the decision, holds
) STRICT;";

/// The maximum number of listed approvals, and the length of each diff.
const MAX_LISTED_APPROVALS: i64 = 500;
const MAX_LISTED_DIFF_CHARS: i64 = 16 << 10;
/// The maximum size of a caller's pending diffs.
const MAX_WAITING_BYTES: i64 = 64 << 20;
/// The maximum number of a caller's decided or expired approvals.
const MAX_DECIDED: i64 = 100;
/// Every column that [`approval`] reads, but the diff.
const COLUMNS: &str = "id, caller, action, vault, identity, folder, paths, arguments, change, summary, created, expires, state, decided_by, \
                       decided_via";
/// How long decided approvals are kept.
const RETENTION_MS: i64 = 24 * 60 * 60 * 1000;

/// The questions of this machine.
#[derive(Clone)]
pub struct Approvals {
    database: Arc<Database>,
    /// Counts the changes made by this process, for watchers.
    changed: watch::Sender<u64>,
}

impl Approvals {
    /// The questions in these records.
    pub fn new(database: Arc<Database>) -> Approvals {
        Approvals {
            database,
            changed: watch::Sender::new(0),
        }
    }

    /// Counts the changes made by this process.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Creates a question. An identical pending one is reused.
    pub fn ask(&self, question: &Question, expires_ms: i64) -> Result<Approval, ApprovalError> {
        let now = now_ms();
        let new = random_word(16).map_err(|error| {
            ApprovalError::Unknown(format!("(the random number generator failed: {error})"))
        })?;
        let frozen = question.frozen.as_ref();
        // A time and bytes can always be written.
        let frozen = frozen.map(|frozen| serde_json::to_string(frozen).unwrap_or_default());
        let paths = serde_json::to_string(&question.paths).unwrap_or_default();
        let id = self.database.with(|connection| {
            let transaction = connection.transaction()?;
            transaction.execute("DELETE FROM approvals WHERE expires < ?1", [now - RETENTION_MS])?;
            transaction.execute(
                "DELETE FROM approvals WHERE id IN (SELECT id FROM approvals WHERE caller = ?1
                     AND (state IN ('denied', 'used') OR expires <= ?2) ORDER BY created DESC LIMIT -1 OFFSET ?3)",
                params![question.caller, now, MAX_DECIDED],
            )?;
            let standing: Option<String> = transaction
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
            let (waiting, bytes): (i64, i64) = transaction.query_row(
                "SELECT coalesce(sum(state = 'pending'), 0), coalesce(sum(octet_length(diff)), 0) FROM approvals
                 WHERE caller = ?1 AND state IN ('pending', 'approved') AND expires > ?2",
                params![question.caller, now],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?;
            if standing.is_none() && (waiting >= MAX_WAITING || bytes > MAX_WAITING_BYTES) {
                return Ok(None);
            }
            let id = match standing {
                Some(id) => {
                    transaction.execute(
                        "UPDATE approvals SET expires = ?2, valid_ms = ?3 WHERE id = ?1",
                        params![id, now + expires_ms, expires_ms],
                    )?;
                    id
                }
                None => {
                    transaction.execute(
                        "INSERT INTO approvals (id, caller, action, vault, arguments, change, summary, diff, created, expires,
                             state, frozen, valid_ms, identity, folder, paths)
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'pending', ?11, ?12, ?13, ?14, ?15)",
                        params![
                            new,
                            question.caller,
                            question.action,
                            question.vault,
                            question.arguments,
                            question.change,
                            question.summary,
                            question.diff,
                            now,
                            now + expires_ms,
                            frozen,
                            expires_ms,
                            question.place.identity,
                            question.place.folder,
                            paths
                        ],
                    )?;
                    new
                }
            };
            transaction.commit()?;
            Ok(Some(id))
        })?;
        let id = id.ok_or(ApprovalError::TooMany)?;
        self.changed.send_modify(|count| *count += 1);
        self.get(&id)
    }

    /// One question.
    pub fn get(&self, id: &str) -> Result<Approval, ApprovalError> {
        let found = self.database.with(|connection| {
            connection
                .query_row("SELECT * FROM approvals WHERE id = ?1", [id], approval)
                .optional()
        })?;
        found.ok_or_else(|| ApprovalError::Unknown(id.to_owned()))
    }

    /// The pending approvals, optionally with decided ones, the latest first. Long diffs are cut: [`Approvals::get`]
    /// has all that is stored.
    pub fn list(&self, with_decided: bool) -> Result<Vec<Approval>, ApprovalError> {
        let mut all = self.database.with(|connection| {
            let mut statement = connection.prepare(&format!(
                "SELECT {COLUMNS}, CASE WHEN length(diff) <= ?4 THEN diff ELSE substr(diff, 1, ?4) ||
                     char(10) || '… cut: the diff goes on; `notehost approval show ' || id || '` shows more' || char(10)
                     END AS diff
                 FROM approvals WHERE ?1 OR (state = 'pending' AND expires > ?2) ORDER BY created DESC, id LIMIT ?3",
            ))?;
            let rows = statement.query_map(
                params![with_decided, now_ms(), MAX_LISTED_APPROVALS, MAX_LISTED_DIFF_CHARS],
                approval,
            )?;
            rows.collect::<rusqlite::Result<Vec<Approval>>>()
        })?;
        all.retain(|approval| with_decided || approval.state == ApprovalState::Pending);
        Ok(all)
    }

    /// The clock and seed of the question whose approval this call brings, or that it asked before and is not decided.
    /// Reveals nothing about other callers' questions.
    pub fn frozen(
        &self,
        id: Option<&str>,
        caller: &str,
        arguments: &str,
    ) -> Result<Option<FrozenEnvironment>, ApprovalError> {
        let found = self.database.with(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT frozen FROM approvals WHERE caller = ?1 AND arguments = ?2 AND expires > ?3 AND frozen IS NOT NULL
                 AND (id = ?4 AND state IN ('pending', 'approved') OR ?4 IS NULL AND state = 'pending')
                 ORDER BY created DESC LIMIT 1",
            )?;
            let row = statement.query_row(params![caller, arguments, now_ms(), id], |row| {
                row.get::<_, String>(0)
            });
            row.optional()
        })?;
        Ok(found.and_then(|json| serde_json::from_str(&json).ok()))
    }

    /// Decides a pending approval elsewhere than at the client that asked.
    pub fn decide(&self, id: &str, yes: bool, by: &str) -> Result<Approval, ApprovalError> {
        self.decide_via(id, yes, ConfirmedVia::Approval, by)
    }

    /// Decides a pending approval, with how the person was asked. An approval is valid for as long as the question was.
    pub fn decide_via(
        &self,
        id: &str,
        yes: bool,
        via: ConfirmedVia,
        by: &str,
    ) -> Result<Approval, ApprovalError> {
        let word = if yes { "approved" } else { "denied" };
        let changed = self.database.with(|connection| {
            connection.execute(
                "UPDATE approvals SET state = ?2, decided_by = ?3, decided_via = ?5, expires = max(expires, ?4 + valid_ms)
                 WHERE id = ?1 AND state = 'pending' AND expires > ?4",
                params![id, word, by, now_ms(), via.as_str()],
            )
        })?;
        let approval = self.get(id)?;
        if changed == 0 {
            return Err(match approval.state {
                ApprovalState::Expired => ApprovalError::Expired(id.to_owned()),
                state => ApprovalError::Decided(id.to_owned(), state.as_str()),
            });
        }
        self.changed.send_modify(|count| *count += 1);
        Ok(approval)
    }

    /// Uses up an approval for exactly the call it was given for. Returns how it was given.
    pub fn use_up(&self, id: &str, question: &Question) -> Result<Confirmed, ApprovalError> {
        let id = || id.to_owned();
        let (approval, bound) = self.bound(&id())?;
        // To others it does not exist.
        if bound.0 != question.caller {
            return Err(ApprovalError::Unknown(id()));
        }
        let place = &question.place.identity;
        if (&approval.action, &approval.identity, &bound.1)
            != (&question.action, place, &question.arguments)
        {
            return Err(ApprovalError::OtherCall(id()));
        }
        match approval.state {
            ApprovalState::Approved => {}
            ApprovalState::Pending => return Err(ApprovalError::Pending(id())),
            ApprovalState::Denied => return Err(ApprovalError::Denied(id())),
            ApprovalState::Used => return Err(ApprovalError::Used(id())),
            ApprovalState::Expired => return Err(ApprovalError::Expired(id())),
        }
        if bound.2 != question.change {
            return Err(ApprovalError::OtherChange(id()));
        }
        let used = self.database.with(|connection| {
            connection.execute(
                "UPDATE approvals SET state = 'used' WHERE id = ?1 AND state = 'approved' AND expires > ?2",
                params![id(), now_ms()],
            )
        })?;
        // Somebody else was faster with the same approval.
        if used == 0 {
            return Err(ApprovalError::Used(id()));
        }
        self.changed.send_modify(|count| *count += 1);
        Ok(Confirmed {
            via: approval.decided_via.unwrap_or(ConfirmedVia::Approval),
            by: approval.decided_by,
        })
    }

    /// An approval, without its diff, with what it is bound to: caller, arguments, change.
    fn bound(&self, id: &str) -> Result<(Approval, (String, String, String)), ApprovalError> {
        let found = self.database.with(|connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {COLUMNS}, '' AS diff FROM approvals WHERE id = ?1"
            ))?;
            let row = statement.query_row([id], |row| {
                let bound = (
                    row.get("caller")?,
                    row.get("arguments")?,
                    row.get("change")?,
                );
                Ok((approval(row)?, bound))
            });
            row.optional()
        })?;
        found.ok_or_else(|| ApprovalError::Unknown(id.to_owned()))
    }
}

fn approval(row: &Row<'_>) -> rusqlite::Result<Approval> {
    let (word, expires): (String, i64) = (row.get("state")?, row.get("expires")?);
    let decided_by: Option<String> = row.get("decided_by")?;
    let via: Option<String> = row.get("decided_via")?;
    let paths: String = row.get("paths")?;
    Ok(Approval {
        id: row.get("id")?,
        caller: row.get("caller")?,
        action: row.get("action")?,
        vault: row.get("vault")?,
        folder: row.get("folder")?,
        identity: row.get("identity")?,
        paths: serde_json::from_str(&paths).unwrap_or_default(),
        summary: row.get("summary")?,
        diff: row.get("diff")?,
        created: row.get("created")?,
        expires,
        state: ApprovalState::of(&word, expires),
        decided_via: decided_by
            .is_some()
            .then(|| ConfirmedVia::of(via.as_deref())),
        decided_by,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::VaultPlace;

    fn approvals() -> (tempfile::TempDir, Approvals) {
        let state = tempfile::tempdir().expect("a folder");
        let database = crate::open_records(state.path()).expect("records");
        (state, Approvals::new(Arc::new(database)))
    }

    fn question() -> Question {
        Question {
            caller: "phone".into(),
            action: "document.remove".into(),
            vault: "main".into(),
            place: VaultPlace {
                identity: "main-0123".into(),
                folder: "Notes".into(),
            },
            paths: vec!["Plan.md".into()],
            arguments: "a".into(),
            change: "c".into(),
            summary: "removes Plan.md".into(),
            diff: "-plan".into(),
            frozen: Some(FrozenEnvironment {
                milliseconds: 5,
                seed: [7; 32],
            }),
        }
    }

    #[test]
    fn an_approval_is_valid_once_for_one_call() {
        let (_state, approvals) = approvals();
        let asked = approvals.ask(&question(), 60_000).expect("asked");
        assert_eq!(
            approvals.ask(&question(), 60_000).expect("asked").id,
            asked.id
        );
        let refused =
            |question: &Question| approvals.use_up(&asked.id, question).expect_err("refused");
        assert!(matches!(refused(&question()), ApprovalError::Pending(_)));
        approvals.decide(&asked.id, true, "cli").expect("decided");
        assert!(matches!(
            approvals.decide(&asked.id, false, "cli"),
            Err(ApprovalError::Decided(..))
        ));
        let other = |change: fn(&mut Question)| {
            let mut other = question();
            change(&mut other);
            other
        };
        assert!(matches!(
            refused(&other(|q| q.caller = "b".into())),
            ApprovalError::Unknown(_)
        ));
        assert!(matches!(
            refused(&other(|q| q.action = "b".into())),
            ApprovalError::OtherCall(_)
        ));
        assert!(matches!(
            refused(&other(|q| q.place.identity = "b".into())),
            ApprovalError::OtherCall(_)
        ));
        assert!(matches!(
            refused(&other(|q| q.arguments = "b".into())),
            ApprovalError::OtherCall(_)
        ));
        assert!(matches!(
            refused(&other(|q| q.change = "b".into())),
            ApprovalError::OtherChange(_)
        ));
        let frozen = |id: Option<&str>, caller: &str| {
            let found = approvals.frozen(id, caller, "a").expect("asked");
            found.map(|frozen| frozen.seed)
        };
        // It is decided, so only who brings it runs as it was shown.
        assert_eq!(frozen(Some(&asked.id), "phone"), Some([7; 32]));
        assert_eq!(frozen(Some(&asked.id), "b"), None);
        assert_eq!(frozen(None, "phone"), None);
        let confirmed = approvals.use_up(&asked.id, &question()).expect("used");
        assert_eq!(
            (confirmed.via, confirmed.by.as_deref()),
            (ConfirmedVia::Approval, Some("cli"))
        );
        assert_eq!(frozen(Some(&asked.id), "phone"), None);
        assert!(matches!(refused(&question()), ApprovalError::Used(_)));
    }

    #[test]
    fn pending_approvals_expire() {
        let (_state, approvals) = approvals();
        let asked = approvals.ask(&question(), 0).expect("asked");
        assert_eq!(asked.state, ApprovalState::Expired);
        assert!(approvals.list(false).expect("listed").is_empty());
        assert!(matches!(
            approvals.decide(&asked.id, true, "cli"),
            Err(ApprovalError::Expired(_))
        ));
        assert!(matches!(
            approvals.use_up(&asked.id, &question()),
            Err(ApprovalError::Expired(_))
        ));
    }

    #[test]
    fn a_decision_restarts_the_validity() {
        let (_state, approvals) = approvals();
        let asked = approvals.ask(&question(), 60_000).expect("asked");
        // Nearly a minute has passed.
        let late = approvals.database.with(|connection| {
            connection.execute("UPDATE approvals SET expires = expires - 59000", [])
        });
        late.expect("changed");
        let decided = approvals.decide(&asked.id, true, "cli").expect("decided");
        assert!(decided.expires >= now_ms() + 50_000, "{decided:?}");
        let frozen = approvals.frozen(Some(&asked.id), "phone", "a");
        assert_eq!(frozen.expect("asked"), question().frozen);
    }

    #[test]
    fn stored_and_listed_approvals_are_bounded() {
        let (_state, approvals) = approvals();
        let long = Question {
            diff: "-line\n".repeat(100_000),
            ..question()
        };
        let asked = approvals.ask(&long, 60_000).expect("asked");
        assert_eq!(asked.diff, long.diff);
        let listed = approvals.list(false).expect("listed");
        assert!(listed[0].diff.len() < 17 << 10 && listed[0].diff.contains("\n… cut: "));
        for number in 0..MAX_DECIDED + 10 {
            let next = Question {
                change: number.to_string(),
                ..question()
            };
            let asked = approvals.ask(&next, 60_000).expect("asked");
            approvals.decide(&asked.id, false, "cli").expect("decided");
        }
        let all = approvals.list(true).expect("listed").len() as i64;
        assert!(all <= MAX_DECIDED + 2, "{all}");
        assert_eq!(approvals.list(false).expect("listed").len(), 1);
        let huge = Question {
            diff: "-".repeat(usize::try_from(MAX_WAITING_BYTES).expect("few") + 1),
            change: "huge".into(),
            ..question()
        };
        approvals.ask(&huge, 60_000).expect("asked");
        let more = Question {
            change: "more".into(),
            ..question()
        };
        assert!(matches!(
            approvals.ask(&more, 60_000),
            Err(ApprovalError::TooMany)
        ));
    }
}
