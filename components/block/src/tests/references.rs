//! Ids and links: identify, references, transfer_references.

use super::*;

#[test]
fn identify_keeps_an_existing_id() {
    let vault = vault();
    let made = ok(
        &vault,
        "identify",
        json!({ "block": named(&vault, "Plan", "Intro") }),
    );
    let id = made["id"].as_str().unwrap();
    assert_eq!(made["link"], format!("[[Plan#^{id}]]"));
    assert_eq!((&made["created"], &made["line"]), (&json!(true), &json!(6)));
    assert!(
        vault
            .text("Work/Plan.md")
            .unwrap()
            .contains(&format!("Intro text here. ^{id}\n"))
    );
    let again = ok(&vault, "identify", json!({ "block": made["block"] }));
    assert_eq!(
        (&again["id"], &again["created"]),
        (&json!(id), &json!(false))
    );
    let table = ok(
        &vault,
        "identify",
        json!({ "block": named(&vault, "Plan", "| a | b |"), "id": "^my-table" }),
    );
    assert_eq!(table["block"], "Work/Plan.md#^my-table");
    assert!(
        vault
            .text("Work/Plan.md")
            .unwrap()
            .contains("| 1 | 2 |\n\n^my-table\n\n## Last")
    );
}

#[test]
fn invalid_ids_are_rejected() {
    let vault = vault().with("Other/Plan.md", "x\n");
    let intro = named(&vault, "Work/Plan", "Intro");
    for (arguments, code) in [
        (
            json!({ "block": intro, "id": "two words" }),
            "validation_error",
        ),
        (json!({ "block": intro, "id": "" }), "validation_error"),
        (json!({ "block": intro, "id": "Ana" }), "already_exists"),
        (
            json!({ "block": "Work/Plan#^ana", "id": "bob" }),
            "already_exists",
        ),
        (
            json!({ "block": named(&vault, "Work/Plan", "---") }),
            "unsupported",
        ),
        (json!({ "block": "Work/Plan#^no" }), "not_found"),
    ] {
        assert_eq!(
            refused(&vault, "identify", arguments.clone()).code(),
            code,
            "{arguments}"
        );
        vault.rollback();
    }
    // A name shared by two notes cannot be used in the link.
    let made = ok(&vault, "identify", json!({ "block": intro, "id": "i" }));
    assert_eq!(made["link"], "[[Work/Plan#^i]]");
}

#[test]
fn references_lists_links_to_a_block() {
    let vault = vault()
        .with(
            "A.md",
            "x [[Plan#^ana]] y [[Plan]]\n[[Plan#^other]]\n![[Plan#^ANA]]\n",
        )
        .with("B.md", "[[Plan#Tasks]] [[Plan#Plan#Tasks]] [[Plan#Last]]\n")
        .with("Self.md", "me ^me\n\n[[#^me]] [[Self#^me]]\n")
        .with("Hidden/H.md", "[[Plan#^ana]]")
        .allow("Hidden", Tier::None);
    let places = |block: &str| {
        let found = ok(&vault, "references", json!({ "block": block }));
        let items = found["items"].as_array().unwrap().clone();
        assert_eq!(found["total"], items.len());
        items
            .iter()
            .map(|item| format!("{}:{}", item["path"].as_str().unwrap(), item["line"]))
            .collect::<Vec<_>>()
    };
    assert_eq!(places("Plan#^ana"), ["A.md:1", "A.md:3"]);
    assert_eq!(places("Plan#Tasks"), ["B.md:1", "B.md:1"]);
    assert_eq!(places("Self#^me"), ["Self.md:3", "Self.md:3"]);
    assert!(places(&named(&vault, "Plan", "Intro")).is_empty());
    let all = ok(&vault, "references", json!({ "block": "Plan#^ana" }));
    assert_eq!(
        all_pages(&vault, "references", &json!({ "block": "Plan#^ana" }), 1),
        *all["items"].as_array().unwrap()
    );
    assert_eq!(all["items"][1]["embed"], true);
    for (arguments, code) in [
        (json!({ "block": "Plan#^no" }), "not_found"),
        (
            json!({ "block": "Plan#^ana", "limit": 0 }),
            "validation_error",
        ),
    ] {
        assert_eq!(refused(&vault, "references", arguments).code(), code);
    }
}

#[test]
fn transfer_references_rewrites_links_in_other_notes() {
    let vault = vault()
        .with("A.md", "---\nup: \"[[Plan#^ana]]\"\n---\nx [[Plan#^ana|her]] [[Plan#^ana-2]] `[[Plan#^ana]]`\n[y](Work/Plan.md#%5Eana)\n")
        .with("New place.md", "target\n")
        .with("Locked/L.md", "[[Plan#^ana]]\n")
        .allow("Locked", Tier::Read);
    let target = named(&vault, "New place", "target");
    let done = ok(
        &vault,
        "transfer_references",
        json!({ "from": "Plan#^ana", "to": target }),
    );
    assert_eq!(
        (&done["links_rewritten"], &done["notes"]),
        (&json!(3), &json!(1))
    );
    assert_eq!(done["links_left"][0]["reason"], "no write permission");
    let to = done["to"].as_str().unwrap();
    let id = to.strip_prefix("New place.md#^").unwrap();
    assert_eq!(
        vault.text("A.md").unwrap(),
        format!(
            "---\nup: \"[[New place#^{id}]]\"\n---\nx [[New place#^{id}|her]] [[Plan#^ana-2]] `[[Plan#^ana]]`\n[y](New%20place.md#%5E{id})\n"
        )
    );
    assert_eq!(
        vault.text("New place.md").unwrap(),
        format!("target ^{id}\n")
    );
}

#[test]
fn transfer_references_rewrites_links_within_a_note() {
    let vault = Vault::in_memory()
        .with("A.md", "a ^a\n\nb ^b\n\n[[#^a]] [[A#^a]] [t](#^a)\n")
        .with("B.md", "c ^c\n");
    ok(
        &vault,
        "transfer_references",
        json!({ "from": "A#^a", "to": "A#^b" }),
    );
    assert_eq!(
        vault.text("A.md").unwrap(),
        "a ^a\n\nb ^b\n\n[[#^b]] [[A#^b]] [t](#^b)\n"
    );
    ok(
        &vault,
        "transfer_references",
        json!({ "from": "A#^b", "to": "B#^c" }),
    );
    assert_eq!(
        vault.text("A.md").unwrap(),
        "a ^a\n\nb ^b\n\n[[B#^c]] [[B#^c]] [t](B.md#^c)\n"
    );
    for (arguments, code) in [
        (json!({ "from": "A#^a", "to": "A#^a" }), "validation_error"),
        (
            json!({ "from": named(&vault, "A", "[[B"), "to": "A#^a" }),
            "validation_error",
        ),
        (json!({ "from": "A#^no", "to": "A#^a" }), "not_found"),
    ] {
        assert_eq!(
            refused(&vault, "transfer_references", arguments).code(),
            code
        );
    }
}
