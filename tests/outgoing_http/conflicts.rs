//! Requests of a call that fails: they cannot be undone.

use serde_json::{Value, json};

use super::{EgressSetup, grant};

/// Sends one request in an action that reads a note before it and writes the note after it.
fn send_in_write_action(setup: &EgressSetup, method: &str) -> Value {
    let mut request = setup.request("/echo");
    request["method"] = method.into();
    json!({"note": "Log.md", "requests": [request]})
}

/// Another writer edits the note while the first request is answered.
fn edit_meanwhile(setup: &EgressSetup) {
    let note = setup.place.vault().join("Log.md");
    setup.server.on_request(move |before| {
        if before == 0 {
            std::fs::write(&note, "an edit by somebody else\n").expect("an edit");
        }
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn call_with_only_safe_requests_is_retried_after_a_conflict() {
    let setup = EgressSetup::new().await;
    edit_meanwhile(&setup);
    let reply = setup
        .call("send", send_in_write_action(&setup, "GET"))
        .await;
    reply.expect("the second run lands");
    assert_eq!(setup.server.received().len(), 2);
    let note = setup.place.read("Log.md").expect("a note");
    assert_eq!(
        String::from_utf8_lossy(&note),
        "an edit by somebody else\nthe messenger was here\n"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn unsafe_request_is_sent_only_once() {
    let setup = EgressSetup::new().await;
    edit_meanwhile(&setup);
    let error = setup
        .call("send", send_in_write_action(&setup, "POST"))
        .await;
    let error = error.expect_err("the note changed");
    assert_eq!(error.code, "conflict", "{error}");
    assert!(
        error.message.contains("changed something elsewhere"),
        "{error}"
    );
    assert_eq!(setup.server.received(), ["POST /echo"]);
    let note = setup.place.read("Log.md").expect("a note");
    assert_eq!(String::from_utf8_lossy(&note), "an edit by somebody else\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn retries_after_conflicts_are_limited() {
    let setup = EgressSetup::new().await;
    let note = setup.place.vault().join("Log.md");
    setup.server.on_request(move |before| {
        std::fs::write(&note, format!("edit {before}\n")).expect("an edit");
    });
    let error = setup
        .call("send", send_in_write_action(&setup, "GET"))
        .await;
    assert_eq!(error.expect_err("it gives up").code, "conflict");
    assert_eq!(setup.server.received().len(), 4);
}

/// A call that is aborted reports that it may have changed something elsewhere.
#[tokio::test(flavor = "multi_thread")]
async fn failed_call_reports_requests_already_sent() {
    let setup = EgressSetup::with(|settings, server| {
        grant(settings, &[&server.authority()]);
        settings.limits.call_ms = 3_000;
    })
    .await;
    for (method, is_reported) in [("GET", false), ("POST", true)] {
        let mut arguments = send_in_write_action(&setup, method);
        arguments["spin"] = true.into();
        let error = setup.call("send", arguments).await;
        let error = error.expect_err("it is ended");
        assert_eq!(error.code, "timeout", "{error}");
        assert_eq!(error.message.contains("elsewhere"), is_reported, "{error}");
    }
}
