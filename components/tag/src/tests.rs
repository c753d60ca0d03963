//! Every action, called as the host calls it: by name, with JSON.

mod changing;
mod exactly;
mod looking;

use notehost_sdk::serde_json::{Value, json};
use notehost_sdk::{Describes as _, Effect, Error, MemoryVault, Reply, Tier, Vault};

use crate::Domain;

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

/// One field of each item.
fn each(reply: &Value, field: &str) -> Vec<Value> {
    let items = reply["items"].as_array().expect("items");
    items.iter().map(|item| item[field].clone()).collect()
}
