//! One call, as it is written down and as it is read again.

use rusqlite::Row as SqlRow;
use serde::Serialize;

use super::usage::Usage;

/// Where calls are written down.
pub const AUDIT_TABLE: &str = "
CREATE TABLE IF NOT EXISTS audit (
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- grows, also after everything was forgotten
    time INTEGER NOT NULL,          -- milliseconds since 1970
    caller TEXT NOT NULL,
    transport TEXT NOT NULL,        -- stdio, http, cli
    domain TEXT NOT NULL,
    action TEXT NOT NULL,
    vault TEXT,
    paths TEXT NOT NULL,            -- JSON list of the paths that were touched
    bytes_added INTEGER NOT NULL,
    bytes_removed INTEGER NOT NULL,
    microseconds INTEGER NOT NULL,
    outcome TEXT NOT NULL,          -- ok, or an error code, or cancelled
    version TEXT,                   -- of the component
    arguments TEXT NOT NULL,        -- a hash
    change TEXT,
    tokens_in INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    confirmed TEXT,                 -- how a person confirmed it: client, approval, terminal
    confirmed_by TEXT               -- who did, where it is known
) STRICT;
CREATE INDEX IF NOT EXISTS audit_time ON audit (time);
-- How many calls succeeded, also of those that are no longer written down.
CREATE TABLE IF NOT EXISTS calls (
    caller TEXT NOT NULL,
    vault TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (caller, vault)
) STRICT;";

/// One call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry {
    /// When it began, in milliseconds since 1970.
    pub time: i64,
    /// Who called.
    pub caller: String,
    /// How it came in: `stdio`, `http`, `cli`.
    pub transport: &'static str,
    /// The domain that was asked for.
    pub domain: String,
    /// The action that was asked for.
    pub action: String,
    /// Whether there is such an action. What is not known is whatever a caller sent, and goes into no metric or trace.
    pub is_known: bool,
    /// The vault, as soon as it was known.
    pub vault: Option<String>,
    /// The paths that changed; where none did, the note that was asked for.
    pub paths: Vec<String>,
    /// How many bytes the notes grew by.
    pub bytes_added: u64,
    /// How many bytes they shrank by.
    pub bytes_removed: u64,
    /// How many bytes were written; not in the row.
    pub bytes_written: u64,
    /// How long it took.
    pub microseconds: u64,
    /// `ok`, an error code, or `cancelled`.
    pub outcome: &'static str,
    /// The component's version.
    pub version: Option<String>,
    /// Names the arguments without telling them.
    pub arguments: String,
    /// The change that it made.
    pub change: Option<String>,
    /// About how many tokens the arguments cost a model.
    pub tokens_in: u64,
    /// About how many tokens the reply costs a model.
    pub tokens_out: u64,
    /// How a person confirmed it: `client`, `approval`, `terminal`.
    pub confirmed: Option<&'static str>,
    /// Who confirmed it, where it is known.
    pub confirmed_by: Option<String>,
    /// The span of the caller that this call belongs to, as W3C writes it; not in the row.
    pub traceparent: Option<String>,
    /// What the component used, if it was run; summed up beside the rows.
    pub usage: Option<Usage>,
}

impl Entry {
    /// Whether it is one of the calls that succeeded.
    pub(super) fn is_counted(&self) -> bool {
        self.outcome == "ok"
    }

    /// The names for metrics and traces: what a caller made up becomes `other`.
    pub(super) fn known_names(&self) -> (&str, &str) {
        match self.is_known {
            true => (&self.domain, &self.action),
            false => ("other", "other"),
        }
    }
}

/// A call that was written down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Grows from row to row.
    pub number: i64,
    /// When it began, in milliseconds since 1970.
    pub time: i64,
    /// Who called.
    pub caller: String,
    /// How it came in: `stdio`, `http`, `cli`.
    pub transport: String,
    /// The domain that was asked for.
    pub domain: String,
    /// The action that was asked for.
    pub action: String,
    /// The vault, where it was known.
    pub vault: Option<String>,
    /// The paths that changed; where none did, the note that was asked for.
    pub paths: Vec<String>,
    /// How many bytes the notes grew by.
    pub bytes_added: i64,
    /// How many bytes they shrank by.
    pub bytes_removed: i64,
    /// How long it took.
    pub microseconds: i64,
    /// `ok`, an error code, or `cancelled`.
    pub outcome: String,
    /// The component's version.
    pub version: Option<String>,
    /// Names the arguments without telling them.
    pub arguments: String,
    /// The change that it made.
    pub change: Option<String>,
    /// About how many tokens the arguments cost a model.
    pub tokens_in: i64,
    /// About how many tokens the reply costs a model.
    pub tokens_out: i64,
    /// How a person confirmed it: `client` (the caller's client asked its user), `approval` (a person elsewhere),
    /// `terminal`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmed: Option<String>,
    /// Who confirmed it, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmed_by: Option<String>,
}

impl Row {
    pub(super) fn read(row: &SqlRow<'_>) -> rusqlite::Result<Row> {
        let paths: String = row.get("paths")?;
        Ok(Row {
            number: row.get("number")?,
            time: row.get("time")?,
            caller: row.get("caller")?,
            transport: row.get("transport")?,
            domain: row.get("domain")?,
            action: row.get("action")?,
            vault: row.get("vault")?,
            paths: serde_json::from_str(&paths).unwrap_or_default(),
            bytes_added: row.get("bytes_added")?,
            bytes_removed: row.get("bytes_removed")?,
            microseconds: row.get("microseconds")?,
            outcome: row.get("outcome")?,
            version: row.get("version")?,
            arguments: row.get("arguments")?,
            change: row.get("change")?,
            tokens_in: row.get("tokens_in")?,
            tokens_out: row.get("tokens_out")?,
            confirmed: row.get("confirmed")?,
            confirmed_by: row.get("confirmed_by")?,
        })
    }
}
