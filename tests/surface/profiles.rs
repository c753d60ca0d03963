//! The surface of a named caller: it follows config changes at runtime, and on every surface each action can be called
//! by its flat name.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use notehost::config::{CallerSettings, Confirm, Settings, Surface};
use serde_json::{Value, json};

use super::{SURFACES, listed, name, served};
use crate::support::client::Client;
use crate::support::http::{HttpClient, Server};
use crate::support::place::Place;

/// Longer than any operation, even on a busy machine; only a hang reaches it.
const TIMEOUT: Duration = Duration::from_secs(120);

fn names(client: &mut Client) -> Vec<String> {
    let list = listed(client);
    let tools = list["tools"].as_array().expect("tools").iter();
    tools.map(|tool| name(tool).to_owned()).collect()
}

fn with_surface(place: &Place, surface: Option<Surface>) -> Settings {
    let mut settings = place.settings();
    settings.surface = Surface::Split;
    let caller = CallerSettings {
        surface,
        ..CallerSettings::default()
    };
    settings.callers.insert("stdio".into(), caller);
    settings
}

#[test]
fn surface_of_a_caller_follows_config_changes() {
    let place = Place::new();
    let config = place.config_file(&with_surface(&place, Some(Surface::Finder)));
    let mut client = Client::start(&config, &place.state());
    let finder = ["find_action", "describe_action", "call_action"];
    assert_eq!(names(&mut client), finder);
    let info = client.call("system.info", json!({}));
    assert_eq!(info["structuredContent"]["surface"], "finder", "{info}");

    place.config_file(&with_surface(&place, None));
    let began = Instant::now();
    while names(&mut client) == finder {
        assert!(began.elapsed() < TIMEOUT, "the surface never changed");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(names(&mut client).contains(&"document_read".to_owned()));
    // Clients are notified that their list is outdated.
    let began = Instant::now();
    let is_notified = |client: &Client| {
        let message = client.notifications().iter();
        message
            .filter(|message| message["method"] == "notifications/tools/list_changed")
            .count()
            > 0
    };
    while !is_notified(&client) {
        assert!(
            began.elapsed() < TIMEOUT,
            "no notification about changed tools"
        );
        std::thread::sleep(Duration::from_millis(50));
        listed(&mut client);
    }
}

/// Creates a token on the command line.
fn token(place: &Place, config: &Path, name: &str) -> String {
    let result = Command::new(crate::support::program())
        .args(["token", "new", "--name", name, "--config"])
        .arg(config)
        .arg("--state")
        .arg(place.state())
        .output()
        .expect("the program runs");
    let report: Value = serde_json::from_slice(&result.stdout).expect("JSON");
    report["token"].as_str().expect("a token").to_owned()
}

#[test]
fn each_caller_sees_its_own_surface() {
    let place = Place::new();
    let mut settings = place.settings();
    settings.confirm = Confirm::Floor;
    let phone = CallerSettings {
        surface: Some(Surface::Finder),
        ..CallerSettings::default()
    };
    settings.callers.insert("phone".into(), phone);
    let config = place.config_file(&settings);
    let (phone, desk) = (
        token(&place, &config, "phone"),
        token(&place, &config, "desk"),
    );
    let server = Server::start(&config, &place.state());
    let count = |token: &str| {
        let mut clients = [
            HttpClient::stateless(server.address()).with_token(token),
            HttpClient::with_session_and_token(server.address(), Some(token)),
        ];
        let counts = clients.each_mut().map(|client| {
            let list = client.ask("tools/list", json!({}));
            list["result"]["tools"].as_array().expect("tools").len()
        });
        assert_eq!(counts[0], counts[1], "both eras show the same");
        counts[0]
    };
    assert_eq!(count(&phone), 3);
    assert!(count(&desk) > 3);
    assert_eq!(count(&phone), 3);
}

#[test]
fn config_show_names_the_source_of_a_surface() {
    let place = Place::new();
    let config = place.config_file(&with_surface(&place, Some(Surface::Finder)));
    let shown = Command::new(crate::support::program())
        .args(["config", "show", "--json-output", "--config"])
        .arg(&config)
        .output()
        .expect("the program runs");
    let shown: Value = serde_json::from_slice(&shown.stdout).expect("JSON");
    let items = shown["items"].as_array().expect("items");
    let surface = items
        .iter()
        .find(|item| item["key"] == "callers.stdio.surface")
        .expect("the setting is shown");
    assert_eq!(surface["value"], "finder");
    let origin = surface["origin"].as_str().expect("an origin");
    assert!(origin.starts_with("file, line "), "{origin}");
}

#[test]
fn flat_action_names_work_on_every_surface() {
    let place = Place::new();
    place.write("Work/Plan.md", "# Plan\n");
    let flat = names(&mut served(&place, "flat"));
    for surface in SURFACES {
        let mut client = served(&place, surface);
        for tool in &flat {
            // An unknown argument is rejected by the action itself, so the action was found.
            let arguments = json!({"no such argument": true});
            let id = client.send("tools/call", json!({"name": tool, "arguments": arguments}));
            let answer = client.answer(id);
            let code = &answer["result"]["structuredContent"]["error"]["code"];
            assert_eq!(code, "validation_error", "{surface}: {tool}: {answer}");
        }
        let read = client.call("document.read", json!({"path": "Plan"}));
        assert_eq!(
            read["structuredContent"]["content"], "# Plan\n",
            "{surface}"
        );
    }
}
