//! Tests of the tools over the embedded components. Compatibility with models, sizes and search quality are tested on
//! the built program, in `tests/surface`.

use notehost_sdk::Code;
use std::sync::Arc;

use rmcp::model::Tool;
use serde_json::{Map, Value, json};

use super::resolve::{Target, Unresolved, resolve};
use super::surface::Offered;
use super::{schema, surface};
use notehost_config::{Settings, Surface, VaultEntry};
use notehost_pipeline::Host;
use notehost_pipeline::registry::Snapshot;
use notehost_policy::auth::Scopes;

async fn embedded() -> Arc<Snapshot> {
    let place = tempfile::tempdir().unwrap();
    let notes = place.path().join("notes");
    std::fs::create_dir(&notes).unwrap();
    let settings = Settings {
        vaults: vec![VaultEntry {
            id: "main".into(),
            path: notes,
            read_only: false,
        }],
        ..Settings::default()
    };
    let host = Host::start(settings, &place.path().join("state"))
        .await
        .unwrap();
    host.registry().snapshot()
}

fn arguments(value: Value) -> Map<String, Value> {
    schema::object(value)
}

fn meant(snapshot: &Snapshot, tool: &str, given: Value) -> Result<Target, Unresolved> {
    let everything = snapshot.seen_with(&Scopes::everything());
    let offered = Offered::new(everything, Surface::Domain);
    resolve(&offered, tool, arguments(given))
}

fn bytes(tools: &[Tool]) -> usize {
    serde_json::to_vec(tools).unwrap().len()
}

#[tokio::test]
async fn lists_are_deterministic_and_share_the_budget() {
    let snapshot = embedded().await;
    for surface in Surface::ALL {
        assert_eq!(
            surface::tools(&snapshot, surface),
            surface::tools(&snapshot, surface)
        );
    }
    for tool in surface::tools(&snapshot, Surface::Domain) {
        let name = tool.name.clone();
        let size = bytes(&[tool]);
        assert!(size <= 6 << 10, "{name}: {size}");
    }
}

#[tokio::test]
async fn a_domain_tool_has_the_arguments_of_all_actions() {
    let snapshot = embedded().await;
    let tools = surface::tools(&snapshot, Surface::Domain);
    let document = tools.iter().find(|tool| tool.name == "document").unwrap();
    assert_eq!(document.input_schema["required"], json!(["action"]));
    let names: Vec<&str> = schema::properties(&document.input_schema)
        .map(|(name, _)| name)
        .collect();
    assert_eq!(names[0], "action");
    for name in ["path", "paths", "edits", "dry_run", "topic"] {
        assert_eq!(
            names.iter().filter(|other| **other == name).count(),
            1,
            "{name}"
        );
    }
    let hints = document.annotations.as_ref().unwrap();
    assert_eq!(
        (hints.read_only_hint, hints.destructive_hint),
        (Some(false), Some(true))
    );
    let description = document.description.as_deref().unwrap();
    for action in &snapshot.domain("document").unwrap().actions {
        assert!(
            description.contains(&format!("\n{}(", action.name)),
            "{}",
            action.name
        );
    }
}

#[tokio::test]
async fn split_tools_have_annotations() {
    let snapshot = embedded().await;
    for tool in surface::tools(&snapshot, Surface::Split) {
        let hints = tool.annotations.unwrap();
        let told = (
            hints.read_only_hint.unwrap(),
            hints.destructive_hint.unwrap(),
        );
        let expected = match tool.name.rsplit_once('_').unwrap().1 {
            "read" => (true, false),
            "write" => (false, false),
            _ => (false, true),
        };
        assert_eq!(told, expected, "{}", tool.name);
    }
}

#[tokio::test]
async fn all_name_forms_resolve_to_the_same_action() {
    let snapshot = embedded().await;
    for (tool, given) in [
        ("document", json!({ "action": "read", "path": "a" })),
        ("document_read", json!({ "action": "read", "path": "a" })),
        ("document__read", json!({ "path": "a" })),
        (
            "call_action",
            json!({ "domain": "document", "action": "read", "arguments": { "path": "a" } }),
        ),
    ] {
        let Ok(Target::Call {
            domain,
            action,
            arguments,
        }) = meant(&snapshot, tool, given)
        else {
            panic!("{tool} means nothing");
        };
        assert_eq!((domain.as_str(), action.as_str()), ("document", "read"));
        assert_eq!(arguments, super::tests::arguments(json!({ "path": "a" })));
    }
}

#[tokio::test]
async fn read_tools_refuse_writing_actions() {
    let snapshot = embedded().await;
    let Err(Unresolved::Refused(error)) =
        meant(&snapshot, "document_read", json!({ "action": "remove" }))
    else {
        panic!("it was let through");
    };
    assert_eq!(error.code, "validation_error");
    assert!(
        error.message.contains("`document_delete`"),
        "{}",
        error.message
    );
}

#[tokio::test]
async fn unknown_tool_errors_suggest_similar_names() {
    let snapshot = embedded().await;
    let Err(Unresolved::Refused(error)) = meant(&snapshot, "documnet", json!({ "action": "read" }))
    else {
        panic!("it means something");
    };
    assert_eq!(error.code, "not_found");
    assert!(error.message.contains("`document`"), "{}", error.message);
    assert!(matches!(
        meant(&snapshot, "qqq", json!({})),
        Err(Unresolved::UnknownTool)
    ));
}

#[tokio::test]
async fn help_has_three_levels() {
    let snapshot = embedded().await;
    let Ok(Target::Answer(whole)) = meant(&snapshot, "document", json!({ "action": "help" }))
    else {
        panic!("no help");
    };
    assert!(whole.text.contains("read(path"), "{}", whole.text);
    let Ok(Target::Answer(one)) = meant(
        &snapshot,
        "document",
        json!({ "action": "help", "topic": "edit" }),
    ) else {
        panic!("no help");
    };
    assert_eq!(one.structured["action"], "edit");
    assert!(
        one.text.contains("\nedits (array, required)"),
        "{}",
        one.text
    );
    let unknown = meant(
        &snapshot,
        "document",
        json!({ "action": "help", "topic": "nothing" }),
    );
    assert!(matches!(unknown, Err(Unresolved::Refused(error)) if error.code == Code::NotFound));
}
