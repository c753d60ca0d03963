//! Circuit breaker, usage counts and logs of components: through the built program.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use notehost::config::{GrantSettings, Settings};
use serde_json::{Value, json};

use super::auth_setup::token;
use super::setup::{over_http, over_stdio, place_with_notes, program, run};
use crate::support::client::error_code;
use crate::support::guests::guest;
use crate::support::http::{Connection, HttpClient, wait_until};
use crate::support::place::{Place, component};

/// The hostile guest, with a threshold of two failures.
fn settings_with_breaker(settings: &mut Settings) {
    let grant = GrantSettings {
        read: vec!["Work/**".into()],
        ..GrantSettings::default()
    };
    let enemy = component(guest("hostile"), grant);
    settings.components.insert("hostile".into(), enemy);
    settings.limits.call_ms = 120_000;
    settings.supervision.strikes = 2;
    settings.supervision.window_s = 3600;
    // Long enough that it ends only in the tests that wait for it.
    settings.supervision.first_pause_s = 3600;
}

fn status(place: &Place) -> Value {
    let report = run(&mut program(place, &["component", "status", "hostile"])).json();
    report["items"][0].clone()
}

fn code(result: &Value) -> String {
    error_code(result).unwrap_or("ok").to_owned()
}

fn retry_after(result: &Value) -> i64 {
    let details = &result["structuredContent"]["error"]["details"];
    details["retry_after_ms"]
        .as_i64()
        .unwrap_or_else(|| panic!("no pause in {result}"))
}

#[test]
fn circuit_breaker_opens_after_failures_until_an_admin_resets_it() {
    let place = place_with_notes(settings_with_breaker);
    let mut client = over_stdio(&place);
    let call = |client: &mut crate::support::client::Client, action: &str| {
        client.call(&format!("hostile.{action}"), json!({}))
    };
    // Errors of the domain and failures caused by the caller do not count.
    for _ in 0..4 {
        assert_eq!(code(&call(&mut client, "unknown_code")), "component_failed");
        assert_eq!(code(&call(&mut client, "remember")), "ok");
    }
    assert_eq!(code(&call(&mut client, "trap")), "component_failed");
    assert_eq!(code(&call(&mut client, "remember")), "ok");
    assert_eq!(code(&call(&mut client, "recurse")), "component_failed");
    let refused = call(&mut client, "remember");
    assert_eq!(code(&refused), "unavailable", "{refused}");
    let error = &refused["structuredContent"]["error"];
    assert_eq!(error["retryable"], true);
    assert!(retry_after(&refused) > 3_000_000, "{refused}");
    let reason = error["details"]["reason"].as_str().expect("a reason");
    assert_eq!(
        reason,
        "it failed 2 times within 3600 s; the last time, in `hostile.recurse`, it exceeded a limit"
    );
    assert!(
        error["message"]
            .as_str()
            .is_some_and(|report| report.contains(reason))
    );
    // Other components are not affected.
    assert_eq!(
        code(&client.call("document.read", json!({"path": "Work/Plan"}))),
        "ok"
    );

    wait_until("it is recorded", || status(&place)["traps"] == 1);
    let report = status(&place);
    assert_eq!(report["over_limits"], 1, "{report}");
    assert_eq!(report["quarantine"][0]["reason"], reason, "{report}");
    assert_eq!(report["quarantine"][0]["for_caller"], "stdio", "{report}");

    let lifted = run(&mut program(&place, &["component", "enable", "hostile"]));
    assert!(
        lifted.output.contains("its circuit breaker is closed"),
        "{lifted:?}"
    );
    wait_until("it can be called again", || {
        code(&call(&mut client, "remember")) == "ok"
    });
    assert_eq!(status(&place)["quarantine"], json!([]));
    // Earlier failures are cleared.
    assert_eq!(code(&call(&mut client, "trap")), "component_failed");
    assert_eq!(code(&call(&mut client, "remember")), "ok");
}

#[test]
fn failures_of_one_caller_do_not_block_others() {
    let place = place_with_notes(settings_with_breaker);
    let shown = |name: &str, scopes: &str| token(&place, name, &["--scopes", scopes]);
    let (ana, ben, boss) = (
        shown("ana", "read"),
        shown("ben", "read"),
        shown("boss", "admin"),
    );
    let server = over_http(&place);
    let mut watching = Connection::open(server.address());
    let proof = format!("Bearer {boss}");
    watching.send("GET", "/events", &[("Authorization", &proof)], "");
    assert_eq!(watching.receive_head(), 200);
    let client = |shown: &str| HttpClient::stateless(server.address()).with_token(shown);
    let (mut ana, mut ben, mut boss) = (client(&ana), client(&ben), client(&boss));
    let outcome = |client: &mut HttpClient, action: &str| {
        code(&client.call(&format!("hostile.{action}"), json!({})))
    };
    for _ in 0..2 {
        assert_eq!(outcome(&mut ana, "trap"), "component_failed");
    }
    assert_eq!(outcome(&mut ana, "remember"), "unavailable");
    assert_eq!(outcome(&mut ben, "remember"), "ok");
    let report = boss.call("admin.status", json!({"component": "hostile"}));
    let report = &report["structuredContent"]["items"][0];
    assert_eq!(report["traps"], 2, "{report}");
    assert_eq!(report["quarantine"][0]["for_caller"], "ana", "{report}");
    // Once it fails for other callers too, the breaker opens for everybody.
    assert_eq!(outcome(&mut ben, "trap"), "component_failed");
    assert_eq!(outcome(&mut ben, "remember"), "unavailable");
    let report = boss.call("admin.status", json!({"component": "hostile"}));
    let report = &report["structuredContent"]["items"][0]["quarantine"];
    assert_eq!(report.as_array().map(Vec::len), Some(1), "{report}");
    assert_eq!(report[0].get("for_caller"), None, "{report}");
    let done = boss.call("admin.enable", json!({"component": "hostile"}));
    assert_eq!(done["structuredContent"]["released"], true, "{done}");
    assert_eq!(outcome(&mut ana, "remember"), "ok");

    let mut rests = Vec::new();
    while rests.len() < 3 {
        let event = watching.event();
        match event["kind"].as_str() {
            Some("quarantine") => rests.push(event["for_caller"].clone()),
            Some("released") => {
                assert_eq!(event["by"], "admin", "{event}");
                rests.push(json!("released"));
            }
            _ => {}
        }
    }
    assert_eq!(rests, [json!("ana"), Value::Null, json!("released")]);
}

#[test]
fn half_open_breaker_tries_one_call() {
    let place = place_with_notes(|settings| {
        settings_with_breaker(settings);
        settings.supervision.first_pause_s = 1;
    });
    let mut client = over_stdio(&place);
    let mut call = |action: &str| client.call(&format!("hostile.{action}"), json!({}));
    for _ in 0..2 {
        assert_eq!(code(&call("trap")), "component_failed");
    }
    // The trial call fails, so the next pause is longer than the first.
    wait_until("it is tried", || code(&call("trap")) == "component_failed");
    let refused = call("remember");
    assert_eq!(code(&refused), "unavailable");
    let reason = &refused["structuredContent"]["error"]["details"]["reason"];
    let reason = reason.as_str().expect("a reason");
    assert!(reason.contains("the trial call failed too"), "{reason}");
    let report = status(&place);
    let moment = |field: &str| report["quarantine"][0][field].as_str().map(str::to_owned);
    assert!(moment("until") > moment("since"), "{report}");
    // The next trial succeeds, and the breaker closes.
    wait_until("it is tried again", || code(&call("remember")) == "ok");
    assert_eq!(code(&call("remember")), "ok");
    assert_eq!(status(&place)["quarantine"], json!([]));
}

/// The same component with different bytes: an additional custom section.
fn other_version(place: &Place) -> PathBuf {
    let mut bytes = std::fs::read(guest("hostile")).expect("the hostile guest");
    bytes.extend([0, 6, 4, b'n', b'o', b't', b'e', 1]);
    let file = place.outside().join("hostile-2.wasm");
    std::fs::write(&file, bytes).expect("a file");
    file
}

#[test]
fn breaker_resets_for_a_new_version_and_survives_a_restart() {
    let place = place_with_notes(settings_with_breaker);
    let mut client = over_stdio(&place);
    for _ in 0..2 {
        let outcome = client.call("hostile.trap", json!({}));
        assert_eq!(code(&outcome), "component_failed");
    }
    drop(client);
    let mut client = over_stdio(&place);
    let outcome = client.call("hostile.remember", json!({}));
    assert_eq!(code(&outcome), "unavailable", "{outcome}");

    let mut settings = config(&place);
    let enemy = settings
        .components
        .get_mut("hostile")
        .expect("the hostile guest");
    enemy.path = Some(other_version(&place));
    place.config_file(&settings);
    wait_until("the other version answers", || {
        code(&client.call("hostile.remember", json!({}))) == "ok"
    });
}

fn config(place: &Place) -> Settings {
    let text = std::fs::read_to_string(place.root().join("notehost.toml")).expect("the config");
    toml::from_str(&text).expect("settings")
}

#[test]
fn component_usage_and_denials_are_counted() {
    let place = place_with_notes(|settings| {
        settings_with_breaker(settings);
        settings.supervision.strikes = 0;
    });
    let mut client = over_stdio(&place);
    let mut reach = |with: &str, path: &str| {
        let arguments = json!({"with": with, "path": path});
        client.call("hostile.reach_writing", arguments)["structuredContent"].clone()
    };
    // Within its grant: hidden and missing notes.
    assert_eq!(
        reach("read", "Work/Plan.md")["got"],
        "# Plan\n\nwrite tests\n"
    );
    assert_eq!(reach("read", "Work/Nothing.md")["refused"], "not_found");
    assert_eq!(reach("read", ".obsidian/app.json")["refused"], "not_found");
    wait_until("the calls are counted", || status(&place)["calls"] == 3);
    let report = status(&place);
    assert_eq!(report["denials"], 0, "{report}");
    assert!(
        report["memory_bytes"].as_u64() >= Some(64 << 10),
        "{report}"
    );
    assert!(
        report["p50_ms"].as_f64() > Some(0.0)
            && report["p99_ms"].as_f64() >= report["p50_ms"].as_f64()
    );
    // Beyond its grant: hidden, denied, omitted from a list.
    assert_eq!(reach("read", "Closed/Law.md")["refused"], "not_found");
    assert_eq!(
        reach("write", "Work/Plan.md")["refused"],
        "permission_denied"
    );
    let listed = reach("list", "");
    assert!(!listed.to_string().contains("Closed"), "{listed}");
    wait_until("the calls are counted", || status(&place)["calls"] == 6);
    let report = status(&place);
    assert_eq!(report["denials"], 3, "{report}");
    assert_eq!(
        (&report["traps"], &report["timeouts"]),
        (&json!(0), &json!(0)),
        "{report}"
    );
    assert!(
        report["digest"]
            .as_str()
            .is_some_and(|digest| digest.len() >= 64)
    );
}

fn lines(place: &Place, flags: &[&str]) -> Vec<Value> {
    let arguments = [&["component", "log", "hostile"], flags].concat();
    run(&mut program(place, &arguments)).lines()
}

#[test]
fn component_log_is_stored() {
    let place = place_with_notes(settings_with_breaker);
    assert_eq!(lines(&place, &[]), [Value::Null; 0]);
    let mut client = over_stdio(&place);
    client.call("hostile.print", json!({}));
    wait_until("it is written", || lines(&place, &[]).len() == 3);
    let log_lines = lines(&place, &[]);
    let streams: Vec<&str> = log_lines
        .iter()
        .filter_map(|line| line["stream"].as_str())
        .collect();
    assert_eq!(
        streams.iter().filter(|stream| **stream == "stderr").count(),
        1,
        "{log_lines:?}"
    );
    for line in &log_lines {
        assert!(
            line["text"]
                .as_str()
                .is_some_and(|text| text.contains("forged")),
            "{line}"
        );
        assert!(
            line["call"]
                .as_str()
                .is_some_and(|call| call.starts_with("print#")),
            "{line}"
        );
    }
    assert_eq!(lines(&place, &["--lines", "1"]).len(), 1);

    // `--follow` shows new lines.
    let mut following = program(
        &place,
        &["component", "log", "hostile", "--follow", "--lines", "0"],
    );
    let mut following = following
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut output = BufReader::new(following.stdout.take().expect("its stdout"));
    let mut line = String::new();
    // It may start after the first call has ended.
    let reading = std::thread::spawn(move || {
        output.read_line(&mut line).expect("a line");
        line
    });
    wait_until("it is printed", || {
        client.call("hostile.print", json!({}));
        reading.is_finished()
    });
    let line = reading.join().expect("no panic");
    assert!(line.contains("forged"), "{line}");
    following.kill().expect("it runs");
    following.wait().expect("it ends");
}

#[test]
fn component_log_size_is_limited() {
    let place = place_with_notes(|settings| {
        settings_with_breaker(settings);
        let admin = settings.callers.entry("stdio".into()).or_default();
        admin.scopes = Some(["read", "write", "admin"].map(str::to_owned).into());
    });
    let mut client = over_stdio(&place);
    for _ in 0..10 {
        for action in ["flood_output", "flood_log"] {
            let outcome = client.call(&format!("hostile.{action}"), json!({}));
            assert_eq!(code(&outcome), "ok", "{outcome}");
        }
    }
    let report = client.call("admin.log", json!({"component": "hostile", "limit": 5}));
    let items = report["structuredContent"]["items"]
        .as_array()
        .expect("items");
    assert_eq!(items.len(), 5, "{report}");
    let size: u64 = std::fs::read_dir(place.state().join("logs"))
        .expect("the folder")
        .map(|entry| {
            entry
                .and_then(|entry| entry.metadata())
                .expect("a file")
                .len()
        })
        .sum();
    assert!(size > 0 && size <= 512 << 10, "{size} bytes");
    let none = client.call("admin.log", json!({"component": "document"}));
    assert_eq!(none["structuredContent"]["items"], json!([]), "{none}");
    assert!(!Path::new(&place.state().join("logs/document.log")).exists());
}
