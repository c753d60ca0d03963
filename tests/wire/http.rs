//! MCP over Streamable HTTP, stateless and session-based, and requests that are rejected before they reach MCP.

use std::time::Duration;

use serde_json::json;

use super::{
    PLAN, message, place_with_note, run, serve_command, settings_with_spinning_guest, tool,
};
use crate::support::http::{Connection, HttpClient, SESSIONS, STATELESS, Server, stateless_meta};
use crate::support::place::Place;

/// A deadline that is never reached.
const UNREACHED_DEADLINE_MS: u64 = 3_600_000;

fn serve(place: &Place) -> Server {
    Server::start(&place.config_file(&place.settings()), &place.state())
}

#[test]
fn stateless_and_session_based_clients_are_served_side_by_side() {
    let place = place_with_note();
    let server = serve(&place);
    let clients = [
        HttpClient::stateless(server.address()),
        HttpClient::with_session(server.address()),
    ];
    for mut client in clients {
        let listed = client.ask("tools/list", json!({}));
        assert_eq!(listed["result"]["tools"][0]["name"], "block", "{listed}");
        for path in ["Work/Plan", "Work/Plan.md"] {
            let read = client.call("document.read", json!({"path": path}));
            assert_eq!(read["structuredContent"]["content"], PLAN, "{read}");
        }
        let absent = client.call("document.read", json!({"path": "Absent"}));
        assert_eq!(absent["isError"], true, "{absent}");
        assert_eq!(absent["structuredContent"]["error"]["code"], "not_found");
        let unknown = client.ask("tools/call", tool("weather", json!({})));
        assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    }
    let discovered = HttpClient::stateless(server.address()).ask("server/discover", json!({}));
    assert_eq!(
        discovered["result"]["resultType"], "complete",
        "{discovered}"
    );
    assert!(
        discovered.to_string().contains(r#""name":"notehost""#),
        "{discovered}"
    );
}

#[test]
fn health_endpoint_responds() {
    let place = place_with_note();
    let server = serve(&place);
    let mut connection = Connection::open(server.address());
    for path in ["/healthz", "/readyz"] {
        let answer = connection.ask("GET", path, &[], "");
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
    }
    assert_eq!(connection.ask("GET", "/else", &[], "").status, 404);
}

#[test]
fn requests_with_foreign_hosts_or_origins_are_rejected() {
    let place = place_with_note();
    let server = serve(&place);
    let mut read = tool("document__read", json!({"path": "Work/Plan"}));
    read["_meta"] = stateless_meta();
    let body = message(1, "tools/call", read).to_string();
    let right = [
        ("MCP-Protocol-Version", STATELESS),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "document__read"),
    ];
    let mut connection = Connection::open(server.address());
    assert_eq!(connection.ask("POST", "/mcp", &right, &body).status, 200);
    // DNS rebinding: a web page's own host name resolves to this machine.
    for (header, status) in [
        (("Host", "evil.example"), 403),
        (("Origin", "http://evil.example"), 403),
        (("Origin", "null"), 403),
        (("Origin", "http://localhost:3000"), 200),
    ] {
        let headers: Vec<(&str, &str)> = right.into_iter().chain([header]).collect();
        let answer = Connection::open(server.address()).ask("POST", "/mcp", &headers, &body);
        assert_eq!(answer.status, status, "{header:?}: {answer:?}");
    }
    // Headers that contradict the body.
    for wrong in [
        ("Mcp-Method", "tools/list"),
        ("Mcp-Name", "document__remove"),
    ] {
        let headers = right.map(|header| if header.0 == wrong.0 { wrong } else { header });
        let answer = connection.ask("POST", "/mcp", &headers, &body);
        assert_eq!(answer.status, 400, "{wrong:?}: {answer:?}");
        assert!(answer.body.contains("-32020"), "{wrong:?}: {answer:?}");
    }
    // GET and DELETE need a session.
    for method in ["GET", "DELETE"] {
        let answer = connection.ask(method, "/mcp", &right[..1], "");
        assert_eq!(answer.status, 405, "{method}: {answer:?}");
    }
    let too_much = "x".repeat((32 << 20) + 1);
    let answer = Connection::open(server.address()).ask("POST", "/mcp", &right, &too_much);
    assert_eq!(answer.status, 413, "{answer:?}");
}

#[test]
fn session_must_be_initialized_and_can_be_deleted() {
    let place = place_with_note();
    let server = serve(&place);
    let list = message(1, "tools/list", json!({})).to_string();
    let revision = ("MCP-Protocol-Version", SESSIONS);
    let mut connection = Connection::open(server.address());
    let answer = connection.ask("POST", "/mcp", &[revision], &list);
    assert_eq!(answer.status, 400, "{answer:?}");
    let answer = connection.ask(
        "POST",
        "/mcp",
        &[revision, ("Mcp-Session-Id", "made-up")],
        &list,
    );
    assert_eq!(answer.status, 404, "{answer:?}");

    let client = HttpClient::with_session(server.address());
    let session = [
        revision,
        ("Mcp-Session-Id", client.session().expect("a session")),
    ];
    assert_eq!(connection.ask("POST", "/mcp", &session, &list).status, 200);
    assert_eq!(connection.ask("DELETE", "/mcp", &session, "").status, 204);
    assert_eq!(connection.ask("POST", "/mcp", &session, &list).status, 404);
}

/// There is only one slot: while the guest runs, no other call can.
#[test]
fn abandoned_request_stops_its_guest() {
    let place = place_with_note();
    let mut settings = settings_with_spinning_guest(&place, UNREACHED_DEADLINE_MS);
    settings.limits.concurrent_calls = 1;
    let server = Server::start(&place.config_file(&settings), &place.state());
    let mut other = HttpClient::stateless(server.address());

    // Without sessions, a client cancels by disconnecting.
    let mut client = HttpClient::stateless(server.address());
    client.send_call("hostile.spin", json!({}));
    std::thread::sleep(Duration::from_millis(200));
    drop(client);
    let read = other.call("document.read", json!({"path": "Work/Plan"}));
    assert_eq!(read["structuredContent"]["content"], PLAN, "{read}");

    // With a session, it sends a notification on another connection.
    let mut client = HttpClient::with_session(server.address());
    let spinning = client.send_call("hostile.spin", json!({}));
    std::thread::sleep(Duration::from_millis(200));
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": spinning}});
    let session = [
        ("MCP-Protocol-Version", SESSIONS),
        ("Mcp-Session-Id", client.session().expect("a session")),
    ];
    let answer =
        Connection::open(server.address()).ask("POST", "/mcp", &session, &cancelled.to_string());
    assert_eq!(answer.status, 202, "{answer:?}");
    let read = other.call("document.read", json!({"path": "Work/Plan"}));
    assert_eq!(read["structuredContent"]["content"], PLAN, "{read}");
}

#[test]
fn unauthenticated_non_loopback_listeners_are_rejected() {
    let place = place_with_note();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:8765"] {
        let flag = run(serve_command(&place).args(["--http", address]), "");
        let variable = run(serve_command(&place).env("NOTEHOST_HTTP", address), "");
        assert_eq!(
            (flag.code, variable.code),
            (Some(3), Some(3)),
            "{flag:#?} {variable:#?}"
        );
        for result in [flag, variable] {
            assert!(
                result.errors.contains("not be authenticated"),
                "{result:#?}"
            );
        }
    }
}
