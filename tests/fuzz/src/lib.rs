//! Runs one input per target. Components are called as the host calls them: an action by name, with JSON. Rejections
//! are fine; panics, overflows, exhausted stacks and violated invariants are findings.
//!
//! Targets that need several texts split one input at the byte [`BETWEEN`].

mod binary_files;
mod databases;
mod host;
mod index_queries;
mod notes;
mod text_input;

pub use binary_files::{asset, package};
pub use databases::{base, expression};
pub use host::{journal, keys, manifest, message};
pub use index_queries::question;
pub use notes::{edits, note};
pub use text_input::{path, query};

use std::ffi::OsString;
use std::sync::LazyLock;

use notehost_sdk::{Describes, MemoryVault};
use serde_json::Value;

/// Separates the texts of an input: the record separator, which no seed has within a text.
pub const BETWEEN: char = '\u{1e}';

/// Where to save the current input, if anywhere: libFuzzer cannot report it after a stack overflow.
static SAVED_INPUT: LazyLock<Option<OsString>> =
    LazyLock::new(|| std::env::var_os("NOTEHOST_FUZZ_KEPT"));

/// Runs a target on an input.
pub fn run(target: fn(&[u8]), input: &[u8]) {
    if let Some(place) = &*SAVED_INPUT {
        std::fs::write(place, input).expect("the input is kept");
    }
    target(input);
}

/// The reply of an action, if it succeeds.
fn call<D: Describes>(vault: &MemoryVault, action: &str, arguments: Value) -> Option<Value> {
    let reply = D::call(vault, action, &arguments.to_string()).ok()?;
    Some(reply.json())
}

/// The same, for an action whose changes the next one must not see.
fn call_and_rollback<D: Describes>(
    vault: &MemoryVault,
    action: &str,
    arguments: Value,
) -> Option<Value> {
    let reply = call::<D>(vault, action, arguments);
    vault.rollback();
    reply
}

/// The texts of an input; missing ones are empty.
fn texts<const COUNT: usize>(input: &[u8]) -> Option<[&str; COUNT]> {
    let mut parts = std::str::from_utf8(input).ok()?.splitn(COUNT, BETWEEN);
    Some(std::array::from_fn(|_| parts.next().unwrap_or_default()))
}
