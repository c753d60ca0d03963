//! Counts for Prometheus and spans for a collector; and that what notes say is in none of it.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use notehost::config::CallerSettings;
use serde_json::{Value, json};

use super::collector::Collector;
use super::desk::{PATIENCE, audit, desk, over_stdio, program, run, stop};
use super::door::token;
use crate::support::client::{Client, error_code};
use crate::support::http::{Connection, HttpClient, STATELESS, stateless_meta};
use crate::support::place::Place;

/// A word that is in a note and nowhere else.
const SECRET: &str = "zanzibarquokka";

/// `00-<trace>-<span>-01`, and the bytes of both ids.
fn traceparent(letter: &str) -> (String, Vec<u8>, Vec<u8>) {
    let (trace, span) = (letter.repeat(32), letter.repeat(16));
    let bytes = |hex: &str| vec![u8::from_str_radix(&hex[..2], 16).expect("hex"); hex.len() / 2];
    (format!("00-{trace}-{span}-01"), bytes(&trace), bytes(&span))
}

/// A server over HTTP that logs everything into a file.
struct Logged {
    process: Child,
    /// Of a token that may read the metrics.
    admin: String,
    address: String,
    log: std::path::PathBuf,
}

impl Logged {
    fn start(place: &Place) -> Logged {
        let log = place.outside().join("log");
        let words = [
            "serve",
            "--http",
            "127.0.0.1:0",
            "--no-auth",
            "--log",
            "trace",
        ];
        let process = program(place, &words)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&log).expect("a file"))
            .spawn()
            .expect("the program starts");
        let mut server = Logged {
            process,
            admin: format!("Bearer {}", token(place, "boss", &["--scopes", "admin"])),
            address: String::new(),
            log,
        };
        let until = Instant::now() + PATIENCE;
        while server.address.is_empty() {
            let told = std::fs::read_to_string(&server.log).expect("the log");
            assert!(Instant::now() < until, "it does not listen: {told}");
            let address = told.lines().find_map(|line| {
                line.strip_prefix("listening on http://")?
                    .strip_suffix("/mcp")
            });
            server.address = address.unwrap_or_default().to_owned();
            std::thread::sleep(Duration::from_millis(20));
        }
        server
    }

    fn metrics(&self) -> String {
        let headers = [("Authorization", self.admin.as_str())];
        let answer = Connection::open(&self.address).ask("GET", "/metrics", &headers, "");
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.body
    }
}

impl Drop for Logged {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The value of the metric line that has this name and all of these labels; 0 if there is none.
fn value(metrics: &str, name: &str, labels: &[&str]) -> f64 {
    let fits = |line: &&str| {
        let rest = line.strip_prefix(name);
        rest.is_some_and(|rest| {
            rest.starts_with(['{', ' ']) && labels.iter().all(|label| rest.contains(label))
        })
    };
    let mut lines = metrics.lines().filter(fits);
    let found = lines
        .next()
        .and_then(|line| line.rsplit(' ').next()?.parse().ok());
    assert_eq!(lines.next(), None, "{name} {labels:?} is one line");
    found.unwrap_or_default()
}

#[test]
fn calls_are_counted() {
    let place = desk(|settings| {
        settings.rates.delete = 1;
        let scopes = ["document:read", "document:write", "document:delete"].map(str::to_owned);
        let caller = CallerSettings {
            scopes: Some(scopes.to_vec()),
            ..CallerSettings::default()
        };
        settings.callers.insert("http".into(), caller);
    });
    let server = Logged::start(&place);
    let mut client = HttpClient::stateless(&server.address);
    for (name, arguments, code) in [
        ("document.read", json!({"path": "Work/Plan"}), None),
        ("document.read", json!({"path": "Work/Plan"}), None),
        (
            "document.read",
            json!({"path": "Work/Absent"}),
            Some("not_found"),
        ),
        (
            "document.create",
            json!({"path": "Work/New.md", "content": "12345678\n"}),
            None,
        ),
        (
            "document.remove",
            json!({"paths": ["Work/Old"]}),
            Some("confirmation_required"),
        ),
        (
            "document.remove",
            json!({"paths": ["Work/Old"]}),
            Some("throttled"),
        ),
        ("notebook.list", json!({}), Some("forbidden")),
        ("document.cardinality1", json!({}), Some("not_found")),
        ("cardinality2.read", json!({}), Some("not_found")),
    ] {
        let result = client.call(name, arguments);
        assert_eq!(error_code(&result), code, "{name}: {result}");
    }
    let metrics = server.metrics();
    let calls = |domain: &str, action: &str, outcome: &str| {
        let labels = [
            ("domain", domain),
            ("action", action),
            ("outcome", outcome),
            ("transport", "http"),
        ]
        .map(|(name, value)| format!("{name}=\"{value}\""));
        value(
            &metrics,
            "notehost_calls_total",
            &labels.each_ref().map(String::as_str),
        )
    };
    assert_eq!(calls("document", "read", "ok"), 2.0, "{metrics}");
    assert_eq!(calls("document", "read", "not_found"), 1.0);
    assert_eq!(calls("document", "create", "ok"), 1.0);
    assert_eq!(calls("document", "remove", "throttled"), 1.0);
    assert_eq!(calls("notebook", "list", "forbidden"), 1.0);
    // Nobody outside can make new names.
    assert_eq!(calls("other", "other", "not_found"), 2.0);
    assert!(!metrics.contains("cardinality"), "{metrics}");
    let read = ["domain=\"document\"", "action=\"read\""];
    assert_eq!(
        value(&metrics, "notehost_call_duration_seconds_count", &read),
        3.0
    );
    let all = [read[0], read[1], "le=\"+Inf\""];
    assert_eq!(
        value(&metrics, "notehost_call_duration_seconds_bucket", &all),
        3.0
    );
    assert!(value(&metrics, "notehost_call_duration_seconds_sum", &read) > 0.0);
    assert_eq!(value(&metrics, "notehost_bytes_written_total", &[]), 9.0);
    assert_eq!(value(&metrics, "notehost_throttled_total", &[]), 1.0);
    assert_eq!(
        value(&metrics, "notehost_confirmations_asked_total", &[]),
        1.0
    );
    assert_eq!(value(&metrics, "notehost_calls_in_flight", &[]), 0.0);
    assert_eq!(value(&metrics, "notehost_audit_lost_total", &[]), 0.0);
    assert!(value(&metrics, "notehost_uptime_seconds", &[]) > 0.0);
    let version = format!("version=\"{}\"", env!("CARGO_PKG_VERSION"));
    assert_eq!(value(&metrics, "notehost_build_info", &[&version]), 1.0);
}

#[test]
fn every_call_is_a_span_of_its_callers_trace() {
    let collector = Collector::start();
    let place = desk(|settings| {
        settings.telemetry.otlp_endpoint = Some(format!("http://{}", collector.address));
    });
    // In the message.
    let mut client = over_stdio(&place);
    let (told, trace, span) = traceparent("a");
    let call = json!({"name": "document__read", "arguments": {"path": "Work/Plan"}, "_meta": {"traceparent": told}});
    assert_eq!(client.ask("tools/call", call)["isError"], false);
    let call = json!({"name": "document__read", "arguments": {"path": "Work/Absent"}, "_meta": {"traceparent": "made up"}});
    assert_eq!(client.ask("tools/call", call)["isError"], true);
    // Whoever began this trace does not want it kept.
    let (unwanted, unwanted_trace, _) = traceparent("c");
    let unwanted = unwanted.replace("-01", "-00");
    let call =
        json!({"name": "document__list", "arguments": {}, "_meta": {"traceparent": unwanted}});
    assert_eq!(client.ask("tools/call", call)["isError"], false);
    collector.wait_for(b"document.read");
    collector.wait_for(&trace);
    collector.wait_for(&span);
    collector.wait_for(b"not_found");
    stop(client.process());
    assert!(!collector.has(&unwanted_trace) && !collector.has(b"document.list"));

    // In a header.
    let server = Logged::start(&place);
    let (told, trace, _) = traceparent("b");
    let mut params = json!({"name": "document__list", "arguments": {}});
    params["_meta"] = stateless_meta();
    let body =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let headers = [
        ("MCP-Protocol-Version", STATELESS),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "document__list"),
        ("traceparent", &told),
    ];
    let answer = Connection::open(&server.address)
        .ask("POST", "/mcp", &headers, &body)
        .message();
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    collector.wait_for(&trace);
    collector.wait_for(b"document.list");

    // From the environment, and sent before the process ends.
    let (told, trace, _) = traceparent("d");
    drop(server);
    let ended = run(program(&place, &["call", "notebook", "list"]).env("TRACEPARENT", told));
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    assert!(
        collector.has(&trace) && collector.has(b"notebook.list"),
        "it was sent before the end"
    );

    for told in [
        "notehost.outcome",
        "notehost.transport",
        "stdio",
        "http",
        "cli",
        "service.name",
        "0.1.0",
    ] {
        assert!(collector.has(told.as_bytes()), "{told}");
    }
    for kept_back in ["Plan", "Absent", "Work", "write tests"] {
        assert!(!collector.has(kept_back.as_bytes()), "{kept_back}");
    }
}

#[test]
fn a_collector_that_is_gone_is_told_of_once() {
    // A port that was just free, and that nobody listens on.
    let address = TcpListener::bind("127.0.0.1:0")
        .and_then(|gone| gone.local_addr())
        .expect("a port");
    let place =
        desk(|settings| settings.telemetry.otlp_endpoint = Some(format!("http://{address}")));
    let log = place.outside().join("log");
    let mut server = program(&place, &["serve"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(File::create(&log).expect("a file"))
        .spawn()
        .expect("the program starts");
    let mut input = server.stdin.take().expect("its stdin is ours");
    let output = server.stdout.take().expect("its stdout is ours");
    let mut lines = vec![
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
            "capabilities": {}, "clientInfo": {"name": "tests", "version": "0"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ];
    // More than are sent at once, so that it fails several times.
    lines.extend((1..=600).map(|id| {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "document__read", "arguments": {"path": "Work/Plan"}}})
    }));
    let writing = std::thread::spawn(move || {
        for line in lines {
            writeln!(input, "{line}").expect("the program reads");
        }
    });
    let answers: Vec<Value> = BufReader::new(output)
        .lines()
        .map_while(Result::ok)
        .map(|line| serde_json::from_str(&line).expect("a message"))
        .filter(|message: &Value| message["id"].is_u64())
        .collect();
    writing.join().expect("no panic");
    assert_eq!(server.wait().expect("it ends").code(), Some(0));
    assert_eq!(answers.len(), 601);
    assert!(
        answers
            .iter()
            .skip(1)
            .all(|answer| answer["result"]["isError"] == false)
    );
    let told = std::fs::read_to_string(&log).expect("the log");
    assert_eq!(told.matches("cannot send traces").count(), 1, "{told}");
}

/// Calls that touch a note with the secret word, in every way that may end differently.
fn touch(mut call: impl FnMut(&str, Value) -> Value) {
    let calls = [
        ("document.read", json!({"path": "Work/Diary"}), None),
        (
            "document.append",
            json!({"path": "Work/Diary", "text": format!("more {SECRET}")}),
            None,
        ),
        (
            "document.append",
            json!({"path": "Closed/Law", "text": SECRET}),
            Some("permission_denied"),
        ),
        (
            "document.create",
            json!({"path": "Work/Diary.md", "content": SECRET}),
            Some("already_exists"),
        ),
        (
            "document.create",
            json!({"path": "Work/Other.md", "content": SECRET, "dry_run": true}),
            None,
        ),
        (
            "document.create",
            json!({"path": "Work/Other.md", "content": SECRET}),
            None,
        ),
        (
            "document.read",
            json!({"path": "Work/Diary", "nonsense": SECRET}),
            Some("validation_error"),
        ),
        (
            "document.remove",
            json!({"paths": ["Work/Diary"]}),
            Some("confirmation_required"),
        ),
        (
            "document.append",
            json!({"path": "Work/Diary", "text": [SECRET]}),
            Some("validation_error"),
        ),
    ];
    for (name, arguments, code) in calls {
        let result = call(name, arguments);
        assert_eq!(error_code(&result), code, "{name}: {result}");
    }
}

#[test]
fn what_notes_say_is_in_no_record() {
    let collector = Collector::start();
    let place = desk(|settings| {
        settings.telemetry.otlp_endpoint = Some(format!("http://{}", collector.address));
    });
    place.write("Work/Diary.md", format!("# Diary\n\n{SECRET}\n"));
    let mut server = Logged::start(&place);
    let mut client = HttpClient::stateless(&server.address);
    let read = client.call("document.read", json!({"path": "Work/Diary"}));
    assert!(
        read.to_string().contains(SECRET),
        "the note says it: {read}"
    );
    touch(|name, arguments| client.call(name, arguments));
    let metrics = server.metrics();
    stop(&mut server.process);
    let log = std::fs::read_to_string(&server.log).expect("the log");
    // The calls are there, in all four.
    assert!(
        log.contains("already_exists"),
        "the log tells of calls: {log}"
    );
    assert!(metrics.contains("already_exists"), "{metrics}");
    collector.wait_for(b"already_exists");
    let rows = audit(&place, &["--outcome", "already_exists"]);
    assert_eq!(rows.len(), 1);
    // What they were about is not.
    let rows = audit(&place, &["--export", "-"]);
    assert_eq!(rows.len(), 10, "{rows:?}");
    assert!(!json!(rows).to_string().contains(SECRET), "{rows:?}");
    assert!(!log.contains(SECRET), "{log}");
    assert!(
        !metrics.contains(SECRET) && !metrics.contains("Diary"),
        "{metrics}"
    );
    assert!(!collector.has(SECRET.as_bytes()) && !collector.has(b"Diary"));

    // Over stdio, and the command line's own records.
    place.write("Work/Diary.md", format!("# Diary\n\n{SECRET}\n"));
    std::fs::remove_file(place.vault().join("Work/Other.md")).expect("it is there");
    let mut client: Client = over_stdio(&place);
    touch(|name, arguments| client.call(name, arguments));
    stop(client.process());
    let ended = run(&mut program(
        &place,
        &[
            "call",
            "document",
            "read",
            "--path",
            "Work/Diary",
            "--log",
            "trace",
        ],
    ));
    assert!(
        ended.output.contains(SECRET) && !ended.errors.contains(SECRET),
        "{ended:#?}"
    );
    let rows = audit(&place, &["--export", "-"]);
    assert_eq!(rows.len(), 20, "{rows:?}");
    assert!(!json!(rows).to_string().contains(SECRET), "{rows:?}");
    assert!(!collector.has(SECRET.as_bytes()) && !collector.has(b"Diary"));
}
