//! Queries of the audit log by caller, action, path, time and outcome.

use rusqlite::types::Value;

use super::entry::Row;
use crate::database::{Database, DatabaseError};

/// A filter of calls; `None` matches all.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// By this caller.
    pub caller: Option<String>,
    /// Through `stdio`, `http` or `cli`.
    pub transport: Option<String>,
    /// Of this domain.
    pub domain: Option<String>,
    /// Of this action.
    pub action: Option<String>,
    /// On this vault.
    pub vault: Option<String>,
    /// With this path, or a path in this folder.
    pub path: Option<String>,
    /// With this outcome; `failed` is everything but `ok`.
    pub outcome: Option<String>,
    /// That began at this time or later, in milliseconds since 1970.
    pub since: Option<i64>,
    /// That began before this time.
    pub until: Option<i64>,
    /// With a smaller row number than this.
    pub before: Option<i64>,
    /// In one of these vaults, or without a vault.
    pub vaults: Option<Vec<String>>,
}

impl Filter {
    /// The SQL condition for `WHERE`, and its parameters.
    pub(super) fn condition(&self) -> (String, Vec<Value>) {
        let mut conditions = vec!["1".to_owned()];
        let mut values = Vec::new();
        for (column, wanted) in [
            ("caller", &self.caller),
            ("transport", &self.transport),
            ("domain", &self.domain),
            ("action", &self.action),
            ("vault", &self.vault),
        ] {
            if let Some(wanted) = wanted {
                conditions.push(format!("{column} = ?"));
                values.push(Value::from(wanted.clone()));
            }
        }
        match self.outcome.as_deref() {
            Some("failed") => conditions.push("outcome <> 'ok'".into()),
            Some(code) => {
                conditions.push("outcome = ?".into());
                values.push(Value::from(code.to_owned()));
            }
            None => {}
        }
        if let Some(path) = &self.path {
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
            ("time >= ?", self.since),
            ("time < ?", self.until),
            ("number < ?", self.before),
        ] {
            if let Some(moment) = moment {
                conditions.push(comparison.into());
                values.push(Value::from(moment));
            }
        }
        if let Some(vaults) = &self.vaults {
            let places = vec!["?"; vaults.len()].join(", ");
            conditions.push(format!("(vault IS NULL OR vault IN ({places}))"));
            values.extend(vaults.iter().map(|vault| Value::from(vault.clone())));
        }
        (conditions.join(" AND "), values)
    }
}

/// The latest calls, the newest last.
pub fn latest(database: &Database, filter: &Filter, limit: u32) -> Result<Vec<Row>, DatabaseError> {
    let (condition, mut values) = filter.condition();
    values.push(Value::from(i64::from(limit)));
    let query = format!("SELECT * FROM audit WHERE {condition} ORDER BY number DESC LIMIT ?");
    let mut rows = select(database, &query, values)?;
    rows.reverse();
    Ok(rows)
}

/// The calls after one, the oldest first. `0` is before all of them.
pub fn after(
    database: &Database,
    filter: &Filter,
    number: i64,
    limit: u32,
) -> Result<Vec<Row>, DatabaseError> {
    let (condition, mut values) = filter.condition();
    values.extend([Value::from(number), Value::from(i64::from(limit))]);
    let query =
        format!("SELECT * FROM audit WHERE {condition} AND number > ? ORDER BY number LIMIT ?");
    select(database, &query, values)
}

/// The number of the latest call; `0` if there is none.
pub fn latest_number(database: &Database) -> Result<i64, DatabaseError> {
    database.with(|connection| {
        connection.query_row("SELECT coalesce(max(number), 0) FROM audit", [], |row| {
            row.get(0)
        })
    })
}

fn select(database: &Database, query: &str, values: Vec<Value>) -> Result<Vec<Row>, DatabaseError> {
    database.with(|connection| {
        let mut statement = connection.prepare_cached(query)?;
        let rows = statement.query_map(rusqlite::params_from_iter(values), Row::read)?;
        rows.collect()
    })
}
