//! Tests of `outgoing`, `backlinks`, `unresolved`, `orphans` and `suggest`.

use super::*;

fn vault() -> MemoryVault {
    Vault::in_memory()
        .with(
            "Work/Plan.md",
            "---\naliases: [The Scheme]\n---\n# Plan\n[[Log]] [[Log#Missing]] ![[pic.png]] [[Nowhere]]\n[x](https://a.b) [[#Plan]] [[Twin]]\n",
        )
        .with("Work/Log.md", "# Log\nsee [[Plan]] and the plan\n")
        .with("A/Twin.md", "")
        .with("B/Twin.md", "")
        .with("pic.png", "")
        .with(
            "Index.md",
            "A plan, the scheme, `Plan`, Plan.\n[[Plan|it]]\n[p](Work/Plan.md#Plan)\n[[Nowhere]] [[nowhere|x]]\n",
        )
        .with("Hidden/Secret.md", "[[Plan]] Plan [[Nowhere]]")
        .allow("Hidden", Tier::None)
}

#[test]
fn outgoing_links_have_state_and_target() {
    let vault = vault();
    let all = ok(&vault, "outgoing", json!({ "path": "Plan" }));
    assert_eq!(all["path"], "Work/Plan.md");
    assert_eq!(
        each(&all, "state"),
        [
            "resolved",
            "broken_fragment",
            "resolved",
            "broken",
            "external",
            "resolved",
            "resolved"
        ]
    );
    assert_eq!(all["items"][0]["to"], "Work/Log.md");
    assert_eq!(all["items"][0]["line"], 5);
    assert_eq!(all["items"][1]["fragment"], "#Missing");
    assert_eq!(all["items"][2]["kind"], "embed");
    assert_eq!(all["items"][5]["to"], "Work/Plan.md");
    assert_eq!(all["items"][6]["rivals"], 1);
    assert_eq!(
        all["counts"],
        json!({"resolved": 4, "broken": 1, "broken_fragment": 1, "external": 1, "embeds": 1})
    );
    let broken = ok(
        &vault,
        "outgoing",
        json!({ "path": "Plan", "state": "broken" }),
    );
    assert_eq!(each(&broken, "target"), ["Nowhere"]);
    assert_eq!(
        all_pages(&vault, "outgoing", &json!({ "path": "Plan" }), 2).len(),
        7
    );
    for (arguments, code) in [
        (json!({ "path": "Nobody" }), "not_found"),
        (json!({ "path": "Twin" }), "ambiguous_name"),
        (json!({ "path": "Secret" }), "not_found"),
        (json!({ "path": "Plan", "limit": 0 }), "validation_error"),
        (json!({ "path": "Plan", "cursor": "7" }), "validation_error"),
        (json!({ "path": "" }), "validation_error"),
    ] {
        assert_eq!(refused(&vault, "outgoing", arguments).code(), code);
    }
    let odd = Vault::in_memory().with_bytes("Odd.md", b"\xff [[A]]");
    let reply = reply::<Domain>(&odd, "outgoing", &json!({ "path": "Odd" }));
    assert!(reply.is_ok() || reply.unwrap_err().code() == "unsupported");
}

#[test]
fn backlinks_have_line_and_context() {
    let vault = vault();
    let found = ok(&vault, "backlinks", json!({ "path": "[[Plan]]" }));
    assert_eq!(
        each(&found, "path"),
        ["Index.md", "Index.md", "Work/Log.md"]
    );
    assert_eq!(each(&found, "line"), [2, 3, 2]);
    assert_eq!(found["items"][1]["fragment"], "#Plan");
    assert_eq!(found["items"][2]["context"], "see [[Plan]] and the plan");
    assert_eq!((&found["total"], &found["notes"]), (&json!(3), &json!(2)));
    let picture = ok(&vault, "backlinks", json!({ "path": "pic.png" }));
    assert_eq!(each(&picture, "kind"), ["embed"]);
    assert_eq!(
        refused(&vault, "backlinks", json!({ "path": "none.png" })).code(),
        "not_found"
    );
    let text = text_of(&vault, "backlinks", json!({ "path": "Plan" }));
    assert!(text.starts_with("3 links in 2 notes to `Work/Plan.md`\nIndex.md\n    2  [[Plan|it]]"));
}

#[test]
fn mentions_are_found_by_name_and_alias() {
    let vault = vault();
    let only = ok(
        &vault,
        "backlinks",
        json!({ "path": "Plan", "mentions": "only" }),
    );
    assert_eq!(
        each(&only, "mention"),
        ["plan", "the scheme", "Plan", "plan"]
    );
    assert_eq!(each(&only, "line"), [1, 1, 1, 2]);
    assert!(only.get("total").is_none());
    let also = json!({ "path": "Plan", "mentions": "also" });
    let at_once = ok(&vault, "backlinks", also.clone());
    assert_eq!(at_once["items"].as_array().unwrap().len(), 7);
    for limit in 1..8 {
        let pages = all_pages(&vault, "backlinks", &also, limit);
        assert_eq!(json!(pages), at_once["items"], "{limit}");
    }
    for (mentions, cursor) in [
        ("none", "m0.0"),
        ("only", "n1"),
        ("also", "m1"),
        ("also", "x"),
    ] {
        let refused = refused(
            &vault,
            "backlinks",
            json!({ "path": "Plan", "mentions": mentions, "cursor": cursor }),
        );
        assert_eq!(refused.code(), "validation_error", "{mentions} {cursor}");
    }
}

#[test]
fn missing_targets_have_places_and_suggestions() {
    let vault = vault()
        .with("C.md", "[[Lgo]] [[the schem]] [[Zzz]]")
        .with("Sub/D.md", "[[Zzz]]");
    let found = ok(&vault, "unresolved", json!({}));
    assert_eq!(found["items"][0]["target"], "Nowhere");
    assert_eq!(found["items"][0]["count"], 3);
    assert_eq!(
        found["items"][0]["places"],
        json!([{"path": "Index.md", "line": 4}, {"path": "Index.md", "line": 4}, {"path": "Work/Plan.md", "line": 5}])
    );
    assert!(found["items"][0].get("suggestions").is_none());
    assert_eq!((&found["total"], &found["links"]), (&json!(4), &json!(7)));
    let suggested = ok(&vault, "unresolved", json!({ "suggest": true }));
    let of = |target: &str| {
        let items = suggested["items"].as_array().unwrap();
        items
            .iter()
            .find(|item| item["target"] == target)
            .map(|item| item["suggestions"].clone())
    };
    assert_eq!(of("the schem"), Some(json!(["Work/Plan.md"])));
    assert_eq!(of("Lgo"), Some(json!(["Work/Log.md"])));
    assert_eq!(of("Zzz"), Some(json!([])));
    let within = ok(&vault, "unresolved", json!({ "path": "Sub/" }));
    assert_eq!(each(&within, "target"), ["Zzz"]);
    let within = ok(&vault, "unresolved", json!({ "path": "Sub/D" }));
    assert_eq!(each(&within, "count"), [1]);
    assert_eq!(all_pages(&vault, "unresolved", &json!({}), 1).len(), 4);
    assert_eq!(
        refused(&vault, "unresolved", json!({ "path": "Hidden" })).code(),
        "not_found"
    );
    let fine = Vault::in_memory().with("A.md", "");
    assert_eq!(text_of(&fine, "unresolved", json!({})), "no broken links");
}

#[test]
fn orphans_have_no_links_or_no_incoming_links() {
    let vault = vault().with("Alone.md", "x").with("Sub/Lone.md", "y");
    let found = ok(&vault, "orphans", json!({}));
    assert_eq!(
        each(&found, "path"),
        ["Alone.md", "B/Twin.md", "Sub/Lone.md"]
    );
    assert_eq!(found["items"][0]["size"], 1);
    let wider = ok(&vault, "orphans", json!({ "incoming_only": true }));
    assert_eq!(
        each(&wider, "path"),
        ["Alone.md", "B/Twin.md", "Index.md", "Sub/Lone.md"]
    );
    assert_eq!(wider["items"][2]["outgoing"], 2);
    assert_eq!(
        each(&ok(&vault, "orphans", json!({ "path": "Sub" })), "path"),
        ["Sub/Lone.md"]
    );
    assert_eq!(all_pages(&vault, "orphans", &json!({}), 2).len(), 3);
    assert_eq!(
        refused(&vault, "orphans", json!({ "path": "Hidden" })).code(),
        "not_found"
    );
}

#[test]
fn suggestions_are_mentions_and_similar_notes() {
    let vault = Vault::in_memory()
        .with("Note.md", "# Note\nThe log and the Big Plan; a twin. Again the log. [[Known]] known\nzebra giraffe savanna\n")
        .with("Log.md", "")
        .with("Work/Plan.md", "---\naliases: big plan\n---\n")
        .with("A/Twin.md", "")
        .with("B/Twin.md", "")
        .with("Known.md", "")
        .with("Safari.md", "a zebra and a giraffe in the savanna")
        .with("Hidden/Again.md", "zebra giraffe savanna")
        .allow("Hidden", Tier::None);
    let found = ok(&vault, "suggest", json!({ "path": "Note" }));
    assert_eq!(
        each(&found, "to"),
        ["Log.md", "Work/Plan.md", "A/Twin.md", "Safari.md"]
    );
    assert_eq!(
        each(&found, "link"),
        [
            "[[Log|log]]",
            "[[Plan|Big Plan]]",
            "[[A/Twin|twin]]",
            "[[Safari]]"
        ]
    );
    assert_eq!(each(&found, "reason"), ["name", "alias", "name", "similar"]);
    assert_eq!(found["items"][0]["count"], 2);
    assert_eq!(found["items"][0]["line"], 2);
    assert_eq!(found["items"][2]["rivals"], json!(["B/Twin.md"]));
    assert!(found["items"][3].get("line").is_none());
    assert_eq!(
        all_pages(&vault, "suggest", &json!({ "path": "Note" }), 1).len(),
        4
    );
    assert_eq!(
        refused(&vault, "suggest", json!({ "path": "Again" })).code(),
        "not_found"
    );
    let bytes = Vault::in_memory().with_bytes("Odd.md", b"\xff");
    assert_eq!(
        refused(&bytes, "suggest", json!({ "path": "Odd" })).code(),
        "unsupported"
    );
}
