//! MCP over stdin and stdout, for the process that started us. Ends when its input does, with everything answered.

use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::service::{QuitReason, ServerInitializeError};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::stdio_pipes;

use super::drain::Draining;
use super::mcp::Server;
use super::{MESSAGE_BYTES, ServeOptions, TransportError, shutdown};
use crate::auth::Caller;
use crate::dispatch::Host;

/// Beyond the time that a call may take, for its reply to be written.
const MARGIN: Duration = Duration::from_secs(1);

/// Serve the parent process until its end of the pipe closes or we are told to stop.
pub async fn serve_stdio(host: Arc<Host>, options: ServeOptions) -> Result<(), TransportError> {
    let closing = shutdown::requested(options.parent_pid)?;
    let patience = Duration::from_millis(host.settings().limits.call_ms) + MARGIN;
    let server = Server::new(host, Caller::stdio(), options.surface, closing.clone());
    let (input, output) = stdio_pipes();
    let wire = AsyncRwTransport::new_server(input, output).with_max_line_length(MESSAGE_BYTES);
    let running = match server.serve(Draining::new(wire, closing, patience)).await {
        Ok(running) => running,
        // Nobody began, or somebody only asked what we are.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            return Ok(());
        }
        Err(error) => return Err(TransportError::Handshake(error.to_string())),
    };
    match running.waiting().await {
        Ok(QuitReason::JoinError(error)) | Err(error) => Err(std::io::Error::other(error).into()),
        Ok(_) => Ok(()),
    }
}
