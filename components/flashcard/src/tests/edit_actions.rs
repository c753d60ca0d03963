//! The actions `create`, `remove`, `suspend` and `resume`.

use super::*;

#[test]
fn cards_are_added_to_a_note() {
    let vault = vault("---\r\ntags: [flashcards/x]\r\n---\r\ntext\r\n");
    let made = ok(
        &vault,
        "create",
        json!({ "path": "N", "cards": [
            { "front": "Q", "back": "A" },
            { "front": "B", "back": "C", "both": true },
            { "front": "L", "back": "one\n\ntwo" },
            { "front": "a ==gap== b" },
        ] }),
    );
    assert_eq!(
        vault.text("N.md").unwrap(),
        "---\r\ntags: [flashcards/x]\r\n---\r\ntext\r\n\r\nQ::A\r\n\r\nB:::C\r\n\r\nL\r\n?\r\none\r\n<br>\r\ntwo\r\n\r\na ==gap== b\r\n"
    );
    assert_eq!(
        (&made["path"], made["items"].as_array().unwrap().len()),
        (&json!("N.md"), 5)
    );
    assert_eq!(made["items"][0]["deck"], "x");
    assert_eq!(cards(&vault).len(), 5);
}

#[test]
fn create_adds_a_tag_in_an_unmarked_note() {
    let vault = vault("text");
    let made = ok(
        &vault,
        "create",
        json!({ "path": "N", "cards": [{ "front": "Q", "back": "A" }] }),
    );
    assert_eq!(vault.text("N.md").unwrap(), "text\n\n#flashcards Q::A");
    assert_eq!(made["items"][0]["deck"], "flashcards");
    ok(
        &vault,
        "create",
        json!({ "path": "N", "deck": "es", "cards": [{ "front": "uno", "back": "one" }] }),
    );
    assert_eq!(
        vault.text("N.md").unwrap(),
        "text\n\n#flashcards Q::A\n\n#flashcards/es uno::one"
    );
    assert_eq!(ok(&vault, "list", json!({ "deck": "es" }))["total"], 1);
    let error = refused(
        &vault,
        "create",
        json!({ "path": "N", "deck": "two words", "cards": [{ "front": "a", "back": "b" }] }),
    );
    assert_eq!(error.code(), "validation_error");
}

#[test]
fn create_with_a_deck_uses_the_note_of_the_deck() {
    let vault = Vault::in_memory().at(NOON);
    let add = |deck: &str, front: &str| {
        ok(
            &vault,
            "create",
            json!({ "deck": deck, "cards": [{ "front": front, "back": "x" }] }),
        )["path"]
            .clone()
    };
    assert_eq!(add("lang/es", "uno"), "Flashcards/lang/es.md");
    assert_eq!(add("#flashcards/lang/es", "dos"), "Flashcards/lang/es.md");
    assert_eq!(
        vault.text("Flashcards/lang/es.md").unwrap(),
        "---\ntags:\n  - flashcards/lang/es\n---\nuno::x\n\ndos::x\n"
    );
    assert_eq!(add("My deck: all", "tres"), "Flashcards/My deck- all.md");
    assert_eq!(
        ok(&vault, "list", json!({ "deck": "My deck: all" }))["total"],
        1
    );
    vault.rename("Flashcards/lang/es.md", "Spanish.md").unwrap();
    assert_eq!(add("lang/es", "cuatro"), "Spanish.md");
    assert_eq!(
        ok(
            &vault,
            "create",
            json!({ "path": "New/N.md", "cards": [{ "front": "a", "back": "b" }] })
        )["path"],
        "New/N.md"
    );
    assert_eq!(
        vault.text("New/N.md").unwrap(),
        "---\ntags:\n  - flashcards\n---\na::b\n"
    );
}

#[test]
fn invalid_cards_are_rejected_without_changes() {
    let note = "#flashcards\n\n```\nopen";
    let vault = vault(note)
        .with("Locked/L.md", "#flashcards\n")
        .allow("Locked", Tier::Read)
        .with("Odd.md", "#flashcards\nx\n");
    let one = |front: &str, back: &str| json!([{ "front": front, "back": back }]);
    for (arguments, code) in [
        (json!({ "path": "Odd", "cards": [] }), "validation_error"),
        (json!({ "cards": one("a", "b") }), "validation_error"),
        (
            json!({ "path": "Odd", "deck": "", "cards": one("a", "b") }),
            "validation_error",
        ),
        (
            json!({ "path": "Odd", "cards": one("", "b") }),
            "validation_error",
        ),
        (
            json!({ "path": "Odd", "cards": one("a", " ") }),
            "validation_error",
        ),
        (
            json!({ "path": "Odd", "cards": [{ "front": "no gap" }] }),
            "validation_error",
        ),
        (
            json!({ "path": "Odd", "cards": one("a::b", "c") }),
            "validation_error",
        ),
        (
            json!({ "path": "Odd", "cards": one("- a", "c") }),
            "validation_error",
        ),
        (
            json!({ "path": "Odd", "cards": one("a", "```\nopen") }),
            "validation_error",
        ),
        (
            json!({ "path": "N", "cards": one("a", "b") }),
            "validation_error",
        ),
        (
            json!({ "path": "Nobody", "cards": one("a", "b") }),
            "not_found",
        ),
        (
            json!({ "path": "L", "cards": one("a", "b") }),
            "permission_denied",
        ),
        (
            json!({ "path": "Locked/New.md", "cards": one("a", "b") }),
            "permission_denied",
        ),
    ] {
        let error = refused(&vault, "create", arguments.clone());
        assert_eq!(error.code(), code, "{arguments}: {error}");
    }
    assert_eq!(vault.text("N.md").unwrap(), note);
    assert_eq!(vault.text("Odd.md").unwrap(), "#flashcards\nx\n");
    let error = refused(
        &vault,
        "create",
        json!({ "path": "Odd", "cards": [{ "front": "no gap" }] }),
    );
    assert!(
        error
            .message()
            .starts_with("`cards[0]`: no `back` and no cloze")
    );
}

#[test]
fn remove_deletes_schedule_and_siblings() {
    let vault = vault("#flashcards\n\nQ:::A\n<!--SR:!2025-12-30,4,270-->\n\nB::C\nrest\n");
    let all = cards(&vault);
    ok(&vault, "suspend", json!({ "card": all[0] }));
    ok(&vault, "review", json!({ "card": all[2], "rating": 4 }));
    let removed = ok(&vault, "remove", json!({ "card": all[1] }));
    assert_eq!(
        removed,
        json!({"path": "N.md", "line": 3, "front": "A", "cards": 2})
    );
    assert_eq!(vault.text("N.md").unwrap(), "#flashcards\n\nB::C\nrest\n");
    ok(&vault, "remove", json!({ "card": all[2] }));
    assert_eq!(vault.text("N.md").unwrap(), "#flashcards\n\nrest\n");
    assert!(vault.store_keys("cards/").unwrap().is_empty());
    assert_eq!(
        refused(&vault, "remove", json!({ "card": all[2] })).code(),
        "not_found"
    );
}

#[test]
fn remove_requires_write_access() {
    let vault = vault("#flashcards\nQ::A\n").default_tier(Tier::Read);
    let card = card(&vault);
    assert_eq!(
        refused(&vault, "remove", json!({ "card": card })).code(),
        "permission_denied"
    );
    assert_eq!(vault.text("N.md").unwrap(), "#flashcards\nQ::A\n");
}

#[test]
fn suspended_cards_are_not_due_until_resumed() {
    let vault = vault("#flashcards\nQ::A\n");
    let card = card(&vault);
    let suspended = ok(&vault, "suspend", json!({ "card": card }));
    assert_eq!(suspended["card"]["suspended"], true);
    assert_eq!(
        text_of(&vault, "suspend", json!({ "card": card })),
        format!("suspended: `{card}`")
    );
    assert!(ok(&vault, "next", json!({})).get("card").is_none());
    assert_eq!(ok(&vault, "decks", json!({}))["items"][0]["suspended"], 1);
    let resumed = ok(&vault, "resume", json!({ "card": card }));
    assert!(resumed["card"].get("suspended").is_none());
    assert!(ok(&vault, "next", json!({})).get("card").is_some());
    for action in ["suspend", "resume", "skip"] {
        assert_eq!(
            refused(&vault, action, json!({ "card": "N.md#00000000" })).code(),
            "not_found"
        );
        assert_eq!(
            refused(&vault, action, json!({ "card": "?" })).code(),
            "validation_error"
        );
    }
}
