//! Resource usage and failures of components, summed up by component digest: of all calls ever made,
//! including those whose audit entries have been deleted.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::{Transaction, params};

use super::entry::Entry;
use crate::database::{Database, DatabaseError};

/// The table of sums.
pub const USAGE_TABLE: &str = "
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

/// The number of latest calls that durations are computed from.
const MEASURED_CALLS: i64 = 100_000;

/// The resource usage of one call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Usage {
    /// The digest of the component.
    pub digest: Arc<str>,
    /// How the call failed, if it did.
    pub failure: Option<Failure>,
    /// The number of host calls denied by the component's grant.
    pub denials: u64,
    /// The peak memory.
    pub memory_bytes: u64,
}

/// How a component failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// It trapped.
    Trap,
    /// It exceeded a limit.
    OverLimit,
    /// It timed out.
    TimedOut,
}

/// The total resource usage of a component.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UsageSum {
    /// The number of calls.
    pub calls: u64,
    /// The number of traps.
    pub traps: u64,
    /// The number of exceeded limits.
    pub over_limits: u64,
    /// The number of timeouts.
    pub timeouts: u64,
    /// The number of host calls denied by the component's grant.
    pub denials: u64,
    /// The peak memory of a call.
    pub memory_bytes: u64,
}

impl UsageSum {
    fn add(&mut self, usage: &Usage) {
        self.calls += 1;
        self.denials += usage.denials;
        self.memory_bytes = self.memory_bytes.max(usage.memory_bytes);
        match usage.failure {
            Some(Failure::Trap) => self.traps += 1,
            Some(Failure::OverLimit) => self.over_limits += 1,
            Some(Failure::TimedOut) => self.timeouts += 1,
            None => {}
        }
    }
}

/// The durations of the latest calls of a domain, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Durations {
    /// The median.
    pub p50_ms: f64,
    /// The 99th percentile.
    pub p99_ms: f64,
}

/// Adds the usage of some calls. They are summed up first, because most are of few components.
pub(super) fn add(transaction: &Transaction<'_>, batch: &[Entry]) -> rusqlite::Result<()> {
    let mut sums: HashMap<(&str, &str), UsageSum> = HashMap::new();
    for entry in batch {
        if let Some(usage) = &entry.usage {
            sums.entry((&entry.domain, &usage.digest))
                .or_default()
                .add(usage);
        }
    }
    let mut put = transaction.prepare_cached(
        "INSERT INTO component_usage VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO UPDATE SET
             calls = calls + ?3, traps = traps + ?4, over_limits = over_limits + ?5, timeouts = timeouts + ?6,
             denials = denials + ?7, memory_bytes = max(memory_bytes, ?8)",
    )?;
    for ((component, digest), sum) in sums {
        let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        put.execute(params![
            component,
            digest,
            number(sum.calls),
            number(sum.traps),
            number(sum.over_limits),
            number(sum.timeouts),
            number(sum.denials),
            number(sum.memory_bytes),
        ])?;
    }
    Ok(())
}

/// The total usage of components, by name and digest.
pub fn usage(database: &Database) -> Result<HashMap<(String, String), UsageSum>, DatabaseError> {
    database.with(|connection| {
        let mut statement = connection.prepare_cached(
            "SELECT component, digest, calls, traps, over_limits, timeouts, denials, memory_bytes FROM component_usage",
        )?;
        let rows = statement.query_map([], |row| {
            let number = |column: usize| -> rusqlite::Result<u64> {
                Ok(u64::try_from(row.get::<_, i64>(column)?).unwrap_or_default())
            };
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

/// The durations of the latest calls, by domain and version.
pub fn durations(
    database: &Database,
) -> Result<HashMap<(String, String), Durations>, DatabaseError> {
    let rows: Vec<(String, String, i64)> = database.with(|connection| {
        let mut statement = connection.prepare_cached(
            "SELECT domain, version, microseconds FROM audit
             WHERE version IS NOT NULL AND number > (SELECT coalesce(max(number), 0) FROM audit) - ?1",
        )?;
        let rows = statement.query_map([MEASURED_CALLS], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
        rows.collect()
    })?;
    let mut gathered: HashMap<(String, String), Vec<i64>> = HashMap::new();
    for (domain, version, microseconds) in rows {
        gathered
            .entry((domain, version))
            .or_default()
            .push(microseconds);
    }
    let measured = gathered.into_iter().map(|(which, mut taken)| {
        taken.sort_unstable();
        let durations = Durations {
            p50_ms: super::stats::percentile(&taken, 50),
            p99_ms: super::stats::percentile(&taken, 99),
        };
        (which, durations)
    });
    Ok(measured.collect())
}
