//! Response bodies, which a shutdown waits for. Request bodies are read in `intake`.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::Method;
use http_body::{Frame, SizeHint};
use tokio::sync::watch;

/// Keeps a receiver of the channel until the response was sent completely: the channel is closed when nothing is in
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
    response.map(|body| holding(body, held))
}

/// A body that keeps a guard until it was sent completely or is dropped.
pub(super) fn holding<T: Send + Unpin + 'static>(body: Body, held: T) -> Body {
    Body::new(Holding { body, _held: held })
}

struct Holding<T> {
    body: Body,
    _held: T,
}

impl<T: Unpin> HttpBody for Holding<T> {
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
