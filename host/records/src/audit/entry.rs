//! One call in the audit log: the entry that is written and the row that is read.

use rusqlite::Row as SqlRow;
use serde::Serialize;

use super::usage::Usage;

/// The table of calls.
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
    /// The start time in milliseconds since 1970.
    pub time: i64,
    /// The caller.
    pub caller: String,
    /// The transport: `stdio`, `http`, `cli`.
    pub transport: &'static str,
    /// The requested domain.
    pub domain: String,
    /// The requested action.
    pub action: String,
    /// Whether the action exists. An unknown name is arbitrary text of the caller and is not used in metrics or traces.
    pub is_known: bool,
    /// The vault, if known.
    pub vault: Option<String>,
    /// The changed paths; without changes the requested note.
    pub paths: Vec<String>,
    /// How many bytes the notes grew by.
    pub bytes_added: u64,
    /// How many bytes they shrank by.
    pub bytes_removed: u64,
    /// How many bytes were written; not in the row.
    pub bytes_written: u64,
    /// The duration.
    pub microseconds: u64,
    /// `ok`, an error code, or `cancelled`.
    pub outcome: &'static str,
    /// The component's version.
    pub version: Option<String>,
    /// A digest of the arguments.
    pub arguments: String,
    /// The id of its change.
    pub change: Option<String>,
    /// The estimated number of model tokens of the arguments.
    pub tokens_in: u64,
    /// The estimated number of model tokens of the reply.
    pub tokens_out: u64,
    /// How a person confirmed it: `client`, `approval`, `terminal`.
    pub confirmed: Option<&'static str>,
    /// Who confirmed it, if known.
    pub confirmed_by: Option<String>,
    /// The caller's trace context (W3C `traceparent`); not in the row.
    pub traceparent: Option<String>,
    /// The resource usage of the component, if it was run; summed up in another table.
    pub usage: Option<Usage>,
}

impl Entry {
    /// Whether the call succeeded.
    pub(super) fn is_counted(&self) -> bool {
        self.outcome == "ok"
    }

    /// The names for metrics and traces: unknown ones become `other`.
    pub(super) fn known_names(&self) -> (&str, &str) {
        match self.is_known {
            true => (&self.domain, &self.action),
            false => ("other", "other"),
        }
    }
}

/// A call of the audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The number of the row, ascending.
    pub number: i64,
    /// The start time in milliseconds since 1970.
    pub time: i64,
    /// The caller.
    pub caller: String,
    /// The transport: `stdio`, `http`, `cli`.
    pub transport: String,
    /// The requested domain.
    pub domain: String,
    /// The requested action.
    pub action: String,
    /// The vault, if known.
    pub vault: Option<String>,
    /// The changed paths; without changes the requested note.
    pub paths: Vec<String>,
    /// How many bytes the notes grew by.
    pub bytes_added: i64,
    /// How many bytes they shrank by.
    pub bytes_removed: i64,
    /// The duration.
    pub microseconds: i64,
    /// `ok`, an error code, or `cancelled`.
    pub outcome: String,
    /// The component's version.
    pub version: Option<String>,
    /// A digest of the arguments.
    pub arguments: String,
    /// The id of its change.
    pub change: Option<String>,
    /// The estimated number of model tokens of the arguments.
    pub tokens_in: i64,
    /// The estimated number of model tokens of the reply.
    pub tokens_out: i64,
    /// How a person confirmed it: `client` (the caller's client asked its user), `approval` (a person elsewhere),
    /// `terminal`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmed: Option<String>,
    /// Who confirmed it, if known.
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
