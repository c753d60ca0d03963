//! Invalid replies: oversized ones, invalid JSON, unknown codes, links to elsewhere, messages on stdout; and whether
//! any state of a call survives it.

use notehost::dispatch::CallError;
use serde_json::json;

use super::{AttackSetup, settings, vault_with_secrets};
use crate::support::client::Client;
use crate::support::place::call;

#[tokio::test(flavor = "multi_thread")]
async fn oversized_reply_is_rejected() {
    let setup = AttackSetup::new().await;
    for megabytes in [80, 200] {
        let error = setup
            .attack("giant_reply", json!({"megabytes": megabytes}))
            .await;
        assert_eq!(
            error.expect_err("the reply is too large").code,
            "component_failed",
            "{megabytes}"
        );
    }
    setup.assert_unharmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn oversized_refusal_is_rejected() {
    let setup = AttackSetup::new().await;
    let refusal = |arguments| async {
        let refused = setup.attack("giant_refusal", arguments).await;
        refused.expect_err("it refuses")
    };
    for megabytes in [80, 200] {
        let error = refusal(json!({ "megabytes": megabytes })).await;
        assert_eq!(error.code, "component_failed", "{megabytes}: {error}");
    }
    let error = refusal(json!({ "values": 100 })).await;
    assert_eq!(error.code, "not_found");
    let values = |error: &CallError| error.details().map(|of| of["values"].to_string().len());
    assert_eq!(values(&error), Some(203));
    // Details are for programs: of too many nothing is left, and the refusal stays what it is.
    for many in [10_001, 40_000, 20_000_000] {
        let error = refusal(json!({ "values": many })).await;
        assert_eq!(
            (error.code.as_str(), values(&error)),
            ("not_found", None),
            "{many}"
        );
    }
    setup.assert_unharmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn links_are_counted_before_they_are_looked_up() {
    let setup = AttackSetup::new().await;
    let links = |links: usize| setup.attack("link_often", json!({ "links": links }));
    assert_eq!(links(100).await.expect("a reply").content.len(), 100);
    for many in [101, 200_000] {
        let error = links(many).await.expect_err("nobody follows so many");
        assert_eq!(error.code, "component_failed", "{many}");
        assert!(error.message.contains("parts of content"), "{error}");
    }
    setup.assert_unharmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_reply_is_reported_as_component_failure() {
    let setup = AttackSetup::new().await;
    for attack in ["broken_json", "no_object", "unknown_code"] {
        let error = setup.refused(attack).await;
        assert_eq!(error.code, "component_failed", "{attack}");
        assert!(!error.message.contains("belongs to us"), "{error}");
    }
    setup.assert_unharmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn error_messages_truncate_echoed_arguments() {
    let setup = AttackSetup::new().await;
    let path = "x".repeat(1 << 19);
    let read = call(&setup.host, "document.read", json!({ "path": path })).await;
    let error = read.expect_err("no such note");
    let length = error.message.chars().count();
    assert!((1000..3000).contains(&length), "{length}");
}

#[tokio::test(flavor = "multi_thread")]
async fn resource_links_are_limited_to_visible_notes() {
    let setup = AttackSetup::new().await;
    for path in [
        "Closed/Secret.md",
        "Hidden/Diary.md",
        ".obsidian/app.json",
        "Open/.hidden/Note.md",
        "Open/../Closed/Secret.md",
        "../outside/secret.md",
        "/etc/passwd",
        "Open/Away.md",
        "Open/Absent.md",
        "Open/Note.md\nnotehost://elsewhere",
    ] {
        let reply = setup
            .attack("link_away", json!({"path": path}))
            .await
            .expect("a reply");
        assert_eq!(reply.content, [], "{path}");
    }
    let reply = setup
        .attack("link_away", json!({"path": "Open/Note.md"}))
        .await
        .expect("a reply");
    assert_eq!(reply.content.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_guest_state_survives_a_call() {
    let setup = AttackSetup::new().await;
    for _ in 0..20 {
        let reply = setup.attack("remember", json!({})).await.expect("a reply");
        assert_eq!(reply.structured["calls"], 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn guest_has_no_ambient_environment() {
    let setup = AttackSetup::new().await;
    let reply = setup.attack("ambient", json!({})).await.expect("a reply");
    assert_eq!(reply.structured["environment"], json!([]));
    assert_eq!(reply.structured["arguments"], json!([]));
    assert_eq!(reply.structured["input"], 0);
}

/// The client fails on anything on stdout that is not a message.
#[test]
fn guest_stdout_never_reaches_the_client() {
    let place = vault_with_secrets();
    let config = place.config_file(&settings(&place));
    let mut client = Client::start(&config, &place.state());
    let printed = client.call("hostile.print", json!({}));
    assert_ne!(printed["isError"], true, "{printed}");
    let read = client.call("document.read", json!({"path": "Open/Note.md"}));
    assert_eq!(read["structuredContent"]["content"], "an open note\n");
    let forged = |message: &serde_json::Value| message["method"] == "notifications/forged";
    assert!(
        !client.notifications().iter().any(forged),
        "{:?}",
        client.notifications()
    );
}
