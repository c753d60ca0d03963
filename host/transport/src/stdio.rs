//! MCP over stdin and stdout, for the parent process. Ends at the end of input, after all requests are answered.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net;
use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::service::{QuitReason, ServerInitializeError};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::stdio_pipes;
use rustix::fs::FileType;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio::runtime::{Builder, Handle};

use super::bounds::MAX_MESSAGE_BYTES;
use super::drain::Draining;
use super::lines::{BoundedLines, CheckSize};
use super::mcp::Server;
use super::{ServeOptions, TransportError, message_limit, shutdown};
use notehost_pipeline::Host;
use notehost_policy::auth::Caller;

/// How much longer than the call limit a response is awaited: a component called for the first time is compiled before
/// its clock starts.
const DRAIN_MARGIN: Duration = Duration::from_secs(20);

/// How long running work may take to end.
const CLOSE_GRACE: Duration = Duration::from_secs(1);

/// Serves the parent process until it closes the pipe or a shutdown is requested.
///
/// Runs on its own thread: with a single client, passing requests between threads only adds wake-ups.
pub async fn serve_stdio(host: Arc<Host>, options: ServeOptions) -> Result<(), TransportError> {
    let pool = Handle::current();
    let serving = tokio::task::spawn_blocking(move || {
        let thread = Builder::new_current_thread().enable_all().build()?;
        let served = thread.block_on(serve(host, options, pool));
        // A commit that is under way may end; a thread that waits for a terminal's input would never.
        thread.shutdown_timeout(CLOSE_GRACE);
        served
    });
    serving.await.map_err(io::Error::other)?
}

async fn serve(host: Arc<Host>, options: ServeOptions, pool: Handle) -> Result<(), TransportError> {
    let closing = shutdown::requested(options.parent_pid)?;
    let patience = Duration::from_millis(host.settings().max_call_ms()) + DRAIN_MARGIN;
    let check_size: CheckSize = {
        let host = host.clone();
        Box::new(move |outline, bytes| {
            message_limit::check(&host, &Caller::stdio(), outline, bytes)
        })
    };
    let server = Server::new(
        host,
        Caller::stdio(),
        options.surface,
        closing.clone(),
        Some(pool),
    )?;
    let (input, output) = streams();
    let read = Arc::default();
    let lines = BoundedLines::new(input, check_size, Arc::clone(&read));
    let wire = AsyncRwTransport::new_server(lines, output).with_max_line_length(MAX_MESSAGE_BYTES);
    let draining = Draining::new(wire, closing, patience, read);
    let running = match server.serve(draining).await {
        Ok(running) => running,
        // Nobody began, or somebody only asked what we are.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            return Ok(());
        }
        Err(error) => return Err(TransportError::Handshake(error.to_string())),
    };
    match running.waiting().await {
        Ok(QuitReason::JoinError(error)) | Err(error) => Err(io::Error::other(error).into()),
        Ok(_) => Ok(()),
    }
}

type Input = Box<dyn AsyncRead + Send + Unpin>;
type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// The standard streams, without an intermediate thread if possible. Clients made with Node pass sockets, others pipes;
/// rmcp supports only pipes, and a thread doubles the latency of a message.
fn streams() -> (Input, Output) {
    sockets().unwrap_or_else(|| {
        let (input, output) = stdio_pipes();
        (Box::new(input), Box::new(output))
    })
}

/// Both streams, if both are sockets.
fn sockets() -> Option<(Input, Output)> {
    let streams = [socket(io::stdin().as_fd())?, socket(io::stdout().as_fd())?];
    // Only now: a stream that does not wait is of no use to whoever reads it with a thread.
    let [input, output] = streams.map(|stream| {
        stream.set_nonblocking(true)?;
        UnixStream::from_std(stream)
    });
    Some((Box::new(input.ok()?), Box::new(output.ok()?)))
}

fn socket(stream: BorrowedFd<'_>) -> Option<net::UnixStream> {
    let mode = rustix::fs::fstat(stream).ok()?.st_mode;
    if FileType::from_raw_mode(mode) != FileType::Socket {
        return None;
    }
    let stream = net::UnixStream::from(stream.try_clone_to_owned().ok()?);
    // Sockets of other kinds have no such address.
    stream.local_addr().is_ok().then_some(stream)
}
