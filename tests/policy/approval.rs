//! Approvals are decided on the command line while the server that created them runs.

use serde_json::{Value, json};

use super::setup::{RunResult, audit, over_stdio, place_with_notes, program, rewrite, run};
use crate::support::client::{Client, error_code};
use crate::support::place::Place;

fn approval(place: &Place, arguments: &[&str]) -> RunResult {
    run(&mut program(place, &[&["approval"], arguments].concat()))
}

/// Calls a removal; returns the id of the approval that it needs.
fn ask_to_remove(client: &mut Client, path: &str) -> String {
    let result = client.call("document.remove", json!({ "paths": [path] }));
    assert_eq!(
        error_code(&result),
        Some("confirmation_required"),
        "{result}"
    );
    let details = &result["structuredContent"]["error"]["details"];
    details["approval"]
        .as_str()
        .expect("an approval")
        .to_owned()
}

fn items(place: &Place, arguments: &[&str]) -> Vec<Value> {
    let listed = approval(place, arguments).json();
    listed["items"].as_array().expect("a list").clone()
}

#[test]
fn approved_call_runs_once() {
    let place = place_with_notes(|_| ());
    let mut client = over_stdio(&place);
    assert!(items(&place, &["list"]).is_empty());
    let id = ask_to_remove(&mut client, "Work/Old");
    assert!(place.read("Work/Old.md").is_some());

    let listed = items(&place, &["list"]);
    assert_eq!(listed.len(), 1, "{listed:?}");
    let pending = &listed[0];
    assert_eq!(pending["id"], id.as_str());
    assert_eq!(
        (&pending["caller"], &pending["action"]),
        (&json!("stdio"), &json!("document.remove"))
    );
    assert_eq!(pending["state"], "pending");
    assert!(
        pending["summary"]
            .as_str()
            .is_some_and(|text| text.contains("Work/Old.md")),
        "{pending}"
    );
    let shown = approval(&place, &["show", &id]).json();
    assert!(
        shown["diff"]
            .as_str()
            .is_some_and(|diff| diff.contains("-# Old")),
        "{shown}"
    );

    // Still undecided: the same approval is returned.
    let again = client.call(
        "document.remove",
        json!({"paths": ["Work/Old"], "approval": id}),
    );
    assert_eq!(error_code(&again), Some("confirmation_required"), "{again}");

    let decided = approval(&place, &["approve", &id]);
    assert_eq!(decided.code, Some(0), "{decided:#?}");
    assert_eq!(decided.json()["state"], "approved");
    assert_eq!(decided.json()["decided_by"], "cli");
    assert!(items(&place, &["list"]).is_empty());
    let removed = client.call(
        "document.remove",
        json!({"paths": ["Work/Old"], "approval": id}),
    );
    assert_eq!(error_code(&removed), None, "{removed}");
    assert_eq!(place.read("Work/Old.md"), None);
    assert_eq!(items(&place, &["list", "--all"])[0]["state"], "used");

    let twice = approval(&place, &["approve", &id]);
    assert_eq!(twice.code, Some(1), "{twice:#?}");
    assert!(twice.errors.contains("already decided: used"), "{twice:#?}");
    client.disconnect();
    let outcomes: Vec<Value> = audit(&place, &["--action", "remove"])
        .iter()
        .map(|row| row["outcome"].clone())
        .collect();
    assert_eq!(
        outcomes[..2],
        [
            json!("confirmation_required"),
            json!("confirmation_required")
        ]
    );
}

#[test]
fn denied_call_does_not_run() {
    let place = place_with_notes(|_| ());
    let before = place.snapshot();
    let mut client = over_stdio(&place);
    let id = ask_to_remove(&mut client, "Work/Old");
    let decided = approval(&place, &["deny", &id]);
    assert_eq!(decided.code, Some(0), "{decided:#?}");
    assert_eq!(decided.json()["state"], "denied");
    let refused = client.call(
        "document.remove",
        json!({"paths": ["Work/Old"], "approval": id}),
    );
    assert_eq!(error_code(&refused), Some("approval_invalid"), "{refused}");
    let turned = approval(&place, &["approve", &id]);
    assert_eq!(turned.code, Some(1), "{turned:#?}");
    assert!(
        turned.errors.contains("already decided: denied"),
        "{turned:#?}"
    );
    client.disconnect();
    place.snapshot().assert_same_as(&before);
}

#[test]
fn undecidable_approval_is_rejected_with_a_reason() {
    let place = place_with_notes(|_| ());
    let mut client = over_stdio(&place);
    let id = ask_to_remove(&mut client, "Work/Old");
    rewrite(&place, "UPDATE approvals SET expires = created");
    for (words, expected) in [
        (["approve", "nonsense"], "no approval `nonsense`"),
        (["show", "nonsense"], "no approval `nonsense`"),
        (["deny", "nonsense"], "no approval `nonsense`"),
        (["approve", &id], "has expired"),
        (["deny", &id], "has expired"),
    ] {
        let result = approval(&place, &words);
        assert_eq!(result.code, Some(1), "{result:#?}");
        assert!(result.errors.contains(expected), "{result:#?}");
    }
    assert!(items(&place, &["list"]).is_empty());
    assert_eq!(items(&place, &["list", "--all"])[0]["state"], "expired");
    assert_eq!(approval(&place, &["show", &id]).json()["state"], "expired");
    assert_eq!(approval(&place, &["approve"]).code, Some(2));
}
