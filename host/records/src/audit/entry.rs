//! One call in the audit log: the entry that is written and the row that is read.

use serde::Serialize;

use super::usage::Usage;

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
    /// Where the time went, if a collector gets traces; not in the row.
    pub stages: Vec<StageTime>,
}

/// The time that one stage of a call took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageTime {
    /// The name of the stage.
    pub name: &'static str,
    /// When it began, in microseconds since the call did.
    pub start: u64,
    /// How long it took.
    pub microseconds: u64,
}

impl Entry {
    /// Whether the call succeeded.
    pub(crate) fn is_counted(&self) -> bool {
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
