//! A connection with a write timeout. A client that reads nothing fills the buffers; from then on every write waits,
//! and after a while the connection is closed. An event stream is not affected as long as its client reads, because
//! keep-alives are written and read. Reads end when the connection was closed to make room for another one.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use super::connections::Link;

/// The write timeout.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// A stream whose writes fail if the peer reads nothing for too long.
pub(super) struct Guarded<T> {
    stream: T,
    timeout: Duration,
    /// Runs while a write waits.
    waiting: Option<Pin<Box<Sleep>>>,
    link: Arc<Link>,
}

impl<T> Guarded<T> {
    pub(super) fn new(stream: T, link: Arc<Link>) -> Guarded<T> {
        Guarded {
            stream,
            timeout: WRITE_TIMEOUT,
            waiting: None,
            link,
        }
    }

    /// The outcome of a write, or an error if nothing was written for too long.
    fn progress<R>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<R>>,
    ) -> Poll<io::Result<R>> {
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let timeout = self.timeout;
        let waiting = self
            .waiting
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout)));
        ready!(waiting.as_mut().poll(context));
        tracing::debug!("a connection was closed: its client does not read");
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Guarded<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // Registered before the check: a connection that is closed meanwhile wakes this task.
        self.link.wake_at_close(context);
        if self.link.is_closed() {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Guarded<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.progress(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.progress(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.progress(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let ended = Pin::new(&mut self.stream).poll_shutdown(context);
        self.progress(context, ended)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test]
    async fn writes_time_out_if_the_client_does_not_read() {
        let (ours, _theirs) = tokio::io::duplex(16);
        let mut guarded = Guarded::new(ours, Link::alone());
        guarded.timeout = Duration::from_millis(20);
        let error = guarded.write_all(&[0; 64]).await.expect_err("it waits");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn reading_resets_the_write_timeout() {
        let (ours, mut theirs) = tokio::io::duplex(16);
        let mut guarded = Guarded::new(ours, Link::alone());
        guarded.write_all(&[0; 16]).await.expect("there is room");
        for _ in 0..8 {
            let full = tokio::time::timeout(Duration::ZERO, guarded.write(&[0; 16]));
            assert!(full.await.is_err());
            assert!(guarded.waiting.is_some());
            theirs.read_exact(&mut [0; 16]).await.expect("bytes");
            guarded.write_all(&[0; 16]).await.expect("it was read");
            assert!(guarded.waiting.is_none());
        }
    }

    #[tokio::test]
    async fn reads_end_after_close() {
        let (ours, _theirs) = tokio::io::duplex(16);
        let link = Link::alone();
        let mut guarded = Guarded::new(ours, link.clone());
        let reading = tokio::spawn(async move { guarded.read(&mut [0; 16]).await });
        tokio::task::yield_now().await;
        link.close();
        assert_eq!(reading.await.expect("no panic").expect("an end"), 0);
    }
}
