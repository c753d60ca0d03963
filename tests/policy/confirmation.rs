//! Destructive changes need a person's confirmation.

use notehost::config::{Confirm, Settings};
use notehost::policy::Approvals;
use serde_json::{Value, json};

use crate::support::client::{Client, error_code};
use crate::support::http::{HttpClient, Server, stateless_meta};
use crate::support::place::Place;

const PLAN: &str = "# Plan\n\nbuy milk\nwater the garden\ncall the bank\n";

fn place_with_notes() -> Place {
    let place = Place::new();
    place.write("Work/Plan.md", PLAN);
    place
}

fn settings_with_confirmation(place: &Place) -> Settings {
    Settings {
        confirm: Confirm::Floor,
        ..place.settings()
    }
}

fn stdio(place: &Place) -> Client {
    Client::start(
        &place.config_file(&settings_with_confirmation(place)),
        &place.state(),
    )
}

/// The program before the handshake.
fn start_without_handshake(place: &Place) -> Client {
    Client::spawn(
        std::process::Command::new(crate::support::program())
            .args(["serve", "--config"])
            .arg(place.config_file(&settings_with_confirmation(place)))
            .arg("--state")
            .arg(place.state()),
    )
}

/// Decides an approval on the command line, in a separate process.
fn decide(place: &Place, id: &str, yes: bool) {
    let records = notehost::records::open(&place.state()).expect("the records");
    let approvals = Approvals::new(records);
    approvals
        .decide(id, yes, "tests")
        .expect("it can be decided");
}

fn approval_of(refused: &Value) -> String {
    assert_eq!(
        error_code(refused),
        Some("confirmation_required"),
        "{refused}"
    );
    let details = &refused["structuredContent"]["error"]["details"];
    details["approval"].as_str().expect("an id").to_owned()
}

fn remove() -> Value {
    json!({"paths": ["Work/Plan.md"]})
}

fn with_approval(mut arguments: Value, id: &str) -> Value {
    arguments["approval"] = id.into();
    arguments
}

#[test]
fn client_without_elicitation_gets_an_approval_id() {
    let place = place_with_notes();
    let mut client = stdio(&place);
    let refused = client.call("document.remove", remove());
    let id = approval_of(&refused);
    let details = &refused["structuredContent"]["error"]["details"];
    assert!(
        details["diff"]
            .as_str()
            .expect("a diff")
            .contains("-buy milk\n")
    );
    assert_eq!(details["changes"][0]["path"], "Work/Plan.md");
    assert!(place.read("Work/Plan.md").is_some());

    // A second call returns the same approval, and an undecided approval does not help.
    assert_eq!(approval_of(&client.call("document.remove", remove())), id);
    assert_eq!(
        approval_of(&client.call("document.remove", with_approval(remove(), &id))),
        id
    );
    decide(&place, &id, true);
    let removed = client.call("document.remove", with_approval(remove(), &id));
    assert_eq!(error_code(&removed), None, "{removed}");
    assert!(place.read("Work/Plan.md").is_none());

    // It works once.
    place.write("Work/Plan.md", PLAN);
    let again = client.call("document.remove", with_approval(remove(), &id));
    assert_eq!(error_code(&again), Some("approval_invalid"), "{again}");
    assert!(place.read("Work/Plan.md").is_some());
}

#[test]
fn approval_is_bound_to_the_call_and_its_change() {
    let place = place_with_notes();
    place.write("Work/Other.md", "other\n");
    let mut client = stdio(&place);
    let id = approval_of(&client.call("document.remove", remove()));
    decide(&place, &id, true);
    let other = json!({"paths": ["Work/Other.md"]});
    let refused = client.call("document.remove", with_approval(other, &id));
    assert_eq!(error_code(&refused), Some("approval_invalid"), "{refused}");

    // The note has changed since it was shown: it has to be confirmed again.
    place.write("Work/Plan.md", "# Plan\n\nsomething precious\n");
    let reply = client.call("document.remove", with_approval(remove(), &id));
    let second = approval_of(&reply);
    assert_ne!(second, id);
    let details = &reply["structuredContent"]["error"]["details"];
    assert!(
        details["diff"]
            .as_str()
            .expect("a diff")
            .contains("-something precious")
    );
    assert!(place.read("Work/Plan.md").is_some());

    decide(&place, &second, false);
    let denied = client.call("document.remove", with_approval(remove(), &second));
    assert_eq!(error_code(&denied), Some("approval_invalid"), "{denied}");
    let unknown = client.call("document.remove", with_approval(remove(), "nosuch"));
    assert_eq!(error_code(&unknown), Some("approval_invalid"), "{unknown}");
    assert!(place.read("Work/Plan.md").is_some() && place.read("Work/Other.md").is_some());
}

#[test]
fn approvals_of_other_callers_are_not_found() {
    let place = place_with_notes();
    let id = approval_of(&stdio(&place).call("document.remove", remove()));
    decide(&place, &id, true);
    let server = Server::start(
        &place.config_file(&settings_with_confirmation(&place)),
        &place.state(),
    );
    let mut other = HttpClient::stateless(server.address());
    let refused = other.call("document.remove", with_approval(remove(), &id));
    assert_eq!(error_code(&refused), Some("approval_invalid"), "{refused}");
    assert!(place.read("Work/Plan.md").is_some());
}

#[test]
fn approval_expires() {
    let place = place_with_notes();
    let mut settings = settings_with_confirmation(&place);
    settings.confirmation.expires_seconds = 1;
    let mut client = Client::start(&place.config_file(&settings), &place.state());
    let id = approval_of(&client.call("document.remove", remove()));
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let records = notehost::records::open(&place.state()).expect("the records");
    let decided = Approvals::new(records).decide(&id, true, "tests");
    assert!(decided.is_err());
    let late = client.call("document.remove", with_approval(remove(), &id));
    assert_eq!(error_code(&late), Some("approval_invalid"), "{late}");
}

#[test]
fn only_destructive_changes_need_confirmation() {
    let place = place_with_notes();
    for number in 0..25 {
        place.write(&format!("Many/Note {number}.md"), "see [[Plan]]\n");
    }
    let mut client = stdio(&place);
    for (name, arguments) in [
        ("document.append", json!({"path": "Plan", "text": "more"})),
        (
            "document.edit",
            json!({"path": "Plan", "edits": [{"old": "milk", "new": "bread"}]}),
        ),
        (
            "document.create",
            json!({"path": "Work/New.md", "content": "new\n"}),
        ),
    ] {
        let done = client.call(name, arguments);
        assert_eq!(error_code(&done), None, "{name}: {done}");
    }
    for (name, arguments) in [
        ("document.remove", remove()),
        (
            "document.update",
            json!({"path": "Plan", "content": "all gone\n"}),
        ),
        ("document.rename", json!({"path": "Plan", "to": "Plot"})),
        ("notebook.remove", json!({"notebook": "Work"})),
    ] {
        let before = place.snapshot();
        approval_of(&client.call(name, arguments));
        assert!(place.snapshot() == before, "{name}");
    }
    // A preview is always possible.
    let shown = client.call(
        "document.remove",
        json!({"paths": ["Plan"], "dry_run": true}),
    );
    assert_eq!(error_code(&shown), None, "{shown}");
}

#[test]
fn config_cannot_disable_confirmation_over_http() {
    let place = place_with_notes();
    let server = Server::start(&place.config_file(&place.settings()), &place.state());
    for mut client in [
        HttpClient::stateless(server.address()),
        HttpClient::with_session(server.address()),
    ] {
        approval_of(&client.call("document.remove", remove()));
    }
    assert!(place.read("Work/Plan.md").is_some());
    drop(server);
    // Over stdio, an admin may trust the parent process.
    let mut client = Client::start(&place.config_file(&place.settings()), &place.state());
    let removed = client.call("document.remove", remove());
    assert_eq!(error_code(&removed), None, "{removed}");
}

#[test]
fn config_cannot_raise_the_bulk_threshold_over_http() {
    let place = place_with_notes();
    for number in 0..25 {
        place.write(&format!("Many/Note {number}.md"), "see [[Plan]]\n");
    }
    let mut settings = place.settings();
    settings.confirmation.notes = 1_000_000;
    let server = Server::start(&place.config_file(&settings), &place.state());
    let mut client = HttpClient::stateless(server.address());
    let rename = json!({"path": "Plan", "to": "Plot"});
    approval_of(&client.call("document.rename", rename));
    assert!(place.read("Work/Plan.md").is_some());
}

#[test]
fn pending_approvals_are_limited() {
    let place = place_with_notes();
    for number in 0..51 {
        place.write(&format!("Many/Note {number}.md"), "x\n");
    }
    let mut client = stdio(&place);
    for number in 0..50 {
        approval_of(&client.call(
            "document.remove",
            json!({"paths": [format!("Many/Note {number}")]}),
        ));
    }
    let refused = client.call("document.remove", json!({"paths": ["Many/Note 50"]}));
    assert_eq!(error_code(&refused), Some("throttled"), "{refused}");
}

#[test]
fn session_based_client_confirms_by_elicitation() {
    for (user_answer, code) in [
        (
            json!({"action": "accept", "content": {"approve": true}}),
            None,
        ),
        (
            json!({"action": "accept", "content": {"approve": false}}),
            Some("approval_invalid"),
        ),
        (json!({"action": "decline"}), Some("approval_invalid")),
        (json!({"action": "cancel"}), Some("approval_invalid")),
    ] {
        let place = place_with_notes();
        let mut client = start_without_handshake(&place);
        client.initialize_with_elicitation(user_answer.clone());
        let outcome = client.call("document.remove", remove());
        assert_eq!(error_code(&outcome), code, "{user_answer}: {outcome}");
        assert_eq!(place.read("Work/Plan.md").is_some(), code.is_some());
        let elicitation = &client.elicitations()[0];
        assert_eq!(elicitation["method"], "elicitation/create");
        let message = elicitation["params"]["message"]
            .as_str()
            .expect("a message");
        assert!(
            message.contains("-buy milk") && message.contains("Work/Plan.md"),
            "{message}"
        );
    }
}

/// A call in the stateless revision by a client with the elicitation capability.
fn stateless_call(arguments: &Value, answer: Option<(&str, Value)>) -> Value {
    let mut meta = stateless_meta();
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({"elicitation": {"form": {}}});
    let mut params = json!({"name": "document__remove", "arguments": arguments, "_meta": meta});
    if let Some((state, user_answer)) = answer {
        params["requestState"] = state.into();
        params["inputResponses"] = json!({"approval": user_answer});
    }
    params
}

#[test]
fn stateless_client_returns_the_confirmation() {
    let place = place_with_notes();
    place.write("Work/Other.md", "other\n");
    let mut client = start_without_handshake(&place);
    let reply = client.ask("tools/call", stateless_call(&remove(), None));
    assert_eq!(reply["resultType"], "input_required", "{reply}");
    let question = &reply["inputRequests"]["approval"];
    assert!(question.to_string().contains("buy milk"), "{question}");
    let state = reply["requestState"].as_str().expect("a state").to_owned();
    assert!(place.read("Work/Plan.md").is_some());

    let yes = json!({"action": "accept", "content": {"approve": true}});
    // A state is only valid unchanged and for its own call.
    let other = json!({"paths": ["Work/Other.md"]});
    for (arguments, state) in [(other, state.clone()), (remove(), format!("{state}x"))] {
        let id = client.send(
            "tools/call",
            stateless_call(&arguments, Some((&state, yes.clone()))),
        );
        let refused = client.answer(id);
        assert!(refused["error"]["code"].is_i64(), "{refused}");
    }
    assert!(place.read("Work/Plan.md").is_some() && place.read("Work/Other.md").is_some());

    let removed = client.ask(
        "tools/call",
        stateless_call(&remove(), Some((&state, yes.clone()))),
    );
    assert_eq!(error_code(&removed), None, "{removed}");
    assert!(place.read("Work/Plan.md").is_none());

    // The same answer cannot be used twice.
    place.write("Work/Plan.md", PLAN);
    let again = client.ask("tools/call", stateless_call(&remove(), Some((&state, yes))));
    assert_eq!(error_code(&again), Some("approval_invalid"), "{again}");
    assert!(place.read("Work/Plan.md").is_some());
}

/// `notehost call document remove` with these arguments, with its input and errors at a terminal.
fn at_a_terminal(place: &Place, types: &str) -> (Option<i32>, String) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use std::io::{Read as _, Write as _};
    let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&keyboard)
        .and_then(|()| unlockpt(&keyboard))
        .expect("it is ours");
    let name = ptsname(&keyboard, Vec::new()).expect("it has a name");
    let name = name.to_str().expect("a path").to_owned();
    let screen = || {
        let opened = std::fs::File::options().read(true).write(true).open(&name);
        std::process::Stdio::from(opened.expect("the other end"))
    };
    let mut program = std::process::Command::new(crate::support::program())
        .args([
            "call",
            "document",
            "remove",
            "--paths",
            "Work/Plan",
            "--config",
        ])
        .arg(place.config_file(&settings_with_confirmation(place)))
        .arg("--state")
        .arg(place.state())
        .env("NO_COLOR", "1")
        .stdin(screen())
        .stdout(std::process::Stdio::null())
        .stderr(screen())
        .spawn()
        .expect("the program starts");
    let mut keyboard = std::fs::File::from(keyboard);
    let mut shown = String::new();
    let mut buffer = [0; 4096];
    let mut typed = false;
    // Reading fails when the program closes the other end.
    while let Ok(length @ 1..) = keyboard.read(&mut buffer) {
        shown.push_str(&String::from_utf8_lossy(&buffer[..length]));
        if !typed && shown.contains("[y/N]") {
            typed = true;
            keyboard
                .write_all(types.as_bytes())
                .expect("it can be typed");
        }
    }
    (program.wait().expect("it ends").code(), shown)
}

#[test]
fn terminal_call_asks_for_confirmation() {
    for (types, code) in [("n\n", Some(1)), ("\n", Some(1)), ("y\n", Some(0))] {
        let place = place_with_notes();
        let (result, shown) = at_a_terminal(&place, types);
        assert_eq!(result, code, "{shown}");
        assert!(
            shown.contains("-buy milk") && shown.contains("Apply this change?"),
            "{shown}"
        );
        assert_eq!(place.read("Work/Plan.md").is_some(), code == Some(1));
    }
}

#[test]
fn script_is_not_asked_and_can_pass_yes() {
    let call = |place: &Place, arguments: &[&str]| {
        std::process::Command::new(crate::support::program())
            .args(["call", "document", "remove", "--paths", "Work/Plan"])
            .args(arguments)
            .arg("--config")
            .arg(place.config_file(&settings_with_confirmation(place)))
            .arg("--state")
            .arg(place.state())
            .stdin(std::process::Stdio::null())
            .output()
            .expect("the program runs")
    };
    let place = place_with_notes();
    let refused = call(&place, &[]);
    assert_eq!(refused.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&refused.stdout).expect("JSON");
    assert_eq!(report["error"]["code"], "confirmation_required");
    assert!(place.read("Work/Plan.md").is_some());
    assert_eq!(call(&place, &["--yes"]).status.code(), Some(0));
    assert!(place.read("Work/Plan.md").is_none());
}
