//! Generates JSON Schemas in the subset that every client accepts: flat, inlined, explicit types, no nullable unions, no
//! `$ref`. Gemini's and OpenAI's clients reject the rest.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// The schema of an action's arguments.
pub(crate) fn of_input<T: JsonSchema>() -> Value {
    generate::<T>(SchemaSettings::draft2020_12())
}

/// The schema of an action's result.
pub(crate) fn of_output<T: JsonSchema>() -> Value {
    generate::<T>(SchemaSettings::draft2020_12().for_serialize())
}

/// Removes the description from a schema and returns it.
pub(crate) fn take_description(schema: &mut Value) -> String {
    let taken = schema
        .as_object_mut()
        .and_then(|schema| schema.remove("description"));
    taken
        .as_ref()
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

fn generate<T: JsonSchema>(mut settings: SchemaSettings) -> Value {
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    simplify(&mut schema);
    if let Some(schema) = schema.as_object_mut() {
        schema.remove("title");
        // An action without arguments is a unit struct in Rust and an empty object in JSON.
        schema.insert("type".into(), "object".into());
        schema
            .entry("properties")
            .or_insert_with(|| Map::new().into());
    }
    schema
}

/// Rewrites a schema and its subschemas into that subset.
fn simplify(schema: &mut Value) {
    let Some(map) = schema.as_object_mut() else {
        return;
    };
    if let Some(Value::Array(types)) = map.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            map.insert("type".into(), only);
        }
    }
    for union in ["anyOf", "oneOf"] {
        flatten_union(map, union);
    }
    if map.get("default").is_some_and(Value::is_null) {
        map.remove("default");
    }
    if let Some(Value::Array(values)) = map.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::String(text)) = map.get_mut("description") {
        *text = unwrapped(text);
    }
    // Rust's integer widths are irrelevant for clients.
    map.remove("format");
    for (key, inner) in map.iter_mut() {
        match (key.as_str(), inner) {
            ("properties" | "$defs", Value::Object(inner)) => inner.values_mut().for_each(simplify),
            ("items" | "additionalProperties", inner) => simplify(inner),
            ("anyOf" | "oneOf" | "allOf", Value::Array(inner)) => {
                inner.iter_mut().for_each(simplify)
            }
            _ => {}
        }
    }
}

/// A doc comment with one line per paragraph: undoes the line wrapping of the source.
pub fn unwrapped(text: &str) -> String {
    let paragraphs = text.split("\n\n").map(|paragraph| {
        let words: Vec<&str> = paragraph.split_whitespace().collect();
        words.join(" ")
    });
    paragraphs.collect::<Vec<_>>().join("\n")
}

/// Replaces `T or null` with `T`, and several constants with an `enum` whose values the description explains.
fn flatten_union(map: &mut Map<String, Value>, union: &str) {
    let Some(Value::Array(cases)) = map.get_mut(union) else {
        return;
    };
    cases.retain(|case| case.get("type") != Some(&Value::from("null")));
    if let [Value::Object(only)] = cases.as_slice() {
        let only = only.clone();
        map.remove(union);
        for (key, value) in only {
            map.entry(key).or_insert(value);
        }
        // The inlined schema may itself be a union of constants.
        return ["anyOf", "oneOf"]
            .iter()
            .for_each(|union| flatten_union(map, union));
    }
    let mut values = Vec::new();
    let mut meanings = Vec::new();
    for case in cases.iter() {
        match (case.get("const"), case.get("enum")) {
            (Some(value), _) => {
                if let (Some(value), Some(meaning)) = (
                    value.as_str(),
                    case.get("description").and_then(Value::as_str),
                ) {
                    meanings.push(format!("`{value}`: {meaning}"));
                }
                values.push(value.clone());
            }
            (None, Some(Value::Array(several))) => values.extend(several.iter().cloned()),
            _ => return,
        }
    }
    map.remove(union);
    map.insert("type".into(), "string".into());
    map.insert("enum".into(), values.into());
    if !meanings.is_empty() {
        let description = map
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let text = format!("{description} {}", meanings.join(" "));
        map.insert("description".into(), text.trim().into());
    }
}
