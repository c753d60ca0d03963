//! Approvals: only a person decides, and the person sees what would be deleted.

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
pub(super) fn notehost(place: &Place, arguments: &[&str]) -> Value {
    let result = Command::new(crate::support::program())
        .args(arguments)
        .arg("--config")
        .arg(place.root().join("notehost.toml"))
        .arg("--state")
        .arg(place.state())
        .output()
        .expect("the program runs");
    assert!(result.status.success(), "{arguments:?}: {result:?}");
    let text = String::from_utf8_lossy(&result.stdout);
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

/// A call in the stateless revision by a client with the elicitation capability.
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
fn unattended_token_cannot_confirm_its_own_changes() {
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
    let mut client = HttpClient::stateless(server.address()).with_token(&desktop);
    let one = json!({"paths": ["Work/One"]});
    let reply = call_and_answer(&mut client, &one, None)["result"].take();
    assert_eq!(reply["resultType"], "input_required", "{reply}");
    let state = reply["requestState"].clone();
    let removed = call_and_answer(&mut client, &one, Some(&state))["result"].take();
    assert_eq!(error_code(&removed), None, "{removed}");
    assert!(place.read("Work/One.md").is_none());

    // A client with any other token learns that somebody else decides, in both revisions.
    let before = place.snapshot();
    let mut client = HttpClient::stateless(server.address()).with_token(&script);
    let two = json!({"paths": ["Work/Two"]});
    let refused = call_and_answer(&mut client, &two, None)["result"].take();
    let id = approval_of(&refused);
    let details = &refused["structuredContent"]["error"]["details"];
    assert!(
        details["summary"]
            .as_str()
            .is_some_and(|message| message.contains("Work/Two.md"))
    );
    // A state that belongs to another call or is made up is rejected.
    for state in [state, json!("made-up")] {
        let refused = call_and_answer(&mut client, &two, Some(&state));
        assert!(refused["error"]["code"].is_i64(), "{refused}");
    }
    assert_eq!(approval_of(&with_session(&server, &script, &two)), id);
    // It cannot decide as an admin either.
    let own = client.call("admin.approve", json!({ "id": id }));
    assert_eq!(error_code(&own), Some("forbidden"), "{own}");
    let approved = json!({"paths": ["Work/Two"], "approval": id});
    approval_of(&client.call("document.remove", approved.clone()));
    place.snapshot().assert_same_as(&before);

    // A person decides.
    notehost(&place, &["approval", "approve", &id]);
    let removed = client.call("document.remove", approved);
    assert_eq!(error_code(&removed), None, "{removed}");
    assert!(place.read("Work/Two.md").is_none());

    // The server writes its pending records when it is asked to exit.
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

/// The result of `document.remove` in a session whose client has the elicitation capability.
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
    // An elicitation would be the first message, and the call would wait for its reply.
    let answer = connection.ask("POST", "/mcp", &headers, &call.to_string());
    answer.message()["result"].take()
}

#[test]
fn callers_without_a_token_are_unattended_and_the_config_decides_for_named_ones() {
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
            HttpClient::stateless(server.address()).with_token(&lowered),
            false,
        ),
        (
            HttpClient::stateless(server.address()).with_token(&raised),
            true,
        ),
    ] {
        let reply = call_and_answer(&mut client, &arguments, None)["result"].take();
        match is_attended {
            true => assert_eq!(reply["resultType"], "input_required", "{reply}"),
            false => drop(approval_of(&reply)),
        }
    }
    drop(server);
    // Callers that are identified only by the address cannot be trusted.
    settings.callers.entry("http".into()).or_default().attended = Some(true);
    let refused = Command::new(crate::support::program())
        .args(["config", "validate", "--config"])
        .arg(place.config_file(&settings))
        .output()
        .expect("the program runs");
    let text = String::from_utf8_lossy(&refused.stderr).into_owned()
        + &String::from_utf8_lossy(&refused.stdout);
    assert!(!refused.status.success(), "{text}");
    assert!(text.contains("cannot be attended"), "{text}");
}

pub(super) fn numbered(from: usize, to: usize) -> String {
    (from..to).map(|number| format!("word{number} ")).collect()
}

#[test]
fn repeated_small_deletions_require_confirmation() {
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
        let mut client = HttpClient::stateless(server.address()).with_token(token);
        client.call("document.update", arguments)
    };
    let half = format!("{}{}", numbered(0, 256), numbered(1000, 1256));
    let first = update(&server, &script, "Work/Plan", &half, Value::Null);
    assert_eq!(error_code(&first), None, "{first}");
    // Deleting what the caller itself added does not count.
    let own = update(
        &server,
        &script,
        "Work/Plan",
        &numbered(0, 256),
        Value::Null,
    );
    assert_eq!(error_code(&own), None, "{own}");

    // Neither another spelling of the note nor a restart of the server resets the sum.
    let mut client = HttpClient::stateless(server.address()).with_token(&script);
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
    // Another caller has its own sum.
    let dry = json!({"dry_run": true});
    let shown = update(&server, &other, "Work/Plot", &next, dry);
    assert_eq!(error_code(&shown), None, "{shown}");
    // Deleted lines can be restored.
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
    // After that the sum starts at zero.
    let after = plot(&numbered(0, 150));
    assert_eq!(error_code(&after), None, "{after}");
    approval_of(&plot(&numbered(0, 90)));
}

#[test]
fn concurrent_deletions_are_summed() {
    let place = Place::new();
    let lines: String = (0..200).map(|line| format!("line {line}\n")).collect();
    place.write("Work/Plan.md", &lines);
    let script = place.token("script", ALL, false);
    let server = Server::start(&place.config_file(&settings(&place)), &place.state());
    let mut clients: Vec<HttpClient> = (0..8)
        .map(|_| HttpClient::stateless(server.address()).with_token(&script))
        .collect();
    for (number, client) in clients.iter_mut().enumerate() {
        let old: String = (0..10)
            .map(|line| format!("line {}\n", 10 + number * 20 + line))
            .collect();
        let edit = json!({"path": "Work/Plan", "edits": [{"old": old, "new": ""}]});
        client.send_call("document.edit", edit);
    }
    let committed = clients
        .iter_mut()
        .map(|client| client.receive()["result"].take())
        .filter(|result| error_code(result).is_none())
        .count();
    assert_eq!(committed, 2, "more than 20 lines need a person");
}

#[test]
fn confirmation_shows_deleted_content_first() {
    let place = Place::new();
    let kept: String = (0..10).map(|line| format!("line {line}\n")).collect();
    let precious = "precious \u{202e}txet neddih\u{2066}\u{200b}\n";
    place.write(
        "Work/Plan.md",
        format!("{kept}{precious}{}", "more precious\n".repeat(30)),
    );
    let mut client = Client::spawn(
        Command::new(crate::support::program())
            .args(["serve", "--config"])
            .arg(place.config_file(&settings(&place)))
            .arg("--state")
            .arg(place.state()),
    );
    client.initialize_with_elicitation(json!({"action": "decline"}));
    let content = format!("{}{kept}", "harmless\n".repeat(3000));
    let refused = client.call(
        "document.update",
        json!({"path": "Work/Plan", "content": content}),
    );
    assert_eq!(error_code(&refused), Some("approval_invalid"), "{refused}");
    let message = client.elicitations()[0]["params"]["message"]
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
    client.disconnect();
    let listed = notehost(&place, &["approval", "list", "--all"]);
    let id = listed["items"][0]["id"].as_str().expect("an id").to_owned();
    let shown = notehost(&place, &["approval", "show", &id]);
    let diff = shown["diff"].as_str().expect("a diff");
    assert_eq!(diff.matches("+harmless\n").count(), 3000);
    assert!(diff.contains("<U+202E>") && !diff.contains('\u{202e}'));
}

#[test]
fn restore_requires_permission_at_source_and_target() {
    let place = Place::new();
    place.write("Work/Plan.md", "text\n");
    let mut settings = place.settings();
    let mut client = Client::start(&place.config_file(&settings), &place.state());
    let removed = client.call("document.remove", json!({"paths": ["Work/Plan"]}));
    let id = removed["structuredContent"]["trash_ids"][0].clone();
    assert!(id.is_string(), "{removed}");
    client.disconnect();
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
    client.disconnect();
    settings
        .permissions
        .notebooks
        .insert("Work".into(), Tier::Write);
    let mut client = Client::start(&place.config_file(&settings), &place.state());
    let arguments = json!({"trash_id": id, "to": "Other/Plan"});
    let restored = client.call("document.restore", arguments);
    assert_eq!(error_code(&restored), None, "{restored}");
}

/// A client of a server with a note that `slow.stamp` replaces by the time and a random number.
fn stamp_client(place: &Place) -> Client {
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
fn approved_call_reuses_the_previewed_clock_and_random_seed() {
    let place = Place::new();
    let mut client = stamp_client(&place);
    let stamp = json!({"path": "Work/Plan.md"});
    let refused = client.call("slow.stamp", stamp.clone());
    let id = approval_of(&refused);
    // The same call reuses the same approval.
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
    // Both clocks show the same moment; the next call gets another time and other random numbers.
    let words: Vec<&str> = written.split_whitespace().collect();
    assert_eq!(format!("{}000000", words[0]), words[1]);
    let next = client.call("slow.stamp", stamp);
    let details = &next["structuredContent"]["error"]["details"];
    let diff = details["diff"].as_str().expect("another question");
    assert!(!diff.contains(&format!("+{written}")), "{diff}");
}

#[test]
fn call_that_no_longer_needs_approval_uses_a_fresh_clock() {
    let place = Place::new();
    let mut client = stamp_client(&place);
    let refused = client.call("slow.stamp", json!({"path": "Work/Plan.md"}));
    let id = approval_of(&refused);
    let diff = &refused["structuredContent"]["error"]["details"]["diff"];
    let diff = diff.as_str().expect("a diff").to_owned();
    // Meanwhile somebody else empties the note, so that the call deletes nothing any more.
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
