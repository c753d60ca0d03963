//! Notes and index queries that are expensive to process are limited in size and time.

use std::process::Command;

use serde_json::{Map, Value, json};

use crate::support::client::{Client, error_code};
use crate::support::http::wait_until;
use crate::support::place::Place;

/// Frontmatter that costs far more than its size, and the limit that rejects it.
fn bombs() -> Vec<(&'static str, String, &'static str)> {
    let deep = 20_000;
    let mut laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..9 {
        let below = vec![format!("*a{}", level - 1); 9].join(", ");
        laughs += &format!("a{level}: &a{level} [{below}]\n");
    }
    let block: String = (0..300).map(|level| format!("{:level$}k:\n", "")).collect();
    let repeated = format!(
        "a: &a {}\nb: [{}]\n",
        "x".repeat(35_000),
        vec!["*a"; 90].join(", ")
    );
    vec![
        (
            "Flow",
            format!("a: {}{}\n", "[".repeat(deep), "]".repeat(deep)),
            "nested levels",
        ),
        (
            "Braces",
            format!("a: {}1{}\n", "{b: ".repeat(deep), "}".repeat(deep)),
            "nested levels",
        ),
        (
            "Dashes",
            format!("a:\n  {}x\n", "- ".repeat(deep)),
            "nested levels",
        ),
        ("Block", block, "nested levels"),
        ("Laughs", laughs, "values"),
        ("Repeated", repeated, "aliases expanded"),
        (
            "Items",
            format!("a: [{}]\n", "1,".repeat(100_000)),
            "values",
        ),
        ("Huge", format!("a: {}\n", "x".repeat(3 << 20)), "bytes"),
    ]
}

/// A vault with hostile frontmatter in some notes and ordinary notes beside them.
fn place_with_bombs() -> Place {
    let place = Place::new();
    place.write(
        "Plan.md",
        "---\nstatus: open\ntags: [work]\n---\n# Plan\n\nwombat [[Flow]]\n",
    );
    for (name, yaml, _) in bombs() {
        place.write(&format!("{name}.md"), bombed_notes(name, &yaml));
    }
    place
}

fn bombed_notes(name: &str, yaml: &str) -> String {
    format!("---\n{yaml}---\n# Heading {name}\n\nwombat #found [[Plan]]\n")
}

fn run(place: &Place, arguments: &[&str]) -> Value {
    let result = Command::new(crate::support::program())
        .args(arguments)
        .arg("--config")
        .arg(place.config_file(&place.settings()))
        .arg("--state")
        .arg(place.state())
        .output()
        .expect("the program runs");
    serde_json::from_slice(&result.stdout)
        .unwrap_or_else(|_| panic!("no JSON: {}", String::from_utf8_lossy(&result.stderr)))
}

/// Waits until every note is in the index.
fn wait_for_index(client: &mut Client) {
    wait_until("the index is built", || {
        let found = client.call("search.text", json!({"query": "wombat"}));
        assert_eq!(found["isError"], false, "{found}");
        found["structuredContent"]["index"].is_null()
    });
}

fn paths(result: &Value) -> Vec<&str> {
    let items = result["structuredContent"]["items"].as_array();
    let items = items.unwrap_or_else(|| panic!("no items: {result}"));
    let mut paths: Vec<&str> = items
        .iter()
        .filter_map(|item| item["path"].as_str())
        .collect();
    paths.sort_unstable();
    paths
}

#[test]
fn yaml_bombs_only_drop_the_properties_of_their_note() {
    let place = place_with_bombs();
    let config = place.config_file(&place.settings());
    let mut client = Client::start(&config, &place.state());
    wait_for_index(&mut client);

    // All of them are found by their words, tags and links.
    let mut all: Vec<String> = bombs()
        .iter()
        .map(|(name, ..)| format!("{name}.md"))
        .collect();
    all.sort_unstable();
    let tagged = client.call("search.text", json!({"query": "wombat tag:found"}));
    assert_eq!(paths(&tagged), all);
    let found = client.call("search.text", json!({"query": "wombat"}));
    assert_eq!(paths(&found).len(), all.len() + 1);
    let linked = client.call("search.query", json!({"filter": {"links_to": "Plan"}}));
    assert_eq!(paths(&linked), all);
    let open = client.call("search.text", json!({"query": "status:open"}));
    assert_eq!(paths(&open), ["Plan.md"]);

    for (name, _, limit) in bombs() {
        let read = client.call("document.read", json!({"path": name, "max_tokens": 100}));
        assert_eq!(read["isError"], false, "{name}: {read}");
        let section = json!({"path": name, "section": format!("Heading {name}")});
        let read = client.call("document.read", section);
        assert_eq!(read["isError"], false, "{name}: {read}");
        let properties = client.call("document.properties", json!({"path": name}));
        assert_eq!(
            error_code(&properties),
            Some("too_large"),
            "{name}: {properties}"
        );
        assert!(
            properties.to_string().contains(limit),
            "{name}: {properties}"
        );
        let set = json!({"path": name, "set": {"b": 1}});
        let set = client.call("document.set_properties", set);
        assert_eq!(error_code(&set), Some("too_large"), "{name}: {set}");
    }
    client.disconnect();
    for (name, yaml, _) in bombs() {
        let note = place.read(&format!("{name}.md")).expect("the note");
        assert!(
            note == bombed_notes(name, &yaml).as_bytes(),
            "{name} was changed"
        );
    }

    // The status command lists these notes.
    let status = run(&place, &["index", "status"]);
    let report = status.to_string();
    for (name, ..) in bombs() {
        assert!(report.contains(&format!("{name}.md")), "{name}: {report}");
    }
    assert!(report.contains("unread_properties"), "{report}");
}

#[test]
fn yaml_bombs_in_databases_are_rejected() {
    let place = Place::new();
    let (_, flow, _) = bombs().swap_remove(0);
    place.write("Deep.base", &flow);
    place.write("Note.md", format!("text\n\n```base\n{flow}```\n"));
    let config = place.config_file(&place.settings());
    let mut client = Client::start(&config, &place.state());
    wait_for_index(&mut client);
    for database in ["Deep.base", "Note.md"] {
        let queried = client.call("database.query", json!({"database": database}));
        assert_eq!(
            error_code(&queried),
            Some("too_large"),
            "{database}: {queried}"
        );
    }
    client.disconnect();
}

#[test]
fn queries_with_too_many_conditions_are_rejected() {
    let place = Place::new();
    place.write("Plan.md", "---\nstatus: open\n---\nwombat\n");
    let config = place.config_file(&place.settings());
    let mut client = Client::start(&config, &place.state());
    wait_for_index(&mut client);
    let many = |count: usize| -> Value {
        let keys = (0..count).map(|number| (format!("k{number}"), json!(number)));
        Value::Object(keys.collect::<Map<String, Value>>())
    };
    let choices = |count: usize| (0..count).map(Value::from).collect::<Vec<Value>>();
    let words = |count: usize| vec!["wombat"; count].join(" OR ");
    for (name, arguments) in [
        (
            "search.text",
            json!({"query": "wombat", "properties": many(5_000)}),
        ),
        (
            "search.text",
            json!({"query": "wombat", "properties": {"status": choices(5_000)}}),
        ),
        (
            "search.text",
            json!({"query": "wombat", "tags": vec!["t"; 5_000]}),
        ),
        ("search.text", json!({"query": words(5_000)})),
        ("search.query", json!({"filter": many(5_000)})),
        (
            "search.query",
            json!({"filter": {"or": vec![json!({"status": "x"}); 5_000]}}),
        ),
        (
            "search.query",
            json!({"filter": {"status": {"contains": "x".repeat(100_000)}}}),
        ),
        (
            "search.text",
            json!({"query": format!("path:{}a{}", "{".repeat(300), "}".repeat(300))}),
        ),
        (
            "search.text",
            json!({"query": format!("path:{}a{}", "{".repeat(1900), "}".repeat(1900))}),
        ),
        (
            "search.query",
            json!({"filter": {"path": format!("{}a{}", "{".repeat(32_000), "}".repeat(32_000))}}),
        ),
        (
            "search.regex",
            json!({"pattern": "a", "path": format!("{}a{}", "{".repeat(30), "}".repeat(30))}),
        ),
    ] {
        let answer = client.call(name, arguments);
        let code = error_code(&answer);
        let is_refused = matches!(code, Some("too_large" | "validation_error"));
        assert!(is_refused, "{name}: {code:?}, {answer}");
    }
    // Realistic queries are far below the limit.
    let mut some = many(100);
    some["status"] = json!(choices(100));
    let found = client.call(
        "search.text",
        json!({"query": "wombat", "properties": some}),
    );
    assert_eq!(paths(&found), [""; 0]);
    let query = json!({"query": "wombat", "properties": {"status": ["open", "done"]}});
    let found = client.call("search.text", query);
    assert_eq!(paths(&found), ["Plan.md"]);
    client.disconnect();
}

#[test]
fn ignore_patterns_are_limited() {
    let place = Place::new();
    for note in ["Plan.md", "Old/Plan.md", "Kept/Plan.md", "Late/Plan.md"] {
        place.write(note, "wombat\n");
    }
    let mut filters = vec![
        json!("Old/"),
        json!("/(a{200}){200}/"),
        json!("x".repeat(5_000)),
    ];
    filters.extend((0..20_000).map(|number| json!(format!("/none{number}/"))));
    filters.push(json!("Late/"));
    let settings = json!({ "userIgnoreFilters": filters }).to_string();
    place.write(".obsidian/app.json", settings);
    place.write(
        ".notehostignore",
        format!("Kept/\n{}", "no/such/folder/**/x\n".repeat(20_000)),
    );
    let config = place.config_file(&place.settings());
    let mut client = Client::start(&config, &place.state());
    wait_for_index(&mut client);
    // Patterns up to the limit apply; those beyond it ignore nothing.
    let found = client.call("search.text", json!({"query": "wombat"}));
    assert_eq!(paths(&found), ["Late/Plan.md", "Plan.md"]);
    client.disconnect();
    let status = run(&place, &["index", "status"]).to_string();
    assert!(status.contains("ignore_filters_refused"), "{status}");
    assert!(
        status.contains("a{200}") && status.contains(" more"),
        "{status}"
    );
}
