//! Sessions beside each other: each is a caller of its own, with its own permissions.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{config, holder, narrow, place, run, text_of};
use crate::support::client::{Client, error_code};
use crate::support::program::{Server, wait_until};

fn start(config: &std::path::Path, place: &crate::support::place::Place) -> Client {
    Client::start(config, &place.state())
}

#[test]
fn clients_and_the_command_line_share_a_vault() {
    let place = place();
    let config = config(&place, "both", |_| {});
    let mut first = start(&config, &place);
    let mut second = start(&config, &place);
    assert_eq!(holder(&place), Some(first.process().id()));
    for (number, client) in [&mut first, &mut second].into_iter().enumerate() {
        let line = json!({"path": "Work/Plan", "text": format!("line {number}")});
        let appended = client.call("document.append", line);
        assert_eq!(error_code(&appended), None, "{appended}");
    }
    let appended = run(
        &place,
        &config,
        &[
            "call",
            "document",
            "append",
            "--path",
            "Work/Plan",
            "--text",
            "line 2",
        ],
    );
    assert!(appended.status.success(), "{}", text_of(&appended));
    for client in [&mut first, &mut second] {
        let read = client.call("document.read", json!({"path": "Work/Plan"}));
        let content = read["structuredContent"]["content"].as_str().expect("text");
        for number in 0..3 {
            assert_eq!(content.matches(&format!("line {number}")).count(), 1);
        }
    }
    let listed = run(&place, &config, &["history", "list", "--json-output"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    let callers = listed["items"].as_array().expect("items").iter();
    let callers: Vec<&str> = callers.filter_map(|item| item["caller"].as_str()).collect();
    assert_eq!(
        callers,
        ["cli", "stdio (tests)", "stdio (tests)"],
        "{listed}"
    );
    second.disconnect();
    let read = first.call("document.read", json!({"path": "Work/Plan"}));
    assert_eq!(error_code(&read), None, "{read}");
}

/// What a session with `narrow` settings must not do or see.
fn assert_narrow(client: &mut Client) {
    let listed = client.call("document.list", json!({}));
    assert!(!listed.to_string().contains("Secret"), "{listed}");
    let found = client.call("search.text", json!({"query": "xyzzy"}));
    assert!(!found.to_string().contains("Secret"), "{found}");
    let hidden = client.call("document.read", json!({"path": "Diary/Secret"}));
    let absent = client.call("document.read", json!({"path": "Diary/Absent"}));
    assert_eq!(error_code(&hidden), Some("not_found"), "{hidden}");
    assert_eq!(
        hidden.to_string().replace("Secret", "Absent"),
        absent.to_string()
    );
    let append = json!({"path": "Work/Plan", "text": "more"});
    let refused = client.call("document.append", append);
    assert_eq!(error_code(&refused), Some("permission_denied"), "{refused}");
}

fn assert_wide(client: &mut Client) {
    let read = client.call("document.read", json!({"path": "Diary/Secret"}));
    assert_eq!(error_code(&read), None, "{read}");
    let append = json!({"path": "Diary/Secret", "text": "more"});
    let appended = client.call("document.append", append);
    assert_eq!(error_code(&appended), None, "{appended}");
}

#[test]
fn each_session_has_its_own_permissions() {
    for narrow_first in [true, false] {
        let place = place();
        let (narrow, wide) = (
            config(&place, "narrow", narrow),
            config(&place, "wide", |_| {}),
        );
        let order = match narrow_first {
            true => [&narrow, &wide],
            false => [&wide, &narrow],
        };
        let mut clients = order.map(|config| start(config, &place));
        for _ in 0..2 {
            let [first, second] = &mut clients;
            let (narrow, wide) = match narrow_first {
                true => (first, second),
                false => (second, first),
            };
            assert_narrow(narrow);
            assert_wide(wide);
        }
    }
}

#[test]
fn a_session_follows_its_own_config_and_nobody_elses() {
    let place = place();
    let wide = config(&place, "wide", |_| {});
    let own = config(&place, "own", |_| {});
    let _holder = start(&wide, &place);
    let mut second = start(&own, &place);
    assert_wide(&mut second);
    config(&place, "own", narrow);
    wait_until("the config is read again", || {
        let read = second.call("document.read", json!({"path": "Diary/Secret"}));
        error_code(&read) == Some("not_found")
    });
    assert_narrow(&mut second);
    // The client itself cannot do what its server does.
    let settings = json!({
        "permissions": {"default": "rwd", "notebooks": {}, "rules": []},
        "callers": {}, "surface": "domain", "confirm": "never", "read_only": false,
        "vaults": {"main": {"read_only": false}},
    });
    for session in [json!(""), Value::Null] {
        let forged = json!({"session": session, "settings": settings});
        second.notify("notehost/session", forged);
    }
    assert_narrow(&mut second);
}

#[test]
fn questions_reach_the_client_of_their_session() {
    let place = place();
    let config = config(&place, "both", |settings| {
        settings.confirm = notehost::config::Confirm::Floor;
    });
    let mut first = start(&config, &place);
    let mut command = Command::new(crate::support::program());
    command
        .args(["serve", "--config"])
        .arg(&config)
        .arg("--state");
    let mut second = Client::spawn(command.arg(place.state()));
    second.initialize_with_elicitation(json!({"action": "accept", "content": {"approve": true}}));
    let removed = second.call("document.remove", json!({"paths": ["Work/Plan"]}));
    assert_eq!(error_code(&removed), None, "{removed}");
    assert_eq!(second.elicitations().len(), 1);
    assert!(place.read("Work/Plan.md").is_none());
    let refused = first.call("document.remove", json!({"paths": ["Diary/Secret"]}));
    assert_eq!(
        error_code(&refused),
        Some("confirmation_required"),
        "{refused}"
    );
}

#[test]
fn a_server_over_http_is_shared_too() {
    let place = place();
    let config = config(&place, "both", |_| {});
    let mut server = Server::start(&config, &place.state());
    let mut client = start(&config, &place);
    assert_wide(&mut client);
    server.process().kill().expect("killed");
    server.process().wait().expect("collected");
    assert_wide(&mut client);
    assert_eq!(holder(&place), Some(client.process().id()));
}

#[test]
fn contradicting_configs_are_reported_in_one_sentence() {
    let place = place();
    let wide = config(&place, "wide", |_| {});
    let other = config(&place, "other", |settings| settings.limits.call_ms = 9_999);
    let _holder = start(&wide, &place);
    let mut command = Command::new(crate::support::program());
    command
        .args(["serve", "--config"])
        .arg(&other)
        .arg("--state");
    command.arg(place.state()).stdin(Stdio::null());
    let output = command.output().expect("the program runs");
    assert!(output.status.success(), "{}", text_of(&output));
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        errors.contains("its config decides `limits`, where yours differs"),
        "{errors}"
    );
}

#[test]
fn one_process_serves_stdio_and_http() {
    let place = place();
    let config = config(&place, "both", |_| {});
    let mut command = Command::new(crate::support::program());
    command.args([
        "serve",
        "--http",
        "127.0.0.1:0",
        "--stdio",
        "--no-auth",
        "--config",
    ]);
    command.arg(&config).arg("--state").arg(place.state());
    let mut client = Client::spawn_with(&mut command, Stdio::piped());
    let errors = client.process().stderr.take().expect("its stderr is ours");
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(errors));
    let url = lines.find_map(|line| {
        let line = line.expect("text");
        line.strip_prefix("listening on ").map(str::to_owned)
    });
    client.initialize();
    assert_wide(&mut client);
    let url = url.expect("it listens");
    let mut command = Command::new(crate::support::program());
    command.args([
        "call",
        "document",
        "read",
        "--path",
        "Work/Plan",
        "--server",
        &url,
    ]);
    let output = command.output().expect("the program runs");
    assert!(output.status.success(), "{}", text_of(&output));
    client.disconnect();
    assert_eq!(holder(&place), None);
    drop(lines);
}
