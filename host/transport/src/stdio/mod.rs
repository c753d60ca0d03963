//! MCP over stdin and stdout, for the parent process. Ends at the end of input, after all requests are answered.

pub(crate) mod lines;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::service::{QuitReason, ServerInitializeError};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::stdio_pipes;
use tokio::runtime::{Builder, Handle};
use tokio_util::sync::CancellationToken;

use self::lines::{BoundedLines, CheckSize};
use crate::limits::bounds::MAX_MESSAGE_BYTES;
use crate::limits::drain::Draining;
use crate::limits::{message_limit, shutdown};
use crate::mcp::Server;
use crate::{ServeOptions, TransportError};
use notehost_pipeline::Host;
use notehost_platform::stdio::{Input, Output, sockets};
use notehost_policy::auth::Caller;

/// How much longer than the call limit a response is awaited: a component called for the first time is compiled before
/// its clock starts.
const DRAIN_MARGIN: Duration = Duration::from_secs(20);

/// How long running work may take to end.
pub(crate) const CLOSE_GRACE: Duration = Duration::from_secs(1);

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
    let grace = grace(&host);
    let caller = Caller::stdio();
    let (surface, pool) = (options.surface, Some(pool));
    let server = Server::new(host, caller.clone(), surface, closing.clone(), pool, None)?;
    let (input, output) = streams();
    let wire = Wire {
        input,
        output,
        grace,
        grace_at_shutdown: grace,
    };
    serve_wire(server, caller, closing, wire).await
}

/// How long requests of a client that has closed its input may take.
pub(crate) fn grace(host: &Host) -> Duration {
    Duration::from_millis(host.settings().max_call_ms()) + DRAIN_MARGIN
}

/// A connection to one client.
pub(crate) struct Wire {
    pub(crate) input: Input,
    pub(crate) output: Output,
    /// How long unanswered requests may take after the end of the input, and after a shutdown was requested.
    pub(crate) grace: Duration,
    pub(crate) grace_at_shutdown: Duration,
}

/// Serves one client until it closes its input or `closing` is cancelled, and its requests are answered.
pub(crate) async fn serve_wire(
    server: Server,
    caller: Caller,
    closing: CancellationToken,
    wire: Wire,
) -> Result<(), TransportError> {
    let check_size: CheckSize = {
        let server = server.clone();
        Box::new(move |outline, bytes| message_limit::check(server.host(), &caller, outline, bytes))
    };
    let read = Arc::default();
    let lines = BoundedLines::new(wire.input, check_size, Arc::clone(&read));
    let transport =
        AsyncRwTransport::new_server(lines, wire.output).with_max_line_length(MAX_MESSAGE_BYTES);
    let grace = (wire.grace, wire.grace_at_shutdown);
    let draining = Draining::new(transport, closing, grace, read);
    let running = match server.serve(draining).await {
        Ok(running) => running,
        // The client closed the input before initializing, or only sent a request of discovery.
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

/// The standard streams, without an intermediate thread if possible. Clients made with Node pass sockets, others pipes;
/// rmcp supports only pipes, and a thread doubles the latency of a message.
pub fn streams() -> (Input, Output) {
    sockets().unwrap_or_else(|| {
        let (input, output) = stdio_pipes();
        (Box::new(input), Box::new(output))
    })
}
