//! The actions `review` and `undo`.

use super::*;

#[test]
fn new_cards_are_scheduled_by_fsrs_in_the_store() {
    let note = "#flashcards\nQ::A\n";
    let vault = vault(note);
    let card = card(&vault);
    let first = ok(&vault, "review", json!({ "card": card, "rating": 3 }));
    assert_eq!(
        (&first["state"], &first["due"]),
        (&json!("learning"), &json!("2026-01-01 12:10"))
    );
    assert_eq!(
        (&first["scheduler"], &first["kept_in"]),
        (&json!("fsrs"), &json!("store"))
    );
    assert_eq!(
        ok(&vault, "next", json!({}))["next_due"],
        "2026-01-01 12:10"
    );
    vault.set_time(NOON + 600_000);
    assert_eq!(ok(&vault, "next", json!({}))["card"]["card"], json!(card));
    let second = ok(&vault, "review", json!({ "card": card, "rating": 3 }));
    assert_eq!(
        (&second["state"], &second["due"], &second["interval_days"]),
        (&json!("review"), &json!("2026-01-03"), &json!(2))
    );
    // A day starts at 4:00.
    vault.set_time(NOON + 2 * DAY - 9 * 3_600_000);
    assert_eq!(ok(&vault, "next", json!({}))["due"], 0);
    vault.set_time(NOON + 2 * DAY - 8 * 3_600_000);
    assert_eq!(ok(&vault, "next", json!({}))["due"], 1);
    let third = ok(&vault, "review", json!({ "card": card, "rating": 3 }));
    assert!(
        (9..=13).contains(&third["interval_days"].as_u64().unwrap()),
        "{third}"
    );
    assert_eq!(vault.text("N.md").unwrap(), note);
    let details = ok(&vault, "get", json!({ "card": card }));
    assert_eq!(details["reps"], 3);
    assert!(details["stability"].as_f64().unwrap() > 5.0);
}

#[test]
fn fuzz_is_deterministic() {
    let interval = || {
        let vault = vault("#flashcards\nQ::A\n");
        let card = card(&vault);
        ok(&vault, "review", json!({ "card": card, "rating": 4 }))["interval_days"].clone()
    };
    assert_eq!(interval(), interval());
}

#[test]
fn retention_can_be_set_per_note() {
    let interval = |retention: &str| {
        let vault = vault(&format!(
            "---\ntags: flashcards\nretention: {retention}\n---\nQ::A\n"
        ));
        let card = card(&vault);
        ok(&vault, "review", json!({ "card": card, "rating": 4 }))["interval_days"]
            .as_u64()
            .unwrap()
    };
    assert!(interval("0.97") < interval("0.8"));
    assert_eq!(interval("7"), interval("0.9"));
    let vault = vault("#flashcards\nQ::A\n");
    vault
        .store_set("settings", br#"{"retention": 0.8}"#)
        .unwrap();
    let card = card(&vault);
    let answer = ok(&vault, "review", json!({ "card": card, "rating": 4 }));
    assert_eq!(answer["interval_days"].as_u64().unwrap(), interval("0.8"));
}

#[test]
fn sm2_stays_sm2_and_only_its_entry_changes() {
    let note = "\u{feff}#flashcards\r\nQ:::A <!--SR:!2025-12-30,4,270-->\r\nrest\r\n\r\na ==b== ==c==\r\n<!--SR:!2025-12-31,10,250!2026-02-01,3,230-->";
    let vault = vault(note);
    let cards = cards(&vault);
    let answer = ok(&vault, "review", json!({ "card": cards[0], "rating": 3 }));
    assert_eq!(
        (&answer["scheduler"], &answer["kept_in"], &answer["due"]),
        (&json!("sm2"), &json!("note"), &json!("2026-01-15"))
    );
    let once = note.replace("!2025-12-30,4,270", "!2026-01-15,14,270");
    assert_eq!(vault.text("N.md").unwrap(), once);
    // Its sibling had no entry: one is added in the same format.
    ok(&vault, "review", json!({ "card": cards[1], "rating": 4 }));
    let twice = once.replace("14,270", "14,270!2026-01-05,4,270");
    assert_eq!(vault.text("N.md").unwrap(), twice);
    ok(&vault, "review", json!({ "card": cards[3], "rating": 1 }));
    assert_eq!(
        vault.text("N.md").unwrap(),
        twice.replace("!2026-02-01,3,230", "!2026-01-01,1,250")
    );
}

#[test]
fn fsrs_in_a_note_stays_fsrs_in_the_note() {
    let entry = "fsrs,2026-01-01T08:30:00.000Z,10,10.5,5.25,2,3,1,0,2025-12-22T08:30:00.000Z";
    let note = format!("#flashcards\nQ::A\n<!--SR:!{entry}-->\n");
    let vault = vault(&note);
    let card = card(&vault);
    let answer = ok(&vault, "review", json!({ "card": card, "rating": 3 }));
    assert_eq!(
        (&answer["scheduler"], &answer["kept_in"], &answer["state"]),
        (&json!("fsrs"), &json!("note"), &json!("review"))
    );
    let text = vault.text("N.md").unwrap();
    assert!(
        text.starts_with("#flashcards\nQ::A\n<!--SR:!fsrs,2026-"),
        "{text}"
    );
    assert!(
        text.ends_with(",2,4,1,0,2026-01-01T12:00:00.000Z-->\n"),
        "{text}"
    );
    let interval = answer["interval_days"].as_u64().unwrap();
    assert!((20..60).contains(&interval), "{interval}");
    vault.set_time(NOON + interval * DAY);
    ok(&vault, "review", json!({ "card": card, "rating": 1 }));
    let text = vault.text("N.md").unwrap();
    assert!(text.contains(",3,5,2,0,"), "{text}");
    ok(&vault, "undo", json!({}));
    ok(&vault, "undo", json!({}));
    assert_eq!(vault.text("N.md").unwrap(), note);
}

#[test]
fn undo_restores_the_previous_state_exactly() {
    let note = "#flashcards\nQ::A\nB::C\n<!--SR:!2025-12-30,4,270-->\n";
    let vault = vault(note);
    let cards = cards(&vault);
    let mut states = vec![(vault.text("N.md"), store(&vault))];
    for (card, rating) in [(0, 3), (1, 3), (0, 4), (1, 1), (0, 1)] {
        ok(
            &vault,
            "review",
            json!({ "card": cards[card], "rating": rating }),
        );
        vault.set_time(NOON + states.len() as u64 * DAY);
        states.push((vault.text("N.md"), store(&vault)));
    }
    while states.len() > 1 {
        states.pop();
        let undone = ok(&vault, "undo", json!({}));
        assert_eq!(undone["path"], "N.md");
        assert_eq!(&(vault.text("N.md"), store(&vault)), states.last().unwrap());
    }
    assert_eq!(refused(&vault, "undo", json!({})).code(), "not_found");
}

#[test]
fn undo_is_rejected_after_a_later_change() {
    let vault = vault("#flashcards\nB::C\n<!--SR:!2025-12-30,4,270-->\n");
    ok(
        &vault,
        "review",
        json!({ "card": card(&vault), "rating": 3 }),
    );
    vault
        .write(
            "N.md",
            b"#flashcards\nB::C\n<!--SR:!2030-01-01,4,270-->\n",
            None,
        )
        .unwrap();
    assert_eq!(refused(&vault, "undo", json!({})).code(), "conflict");
    assert_eq!(
        vault.text("N.md").unwrap(),
        "#flashcards\nB::C\n<!--SR:!2030-01-01,4,270-->\n"
    );
}

#[test]
fn leeches_are_suspended() {
    let vault = vault("#flashcards\nB::C\n<!--SR:!2025-12-30,4,270-->\n");
    let card = card(&vault);
    for lapse in 1..=8 {
        let answer = ok(&vault, "review", json!({ "card": card, "rating": 1 }));
        assert_eq!(answer.get("leech").is_some(), lapse == 8, "{lapse}");
    }
    let error = refused(&vault, "review", json!({ "card": card, "rating": 3 }));
    assert_eq!(error.code(), "conflict");
    assert!(error.message().ends_with("is suspended: `resume` it first"));
    assert_eq!(
        ok(&vault, "list", json!({ "state": "suspended" }))["items"][0]["leech"],
        true
    );
    assert_eq!(ok(&vault, "next", json!({}))["due"], 0);
    ok(&vault, "resume", json!({ "card": card }));
    assert_eq!(ok(&vault, "next", json!({}))["due"], 1);
    assert!(
        ok(&vault, "list", json!({}))["items"][0]
            .get("leech")
            .is_none()
    );
}

#[test]
fn invalid_reviews_change_nothing() {
    let note = "#flashcards\nQ::A\nB::C\n<!--SR:!someday-->\n";
    let vault = vault(note);
    let cards = cards(&vault);
    for (arguments, code) in [
        (json!({ "card": cards[0], "rating": 0 }), "validation_error"),
        (json!({ "card": cards[0], "rating": 5 }), "validation_error"),
        (
            json!({ "card": cards[0], "rating": "good" }),
            "validation_error",
        ),
        (json!({ "card": cards[0] }), "validation_error"),
        (json!({ "card": "N.md#00000000", "rating": 3 }), "not_found"),
        (json!({ "card": cards[1], "rating": 3 }), "unsupported"),
    ] {
        let error = refused(&vault, "review", arguments.clone());
        assert_eq!(error.code(), code, "{arguments}: {error}");
    }
    assert_eq!(
        ok(&vault, "list", json!({}))["items"][1]["state"],
        "unreadable"
    );
    assert!(
        ok(&vault, "get", json!({ "card": cards[1] }))
            .get("answers")
            .is_none()
    );
    assert_eq!(vault.text("N.md").unwrap(), note);
    assert_eq!(store(&vault), []);
}

#[test]
fn cards_of_a_read_only_notebook_can_be_reviewed() {
    let vault =
        vault("#flashcards\nQ::A\nB::C\n<!--SR:!2025-12-30,4,270-->\n").default_tier(Tier::Read);
    let cards = cards(&vault);
    ok(&vault, "review", json!({ "card": cards[0], "rating": 3 }));
    let error = refused(&vault, "review", json!({ "card": cards[1], "rating": 3 }));
    assert_eq!(error.code(), "permission_denied");
}

#[test]
fn invalid_store_values_are_never_overwritten() {
    let vault = vault("#flashcards\nQ::A\n");
    let card = card(&vault);
    ok(&vault, "review", json!({ "card": card, "rating": 3 }));
    let key = vault.store_keys("cards/").unwrap()[0].clone();
    vault.store_set(&key, b"{ half").unwrap();
    assert_eq!(
        refused(&vault, "review", json!({ "card": card, "rating": 3 })).code(),
        "unsupported"
    );
    assert_eq!(refused(&vault, "list", json!({})).code(), "unsupported");
    assert_eq!(vault.store_get(&key).unwrap().unwrap(), b"{ half");
}
