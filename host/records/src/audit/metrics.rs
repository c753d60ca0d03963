//! Metrics for Prometheus. Labels are names known to the host: neither callers nor notes can add new ones.

use std::sync::OnceLock;
use std::time::Instant;

use metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

use super::entry::Entry;

const CALLS: &str = "notehost_calls_total";
const DURATION: &str = "notehost_call_duration_seconds";
const WRITTEN: &str = "notehost_bytes_written_total";
const IN_FLIGHT: &str = "notehost_calls_in_flight";
const THROTTLED: &str = "notehost_throttled_total";
const CONFIRMATIONS: &str = "notehost_confirmations_asked_total";
const REQUESTS: &str = "notehost_component_requests_total";
const LOST: &str = "notehost_audit_lost_total";
const UPTIME: &str = "notehost_uptime_seconds";
const BUILD: &str = "notehost_build_info";

/// From a fast read to a call that is aborted by its time limit.
const BUCKETS: [f64; 14] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 2.5, 10.0,
];

struct Recorder {
    handle: Option<PrometheusHandle>,
    started: Instant,
}

/// Installs the recorder.
pub(super) fn begin() {
    recorder();
}

/// The recorder of this process, created on first use.
fn recorder() -> &'static Recorder {
    static RECORDER: OnceLock<Recorder> = OnceLock::new();
    RECORDER.get_or_init(|| {
        let handle = install()
            .inspect_err(|error| tracing::error!("metrics are not available: {error}"))
            .ok();
        Recorder {
            handle,
            started: Instant::now(),
        }
    })
}

fn install() -> Result<PrometheusHandle, String> {
    let recorder = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Full(DURATION.into()), &BUCKETS)
        .map_err(|error| error.to_string())?
        .build_recorder();
    let handle = recorder.handle();
    metrics::set_global_recorder(recorder).map_err(|error| error.to_string())?;
    describe_counter!(CALLS, "Calls by domain, action, outcome and transport");
    describe_histogram!(DURATION, "Duration of calls");
    describe_counter!(WRITTEN, "Bytes of notes written by calls");
    describe_gauge!(IN_FLIGHT, "Calls in progress");
    describe_counter!(THROTTLED, "Calls refused by rate limits");
    describe_counter!(
        CONFIRMATIONS,
        "Calls that required confirmation by a person"
    );
    describe_counter!(
        REQUESTS,
        "HTTP requests of components by outcome (sent or denied)"
    );
    describe_counter!(LOST, "Calls that could not be written to the audit log");
    describe_gauge!(UPTIME, "Uptime of this process");
    describe_gauge!(BUILD, "The version of Notehost");
    gauge!(BUILD, "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    // Counters are exported before their first increment.
    gauge!(IN_FLIGHT).set(0.0);
    for name in [WRITTEN, THROTTLED, CONFIRMATIONS, LOST] {
        counter!(name).increment(0);
    }
    Ok(handle)
}

/// Counts a call that has ended.
pub(super) fn count(entry: &Entry) {
    recorder();
    let (domain, action) = entry.known_names();
    let (domain, action) = (domain.to_owned(), action.to_owned());
    let seconds = entry.microseconds as f64 / 1e6;
    histogram!(DURATION, "domain" => domain.clone(), "action" => action.clone()).record(seconds);
    counter!(CALLS, "domain" => domain, "action" => action, "outcome" => entry.outcome,
        "transport" => entry.transport)
    .increment(1);
    counter!(WRITTEN).increment(entry.bytes_written);
    match entry.outcome {
        "throttled" => counter!(THROTTLED).increment(1),
        "confirmation_required" => counter!(CONFIRMATIONS).increment(1),
        _ => {}
    }
}

/// Counts an HTTP request of a component: `sent` or `denied`.
pub fn count_request(domain: &str, outcome: &'static str) {
    recorder();
    counter!(REQUESTS, "domain" => domain.to_owned(), "outcome" => outcome).increment(1);
}

/// Counts calls that could not be written to the audit log.
pub(super) fn count_lost(calls: u64) {
    recorder();
    counter!(LOST).increment(calls);
}

/// Compacts the samples of histograms, which otherwise grow until the metrics are read.
pub(super) fn run_upkeep() {
    if let Some(handle) = &recorder().handle {
        handle.run_upkeep();
    }
}

/// Counts a call as in progress until it is dropped.
pub struct InFlight(());

impl InFlight {
    /// Counts a call as in progress.
    pub fn begin() -> InFlight {
        recorder();
        gauge!(IN_FLIGHT).increment(1.0);
        InFlight(())
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        gauge!(IN_FLIGHT).decrement(1.0);
    }
}

/// All metrics in the Prometheus text format.
pub fn metrics_text() -> String {
    let recorder = recorder();
    gauge!(UPTIME).set(recorder.started.elapsed().as_secs_f64());
    let rendered = recorder.handle.as_ref().map(PrometheusHandle::render);
    rendered.unwrap_or_default()
}
