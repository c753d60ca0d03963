//! Approvals: a decision is a person's, and the person sees what is lost.

use std::process::Command;

use notehost::config::{Confirm, GrantSettings, Settings};
use notehost::vault::Tier;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::client::{Client, error_code};
use crate::support::guests::guest;
use crate::support::http::{Connection, HttpClient, SESSIONS, Server};
use crate::support::place::{Place, component};

const ALL: &str = "read,write,delete";

pub(super) fn settings(place: &Place) -> Settings {
    Settings {
        confirm: Confirm::Floor,
        ..place.settings()
    }
}

/// The program on the records of a place; what it prints is JSON.
pub(super) fn notehost(place: &Place, words: &[&str]) -> Value {
    let ended = Command::new(env!("CARGO_BIN_EXE_notehost"))
        .args(words)
        .arg("--config")
        .arg(place.root().join("notehost.toml"))
        .arg("--state")
        .arg(place.state())
        .output()
        .expect("the program runs");
    assert!(ended.status.success(), "{words:?}: {ended:?}");
    let text = String::from_utf8_lossy(&ended.stdout);
    match serde_json::from_str(&text) {
        Ok(value) => value,
        // Rows are printed one by one.
        Err(_) => text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
            .collect(),
    }
}

pub(super) fn approval_of(refused: &Value) -> String {
    assert_eq!(
        error_code(refused),
        Some("confirmation_required"),
        "{refused}"
    );
    let details = &refused["structuredContent"]["error"]["details"];
    details["approval"].as_str().expect("an id").to_owned()
}

/// A call of the stateless revision by a client that says that it can ask its user.
fn call_and_answer(client: &mut HttpClient, arguments: &Value, state: Option<&Value>) -> Value {
    ask_tool(client, "document__remove", arguments, state)
}

/// The same for any tool.
pub(super) fn ask_tool(
    client: &mut HttpClient,
    tool: &str,
    arguments: &Value,
    state: Option<&Value>,
) -> Value {
    let mut params = json!({
        "name": tool,
        "arguments": arguments,
        "_meta": {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}},
    });
    if let Some(state) = state {
        let yes = json!({"action": "accept", "content": {"approve": true}});
        params["requestState"] = state.clone();
        params["inputResponses"] = json!({ "approval": yes });
    }
    client.ask("tools/call", params)
}

#[test]
fn a_program_with_a_token_cannot_confirm_its_own_changes() {
    let place = Place::new();
    for note in ["One", "Two", "Three", "Four"] {
        place.write(&format!("Work/{note}.md"), "text\n");
    }
    let scopes = "read,write,delete,admin";
    let script = place.token("script", scopes, false);
    let desktop = place.attended_token("desktop");
    let mut server = Server::start(&place.config_file(&settings(&place)), &place.state());
    let listed = notehost(&place, &["token", "list"]);
    let attended: Vec<&Value> = listed["items"]
        .as_array()
        .expect("tokens")
        .iter()
        .map(|token| &token["attended"])
        .collect();
    assert_eq!(attended, [false, true]);

    // The client of an attended token asks its user.
    let mut client = HttpClient::stateless(server.address()).showing(&desktop);
    let one = json!({"paths": ["Work/One"]});
    let asked = call_and_answer(&mut client, &one, None)["result"].take();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let state = asked["requestState"].clone();
    let removed = call_and_answer(&mut client, &one, Some(&state))["result"].take();
    assert_eq!(error_code(&removed), None, "{removed}");
    assert!(place.read("Work/One.md").is_none());

    // That of any other token is told that somebody else decides, in both revisions.
    let before = place.snapshot();
    let mut client = HttpClient::stateless(server.address()).showing(&script);
    let two = json!({"paths": ["Work/Two"]});
    let refused = call_and_answer(&mut client, &two, None)["result"].take();
    let id = approval_of(&refused);
    let details = &refused["structuredContent"]["error"]["details"];
    assert!(
        details["summary"]
            .as_str()
            .is_some_and(|told| told.contains("Work/Two.md"))
    );
    // Neither a state of somebody else nor one that is made up is taken.
    for state in [state, json!("made-up")] {
        let refused = call_and_answer(&mut client, &two, Some(&state));
        assert!(refused["error"]["code"].is_i64(), "{refused}");
    }
    assert_eq!(approval_of(&with_session(&server, &script, &two)), id);
    // Nor can it decide as an admin.
    let own = client.call("admin.approve", json!({ "id": id }));
    assert_eq!(error_code(&own), Some("forbidden"), "{own}");
    let approved = json!({"paths": ["Work/Two"], "approval": id});
    approval_of(&client.call("document.remove", approved.clone()));
    place.snapshot().assert_same_as(&before);

    // A person does.
    notehost(&place, &["approval", "approve", &id]);
    let removed = client.call("document.remove", approved);
    assert_eq!(error_code(&removed), None, "{removed}");
    assert!(place.read("Work/Two.md").is_none());

    // What a server has to write down it writes when it is asked to end.
    kill_process(Pid::from_child(server.process()), Signal::TERM).expect("the signal is sent");
    assert_eq!(server.process().wait().expect("it ends").code(), Some(0));
    let rows = notehost(&place, &["audit", "--action", "remove", "--outcome", "ok"]);
    let rows = rows.as_array().expect("rows").clone();
    let mut confirmed: Vec<(&str, &str)> = rows
        .iter()
        .map(|row| {
            let text = |name: &str| row[name].as_str().expect("text");
            (text("confirmed"), text("confirmed_by"))
        })
        .collect();
    confirmed.sort_unstable();
    assert_eq!(confirmed, [("approval", "cli"), ("client", "desktop")]);
}

/// The result of `document.remove` in a session whose client says that it can ask its user.
fn with_session(server: &Server, token: &str, arguments: &Value) -> Value {
    let mut connection = Connection::open(server.address());
    let authorization = format!("Bearer {token}");
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": SESSIONS, "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "tests", "version": "0"}}});
    let proof = [("Authorization", authorization.as_str())];
    let answer = connection.ask("POST", "/mcp", &proof, &initialize.to_string());
    let session = answer
        .header("mcp-session-id")
        .expect("a session")
        .to_owned();
    let headers = [
        proof[0],
        ("Mcp-Session-Id", session.as_str()),
        ("MCP-Protocol-Version", SESSIONS),
    ];
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    connection.ask("POST", "/mcp", &headers, &initialized.to_string());
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "document__remove", "arguments": arguments}});
    // A question would be the first message, and the call would wait for its answer.
    let answer = connection.ask("POST", "/mcp", &headers, &call.to_string());
    answer.message()["result"].take()
}

#[test]
fn nobody_without_a_token_is_attended_and_the_config_decides_about_names() {
    let place = Place::new();
    for note in ["One", "Two", "Three"] {
        place.write(&format!("Work/{note}.md"), "text\n");
    }
    let mut settings = settings(&place);
    settings.auth.mode = notehost::config::AuthMode::None;
    for (name, attended) in [("raised", true), ("lowered", false)] {
        let caller = settings.callers.entry(name.into()).or_default();
        caller.attended = Some(attended);
    }
    let (raised, lowered) = (
        place.token("raised", ALL, false),
        place.token("lowered", ALL, true),
    );
    let server = Server::start(&place.config_file(&settings), &place.state());
    let arguments = json!({"paths": ["Work/One"]});
    for (mut client, is_attended) in [
        (HttpClient::stateless(server.address()), false),
        (
            HttpClient::stateless(server.address()).showing(&lowered),
            false,
        ),
        (
            HttpClient::stateless(server.address()).showing(&raised),
            true,
        ),
    ] {
        let asked = call_and_answer(&mut client, &arguments, None)["result"].take();
        match is_attended {
            true => assert_eq!(asked["resultType"], "input_required", "{asked}"),
            false => drop(approval_of(&asked)),
        }
    }
    drop(server);
    // Whoever reaches the address cannot be trusted by name.
    settings.callers.entry("http".into()).or_default().attended = Some(true);
    let refused = Command::new(env!("CARGO_BIN_EXE_notehost"))
        .args(["config", "validate", "--config"])
        .arg(place.config_file(&settings))
        .output()
        .expect("the program runs");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned()
        + &String::from_utf8_lossy(&refused.stdout);
    assert!(!refused.status.success(), "{said}");
    assert!(said.contains("cannot be attended"), "{said}");
}

pub(super) fn numbered(from: usize, to: usize) -> String {
    (from..to).map(|number| format!("word{number} ")).collect()
}

#[test]
fn a_note_cannot_be_wiped_in_small_steps() {
    let place = Place::new();
    place.write("Work/Plan.md", numbered(0, 512));
    let script = place.token("script", ALL, false);
    let other = place.token("other", ALL, false);
    let config = place.config_file(&settings(&place));
    let mut server = Server::start(&config, &place.state());
    let update = |server: &Server, token: &str, path: &str, content: &str, more: Value| {
        let mut arguments = json!({"path": path, "content": content});
        for (key, value) in more.as_object().into_iter().flatten() {
            arguments[key] = value.clone();
        }
        let mut client = HttpClient::stateless(server.address()).showing(token);
        client.call("document.update", arguments)
    };
    let half = format!("{}{}", numbered(0, 256), numbered(1000, 1256));
    let first = update(&server, &script, "Work/Plan", &half, Value::Null);
    assert_eq!(error_code(&first), None, "{first}");
    // What the caller added is its own.
    let own = update(
        &server,
        &script,
        "Work/Plan",
        &numbered(0, 256),
        Value::Null,
    );
    assert_eq!(error_code(&own), None, "{own}");

    // Neither another name of the note nor another start of the server makes it forget.
    let mut client = HttpClient::stateless(server.address()).showing(&script);
    let renamed = client.call(
        "document.rename",
        json!({"path": "Work/Plan", "to": "Plot"}),
    );
    assert_eq!(error_code(&renamed), None, "{renamed}");
    drop(server);
    server = Server::start(&config, &place.state());
    let plot = |content: &str| update(&server, &script, "Work/Plot", content, Value::Null);
    let next = numbered(0, 200);
    let refused = plot(&next);
    let id = approval_of(&refused);
    let details = &refused["structuredContent"]["error"]["details"];
    let summary = details["summary"].as_str().expect("a summary");
    assert!(
        summary.contains("together with earlier calls, losing 56 words"),
        "{summary}"
    );
    // Somebody else dropped nothing yet.
    let dry = json!({"dry_run": true});
    let shown = update(&server, &other, "Work/Plot", &next, dry);
    assert_eq!(error_code(&shown), None, "{shown}");
    // What was dropped can be brought back.
    let more = format!("{}{}", numbered(0, 256), numbered(400, 512));
    let back = plot(&more);
    assert_eq!(error_code(&back), None, "{back}");
    let back = plot(&numbered(0, 256));
    assert_eq!(error_code(&back), None, "{back}");

    notehost(&place, &["approval", "approve", &id]);
    let done = update(
        &server,
        &script,
        "Work/Plot",
        &next,
        json!({ "approval": id }),
    );
    assert_eq!(error_code(&done), None, "{done}");
    // With it counting begins anew.
    let after = plot(&numbered(0, 150));
    assert_eq!(error_code(&after), None, "{after}");
    approval_of(&plot(&numbered(0, 90)));
}

#[test]
fn many_calls_at_once_add_up_too() {
    let place = Place::new();
    let lines: String = (0..200).map(|line| format!("line {line}\n")).collect();
    place.write("Work/Plan.md", &lines);
    let script = place.token("script", ALL, false);
    let server = Server::start(&place.config_file(&settings(&place)), &place.state());
    let mut clients: Vec<HttpClient> = (0..8)
        .map(|_| HttpClient::stateless(server.address()).showing(&script))
        .collect();
    for (number, client) in clients.iter_mut().enumerate() {
        let old: String = (0..10)
            .map(|line| format!("line {}\n", 10 + number * 20 + line))
            .collect();
        let edit = json!({"path": "Work/Plan", "edits": [{"old": old, "new": ""}]});
        client.send_call("document.edit", edit);
    }
    let landed = clients
        .iter_mut()
        .map(|client| client.receive()["result"].take())
        .filter(|result| error_code(result).is_none())
        .count();
    assert_eq!(landed, 2, "more than 20 lines need a person");
}

#[test]
fn the_question_leads_with_what_is_lost() {
    let place = Place::new();
    let kept: String = (0..10).map(|line| format!("line {line}\n")).collect();
    let precious = "precious \u{202e}txet neddih\u{2066}\u{200b}\n";
    place.write(
        "Work/Plan.md",
        format!("{kept}{precious}{}", "more precious\n".repeat(30)),
    );
    let mut client = Client::spawn(
        Command::new(env!("CARGO_BIN_EXE_notehost"))
            .args(["serve", "--config"])
            .arg(place.config_file(&settings(&place)))
            .arg("--state")
            .arg(place.state()),
    );
    client.shake_hands_with_person(json!({"action": "decline"}));
    let content = format!("{}{kept}", "harmless\n".repeat(3000));
    let refused = client.call(
        "document.update",
        json!({"path": "Work/Plan", "content": content}),
    );
    assert_eq!(error_code(&refused), Some("approval_invalid"), "{refused}");
    let message = client.asked()[0]["params"]["message"]
        .as_str()
        .expect("a message")
        .to_owned();
    assert!(message.len() < 5000, "{}", message.len());
    assert!(
        message.starts_with("`document.update` drops content, losing 63 words in "),
        "{message}"
    );
    assert!(
        message.contains("-precious <U+202E>txet neddih<U+2066><U+200B>\n"),
        "{message}"
    );
    assert!(message.contains("notehost approval show "), "{message}");
    client.leave();
    let listed = notehost(&place, &["approval", "list", "--all"]);
    let id = listed["items"][0]["id"].as_str().expect("an id").to_owned();
    let shown = notehost(&place, &["approval", "show", &id]);
    let diff = shown["diff"].as_str().expect("a diff");
    assert_eq!(diff.matches("+harmless\n").count(), 3000);
    assert!(diff.contains("<U+202E>") && !diff.contains('\u{202e}'));
}

#[test]
fn restoring_elsewhere_needs_both_places() {
    let place = Place::new();
    place.write("Work/Plan.md", "text\n");
    let mut settings = place.settings();
    let mut client = Client::start(&place.config_file(&settings), &place.state());
    let removed = client.call("document.remove", json!({"paths": ["Work/Plan"]}));
    let id = removed["structuredContent"]["trash_ids"][0].clone();
    assert!(id.is_string(), "{removed}");
    client.leave();
    settings
        .permissions
        .notebooks
        .insert("Work".into(), Tier::Read);
    let mut client = Client::start(&place.config_file(&settings), &place.state());
    for to in [json!("Other/Plan"), Value::Null] {
        let mut arguments = json!({"trash_id": id, "to": to});
        if to.is_null() {
            arguments = json!({ "trash_id": id });
        }
        let refused = client.call("document.restore", arguments);
        assert_eq!(error_code(&refused), Some("permission_denied"), "{refused}");
    }
    client.leave();
    settings
        .permissions
        .notebooks
        .insert("Work".into(), Tier::Write);
    let mut client = Client::start(&place.config_file(&settings), &place.state());
    let arguments = json!({"trash_id": id, "to": "Other/Plan"});
    let restored = client.call("document.restore", arguments);
    assert_eq!(error_code(&restored), None, "{restored}");
}

/// A client of a server on a note that `slow.stamp` replaces by the time and a random number.
fn with_stamps(place: &Place) -> Client {
    place.write("Work/Plan.md", "some words that will be gone\n");
    let mut settings = settings(place);
    let everything = GrantSettings {
        delete: vec!["**".into()],
        ..GrantSettings::default()
    };
    let slow = component(guest("slow"), everything);
    settings.components.insert("slow".into(), slow);
    Client::start(&place.config_file(&settings), &place.state())
}

#[test]
fn an_approved_call_runs_with_the_clock_and_the_randomness_that_were_shown() {
    let place = Place::new();
    let mut client = with_stamps(&place);
    let stamp = json!({"path": "Work/Plan.md"});
    let refused = client.call("slow.stamp", stamp.clone());
    let id = approval_of(&refused);
    // The same call asks the same question, and not another one each time.
    assert_eq!(approval_of(&client.call("slow.stamp", stamp.clone())), id);
    let diff = &refused["structuredContent"]["error"]["details"]["diff"];
    let diff = diff.as_str().expect("a diff").to_owned();
    notehost(&place, &["approval", "approve", &id]);
    let done = client.call(
        "slow.stamp",
        json!({"path": "Work/Plan.md", "approval": id}),
    );
    assert_eq!(error_code(&done), None, "{done}");
    let written = place.read("Work/Plan.md").expect("the note");
    let written = String::from_utf8(written).expect("text");
    assert!(diff.contains(&format!("+{written}")), "{diff}: {written}");
    // Both clocks stand at one moment, and the next call has another one and other random numbers.
    let words: Vec<&str> = written.split_whitespace().collect();
    assert_eq!(format!("{}000000", words[0]), words[1]);
    let next = client.call("slow.stamp", stamp);
    let details = &next["structuredContent"]["error"]["details"];
    let diff = details["diff"].as_str().expect("another question");
    assert!(!diff.contains(&format!("+{written}")), "{diff}");
}

#[test]
fn a_call_that_needs_no_person_any_more_runs_with_a_clock_of_its_own() {
    let place = Place::new();
    let mut client = with_stamps(&place);
    let refused = client.call("slow.stamp", json!({"path": "Work/Plan.md"}));
    let id = approval_of(&refused);
    let diff = &refused["structuredContent"]["error"]["details"]["diff"];
    let diff = diff.as_str().expect("a diff").to_owned();
    // Meanwhile somebody empties the note: nothing is dropped any more.
    place.write("Work/Plan.md", "");
    let done = client.call(
        "slow.stamp",
        json!({"path": "Work/Plan.md", "approval": id}),
    );
    assert_eq!(error_code(&done), None, "{done}");
    let written = place.read("Work/Plan.md").expect("the note");
    let written = String::from_utf8(written).expect("text");
    assert!(!written.is_empty());
    assert!(!diff.contains(&format!("+{written}")), "{diff}: {written}");
}
