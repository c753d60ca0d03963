//! Using up what a call is given: time, stack, memory, host calls, bytes to stage and to keep.

use notehost::config::{ComponentLimits, Settings};
use serde_json::json;

use super::Arena;
use crate::support::place::call;

/// Long enough for an honest call on a busy machine.
const SHORT: u64 = 1500;

#[tokio::test(flavor = "multi_thread")]
async fn an_endless_loop_ends_at_its_deadline() {
    let arena = Arena::with(|settings| settings.limits.call_ms = SHORT).await;
    for attack in ["spin", "write_then_spin"] {
        let error = arena.refused(attack).await;
        assert_eq!(error.code, "timeout", "{attack}");
        assert!(error.message.contains("changed nothing"), "{error}");
    }
    arena.assert_unharmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_that_breaks_takes_nothing_with_it() {
    let arena = Arena::new().await;
    for attack in ["recurse", "trap", "panic", "exit", "write_then_trap"] {
        let error = arena.refused(attack).await;
        assert_eq!(error.code, "component_failed", "{attack}");
        // What a trap says is for the log: it tells a model nothing, and could tell it anything.
        for word in ["wasm", "backtrace", "/etc/passwd", "unreachable"] {
            assert!(
                !error.to_json()["error"].to_string().contains(word),
                "{attack}: {error}"
            );
        }
    }
    arena.assert_unharmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_and_host_calls_are_counted() {
    let arena = Arena::new().await;
    for (attack, word) in [("gorge", "memory"), ("flood", "host calls")] {
        let error = arena.refused(attack).await;
        assert_eq!(error.code, "component_failed", "{attack}");
        assert!(error.message.contains(word), "{attack}: {error}");
    }
    arena.assert_unharmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn gigabytes_are_not_staged() {
    let arena = Arena::new().await;
    for attack in ["stage_until_refused", "store_until_refused"] {
        assert_eq!(arena.refused(attack).await.code, "too_large", "{attack}");
    }
    arena.assert_unharmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_held_of_questions_is_counted() {
    // Time and host calls are no limit here: what is held is.
    let arena = Arena::with(|settings| {
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
        assert_eq!(arena.refused(attack).await.code, "too_large", "{attack}");
    }
    let error = arena.refused("hand_over").await;
    assert_eq!(error.code, "component_failed");
    assert!(error.message.contains("to the host at once"), "{error}");
    arena.assert_unharmed().await;
}

/// A stack that overflows in the host would end it: there would be nobody left to read the note.
#[tokio::test(flavor = "multi_thread")]
async fn deep_globs_are_refused_by_the_host() {
    let arena = Arena::new().await;
    let find = |depth: usize| arena.attack("deep_glob", json!({ "depth": depth }));
    find(10).await.expect("a glob that people could write");
    for depth in [11, 300, 1900, 32_000] {
        let error = find(depth).await.expect_err("too deep");
        assert_eq!(error.code, "validation_error", "{depth}: {error}");
        assert!(error.message.contains("is not a glob"), "{depth}: {error}");
    }
    arena.assert_unharmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_that_ignores_a_refusal_stages_no_more_for_it() {
    let arena = Arena::new().await;
    let reply = arena
        .attack("stage_regardless", json!({}))
        .await
        .expect("it says that all is well");
    let refused = reply.structured["refused"].as_u64().expect("a number");
    let landed: u64 = std::fs::read_dir(arena.place.vault().join("Open/Big"))
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
async fn floods_of_words_are_swallowed() {
    let arena = Arena::new().await;
    for attack in ["flood_log", "flood_output"] {
        arena
            .attack(attack, json!({}))
            .await
            .expect("talking much is no crime");
    }
    arena.assert_unharmed().await;
}

/// Say what the enemy alone may use.
fn of_the_enemy(settings: &mut Settings, limits: ComponentLimits) {
    let hostile = settings.components.get_mut("hostile");
    hostile.expect("the enemy").limits = limits;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_may_have_less_than_others() {
    let arena = Arena::with(|settings| {
        let less = ComponentLimits {
            memory_bytes: Some(16 << 20),
            call_ms: Some(SHORT),
            host_calls: Some(70),
        };
        of_the_enemy(settings, less);
        let hostile = settings.components.get_mut("hostile").expect("the enemy");
        hostile.grant.store_bytes = Some(3 << 20);
    })
    .await;
    for (attack, word) in [("gorge", "its 16 MiB"), ("flood", "its 70 host calls")] {
        let error = arena.refused(attack).await;
        assert_eq!(error.code, "component_failed", "{attack}");
        assert!(error.message.contains(word), "{attack}: {error}");
    }
    let error = arena.refused("spin").await;
    assert_eq!(error.code, "timeout");
    let told = error
        .message
        .split(' ')
        .find_map(|word| word.parse::<u64>().ok());
    assert!(told.is_some_and(|told| told <= SHORT), "{error}");
    // Others have what they had.
    call(&arena.host, "search.text", json!({"query": "note"}))
        .await
        .expect("others go on");
    let error = arena.refused("store_until_refused").await;
    assert!(error.message.contains(&(3 << 20).to_string()), "{error}");
    arena.assert_unharmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_may_have_more_than_others() {
    let arena = Arena::with(|settings| {
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
        let error = arena.refused(attack).await;
        assert!(error.message.contains(word), "{attack}: {error}");
    }
    // What there is no room for was not made room for.
    let mut settings = (*arena.host.settings()).clone();
    let more = ComponentLimits {
        memory_bytes: Some(1 << 30),
        ..ComponentLimits::default()
    };
    of_the_enemy(&mut settings, more);
    arena.host.apply(settings).await.expect("settings");
    let error = arena.refused("gorge").await;
    assert!(error.message.contains("its 96 MiB"), "{error}");
    arena.assert_unharmed().await;
}
