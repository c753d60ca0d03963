//! Limits on what one caller may send at once. Before a body is read, its request counts against the caller's rate and
//! requests in flight; while it is read, its bytes count against the budgets of all callers and of this caller, and its
//! JSON tokens are counted, so that a body over a bound is refused before the rest is received. Bodies of ordinary size
//! are always accepted, so callers that send large ones never lock out others.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::header::RETRY_AFTER;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use http_body_util::BodyExt as _;
use parking_lot::{Mutex, MutexGuard};

use super::body::holding;
use super::entry::refusal;
use crate::limits::bounds::{
    MAX_MESSAGE_BYTES, MAX_PLAIN_MESSAGE_BYTES, Outline, OverBounds, Scan,
};
use crate::limits::message_limit;
use notehost_pipeline::Host;
use notehost_policy::auth::Caller;

/// The time limit for sending a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// A body up to this size is not counted: it is smaller than what a connection takes anyway.
const UNCOUNTED_BYTES: usize = 64 << 10;
/// The memory budget of all larger bodies in flight, including what is parsed from them.
const MAX_BYTES_IN_FLIGHT: usize = 512 << 20;
/// The budget of one caller: one message of the maximum size, including what is parsed from it.
const MAX_BYTES_OF_ONE: usize = 160 << 20;
/// How often the bytes of a message are in memory at once while it is a call: as received, as parsed, as the arguments'
/// text, and as what the guest is handed.
const COPIES: usize = 4;
/// The memory of a JSON value besides its text.
const BYTES_PER_TOKEN: usize = 256;
/// How many requests of one caller may be in flight. What waits for events (GET) is not counted: there is one for each session.
const MAX_REQUESTS_OF_ONE: usize = 1024;

/// The requests and bytes in flight, by caller.
pub(super) struct Intake {
    host: Arc<Host>,
    in_flight: Arc<Mutex<InFlight>>,
}

#[derive(Default)]
struct InFlight {
    bytes: usize,
    by_caller: HashMap<String, Share>,
}

#[derive(Default)]
struct Share {
    requests: usize,
    bytes: usize,
}

impl Intake {
    pub(super) fn new(host: Arc<Host>) -> Arc<Intake> {
        Arc::new(Intake {
            host,
            in_flight: Arc::default(),
        })
    }

    /// Counts a request, or refuses it.
    fn admit(&self, caller: &Caller) -> Result<Ticket, Refusal> {
        let settings = self.host.settings();
        let key = caller.key();
        let rates = self.host.rates();
        rates
            .take_request(&key, &settings.rates)
            .map_err(|wait_ms| Refusal::TooMany { wait_ms })?;
        Ticket::new(self.in_flight.clone(), key).ok_or(Refusal::InFlight)
    }

    async fn read(
        &self,
        caller: &Caller,
        headers: &HeaderMap,
        body: Body,
        ticket: &mut Ticket,
    ) -> Result<Bytes, Refusal> {
        // Requests of the revision without sessions name their method.
        let method = headers.get("mcp-method");
        let most = match method {
            Some(method) if method.as_bytes() != b"tools/call" => MAX_PLAIN_MESSAGE_BYTES,
            _ => MAX_MESSAGE_BYTES,
        };
        // A body that declares a size over the limit is not read.
        if usize::try_from(body.size_hint().lower()).is_ok_and(|least| least > most) {
            return Err(Refusal::Over(OverBounds::Bytes(most)));
        }
        let received = tokio::time::timeout(BODY_TIMEOUT, received(body, most, ticket));
        let (bytes, outline) = received.await.map_err(|_| Refusal::Slow)??;
        message_limit::check(&self.host, caller, &outline, bytes.len()).map_err(Refusal::Over)?;
        ticket.hold(bytes.len() * COPIES + outline.tokens * BYTES_PER_TOKEN)?;
        Ok(bytes)
    }
}

/// Reads the whole body and its outline. It is scanned while it arrives: a body over a bound is not received any
/// further.
async fn received(
    mut body: Body,
    most: usize,
    ticket: &mut Ticket,
) -> Result<(Bytes, Outline), Refusal> {
    let mut bytes = Vec::new();
    let mut scan = Scan::default();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Refusal::Unfinished)?;
        let Ok(part) = frame.into_data() else {
            continue;
        };
        let length = bytes.len() + part.len();
        if length > most {
            return Err(Refusal::Over(OverBounds::Bytes(most)));
        }
        ticket.hold(length)?;
        scan.push(&part);
        scan.check().map_err(Refusal::Over)?;
        bytes.extend_from_slice(&part);
    }
    Ok((bytes.into(), scan.finish()))
}

/// Why a request is refused before its message is parsed.
#[derive(Debug, PartialEq, Eq)]
enum Refusal {
    TooMany { wait_ms: u64 },
    InFlight,
    Busy,
    Over(OverBounds),
    Slow,
    Unfinished,
}

impl Refusal {
    fn response(self) -> Response {
        match self {
            Refusal::TooMany { wait_ms } => later(
                refusal(
                    StatusCode::TOO_MANY_REQUESTS,
                    "throttled",
                    &format!("too many requests: try again in {wait_ms} ms"),
                ),
                wait_ms.div_ceil(1000),
            ),
            Refusal::InFlight => later(
                refusal(
                    StatusCode::TOO_MANY_REQUESTS,
                    "throttled",
                    &format!(
                        "this caller has {MAX_REQUESTS_OF_ONE} requests in flight: wait for their responses"
                    ),
                ),
                1,
            ),
            Refusal::Busy => later(
                refusal(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "unavailable",
                    "too many large messages are in flight: try again",
                ),
                1,
            ),
            Refusal::Over(bound) => refusal(
                StatusCode::PAYLOAD_TOO_LARGE,
                "too_large",
                &bound.to_string(),
            ),
            Refusal::Slow => refusal(
                StatusCode::REQUEST_TIMEOUT,
                "timeout",
                "the body did not arrive in time",
            ),
            Refusal::Unfinished => refusal(
                StatusCode::BAD_REQUEST,
                "validation_error",
                "the body ended before it was complete",
            ),
        }
    }
}

fn later(mut answer: Response, seconds: u64) -> Response {
    if let Ok(seconds) = HeaderValue::from_str(&seconds.max(1).to_string()) {
        answer.headers_mut().insert(RETRY_AFTER, seconds);
    }
    answer
}

/// Reads the body of a request, so that a slow client delays only itself.
pub(super) async fn take_in(
    State(intake): State<Arc<Intake>>,
    request: Request,
    next: Next,
) -> Response {
    // What only waits for events has no body; it is counted by its session.
    if request.method() == Method::GET {
        return next.run(request).await;
    }
    let Some(caller) = request.extensions().get::<Caller>().cloned() else {
        return refusal(StatusCode::UNAUTHORIZED, "unauthorized", "nobody calls");
    };
    let mut ticket = match intake.admit(&caller) {
        Ok(ticket) => ticket,
        Err(refused) => return refused.response(),
    };
    let (parts, body) = request.into_parts();
    let bytes = match intake
        .read(&caller, &parts.headers, body, &mut ticket)
        .await
    {
        Ok(bytes) => bytes,
        Err(refused) => return refused.response(),
    };
    let is_large = ticket.bytes > 0;
    let ticket = Arc::new(ticket);
    let mut request = Request::from_parts(parts, Body::from(bytes));
    if is_large {
        // The call may continue after the response was sent (a task) or the connection was closed.
        request.extensions_mut().insert(ticket.clone());
    }
    let response = next.run(request).await;
    // An answer that is a stream goes on after this.
    response.map(|body| holding(body, ticket))
}

/// A request that is in flight until this is dropped.
#[derive(Debug)]
struct Ticket {
    in_flight: Arc<Mutex<InFlight>>,
    caller: String,
    bytes: usize,
}

impl std::fmt::Debug for InFlight {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} bytes", self.bytes)
    }
}

impl Ticket {
    fn new(in_flight: Arc<Mutex<InFlight>>, caller: String) -> Option<Ticket> {
        {
            let mut held = lock(&in_flight);
            let share = held.by_caller.entry(caller.clone()).or_default();
            if share.requests >= MAX_REQUESTS_OF_ONE {
                return None;
            }
            share.requests += 1;
        }
        Some(Ticket {
            in_flight,
            caller,
            bytes: 0,
        })
    }

    /// Counts a message of so many bytes, in place of what was counted before.
    fn hold(&mut self, bytes: usize) -> Result<(), Refusal> {
        if bytes <= UNCOUNTED_BYTES.max(self.bytes) {
            return Ok(());
        }
        let more = bytes - self.bytes;
        let mut held = lock(&self.in_flight);
        let in_all = held.bytes + more;
        let share = held.by_caller.entry(self.caller.clone()).or_default();
        if in_all > MAX_BYTES_IN_FLIGHT || share.bytes + more > MAX_BYTES_OF_ONE {
            return Err(Refusal::Busy);
        }
        share.bytes += more;
        held.bytes = in_all;
        self.bytes = bytes;
        Ok(())
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut held = lock(&self.in_flight);
        held.bytes = held.bytes.saturating_sub(self.bytes);
        let Some(share) = held.by_caller.get_mut(&self.caller) else {
            return;
        };
        share.bytes = share.bytes.saturating_sub(self.bytes);
        share.requests = share.requests.saturating_sub(1);
        if share.requests == 0 {
            held.by_caller.remove(&self.caller);
        }
    }
}

fn lock(in_flight: &Mutex<InFlight>) -> MutexGuard<'_, InFlight> {
    in_flight.lock()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::bounds::MAX_TOKENS;

    #[test]
    fn one_caller_cannot_exhaust_the_byte_budget() {
        let in_flight = Arc::new(Mutex::new(InFlight::default()));
        let ticket = |caller: &str| Ticket::new(in_flight.clone(), caller.to_owned());
        let mut held = Vec::new();
        loop {
            let mut large = ticket("mallory").expect("few requests");
            match large.hold(MAX_MESSAGE_BYTES * COPIES) {
                Ok(()) => held.push(large),
                Err(refused) => break assert_eq!(refused, Refusal::Busy),
            }
        }
        assert_eq!(held.len(), 1);
        let mut own = ticket("mallory").expect("few requests");
        own.hold(UNCOUNTED_BYTES).expect("small ones are taken");
        let mut other = ticket("ana").expect("few requests");
        other
            .hold(MAX_MESSAGE_BYTES * COPIES + MAX_TOKENS * BYTES_PER_TOKEN)
            .expect("others have room");
        drop((held, own, other));
        let left = lock(&in_flight);
        assert_eq!((left.bytes, left.by_caller.len()), (0, 0));
    }

    #[test]
    fn requests_in_flight_are_counted_per_caller() {
        let in_flight = Arc::new(Mutex::new(InFlight::default()));
        let ticket = |caller: &str| Ticket::new(in_flight.clone(), caller.to_owned());
        let held: Vec<Ticket> = (0..MAX_REQUESTS_OF_ONE)
            .map(|_| ticket("mallory").expect("a ticket"))
            .collect();
        assert!(ticket("mallory").is_none());
        assert!(ticket("ana").is_some());
        drop(held);
        assert!(ticket("mallory").is_some());
    }

    #[test]
    fn growing_messages_are_counted_once() {
        let in_flight = Arc::new(Mutex::new(InFlight::default()));
        let mut ticket = Ticket::new(in_flight.clone(), "ana".to_owned()).expect("a ticket");
        for bytes in [10, UNCOUNTED_BYTES + 1, 1 << 20, 1 << 20, 5, 2 << 20] {
            ticket.hold(bytes).expect("room");
        }
        assert_eq!(lock(&in_flight).bytes, 2 << 20);
    }
}
