//! Tests of the tools over the embedded components. Compatibility with models, sizes and search quality are tested on
//! the built program, in `tests/surface`.

use std::collections::BTreeMap;
use std::sync::Arc;

use notehost_sdk::Code;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::resolve::{Target, Unresolved, resolve};
use crate::surface::ToolSet;
use crate::tool::Tool;
use crate::{schema, surface};
use notehost_config::{Settings, Surface, VaultEntry};
use notehost_pipeline::Host;
use notehost_pipeline::registry::Snapshot;
use notehost_policy::auth::Scopes;
use notehost_vault::Effect;

async fn embedded() -> Arc<Snapshot> {
    let place = tempfile::tempdir().unwrap();
    let notes = place.path().join("notes");
    std::fs::create_dir(&notes).unwrap();
    let settings = Settings {
        vaults: vec![VaultEntry {
            id: "main".into(),
            path: notes,
            ..VaultEntry::default()
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
    let tools = ToolSet::new(everything, Surface::Domain);
    resolve(&tools, tool, arguments(given))
}

fn bytes(tools: &[Tool]) -> usize {
    serde_json::to_vec(tools).unwrap().len()
}

/// Queries by domain and action.
type Queries = BTreeMap<String, BTreeMap<String, Vec<String>>>;

/// The queries of `tests/surface/needs.toml`. The same are asked over the wire in `tests/surface`.
#[derive(Deserialize)]
struct QuerySets {
    tune: Queries,
    report: Queries,
}

/// The numbers of queries: all, those found first, those found among the first three.
fn hits(tools: &ToolSet, queries: &Queries) -> [usize; 3] {
    let mut hits = [0; 3];
    for (domain, actions) in queries {
        for (action, queries) in actions {
            for query in queries {
                let arguments = arguments(json!({ "query": query, "limit": 3 }));
                let Ok(Target::Answer(reply)) = resolve(tools, "find_action", arguments) else {
                    panic!("no answer");
                };
                let items = reply.structured["items"].as_array().unwrap();
                let is_expected =
                    |item: &Value| item["domain"] == **domain && item["action"] == **action;
                hits[0] += 1;
                hits[1] += usize::from(items.first().is_some_and(is_expected));
                hits[2] += usize::from(items.iter().any(is_expected));
            }
        }
    }
    hits
}

#[test]
fn ranking_reaches_its_bar() {
    let sets: QuerySets =
        toml::from_str(include_str!("../../../tests/surface/needs.toml")).expect("the queries");
    let state = tempfile::tempdir().unwrap();
    let mut listing = Snapshot::known(&Settings::default(), state.path()).to_listing();
    let domains = listing["domains"].as_array_mut().unwrap();
    domains.retain(|domain| domain["name"] != "admin");
    let tools = ToolSet::new(Snapshot::from_listing(listing).unwrap(), Surface::Finder);
    let measure = |name: &str, queries: &Queries| {
        let [all, first, three] = hits(&tools, queries);
        let percent = |count: usize| 100.0 * count as f64 / all as f64;
        let (first, three) = (percent(first), percent(three));
        eprintln!("{name}: {all} queries, {first:.1} % first, {three:.1} % among three");
        (first, three)
    };
    measure("tune", &sets.tune);
    let (first, three) = measure("report", &sets.report);
    assert!(first >= 87.0 && three >= 97.0, "{first} and {three}");
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
    let annotations = &document.annotations;
    assert!(!annotations.read_only && annotations.destructive);
    let description = &document.description;
    for action in &snapshot.domain("document").unwrap().actions {
        let line = description
            .lines()
            .find(|line| line.starts_with(&format!("{}(", action.name)))
            .unwrap_or_else(|| panic!("{}", action.name));
        // What deletes is marked.
        let marked = line.contains(")!");
        assert_eq!(marked, action.effect == Effect::Delete, "{line}");
    }
    assert!(description.contains("! deletes"), "{description}");
    let search = tools.iter().find(|tool| tool.name == "link").unwrap();
    assert!(!search.description.contains("! deletes"));
}

#[tokio::test]
async fn split_tools_have_annotations() {
    let snapshot = embedded().await;
    for tool in surface::tools(&snapshot, Surface::Split) {
        let annotations = (tool.annotations.read_only, tool.annotations.destructive);
        let expected = match tool.name.rsplit_once('_').unwrap().1 {
            "read" => (true, false),
            "write" => (false, false),
            _ => (false, true),
        };
        assert_eq!(annotations, expected, "{}", tool.name);
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
        assert_eq!(arguments, self::arguments(json!({ "path": "a" })));
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
