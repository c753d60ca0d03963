//! Every program of a user reaches a vault that one process holds: the holder listens on a local socket, and each other
//! program connects there. This crate has the handshake (`handshake`), the state that the relaying side keeps of its
//! client's session (`session`, without any input or output), and the loop that moves lines between the two (`driver`).
//! The holder's side of the socket is in the crate `transport`. This crate knows JSON-RPC and the few messages of MCP
//! that outlive a connection; it does not know the host.

mod driver;
mod envelope;
mod handshake;
mod lines;
mod session;

pub use driver::{Connect, Connection, RelayError, relay};
pub use handshake::{
    Compatibility, Hello, PROTOCOL, Refusal, Role, ServedVault, SettingsUpdate, Welcome, connect,
    greet, socket_of, vault_key,
};
pub use lines::Lines;
pub use session::Session;

/// The notification by which a session sends changed settings to the holder.
pub const SETTINGS_METHOD: &str = "notehost/session";

/// The key of a call's id in `_meta`. The value is `[number, again]`: the number of the call in its session, and 1 if it
/// was sent before, to a holder that did not answer it.
pub const CALL_KEY: &str = "notehost/call";
