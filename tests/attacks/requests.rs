//! Requests that are expensive to receive or to answer are limited before they cost anything.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::http::{Connection, HttpClient, Response, STATELESS, Server, stateless_meta};
use crate::support::place::Place;

/// A vault with a long and a short note, and a server.
fn serve(change: impl FnOnce(&mut notehost::config::Settings)) -> (Place, Server, String) {
    let place = Place::new();
    place.write("Work/Plan.md", "# Plan\n\nWater the plants.\n");
    let long: String = (0..150_000).map(|line| format!("line {line}\n")).collect();
    place.write("Work/Long.md", long);
    let mut settings = place.settings();
    change(&mut settings);
    let config = place.config_file(&settings);
    let mut command = Command::new(crate::support::program());
    command.args([
        "token",
        "new",
        "--name",
        "ana",
        "--scopes",
        "read,write",
        "--config",
    ]);
    let made = command
        .arg(&config)
        .arg("--state")
        .arg(place.state())
        .output();
    let report: Value =
        serde_json::from_slice(&made.expect("the program runs").stdout).expect("JSON");
    let token = report["token"].as_str().expect("a token").to_owned();
    let server = Server::start(&config, &place.state());
    (place, server, token)
}

/// The reply to a call with these arguments as JSON text.
fn call(server: &Server, token: &str, tool: &str, arguments: &str) -> Response {
    let meta = stateless_meta();
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"_meta":{meta},"name":"{tool}","arguments":{arguments}}}}}"#
    );
    let shown = format!("Bearer {token}");
    let headers = [
        ("MCP-Protocol-Version", STATELESS),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", tool),
        ("Authorization", &shown),
    ];
    Connection::open(server.address()).ask("POST", "/mcp", &headers, &body)
}

#[track_caller]
fn assert_too_large(answer: &Response) {
    assert_eq!(answer.status, 413, "{answer:?}");
    let body: Value = serde_json::from_str(&answer.body).expect("JSON");
    assert_eq!(body["error"]["code"], "too_large", "{body}");
}

fn memory(server: &mut Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.process().id()));
    let status = status.expect("the server lives");
    // The peak value: memory that was freed in between is included.
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.expect("VmHWM") << 10
}

#[test]
fn wide_or_deep_json_is_rejected_before_parsing() {
    let (_place, mut server, token) = serve(|_| {});
    let plan = r#"{"path":"Work/Plan"}"#;
    assert_eq!(call(&server, &token, "document__read", plan).status, 200);
    let before = memory(&mut server);
    let wide = format!(r#"{{"path":"a","tags":[{}0]}}"#, "0,".repeat(2 << 20));
    assert_too_large(&call(&server, &token, "document__create", &wide));
    let deep = format!(
        r#"{{"path":{}1{}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert_too_large(&call(&server, &token, "document__create", &deep));
    let grown = memory(&mut server).saturating_sub(before);
    assert!(grown < 64 << 20, "it took {} MiB", grown >> 20);
    assert_eq!(call(&server, &token, "document__read", plan).status, 200);
}

#[test]
fn only_write_actions_accept_large_messages() {
    let (place, server, token) = serve(|_| {});
    let text = "word ".repeat(600_000);
    let large = format!(r#"{{"path":"Work/New","content":"{text}"}}"#);
    for tool in ["document__read", "no_such_tool"] {
        assert_too_large(&call(&server, &token, tool, &large));
    }
    let named =
        |action: &str| format!(r#"{{"action":"{action}","path":"Work/New","content":"{text}"}}"#);
    assert_too_large(&call(&server, &token, "document", &named("read")));
    assert_too_large(&call(&server, &token, "document", &named("help")));
    // An action of the same name nested deeper does not bypass the limit.
    let hidden =
        format!(r#"{{"action":"read","path":"x","x":{{"action":"create"}},"y":"{text}"}}"#);
    assert_too_large(&call(&server, &token, "document", &hidden));
    // A message that first names a write action and then a read action is rejected by the action that runs.
    let twice = format!(r#"{{"action":"read","path":"{text}","action":"create"}}"#);
    let answer = call(
        &server,
        &token,
        "document",
        &twice.replace(r#""create""#, r#""cre\u0061te""#),
    );
    assert_too_large(&answer);
    let answer = call(&server, &token, "document", &named("create"));
    assert_ne!(answer.message()["result"]["isError"], true, "{answer:?}");
    assert_eq!(
        place.read("Work/New.md").map(|bytes| bytes.len()),
        Some(text.len())
    );
}

#[test]
fn validation_errors_for_many_arguments_stay_short() {
    let (_place, server, token) = serve(|_| {});
    let keys: Vec<String> = (0..20_000)
        .map(|key| format!(r#""k{key}":{key}"#))
        .collect();
    let answer = call(
        &server,
        &token,
        "document__read",
        &format!("{{{}}}", keys.join(",")),
    );
    assert!(answer.body.len() < 10_000, "{} bytes", answer.body.len());
    assert!(answer.body.contains("nor are 19995 others"), "{answer:?}");
}

#[test]
fn rate_limit_applies_before_the_body_is_read() {
    let (_place, server, token) = serve(|settings| {
        (
            settings.rates.read,
            settings.rates.write,
            settings.rates.delete,
        ) = (1, 1, 1);
        settings.rates.burst_seconds = 1;
    });
    // None of these becomes a call, so the limits on calls do not count them.
    let refused = (0..10_000)
        .map(|_| call(&server, &token, "document__read", "{}"))
        .find(|answer| answer.status != 200);
    let refused = refused.expect("it is too much in the end");
    assert_eq!(refused.status, 429, "{refused:?}");
    assert!(refused.header("retry-after").is_some(), "{refused:?}");
    let body: Value = serde_json::from_str(&refused.body).expect("JSON");
    assert_eq!(body["error"]["code"], "throttled", "{body}");
}

#[test]
fn oversized_line_over_stdio_gets_an_error_reply() {
    let place = Place::new();
    place.write("Work/Plan.md", "# Plan\n");
    let config = place.config_file(&place.settings());
    let mut client = Client::start(&config, &place.state());
    let wide = json!({ "name": "document__create", "arguments": { "path": "a", "tags": vec![0; 100_000] } });
    let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
    let deep = json!({ "name": "document__create", "arguments": { "path": deep } });
    for params in [wide, deep] {
        let id = client.send("tools/call", params);
        let answer = client.answer(id);
        assert_eq!(answer["error"]["data"]["code"], "too_large", "{answer}");
    }
    let read = client.ask(
        "tools/call",
        json!({ "name": "document__read", "arguments": { "path": "Work/Plan" } }),
    );
    assert_ne!(read["isError"], true, "{read}");
}

#[test]
fn oversized_arguments_in_the_stateless_revision_get_an_error_reply() {
    let place = Place::new();
    place.write("Work/Plan.md", "# Plan\n");
    let config = place.config_file(&place.settings());
    let mut command = Command::new(crate::support::program());
    command
        .args(["serve", "--config"])
        .arg(&config)
        .arg("--state")
        .arg(place.state());
    let mut client = Client::spawn(&mut command);
    let params = |arguments: Value| json!({ "_meta": stateless_meta(), "name": "document__read", "arguments": arguments });
    let id = client.send("tools/call", params(json!({ "path": vec![0; 100_000] })));
    let answer = client.answer(id);
    assert_eq!(answer["error"]["data"]["code"], "too_large", "{answer}");
    let read = client.ask("tools/call", params(json!({ "path": "Work/Plan" })));
    assert_ne!(read["isError"], true, "{read}");
}

#[test]
fn expensive_diff_is_summarized() {
    let (_place, server, token) = serve(|settings| settings.limits.call_ms = 60_000);
    let mut ana = HttpClient::stateless(server.address()).with_token(&token);
    // Two lines in a very long note: the common start and end are not reported as changed.
    let text: String = (0..150_000)
        .map(|line| match line {
            70_000 | 70_010 => format!("LINE {line}\n"),
            _ => format!("line {line}\n"),
        })
        .collect();
    let update = json!({ "path": "Work/Long", "content": text, "dry_run": true });
    let answer = ana.call("document.update", update);
    let change = &answer["structuredContent"]["changes"][0];
    assert_eq!(
        (&change["added"], &change["removed"]),
        (&json!(11), &json!(11)),
        "{answer}"
    );
    let diff = change["diff"].as_str().expect("a diff");
    assert!(diff.contains("@@ -70001,11 +70001,11 @@"), "{diff}");
    assert!(diff.contains("… summarised"), "{diff}");
}

/// A registry that answers every request with an endless body, and counts the bytes that are read.
fn endless_registry(status: &'static str) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address").to_string();
    let taken = Arc::new(AtomicUsize::new(0));
    let counted = taken.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let counted = counted.clone();
            std::thread::spawn(move || {
                let mut stream = stream;
                let _ = stream.read(&mut [0; 4096]);
                let head = format!("HTTP/1.1 {status}\r\nTransfer-Encoding: chunked\r\n\r\n");
                let chunk = format!("10000\r\n{}\r\n", " ".repeat(1 << 16));
                let _ = stream.write_all(head.as_bytes());
                while stream.write_all(chunk.as_bytes()).is_ok() {
                    counted.fetch_add(1 << 16, Ordering::Relaxed);
                }
            });
        }
    });
    (address, taken)
}

#[test]
fn endless_registry_response_is_cut_off() {
    let place = Place::new();
    let config = place.config_file(&place.settings());
    for (status, words) in [
        ("200 OK", "more than the allowed 4194304 bytes"),
        ("500 Internal Server Error", "500"),
        ("404 Not Found", "was not found"),
    ] {
        let (address, taken) = endless_registry(status);
        let mut command = Command::new(crate::support::program());
        command.args([
            "component",
            "add",
            &format!("oci://{address}/todo:1.0.0"),
            "--config",
        ]);
        let result = command
            .arg(&config)
            .arg("--state")
            .arg(place.state())
            .output();
        let result = result.expect("the program runs");
        let text = String::from_utf8_lossy(&result.stderr).into_owned();
        assert!(
            !result.status.success() && text.contains(words),
            "{status}: {text}"
        );
        // The limit, plus the buffers in between.
        assert!(
            taken.load(Ordering::Relaxed) < 32 << 20,
            "{status}: {taken:?}"
        );
    }
}

/// Sessions are many, and what each of them subscribes to is held for as long as it lives.
#[test]
fn subscriptions_are_bounded_in_number_and_bytes() {
    let (_place, server, token) = serve(|settings| settings.rates.read = 0);
    let open = || HttpClient::with_session_and_token(server.address(), Some(&token));
    let subscribe = |client: &mut HttpClient, number: usize, length: usize| {
        let uri = format!("notehost://vault/main/{number}/{}", "a".repeat(length));
        client.ask_any("resources/subscribe", json!({ "uri": uri }))
    };
    let mut first = open();
    let long = subscribe(&mut first, 0, 9000);
    assert_eq!(long["error"]["message"], "resource not found", "{long}");
    for number in 0..1000 {
        let taken = subscribe(&mut first, number, 8100);
        assert!(taken["result"].is_object(), "{number}: {taken}");
    }
    let more = subscribe(&mut first, 1000, 10);
    assert_eq!(more["error"]["code"], -32602, "{more}");
    // Another session of the same caller has no budget of its own.
    let mut second = open();
    let refused = (0..200).find_map(|number| {
        let answer = subscribe(&mut second, number, 8100);
        answer["error"]["message"].as_str().map(str::to_owned)
    });
    let refused = refused.expect("it ends");
    assert!(refused.contains("of one caller"), "{refused}");
}

/// rmcp keeps a finished reply for a client that may ask for it again, and looks after them only when something happens on
/// that session.
#[test]
fn finished_replies_are_not_kept_for_idle_sessions() {
    let (_place, mut server, token) = serve(|settings| {
        (settings.rates.read, settings.limits.reply_tokens) = (0, 1 << 20);
    });
    let read = || {
        let mut client = HttpClient::with_session_and_token(server.address(), Some(&token));
        let note = client.call(
            "document.read",
            json!({ "path": "Work/Long", "max_tokens": 200_000 }),
        );
        let length = note["structuredContent"]["content"].as_str().map(str::len);
        assert!(length.is_some_and(|length| length > 500_000), "{length:?}");
    };
    (0..5).for_each(|_| read());
    let before = memory(&mut server);
    let read = || {
        let mut client = HttpClient::with_session_and_token(server.address(), Some(&token));
        client.call(
            "document.read",
            json!({ "path": "Work/Long", "max_tokens": 200_000 }),
        );
    };
    (0..100).for_each(|_| read());
    let grown = memory(&mut server).saturating_sub(before);
    assert!(grown < 64 << 20, "it took {} MiB", grown >> 20);
}
