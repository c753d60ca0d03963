//! Metered bodies: they enforce the byte limits of the call, and end when the call can no longer use them.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use http_body::{Body, Frame, SizeHint};
use hyper::body::{Bytes, Incoming};
use tokio::time::Sleep;
use wasmtime_wasi_http::{Error, WasiBody};

use super::exchange::why;

/// Take bytes from what a call has left; `false` if it has not so many.
fn take(left: &AtomicU64, bytes: usize) -> bool {
    let bytes = bytes as u64;
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
        left.checked_sub(bytes)
    })
    .is_ok()
}

/// What is sent.
pub(super) struct Sent {
    body: WasiBody,
    left: Arc<AtomicU64>,
    /// Set when it was more than the call may send.
    too_much: Arc<AtomicBool>,
}

impl Sent {
    pub(super) fn new(body: WasiBody, left: Arc<AtomicU64>, too_much: Arc<AtomicBool>) -> Sent {
        Sent {
            body,
            left,
            too_much,
        }
    }
}

impl Body for Sent {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(data) = frame.data_ref()
            && !take(&self.left, data.len())
        {
            self.too_much.store(true, Ordering::Relaxed);
            return Poll::Ready(Some(Err(Error::HttpRequestBodySize(None))));
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// What is received.
pub(super) struct Received {
    body: Incoming,
    left: Arc<AtomicU64>,
    give_up: Instant,
    /// How long nothing may come, if the guest said.
    silence: Option<Duration>,
    until: Pin<Box<Sleep>>,
}

impl Received {
    /// The body of a response; refused at once if it says that it is too long.
    pub(super) fn new(
        body: Incoming,
        left: Arc<AtomicU64>,
        give_up: Instant,
        silence: Option<Duration>,
    ) -> Result<Received, Error> {
        let declared = body.size_hint().lower();
        if declared > left.load(Ordering::Relaxed) {
            return Err(Error::HttpResponseBodySize(Some(declared)));
        }
        let until = deadline_of_frame(give_up, silence);
        Ok(Received {
            until: Box::pin(tokio::time::sleep_until(until.into())),
            body,
            left,
            give_up,
            silence,
        })
    }
}

/// Until when the next bytes are waited for.
fn deadline_of_frame(give_up: Instant, silence: Option<Duration>) -> Instant {
    let quiet = silence.and_then(|silence| Instant::now().checked_add(silence));
    quiet.map_or(give_up, |quiet| quiet.min(give_up))
}

impl Body for Received {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let frame = match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Pending if self.until.as_mut().poll(context).is_ready() => {
                return Poll::Ready(Some(Err(Error::ConnectionReadTimeout)));
            }
            Poll::Pending => return Poll::Pending,
            Poll::Ready(None) => return Poll::Ready(None),
            Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(why(&error)))),
            Poll::Ready(Some(Ok(frame))) => frame,
        };
        if frame
            .data_ref()
            .is_some_and(|data| !take(&self.left, data.len()))
        {
            return Poll::Ready(Some(Err(Error::HttpResponseBodySize(None))));
        }
        // A trickle that never ends is ended too: nothing goes beyond `give_up`.
        if Instant::now() >= self.give_up {
            return Poll::Ready(Some(Err(Error::ConnectionReadTimeout)));
        }
        if self.silence.is_some() {
            let until = deadline_of_frame(self.give_up, self.silence);
            self.until.as_mut().reset(until.into());
        }
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
