//! The event stream of a server.

use serde_json::json;

use super::auth_setup::token;
use super::setup::{over_http, place_with_notes};
use crate::support::http::{Connection, HttpClient};

#[test]
fn event_stream_reports_calls_and_messages() {
    let place = place_with_notes(|_| {});
    let server = over_http(&place);
    let mut client = HttpClient::stateless(server.address());
    client.call("document", json!({"action": "read", "path": "Plan"}));

    let shown = token(&place, "boss", &["--scopes", "read,admin"]);
    let shown = format!("Bearer {shown}");
    let admin = ("Authorization", shown.as_str());
    let mut watching = Connection::open(server.address());
    watching.send("GET", "/events", &[admin], "");
    assert_eq!(watching.receive_head(), 200);
    let first = watching.event();
    assert_eq!(first["kind"], "call");
    assert_eq!(first["action"], "read");
    assert_eq!(first["paths"], json!(["Work/Plan.md"]));
    assert_eq!(first["outcome"], "ok");

    // A dry run sends no notification, and a rejected message is not an event.
    let notify = |more: serde_json::Value| {
        let mut arguments = json!({"action": "notify", "message": "all is done", "level": "warn"});
        let more = more.as_object().expect("fields").clone();
        arguments.as_object_mut().expect("fields").extend(more);
        arguments
    };
    client.call("system", notify(json!({"dry_run": true})));
    client.call("system", notify(json!({"message": "x".repeat(1001)})));
    client.call("system", notify(json!({})));
    let kinds: Vec<String> = (0..4)
        .map(|_| watching.event())
        .map(|event| match event["kind"].as_str() {
            Some("notice") => {
                assert_eq!(event["message"], "all is done");
                assert_eq!(event["level"], "warn");
                assert_eq!(event["domain"], "system");
                "notice".to_owned()
            }
            _ => event["outcome"].as_str().expect("an outcome").to_owned(),
        })
        .collect();
    assert_eq!(kinds, ["ok", "too_large", "notice", "ok"]);

    // A reconnecting client continues where it was.
    let mut again = Connection::open(server.address());
    again.send("GET", "/events", &[admin, ("Last-Event-ID", "3")], "");
    assert_eq!(again.receive_head(), 200);
    assert_eq!(again.event()["number"], 4);
}

#[test]
fn events_require_admin_even_without_authentication() {
    let place = place_with_notes(|_| {});
    let server = over_http(&place);
    let shown =
        |name: &str, scope: &str| format!("Bearer {}", token(&place, name, &["--scopes", scope]));
    let (reader, admin) = (shown("reader", "read"), shown("boss", "admin"));
    let status = |headers: &[(&str, &str)]| {
        let mut connection = Connection::open(server.address());
        connection.send("GET", "/events", headers, "");
        connection.receive_head()
    };
    assert_eq!(status(&[]), 401);
    assert_eq!(status(&[("Authorization", &reader)]), 403);
    assert_eq!(status(&[("Authorization", &admin)]), 200);
}
