//! Every action, called as the host calls it: by name, with JSON.

mod asking;
mod history;
mod joining;
mod listing;
mod moving;
mod reading;
mod writing;

use notehost_sdk::serde_json::{Value, json};
use notehost_sdk::{Describes as _, Effect, Error, MemoryVault, Reply, Tier, Vault};

use crate::Domain;

/// A vault as most tests want it.
fn vault() -> MemoryVault {
    Vault::in_memory()
}

fn reply(vault: &MemoryVault, action: &str, arguments: Value) -> Result<Reply, Error> {
    Domain::call(vault, action, &arguments.to_string())
}

/// What an action that succeeds answers.
#[track_caller]
fn ok(vault: &MemoryVault, action: &str, arguments: Value) -> Value {
    match reply(vault, action, arguments) {
        Ok(reply) => reply.json(),
        Err(error) => panic!("{action}: {error}"),
    }
}

/// How an action that is refused is refused.
#[track_caller]
fn refused(vault: &MemoryVault, action: &str, arguments: Value) -> Error {
    match reply(vault, action, arguments) {
        Ok(reply) => panic!("{action}: {}", reply.structured),
        Err(error) => error,
    }
}
