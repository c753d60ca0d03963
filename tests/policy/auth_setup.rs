//! Shared setup of the authentication tests: a vault, a server, tokens and requests.

use std::process::Command;

use notehost::config::Settings;
use serde_json::{Value, json};

use crate::support::http::{Connection, Response, STATELESS, Server, stateless_meta};
use crate::support::place::Place;

/// The content of `Work/Plan.md`.
pub(super) const PLAN: &str = "# Plan\n\nWater the plants.\n";

/// A vault with two notebooks.
pub(super) fn place_with_notes() -> Place {
    let place = Place::new();
    place.write("Work/Plan.md", PLAN);
    place.write("Diary/Monday.md", "It rained.\n");
    place
}

/// Settings without rate limits and with long deadlines.
pub(super) fn settings_without_limits(place: &Place) -> Settings {
    let mut settings = place.settings();
    settings.limits.call_ms = 120_000;
    (
        settings.rates.read,
        settings.rates.write,
        settings.rates.delete,
    ) = (0, 0, 0);
    settings
}

/// A server with these settings that requires a token.
pub(super) fn serve(place: &Place, settings: &Settings) -> Server {
    Server::start_authenticated(&place.config_file(settings), &place.state())
}

/// A server with these settings that requires no token.
pub(super) fn serve_open(place: &Place, settings: &Settings) -> Server {
    Server::start(&place.config_file(settings), &place.state())
}

/// The result of running the program.
#[derive(Debug)]
pub(super) struct RunResult {
    pub(super) code: Option<i32>,
    pub(super) output: String,
    pub(super) errors: String,
}

/// Runs the program with the place's config and state.
pub(super) fn run(place: &Place, arguments: &[&str]) -> RunResult {
    let config = place.root().join("notehost.toml");
    if !config.exists() {
        place.config_file(&place.settings());
    }
    let result = Command::new(crate::support::program())
        .args(arguments)
        .arg("--config")
        .arg(config)
        .arg("--state")
        .arg(place.state())
        .output()
        .expect("the program runs");
    RunResult {
        code: result.status.code(),
        output: String::from_utf8(result.stdout).expect("text"),
        errors: String::from_utf8(result.stderr).expect("text"),
    }
}

/// Creates a token with this name.
pub(super) fn token(place: &Place, name: &str, arguments: &[&str]) -> String {
    let arguments = [&["token", "new", "--name", name], arguments].concat();
    let result = run(place, &arguments);
    assert_eq!(result.code, Some(0), "{result:?}");
    let report: Value = serde_json::from_str(&result.output).expect("JSON");
    report["token"].as_str().expect("a token").to_owned()
}

/// Revokes a token.
pub(super) fn revoke(place: &Place, name: &str) {
    let result = run(place, &["token", "revoke", name]);
    assert_eq!(result.code, Some(0), "{result:?}");
}

/// The tokens, as the command line lists them.
pub(super) fn listed(place: &Place) -> Vec<Value> {
    let result = run(place, &["token", "list"]);
    assert_eq!(result.code, Some(0), "{result:?}");
    let report: Value = serde_json::from_str(&result.output).expect("JSON");
    report["items"].as_array().expect("a list").clone()
}

/// The reply to a stateless request with these headers.
pub(super) fn send_request(server: &Server, headers: &[(&str, &str)]) -> Response {
    send_request_to(server, "/mcp", headers)
}

/// The same, for another path.
pub(super) fn send_request_to(server: &Server, path: &str, headers: &[(&str, &str)]) -> Response {
    let params = json!({ "_meta": stateless_meta() });
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params });
    let mut all = vec![
        ("MCP-Protocol-Version", STATELESS),
        ("Mcp-Method", "tools/list"),
    ];
    all.extend(headers);
    Connection::open(server.address()).ask("POST", path, &all, &list.to_string())
}

/// The reply to a request with this token.
pub(super) fn request_with_token(server: &Server, token: &str) -> Response {
    send_request(server, &[("Authorization", &format!("Bearer {token}"))])
}

/// The code of a call's error.
pub(super) fn code(result: &Value) -> &str {
    result["structuredContent"]["error"]["code"]
        .as_str()
        .unwrap_or("none")
}

/// The reply states that a token is required, or that the one in the request is invalid.
#[track_caller]
pub(super) fn assert_refused(answer: &Response, shown: bool) {
    assert_eq!(answer.status, 401, "{answer:?}");
    let challenge = answer.header("www-authenticate").expect("a challenge");
    assert!(challenge.starts_with("Bearer "), "{challenge}");
    assert!(
        challenge.contains("resource_metadata=\"http"),
        "{challenge}"
    );
    assert!(
        challenge.contains("/.well-known/oauth-protected-resource/mcp\""),
        "{challenge}"
    );
    assert!(challenge.contains("scope=\"read\""), "{challenge}");
    assert_eq!(
        challenge.contains("error=\"invalid_token\""),
        shown,
        "{challenge}"
    );
    let body: Value = serde_json::from_str(&answer.body).expect("JSON");
    assert_eq!(body["error"]["code"], "unauthorized", "{body}");
}
