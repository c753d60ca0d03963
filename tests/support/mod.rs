//! What the tests share: a place with a vault in it, the guests, and a client of the built program.

pub mod client;
pub mod guests;
pub mod place;
pub mod snapshot;

use std::path::PathBuf;

/// The top of the repository.
pub fn repository() -> PathBuf {
    let host = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    host.parent().expect("the host lies in the repository").to_owned()
}
