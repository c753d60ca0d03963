//! Metrics for Prometheus and spans for a collector, without contents of notes.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use notehost::config::CallerSettings;
use serde_json::{Value, json};

use super::auth_setup::token;
use super::collector::Collector;
use super::setup::{TIMEOUT, audit, over_stdio, place_with_notes, program, run, stop};
use crate::support::client::{Client, error_code};
use crate::support::http::{Connection, HttpClient, STATELESS, stateless_meta};
use crate::support::place::Place;

/// A word that occurs only in a note.
const SECRET: &str = "zanzibarquokka";

/// `00-<trace>-<span>-01`, and the bytes of both ids.
fn traceparent(letter: &str) -> (String, Vec<u8>, Vec<u8>) {
    let (trace, span) = (letter.repeat(32), letter.repeat(16));
    let bytes = |hex: &str| vec![u8::from_str_radix(&hex[..2], 16).expect("hex"); hex.len() / 2];
    (format!("00-{trace}-{span}-01"), bytes(&trace), bytes(&span))
}

/// A server over HTTP that logs everything into a file.
struct LoggedServer {
    process: Child,
    /// A token that may read the metrics.
    admin: String,
    address: String,
    log: std::path::PathBuf,
}

impl LoggedServer {
    fn start(place: &Place) -> LoggedServer {
        let log = place.outside().join("log");
        let arguments = [
            "serve",
            "--http",
            "127.0.0.1:0",
            "--no-auth",
            "--log",
            "trace",
        ];
        let process = program(place, &arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&log).expect("a file"))
            .spawn()
            .expect("the program starts");
        let mut server = LoggedServer {
            process,
            admin: format!("Bearer {}", token(place, "boss", &["--scopes", "admin"])),
            address: String::new(),
            log,
        };
        let until = Instant::now() + TIMEOUT;
        while server.address.is_empty() {
            let log_text = std::fs::read_to_string(&server.log).expect("the log");
            assert!(Instant::now() < until, "it does not listen: {log_text}");
            let address = log_text.lines().find_map(|line| {
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

impl Drop for LoggedServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The value of the metric with this name and all of these labels; 0 if there is none.
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
fn metrics_count_calls() {
    let place = place_with_notes(|settings| {
        settings.rates.delete = 1;
        let scopes = ["document:read", "document:write", "document:delete"].map(str::to_owned);
        let caller = CallerSettings {
            scopes: Some(scopes.to_vec()),
            ..CallerSettings::default()
        };
        settings.callers.insert("http".into(), caller);
    });
    let server = LoggedServer::start(&place);
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
    // Callers cannot create new label values.
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
fn every_call_is_a_span_in_the_callers_trace() {
    let collector = Collector::start();
    let place = place_with_notes(|settings| {
        settings.telemetry.otlp_endpoint = Some(format!("http://{}", collector.address));
    });
    // In the message.
    let mut client = over_stdio(&place);
    let (header, trace, span) = traceparent("a");
    let call = json!({"name": "document__read", "arguments": {"path": "Work/Plan"}, "_meta": {"traceparent": header}});
    assert_eq!(client.ask("tools/call", call)["isError"], false);
    let call = json!({"name": "document__read", "arguments": {"path": "Work/Absent"}, "_meta": {"traceparent": "made up"}});
    assert_eq!(client.ask("tools/call", call)["isError"], true);
    // A trace that its caller does not sample.
    let (unwanted, unwanted_trace, _) = traceparent("c");
    let unwanted = unwanted.replace("-01", "-00");
    let call =
        json!({"name": "document__list", "arguments": {}, "_meta": {"traceparent": unwanted}});
    assert_eq!(client.ask("tools/call", call)["isError"], false);
    collector.wait_for(b"document.read");
    for stage in ["claim", "run", "commit", "govern"] {
        collector.wait_for(format!("notehost.{stage}").as_bytes());
    }
    collector.wait_for(&trace);
    collector.wait_for(&span);
    collector.wait_for(b"not_found");
    stop(client.process());
    assert!(!collector.has(&unwanted_trace) && !collector.has(b"document.list"));

    // In a header.
    let server = LoggedServer::start(&place);
    let (header, trace, _) = traceparent("b");
    let mut params = json!({"name": "document__list", "arguments": {}});
    params["_meta"] = stateless_meta();
    let body =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let headers = [
        ("MCP-Protocol-Version", STATELESS),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "document__list"),
        ("traceparent", &header),
    ];
    let answer = Connection::open(&server.address)
        .ask("POST", "/mcp", &headers, &body)
        .message();
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    collector.wait_for(&trace);
    collector.wait_for(b"document.list");

    // From the environment, and exported before the process exits.
    let (header, trace, _) = traceparent("d");
    drop(server);
    let result = run(program(&place, &["call", "notebook", "list"]).env("TRACEPARENT", header));
    assert_eq!(result.code, Some(0), "{result:#?}");
    assert!(
        collector.has(&trace) && collector.has(b"notebook.list"),
        "it was sent before the end"
    );

    for header in [
        "notehost.outcome",
        "notehost.transport",
        "stdio",
        "http",
        "cli",
        "service.name",
        "0.1.0",
    ] {
        assert!(collector.has(header.as_bytes()), "{header}");
    }
    for kept_back in ["Plan", "Absent", "Work", "write tests"] {
        assert!(!collector.has(kept_back.as_bytes()), "{kept_back}");
    }
}

#[test]
fn unreachable_collector_is_logged_once() {
    // A free port without a listener.
    let address = TcpListener::bind("127.0.0.1:0")
        .and_then(|gone| gone.local_addr())
        .expect("a port");
    let place = place_with_notes(|settings| {
        settings.telemetry.otlp_endpoint = Some(format!("http://{address}"))
    });
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
    // More than one batch, so that the export fails several times.
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
    let report = std::fs::read_to_string(&log).expect("the log");
    assert_eq!(report.matches("cannot send traces").count(), 1, "{report}");
}

/// Calls on a note with the secret word, with every kind of outcome.
fn make_calls(mut call: impl FnMut(&str, Value) -> Value) {
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
fn note_contents_never_appear_in_telemetry() {
    let collector = Collector::start();
    let place = place_with_notes(|settings| {
        settings.telemetry.otlp_endpoint = Some(format!("http://{}", collector.address));
    });
    place.write("Work/Diary.md", format!("# Diary\n\n{SECRET}\n"));
    let mut server = LoggedServer::start(&place);
    let mut client = HttpClient::stateless(&server.address);
    let read = client.call("document.read", json!({"path": "Work/Diary"}));
    assert!(
        read.to_string().contains(SECRET),
        "the note contains it: {read}"
    );
    make_calls(|name, arguments| client.call(name, arguments));
    let metrics = server.metrics();
    stop(&mut server.process);
    let log = std::fs::read_to_string(&server.log).expect("the log");
    // The calls are recorded in all four.
    assert!(
        log.contains("already_exists"),
        "the log contains calls: {log}"
    );
    assert!(metrics.contains("already_exists"), "{metrics}");
    collector.wait_for(b"already_exists");
    let rows = audit(&place, &["--outcome", "already_exists"]);
    assert_eq!(rows.len(), 1);
    // Their contents are not.
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
    make_calls(|name, arguments| client.call(name, arguments));
    stop(client.process());
    let result = run(&mut program(
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
        result.output.contains(SECRET) && !result.errors.contains(SECRET),
        "{result:#?}"
    );
    let rows = audit(&place, &["--export", "-"]);
    assert_eq!(rows.len(), 20, "{rows:?}");
    assert!(!json!(rows).to_string().contains(SECRET), "{rows:?}");
    assert!(!collector.has(SECRET.as_bytes()) && !collector.has(b"Diary"));
}
