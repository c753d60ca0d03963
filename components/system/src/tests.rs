//! Tests of the system actions.

use notehost_sdk::prelude::*;

use crate::guide::{Guide, Topic};

#[test]
fn the_vault_guide_lists_notes_for_assistants() {
    let vault = Vault::in_memory()
        .with(
            "Work/Style.md",
            "---\ntags: [Assistant]\ndescription: House\n  style\n---\n",
        )
        .with("Work/Bare.md", "#assistant/rules")
        .with(
            "Diary/Secret.md",
            "---\ntags: [assistant]\ndescription: hidden\n---\n#private",
        )
        .allow("Work", Tier::Write)
        .allow("Diary", Tier::None);
    let guidance = Guide { topic: None }.run(&vault).unwrap();
    let notes: Vec<_> = guidance
        .notes
        .iter()
        .map(|note| (note.path.as_str(), note.description.as_deref()))
        .collect();
    assert_eq!(
        notes,
        [
            ("Work/Bare.md", None),
            ("Work/Style.md", Some("House style"))
        ]
    );
    let notebooks: Vec<_> = guidance
        .notebooks
        .iter()
        .map(|notebook| (notebook.path.as_str(), notebook.access.as_str()))
        .collect();
    assert_eq!(notebooks, [("Work", "rw")]);
    assert!(guidance.text.contains("Style.md: \"House style\""));
    assert!(guidance.text.starts_with("Data from the vault"));
    assert!(!guidance.text.contains("Diary") && !guidance.text.contains("private"));
}

#[test]
fn the_other_topics_are_constant_texts() {
    for topic in [Topic::Searching, Topic::Editing, Topic::Linking] {
        let guidance = Guide { topic: Some(topic) }
            .run(&Vault::in_memory())
            .unwrap();
        assert!(guidance.text.len() > 100 && !guidance.topics.contains(&guidance.topic));
    }
}

notehost_sdk::calls!(crate::Domain);

#[test]
fn whoami_and_info_omit_hidden_notebooks() {
    let vault = Vault::in_memory()
        .with("Work/Plan.md", "")
        .with("Diary/Secret.md", "")
        .allow("Work", Tier::Write)
        .allow("Diary", Tier::None)
        .after_calls(3);
    let me = ok(&vault, "whoami", json!({}));
    assert_eq!(me["name"], "tester");
    assert_eq!(me["calls"], 3);
    assert_eq!(me["tiers"][1], json!({ "path": "Work", "tier": "rw" }));
    assert!(!me.to_string().contains("Diary"));
    let info = ok(&vault, "info", json!({}));
    assert_eq!(
        info["index"],
        json!({ "state": "ready", "done": 1, "total": 1 })
    );
    assert_eq!(info["vaults"], json!(["memory"]));
}

#[test]
fn time_uses_the_owners_time_zone() {
    let vault = Vault::in_memory().at(1_767_225_599_000).in_zone(60);
    let time = ok(&vault, "time", json!({ "format": "D.M. [at] H:mm" }));
    assert_eq!(time["local"], "2026-01-01T00:59:59+01:00");
    assert_eq!(time["utc"], "2025-12-31T23:59:59Z");
    assert_eq!(time["date"], "2026-01-01");
    assert_eq!(time["weekday"], "Thursday");
    assert_eq!(time["week"], "2026-W01");
    assert_eq!(time["formatted"], "1.1. at 0:59");
    let long = json!({ "format": "Y".repeat(201) });
    assert_eq!(refused(&vault, "time", long).code(), "validation_error");
}

#[test]
fn changes_are_listed_from_the_latest() {
    let vault = Vault::in_memory();
    for (number, name) in ["a", "b", "c"].into_iter().enumerate() {
        vault.set_time(1_767_225_600_000 + number as u64 * 86_400_000);
        vault.create(&format!("{name}.md"), b"x").unwrap();
        vault.commit("document.create");
    }
    let all = ok(&vault, "changes", json!({}));
    let items = all["items"].as_array().unwrap();
    assert_eq!(items.len(), 3);
    assert_eq!(
        items[0]["files"],
        json!([{ "path": "c.md", "kind": "create" }])
    );
    assert_eq!(items[2]["time"], "2026-01-01T00:00:00Z");
    let late = ok(&vault, "changes", json!({ "since": "2026-01-02" }));
    assert_eq!(late["items"].as_array().unwrap().len(), 2);
    let after_first = json!({ "since": items[2]["change"] });
    let late = ok(&vault, "changes", after_first);
    assert_eq!(late["items"].as_array().unwrap().len(), 2);
    assert_eq!(all_pages(&vault, "changes", &json!({}), 2), *items);
    let error = refused(&vault, "changes", json!({ "since": "soon" }));
    assert_eq!(error.code(), "validation_error");
}

#[test]
fn notify_and_health() {
    let vault = Vault::in_memory();
    let shown = ok(
        &vault,
        "notify",
        json!({ "message": "done", "level": "warn" }),
    );
    assert_eq!(shown, json!({ "message": "done", "level": "warn" }));
    let notices = vault.notices();
    assert_eq!(notices, [(notehost_sdk::Level::Warn, "done".to_owned())]);
    let health = ok(&vault, "health", json!({}));
    assert_eq!(health["checks"][1]["ok"], true);
}
