//! Code shared by the tests: a place with a vault, the guests, and clients of the built program.

pub(crate) mod client;
pub(crate) mod guests;
pub(crate) mod http;
pub(crate) mod issuer;
pub(crate) mod place;
pub(crate) mod program;
pub(crate) mod registry;
pub(crate) mod signer;
pub(crate) mod snapshot;
pub(crate) mod web_server;

use std::path::PathBuf;

/// The path of the built program. The components that it loads are built before it is started for the first time: it would
/// do that itself, while its client waits.
pub(crate) fn program() -> &'static str {
    notehost::embedded::prepare().expect("the components are built");
    env!("CARGO_BIN_EXE_notehost")
}

/// The root of the repository.
pub(crate) fn repository() -> PathBuf {
    let host = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    host.parent()
        .expect("the host is in the repository")
        .to_owned()
}
