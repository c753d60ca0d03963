//! The Tasks extension: a long call becomes a task that only its caller can read, answer and cancel.

use notehost::config::{Confirm, Settings};
use serde_json::{Value, json};

use super::{place_with_note, slow_settings};
use crate::support::client::error_code;
use crate::support::http::{HttpClient, Server, wait_until};
use crate::support::place::Place;

fn serve(place: &Place, settings: &Settings) -> Server {
    Server::start(&place.config_file(settings), &place.state())
}

/// The capabilities of a client that supports tasks and elicitation.
fn meta() -> Value {
    let capabilities = json!({
        "extensions": {"io.modelcontextprotocol/tasks": {}},
        "elicitation": {"form": {}},
    });
    json!({"io.modelcontextprotocol/clientCapabilities": capabilities})
}

fn begin(client: &mut HttpClient, tool: &str, arguments: Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments, "_meta": meta()});
    client.ask("tools/call", params)["result"].take()
}

fn task_request(client: &mut HttpClient, method: &str, task: &str, more: Value) -> Value {
    let mut params = json!({"taskId": task, "_meta": meta()});
    for (key, value) in more.as_object().expect("an object") {
        params[key] = value.clone();
    }
    client.ask(method, params)
}

fn get_task(client: &mut HttpClient, task: &str) -> Value {
    task_request(client, "tasks/get", task, json!({}))["result"].take()
}

/// Waits until a task has this status; returns the task.
#[track_caller]
fn wait_for(client: &mut HttpClient, task: &str, status: &str) -> Value {
    let mut found = Value::Null;
    wait_until(status, || {
        found = get_task(client, task);
        found["status"] == status
    });
    found
}

fn id_of(begun: &Value) -> String {
    assert_eq!(begun["resultType"], "task", "{begun}");
    assert_eq!(begun["status"], "working", "{begun}");
    assert!(begun["ttlMs"].as_u64() > Some(0), "{begun}");
    begun["taskId"].as_str().expect("an id").to_owned()
}

#[test]
fn only_long_calls_become_tasks() {
    let place = place_with_note();
    let server = serve(&place, &slow_settings(&place));
    let mut client = HttpClient::stateless(server.address());
    let quick = begin(&mut client, "document__read", json!({"path": "Work/Plan"}));
    assert_eq!(quick["structuredContent"]["content"], "# Plan\n", "{quick}");

    let arguments = json!({"steps": 8, "pause": 400, "path": "Work/Late.md"});
    let task = id_of(&begin(&mut client, "slow__work", arguments.clone()));
    let working = get_task(&mut client, &task);
    assert_eq!(working["status"], "working", "{working}");
    wait_until("it reports progress", || {
        let message = get_task(&mut client, &task)["statusMessage"].take();
        message
            .as_str()
            .is_some_and(|reply| reply.ends_with("of 8 steps"))
    });
    let done = wait_for(&mut client, &task, "completed");
    assert_eq!(done["result"]["structuredContent"]["steps"], 8, "{done}");
    assert_eq!(place.read("Work/Late.md"), Some(b"done\n".to_vec()));

    // A failed task has the same error as a failed call.
    let task = id_of(&begin(&mut client, "slow__work", arguments));
    let failed = wait_for(&mut client, &task, "completed");
    assert_eq!(error_code(&failed["result"]), Some("already_exists"));

    // Without the extension, the caller waits.
    let mut other = HttpClient::stateless(server.address());
    let waited = other.call("slow.work", json!({"steps": 4, "pause": 400}));
    assert_eq!(waited["structuredContent"]["steps"], 4, "{waited}");
}

#[test]
fn cancelled_task_changes_nothing() {
    let place = place_with_note();
    let mut settings = slow_settings(&place);
    settings.limits.concurrent_calls = 1;
    let before = place.snapshot();
    let server = serve(&place, &settings);
    let mut client = HttpClient::stateless(server.address());
    for (tool, arguments) in [
        (
            "slow__work",
            json!({"steps": 10_000, "pause": 100, "path": "Work/Late.md"}),
        ),
        ("hostile__write_then_spin", json!({"path": "Work/Plan.md"})),
    ] {
        let task = id_of(&begin(&mut client, tool, arguments));
        let cancelled = task_request(&mut client, "tasks/cancel", &task, json!({}));
        assert_eq!(cancelled["result"]["resultType"], "complete", "{cancelled}");
        wait_for(&mut client, &task, "cancelled");
        // The only slot for calls is free again.
        let read = client.call("document.read", json!({"path": "Work/Plan"}));
        assert_eq!(error_code(&read), None, "{read}");
    }
    place.snapshot().assert_same_as(&before);
}

#[test]
fn task_asks_the_user_for_confirmation() {
    let place = place_with_note();
    let mut settings = slow_settings(&place);
    settings.confirm = Confirm::Floor;
    let (attended, unattended) = (
        place.attended_token("desktop"),
        place.token("script", "read,write,delete", false),
    );
    let server = serve(&place, &settings);
    let arguments = json!({"steps": 3, "pause": 500, "path": "Work/Plan.md"});
    // A client that is not trusted to ask its user learns that somebody else decides.
    let mut client = HttpClient::stateless(server.address()).with_token(&unattended);
    let task = id_of(&begin(&mut client, "slow__remove", arguments.clone()));
    let done = wait_for(&mut client, &task, "completed");
    assert_eq!(
        error_code(&done["result"]),
        Some("confirmation_required"),
        "{done}"
    );
    let mut client = HttpClient::stateless(server.address()).with_token(&attended);
    for (approves, is_there) in [(false, true), (true, false)] {
        let task = id_of(&begin(&mut client, "slow__remove", arguments.clone()));
        let reply = wait_for(&mut client, &task, "input_required");
        let question = &reply["inputRequests"]["approval"];
        assert!(question.to_string().contains("-# Plan"), "{reply}");
        assert!(place.read("Work/Plan.md").is_some());
        let answer = json!({"approval": {"action": "accept", "content": {"approve": approves}}});
        task_request(
            &mut client,
            "tasks/update",
            &task,
            json!({ "inputResponses": answer }),
        );
        let done = wait_for(&mut client, &task, "completed");
        let code = error_code(&done["result"]);
        assert_eq!(code.is_none(), approves, "{done}");
        assert_eq!(place.read("Work/Plan.md").is_some(), is_there, "{done}");
    }
}

#[test]
fn tasks_of_other_callers_are_not_found() {
    let place = place_with_note();
    let config = place.config_file(&slow_settings(&place));
    let token = |name: &str| {
        let made = std::process::Command::new(crate::support::program())
            .args(["token", "new", "--name", name, "--scopes", "read,write"])
            .arg("--config")
            .arg(&config)
            .arg("--state")
            .arg(place.state())
            .output()
            .expect("the program runs");
        assert!(made.status.success(), "{made:?}");
        let with_progress_token: Value = serde_json::from_slice(&made.stdout).expect("JSON");
        with_progress_token["token"]
            .as_str()
            .expect("a token")
            .to_owned()
    };
    let (ana, ben) = (token("ana"), token("ben"));
    let server = Server::start(&config, &place.state());
    let with_token = |token: &str| HttpClient::stateless(server.address()).with_token(token);
    let (mut ana, mut ben) = (with_token(&ana), with_token(&ben));
    let task = id_of(&begin(
        &mut ana,
        "slow__work",
        json!({"steps": 10_000, "pause": 100}),
    ));
    for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
        let more = json!({"inputResponses": {}});
        let refused = task_request(&mut ben, method, &task, more.clone());
        let unknown = task_request(&mut ben, method, "no-such-task", more);
        assert_eq!(
            refused["error"].to_string().replace(&task, "no-such-task"),
            unknown["error"].to_string(),
            "{method}"
        );
    }
    assert_eq!(get_task(&mut ana, &task)["status"], "working");
    task_request(&mut ana, "tasks/cancel", &task, json!({}));
    wait_for(&mut ana, &task, "cancelled");
}
