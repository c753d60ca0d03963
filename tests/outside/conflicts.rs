//! Requests of a call that fails: they cannot be undone.

use serde_json::{Value, json};

use super::{Outpost, grant};

/// Sends one request in an action that reads a note before it and writes the note after it.
fn errand(outpost: &Outpost, method: &str) -> Value {
    let mut request = outpost.request("/echo");
    request["method"] = method.into();
    json!({"note": "Log.md", "requests": [request]})
}

/// Another writer edits the note while the first request is answered.
fn edit_meanwhile(outpost: &Outpost) {
    let note = outpost.place.vault().join("Log.md");
    outpost.server.meanwhile(move |before| {
        if before == 0 {
            std::fs::write(&note, "an edit by somebody else\n").expect("an edit");
        }
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn call_with_only_safe_requests_is_retried_after_a_conflict() {
    let outpost = Outpost::new().await;
    edit_meanwhile(&outpost);
    let reply = outpost.call("send", errand(&outpost, "GET")).await;
    reply.expect("the second run lands");
    assert_eq!(outpost.server.asked().len(), 2);
    let note = outpost.place.read("Log.md").expect("a note");
    assert_eq!(
        String::from_utf8_lossy(&note),
        "an edit by somebody else\nthe messenger was here\n"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn unsafe_request_is_sent_only_once() {
    let outpost = Outpost::new().await;
    edit_meanwhile(&outpost);
    let error = outpost.call("send", errand(&outpost, "POST")).await;
    let error = error.expect_err("the note changed");
    assert_eq!(error.code, "conflict", "{error}");
    assert!(
        error.message.contains("changed something elsewhere"),
        "{error}"
    );
    assert_eq!(outpost.server.asked(), ["POST /echo"]);
    let note = outpost.place.read("Log.md").expect("a note");
    assert_eq!(String::from_utf8_lossy(&note), "an edit by somebody else\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn retries_after_conflicts_are_limited() {
    let outpost = Outpost::new().await;
    let note = outpost.place.vault().join("Log.md");
    outpost.server.meanwhile(move |before| {
        std::fs::write(&note, format!("edit {before}\n")).expect("an edit");
    });
    let error = outpost.call("send", errand(&outpost, "GET")).await;
    assert_eq!(error.expect_err("it gives up").code, "conflict");
    assert_eq!(outpost.server.asked().len(), 4);
}

/// A call that is aborted reports that it may have changed something elsewhere.
#[tokio::test(flavor = "multi_thread")]
async fn failed_call_reports_requests_already_sent() {
    let outpost = Outpost::with(|settings, server| {
        grant(settings, &[&server.authority()]);
        settings.limits.call_ms = 3_000;
    })
    .await;
    for (method, is_told) in [("GET", false), ("POST", true)] {
        let mut arguments = errand(&outpost, method);
        arguments["spin"] = true.into();
        let error = outpost.call("send", arguments).await;
        let error = error.expect_err("it is ended");
        assert_eq!(error.code, "timeout", "{error}");
        assert_eq!(error.message.contains("elsewhere"), is_told, "{error}");
    }
}
