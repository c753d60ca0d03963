//! Limits of Gemini, OpenAI and Claude, checked for every tool of every surface.

use serde_json::{Map, Value};

use super::{SURFACES, name, tools};

/// Keywords that some client rejects or interprets differently.
const UNSUPPORTED_KEYWORDS: [&str; 14] = [
    "$ref",
    "$defs",
    "definitions",
    "oneOf",
    "anyOf",
    "allOf",
    "not",
    "const",
    "nullable",
    "if",
    "patternProperties",
    "additionalProperties",
    "format",
    "examples",
];

/// OpenAI's limits per tool: depth of nested objects, number of properties and enum values.
const MAX_DEPTH: usize = 5;
const MAX_PROPERTIES: usize = 100;
const MAX_ENUM_VALUES: usize = 500;
/// Gemini sums up the `maxItems` of a tool.
const MAX_ARRAY_ITEMS: u64 = 960;
/// Claude Code truncates longer descriptions.
const MAX_DESCRIPTION_CHARS: usize = 2048;
/// Older OpenAI models truncate at this length.
const MAX_DESCRIPTION_CHARS_OPENAI: usize = 1024;

/// The counts for one tool.
#[derive(Default)]
struct SchemaCounts {
    properties: usize,
    words: usize,
    items: u64,
}

fn check(schema: &Map<String, Value>, place: &str, depth: usize, counted: &mut SchemaCounts) {
    assert!(depth <= MAX_DEPTH, "{place} is nested too deeply");
    let kind = schema.get("type").and_then(Value::as_str);
    let kind = kind.unwrap_or_else(|| panic!("{place} has no single type"));
    for keyword in schema.keys() {
        assert!(
            !UNSUPPORTED_KEYWORDS.contains(&keyword.as_str()),
            "{place} has `{keyword}`"
        );
    }
    match kind {
        "array" => {
            let items = schema.get("items").and_then(Value::as_object);
            let items = items.unwrap_or_else(|| panic!("{place} does not declare its items"));
            check(items, &format!("{place}[]"), depth + 1, counted);
        }
        "object" => {}
        "string" | "integer" | "number" | "boolean" => assert!(
            !schema.contains_key("properties") && !schema.contains_key("items"),
            "{place} is a {kind} with parts"
        ),
        other => panic!("{place} has the type `{other}`"),
    }
    if let Some(words) = schema.get("enum") {
        let words = words.as_array().expect("a list of words");
        let is_word = |word: &Value| word.as_str().is_some_and(|word| !word.is_empty());
        assert!(
            kind == "string" && !words.is_empty() && words.iter().all(is_word),
            "{place} has the words {words:?}"
        );
        counted.words += words.len();
    }
    counted.items += schema
        .get("maxItems")
        .and_then(Value::as_u64)
        .unwrap_or_default();
    let none = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object);
    let properties = properties.unwrap_or(&none);
    let required = schema.get("required").and_then(Value::as_array);
    for expected in required.into_iter().flatten() {
        let expected = expected.as_str().expect("a name");
        assert!(
            properties.contains_key(expected),
            "{place} requires `{expected}`, which is not defined"
        );
    }
    counted.properties += properties.len();
    for (name, inner) in properties {
        let inner = inner.as_object().unwrap_or_else(|| {
            panic!("{place}.{name} is not a useful schema");
        });
        check(inner, &format!("{place}.{name}"), depth + 1, counted);
    }
}

#[test]
fn tool_schemas_fit_every_models_limits() {
    for surface in SURFACES {
        let tools = tools(surface);
        let mut names: Vec<&str> = tools.iter().map(name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), tools.len(), "{surface}: two tools of one name");
        for tool in &tools {
            let place = format!("{surface}: {}", name(tool));
            let fits = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
            assert!(
                (1..=64).contains(&name(tool).len()) && name(tool).chars().all(fits),
                "{place}"
            );
            let input = tool["inputSchema"].as_object().expect("a schema");
            assert_eq!(input["type"], "object", "{place}");
            let mut counted = SchemaCounts::default();
            check(input, &place, 0, &mut counted);
            assert!(counted.properties <= MAX_PROPERTIES, "{place}");
            assert!(counted.words <= MAX_ENUM_VALUES, "{place}");
            assert!(counted.items <= MAX_ARRAY_ITEMS, "{place}");
            if let Some(output) = tool.get("outputSchema") {
                assert_eq!(output["type"], "object", "{place}");
                for refused in ["$ref", "oneOf", "anyOf", "allOf"] {
                    assert!(output.get(refused).is_none(), "{place}: {refused}");
                }
            }
        }
    }
}

#[test]
fn every_tool_has_behavior_annotations() {
    for surface in SURFACES {
        for tool in tools(surface) {
            let hints = &tool["annotations"];
            for hint in [
                "readOnlyHint",
                "destructiveHint",
                "idempotentHint",
                "openWorldHint",
            ] {
                assert!(
                    hints[hint].is_boolean(),
                    "{surface}: {}: {hint}",
                    name(&tool)
                );
            }
            assert!(hints["title"].is_string(), "{surface}: {}", name(&tool));
        }
    }
}

#[test]
fn descriptions_fit_every_clients_limit() {
    for surface in SURFACES {
        let mut long = 0;
        for tool in tools(surface) {
            let size = tool["description"].as_str().expect("words").len();
            assert!(
                (1..=MAX_DESCRIPTION_CHARS).contains(&size),
                "{surface}: {}: {size} bytes",
                name(&tool)
            );
            long += usize::from(size > MAX_DESCRIPTION_CHARS_OPENAI);
        }
        // A domain with very many actions needs a deeper schema.
        let most = if surface == "domain" { 3 } else { 0 };
        assert!(
            long <= most,
            "{surface}: {long} descriptions are over 1024 bytes"
        );
    }
}

#[test]
fn every_action_has_an_output_schema() {
    for tool in tools("flat") {
        let output = tool["outputSchema"]["properties"].as_object();
        assert!(
            output.is_some_and(|properties| !properties.is_empty()),
            "{} promises nothing",
            name(&tool)
        );
    }
}
