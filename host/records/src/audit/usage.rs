//! Resource usage and failures of components, summed up by component digest: of all calls ever made,
//! including those whose audit entries have been deleted.

use std::collections::HashMap;
use std::sync::Arc;

use super::entry::Entry;
use crate::store::{Records, RecordsError};

/// The number of latest calls that durations are computed from.
const MEASURED_CALLS: u32 = 100_000;

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

/// The usage of some calls by component and digest: most calls of a batch are of few components.
pub(crate) fn usage_sums(batch: &[Entry]) -> HashMap<(&str, &str), UsageSum> {
    let mut sums: HashMap<(&str, &str), UsageSum> = HashMap::new();
    for entry in batch {
        if let Some(usage) = &entry.usage {
            sums.entry((&entry.domain, &usage.digest))
                .or_default()
                .add(usage);
        }
    }
    sums
}

/// The durations of the latest calls, by domain and version.
pub fn durations(
    records: &dyn Records,
) -> Result<HashMap<(String, String), Durations>, RecordsError> {
    let mut by_version: HashMap<(String, String), Vec<i64>> = HashMap::new();
    for call in records.call_durations(MEASURED_CALLS)? {
        by_version
            .entry((call.domain, call.version))
            .or_default()
            .push(call.microseconds);
    }
    let measured = by_version.into_iter().map(|(version, mut durations)| {
        durations.sort_unstable();
        let durations = Durations {
            p50_ms: super::stats::percentile(&durations, 50),
            p99_ms: super::stats::percentile(&durations, 99),
        };
        (version, durations)
    });
    Ok(measured.collect())
}
