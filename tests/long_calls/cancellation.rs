//! A cancelled call stops its guest and changes nothing. There is only one slot for calls, so a guest that kept running
//! would block every other call.

use serde_json::{Value, json};

use super::{place_with_note, slow_settings, with_progress_token};
use crate::support::client::{Client, error_code};
use crate::support::http::{Connection, HttpClient, SESSIONS, Server, stateless_meta};
use crate::support::place::Place;

/// Calls that never end by themselves: one computes and one sleeps, and both have staged a change.
fn endless_calls() -> [(&'static str, Value); 2] {
    [
        ("hostile__write_then_spin", json!({"path": "Work/Plan.md"})),
        (
            "slow__work",
            json!({"steps": 100_000, "pause": 50, "path": "Work/Late.md"}),
        ),
    ]
}

fn config(place: &Place) -> std::path::PathBuf {
    let mut settings = slow_settings(place);
    settings.limits.concurrent_calls = 1;
    place.config_file(&settings)
}

fn cancellation(request: u64) -> Value {
    json!({"requestId": request, "reason": "enough"})
}

#[test]
fn cancelled_call_over_stdio_changes_nothing() {
    for is_stateless in [false, true] {
        let place = place_with_note();
        let before = place.snapshot();
        let mut client = Client::spawn(
            std::process::Command::new(crate::support::program())
                .args(["serve", "--config"])
                .arg(config(&place))
                .arg("--state")
                .arg(place.state()),
        );
        let mut meta = json!({});
        match is_stateless {
            true => meta = stateless_meta(),
            false => drop(client.initialize()),
        }
        let with_meta = |mut params: Value| {
            for (key, value) in meta.as_object().expect("an object") {
                params["_meta"][key] = value.clone();
            }
            params
        };
        for (tool, arguments) in endless_calls() {
            let params = json!({"name": tool, "arguments": arguments, "_meta": {}});
            let call = client.send("tools/call", with_meta(params));
            // Requests are processed in order.
            client.ask("tools/list", with_meta(json!({"_meta": {}})));
            client.notify("notifications/cancelled", cancellation(call));
            let read =
                json!({"name": "document__read", "arguments": {"path": "Work/Plan"}, "_meta": {}});
            let read = client.ask("tools/call", with_meta(read));
            assert_eq!(error_code(&read), None, "{tool}: {read}");
        }
        place.snapshot().assert_same_as(&before);
    }
}

#[test]
fn call_of_a_disconnected_http_client_changes_nothing() {
    let place = place_with_note();
    let before = place.snapshot();
    let server = Server::start(&config(&place), &place.state());
    let mut other = HttpClient::stateless(server.address());
    for (tool, arguments) in endless_calls() {
        // Before any reply.
        let mut client = HttpClient::stateless(server.address());
        client.send(
            "tools/call",
            json!({"name": tool, "arguments": arguments.clone()}),
        );
        std::thread::sleep(std::time::Duration::from_millis(300));
        drop(client);
        let read = other.call("document.read", json!({"path": "Work/Plan"}));
        assert_eq!(error_code(&read), None, "{tool}: {read}");
    }
    // During the stream of progress notifications.
    let (tool, arguments) = endless_calls()[1].clone();
    let mut client = HttpClient::stateless(server.address());
    client.send("tools/call", with_progress_token(tool, arguments));
    let first = client.first_event();
    assert_eq!(first["method"], "notifications/progress", "{first}");
    drop(client);
    let read = other.call("document.read", json!({"path": "Work/Plan"}));
    assert_eq!(error_code(&read), None, "{read}");
    place.snapshot().assert_same_as(&before);
}

#[test]
fn cancelled_call_in_an_http_session_changes_nothing() {
    let place = place_with_note();
    let before = place.snapshot();
    let server = Server::start(&config(&place), &place.state());
    let mut other = HttpClient::stateless(server.address());
    for (tool, arguments) in endless_calls() {
        let mut client = HttpClient::with_session(server.address());
        let call = client.send("tools/call", with_progress_token(tool, arguments));
        std::thread::sleep(std::time::Duration::from_millis(300));
        let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancellation(call)});
        let session = [
            ("MCP-Protocol-Version", SESSIONS),
            ("Mcp-Session-Id", client.session().expect("a session")),
        ];
        let mut aside = Connection::open(server.address());
        let answer = aside.ask("POST", "/mcp", &session, &cancelled.to_string());
        assert_eq!(answer.status, 202, "{answer:?}");
        let read = other.call("document.read", json!({"path": "Work/Plan"}));
        assert_eq!(error_code(&read), None, "{tool}: {read}");
    }
    place.snapshot().assert_same_as(&before);
}
