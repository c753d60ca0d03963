//! What the guide says of a vault.

use notehost_sdk::prelude::*;

use crate::guide::{Guide, Topic};

#[test]
fn the_guide_tells_what_the_owner_wrote_for_assistants() {
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
    assert!(guidance.text.contains("Style.md: House style"));
    assert!(!guidance.text.contains("Diary") && !guidance.text.contains("private"));
}

#[test]
fn every_other_topic_needs_no_vault() {
    for topic in [Topic::Searching, Topic::Editing, Topic::Linking] {
        let guidance = Guide { topic: Some(topic) }
            .run(&Vault::in_memory())
            .unwrap();
        assert!(guidance.text.len() > 100 && !guidance.topics.contains(&guidance.topic));
    }
}
