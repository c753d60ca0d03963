//! Tests of every action, called by name with JSON as the host does.

mod byte_preservation;
mod edit_actions;
mod tag_queries;

use notehost_sdk::serde_json::{Value, json};
use notehost_sdk::{Describes as _, Effect, Error, MemoryVault, Reply, Tier, Vault};

use crate::Domain;

fn reply(vault: &MemoryVault, action: &str, arguments: Value) -> Result<Reply, Error> {
    Domain::call(vault, action, &arguments.to_string())
}

/// The JSON reply of a successful call.
#[track_caller]
fn ok(vault: &MemoryVault, action: &str, arguments: Value) -> Value {
    match reply(vault, action, arguments) {
        Ok(reply) => reply.json(),
        Err(error) => panic!("{action}: {error}"),
    }
}

/// The error of a failed call.
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
