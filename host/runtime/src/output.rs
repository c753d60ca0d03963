//! Output of guests: lines in the host's log with the domain's name and in the component's own log, never on the
//! transport.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};

use super::call_environment::CallEnvironment;

/// The longest line that is logged whole.
const MAX_LINE_CHARS: usize = 1000;
/// What one call may log this way before the rest is dropped.
pub(super) const MAX_BYTES: usize = 64 << 10;

/// One of a guest's two outputs.
#[derive(Clone)]
pub(super) struct GuestOutput {
    domain: Arc<str>,
    stream: &'static str,
    /// Where it is stored; `None` while a component describes itself.
    environment: Option<Arc<dyn CallEnvironment>>,
}

impl GuestOutput {
    pub(super) fn new(
        domain: Arc<str>,
        stream: &'static str,
        environment: Option<Arc<dyn CallEnvironment>>,
    ) -> GuestOutput {
        GuestOutput {
            domain,
            stream,
            environment,
        }
    }
}

impl IsTerminal for GuestOutput {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for GuestOutput {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(Lines {
            output: self.clone(),
            line: Vec::new(),
            left: MAX_BYTES,
        })
    }
}

/// Bytes on their way to being lines.
struct Lines {
    output: GuestOutput,
    line: Vec<u8>,
    left: usize,
}

impl Lines {
    fn take(&mut self, bytes: &[u8]) {
        // Controlled by the guest: bounded per call and per line, and control characters are shown, not obeyed.
        let bytes = &bytes[..bytes.len().min(self.left)];
        self.left -= bytes.len();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = MAX_LINE_CHARS.saturating_sub(self.line.len());
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            if part.ends_with(b"\n") {
                self.log();
            }
        }
    }

    fn log(&mut self) {
        let line = String::from_utf8_lossy(&self.line);
        let line = line.trim_end();
        if !line.is_empty() {
            tracing::info!(
                domain = &*self.output.domain,
                stream = self.output.stream,
                "{}",
                line.escape_debug()
            );
            if let Some(environment) = &self.output.environment {
                environment.said(self.output.stream, line);
            }
        }
        self.line.clear();
    }
}

impl AsyncWrite for Lines {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        self.take(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.log();
    }
}
