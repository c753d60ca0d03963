//! A hundred hostile guests at once, and cancelled calls. Nothing here measures time: a call that should have ended and
//! did not keeps its slot for ever, and the test hangs.

use std::time::Duration;

use notehost::dispatch;
use serde_json::json;

use super::{AttackSetup, settings, vault_with_secrets};
use crate::support::client::{Client, error_code};
use crate::support::place::{ana, call, request};

const GUESTS: usize = 100;
/// Enough for a read on a machine that is busy with other tests.
const SHORT_DEADLINE_MS: u64 = 5000;
/// A deadline that is never reached.
const UNREACHED_DEADLINE_MS: u64 = 3_600_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_looping_guests_do_not_block_other_calls() {
    let setup = AttackSetup::with(|settings| settings.limits.call_ms = SHORT_DEADLINE_MS).await;
    // A component is compiled at its first call; how long that takes beside the guests is not tested here.
    setup.assert_unharmed().await;
    let mut spinning = tokio::task::JoinSet::new();
    for _ in 0..GUESTS {
        let host = setup.host.clone();
        spinning.spawn(async move { call(&host, "hostile.spin", json!({})).await });
    }
    // They are calls of one caller, which holds half of the slots: its next call waits until the first of them end, and
    // has this much longer than they have.
    tokio::time::sleep(Duration::from_millis(2000)).await;
    setup.assert_unharmed().await;
    while let Some(result) = spinning.join_next().await {
        let error = result.expect("no panic").expect_err("it never answers");
        assert_eq!(error.code, "timeout");
    }
    setup.assert_unharmed().await;
}

#[test]
fn a_hundred_looping_guests_do_not_block_other_clients() {
    let place = vault_with_secrets();
    let mut settings = settings(&place);
    settings.limits.call_ms = SHORT_DEADLINE_MS;
    let mut client = Client::start(&place.config_file(&settings), &place.state());
    let before = place.snapshot();
    let spinning: Vec<u64> = (0..GUESTS)
        .map(|_| client.send_call("hostile.spin", json!({})))
        .collect();
    client.ask("ping", json!({}));
    let read = client.call("document.read", json!({"path": "Open/Note.md"}));
    assert_eq!(read["structuredContent"]["content"], "an open note\n");
    for id in spinning {
        let answer = client.answer(id);
        assert_eq!(error_code(&answer["result"]), Some("timeout"), "{answer}");
    }
    client.ask("ping", json!({}));
    place.snapshot().assert_same_as(&before);
}

/// There is only one slot: while the guest runs, no other call can.
#[tokio::test(flavor = "multi_thread")]
async fn dropped_call_stops_its_guest() {
    let setup = AttackSetup::with(|settings| {
        settings.limits.concurrent_calls = 1;
        settings.limits.call_ms = UNREACHED_DEADLINE_MS;
    })
    .await;
    let spin = request("hostile.spin", json!({}));
    let cancelled = spin.cancelled.clone();
    let host = setup.host.clone();
    let spinning = tokio::spawn(async move { dispatch::call(&host, &ana(), spin).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    cancelled.cancel();
    let error = spinning
        .await
        .expect("no panic")
        .expect_err("it never answers");
    assert_eq!(error.code, "unavailable");
    setup.assert_unharmed().await;
}

/// The same over the transport: a cancellation, and then a disconnect, stop the guest.
#[test]
fn cancelled_request_stops_its_guest() {
    let place = vault_with_secrets();
    let mut settings = settings(&place);
    settings.limits.concurrent_calls = 1;
    settings.limits.call_ms = UNREACHED_DEADLINE_MS;
    let mut client = Client::start(&place.config_file(&settings), &place.state());
    let spinning = client.send_call("hostile.spin", json!({}));
    std::thread::sleep(Duration::from_millis(100));
    client.notify(
        "notifications/cancelled",
        json!({"requestId": spinning, "reason": "bored"}),
    );
    let read = client.call("document.read", json!({"path": "Open/Note.md"}));
    assert_eq!(read["structuredContent"]["content"], "an open note\n");
}
