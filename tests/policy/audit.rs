//! Every call is recorded, whatever its transport and outcome, and the records can be queried.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use notehost::config::CallerSettings;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::setup::{
    TIMEOUT, audit, over_http, over_stdio, place_with_notes, program, rewrite, run, stop, word,
};
use crate::support::client::{Client, error_code};
use crate::support::http::HttpClient;
use crate::support::place::Place;

/// `transport domain.action outcome`
fn short(row: &Value) -> String {
    let [transport, domain, action, outcome] =
        ["transport", "domain", "action", "outcome"].map(|field| word(row, field));
    format!("{transport} {domain}.{action} {outcome}")
}

/// Some calls over stdio, valid and invalid; returns the change id of the one that wrote.
fn make_calls(client: &mut Client) -> String {
    let calls = [
        ("document.read", json!({"path": "Plan"}), None),
        (
            "document.read",
            json!({"pth": "Work/Plan"}),
            Some("validation_error"),
        ),
        (
            "document.raed",
            json!({"path": "Work/Plan"}),
            Some("not_found"),
        ),
        (
            "document.read",
            json!({"path": "Work/Absent"}),
            Some("not_found"),
        ),
        (
            "document.append",
            json!({"path": "Closed/Law", "text": "x"}),
            Some("permission_denied"),
        ),
        (
            "document.remove",
            json!({"paths": ["Work/Old"]}),
            Some("confirmation_required"),
        ),
    ];
    for (name, arguments, code) in calls {
        let result = client.call(name, arguments);
        assert_eq!(error_code(&result), code, "{name}: {result}");
    }
    let id = client.send("tools/call", json!({"name": "flyaway", "arguments": {}}));
    assert!(client.answer(id)["error"].is_object());
    let help = json!({"name": "document", "arguments": {"action": "help"}});
    assert_eq!(client.ask("tools/call", help)["isError"], false);
    let result = client.call(
        "document.append",
        json!({"path": "Work/Plan", "text": "more"}),
    );
    word(&result["structuredContent"], "change")
}

#[test]
fn every_call_is_recorded() {
    let place = place_with_notes(|settings| {
        // Over HTTP only reading, and only one call at a time.
        let reader = CallerSettings {
            scopes: Some(vec!["read".into()]),
            ..CallerSettings::default()
        };
        settings.callers.insert("http".into(), reader);
        settings.rates.read = 1;
    });
    let mut client = over_stdio(&place);
    let change = make_calls(&mut client);
    assert!(!change.is_empty());
    stop(client.process());

    let mut server = over_http(&place);
    let mut client = HttpClient::stateless(server.address());
    for (name, arguments, code) in [
        ("document.read", json!({"path": "Work/Plan"}), None),
        (
            "document.read",
            json!({"path": "Work/Plan"}),
            Some("throttled"),
        ),
        (
            "document.append",
            json!({"path": "Work/Plan", "text": "x"}),
            Some("forbidden"),
        ),
    ] {
        let result = client.call(name, arguments);
        assert_eq!(error_code(&result), code, "{name}: {result}");
    }
    stop(server.process());

    let call = |args: &[&str]| {
        run(&mut program(
            &place,
            &[&["call", "document"], args].concat(),
        ))
    };
    assert_eq!(call(&["read", "--path", "Work/Plan"]).code, Some(0));
    assert_eq!(call(&["read", "--path", "Work/Absent"]).code, Some(1));

    let rows = audit(&place, &[]);
    let report: Vec<String> = rows.iter().map(short).collect();
    assert_eq!(
        report,
        [
            "stdio document.read ok",
            "stdio document.read validation_error",
            "stdio document.raed not_found",
            "stdio document.read not_found",
            "stdio document.append permission_denied",
            "stdio document.remove confirmation_required",
            "stdio flyaway. not_found",
            "stdio document.help ok",
            "stdio document.append ok",
            "http document.read ok",
            "http document.read throttled",
            "http document.append forbidden",
            "cli document.read ok",
            "cli document.read not_found",
        ]
    );
    let numbers: Vec<i64> = rows
        .iter()
        .filter_map(|row| row["number"].as_i64())
        .collect();
    assert!(
        numbers.is_sorted() && numbers.len() == rows.len(),
        "{numbers:?}"
    );
    for row in &rows {
        assert_eq!(word(row, "arguments").len(), 16, "{row}");
        assert!(
            row["microseconds"].as_i64().is_some_and(|time| time > 0),
            "{row}"
        );
        assert!(
            word(row, "time").starts_with("20") && word(row, "time").ends_with('Z'),
            "{row}"
        );
        assert!(
            row["tokens_out"].as_i64().is_some_and(|tokens| tokens > 0),
            "{row}"
        );
        assert_eq!(
            row["version"].is_string(),
            row["domain"] == "document",
            "{row}"
        );
    }
    assert_eq!(rows[0]["caller"], "stdio (tests)");
    assert_eq!(rows[0]["vault"], "main");
    assert_eq!(
        rows[0]["paths"],
        json!(["Work/Plan.md"]),
        "as the disk spells it"
    );
    assert_eq!(
        rows[4]["paths"],
        json!(["Closed/Law"]),
        "what a refused call was after"
    );
    let appended = &rows[8];
    assert_eq!(appended["change"], change.as_str());
    assert_eq!(appended["paths"], json!(["Work/Plan.md"]));
    let grown =
        place.read("Work/Plan.md").expect("the note").len() - "# Plan\n\nwrite tests\n".len();
    assert_eq!(appended["bytes_added"], json!(grown));
    assert_eq!(appended["bytes_removed"], 0);
    // The same arguments have the same hash, other arguments another one.
    assert_eq!(rows[9]["arguments"], rows[10]["arguments"]);
    assert_ne!(rows[9]["arguments"], rows[3]["arguments"]);
}

#[test]
fn audit_rows_can_be_filtered() {
    let place = place_with_notes(|_| ());
    let mut client = over_stdio(&place);
    make_calls(&mut client);
    stop(client.process());
    run(&mut program(&place, &["call", "document", "list"]));
    let all = audit(&place, &[]);
    assert_eq!(all.len(), 10);
    let found = |flags: &[&str]| audit(&place, flags).len();
    assert_eq!(found(&["--caller", "stdio"]), 9);
    assert_eq!(found(&["--caller", "nobody"]), 0);
    assert_eq!(found(&["--transport", "cli"]), 1);
    assert_eq!(found(&["--domain", "document"]), 9);
    assert_eq!(found(&["--action", "append"]), 2);
    assert_eq!(found(&["--action", "document.append"]), 2);
    assert_eq!(found(&["--action", "notebook.append"]), 0);
    assert_eq!(found(&["--vault", "main", "--action", "read"]), 2);
    assert_eq!(found(&["--path", "Work/Plan.md"]), 3);
    assert_eq!(found(&["--path", "Work/Plan"]), 3);
    assert_eq!(found(&["--path", "Closed"]), 1);
    assert_eq!(found(&["--path", "Clos"]), 0);
    assert_eq!(found(&["--path", "Work/**"]), 5);
    assert_eq!(found(&["--outcome", "ok"]), 4);
    assert_eq!(found(&["--outcome", "failed"]), 6);
    assert_eq!(found(&["--outcome", "not_found", "--action", "read"]), 1);
    assert_eq!(found(&["--since", "1h"]), 10);
    assert_eq!(found(&["--until", "1h"]), 0);
    assert_eq!(
        found(&["--since", "2020-01-01", "--until", "2020-01-02T03:04"]),
        0
    );
    let last: Vec<Value> = audit(&place, &["--limit", "2"]);
    assert_eq!(last, all[8..], "the newest, the newest last");

    for (flags, expected) in [
        (["--outcome", "throtled"], "`throttled`"),
        (["--since", "yesterdya"], "2026-11-01"),
        (["--transport", "pigeon"], "stdio"),
    ] {
        let result = run(&mut program(&place, &[&["audit"], &flags[..]].concat()));
        assert_eq!(result.code, Some(2), "{result:#?}");
        assert!(result.errors.contains(expected), "{result:#?}");
    }
}

#[test]
fn follow_shows_new_calls_of_other_processes() {
    let place = place_with_notes(|_| ());
    let mut client = over_stdio(&place);
    client.call("document.read", json!({"path": "Work/Old"}));
    let mut following = program(&place, &["audit", "--follow", "--action", "read"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let output = BufReader::new(following.stdout.take().expect("its stdout is ours"));
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        output
            .lines()
            .map_while(Result::ok)
            .for_each(|line| drop(sender.send(line)));
    });
    // The first call may precede the start of `--follow` or not; it is shown exactly once.
    let next = || -> Value {
        let line = lines.recv_timeout(TIMEOUT).expect("a row comes");
        serde_json::from_str(&line).expect("a row")
    };
    assert_eq!(next()["paths"], json!(["Work/Old.md"]));
    client.call("document.list", json!({}));
    client.call("document.read", json!({"path": "Work/Plan"}));
    assert_eq!(next()["paths"], json!(["Work/Plan.md"]));
    client.call("document.read", json!({"path": "Work/Gone"}));
    assert_eq!(next()["outcome"], "not_found");
    kill_process(Pid::from_child(&following), Signal::INT).expect("the signal is sent");
    assert_eq!(following.wait().expect("it ends").code(), Some(0));
}

#[test]
fn audit_log_can_be_exported() {
    let place = place_with_notes(|_| ());
    let mut client = over_stdio(&place);
    // More than the default limit of `notehost audit`.
    for _ in 0..120 {
        client.call("document.read", json!({"path": "Work/Plan"}));
    }
    stop(client.process());
    let file = place.outside().join("calls.jsonl");
    let path = file.to_str().expect("text").to_owned();
    let result = run(&mut program(&place, &["audit", "--export", &path]));
    assert_eq!(result.code, Some(0), "{result:#?}");
    assert_eq!(result.json()["calls"], 120);
    let text = std::fs::read_to_string(&file).expect("the export");
    let rows: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a row"))
        .collect();
    assert_eq!(rows.len(), 120);
    assert!(
        rows.iter()
            .all(|row| short(row) == "stdio document.read ok")
    );
    let on_stdout = audit(&place, &["--export", "-", "--limit", "7"]);
    assert_eq!(on_stdout, rows[113..]);
    assert_eq!(
        audit(&place, &["--export", "-", "--until", "1h"]),
        [] as [Value; 0]
    );
}

#[test]
fn old_rows_are_deleted() {
    let place = place_with_notes(|settings| {
        settings.audit.keep_rows = 4;
        settings.audit.keep_days = 30;
    });
    let mut client = over_stdio(&place);
    for number in 0..7 {
        client.call("document.read", json!({"path": format!("Work/{number}")}));
    }
    stop(client.process());
    let numbers = |place: &Place| -> Vec<i64> {
        let rows = audit(place, &[]);
        rows.iter()
            .filter_map(|row| row["number"].as_i64())
            .collect()
    };
    assert_eq!(numbers(&place), [4, 5, 6, 7]);
    let month = 31 * 24 * 60 * 60 * 1000_i64;
    rewrite(
        &place,
        &format!("UPDATE audit SET time = time - {month} WHERE number < 7"),
    );
    run(&mut program(&place, &["call", "document", "list"]));
    assert_eq!(numbers(&place), [7, 8]);
    // Row numbers are never reused.
    rewrite(&place, &format!("UPDATE audit SET time = time - {month}"));
    run(&mut program(&place, &["call", "document", "list"]));
    assert_eq!(numbers(&place), [9]);
}

#[test]
fn stats_numbers_are_correct() {
    let place = place_with_notes(|_| ());
    let mut client = over_stdio(&place);
    for _ in 0..19 {
        client.call("document.read", json!({"path": "Work/Plan"}));
    }
    client.call("document.read", json!({"path": "Work/Absent"}));
    for _ in 0..4 {
        client.call("document.list", json!({}));
    }
    stop(client.process());
    run(&mut program(&place, &["call", "notebook", "list"]));
    // Durations are not predictable, so set them: reads get 1 to 20 ms.
    rewrite(&place, "UPDATE audit SET microseconds = number * 1000");
    let rows = audit(&place, &[]);
    let sum = |field: &str| -> i64 { rows.iter().filter_map(|row| row[field].as_i64()).sum() };
    let stats = |flags: &[&str]| run(&mut program(&place, &[&["stats"], flags].concat())).json();

    let found = stats(&[]);
    assert_eq!(found["total"]["calls"], 25);
    assert_eq!(found["total"]["failed"], 1);
    assert_eq!(found["total"]["error_rate"], 0.04);
    assert_eq!(found["total"]["tokens_in"], sum("tokens_in"));
    assert_eq!(found["total"]["tokens_out"], sum("tokens_out"));
    let read = &found["items"][0];
    assert_eq!(
        (&read["name"], &read["calls"], &read["failed"]),
        (&json!("document.read"), &json!(20), &json!(1))
    );
    assert_eq!(
        (&read["p50_ms"], &read["p95_ms"]),
        (&json!(10.0), &json!(19.0))
    );
    assert_eq!(found["items"][1]["name"], "document.list");
    assert_eq!(found["items"][1]["p50_ms"], 22.0);
    assert_eq!(found["items"][2]["name"], "notebook.list");
    let callers: Vec<(&Value, &Value)> = found["callers"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|caller| (&caller["name"], &caller["calls"]))
        .collect();
    assert_eq!(
        callers,
        [
            (&json!("stdio (tests)"), &json!(24)),
            (&json!("cli"), &json!(1))
        ]
    );
    assert_eq!(
        found["outcomes"],
        json!([{"outcome": "ok", "calls": 24}, {"outcome": "not_found", "calls": 1}])
    );
    let over_time = found["over_time"].as_array().expect("a list");
    assert_eq!(
        over_time
            .iter()
            .filter_map(|part| part["calls"].as_u64())
            .sum::<u64>(),
        25
    );

    assert_eq!(stats(&["--by", "domain"])["items"][0]["calls"], 24);
    assert_eq!(stats(&["--by", "caller"])["items"][1]["name"], "cli");
    let day = stats(&["--by", "day"])["items"][0].take();
    assert!(
        word(&day, "name").len() == 10 && word(&rows[0], "time").starts_with(&word(&day, "name")),
        "{day}"
    );
    assert_eq!(stats(&["--since", "1h"])["total"]["calls"], 25);
    assert_eq!(stats(&["--until", "1h"])["total"]["calls"], 0);
}

#[test]
fn audit_reads_rows_of_a_running_server() {
    let place = place_with_notes(|_| ());
    let mut client = over_stdio(&place);
    client.call("document.read", json!({"path": "Work/Plan"}));
    // Written within moments, before the server exits or another call arrives.
    let until = Instant::now() + TIMEOUT;
    while audit(&place, &[]).is_empty() {
        assert!(Instant::now() < until, "no row comes");
        std::thread::sleep(Duration::from_millis(20));
    }
    let found = run(&mut program(&place, &["stats"])).json();
    assert_eq!(found["total"]["calls"], 1);
}
