//! The audit log of every call, including refused and failed ones: caller, action, duration, outcome. Never the
//! content of notes. The same entry is a row of the records, a metric for Prometheus and, if a collector is
//! configured, a span.

mod component_log;
mod counts;
mod entry;
mod events;
mod metrics;
mod query;
mod stats;
mod trace;
mod usage;
mod writer;

pub use component_log::{ComponentLogs, LogFollower, LogLine, log_lines};
pub use entry::{AUDIT_TABLE, Entry, Row};
pub use events::{Event, EventKind, Events};
pub use metrics::{InFlight, count_request, metrics_text};
pub use query::{Filter, after, latest, latest_number};
pub use stats::{By, Group, Outcome, Part, Statistics, statistics};
pub use usage::{Durations, Failure, USAGE_TABLE, Usage, UsageSum, durations, usage};

/// The tables of the audit log.
pub const TABLES: [&str; 2] = [AUDIT_TABLE, USAGE_TABLE];

use std::sync::Arc;

use arc_swap::{ArcSwap, ArcSwapOption};

use crate::database::{Database, DatabaseError};
use counts::Counts;
use notehost_config::{AuditSettings, Settings};
use trace::Traces;
use writer::Writer;

/// Writes the audit log without delaying calls. Pending entries are written on drop.
pub struct Audit {
    writer: Writer,
    kept: Arc<ArcSwap<AuditSettings>>,
    traces: ArcSwapOption<Traces>,
    events: Events,
    counts: Counts,
}

impl Audit {
    /// Starts writing to these records.
    pub fn start(database: &Database, settings: &Settings) -> Result<Audit, DatabaseError> {
        metrics::begin();
        let kept = Arc::new(ArcSwap::from_pointee(settings.audit.clone()));
        let audit = Audit {
            writer: Writer::start(database, kept.clone())?,
            kept,
            traces: ArcSwapOption::empty(),
            events: Events::default(),
            counts: Counts::new(database.reopen()?),
        };
        audit.apply(settings);
        Ok(audit)
    }

    /// Applies changed settings.
    pub fn apply(&self, settings: &Settings) {
        self.kept.store(Arc::new(settings.audit.clone()));
        let endpoint = settings.telemetry.otlp_endpoint.as_deref();
        let current = self.traces.load();
        if current.as_ref().map(|traces| traces.endpoint()) == endpoint {
            return;
        }
        let started = endpoint.and_then(|endpoint| {
            Traces::start(endpoint)
                .inspect_err(|error| tracing::warn!("cannot send traces: {error}"))
                .ok()
        });
        self.traces.store(started.map(Arc::new));
    }

    /// Writes one call.
    pub fn write(&self, entry: Entry) {
        let (domain, action) = entry.known_names();
        tracing::debug!(
            caller = entry.caller,
            domain,
            action,
            outcome = entry.outcome,
            microseconds = entry.microseconds,
            "call"
        );
        metrics::count(&entry);
        if let Some(traces) = self.traces.load().as_ref() {
            traces.send(&entry);
        }
        self.events.publish(entry.time, EventKind::from(&entry));
        self.counts.write(&self.writer, entry);
    }

    /// The live events.
    pub fn events(&self) -> &Events {
        &self.events
    }

    /// The number of successful calls of a caller in a vault so far.
    pub fn calls_of(&self, caller: &str, vault: &str) -> u64 {
        let counted = self.counts.of(&self.writer, caller, vault);
        let counted = counted.inspect_err(|error| tracing::warn!("cannot count calls: {error}"));
        counted.unwrap_or_default()
    }

    /// Waits until everything is written.
    pub fn flush(&self) {
        self.writer.flush();
    }
}

impl Drop for Audit {
    fn drop(&mut self) {
        if let Some(traces) = self.traces.swap(None) {
            traces.finish();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::now_ms;

    fn entry(number: i64) -> Entry {
        Entry {
            time: now_ms(),
            caller: format!("caller {number}"),
            transport: "cli",
            outcome: "ok",
            ..Entry::default()
        }
    }

    fn callers(database: &Database) -> Vec<String> {
        let rows = after(database, &Filter::default(), 0, 100_000).expect("rows");
        rows.into_iter().map(|row| row.caller).collect()
    }

    #[test]
    fn everything_is_there_after_a_flush_in_order() {
        let state = tempfile::tempdir().expect("a folder");
        let database = Database::open(state.path(), &TABLES).expect("records");
        let audit = Audit::start(&database, &Settings::default()).expect("it starts");
        // More than wait in the channel: some have to wait for room.
        (0..20_000).for_each(|number| audit.write(entry(number)));
        audit.flush();
        let found = callers(&database);
        let wanted: Vec<String> = (0..20_000)
            .map(|number| format!("caller {number}"))
            .collect();
        assert!(found == wanted, "{} rows", found.len());
    }

    #[test]
    fn successful_calls_are_counted_once() {
        let state = tempfile::tempdir().expect("a folder");
        let database = Database::open(state.path(), &TABLES).expect("records");
        let call = |outcome: &'static str| Entry {
            caller: "ana".into(),
            vault: Some("main".into()),
            outcome,
            ..entry(0)
        };
        let audit = Audit::start(&database, &Settings::default()).expect("it starts");
        (0..3).for_each(|_| audit.write(call("ok")));
        assert_eq!(audit.calls_of("ana", "main"), 3, "by the records");
        audit.write(call("ok"));
        audit.write(call("not_found"));
        assert_eq!(audit.calls_of("ana", "main"), 4, "in memory");
        assert_eq!(audit.calls_of("ana", "other"), 0);
        assert_eq!(audit.calls_of("ben", "main"), 0);
        drop(audit);
        let again = Audit::start(&database, &Settings::default()).expect("it starts");
        assert_eq!(again.calls_of("ana", "main"), 4, "after a restart");
    }

    #[test]
    fn changed_settings_apply_while_running() {
        let state = tempfile::tempdir().expect("a folder");
        let database = Database::open(state.path(), &TABLES).expect("records");
        let mut settings = Settings::default();
        let audit = Audit::start(&database, &settings).expect("it starts");
        (0..50).for_each(|number| audit.write(entry(number)));
        audit.flush();
        assert_eq!(callers(&database).len(), 50);
        settings.audit.keep_rows = 3;
        audit.apply(&settings);
        audit.write(entry(50));
        drop(audit);
        assert_eq!(callers(&database), ["caller 48", "caller 49", "caller 50"]);
    }
}
