//! Bodies: a request's is read whole before anybody works on it, in bounded size and time; a response's is waited for
//! when it is time to stop.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::{Method, StatusCode};
use http_body::{Frame, SizeHint};
use tokio::sync::watch;

use super::super::MESSAGE_BYTES;
use super::entry::refusal;

/// How long a client may take to send a body.
const BODY: Duration = Duration::from_secs(30);

/// Read the body of a request, so that a client that sends it byte by byte holds up nobody but itself.
pub(super) async fn take_in(request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let too_large = || {
        refusal(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too_large",
            &format!("a message may have {MESSAGE_BYTES} bytes"),
        )
    };
    // What says itself that it is too large need not be read.
    if usize::try_from(body.size_hint().lower()).is_ok_and(|least| least > MESSAGE_BYTES) {
        return too_large();
    }
    match tokio::time::timeout(BODY, to_bytes(body, MESSAGE_BYTES)).await {
        Ok(Ok(bytes)) => {
            next.run(Request::from_parts(parts, Body::from(bytes)))
                .await
        }
        Ok(Err(error)) if is_length_limit(&error) => too_large(),
        Ok(Err(_)) => refusal(
            StatusCode::BAD_REQUEST,
            "validation_error",
            "the body ended before it was whole",
        ),
        Err(_) => refusal(
            StatusCode::REQUEST_TIMEOUT,
            "timeout",
            "the body did not arrive in time",
        ),
    }
}

fn is_length_limit(error: &axum::Error) -> bool {
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = cause {
        if error.to_string().contains("length limit") {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Keeps a receiver of the channel until a request's answer was sent whole: the channel is closed when nothing is in
/// flight. A GET only waits for events.
pub(super) async fn hold_in_flight(
    State(in_flight): State<Arc<watch::Sender<()>>>,
    request: Request,
    next: Next,
) -> Response {
    if request.method() == Method::GET {
        return next.run(request).await;
    }
    let held = in_flight.subscribe();
    let response = next.run(request).await;
    response.map(|body| Body::new(Held { body, _held: held }))
}

/// A body that is in flight until it is dropped.
struct Held {
    body: Body,
    _held: watch::Receiver<()>,
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
