//! The command line beside a server: every command works, without being asked to use the server.

use serde_json::{Value, json};

use super::{config, narrow, place, run, text_of};
use crate::support::client::Client;

#[test]
fn commands_work_beside_a_server() {
    let place = place();
    let config = config(&place, "both", |_| {});
    let _server = Client::start(&config, &place.state());
    let output = |arguments: &[&str]| {
        let output = run(&place, &config, arguments);
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            text_of(&output)
        );
        serde_json::from_slice::<Value>(&output.stdout).unwrap_or_default()
    };
    let append = [
        "call",
        "document",
        "append",
        "--path",
        "Work/Plan",
        "--text",
        "more",
    ];
    let changed = output(&append);
    let change = changed["change"].as_str().expect("a change");
    assert_eq!(changed["changes"][0]["path"], "Work/Plan.md");
    let listed = output(&["call", "document", "list", "--all-pages"]);
    assert_eq!(
        listed["items"].as_array().map(Vec::len),
        Some(2),
        "{listed}"
    );
    let dry = output(&["history", "undo", change, "--dry-run", "--json-output"]);
    assert_eq!(dry["dry_run"], true);
    let undone = output(&["history", "undo", change, "--json-output"]);
    assert_eq!(undone["undoes"], change, "{undone}");
    assert!(undone["change"].is_string(), "{undone}");
    let text = place.read("Work/Plan.md").expect("the note");
    assert!(!String::from_utf8_lossy(&text).contains("more"));
    output(&["index", "status", "--json-output"]);
    output(&["index", "rebuild"]);
    output(&["component", "list"]);
    output(&["approval", "list"]);
    output(&["call", "admin", "status"]);
    let doctor = run(&place, &config, &["doctor", "--json-output"]);
    assert!(
        !text_of(&doctor).contains("already served"),
        "{}",
        text_of(&doctor)
    );
}

#[test]
fn commands_have_the_permissions_of_their_caller() {
    let place = place();
    let wide = config(&place, "wide", |_| {});
    let _server = Client::start(&wide, &place.state());
    let refused = run(
        &place,
        &wide,
        &[
            "call",
            "document",
            "append",
            "--path",
            "Work/Plan",
            "--text",
            "x",
            "--allow",
            "r",
        ],
    );
    assert_eq!(refused.status.code(), Some(1), "{}", text_of(&refused));
    assert!(
        text_of(&refused).contains("permission_denied"),
        "{}",
        text_of(&refused)
    );
    let narrow = config(&place, "narrow", |settings| {
        let own = notehost::config::CallerSettings::default();
        settings.callers.insert("phone".into(), own);
        narrow(settings);
    });
    for caller in ["phone", "cli"] {
        let read = [
            "call",
            "document",
            "read",
            "--path",
            "Diary/Secret",
            "--caller",
            caller,
        ];
        let hidden = run(&place, &narrow, &read);
        assert!(
            text_of(&hidden).contains("not_found"),
            "{}",
            text_of(&hidden)
        );
    }
    let unknown = ["call", "document", "list", "--caller", "nobody"];
    assert_eq!(run(&place, &narrow, &unknown).status.code(), Some(2));
}

#[test]
fn a_confirmation_is_asked_for_as_without_a_server() {
    let place = place();
    let config = config(&place, "floor", |settings| {
        settings.confirm = notehost::config::Confirm::Floor;
    });
    let _server = Client::start(&config, &place.state());
    let remove = ["call", "document", "remove", "--paths", "Work/Plan"];
    let refused = run(&place, &config, &remove);
    assert!(text_of(&refused).contains("confirmation_required"));
    assert!(place.read("Work/Plan.md").is_some());
    let removed = run(&place, &config, &[&remove[..], &["--yes"]].concat());
    assert!(removed.status.success(), "{}", text_of(&removed));
    assert_eq!(json!(place.read("Work/Plan.md")), Value::Null);
}
