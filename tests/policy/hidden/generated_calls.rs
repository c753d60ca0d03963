//! Generates the calls: arguments for every action, from its schema and everything that points into the hidden
//! notebook.

use serde_json::{Map, Value, json};

/// One call.
pub(super) struct GeneratedCall {
    pub(super) tool: String,
    pub(super) arguments: Value,
}

/// Actions that only use up time or memory, whatever their arguments.
const RESOURCE_ATTACKS: [&str; 21] = [
    "spin",
    "recurse",
    "gorge",
    "flood",
    "flood_log",
    "flood_output",
    "stage_until_refused",
    "stage_regardless",
    "store_until_refused",
    "write_then_spin",
    "linger_reading",
    "linger_writing",
    "giant_reply",
    "ask_until_refused",
    "miss_until_refused",
    "rename_until_refused",
    "keys_until_refused",
    "deep_glob",
    "giant_refusal",
    "link_often",
    "hand_over",
];

/// The vault functions, as the hostile guest names them.
const REACH_FUNCTIONS: [&str; 18] = [
    "stat",
    "read",
    "list",
    "resolve",
    "mentioning",
    "access",
    "create",
    "write",
    "create_folder",
    "rename",
    "remove",
    "trash",
    "restore",
    "history",
    "history_after",
    "before",
    "undo",
    "store_set",
];

/// Paths, names, aliases, headings, words, tags, block ids and links of hidden notes, in several spellings, and the ids
/// of their changes. None of them contains the secret.
pub(super) fn hidden_values(ids: &[String]) -> Vec<String> {
    let mut values: Vec<String> = [
        "Vellum/Known.md",
        "Known",
        "Vellum",
        "[[Alias One]]",
        "passphrase",
        "known-tag",
        "Open/Closet.md",
        "Closet",
        "[[Closed alias]]",
        "Open/closet",
        "Open/Sub/Closet",
        "Open/Sub/Closet/Seen",
        "Vellum/Known",
        "vellum",
        "Vellum/",
        "VELLUM/KNOWN.MD",
        "known.md",
        "[[Known]]",
        "[[Vellum/Known]]",
        "[[Known#Budget]]",
        "[[Known#^known-block]]",
        "Alias One",
        "Known > Budget",
        "Budget",
        "#known-tag",
        "^known-block",
        "numbers",
        "Seen",
        "Vellum/Seen.md",
        "Vellum/\u{c4}nderung.md",
        "Vellum/A\u{308}nderung.md",
        "\u{c4}nderung",
        "Vellum%2FKnown.md",
        "Vellum/%4Bnown.md",
        "./Vellum/Known.md",
        "Open/../Vellum/Known.md",
        "Vellum\\Known.md",
        "/Vellum/Known.md",
        "Vellum//Known.md",
        "Vellum/Known.md ",
        "Vellum/Known.md.",
        "Vellum/Sub",
        "Vellum/Gone.md",
        "Vellum/Temp.md",
        "Vellum/New.md",
        "Vellum/**",
        "*",
    ]
    .map(str::to_owned)
    .to_vec();
    values.extend(ids.iter().cloned());
    values
}

/// The calls of one tool.
pub(super) fn calls_from_schema(tool: &Value, values: &[String]) -> Vec<GeneratedCall> {
    let name = tool["name"].as_str().expect("a name");
    if RESOURCE_ATTACKS
        .iter()
        .any(|action| name == format!("hostile__{action}"))
        || name.starts_with("hostile__reach_")
    {
        return Vec::new();
    }
    let schema = &tool["inputSchema"];
    let empty = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&empty);
    let own: Vec<&String> = properties
        .keys()
        .filter(|name| {
            ![
                "vault",
                "dry_run",
                "if_match",
                "idempotency_key",
                "approval",
            ]
            .contains(&name.as_str())
        })
        .collect();
    let changes = properties.contains_key("dry_run");
    let required = |name: &str| {
        let required = schema["required"].as_array();
        required.is_some_and(|all| all.iter().any(|one| one == name))
    };
    let mut calls = Vec::new();
    let mut add = |mut arguments: Map<String, Value>, dry_run: bool| {
        if dry_run {
            arguments.insert("dry_run".into(), true.into());
        }
        calls.push(GeneratedCall {
            tool: name.to_owned(),
            arguments: arguments.into(),
        });
    };
    let seen = |skip: &str| -> Map<String, Value> {
        let names = own
            .iter()
            .filter(|name| required(name) && name.as_str() != skip);
        names
            .map(|name| {
                (
                    (*name).clone(),
                    fill_schema(&properties[*name], schema, &visible_value(name)),
                )
            })
            .collect()
    };
    // As a caller would who does not know the notebook.
    add(seen(""), changes);
    for value in values {
        // Everything at once points there.
        let names = own.iter().filter(|name| required(name) || own.len() == 1);
        let all: Map<String, Value> = names
            .map(|name| {
                (
                    (*name).clone(),
                    fill_schema(&properties[*name], schema, value),
                )
            })
            .collect();
        add(all.clone(), changes);
        if changes {
            add(all, false);
        }
    }
    // One argument after the other points there: every spelling for the first, a few for the others.
    for (place, one) in own.iter().enumerate() {
        let few = if place == 0 { values.len() } else { 9 };
        let ids = values.len().saturating_sub(3);
        for value in values[..few].iter().chain(&values[ids..]) {
            let mut arguments = seen(one);
            arguments.insert(
                (*one).clone(),
                fill_schema(&properties[*one], schema, value),
            );
            add(arguments, changes);
        }
        // A list that begins with a visible value.
        if kind(&properties[*one], schema) == "array" {
            let mut arguments = seen(one);
            let item = |value: &str| fill_schema(&properties[*one]["items"], schema, value);
            arguments.insert(
                (*one).clone(),
                json!([item("Open/Seen.md"), item(&values[0])]),
            );
            add(arguments, changes);
        }
    }
    calls
}

/// Arguments whose form is not described by their schema, for every value.
pub(super) fn calls_with_special_arguments(values: &[String]) -> Vec<GeneratedCall> {
    let ask = |tool: &str, arguments: Value| GeneratedCall {
        tool: tool.to_owned(),
        arguments,
    };
    let mut calls = Vec::new();
    for value in values {
        let ops = json!([{"action": "identify", "block": "[[Seen#^open-block]]"}, {"action": "update", "block": value, "text": "x"}]);
        calls.push(ask("block__batch", json!({"ops": ops, "dry_run": true})));
        let cells = json!([{"row": "Open/Seen.md", "column": "tags", "value": ["a"]}, {"row": value, "column": "key", "value": "x"}]);
        calls.push(ask(
            "database__set_cells",
            json!({"database": "Open", "cells": cells, "dry_run": true}),
        ));
        for action in ["get", "remove", "resume", "skip", "suspend"] {
            let card = json!({ "card": format!("{value}#00000000") });
            calls.push(ask(&format!("flashcard__{action}"), card));
        }
        let review = json!({"card": format!("{value}#00000000"), "rating": 3});
        calls.push(ask("flashcard__review", review));
        let package = format!("{value}.apkg");
        let exported = json!({"path": package, "dry_run": true});
        calls.push(ask("flashcard__export", exported));
        let imported = json!({"path": package, "to": "Open", "dry_run": true});
        calls.push(ask("flashcard__import", imported));
        let written = json!({"path": format!("{value}.txt"), "text": "x", "dry_run": true});
        calls.push(ask("file__write", written));
        let rows = json!([{"name": value, "key": value}]);
        calls.push(ask(
            "database__add_rows",
            json!({"database": "Open", "rows": rows, "dry_run": true}),
        ));
        calls.push(ask(
            "database__create",
            json!({"path": value, "columns": ["key"], "source": value, "dry_run": true}),
        ));
    }
    calls
}

/// Every vault function on every value, by a component with a grant for everything.
pub(super) fn calls_of_hostile_guest(values: &[String]) -> Vec<GeneratedCall> {
    let mut calls = Vec::new();
    for with in REACH_FUNCTIONS {
        for value in values {
            for (path, to) in [
                (value.as_str(), "Open/Taken.md"),
                ("Open/Seen.md", value.as_str()),
            ] {
                let reads = [
                    "stat",
                    "read",
                    "list",
                    "resolve",
                    "mentioning",
                    "access",
                    "trash",
                    "history",
                    "history_after",
                    "before",
                ];
                let (tool, dry_run) = match reads.contains(&with) {
                    true => ("hostile__reach_reading", Value::Null),
                    false => ("hostile__reach_deleting", true.into()),
                };
                if to == value && !["rename", "before"].contains(&with) {
                    continue;
                }
                calls.push(GeneratedCall {
                    tool: tool.to_owned(),
                    arguments: json!({"with": with, "path": path, "to": to, "dry_run": dry_run}),
                });
            }
        }
    }
    calls
}

/// A visible value for an argument of this name.
fn visible_value(name: &str) -> String {
    let value = match name {
        "path" | "paths" | "note" => "Open/Seen.md",
        "into" => "Open/Sub/Deep.md",
        "to" => "Open/Sub",
        "name" | "notebook" | "folder" => "Open",
        "section" | "heading" => "Budget",
        "old" => "open numbers",
        "block" | "blocks" | "parent" | "from" => "[[Seen#^open-block]]",
        "database" => "Open",
        "deck" => "open",
        "item" => "biscuit",
        _ => "word",
    };
    value.to_owned()
}

/// A value that fits a schema, with this text wherever a text is allowed.
fn fill_schema(schema: &Value, whole: &Value, text: &str) -> Value {
    let schema = resolve_schema(schema, whole);
    if let Some(first) = schema["enum"].as_array().and_then(|words| words.first()) {
        return first.clone();
    }
    if let Some(only) = schema.get("const") {
        return only.clone();
    }
    match kind(schema, whole) {
        "array" => json!([fill_schema(&schema["items"], whole, text)]),
        "integer" | "number" => json!(1),
        "boolean" => json!(true),
        "object" => {
            let empty = Map::new();
            let properties = schema["properties"].as_object().unwrap_or(&empty);
            let fields = properties
                .iter()
                .map(|(name, inner)| (name.clone(), fill_schema(inner, whole, text)));
            let mut fields: Map<String, Value> = fields.collect();
            if fields.is_empty() {
                fields.insert("key".into(), text.into());
            }
            fields.into()
        }
        _ => text.into(),
    }
}

fn kind<'schema>(schema: &'schema Value, whole: &'schema Value) -> &'schema str {
    let schema = resolve_schema(schema, whole);
    let kind = &schema["type"];
    let listed = || {
        kind.as_array()?
            .iter()
            .find_map(|one| one.as_str().filter(|one| *one != "null"))
    };
    kind.as_str().or_else(listed).unwrap_or("string")
}

/// Resolves a reference or the first alternative of a schema.
fn resolve_schema<'schema>(schema: &'schema Value, whole: &'schema Value) -> &'schema Value {
    if let Some(name) = schema["$ref"]
        .as_str()
        .and_then(|path| path.rsplit('/').next())
    {
        return resolve_schema(&whole["$defs"][name], whole);
    }
    for several in ["anyOf", "oneOf"] {
        let choices = schema[several].as_array().into_iter().flatten();
        if let Some(choice) = choices.into_iter().find(|choice| choice["type"] != "null") {
            return resolve_schema(choice, whole);
        }
    }
    schema
}

/// A path as a URI spells it.
pub(super) fn percent_encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/.-_~".contains(&byte);
    text.bytes()
        .map(|byte| match plain(byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect()
}
