//! Whether `find_action` finds actions by natural queries. `needs.toml` has the queries: one half is for tuning the
//! ranking, only the other half measures its quality.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{listed, served};
use crate::support::place::Place;
use crate::support::repository;

/// Queries by domain and action.
type Queries = BTreeMap<String, BTreeMap<String, Vec<String>>>;

#[derive(Deserialize)]
struct QuerySets {
    tune: Queries,
    report: Queries,
}

fn query_sets() -> QuerySets {
    let file = repository().join("tests/surface/needs.toml");
    let text = std::fs::read_to_string(file).expect("the queries");
    toml::from_str(&text).expect("the queries")
}

fn each(queries: &Queries) -> impl Iterator<Item = (String, &str)> {
    queries.iter().flat_map(|(domain, actions)| {
        actions.iter().flat_map(move |(action, query)| {
            query
                .iter()
                .map(move |query| (format!("{domain}.{action}"), query.as_str()))
        })
    })
}

#[test]
fn find_action_finds_actions_by_natural_queries() {
    let queries = query_sets().report;
    let place = Place::new();
    let mut client = served(&place, "finder");
    let (mut all, mut first, mut third) = (0, 0, 0);
    let mut missed = Vec::new();
    for (expected, query) in each(&queries) {
        let arguments = json!({"query": query, "limit": 3});
        let params = json!({"name": "find_action", "arguments": arguments});
        let found = client.ask("tools/call", params);
        let items = found["structuredContent"]["items"].as_array();
        let found: Vec<String> = items
            .expect("items")
            .iter()
            .filter_map(|item| {
                Some(format!(
                    "{}.{}",
                    item["domain"].as_str()?,
                    item["action"].as_str()?
                ))
            })
            .collect();
        all += 1;
        first += usize::from(found.first() == Some(&expected));
        third += usize::from(found.contains(&expected));
        if !found.contains(&expected) {
            missed.push(format!("`{query}` expected {expected}, found {found:?}"));
        }
    }
    eprintln!("{all} queries: {first} found first, {third} among the first three");
    assert!(all >= 120, "{all} queries");
    assert!(
        first * 100 >= all * 85,
        "{first} of {all} first: {missed:#?}"
    );
    assert!(
        third * 100 >= all * 97,
        "{third} of {all} among three: {missed:#?}"
    );
}

#[test]
fn query_sets_cover_every_action_without_overlap() {
    let query_sets = query_sets();
    let place = Place::new();
    let list = listed(&mut served(&place, "flat"));
    let tools = list["tools"].as_array().expect("tools").iter();
    let mut actions: Vec<String> = tools
        .filter_map(|tool| tool["name"].as_str())
        .map(|name| name.replace("__", "."))
        .collect();
    actions.sort();
    for queries in [&query_sets.tune, &query_sets.report] {
        let mut expected: Vec<String> = each(queries).map(|(expected, _)| expected).collect();
        expected.sort();
        expected.dedup();
        assert_eq!(expected, actions);
    }
    let tuned: Vec<&str> = each(&query_sets.tune).map(|(_, query)| query).collect();
    for (_, query) in each(&query_sets.report) {
        assert!(!tuned.contains(&query), "`{query}` is in both sets");
    }
}

#[test]
fn found_actions_can_be_described_and_called() {
    let place = Place::new();
    place.write("Work/Plan.md", "# Plan\n");
    let mut client = served(&place, "finder");
    let mut ask = |name: &str, arguments: Value| {
        client.ask("tools/call", json!({"name": name, "arguments": arguments}))
    };
    let found = ask("find_action", json!({"query": "open a note", "limit": 1}));
    let found = &found["structuredContent"]["items"][0];
    assert_eq!(found["effect"], "read");
    let which = json!({"domain": found["domain"], "action": found["action"]});
    let about = ask("describe_action", which.clone());
    assert_eq!(
        about["structuredContent"]["input"]["required"],
        json!(["path"])
    );
    let mut call = which;
    call["arguments"] = json!({"path": "Plan"});
    let read = ask("call_action", call);
    assert_eq!(read["structuredContent"]["content"], "# Plan\n");
    let nothing = ask("find_action", json!({"query": "xyzzy"}));
    assert_eq!(nothing["structuredContent"]["items"], json!([]));
    let text = nothing["content"][0]["text"].as_str().expect("words");
    assert!(text.contains("`document`"), "{text}");
}
