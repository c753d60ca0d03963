//! Resource limits: time, stack, memory, host calls, staged and stored bytes.

use notehost::config::{ComponentLimits, Settings};
use serde_json::json;

use super::AttackSetup;
use crate::support::place::call;

/// Enough for an ordinary call on a busy machine.
const SHORT_DEADLINE_MS: u64 = 1500;

#[tokio::test(flavor = "multi_thread")]
async fn endless_loop_ends_at_the_deadline() {
    let setup = AttackSetup::with(|settings| settings.limits.call_ms = SHORT_DEADLINE_MS).await;
    for attack in ["spin", "write_then_spin"] {
        let error = setup.refused(attack).await;
        assert_eq!(error.code, "timeout", "{attack}");
        assert!(error.message.contains("nothing was changed"), "{error}");
    }
    setup.assert_unharmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn trapping_guest_does_not_affect_the_host() {
    let setup = AttackSetup::new().await;
    for attack in ["recurse", "trap", "panic", "exit", "write_then_trap"] {
        let error = setup.refused(attack).await;
        assert_eq!(error.code, "component_failed", "{attack}");
        // Trap messages belong in the log only: they do not help a model, and the guest controls their text.
        for word in ["wasm", "backtrace", "/etc/passwd", "unreachable"] {
            assert!(
                !error.to_json()["error"].to_string().contains(word),
                "{attack}: {error}"
            );
        }
    }
    setup.assert_unharmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_and_host_calls_are_limited() {
    let setup = AttackSetup::new().await;
    for (attack, word) in [("gorge", "memory"), ("flood", "host calls")] {
        let error = setup.refused(attack).await;
        assert_eq!(error.code, "component_failed", "{attack}");
        assert!(error.message.contains(word), "{attack}: {error}");
    }
    setup.assert_unharmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn staged_bytes_are_limited() {
    let setup = AttackSetup::new().await;
    for attack in ["stage_until_refused", "store_until_refused"] {
        assert_eq!(setup.refused(attack).await.code, "too_large", "{attack}");
    }
    setup.assert_unharmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_held_for_queries_is_limited() {
    // Time and host calls are not limited here, only the held memory.
    let setup = AttackSetup::with(|settings| {
        settings.limits.call_ms = 120_000;
        settings.limits.host_calls = 200_000;
    })
    .await;
    for attack in [
        "ask_until_refused",
        "miss_until_refused",
        "rename_until_refused",
        "keys_until_refused",
    ] {
        assert_eq!(setup.refused(attack).await.code, "too_large", "{attack}");
    }
    let error = setup.refused("hand_over").await;
    assert_eq!(error.code, "component_failed");
    assert!(error.message.contains("to the host at once"), "{error}");
    setup.assert_unharmed().await;
}

/// A stack that overflows in the host would end it: there would be nobody left to read the note.
#[tokio::test(flavor = "multi_thread")]
async fn deep_globs_are_refused_by_the_host() {
    let setup = AttackSetup::new().await;
    let find = |depth: usize| setup.attack("deep_glob", json!({ "depth": depth }));
    find(10).await.expect("a glob that people could write");
    for depth in [11, 300, 1900, 32_000] {
        let error = find(depth).await.expect_err("too deep");
        assert_eq!(error.code, "validation_error", "{depth}: {error}");
        assert!(error.message.contains("is not a glob"), "{depth}: {error}");
    }
    setup.assert_unharmed().await;
}

/// A condition is a list of parts that refer to each other. As a tree without bounds it could be endless.
#[tokio::test(flavor = "multi_thread")]
async fn bad_condition_lists_are_refused_by_the_host() {
    let setup = AttackSetup::new().await;
    let find = |shape: &'static str| setup.attack("bad_conditions", json!({ "shape": shape }));
    find("valid").await.expect("a condition");
    for (shape, code, word) in [
        ("self", "validation_error", "later ones only"),
        ("circle", "validation_error", "later ones only"),
        ("outside", "validation_error", "there are only 1"),
        ("shared", "validation_error", "referred to twice"),
        ("wide", "validation_error", "referred to twice"),
        ("unused", "validation_error", "not referred to"),
        ("deep", "validation_error", "nested"),
        ("many", "too_large", "conditions"),
        ("sorted", "too_large", "bytes at most"),
    ] {
        let error = find(shape).await.expect_err(shape);
        assert_eq!(error.code, code, "{shape}: {error}");
        assert!(error.message.contains(word), "{shape}: {error}");
    }
    setup.assert_unharmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn guest_that_ignores_a_refused_write_stages_nothing_more() {
    let setup = AttackSetup::new().await;
    let reply = setup
        .attack("stage_regardless", json!({}))
        .await
        .expect("it reports success");
    let refused = reply.structured["refused"].as_u64().expect("a number");
    let landed: u64 = std::fs::read_dir(setup.place.vault().join("Open/Big"))
        .expect("what was allowed has landed")
        .map(|entry| {
            entry
                .and_then(|entry| entry.metadata())
                .expect("a file")
                .len()
        })
        .sum();
    assert!(landed <= 8 << 20, "{landed} bytes landed");
    assert_eq!(refused, 32 - (landed >> 20));
}

#[tokio::test(flavor = "multi_thread")]
async fn log_floods_are_dropped() {
    let setup = AttackSetup::new().await;
    for attack in ["flood_log", "flood_output"] {
        setup
            .attack(attack, json!({}))
            .await
            .expect("verbose logging is not an error");
    }
    setup.assert_unharmed().await;
}

/// Sets limits for the hostile guest alone.
fn of_the_enemy(settings: &mut Settings, limits: ComponentLimits) {
    let hostile = settings.components.get_mut("hostile");
    hostile.expect("the hostile guest").limits = limits;
}

#[tokio::test(flavor = "multi_thread")]
async fn component_limits_can_be_lower_than_the_default() {
    let setup = AttackSetup::with(|settings| {
        let less = ComponentLimits {
            memory_bytes: Some(16 << 20),
            call_ms: Some(SHORT_DEADLINE_MS),
            host_calls: Some(70),
        };
        of_the_enemy(settings, less);
        let hostile = settings
            .components
            .get_mut("hostile")
            .expect("the hostile guest");
        hostile.grant.store_bytes = Some(3 << 20);
    })
    .await;
    for (attack, word) in [("gorge", "its 16 MiB"), ("flood", "its 70 host calls")] {
        let error = setup.refused(attack).await;
        assert_eq!(error.code, "component_failed", "{attack}");
        assert!(error.message.contains(word), "{attack}: {error}");
    }
    let error = setup.refused("spin").await;
    assert_eq!(error.code, "timeout");
    let limit = error
        .message
        .split(' ')
        .find_map(|word| word.parse::<u64>().ok());
    assert!(
        limit.is_some_and(|limit| limit <= SHORT_DEADLINE_MS),
        "{error}"
    );
    // Other components keep the default.
    call(&setup.host, "search.text", json!({"query": "note"}))
        .await
        .expect("others go on");
    let error = setup.refused("store_until_refused").await;
    assert!(error.message.contains(&(3 << 20).to_string()), "{error}");
    setup.assert_unharmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn component_limits_can_be_higher_than_the_default() {
    let setup = AttackSetup::with(|settings| {
        settings.limits.memory_bytes = 64 << 20;
        settings.limits.host_calls = 40;
        let more = ComponentLimits {
            memory_bytes: Some(96 << 20),
            host_calls: Some(500),
            ..ComponentLimits::default()
        };
        of_the_enemy(settings, more);
    })
    .await;
    for (attack, word) in [("gorge", "its 96 MiB"), ("flood", "its 500 host calls")] {
        let error = setup.refused(attack).await;
        assert!(error.message.contains(word), "{attack}: {error}");
    }
    // The buffer for a rejected value was never allocated.
    let mut settings = (*setup.host.settings()).clone();
    let more = ComponentLimits {
        memory_bytes: Some(1 << 30),
        ..ComponentLimits::default()
    };
    of_the_enemy(&mut settings, more);
    setup.host.apply(settings).await.expect("settings");
    let error = setup.refused("gorge").await;
    assert!(error.message.contains("its 96 MiB"), "{error}");
    setup.assert_unharmed().await;
}
