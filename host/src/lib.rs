//! Notehost: an MCP server for folders of Markdown notes, built as a plugin host.
//!
//! This crate is the program: its commands (`cli`), and the sandbox that it puts itself into (`os_sandbox`). The rest of
//! the host is in crates along the path of a call: `transport` reads it from the wire, `policy::auth` identifies
//! the caller, `pipeline` runs the checks in order, `runtime` runs the component, `vault` stages and commits what
//! it writes, `index` finds what is in it, `records::audit` records the outcome. `ARCHITECTURE.md` draws it.

pub mod cli;
pub mod os_sandbox;

// The crates of the host under the names of their rooms, for the tests and the benchmark.
pub use notehost_config as config;
pub use notehost_embedded as embedded;
pub use notehost_index as index;
pub use notehost_pipeline as dispatch;
pub use notehost_pipeline::{conformance, registry};
pub use notehost_policy as policy;
pub use notehost_policy::auth;
pub use notehost_records as records;
pub use notehost_records::{audit, when};
pub use notehost_relay as relay;
pub use notehost_runtime as runtime;
pub use notehost_runtime::packages;
pub use notehost_transport as transport;
pub use notehost_vault as vault;
