//! Decks, lists, single cards, statistics.

use super::*;

fn library() -> MemoryVault {
    Vault::in_memory()
        .at(NOON)
        .with(
            "Lang/Spanish.md",
            "---\ntags: [flashcards/lang/es]\n---\nuno::one\ndos:::two\n",
        )
        .with(
            "Lang/French.md",
            "#flashcards/Lang/fr\n\nun\n?\none\n\nIl ==fait== beau\n",
        )
        .with(
            "Work/Terms.md",
            "---\ndeck: work\n---\nDDL::Data Definition Language\n<!--SR:!2025-12-30,4,270-->\n",
        )
        .with("Work/Plain.md", "owner:: Ana\n")
        .with("Flashcards/Music.md", "A >> 440 Hz\n")
        .with("Latin.md", "x")
        .with_bytes("Bad.md", b"#flashcards caf\xe9::x")
        .with("Hidden/H.md", "#flashcards/secret\na::b\n")
        .allow("Hidden", Tier::None)
}

#[test]
fn deck_counts_include_subdecks() {
    let vault = library();
    let decks = ok(&vault, "decks", json!({}));
    assert_eq!(
        decks["items"],
        json!([
            {"deck": "Lang", "cards": 5, "due": 0, "new": 5, "suspended": 0},
            {"deck": "lang/es", "cards": 3, "due": 0, "new": 3, "suspended": 0},
            {"deck": "Lang/fr", "cards": 2, "due": 0, "new": 2, "suspended": 0},
            {"deck": "Music", "cards": 1, "due": 0, "new": 1, "suspended": 0},
            {"deck": "work", "cards": 1, "due": 1, "new": 0, "suspended": 0}
        ])
    );
    assert_eq!(all_pages(&vault, "decks", &json!({}), 2).len(), 5);
    assert!(text_of(&vault, "decks", json!({})).contains("- work: 1 card, 1 due, 0 new"));
    assert_eq!(
        refused(&vault, "decks", json!({ "limit": 0 })).code(),
        "validation_error"
    );
}

#[test]
fn cards_are_listed_by_scope_and_state() {
    let vault = library();
    let count = |arguments| ok(&vault, "list", arguments)["total"].as_u64().unwrap();
    assert_eq!(count(json!({})), 7);
    assert_eq!(count(json!({ "scope": "all" })), 7);
    assert_eq!(
        count(json!({ "scope": "deck", "deck": "#flashcards/LANG" })),
        5
    );
    assert_eq!(count(json!({ "deck": "lang::es" })), 3);
    assert_eq!(count(json!({ "scope": "notebook", "notebook": "Lang" })), 5);
    assert_eq!(count(json!({ "notebook": "." })), 0);
    assert_eq!(count(json!({ "scope": "note", "path": "Spanish" })), 3);
    assert_eq!(count(json!({ "path": "[[Plain]]" })), 1);
    assert_eq!(count(json!({ "state": "due" })), 1);
    assert_eq!(count(json!({ "state": "new" })), 6);
    assert_eq!(count(json!({ "state": "learned" })), 1);
    assert_eq!(count(json!({ "state": "suspended" })), 0);
    assert_eq!(all_pages(&vault, "list", &json!({}), 3).len(), 7);
    let first = &ok(&vault, "list", json!({ "path": "Terms" }))["items"][0];
    assert_eq!(first["front"], "DDL");
    assert_eq!(first["back"], "Data Definition Language");
    assert_eq!(
        (&first["path"], &first["line"]),
        (&json!("Work/Terms.md"), &json!(4))
    );
    assert_eq!(
        (&first["state"], &first["due"], &first["interval_days"]),
        (&json!("review"), &json!("2025-12-30"), &json!(4.0))
    );
    let second = &ok(&vault, "list", json!({ "path": "Spanish" }))["items"][2];
    assert_eq!(
        (&second["front"], &second["sibling"]),
        (&json!("two"), &json!(2))
    );
}

#[test]
fn invalid_list_arguments_are_rejected() {
    let vault = library();
    for (arguments, code) in [
        (json!({ "scope": "deck" }), "validation_error"),
        (json!({ "scope": "notebook" }), "validation_error"),
        (json!({ "scope": "note" }), "validation_error"),
        (json!({ "scope": "everything" }), "validation_error"),
        (json!({ "deck": "a", "path": "b" }), "validation_error"),
        (json!({ "deck": " " }), "validation_error"),
        (json!({ "deck": "secret" }), "not_found"),
        (json!({ "notebook": "Nowhere" }), "not_found"),
        (json!({ "notebook": "Hidden" }), "not_found"),
        (json!({ "path": "Nobody" }), "not_found"),
        (json!({ "path": "H" }), "not_found"),
        (json!({ "path": "Bad" }), "unsupported"),
        (json!({ "cursor": "x" }), "validation_error"),
    ] {
        let error = refused(&vault, "list", arguments.clone());
        assert_eq!(error.code(), code, "{arguments}: {error}");
    }
    let error = refused(&vault, "list", json!({ "deck": "secret" }));
    assert_eq!(
        error.message(),
        "no deck `secret`; known decks: `Lang/fr`, `Music`, `lang/es`, `work`"
    );
}

#[test]
fn get_returns_card_details() {
    let vault = library();
    let handle = ok(&vault, "list", json!({ "path": "Spanish" }))["items"][1]["card"].clone();
    let card = ok(&vault, "get", json!({ "card": handle }));
    assert_eq!(card["card"]["front"], "dos");
    assert_eq!(
        (&card["kept_in"], &card["scheduler"], &card["shape"]),
        (&json!("store"), &json!("fsrs"), &json!("line"))
    );
    assert_eq!(card["siblings"].as_array().unwrap().len(), 1);
    assert_eq!(card["answers"]["again"], "1 min");
    assert_eq!(card["answers"]["good"], "10 min");
    assert!(card["etag"].is_string());
    let handle = ok(&vault, "list", json!({ "path": "Terms" }))["items"][0]["card"].clone();
    let card = ok(&vault, "get", json!({ "card": handle }));
    assert_eq!(
        (&card["kept_in"], &card["scheduler"]),
        (&json!("note"), &json!("sm2"))
    );
    for (card, code) in [
        ("", "validation_error"),
        ("N.md#zz", "validation_error"),
        ("N.md#12345678", "not_found"),
        ("12345678", "not_found"),
    ] {
        assert_eq!(
            refused(&vault, "get", json!({ "card": card })).code(),
            code,
            "{card}"
        );
    }
}

#[test]
fn cards_of_hidden_notes_are_not_found() {
    let open = Vault::in_memory()
        .at(NOON)
        .with("Hidden/H.md", "#flashcards\na::b\n");
    let handle = ok(&open, "list", json!({}))["items"][0]["card"].clone();
    assert_eq!(
        refused(&library(), "get", json!({ "card": handle })).code(),
        "not_found"
    );
    assert_eq!(
        refused(&library(), "review", json!({ "card": handle, "rating": 3 })).code(),
        "not_found"
    );
}

#[test]
fn next_orders_due_then_new_then_skipped_cards() {
    let vault = library();
    let next = ok(&vault, "next", json!({}));
    assert_eq!(next["card"]["front"], "DDL");
    assert_eq!((&next["due"], &next["new"]), (&json!(1), &json!(6)));
    assert_eq!(next["answers"]["easy"], "23 days");
    ok(&vault, "skip", json!({ "card": next["card"]["card"] }));
    let after = ok(&vault, "next", json!({}));
    assert_eq!(after["card"]["front"], "A");
    let mut fronts = Vec::new();
    for _ in 0..8 {
        let next = ok(&vault, "next", json!({}));
        let Some(card) = next.get("card") else { break };
        fronts.push(card["front"].as_str().unwrap().to_owned());
        ok(
            &vault,
            "review",
            json!({ "card": card["card"], "rating": 4 }),
        );
    }
    // The sibling of `dos` follows the other cards, and skipped cards are last.
    assert_eq!(
        fronts,
        ["A", "un", "Il [...] beau", "uno", "dos", "two", "DDL"]
    );
    let empty = ok(&vault, "next", json!({}));
    assert!(empty.get("card").is_none() && empty["next_due"].is_string());
    assert_eq!(
        refused(&vault, "next", json!({ "deck": "nothing" })).code(),
        "not_found"
    );
    assert_eq!(ok(&Vault::in_memory(), "next", json!({}))["new"], 0);
    let error = refused(&Vault::in_memory(), "next", json!({ "deck": "x" }));
    assert_eq!(
        error.message(),
        "no deck `x`: there are no cards yet, `create` adds cards"
    );
}

#[test]
fn stats_report_retention_and_forecast() {
    let vault = library();
    let term = ok(&vault, "list", json!({ "path": "Terms" }))["items"][0]["card"].clone();
    ok(&vault, "review", json!({ "card": term, "rating": 3 }));
    let other = ok(&vault, "list", json!({ "path": "Spanish" }))["items"][0]["card"].clone();
    ok(&vault, "review", json!({ "card": other, "rating": 4 }));
    ok(
        &vault,
        "suspend",
        json!({ "card": ok(&vault, "list", json!({ "path": "Music" }))["items"][0]["card"] }),
    );
    let stats = ok(&vault, "stats", json!({}));
    assert_eq!(stats["cards"]["total"], 7);
    assert_eq!(
        (
            &stats["cards"]["new"],
            &stats["cards"]["young"],
            &stats["cards"]["suspended"]
        ),
        (&json!(4), &json!(2), &json!(1))
    );
    assert_eq!(
        stats["reviews"],
        json!({"today": 2, "last_7_days": 2, "last_30_days": 2})
    );
    assert_eq!(
        (&stats["retention"]["reviews"], &stats["retention"]["rate"]),
        (&json!(1), &json!(1.0))
    );
    let forecast = stats["forecast"].as_array().unwrap();
    assert_eq!(forecast.len(), 30);
    assert_eq!(forecast[0]["date"], "2026-01-01");
    assert_eq!(
        forecast
            .iter()
            .map(|day| day["due"].as_u64().unwrap())
            .sum::<u64>(),
        2
    );
    let of_deck = ok(&vault, "stats", json!({ "deck": "work" }));
    assert_eq!(
        (&of_deck["cards"]["total"], &of_deck["reviews"]["today"]),
        (&json!(1), &json!(1))
    );
    assert!(text_of(&vault, "stats", json!({})).contains("100 % of 1 remembered"));
    vault.set_time(NOON + 40 * DAY);
    assert_eq!(ok(&vault, "stats", json!({}))["reviews"]["last_30_days"], 0);
    assert_eq!(
        refused(&vault, "stats", json!({ "deck": "nothing" })).code(),
        "not_found"
    );
}

#[test]
fn descriptions_are_short() {
    let described = Domain::describe();
    let actions = described["actions"].as_array().unwrap();
    let mut words = Vec::new();
    for action in actions {
        // Examples are shown by help, not with the tool.
        let about = action["description"].as_str().unwrap();
        words.push(about.split("\nExample").next().unwrap().to_owned());
        let arguments = action["input"]["properties"].as_object();
        for argument in arguments.into_iter().flatten() {
            words.push(argument.1["description"].to_string());
        }
    }
    words.sort();
    words.dedup();
    let size: usize = words.iter().map(String::len).sum();
    assert!(size < 2560, "{size}");
    let effects = |effect: &str| {
        actions
            .iter()
            .filter(|action| action["effect"] == effect)
            .count()
    };
    assert_eq!(
        (effects("read"), effects("write"), effects("delete")),
        (5, 8, 1)
    );
}
