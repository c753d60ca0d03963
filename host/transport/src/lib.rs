//! The transports: MCP over stdio (`stdio`), for other programs of this user (`local`) and over Streamable HTTP (`http`), in its stateless and session-based
//! revisions, with one server behind both (`mcp`) and the bounds of both (`limits`). Only this crate knows rmcp, stdout
//! and sockets. It turns requests into calls of the pipeline and outcomes into MCP results. What the tools are and what
//! a tool call means is decided by the crate `tools`.

// The types of a call's futures nest deeper than the default limit.
#![recursion_limit = "256"]

mod http;
mod limits;
mod local;
mod mcp;
mod stdio;

use std::io;
use std::net::SocketAddr;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use notehost_config::Surface;
use notehost_pipeline::{CallError, Reply};
use notehost_policy::auth::{AuthError, TokenError};

pub use http::{check_http, serve_http};
#[cfg(fuzzing)]
#[doc(hidden)]
pub use limits::bounds::fuzz_message;
pub use limits::shutdown::requested as stop_requested;
pub use local::LocalSessions;
pub use stdio::{serve_stdio, streams as stdio_streams};

/// The JSON of a result for a client that shows only text, such as the command line; its tests parse it.
#[doc(hidden)]
pub fn tool_result(outcome: Result<Reply, CallError>) -> Value {
    mcp::tool_result(outcome)
}

/// The options of all transports.
#[derive(Debug, Clone, Default)]
pub struct ServeOptions {
    /// How the tools are presented.
    pub surface: Surface,
    /// Stop when this process exits.
    pub parent_pid: Option<u32>,
    /// Stop when this is cancelled, if there is one.
    pub stop: Option<CancellationToken>,
}

/// Why serving could not start or had to end.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// No credential exists, so anyone who reaches the address could call.
    #[error(
        "`{0}` can be reached from other machines, and calls would not be authenticated: no token exists yet"
    )]
    NotLoopback(SocketAddr),
    /// The same, because authentication is disabled.
    #[error(
        "`{0}` can be reached from other machines, and calls would not be authenticated: `auth.mode` is `none` (`--no-auth`)"
    )]
    NotLoopbackByChoice(SocketAddr),
    /// The owner's token cannot be made.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// The system's random number generator failed.
    #[error("the random number generator failed: {0}")]
    Random(#[from] notehost_platform::random::RandomError),
    /// Authentication cannot be set up.
    #[error(transparent)]
    Auth(#[from] AuthError),
    /// The certificate or its key cannot be used.
    #[error("TLS cannot be served: {0}")]
    Tls(String),
    /// The address is taken or not ours.
    #[error("cannot listen on `{address}`: {reason}")]
    Bind {
        /// Where.
        address: SocketAddr,
        /// The error of the system.
        reason: io::Error,
    },
    /// The client's first messages were not a valid handshake.
    #[error("the client did not initialize as MCP requires: {0}")]
    Handshake(String),
    /// A stream or the signals of the system failed.
    #[error("serving failed: {0}")]
    Io(#[from] io::Error),
}

impl TransportError {
    /// A hint for the person who started the server.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            TransportError::NotLoopback(_) => Some(
                "create a token first: `notehost token new --name laptop --scopes read,write`; or listen on \
                `127.0.0.1`",
            ),
            TransportError::NotLoopbackByChoice(_) => Some(
                "listen on `127.0.0.1` or `::1`, or remove `--no-auth` and set `auth.mode` to `auto`, `token` or `jwt`",
            ),
            TransportError::Auth(error) => error.hint(),
            TransportError::Tls(_) => Some(
                "`http.tls_cert` and `http.tls_key` name PEM files: the certificate with its chain, and its private key",
            ),
            TransportError::Bind { .. } => {
                Some("choose another port, or 0 for any free one: `--http 127.0.0.1:0`")
            }
            TransportError::Token(_)
            | TransportError::Random(_)
            | TransportError::Handshake(_)
            | TransportError::Io(_) => None,
        }
    }
}
