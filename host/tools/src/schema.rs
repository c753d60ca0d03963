//! JSON Schemas in a form that every client accepts: one explicit `type`, no `$ref`, no unions. Components made with
//! the SDK describe themselves this way already; others may not. Arguments are validated by `dispatch` against the
//! component's own schema, so a wider form here lets nothing through.

use serde_json::{Map, Value};

/// The keywords that are kept; some clients refuse others.
const KEPT_KEYWORDS: [&str; 12] = [
    "type",
    "description",
    "enum",
    "default",
    "properties",
    "required",
    "items",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "pattern",
];

/// The maximum depth of references, which may be cyclic.
const MAX_DEPTH: usize = 12;

/// The plain form of an object schema.
pub(crate) fn plain(schema: &Map<String, Value>) -> Map<String, Value> {
    let mut plain = simplify(schema, schema, 0);
    plain.insert("type".into(), "object".into());
    plain
        .entry("properties")
        .or_insert_with(|| Map::new().into());
    plain
}

/// The properties of an object schema, in order.
pub(crate) fn properties(
    schema: &Map<String, Value>,
) -> impl Iterator<Item = (&str, &Map<String, Value>)> {
    schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(name, inner)| Some((name.as_str(), inner.as_object()?)))
}

/// Whether an object schema asks for a property.
pub(crate) fn is_required(schema: &Map<String, Value>, property: &str) -> bool {
    schema
        .get("required")
        .and_then(Value::as_array)
        .is_some_and(|required| required.iter().any(|name| name == property))
}

/// The narrowest plain schema that accepts what either of two schemas accepts, as far as one type can.
pub(crate) fn widen(one: Map<String, Value>, other: &Map<String, Value>) -> Map<String, Value> {
    let (kind, other_kind) = (kind(&one), kind(other));
    if rank(kind) != rank(other_kind) {
        // The richer type can express the other one; the descriptions state which action takes what.
        let mut wide = if rank(kind) > rank(other_kind) {
            one.clone()
        } else {
            other.clone()
        };
        if let Some(description) = one.get("description") {
            wide.insert("description".into(), description.clone());
        }
        return wide;
    }
    let mut wide = Map::new();
    for (keyword, value) in &one {
        let met = match (keyword.as_str(), other.get(keyword)) {
            ("type", _) => Some(if kind == other_kind {
                value.clone()
            } else {
                "number".into()
            }),
            ("description", _) => Some(value.clone()),
            ("enum", Some(Value::Array(more))) => Some(joined(value, more)),
            ("items", Some(Value::Object(items))) => value
                .as_object()
                .map(|value| widen(value.clone(), items).into()),
            (_, Some(same)) if same == value => Some(value.clone()),
            _ => None,
        };
        if let Some(met) = met {
            wide.insert(keyword.clone(), met);
        }
    }
    wide
}

/// The object that a `json!({…})` is.
pub fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

fn kind(schema: &Map<String, Value>) -> &str {
    schema
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or("object")
}

/// Numeric types share one rank.
fn rank(kind: &str) -> u8 {
    match kind {
        "boolean" => 0,
        "integer" | "number" => 1,
        "string" => 2,
        "array" => 3,
        _ => 4,
    }
}

fn joined(words: &Value, more: &[Value]) -> Value {
    let mut all = words.as_array().cloned().unwrap_or_default();
    for word in more {
        if !all.contains(word) {
            all.push(word.clone());
        }
    }
    all.into()
}

fn simplify(
    schema: &Map<String, Value>,
    root: &Map<String, Value>,
    depth: usize,
) -> Map<String, Value> {
    if depth > MAX_DEPTH {
        return Map::from_iter([("type".to_owned(), "object".into())]);
    }
    let mut plain = followed(schema, root, depth);
    if let Some(constant) = schema.get("const") {
        plain.insert("enum".into(), vec![constant.clone()].into());
    }
    if let Some(Value::Array(types)) = plain.get("type") {
        let named = types.iter().find(|name| *name != "null").cloned();
        plain.insert("type".into(), named.unwrap_or_else(|| "string".into()));
    }
    if !plain.contains_key("type") {
        plain.insert("type".into(), guessed(&plain).into());
    }
    plain.retain(|keyword, _| KEPT_KEYWORDS.contains(&keyword.as_str()));
    if plain.get("default").is_some_and(Value::is_null) {
        plain.remove("default");
    }
    if let Some(Value::Object(properties)) = plain.get_mut("properties") {
        for inner in properties.values_mut() {
            *inner = inner_plain(inner, root, depth).into();
        }
    }
    if let Some(items) = plain.get_mut("items") {
        *items = inner_plain(items, root, depth).into();
    }
    plain
}

/// A schema within a schema; `true` and its like say nothing about the type.
fn inner_plain(inner: &Value, root: &Map<String, Value>, depth: usize) -> Map<String, Value> {
    simplify(inner.as_object().unwrap_or(&Map::new()), root, depth + 1)
}

/// The schema with its reference replaced by what it points to, and its cases by what takes them all.
fn followed(
    schema: &Map<String, Value>,
    root: &Map<String, Value>,
    depth: usize,
) -> Map<String, Value> {
    let mut plain = schema.clone();
    let target = schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|reference| reference.strip_prefix("#/"))
        .and_then(|path| {
            path.split('/')
                .try_fold(root, |at, part| at.get(part)?.as_object())
        });
    let cases = ["anyOf", "oneOf", "allOf"]
        .into_iter()
        .filter_map(|union| schema.get(union)?.as_array())
        .flatten()
        .filter_map(Value::as_object)
        .filter(|case| case.get("type") != Some(&Value::from("null")));
    let inner = target
        .into_iter()
        .chain(cases)
        .map(|case| simplify(case, root, depth + 1))
        .reduce(|wide, case| widen(wide, &case));
    for (keyword, value) in inner.into_iter().flatten() {
        plain.entry(keyword).or_insert(value);
    }
    plain
}

fn guessed(schema: &Map<String, Value>) -> &'static str {
    let first = schema
        .get("enum")
        .and_then(|words| words.get(0))
        .or(schema.get("default"));
    match first {
        Some(Value::String(_)) => "string",
        Some(Value::Number(_)) => "number",
        Some(Value::Bool(_)) => "boolean",
        Some(Value::Array(_)) => "array",
        _ if schema.contains_key("items") => "array",
        _ => "object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unsupported_schema_features_are_simplified() {
        let given = object(json!({
            "type": "object",
            "$defs": { "Tag": { "type": "string", "description": "A tag" }, "Loop": { "$ref": "#/$defs/Loop" } },
            "properties": {
                "tag": { "$ref": "#/$defs/Tag" },
                "maybe": { "type": ["integer", "null"], "default": null },
                "either": { "anyOf": [{ "type": "boolean" }, { "type": "null" }] },
                "kind": { "oneOf": [{ "const": "a" }, { "const": "b" }] },
                "any": true,
                "loop": { "$ref": "#/$defs/Loop" },
            },
            "required": ["tag"],
        }));
        let plain = plain(&given);
        assert_eq!(
            plain["properties"]["tag"],
            json!({ "type": "string", "description": "A tag" })
        );
        assert_eq!(plain["properties"]["maybe"], json!({ "type": "integer" }));
        assert_eq!(plain["properties"]["either"], json!({ "type": "boolean" }));
        assert_eq!(
            plain["properties"]["kind"],
            json!({ "enum": ["a", "b"], "type": "string" })
        );
        assert_eq!(plain["properties"]["any"], json!({ "type": "object" }));
        assert_eq!(plain["properties"]["loop"], json!({ "type": "object" }));
        assert_eq!(plain["required"], json!(["tag"]));
        assert!(!plain.contains_key("$defs"));
    }

    #[test]
    fn same_named_arguments_merge_into_the_wider_schema() {
        let meet = |one: Value, other: Value| Value::Object(widen(object(one), &object(other)));
        for (one, other, wide) in [
            (
                json!({ "type": "string", "description": "one" }),
                json!({ "type": "string", "description": "other" }),
                json!({ "type": "string", "description": "one" }),
            ),
            (
                json!({ "type": "integer", "minimum": 1 }),
                json!({ "type": "number", "minimum": 2 }),
                json!({ "type": "number" }),
            ),
            (
                json!({ "type": "string", "enum": ["a", "b"] }),
                json!({ "type": "string", "enum": ["b", "c"] }),
                json!({ "type": "string", "enum": ["a", "b", "c"] }),
            ),
            (
                json!({ "type": "string", "enum": ["a"] }),
                json!({ "type": "string" }),
                json!({ "type": "string" }),
            ),
            (
                json!({ "type": "string" }),
                json!({ "type": "array", "items": { "type": "string" } }),
                json!({ "type": "array", "items": { "type": "string" } }),
            ),
        ] {
            assert_eq!(meet(one, other), wide);
        }
    }
}
