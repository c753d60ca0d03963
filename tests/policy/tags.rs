//! If only existing tags are allowed, no component can add new ones.

use notehost::config::{Settings, TagPolicy};
use notehost::vault::Tier;
use serde_json::json;

use crate::support::place::{Place, call};

fn strict(place: &Place) -> Settings {
    let mut settings = place.settings();
    settings.tags.policy = TagPolicy::Existing;
    settings
}

fn place_with_notes() -> Place {
    let place = Place::new();
    place.write(
        "Work/Plan.md",
        "---\ntags: [Project/Alpha]\n---\n# Plan\n\ntext #todo\n",
    );
    place.write("Diary/Monday.md", "#secret thoughts\n");
    place
}

#[tokio::test(flavor = "multi_thread")]
async fn new_tags_are_rejected_from_every_source() {
    let place = place_with_notes();
    let host = place.host(strict(&place)).await;
    let before = place.snapshot();
    for (name, arguments) in [
        (
            "document.append",
            json!({"path": "Plan", "text": "and #new"}),
        ),
        (
            "document.create",
            json!({"path": "Work/B.md", "content": "---\ntags: new\n---\n"}),
        ),
        (
            "document.set_properties",
            json!({"path": "Plan", "set": {"tags": ["project/alpha", "new"]}}),
        ),
        (
            "document.edit",
            json!({"path": "Plan", "edits": [{"old": "#todo", "new": "#todo/new"}]}),
        ),
    ] {
        let refused = call(&host, name, arguments).await.expect_err(name);
        assert_eq!(refused.code, "validation_error", "{name}: {refused}");
        assert!(refused.message.contains("new"), "{name}: {refused}");
    }
    assert!(place.snapshot() == before);
}

#[tokio::test(flavor = "multi_thread")]
async fn existing_tags_are_accepted() {
    let place = place_with_notes();
    let host = place.host(strict(&place)).await;
    for text in [
        "#TODO",
        "#project/alpha",
        "#project",
        "`#code` is no tag",
        "a # b",
    ] {
        let done = call(
            &host,
            "document.append",
            json!({"path": "Plan", "text": text}),
        )
        .await;
        assert!(done.is_ok(), "{text}: {done:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tags_of_hidden_notes_count_as_new() {
    let place = place_with_notes();
    let mut settings = strict(&place);
    settings
        .permissions
        .notebooks
        .insert("Diary".into(), Tier::None);
    let host = place.host(settings).await;
    let refused = call(
        &host,
        "document.append",
        json!({"path": "Plan", "text": "#secret"}),
    )
    .await;
    assert_eq!(refused.expect_err("refused").code, "validation_error");
}
