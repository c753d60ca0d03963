//! Search through the built program: the index is queried by a client while notes change.

mod freshness;
mod link_updates;
mod maintenance;
mod orientation;

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::place::Place;

/// A client of its own server, after the handshake.
fn start_client(place: &Place) -> Client {
    let config = place.config_file(&place.settings());
    let mut client = Client::start(&config, &place.state());
    client.initialize();
    client
}

/// The structured reply of an action.
fn reply_of(client: &mut Client, domain: &str, mut arguments: Value) -> Value {
    let action = arguments["action"].take();
    let action = format!("{domain}.{}", action.as_str().expect("an action"));
    arguments
        .as_object_mut()
        .expect("arguments")
        .remove("action");
    client.call(&action, arguments)["structuredContent"].clone()
}

/// The paths of a list.
fn paths(answer: &Value) -> Vec<&str> {
    let items = answer["items"].as_array().expect("a list");
    items
        .iter()
        .filter_map(|item| item["path"].as_str())
        .collect()
}

/// Waits until every note is in the index.
fn wait_for_index(client: &mut Client) {
    crate::support::http::wait_until("the index is complete", || {
        reply_of(client, "search", json!({"action": "text", "query": "a"}))
            .get("index")
            .is_none()
    });
}

/// Runs the program.
fn run(config: &Path, state: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(crate::support::program());
    command.args(arguments).arg("--config").arg(config);
    command.arg("--state").arg(state);
    command.output().expect("it runs")
}
