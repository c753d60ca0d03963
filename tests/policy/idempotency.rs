//! Idempotency keys: a call that is sent twice runs once.

use std::process::Command;

use notehost::vault::Tier;
use serde_json::{Value, json};

use crate::support::client::{Client, error_code};
use crate::support::http::{HttpClient, Server};
use crate::support::place::Place;

fn place_with_notes() -> Place {
    let place = Place::new();
    place.write("Log.md", "begin\n");
    place
}

fn append(key: &str) -> Value {
    json!({"path": "Log", "text": "once", "idempotency_key": key})
}

fn times(place: &Place) -> usize {
    let log = String::from_utf8(place.read("Log.md").expect("the note")).expect("text");
    log.matches("once").count()
}

#[test]
fn concurrent_duplicates_run_once() {
    let place = place_with_notes();
    let mut client = Client::start(&place.config_file(&place.settings()), &place.state());
    let sent: Vec<u64> = (0..20)
        .map(|_| client.send_call("document.append", append("k")))
        .collect();
    let mut replies = Vec::new();
    for id in sent {
        let result = client.answer(id)["result"].take();
        match error_code(&result) {
            None => replies.push(result),
            Some(code) => assert_eq!(code, "idempotency_in_flight", "{result}"),
        }
    }
    assert_eq!(times(&place), 1);
    assert!(!replies.is_empty());
    assert!(
        replies.iter().all(|reply| *reply == replies[0]),
        "{replies:#?}"
    );
    let other = client.call(
        "document.append",
        json!({"path": "Log", "text": "b", "idempotency_key": "k"}),
    );
    assert_eq!(error_code(&other), Some("idempotency_mismatch"), "{other}");
}

#[test]
fn stored_reply_survives_a_restart_and_is_scoped_to_its_caller() {
    let place = place_with_notes();
    let config = place.config_file(&place.settings());
    let mut client = Client::start(&config, &place.state());
    let first = client.call("document.append", append("k"));
    drop(client);
    let mut client = Client::start(&config, &place.state());
    assert_eq!(client.call("document.append", append("k")), first);
    drop(client);
    assert_eq!(times(&place), 1);
    // The same key of another caller is a different key.
    let server = Server::start(&config, &place.state());
    let mut other = HttpClient::stateless(server.address());
    let done = other.call("document.append", append("k"));
    assert_eq!(error_code(&done), None, "{done}");
    assert_eq!(times(&place), 2);
}

#[test]
fn crash_between_commit_and_reply_keeps_the_key() {
    for point in [
        "commit-begin",
        "commit-history-done",
        "commit-journal-removed",
    ] {
        let place = place_with_notes();
        let config = place.config_file(&place.settings());
        let mut client = Client::spawn(
            Command::new(crate::support::program())
                .args(["serve", "--config"])
                .arg(&config)
                .arg("--state")
                .arg(place.state())
                .env("NOTEHOST_FAIL_POINT", point),
        );
        client.initialize();
        let id = client.send_call("document.append", append("k"));
        assert!(
            client.answer_or_exit(id).is_none(),
            "{point} was not reached"
        );
        drop(client);

        let mut client = Client::start(&config, &place.state());
        let again = client.call("document.append", append("k"));
        assert_eq!(error_code(&again), None, "{point}: {again}");
        assert!(
            again["structuredContent"]["change"].is_string(),
            "{point}: {again}"
        );
        assert_eq!(client.call("document.append", append("k")), again);
        assert_eq!(times(&place), 1, "{point}");
    }
}

#[test]
fn call_awaiting_approval_does_not_claim_its_key() {
    let place = place_with_notes();
    let server = Server::start(&place.config_file(&place.settings()), &place.state());
    let mut client = HttpClient::stateless(server.address());
    let arguments = json!({"paths": ["Log"], "idempotency_key": "k"});
    for _ in 0..2 {
        let reply = client.call("document.remove", arguments.clone());
        assert_eq!(error_code(&reply), Some("confirmation_required"), "{reply}");
    }
}

#[test]
fn replay_with_reduced_permissions_hides_the_reply() {
    let place = place_with_notes();
    let mut settings = place.settings();
    let mut client = Client::start(&place.config_file(&settings), &place.state());
    let first = client.call("document.append", append("k"));
    drop(client);
    settings
        .permissions
        .notebooks
        .insert(".".into(), Tier::None);
    let mut client = Client::start(&place.config_file(&settings), &place.state());
    let again = client.call("document.append", append("k"));
    assert_eq!(error_code(&again), None, "{again}");
    let change = &first["structuredContent"]["change"];
    assert_eq!(again["structuredContent"], json!({ "change": change }));
    assert!(!again.to_string().contains("Log"), "{again}");
    assert_eq!(times(&place), 1);
}
