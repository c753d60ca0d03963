//! The tool list of the built program: its size, its compatibility with models, its contents per caller, whether
//! actions are found by natural queries, and that long texts are sent once.

mod cost;
mod find_action;
mod lint;
mod long_texts;
mod profiles;

use std::process::Command;

use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::place::Place;

const SURFACES: [&str; 4] = ["domain", "split", "flat", "finder"];

/// The program with this surface, after the handshake.
fn served(place: &Place, surface: &str) -> Client {
    let mut client = Client::spawn(
        Command::new(crate::support::program())
            .arg("serve")
            .arg(place.vault())
            .args(["--allow", "rwd", "--surface", surface, "--state"])
            .arg(place.state())
            .env("HOME", place.root()),
    );
    client.initialize();
    client
}

/// The result of `tools/list`.
fn listed(client: &mut Client) -> Value {
    client.ask("tools/list", json!({}))
}

/// The tools of a surface.
fn tools(surface: &str) -> Vec<Value> {
    let list = listed(&mut served(&Place::new(), surface));
    list["tools"].as_array().expect("tools").clone()
}

fn name(tool: &Value) -> &str {
    tool["name"].as_str().expect("a name")
}

#[test]
fn tool_list_size_is_limited() {
    let place = Place::new();
    for (surface, most) in [
        ("domain", 24 << 10),
        ("split", 32 << 10),
        ("finder", 2 << 10),
    ] {
        let list = listed(&mut served(&place, surface));
        let size = list.to_string().len();
        assert!(size <= most, "{surface}: {size} bytes");
        // Unused budget could have been used for better descriptions.
        assert!(
            surface == "finder" || size >= most * 9 / 10,
            "{surface}: only {size} bytes"
        );
    }
}

#[test]
fn every_action_has_a_meaningful_summary() {
    for surface in ["domain", "split"] {
        let mut lines = 0;
        let mut cut = Vec::new();
        for tool in tools(surface) {
            let description = tool["description"].as_str().expect("a description");
            let actions = tool["inputSchema"]["properties"]["action"]["enum"]
                .as_array()
                .expect("actions");
            for action in actions.iter().filter_map(Value::as_str) {
                if action == "help" {
                    continue;
                }
                let begins = format!("\n{action}(");
                let at = description
                    .find(&begins)
                    .unwrap_or_else(|| panic!("{surface} {}: no line on {action}", name(&tool)));
                let line = description[at + 1..].lines().next().expect("a line");
                let summary = line.split_once("): ").or(line.split_once(")!: "));
                let summary = summary.map_or("", |(_, summary)| summary);
                assert!(!summary.is_empty(), "{surface} {}: {line}", name(&tool));
                lines += 1;
                if summary.ends_with('…') {
                    cut.push(line.to_owned());
                }
            }
        }
        assert!(lines > 100, "{surface}: {lines}");
        assert!(
            cut.len() * 10 <= lines,
            "{surface}: {} of {lines} lines are cut in the middle of a thought: {cut:#?}",
            cut.len()
        );
    }
}

#[test]
fn descriptions_start_with_the_domains_subject() {
    let tools = tools("domain");
    for (domain, words) in [
        ("document", &["note", "markdown", "edit"][..]),
        ("search", &["search", "notes", "words"]),
        ("link", &["links", "backlinks", "broken"]),
        ("flashcard", &["flashcards", "spaced repetition"]),
        ("database", &["databases", "obsidian bases", "tables"]),
        ("file", &["attachments", "images", "pdf"]),
        ("tag", &["tags", "rename"]),
        ("fs", &["shell", "ls", "grep"]),
    ] {
        let tool = tools.iter().find(|tool| name(tool) == domain);
        let description = tool.expect("the domain")["description"].as_str();
        let first: String = description
            .expect("words")
            .to_lowercase()
            .chars()
            .take(120)
            .collect();
        for word in words {
            assert!(first.contains(word), "{domain}: no `{word}` in `{first}`");
        }
    }
}
