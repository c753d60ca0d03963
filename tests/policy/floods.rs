//! Too large, too many and too slow requests over HTTP, with the expected results.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::auth_setup::{
    assert_refused, place_with_notes, request_with_token, send_request, serve, serve_open,
    settings_without_limits, token,
};
use crate::support::http::{
    Connection, HttpClient, SESSIONS, STATELESS, Server, stateless_meta, wait_until,
};

#[test]
fn oversized_body_is_rejected() {
    let place = place_with_notes();
    let good = token(&place, "laptop", &[]);
    let server = serve(&place, &place.settings());
    let shown = format!("Bearer {good}");
    let headers = [
        ("MCP-Protocol-Version", STATELESS),
        ("Authorization", shown.as_str()),
    ];
    let too_much = "x".repeat((32 << 20) + 1);
    let answer = Connection::open(server.address()).ask("POST", "/mcp", &headers, &too_much);
    assert_eq!(answer.status, 413, "{answer:?}");
    // The body need not be sent to be rejected.
    let mut connection = Connection::open(server.address());
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: {shown}\r\nContent-Length: 99999999999\r\n\r\n"
    );
    connection.send_raw(head.as_bytes());
    assert_eq!(connection.receive().status, 413);
    // The same without a declared length.
    let mut connection = Connection::open(server.address());
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: {shown}\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    connection.send_raw(head.as_bytes());
    let chunk = format!("{:x}\r\n{}\r\n", 1 << 20, "x".repeat(1 << 20));
    for _ in 0..33 {
        if !connection.send_raw(chunk.as_bytes()) {
            break;
        }
    }
    assert_eq!(connection.receive().status, 413);
    // Without a token the body is not read at all.
    let answer = Connection::open(server.address()).ask("POST", "/mcp", &headers[..1], &too_much);
    assert_refused(&answer, false);
    assert_eq!(request_with_token(&server, &good).status, 200);
}

/// Clients that send their requests byte by byte are disconnected, and block nobody meanwhile.
#[test]
fn slow_clients_are_disconnected() {
    let place = place_with_notes();
    let server = serve_open(&place, &settings_without_limits(&place));
    let heads = (0..100).map(|_| b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ".to_vec());
    let body = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: \
                application/json, text/event-stream\r\nContent-Length: 1000\r\n\r\n{";
    let bodies = (0..20).map(|_| body.as_bytes().to_vec());
    let mut slow: Vec<Connection> = heads
        .chain(bodies)
        .map(|begun| {
            let mut connection = Connection::open(server.address());
            assert!(connection.send_raw(&begun));
            connection
        })
        .collect();
    let deadline = Instant::now() + Duration::from_secs(240);
    // An occasional byte does not keep a connection alive.
    let mut client = HttpClient::stateless(server.address());
    let mut open = slow.len();
    while open > 0 {
        assert!(Instant::now() < deadline, "{open} of them are still held");
        std::thread::sleep(Duration::from_millis(500));
        open = slow
            .iter_mut()
            .filter_map(|one| one.send_raw(b" ").then_some(()))
            .count();
        let plan = client.call("document.read", json!({"path": "Work/Plan"}));
        assert_eq!(plan["isError"], false, "{plan}");
    }
    let late = slow.last_mut().expect("one of them").rest();
    assert!(
        late.is_empty() || late.starts_with("HTTP/1.1 408"),
        "{late}"
    );
}

#[test]
fn a_thousand_concurrent_sessions_are_supported() {
    const THREADS: usize = 20;
    const EACH: usize = 50;
    let place = place_with_notes();
    let good = token(&place, "crowd", &[]);
    let server = serve(&place, &settings_without_limits(&place));
    let opened = std::sync::Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let open = || HttpClient::with_session_and_token(server.address(), Some(&good));
                let mut clients: Vec<HttpClient> = (0..EACH).map(|_| open()).collect();
                // Nobody continues before all thousand are connected.
                opened.wait();
                for client in &mut clients {
                    client.send_call("document.read", json!({"path": "Work/Plan"}));
                }
                let plans: Vec<Value> = clients.iter_mut().map(HttpClient::receive).collect();
                // Nobody disconnects before all got a reply.
                opened.wait();
                for plan in plans {
                    assert_eq!(plan["result"]["isError"], false, "{plan}");
                }
            });
        }
    });
    // The next client is served as usual.
    let mut next = HttpClient::with_session_and_token(server.address(), Some(&good));
    let plan = next.call("document.read", json!({"path": "Work/Plan"}));
    assert_eq!(plan["isError"], false, "{plan}");
}

#[test]
fn sessions_per_caller_are_limited() {
    let place = place_with_notes();
    let (greedy, modest) = (token(&place, "greedy", &[]), token(&place, "modest", &[]));
    let server = serve(&place, &settings_without_limits(&place));
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": SESSIONS, "capabilities": {}, "clientInfo": {"name": "tests", "version": "0"}}});
    let initialize = initialize.to_string();
    let shown = format!("Bearer {greedy}");
    let proof = ("Authorization", shown.as_str());
    let mut connection = Connection::open(server.address());
    let mut begin = || connection.ask("POST", "/mcp", &[proof], &initialize);
    let mut last = None;
    let refused = loop {
        let answer = begin();
        match answer.header("mcp-session-id") {
            Some(session) => last = Some(session.to_owned()),
            None => break answer,
        }
    };
    assert_eq!(refused.status, 503, "{refused:?}");
    assert!(refused.header("retry-after").is_some(), "{refused:?}");
    let mut client = HttpClient::with_session_and_token(server.address(), Some(&modest));
    let plan = client.call("document.read", json!({"path": "Work/Plan"}));
    assert_eq!(plan["isError"], false, "{plan}");
    // A caller with too many sessions is still served without one, and gets a new one for each that ends.
    assert_eq!(request_with_token(&server, &greedy).status, 200);
    let last = last.expect("there were some");
    let headers = [
        proof,
        ("MCP-Protocol-Version", SESSIONS),
        ("Mcp-Session-Id", last.as_str()),
    ];
    let result = Connection::open(server.address()).ask("DELETE", "/mcp", &headers, "");
    assert!(result.status < 300, "{result:?}");
    wait_until("there is room again", || begin().status == 200);
}

#[test]
fn request_floods_are_answered_or_rejected_but_never_dropped() {
    let place = place_with_notes();
    let server = serve_open(&place, &settings_without_limits(&place));
    // Batches were removed from MCP: an array is rejected as a whole.
    let write = |id: usize| {
        let arguments = json!({"path": format!("Work/Batch {id}.md"), "content": "x"});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
            "name": "document__create", "arguments": arguments, "_meta": stateless_meta()}})
    };
    let batch = Value::from_iter((0..1000).map(write)).to_string();
    let session = HttpClient::with_session(server.address());
    let id = session.session().expect("a session");
    for headers in [
        vec![
            ("MCP-Protocol-Version", STATELESS),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "document__create"),
        ],
        vec![("MCP-Protocol-Version", SESSIONS), ("Mcp-Session-Id", id)],
    ] {
        let answer = Connection::open(server.address()).ask("POST", "/mcp", &headers, &batch);
        assert!((400..500).contains(&answer.status), "{answer:?}");
        let deep = "[".repeat(100_000);
        let answer = Connection::open(server.address()).ask("POST", "/mcp", &headers, &deep);
        assert!((400..500).contains(&answer.status), "{answer:?}");
    }
    assert_eq!(place.read("Work/Batch 0.md"), None);
    // Four hundred requests before the first reply is read.
    let mut client = HttpClient::stateless(server.address());
    let sent: Vec<u64> = (0..400)
        .map(|_| client.send_call("document.read", json!({"path": "Work/Plan"})))
        .collect();
    for id in sent {
        let plan = client.receive();
        assert_eq!(plan["id"], id, "{plan}");
        assert_eq!(plan["result"]["isError"], false, "{plan}");
    }
    // Hundreds of aborted connections leave nothing behind.
    for _ in 0..300 {
        HttpClient::stateless(server.address())
            .send_call("document.read", json!({"path": "Work/Plan"}));
    }
    wait_until("the server answers as before", || {
        send_request(&server, &[]).status == 200
    });
}

/// Malformed HTTP.
#[test]
fn malformed_http_is_rejected() {
    let place = place_with_notes();
    let server: Server = serve_open(&place, &place.settings());
    let long = format!(
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n",
        "x".repeat(1 << 20)
    );
    let many = format!(
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\n{}\r\n",
        "X: y\r\n".repeat(5000)
    );
    for nonsense in [
        "hello\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n",
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nxxxx",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        &long,
        &many,
    ] {
        let mut connection = Connection::open(server.address());
        connection.send_raw(nonsense.as_bytes());
        let answer = connection.rest();
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 4"),
            "{nonsense:.60}: {answer}"
        );
    }
    assert_eq!(send_request(&server, &[]).status, 200);
}
