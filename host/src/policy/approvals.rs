//! What a person decides before it lands. A question is bound to one caller, one action, these arguments and exactly
//! this change; its approval works once, and not for long.

use std::sync::Arc;

use rusqlite::{OptionalExtension as _, Row, params};
use serde::Serialize;
use tokio::sync::watch;

use crate::database::{Database, DatabaseError, now_ms, random_word};

/// Where questions and their answers are kept.
pub const APPROVALS_TABLE: &str = "
CREATE TABLE IF NOT EXISTS approvals (
    id TEXT PRIMARY KEY,
    caller TEXT NOT NULL,
    action TEXT NOT NULL,           -- domain.action
    vault TEXT NOT NULL,
    arguments TEXT NOT NULL,        -- a hash
    change TEXT NOT NULL,           -- the digest of what was staged
    summary TEXT NOT NULL,
    diff TEXT NOT NULL,
    created INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    state TEXT NOT NULL,            -- pending, approved, denied, used
    decided_by TEXT
) STRICT;";

/// How many questions of one caller may wait at once.
const MOST_WAITING: i64 = 50;
/// How many are listed.
const MOST_LISTED: i64 = 500;
/// How long what was decided can still be looked at.
const KEPT_MS: i64 = 24 * 60 * 60 * 1000;

/// What a person is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Who wants it.
    pub caller: String,
    /// `domain.action`.
    pub action: String,
    /// The vault.
    pub vault: String,
    /// Names the arguments.
    pub arguments: String,
    /// Names what was staged.
    pub change: String,
    /// What would happen, in a sentence.
    pub summary: String,
    /// Exactly what would happen.
    pub diff: String,
}

/// A question, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Approval {
    /// Its name.
    pub id: String,
    /// Who wants it.
    pub caller: String,
    /// `domain.action`.
    pub action: String,
    /// The vault.
    pub vault: String,
    /// What would happen, in a sentence.
    pub summary: String,
    /// Exactly what would happen.
    pub diff: String,
    /// When it was asked, in milliseconds since 1970.
    pub created: i64,
    /// Until when it holds.
    pub expires: i64,
    /// What became of it.
    pub state: ApprovalState,
    /// Who decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
}

/// What became of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalState {
    /// Nobody has decided.
    Pending,
    /// It may happen, once.
    Approved,
    /// It may not.
    Denied,
    /// It has happened.
    Used,
    /// Nobody decided, or nobody used it, in time.
    Expired,
}

/// Why an approval does not help, or cannot be decided.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ApprovalError {
    /// There is none of that name for this caller.
    #[error("no approval `{0}`")]
    Unknown(String),
    /// Nobody has decided yet.
    #[error("the approval `{0}` is not decided yet")]
    Pending(String),
    /// Somebody said no.
    #[error("the approval `{0}` was denied")]
    Denied(String),
    /// It worked once already.
    #[error("the approval `{0}` was used already; each works once")]
    Used(String),
    /// It is too late.
    #[error("the approval `{0}` has expired")]
    Expired(String),
    /// It is for something else.
    #[error(
        "the approval `{0}` is for another call: it holds for one action with the same arguments"
    )]
    OtherCall(String),
    /// The vault changed, and with it what would happen.
    #[error("the approval `{0}` is for another change: the notes are no longer as they were")]
    OtherChange(String),
    /// It cannot be decided twice.
    #[error("the approval `{0}` is decided already: {1}")]
    Decided(String, &'static str),
    /// Nobody approves their own calls.
    #[error("`{0}` was asked for by this caller, and somebody else has to decide")]
    Own(String),
    /// Nobody could look at so many.
    #[error("{MOST_WAITING} questions of this caller wait for a person already")]
    TooMany,
    /// The records cannot be used.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

impl ApprovalState {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            ApprovalState::Pending => "pending",
            ApprovalState::Approved => "approved",
            ApprovalState::Denied => "denied",
            ApprovalState::Used => "used",
            ApprovalState::Expired => "expired",
        }
    }

    fn of(word: &str, expires: i64) -> ApprovalState {
        let is_late = now_ms() >= expires;
        match word {
            "denied" => ApprovalState::Denied,
            "used" => ApprovalState::Used,
            _ if is_late => ApprovalState::Expired,
            "approved" => ApprovalState::Approved,
            _ => ApprovalState::Pending,
        }
    }
}

/// The questions of this machine.
pub struct Approvals {
    database: Arc<Database>,
    /// Counts what this process asked and decided, for those who show it.
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

    /// Counts what this process asked and decided.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Put a question. The same question that still stands is not put twice.
    pub fn ask(&self, question: &Question, expires_ms: i64) -> Result<Approval, ApprovalError> {
        let now = now_ms();
        let new = random_word(16)
            .map_err(|error| ApprovalError::Unknown(format!("(no random numbers: {error})")))?;
        let id = self.database.with(|connection| {
            let transaction = connection.transaction()?;
            transaction.execute("DELETE FROM approvals WHERE expires < ?1", [now - KEPT_MS])?;
            let standing: Option<String> = transaction
                .query_row(
                    "SELECT id FROM approvals WHERE caller = ?1 AND action = ?2 AND vault = ?3 AND arguments = ?4
                     AND change = ?5 AND state = 'pending' AND expires > ?6",
                    params![
                        question.caller,
                        question.action,
                        question.vault,
                        question.arguments,
                        question.change,
                        now
                    ],
                    |row| row.get(0),
                )
                .optional()?;
            let waiting: i64 = transaction.query_row(
                "SELECT count(*) FROM approvals WHERE caller = ?1 AND state = 'pending' AND expires > ?2",
                params![question.caller, now],
                |row| row.get(0),
            )?;
            if standing.is_none() && waiting >= MOST_WAITING {
                return Ok(None);
            }
            let id = match standing {
                Some(id) => {
                    transaction.execute(
                        "UPDATE approvals SET expires = ?2 WHERE id = ?1",
                        params![id, now + expires_ms],
                    )?;
                    id
                }
                None => {
                    transaction.execute(
                        "INSERT INTO approvals VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'pending', NULL)",
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
                            now + expires_ms
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

    /// The questions that stand; with those that are decided, if asked. The latest first.
    pub fn list(&self, with_decided: bool) -> Result<Vec<Approval>, ApprovalError> {
        let mut all = self.database.with(|connection| {
            let mut statement = connection.prepare(
                "SELECT * FROM approvals WHERE ?1 OR (state = 'pending' AND expires > ?2)
                 ORDER BY created DESC, id LIMIT ?3",
            )?;
            let rows =
                statement.query_map(params![with_decided, now_ms(), MOST_LISTED], approval)?;
            rows.collect::<rusqlite::Result<Vec<Approval>>>()
        })?;
        all.retain(|approval| with_decided || approval.state == ApprovalState::Pending);
        Ok(all)
    }

    /// Say yes or no to a question that stands.
    pub fn decide(&self, id: &str, yes: bool, by: &str) -> Result<Approval, ApprovalError> {
        let word = if yes { "approved" } else { "denied" };
        let changed = self.database.with(|connection| {
            connection.execute(
                "UPDATE approvals SET state = ?2, decided_by = ?3 WHERE id = ?1 AND state = 'pending' AND expires > ?4",
                params![id, word, by, now_ms()],
            )
        })?;
        let approval = self.get(id)?;
        if changed == 0 {
            return Err(match approval.state {
                ApprovalState::Expired => ApprovalError::Expired(id.to_owned()),
                state => ApprovalError::Decided(id.to_owned(), state.word()),
            });
        }
        self.changed.send_modify(|count| *count += 1);
        Ok(approval)
    }

    /// Use an approval for exactly what it was given for. It never works again.
    pub fn use_up(&self, id: &str, question: &Question) -> Result<(), ApprovalError> {
        let id = || id.to_owned();
        let (approval, bound) = self.bound(&id())?;
        // To others it does not exist.
        if bound.0 != question.caller {
            return Err(ApprovalError::Unknown(id()));
        }
        if (&approval.action, &approval.vault, &bound.1)
            != (&question.action, &question.vault, &question.arguments)
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
        Ok(())
    }

    /// An approval with what it is bound to: caller, arguments, change.
    fn bound(&self, id: &str) -> Result<(Approval, (String, String, String)), ApprovalError> {
        let found = self.database.with(|connection| {
            connection
                .query_row("SELECT * FROM approvals WHERE id = ?1", [id], |row| {
                    let bound = (
                        row.get("caller")?,
                        row.get("arguments")?,
                        row.get("change")?,
                    );
                    Ok((approval(row)?, bound))
                })
                .optional()
        })?;
        found.ok_or_else(|| ApprovalError::Unknown(id.to_owned()))
    }
}

fn approval(row: &Row<'_>) -> rusqlite::Result<Approval> {
    let (word, expires): (String, i64) = (row.get("state")?, row.get("expires")?);
    Ok(Approval {
        id: row.get("id")?,
        caller: row.get("caller")?,
        action: row.get("action")?,
        vault: row.get("vault")?,
        summary: row.get("summary")?,
        diff: row.get("diff")?,
        created: row.get("created")?,
        expires,
        state: ApprovalState::of(&word, expires),
        decided_by: row.get("decided_by")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn approvals() -> (tempfile::TempDir, Approvals) {
        let state = tempfile::tempdir().expect("a folder");
        let database = Database::open(state.path()).expect("records");
        (state, Approvals::new(Arc::new(database)))
    }

    fn question() -> Question {
        Question {
            caller: "phone".into(),
            action: "document.remove".into(),
            vault: "main".into(),
            arguments: "a".into(),
            change: "c".into(),
            summary: "removes Plan.md".into(),
            diff: "-plan".into(),
        }
    }

    #[test]
    fn an_approval_works_once_and_for_nothing_else() {
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
            refused(&other(|q| q.vault = "b".into())),
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
        approvals.use_up(&asked.id, &question()).expect("used");
        assert!(matches!(refused(&question()), ApprovalError::Used(_)));
    }

    #[test]
    fn a_question_does_not_stand_for_ever() {
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
}
