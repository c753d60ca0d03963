//! Answering nonsense: more than anybody can take, what is no JSON, codes that nobody knows, links to elsewhere,
//! messages on stdout; and the question whether anything of a call is left for the next.

use notehost::dispatch::CallError;
use serde_json::json;

use super::{Arena, settings, treasury};
use crate::support::client::Client;
use crate::support::place::call;

#[tokio::test(flavor = "multi_thread")]
async fn a_giant_reply_is_refused() {
    let arena = Arena::new().await;
    for megabytes in [80, 200] {
        let error = arena
            .attack("giant_reply", json!({"megabytes": megabytes}))
            .await;
        assert_eq!(
            error.expect_err("nobody can take it").code,
            "component_failed",
            "{megabytes}"
        );
    }
    arena.assert_unharmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_giant_refusal_is_as_bounded_as_a_reply() {
    let arena = Arena::new().await;
    let refusal = |arguments| async {
        let refused = arena.attack("giant_refusal", arguments).await;
        refused.expect_err("it refuses")
    };
    for megabytes in [80, 200] {
        let error = refusal(json!({ "megabytes": megabytes })).await;
        assert_eq!(error.code, "component_failed", "{megabytes}: {error}");
    }
    let error = refusal(json!({ "values": 100 })).await;
    assert_eq!(error.code, "not_found");
    let values = |error: &CallError| {
        error
            .details
            .as_ref()
            .map(|of| of["values"].to_string().len())
    };
    assert_eq!(values(&error), Some(203));
    // Details are for programs: of too many nothing is left, and the refusal stays what it is.
    for many in [10_001, 40_000, 20_000_000] {
        let error = refusal(json!({ "values": many })).await;
        assert_eq!((error.code, values(&error)), ("not_found", None), "{many}");
    }
    arena.assert_unharmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn links_are_counted_before_they_are_looked_up() {
    let arena = Arena::new().await;
    let links = |links: usize| arena.attack("link_often", json!({ "links": links }));
    assert_eq!(links(100).await.expect("a reply").content.len(), 100);
    for many in [101, 200_000] {
        let error = links(many).await.expect_err("nobody follows so many");
        assert_eq!(error.code, "component_failed", "{many}");
        assert!(error.message.contains("parts of content"), "{error}");
    }
    arena.assert_unharmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nonsense_is_the_components_failure() {
    let arena = Arena::new().await;
    for attack in ["broken_json", "no_object", "unknown_code"] {
        let error = arena.refused(attack).await;
        assert_eq!(error.code, "component_failed", "{attack}");
        assert!(!error.message.contains("belongs to us"), "{error}");
    }
    arena.assert_unharmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_does_not_send_a_whole_argument_back() {
    let arena = Arena::new().await;
    let path = "x".repeat(1 << 19);
    let read = call(&arena.host, "document.read", json!({ "path": path })).await;
    let error = read.expect_err("there is no such note");
    let length = error.message.chars().count();
    assert!((1000..3000).contains(&length), "{length}");
}

#[tokio::test(flavor = "multi_thread")]
async fn links_lead_only_to_what_both_may_see() {
    let arena = Arena::new().await;
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
        let reply = arena
            .attack("link_away", json!({"path": path}))
            .await
            .expect("a reply");
        assert_eq!(reply.content, [], "{path}");
    }
    let reply = arena
        .attack("link_away", json!({"path": "Open/Note.md"}))
        .await
        .expect("a reply");
    assert_eq!(reply.content.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_a_call_is_left_for_the_next() {
    let arena = Arena::new().await;
    for _ in 0..20 {
        let reply = arena.attack("remember", json!({})).await.expect("a reply");
        assert_eq!(reply.structured["calls"], 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn there_is_nothing_around_a_guest() {
    let arena = Arena::new().await;
    let reply = arena.attack("ambient", json!({})).await.expect("a reply");
    assert_eq!(reply.structured["environment"], json!([]));
    assert_eq!(reply.structured["arguments"], json!([]));
    assert_eq!(reply.structured["input"], 0);
}

/// The client itself fails on anything on stdout that is no message.
#[test]
fn what_a_guest_prints_never_reaches_the_client() {
    let place = treasury();
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
