//! A span per call, with one per stage below it, for an OTLP collector, sent by a separate thread. A slow or unreachable collector does not delay
//! calls: spans that it does not accept in time are dropped, which is logged once.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant, SystemTime};

use opentelemetry::trace::{
    SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState,
};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_otlp::{Protocol, RetryPolicy, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanExporter as _, SpanLinks};

use super::entry::{Entry, StageTime};
use notehost_platform::random;

/// The maximum number of queued spans; more are dropped.
const QUEUE_CAPACITY: usize = 8192;
/// The maximum number of spans per request.
const BATCH_SIZE: usize = 256;
/// How long spans are batched before they are sent.
const BATCH_DELAY: Duration = Duration::from_millis(500);
/// The timeout of a request to the collector.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(3);
/// How long sending the remaining spans may delay the end of the process.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);

enum Message {
    Span(Box<SpanData>),
    /// Sends all queued spans, and signals completion.
    Flush(SyncSender<()>),
}

/// The handle of the sending thread.
pub(super) struct Traces {
    endpoint: String,
    scope: InstrumentationScope,
    sender: SyncSender<Message>,
}

impl Traces {
    /// Starts sending to a collector.
    pub(super) fn start(endpoint: &str) -> Result<Traces, String> {
        let mut exporter = opentelemetry_otlp::SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(traces_url(endpoint)?)
            .with_timeout(EXPORT_TIMEOUT)
            .with_retry_policy(RetryPolicy::disabled())
            .build()
            .map_err(|error| error.to_string())?;
        let version = env!("CARGO_PKG_VERSION");
        exporter.set_resource(
            &Resource::builder_empty()
                .with_service_name("notehost")
                .with_attribute(KeyValue::new("service.version", version))
                .build(),
        );
        // The exporter's client needs a tokio runtime, and must not share that of calls.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let (sender, receiver) = sync_channel(QUEUE_CAPACITY);
        std::thread::Builder::new()
            .name("notehost-traces".into())
            .spawn(move || {
                let mut has_warned = false;
                gather(&receiver, |batch| {
                    let sent = runtime.block_on(exporter.export(batch));
                    if let Err(error) = sent
                        && !std::mem::replace(&mut has_warned, true)
                    {
                        tracing::warn!("cannot send traces, dropping them: {error}");
                    }
                });
            })
            .map_err(|error| error.to_string())?;
        Ok(Traces {
            endpoint: endpoint.to_owned(),
            scope: InstrumentationScope::builder("notehost")
                .with_version(version)
                .build(),
            sender,
        })
    }

    /// The endpoint of the collector.
    pub(super) fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Queues the span of a call that has ended. Never blocks.
    pub(super) fn send(&self, entry: &Entry) {
        let parent = entry.traceparent.as_deref().and_then(Parent::parse);
        // The caller that started this trace decided not to sample it.
        if parent.as_ref().is_some_and(|parent| !parent.is_sampled) {
            return;
        }
        let Some(call) = self.span(entry, parent) else {
            return;
        };
        let stages = entry.stages.iter();
        let stages: Vec<SpanData> = stages
            .filter_map(|stage| self.stage_span(&call, stage))
            .collect();
        for span in std::iter::once(call).chain(stages) {
            let _ = self.sender.try_send(Message::Span(Box::new(span)));
        }
    }

    /// Sends the remaining spans, within the shutdown grace.
    pub(super) fn finish(&self) {
        let (done, sent) = sync_channel(1);
        if self.sender.try_send(Message::Flush(done)).is_ok() {
            let _ = sent.recv_timeout(SHUTDOWN_GRACE);
        }
    }

    /// The span of a stage, below that of its call.
    fn stage_span(&self, call: &SpanData, stage: &StageTime) -> Option<SpanData> {
        let id: [u8; 8] = random::bytes().ok()?;
        let start = call.start_time + Duration::from_micros(stage.start);
        let context = SpanContext::new(
            call.span_context.trace_id(),
            SpanId::from_bytes(id),
            TraceFlags::SAMPLED,
            false,
            TraceState::default(),
        );
        Some(SpanData {
            span_context: context,
            parent_span_is_remote: false,
            parent_span_id: call.span_context.span_id(),
            span_kind: SpanKind::Internal,
            name: format!("notehost.{}", stage.name).into(),
            start_time: start,
            end_time: start + Duration::from_micros(stage.microseconds),
            attributes: Vec::new(),
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: Status::Unset,
            instrumentation_scope: self.scope.clone(),
        })
    }

    fn span(&self, entry: &Entry, parent: Option<Parent>) -> Option<SpanData> {
        let random: [u8; 24] = random::bytes().ok()?;
        let (span, trace) = random.split_at(8);
        let trace = match &parent {
            Some(parent) => parent.trace,
            None => TraceId::from_bytes(trace.try_into().ok()?),
        };
        let span = SpanId::from_bytes(span.try_into().ok()?);
        let (domain, action) = entry.known_names();
        let start = SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(entry.time).ok()?);
        let mut attributes = vec![
            KeyValue::new("notehost.transport", entry.transport),
            KeyValue::new("notehost.outcome", entry.outcome),
            KeyValue::new(
                "notehost.duration_us",
                i64::try_from(entry.microseconds).unwrap_or(i64::MAX),
            ),
        ];
        if let Some(version) = &entry.version {
            attributes.push(KeyValue::new("notehost.component.version", version.clone()));
        }
        let name = format!("{domain}.{action}");
        attributes.push(KeyValue::new("notehost.domain", domain.to_owned()));
        attributes.push(KeyValue::new("notehost.action", action.to_owned()));
        Some(SpanData {
            span_context: SpanContext::new(
                trace,
                span,
                TraceFlags::SAMPLED,
                false,
                TraceState::default(),
            ),
            parent_span_is_remote: parent.is_some(),
            parent_span_id: parent.map_or(SpanId::INVALID, |parent| parent.span),
            span_kind: SpanKind::Server,
            name: name.into(),
            start_time: start,
            end_time: start + Duration::from_micros(entry.microseconds),
            attributes,
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: match entry.outcome {
                "ok" => Status::Ok,
                code => Status::error(code),
            },
            instrumentation_scope: self.scope.clone(),
        })
    }
}

/// Batches spans and sends them.
fn gather(receiver: &Receiver<Message>, mut send: impl FnMut(Vec<SpanData>)) {
    let mut batch = Vec::new();
    let mut until = Instant::now();
    loop {
        let left = match batch.is_empty() {
            true => Duration::from_secs(3600),
            false => until.saturating_duration_since(Instant::now()),
        };
        let mut waiting = None;
        let is_over = match receiver.recv_timeout(left) {
            Ok(Message::Span(span)) => {
                if batch.is_empty() {
                    until = Instant::now() + BATCH_DELAY;
                }
                batch.push(*span);
                if batch.len() < BATCH_SIZE {
                    continue;
                }
                false
            }
            Ok(Message::Flush(done)) => {
                waiting = Some(done);
                false
            }
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => true,
        };
        if !batch.is_empty() {
            send(std::mem::take(&mut batch));
        }
        if let Some(done) = waiting {
            let _ = done.send(());
        }
        if is_over {
            return;
        }
    }
}

/// The URL for traces of a collector.
fn traces_url(endpoint: &str) -> Result<String, String> {
    let endpoint = endpoint.trim_end_matches('/');
    if !endpoint.starts_with("http://") {
        return Err(format!(
            "`{endpoint}` is not a plain HTTP URL, such as `http://localhost:4318`"
        ));
    }
    Ok(match endpoint.ends_with("/v1/traces") {
        true => endpoint.to_owned(),
        false => format!("{endpoint}/v1/traces"),
    })
}

/// The caller's span.
#[derive(Debug, PartialEq)]
struct Parent {
    trace: TraceId,
    span: SpanId,
    is_sampled: bool,
}

impl Parent {
    /// Parses `00-<trace>-<span>-<flags>`. It comes from a caller: anything else is ignored.
    fn parse(text: &str) -> Option<Parent> {
        let parts: Vec<&str> = text.trim().split('-').collect();
        let [version, trace, span, flags, rest @ ..] = parts.as_slice() else {
            return None;
        };
        let is_hex = |text: &str, length: usize| {
            text.len() == length
                && text
                    .bytes()
                    .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        let is_sound = is_hex(version, 2)
            && *version != "ff"
            && (rest.is_empty() || *version != "00")
            && is_hex(trace, 32)
            && is_hex(span, 16)
            && is_hex(flags, 2);
        if !is_sound {
            return None;
        }
        let (trace, span) = (TraceId::from_hex(trace).ok()?, SpanId::from_hex(span).ok()?);
        (trace != TraceId::INVALID && span != SpanId::INVALID).then_some(Parent {
            trace,
            span,
            is_sampled: u8::from_str_radix(flags, 16).ok()? & 1 == 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_valid_traceparent_is_accepted() {
        let sound = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let parent = Parent::parse(sound).expect("sound");
        assert!(parent.is_sampled);
        assert_eq!(parent.trace.to_string(), "0af7651916cd43dd8448eb211c80319c");
        assert_eq!(parent.span.to_string(), "b7ad6b7169203331");
        assert!(
            !Parent::parse(&sound.replace("-01", "-00"))
                .expect("sound")
                .is_sampled
        );
        for broken in [
            "",
            "00",
            "00-0-0-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
        ] {
            assert_eq!(Parent::parse(broken), None, "{broken}");
        }
    }

    #[test]
    fn an_endpoint_is_a_collector_or_its_traces() {
        for endpoint in ["http://a:1", "http://a:1/", "http://a:1/v1/traces"] {
            assert_eq!(traces_url(endpoint).as_deref(), Ok("http://a:1/v1/traces"));
        }
        assert!(traces_url("https://a").is_err());
        assert!(traces_url("localhost:4318").is_err());
    }
}
