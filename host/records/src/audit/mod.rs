//! The audit log of every call, including refused and failed ones: caller, action, duration, outcome. Never the
//! content of notes. The same entry is a row of the records, a metric for Prometheus and, if a collector is
//! configured, a span.

mod component_log;
mod counts;
mod entry;
mod events;
mod filter;
mod metrics;
mod stats;
mod trace;
mod usage;
mod writer;

pub use component_log::{ComponentLogs, LogFollower, LogLine, log_lines};
pub use entry::{Entry, Row, StageTime};
pub use events::{Event, EventKind, Events};
pub use filter::Filter;
pub use metrics::{InFlight, count_request, metrics_text};
pub use stats::{By, Group, Outcome, Part, Statistics, statistics};
pub(crate) use usage::usage_sums;
pub use usage::{Durations, Failure, Usage, UsageSum, durations};

use std::sync::Arc;

use arc_swap::{ArcSwap, ArcSwapOption};

use crate::store::{Records, RecordsError};
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
    pub fn start(records: &dyn Records, settings: &Settings) -> Result<Audit, RecordsError> {
        metrics::begin();
        let kept = Arc::new(ArcSwap::from_pointee(settings.audit.clone()));
        let audit = Audit {
            writer: Writer::start(records, kept.clone())?,
            kept,
            traces: ArcSwapOption::empty(),
            events: Events::default(),
            counts: Counts::new(records.reopen()?),
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

    /// Whether a collector gets traces, so that it is worth measuring the stages of calls.
    pub fn is_traced(&self) -> bool {
        self.traces.load().is_some()
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
    use notehost_platform::clock::now_ms;

    fn entry(number: i64) -> Entry {
        Entry {
            time: now_ms(),
            caller: format!("caller {number}"),
            transport: "cli",
            outcome: "ok",
            ..Entry::default()
        }
    }

    fn callers(records: &dyn Records) -> Vec<String> {
        let rows = records.calls_after(&Filter::default(), 0, 100_000);
        let rows = rows.expect("rows");
        rows.into_iter().map(|row| row.caller).collect()
    }

    #[test]
    fn everything_is_there_after_a_flush_in_order() {
        let state = tempfile::tempdir().expect("a folder");
        let records = crate::open(state.path()).expect("records");
        let audit = Audit::start(&*records, &Settings::default()).expect("it starts");
        // More than wait in the channel: some have to wait for room.
        (0..20_000).for_each(|number| audit.write(entry(number)));
        audit.flush();
        let found = callers(&*records);
        let wanted: Vec<String> = (0..20_000)
            .map(|number| format!("caller {number}"))
            .collect();
        assert!(found == wanted, "{} rows", found.len());
    }

    #[test]
    fn successful_calls_are_counted_once() {
        let state = tempfile::tempdir().expect("a folder");
        let records = crate::open(state.path()).expect("records");
        let call = |outcome: &'static str| Entry {
            caller: "ana".into(),
            vault: Some("main".into()),
            outcome,
            ..entry(0)
        };
        let audit = Audit::start(&*records, &Settings::default()).expect("it starts");
        (0..3).for_each(|_| audit.write(call("ok")));
        assert_eq!(audit.calls_of("ana", "main"), 3, "by the records");
        audit.write(call("ok"));
        audit.write(call("not_found"));
        assert_eq!(audit.calls_of("ana", "main"), 4, "in memory");
        assert_eq!(audit.calls_of("ana", "other"), 0);
        assert_eq!(audit.calls_of("ben", "main"), 0);
        drop(audit);
        let again = Audit::start(&*records, &Settings::default()).expect("it starts");
        assert_eq!(again.calls_of("ana", "main"), 4, "after a restart");
    }

    #[test]
    fn changed_settings_apply_while_running() {
        let state = tempfile::tempdir().expect("a folder");
        let records = crate::open(state.path()).expect("records");
        let mut settings = Settings::default();
        let audit = Audit::start(&*records, &settings).expect("it starts");
        (0..50).for_each(|number| audit.write(entry(number)));
        audit.flush();
        assert_eq!(callers(&*records).len(), 50);
        settings.audit.keep_rows = 3;
        audit.apply(&settings);
        audit.write(entry(50));
        drop(audit);
        assert_eq!(callers(&*records), ["caller 48", "caller 49", "caller 50"]);
    }
}
