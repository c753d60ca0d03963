//! Counts for Prometheus. Labels are names that the host knows: neither callers nor notes can make a new one.

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
const ASKED: &str = "notehost_confirmations_asked_total";
const REQUESTS: &str = "notehost_component_requests_total";
const LOST: &str = "notehost_audit_lost_total";
const UPTIME: &str = "notehost_uptime_seconds";
const BUILD: &str = "notehost_build_info";

/// From a fast read to a call that is ended for taking too long.
const BUCKETS: [f64; 14] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 2.5, 10.0,
];

struct Recorder {
    handle: Option<PrometheusHandle>,
    started: Instant,
}

/// Begin to count.
pub(super) fn begin() {
    recorder();
}

/// The one recorder of this process, made when it is first needed.
fn recorder() -> &'static Recorder {
    static RECORDER: OnceLock<Recorder> = OnceLock::new();
    RECORDER.get_or_init(|| {
        let handle = install()
            .inspect_err(|error| tracing::error!("there are no metrics: {error}"))
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
    describe_counter!(CALLS, "Calls, by what was asked for and what came of it");
    describe_histogram!(DURATION, "How long calls took");
    describe_counter!(WRITTEN, "Bytes of notes that calls wrote");
    describe_gauge!(IN_FLIGHT, "Calls that are being answered");
    describe_counter!(THROTTLED, "Calls that were refused for coming too often");
    describe_counter!(ASKED, "Calls that were held until a person approves");
    describe_counter!(
        REQUESTS,
        "HTTP requests that components wanted to send, by whether they were sent"
    );
    describe_counter!(LOST, "Calls that could not be written down");
    describe_gauge!(UPTIME, "How long this process has been running");
    describe_gauge!(BUILD, "Which Notehost this is");
    gauge!(BUILD, "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    // What has not happened yet is told as well.
    gauge!(IN_FLIGHT).set(0.0);
    for name in [WRITTEN, THROTTLED, ASKED, LOST] {
        counter!(name).increment(0);
    }
    Ok(handle)
}

/// Count a call that has ended.
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
        "confirmation_required" => counter!(ASKED).increment(1),
        _ => {}
    }
}

/// Count a request that a component wanted to send: `sent` or `denied`.
pub fn count_request(domain: &str, outcome: &'static str) {
    recorder();
    counter!(REQUESTS, "domain" => domain.to_owned(), "outcome" => outcome).increment(1);
}

/// Count calls that could not be written down.
pub(super) fn lost(calls: u64) {
    recorder();
    counter!(LOST).increment(calls);
}

/// Put away what was counted since nobody asked.
pub(super) fn tidy() {
    if let Some(handle) = &recorder().handle {
        handle.run_upkeep();
    }
}

/// A call that is being answered, as long as this lives.
pub struct InFlight(());

impl InFlight {
    /// A call begins.
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

/// Everything that was counted, as Prometheus reads it.
pub fn metrics_text() -> String {
    let recorder = recorder();
    gauge!(UPTIME).set(recorder.started.elapsed().as_secs_f64());
    let rendered = recorder.handle.as_ref().map(PrometheusHandle::render);
    rendered.unwrap_or_default()
}
