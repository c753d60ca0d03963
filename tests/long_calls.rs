//! Long calls: they report progress, cancellation stops them, and they run as MCP tasks if the client supports them.
//! The duration of the guest `slow` is an argument.

mod cancellation;
mod progress;
mod tasks;

use notehost::config::{GrantSettings, Settings};
use serde_json::{Value, json};

use crate::support::guests::guest;
use crate::support::place::{Place, component};

/// A vault with a note in it.
fn place_with_note() -> Place {
    let place = Place::new();
    place.write("Work/Plan.md", "# Plan\n");
    place
}

/// Settings with the slow guests, and with a deadline that is never reached.
fn slow_settings(place: &Place) -> Settings {
    let mut settings = place.settings();
    let everything = GrantSettings {
        delete: vec!["**".into()],
        ..GrantSettings::default()
    };
    for name in ["slow", "hostile"] {
        let guest = component(guest(name), everything.clone());
        settings.components.insert(name.into(), guest);
    }
    settings.limits.call_ms = 3_600_000;
    settings
}

/// The parameters of a call with a progress token.
fn with_progress_token(tool: &str, arguments: Value) -> Value {
    json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": "how far"}})
}

/// The reported progress values, in order. Checks the token, and that progress never decreases.
#[track_caller]
fn progress_of<'m>(messages: impl IntoIterator<Item = &'m Value>) -> Vec<(f64, Option<f64>)> {
    let params = messages
        .into_iter()
        .filter(|message| message["method"] == "notifications/progress")
        .map(|message| &message["params"]);
    let with_progress_token: Vec<(f64, Option<f64>)> = params
        .map(|params| {
            assert_eq!(params["progressToken"], "how far", "{params}");
            let done = params["progress"].as_f64().expect("a number");
            (done, params["total"].as_f64())
        })
        .collect();
    let is_growing = with_progress_token
        .windows(2)
        .all(|pair| pair[0].0 < pair[1].0);
    assert!(is_growing, "never backwards: {with_progress_token:?}");
    with_progress_token
}
