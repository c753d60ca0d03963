//! Components that keep failing rest, what they do is counted, and what they say is kept: through the built program.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use notehost::config::{GrantSettings, Settings};
use serde_json::{Value, json};

use super::desk::{desk, over_http, over_stdio, program, run};
use super::door::token;
use crate::support::client::error_code;
use crate::support::guests::guest;
use crate::support::http::{Connection, HttpClient, wait_until};
use crate::support::place::{Place, component};

/// The enemy, of whom two failures are enough.
fn watched(settings: &mut Settings) {
    let grant = GrantSettings {
        read: vec!["Work/**".into()],
        ..GrantSettings::default()
    };
    let enemy = component(guest("hostile"), grant);
    settings.components.insert("hostile".into(), enemy);
    settings.limits.call_ms = 120_000;
    settings.supervision.strikes = 2;
    settings.supervision.window_s = 3600;
    // Only who waits for it sees its end.
    settings.supervision.first_pause_s = 3600;
}

fn status(place: &Place) -> Value {
    let told = run(&mut program(place, &["component", "status", "hostile"])).json();
    told["items"][0].clone()
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
fn a_component_that_keeps_failing_rests_until_an_admin_ends_it() {
    let place = desk(watched);
    let mut client = over_stdio(&place);
    let call = |client: &mut crate::support::client::Client, action: &str| {
        client.call(&format!("hostile.{action}"), json!({}))
    };
    // What is refused politely, and what fails for its caller's sake, is held against nobody.
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
        "it failed 2 times within 3600 s; the last time, in `hostile.recurse`, it wanted more than it may use"
    );
    assert!(
        error["message"]
            .as_str()
            .is_some_and(|told| told.contains(reason))
    );
    // Others go on.
    assert_eq!(
        code(&client.call("document.read", json!({"path": "Work/Plan"}))),
        "ok"
    );

    wait_until("the records tell of it", || status(&place)["traps"] == 1);
    let told = status(&place);
    assert_eq!(told["over_limits"], 1, "{told}");
    assert_eq!(told["quarantine"][0]["reason"], reason, "{told}");
    assert_eq!(told["quarantine"][0]["for_caller"], "stdio", "{told}");

    let lifted = run(&mut program(&place, &["component", "enable", "hostile"]));
    assert!(
        lifted.output.contains("its circuit breaker is closed"),
        "{lifted:?}"
    );
    wait_until("it can be called again", || {
        code(&call(&mut client, "remember")) == "ok"
    });
    assert_eq!(status(&place)["quarantine"], json!([]));
    // What it did before is forgiven.
    assert_eq!(code(&call(&mut client, "trap")), "component_failed");
    assert_eq!(code(&call(&mut client, "remember")), "ok");
}

#[test]
fn one_caller_takes_a_component_from_nobody_else() {
    let place = desk(watched);
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
    let client = |shown: &str| HttpClient::stateless(server.address()).showing(shown);
    let (mut ana, mut ben, mut boss) = (client(&ana), client(&ben), client(&boss));
    let met = |client: &mut HttpClient, action: &str| {
        code(&client.call(&format!("hostile.{action}"), json!({})))
    };
    for _ in 0..2 {
        assert_eq!(met(&mut ana, "trap"), "component_failed");
    }
    assert_eq!(met(&mut ana, "remember"), "unavailable");
    assert_eq!(met(&mut ben, "remember"), "ok");
    let told = boss.call("admin.status", json!({"component": "hostile"}));
    let told = &told["structuredContent"]["items"][0];
    assert_eq!(told["traps"], 2, "{told}");
    assert_eq!(told["quarantine"][0]["for_caller"], "ana", "{told}");
    // As soon as it happens to others as well it rests for everybody.
    assert_eq!(met(&mut ben, "trap"), "component_failed");
    assert_eq!(met(&mut ben, "remember"), "unavailable");
    let told = boss.call("admin.status", json!({"component": "hostile"}));
    let told = &told["structuredContent"]["items"][0]["quarantine"];
    assert_eq!(told.as_array().map(Vec::len), Some(1), "{told}");
    assert_eq!(told[0].get("for_caller"), None, "{told}");
    let done = boss.call("admin.enable", json!({"component": "hostile"}));
    assert_eq!(done["structuredContent"]["released"], true, "{done}");
    assert_eq!(met(&mut ana, "remember"), "ok");

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
fn after_a_pause_one_call_is_tried() {
    let place = desk(|settings| {
        watched(settings);
        settings.supervision.first_pause_s = 1;
    });
    let mut client = over_stdio(&place);
    let mut call = |action: &str| client.call(&format!("hostile.{action}"), json!({}));
    for _ in 0..2 {
        assert_eq!(code(&call("trap")), "component_failed");
    }
    // The trial fails, and so the next pause is longer than the first one was.
    wait_until("it is tried", || code(&call("trap")) == "component_failed");
    let refused = call("remember");
    assert_eq!(code(&refused), "unavailable");
    let reason = &refused["structuredContent"]["error"]["details"]["reason"];
    let reason = reason.as_str().expect("a reason");
    assert!(reason.contains("the trial failed as well"), "{reason}");
    let told = status(&place);
    let moment = |field: &str| told["quarantine"][0][field].as_str().map(str::to_owned);
    assert!(moment("until") > moment("since"), "{told}");
    // The next one goes well, and all is as before.
    wait_until("it is tried again", || code(&call("remember")) == "ok");
    assert_eq!(code(&call("remember")), "ok");
    assert_eq!(status(&place)["quarantine"], json!([]));
}

/// The same component with other bytes: a section that means nothing.
fn other_version(place: &Place) -> PathBuf {
    let mut bytes = std::fs::read(guest("hostile")).expect("the enemy");
    bytes.extend([0, 6, 4, b'n', b'o', b't', b'e', 1]);
    let file = place.outside().join("hostile-2.wasm");
    std::fs::write(&file, bytes).expect("a file");
    file
}

#[test]
fn another_version_begins_with_nothing_held_against_it_and_a_restart_forgets_nothing() {
    let place = desk(watched);
    let mut client = over_stdio(&place);
    for _ in 0..2 {
        let met = client.call("hostile.trap", json!({}));
        assert_eq!(code(&met), "component_failed");
    }
    drop(client);
    let mut client = over_stdio(&place);
    let met = client.call("hostile.remember", json!({}));
    assert_eq!(code(&met), "unavailable", "{met}");

    let mut settings = config(&place);
    let enemy = settings.components.get_mut("hostile").expect("the enemy");
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
fn what_components_use_and_are_denied_is_counted() {
    let place = desk(|settings| {
        watched(settings);
        settings.supervision.strikes = 0;
    });
    let mut client = over_stdio(&place);
    let mut reach = |with: &str, path: &str| {
        let arguments = json!({"with": with, "path": path});
        client.call("hostile.reach_writing", arguments)["structuredContent"].clone()
    };
    // Within its grant, and what nobody may see or has written.
    assert_eq!(
        reach("read", "Work/Plan.md")["got"],
        "# Plan\n\nwrite tests\n"
    );
    assert_eq!(reach("read", "Work/Nothing.md")["refused"], "not_found");
    assert_eq!(reach("read", ".obsidian/app.json")["refused"], "not_found");
    wait_until("the calls are counted", || status(&place)["calls"] == 3);
    let told = status(&place);
    assert_eq!(told["denials"], 0, "{told}");
    assert!(told["memory_bytes"].as_u64() >= Some(64 << 10), "{told}");
    assert!(
        told["p50_ms"].as_f64() > Some(0.0) && told["p99_ms"].as_f64() >= told["p50_ms"].as_f64()
    );
    // Beyond it: hidden, denied, left out of a list.
    assert_eq!(reach("read", "Closed/Law.md")["refused"], "not_found");
    assert_eq!(
        reach("write", "Work/Plan.md")["refused"],
        "permission_denied"
    );
    let listed = reach("list", "");
    assert!(!listed.to_string().contains("Closed"), "{listed}");
    wait_until("the calls are counted", || status(&place)["calls"] == 6);
    let told = status(&place);
    assert_eq!(told["denials"], 3, "{told}");
    assert_eq!(
        (&told["traps"], &told["timeouts"]),
        (&json!(0), &json!(0)),
        "{told}"
    );
    assert!(
        told["digest"]
            .as_str()
            .is_some_and(|digest| digest.len() >= 64)
    );
}

fn lines(place: &Place, flags: &[&str]) -> Vec<Value> {
    let words = [&["component", "log", "hostile"], flags].concat();
    run(&mut program(place, &words)).lines()
}

#[test]
fn what_a_component_says_is_kept() {
    let place = desk(watched);
    assert_eq!(lines(&place, &[]), [Value::Null; 0]);
    let mut client = over_stdio(&place);
    client.call("hostile.print", json!({}));
    wait_until("it is written", || lines(&place, &[]).len() == 3);
    let said = lines(&place, &[]);
    let streams: Vec<&str> = said
        .iter()
        .filter_map(|line| line["stream"].as_str())
        .collect();
    assert_eq!(
        streams.iter().filter(|stream| **stream == "stderr").count(),
        1,
        "{said:?}"
    );
    for line in &said {
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

    // Whoever follows sees what comes.
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
    // It may begin to look after the first call has ended.
    let reading = std::thread::spawn(move || {
        output.read_line(&mut line).expect("a line");
        line
    });
    wait_until("it is told", || {
        client.call("hostile.print", json!({}));
        reading.is_finished()
    });
    let line = reading.join().expect("no panic");
    assert!(line.contains("forged"), "{line}");
    following.kill().expect("it runs");
    following.wait().expect("it ends");
}

#[test]
fn a_component_that_talks_without_end_fills_no_disk() {
    let place = desk(|settings| {
        watched(settings);
        let admin = settings.callers.entry("stdio".into()).or_default();
        admin.scopes = Some(["read", "write", "admin"].map(str::to_owned).into());
    });
    let mut client = over_stdio(&place);
    for _ in 0..10 {
        for action in ["flood_output", "flood_log"] {
            let met = client.call(&format!("hostile.{action}"), json!({}));
            assert_eq!(code(&met), "ok", "{met}");
        }
    }
    let told = client.call("admin.log", json!({"component": "hostile", "limit": 5}));
    let items = told["structuredContent"]["items"]
        .as_array()
        .expect("items");
    assert_eq!(items.len(), 5, "{told}");
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
