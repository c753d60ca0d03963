//! The audit log, the counts of calls, and the usage of components.

use std::collections::HashMap;

use rusqlite::types::Value;
use rusqlite::{OptionalExtension as _, Row as SqlRow, Transaction, params, params_from_iter};

use super::{Sqlite, count, from_columns, integer, json};
use crate::audit::{Entry, Filter, Row, UsageSum, usage_sums};
use crate::store::{AuditRecords, CallDuration, CallSample, RecordsError};

pub(super) const TABLES: &str = "
CREATE TABLE IF NOT EXISTS audit (
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- grows, also after everything was deleted
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
-- How many calls succeeded, also of those that were deleted.
CREATE TABLE IF NOT EXISTS calls (
    caller TEXT NOT NULL,
    vault TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (caller, vault)
) STRICT;
CREATE TABLE IF NOT EXISTS component_usage (
    component TEXT NOT NULL,
    digest TEXT NOT NULL,
    calls INTEGER NOT NULL,
    traps INTEGER NOT NULL,
    over_limits INTEGER NOT NULL,
    timeouts INTEGER NOT NULL,
    denials INTEGER NOT NULL,
    memory_bytes INTEGER NOT NULL,  -- the most that one call used
    PRIMARY KEY (component, digest)
) STRICT;";

impl AuditRecords for Sqlite {
    fn append_calls(&self, batch: &[Entry]) -> Result<(), RecordsError> {
        self.run("append calls", |connection| {
            let transaction = connection.transaction()?;
            insert(&transaction, batch)?;
            count_successes(&transaction, batch)?;
            add_usage(&transaction, batch)?;
            transaction.commit()
        })
    }

    fn latest_calls(&self, filter: &Filter, limit: u32) -> Result<Vec<Row>, RecordsError> {
        let (condition, mut values) = condition(filter);
        values.push(Value::from(i64::from(limit)));
        let query = format!("SELECT * FROM audit WHERE {condition} ORDER BY number DESC LIMIT ?");
        let mut rows = self.select(&query, values)?;
        rows.reverse();
        Ok(rows)
    }

    fn calls_after(
        &self,
        filter: &Filter,
        number: i64,
        limit: u32,
    ) -> Result<Vec<Row>, RecordsError> {
        let (condition, mut values) = condition(filter);
        values.extend([Value::from(number), Value::from(i64::from(limit))]);
        let query =
            format!("SELECT * FROM audit WHERE {condition} AND number > ? ORDER BY number LIMIT ?");
        self.select(&query, values)
    }

    fn latest_call_number(&self) -> Result<i64, RecordsError> {
        self.run("latest call number", |connection| {
            connection.query_row("SELECT coalesce(max(number), 0) FROM audit", [], |row| {
                row.get(0)
            })
        })
    }

    fn call_samples(&self, filter: &Filter) -> Result<Vec<CallSample>, RecordsError> {
        let (condition, values) = condition(filter);
        let query = format!(
            "SELECT time, caller, domain, action, outcome, microseconds, tokens_in, tokens_out FROM audit
             WHERE {condition} ORDER BY time"
        );
        self.run("call samples", |connection| {
            let mut statement = connection.prepare_cached(&query)?;
            let rows = statement.query_map(params_from_iter(values), |row| {
                Ok(from_columns!(row => CallSample {
                    time, caller, domain, action, outcome, microseconds, tokens_in, tokens_out
                }))
            })?;
            rows.collect()
        })
    }

    fn call_durations(&self, max_calls: u32) -> Result<Vec<CallDuration>, RecordsError> {
        self.run("call durations", |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT domain, version, microseconds FROM audit
                 WHERE version IS NOT NULL AND number > (SELECT coalesce(max(number), 0) FROM audit) - ?1",
            )?;
            let rows = statement.query_map([max_calls], |row| {
                Ok(from_columns!(row => CallDuration { domain, version, microseconds }))
            })?;
            rows.collect()
        })
    }

    fn successful_calls(&self, caller: &str, vault: &str) -> Result<u64, RecordsError> {
        let counted = self.run("count calls", |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT coalesce(sum(count), 0) FROM calls WHERE caller = ?1 AND vault = ?2",
            )?;
            statement.query_row([caller, vault], |row| row.get(0))
        })?;
        Ok(count(counted))
    }

    fn component_usage(&self) -> Result<HashMap<(String, String), UsageSum>, RecordsError> {
        self.run("component usage", |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT component, digest, calls, traps, over_limits, timeouts, denials, memory_bytes FROM component_usage",
            )?;
            let rows = statement.query_map([], |row| {
                let number = |column: usize| row.get(column).map(count);
                let sum = UsageSum {
                    calls: number(2)?,
                    traps: number(3)?,
                    over_limits: number(4)?,
                    timeouts: number(5)?,
                    denials: number(6)?,
                    memory_bytes: number(7)?,
                };
                Ok(((row.get(0)?, row.get(1)?), sum))
            })?;
            rows.collect()
        })
    }

    fn first_kept_call(&self, oldest: i64, max_calls: u64) -> Result<i64, RecordsError> {
        // Numbers have no gaps except at the old end.
        self.run("first kept call", |connection| {
            let last: i64 =
                connection.query_row("SELECT coalesce(max(number), 0) FROM audit", [], |row| {
                    row.get(0)
                })?;
            // Without the index on times: the first row is usually young enough.
            let young = "SELECT number FROM audit WHERE +time >= ?1 ORDER BY number LIMIT 1";
            let young: Option<i64> = connection
                .query_row(young, [oldest], |row| row.get(0))
                .optional()?;
            Ok(young
                .unwrap_or(last + 1)
                .max((last + 1).saturating_sub(integer(max_calls))))
        })
    }

    fn delete_calls_before(&self, number: i64, limit: u32) -> Result<u32, RecordsError> {
        let deleted = self.run("delete calls", |connection| {
            connection.execute(
                "DELETE FROM audit WHERE number IN (
                     SELECT number FROM audit WHERE number < ?1 ORDER BY number LIMIT ?2)",
                params![number, limit],
            )
        })?;
        Ok(u32::try_from(deleted).unwrap_or(u32::MAX))
    }
}

impl Sqlite {
    fn select(&self, query: &str, values: Vec<Value>) -> Result<Vec<Row>, RecordsError> {
        self.run("list calls", |connection| {
            let mut statement = connection.prepare_cached(query)?;
            let rows = statement.query_map(params_from_iter(values), row)?;
            rows.collect()
        })
    }
}

fn insert(transaction: &Transaction<'_>, batch: &[Entry]) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare_cached(
        "INSERT INTO audit (time, caller, transport, domain, action, vault, paths, bytes_added, bytes_removed,
             microseconds, outcome, version, arguments, change, tokens_in, tokens_out, confirmed, confirmed_by)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
    )?;
    for entry in batch {
        insert.execute(params![
            entry.time,
            entry.caller,
            entry.transport,
            entry.domain,
            entry.action,
            entry.vault,
            json(&entry.paths),
            integer(entry.bytes_added),
            integer(entry.bytes_removed),
            integer(entry.microseconds),
            entry.outcome,
            entry.version,
            entry.arguments,
            entry.change,
            integer(entry.tokens_in),
            integer(entry.tokens_out),
            entry.confirmed,
            entry.confirmed_by,
        ])?;
    }
    Ok(())
}

fn count_successes(transaction: &Transaction<'_>, batch: &[Entry]) -> rusqlite::Result<()> {
    let mut count = transaction.prepare_cached(
        "INSERT INTO calls VALUES (?1, ?2, 1) ON CONFLICT DO UPDATE SET count = count + 1",
    )?;
    for entry in batch.iter().filter(|entry| entry.is_counted()) {
        if let Some(vault) = &entry.vault {
            count.execute([&entry.caller, vault])?;
        }
    }
    Ok(())
}

fn add_usage(transaction: &Transaction<'_>, batch: &[Entry]) -> rusqlite::Result<()> {
    let mut add = transaction.prepare_cached(
        "INSERT INTO component_usage VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO UPDATE SET
             calls = calls + ?3, traps = traps + ?4, over_limits = over_limits + ?5, timeouts = timeouts + ?6,
             denials = denials + ?7, memory_bytes = max(memory_bytes, ?8)",
    )?;
    for ((component, digest), sum) in usage_sums(batch) {
        add.execute(params![
            component,
            digest,
            integer(sum.calls),
            integer(sum.traps),
            integer(sum.over_limits),
            integer(sum.timeouts),
            integer(sum.denials),
            integer(sum.memory_bytes),
        ])?;
    }
    Ok(())
}

fn row(row: &SqlRow<'_>) -> rusqlite::Result<Row> {
    let paths: String = row.get("paths")?;
    Ok(from_columns!(row => Row {
        number, time, caller, transport, domain, action, vault, bytes_added, bytes_removed, microseconds, outcome,
        version, arguments, change, tokens_in, tokens_out, confirmed, confirmed_by;
        paths: serde_json::from_str(&paths).unwrap_or_default()
    }))
}

/// A filter as the condition of `WHERE`, with its parameters.
fn condition(filter: &Filter) -> (String, Vec<Value>) {
    let mut conditions = vec!["1".to_owned()];
    let mut values = Vec::new();
    if let Some(caller) = &filter.caller {
        // Also with the name of a client: `stdio (claude-code)`.
        conditions.push("(caller = ? OR substr(caller, 1, length(?)) = ?)".into());
        let with_client = format!("{caller} (");
        values.push(Value::from(caller.clone()));
        values.push(Value::from(with_client.clone()));
        values.push(Value::from(with_client));
    }
    for (column, wanted) in [
        ("transport", &filter.transport),
        ("domain", &filter.domain),
        ("action", &filter.action),
        ("vault", &filter.vault),
    ] {
        if let Some(wanted) = wanted {
            conditions.push(format!("{column} = ?"));
            values.push(Value::from(wanted.clone()));
        }
    }
    match filter.outcome.as_deref() {
        Some("failed") => conditions.push("outcome <> 'ok'".into()),
        Some(code) => {
            conditions.push("outcome = ?".into());
            values.push(Value::from(code.to_owned()));
        }
        None => {}
    }
    if let Some(path) = &filter.path {
        // `.md` may be omitted in calls and in this query.
        let path = path.trim_end_matches("**").trim_end_matches('/');
        let bare = path.strip_suffix(".md").unwrap_or(path);
        conditions.push(
            "EXISTS (SELECT 1 FROM json_each(paths) WHERE value IN (?, ?) OR substr(value, 1, length(?)) = ?)"
                .into(),
        );
        let folder = format!("{path}/");
        for value in [
            bare.to_owned(),
            format!("{bare}.md"),
            folder.clone(),
            folder,
        ] {
            values.push(Value::from(value));
        }
    }
    for (comparison, moment) in [
        ("time >= ?", filter.since),
        ("time < ?", filter.until),
        ("number < ?", filter.before),
    ] {
        if let Some(moment) = moment {
            conditions.push(comparison.into());
            values.push(Value::from(moment));
        }
    }
    if let Some(vaults) = &filter.vaults {
        let places = vec!["?"; vaults.len()].join(", ");
        conditions.push(format!("(vault IS NULL OR vault IN ({places}))"));
        values.extend(vaults.iter().map(|vault| Value::from(vault.clone())));
    }
    (conditions.join(" AND "), values)
}
