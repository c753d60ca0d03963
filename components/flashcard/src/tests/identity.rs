//! Cards keep their history when their wording, position or note name changes.

use super::*;

/// A vault in which the first card of `N.md` has been reviewed.
fn learned(note: &str) -> (MemoryVault, String) {
    let vault = vault(note);
    let card = card(&vault);
    ok(&vault, "review", json!({ "card": card, "rating": 4 }));
    (vault, card)
}

fn state(vault: &MemoryVault, card: &str) -> String {
    ok(vault, "get", json!({ "card": card }))["card"]["state"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn reworded_cards_keep_their_history() {
    let (vault, card) = learned("#flashcards\nWhat is the capital of France?::Paris\n");
    vault
        .write(
            "N.md",
            b"#flashcards\nnew::card\n\n- What's the capital city of **France**?::Paris\n",
            None,
        )
        .unwrap();
    assert_eq!(state(&vault, &card), "review");
    assert_eq!(ok(&vault, "list", json!({ "state": "new" }))["total"], 1);
    vault
        .write(
            "N.md",
            b"#flashcards\nWho painted Guernica?::Picasso\n",
            None,
        )
        .unwrap();
    assert_eq!(
        refused(&vault, "get", json!({ "card": card })).code(),
        "not_found"
    );
}

#[test]
fn a_block_id_keeps_the_history_of_a_rewritten_card() {
    let (vault, card) = learned("#flashcards\nOld::words ^k1\n");
    vault
        .write("N.md", b"#flashcards\nCompletely::different ^k1\n", None)
        .unwrap();
    assert_eq!(state(&vault, &card), "review");
}

#[test]
fn adding_a_cloze_keeps_the_others() {
    let (vault, card) = learned("#flashcards\nThe ==sun== is a star and the moon is none\n");
    vault
        .write(
            "N.md",
            "#flashcards\n==The== ==sun== is a star and the ==moon== is none\n".as_bytes(),
            None,
        )
        .unwrap();
    let details = ok(&vault, "get", json!({ "card": card }));
    assert_eq!(
        (&details["card"]["state"], &details["card"]["sibling"]),
        (&json!("review"), &json!(2))
    );
}

#[test]
fn a_renamed_note_keeps_its_cards() {
    let (vault, card) = learned("#flashcards\nQ::A\nR::B\n");
    vault.rename("N.md", "Sub/Other.md").unwrap();
    let listed = ok(&vault, "list", json!({ "state": "learned" }));
    assert_eq!(
        (&listed["total"], &listed["items"][0]["front"]),
        (&json!(1), &json!("Q"))
    );
    // The id from before the rename still works.
    assert_eq!(state(&vault, &card), "review");
    vault.set_time(NOON + 20 * DAY);
    ok(&vault, "review", json!({ "card": card, "rating": 3 }));
    let kept: Vec<_> = store(&vault)
        .into_iter()
        .filter(|(key, _)| key.starts_with("cards/"))
        .collect();
    assert_eq!(kept.len(), 1);
    assert!(String::from_utf8_lossy(&kept[0].1).starts_with("{\"Sub/Other.md\""));
    assert_eq!(ok(&vault, "get", json!({ "card": card }))["reps"], 2);
}

#[test]
fn moved_cards_keep_their_history_and_copies_have_none() {
    let (vault, _) = learned("#flashcards\nQ::A\nR::B\n");
    vault.create("M.md", b"#flashcards\nQ::A\n").unwrap();
    assert_eq!(
        ok(&vault, "list", json!({ "path": "M" }))["items"][0]["state"],
        "new"
    );
    vault.write("N.md", b"#flashcards\nR::B\n", None).unwrap();
    assert_eq!(
        ok(&vault, "list", json!({ "path": "M" }))["items"][0]["state"],
        "review"
    );
}

#[test]
fn records_of_hidden_notes_are_not_taken_over() {
    let (vault, _) = learned("#flashcards\nQ::A\n");
    vault.rename("N.md", "Hidden/N.md").unwrap();
    let card = ok(&vault, "list", json!({}))["items"][0]["card"].clone();
    vault.set_time(NOON + 20 * DAY);
    ok(&vault, "review", json!({ "card": card, "rating": 3 }));
    vault.create("Copy.md", b"#flashcards\nQ::A\n").unwrap();
    let vault = vault.allow("Hidden", Tier::None);
    let listed = ok(&vault, "list", json!({}));
    assert_eq!(
        (&listed["total"], &listed["items"][0]["state"]),
        (&json!(1), &json!("new"))
    );
    assert_eq!(ok(&vault, "stats", json!({}))["reviews"]["today"], 0);
    assert_eq!(
        refused(&vault, "get", json!({ "card": card })).code(),
        "not_found"
    );
}

#[test]
fn equal_cards_are_distinct() {
    let vault = vault("#flashcards\nQ::A\n\nQ::A\n");
    let cards = cards(&vault);
    assert_ne!(cards[0], cards[1]);
    ok(&vault, "review", json!({ "card": cards[1], "rating": 4 }));
    assert_eq!(
        ok(&vault, "list", json!({ "state": "learned" }))["total"],
        1
    );
}
