//! The wire: MCP over stdio and over Streamable HTTP, in both of its eras. This is the only room that knows rmcp,
//! stdout and sockets. What happens to a call is none of its affair: it turns requests into `dispatch::call` and
//! what comes back into MCP results.

mod drain;
mod finder;
mod help;
mod http;
mod mcp;
mod resolve;
mod resources;
mod results;
mod schema;
mod shutdown;
mod stdio;
mod surface;
#[cfg(test)]
mod tests;

use std::io;
use std::net::SocketAddr;

use crate::config::Surface;

pub use http::serve_http;
pub use stdio::serve_stdio;

/// The largest message that is taken from a client. Notes travel in arguments, pictures as base64.
const MESSAGE_BYTES: usize = 32 << 20;

/// How to serve, whatever the wire.
#[derive(Debug, Clone, Default)]
pub struct ServeOptions {
    /// How the tools are presented.
    pub surface: Surface,
    /// Stop when this process is gone.
    pub parent_pid: Option<u32>,
}

/// Why serving could not begin or had to end.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// Without credentials, whoever reaches the address can call.
    #[error("`{0}` is not a loopback address, and calls over HTTP are not authenticated")]
    NotLoopback(SocketAddr),
    /// The address is taken or not ours.
    #[error("cannot listen on `{address}`: {reason}")]
    Bind {
        /// Where.
        address: SocketAddr,
        /// What the system said.
        reason: io::Error,
    },
    /// The client's first messages were no handshake.
    #[error("the client did not begin as MCP asks: {0}")]
    Handshake(String),
    /// A stream or the signals of the system failed.
    #[error("serving failed: {0}")]
    Io(#[from] io::Error),
}

impl TransportError {
    /// What the person who started us can do.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            TransportError::NotLoopback(_) => Some(
                "listen on `127.0.0.1` or `::1`, and reach it from elsewhere through an authenticating proxy",
            ),
            TransportError::Bind { .. } => {
                Some("choose another port, or 0 for any free one: `--http 127.0.0.1:0`")
            }
            TransportError::Handshake(_) | TransportError::Io(_) => None,
        }
    }
}
