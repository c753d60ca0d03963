//! The transports: MCP over stdio and over Streamable HTTP, in its stateless and session-based revisions. Only this
//! crate knows rmcp, stdout and sockets. It turns requests into `dispatch::call` and outcomes into MCP results.

// The futures of a call nest deeper than the default allows to look.
#![recursion_limit = "256"]

mod bounds;
mod client;
mod completion;
mod drain;
mod elicitation;
mod finder;
mod help;
mod http;
mod lines;
mod mcp;
mod message_limit;
mod orientation;
mod panic_guard;
mod pool;
mod progress;
mod prompts;
mod ranking;
mod resolve;
mod resources;
mod results;
mod schema;
mod short_description;
mod shutdown;
mod stdio;
mod subscriptions;
mod surface;
mod synonyms;
mod tasks;
#[cfg(test)]
mod tests;
mod uris;
mod wording;

use std::io;
use std::net::SocketAddr;

use serde_json::Value;

use notehost_config::Surface;
use notehost_pipeline::registry::Snapshot;
use notehost_policy::auth::{AuthError, TokenError};

#[cfg(fuzzing)]
#[doc(hidden)]
pub use bounds::fuzz_message;
pub use client::{Client, ClientError};
pub use http::{check_http, serve_http};
pub use stdio::serve_stdio;

/// The tools that `tools/list` returns to callers who see these domains.
pub fn tool_list(domains: &Snapshot, surface: Surface) -> Vec<Value> {
    let tools = surface::tools(domains, surface).into_iter();
    tools
        .filter_map(|tool| serde_json::to_value(tool).ok())
        .collect()
}

/// The options of all transports.
#[derive(Debug, Clone, Default)]
pub struct ServeOptions {
    /// How the tools are presented.
    pub surface: Surface,
    /// Stop when this process exits.
    pub parent_pid: Option<u32>,
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
    Random(#[from] getrandom::Error),
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
