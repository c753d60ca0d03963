//! Tests of every action, called by name with JSON as the host does.

mod graph;
mod link_queries;
mod rewrite;

use notehost_sdk::serde_json::{Value, json};
use notehost_sdk::{Describes as _, Error, MemoryVault, Reply, Tier, Vault};

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

/// The text of a successful call.
#[track_caller]
fn told(vault: &MemoryVault, action: &str, arguments: Value) -> String {
    match reply(vault, action, arguments) {
        Ok(reply) => reply.text,
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

/// The items of all pages of a list.
fn all_pages(vault: &MemoryVault, action: &str, arguments: &Value, limit: usize) -> Vec<Value> {
    let mut items = Vec::new();
    let mut arguments = arguments.clone();
    arguments["limit"] = limit.into();
    for _ in 0..1000 {
        let page = ok(vault, action, arguments.clone());
        items.extend(page["items"].as_array().expect("items").clone());
        match page.get("next_cursor") {
            Some(cursor) => arguments["cursor"] = cursor.clone(),
            None => return items,
        }
    }
    panic!("{action} does not end");
}
