//! Generates arguments from a schema: plausible ones and unusual ones. Types are always right, because the host rejects
//! others before a component sees them.

use std::collections::BTreeMap;

use serde_json::{Map, Number, Value, json};

use super::description::{properties, required};
use super::test_vault::{RICH_NOTE, ROOT_NOTE};

/// The length of an unreasonably long text.
const HUGE_TEXT_BYTES: usize = 100 << 10;
/// The length of an unreasonably long list.
const LONG_LIST_ITEMS: usize = 1000;

/// Values from replies, by field name: ids and handles cannot be invented.
pub(super) type ReturnedValues = BTreeMap<String, Vec<Value>>;

/// Plausible values by parts of an argument's name; the first match counts.
const BY_NAME: [(&str, &[&str]); 16] = [
    ("folder", &["Work", "Diary", ""]),
    ("notebook", &["Work", "Diary"]),
    ("new_", &["Work/New.md", "New", "Brand new"]),
    ("destination", &["Work/New.md", "Diary"]),
    (
        "to",
        &["Work/New.md", "Diary", "Work/Meeting.md", "2026-03-02"],
    ),
    ("tag", &["project", "#todo"]),
    ("date", &["2026-03-01", "today"]),
    ("day", &["2026-03-01", "today"]),
    ("heading", &["Tasks", "Plan"]),
    ("query", &["plan", "tag:project"]),
    ("pattern", &["plan", "*.md"]),
    ("content", &["A line.\n", "# New\n\ntext\n"]),
    ("text", &["plan", "A line.\n"]),
    ("base", &["Work/Books.base"]),
    ("property", &["status", "tags"]),
    ("key", &["status", "due"]),
];

/// Plausible values for any other name.
const DEFAULT_TEXTS: [&str; 6] = [
    RICH_NOTE,
    "Work/Picture.png",
    "Plan",
    ROOT_NOTE,
    "plan",
    "Work",
];

/// Unusual texts.
fn odd_texts() -> Vec<String> {
    let plain = [
        "",
        " ",
        "\n",
        ".",
        "..",
        "../outside.md",
        "Work/../../outside.md",
        "/absolute.md",
        "C:\\notes\\a.md",
        ".notehost/secret",
        "Nowhere/Missing.md",
        "Odd/Latin.md",
        "Odd/Broken.md",
        "Odd/\u{65e5}\u{672c}\u{8a9e}.md",
        "e\u{301}\u{1f980}\u{202e}\u{feff}\u{200d}",
        "nul\0inside",
        "[[[[((((\\",
        "{{{{%%==--",
        "-1",
        "9999-99-99",
        "null",
    ];
    let mut texts: Vec<String> = plain.map(str::to_owned).to_vec();
    texts.push("x".repeat(HUGE_TEXT_BYTES));
    texts.push("> ".repeat(2000));
    texts
}

/// Plausible arguments, the most likely first: the required ones, with varying values.
pub(super) fn sensible(
    input: &Map<String, Value>,
    returned: &ReturnedValues,
) -> Vec<Map<String, Value>> {
    let needed: Vec<&str> = required(input).collect();
    let candidates: Vec<(&String, Vec<Value>)> = properties(input)
        .filter(|(name, _)| needed.contains(&name.as_str()))
        .map(|(name, schema)| (name, values(name, schema, returned)))
        .collect();
    let most = candidates.iter().map(|(_, values)| values.len()).max();
    let with = |round: usize| {
        let chosen = candidates.iter().filter_map(|(name, values)| {
            let value = values.get(round % values.len().max(1))?;
            Some(((*name).clone(), value.clone()))
        });
        chosen.collect()
    };
    (0..most.unwrap_or(1).clamp(1, 16)).map(with).collect()
}

/// The same arguments with each optional argument in turn, then with all of them.
pub(super) fn with_options(
    input: &Map<String, Value>,
    usual: &Map<String, Value>,
    returned: &ReturnedValues,
) -> Vec<Map<String, Value>> {
    let optional = properties(input).filter(|(name, _)| !usual.contains_key(*name));
    let mut made = Vec::new();
    let mut all = usual.clone();
    for (name, schema) in optional {
        let values = values(name, schema, returned);
        all.extend(values.first().map(|value| (name.clone(), value.clone())));
        for value in values.into_iter().take(4) {
            let mut arguments = usual.clone();
            arguments.insert(name.clone(), value);
            made.push(arguments);
        }
    }
    made.push(all);
    made
}

/// The same arguments with one unusual value at a time.
pub(super) fn odd(
    input: &Map<String, Value>,
    usual: &Map<String, Value>,
) -> Vec<Map<String, Value>> {
    let mut made = Vec::new();
    for (name, schema) in properties(input) {
        for value in odd_values(schema) {
            let mut arguments = usual.clone();
            arguments.insert(name.clone(), value);
            made.push(arguments);
        }
    }
    made
}

/// Collects values from one reply.
pub(super) fn gather(reply: &Value, returned: &mut ReturnedValues) {
    match reply {
        Value::Object(map) => {
            for (name, value) in map {
                if value.is_string() || value.is_i64() {
                    let known = returned.entry(name.clone()).or_default();
                    if known.len() < 4 && !known.contains(value) {
                        known.push(value.clone());
                    }
                }
                gather(value, returned);
            }
        }
        Value::Array(items) => items
            .iter()
            .take(20)
            .for_each(|item| gather(item, returned)),
        _ => {}
    }
}

/// Plausible values of an argument, the most likely first.
fn values(name: &str, schema: &Value, returned: &ReturnedValues) -> Vec<Value> {
    let list = |key: &str| schema.get(key).and_then(Value::as_array).cloned();
    let mut values = list("examples").unwrap_or_default();
    values.extend(schema.get("const").cloned());
    values.extend(list("enum").into_iter().flatten());
    if !values.is_empty() {
        return values;
    }
    values.extend(schema.get("default").cloned());
    match schema.get("type").and_then(Value::as_str) {
        Some("string") => values.extend(texts(name, returned)),
        Some("integer" | "number") => values.extend(numbers(schema, returned.get(name))),
        Some("boolean") => values.extend([json!(true), json!(false)]),
        Some("array") => {
            let singular = name.strip_suffix('s').unwrap_or(name);
            let items = match schema.get("items") {
                Some(items) => self::values(singular, items, returned),
                None => vec![json!(RICH_NOTE)],
            };
            values.extend(items.iter().map(|item| json!([item])));
            values.push(Value::Array(items.into_iter().take(3).collect()));
        }
        Some("object") => values.extend(objects(schema, returned)),
        _ => values.extend([json!("text"), json!(1)]),
    }
    values
}

fn texts(name: &str, returned: &ReturnedValues) -> Vec<Value> {
    let by_name = BY_NAME
        .iter()
        .find(|(part, _)| name == *part || (part.len() > 2 && name.contains(part)));
    let mut texts: Vec<Value> = Vec::new();
    texts.extend(
        by_name
            .into_iter()
            .flat_map(|(_, texts)| *texts)
            .map(|text| json!(text)),
    );
    // A value that a reply returned as `id` may be the argument `change_id`, and vice versa.
    let is_same = |known: &str| {
        known == name
            || name.ends_with(&format!("_{known}"))
            || known.ends_with(&format!("_{name}"))
    };
    for (_, values) in returned.iter().filter(|(known, _)| is_same(known)) {
        texts.extend(values.iter().filter(|value| value.is_string()).cloned());
    }
    texts.extend(DEFAULT_TEXTS.map(|text| json!(text)));
    let mut seen = Vec::new();
    texts.retain(|text| {
        !seen.contains(text) && {
            seen.push(text.clone());
            true
        }
    });
    texts
}

fn numbers(schema: &Value, returned: Option<&Vec<Value>>) -> Vec<Value> {
    let mut numbers: Vec<Value> = returned
        .into_iter()
        .flatten()
        .filter(|value| value.is_number())
        .cloned()
        .collect();
    numbers.extend([json!(1), json!(3), json!(10)]);
    let bound = |key: &str| schema.get(key).filter(|value| value.is_number()).cloned();
    numbers.extend(bound("minimum"));
    numbers.extend(bound("maximum"));
    numbers
}

fn objects(schema: &Value, returned: &ReturnedValues) -> Vec<Value> {
    let Some(schema) = schema.as_object() else {
        return vec![json!({})];
    };
    if properties(schema).next().is_none() {
        return vec![json!({"status": "done"}), json!({})];
    }
    let mut made: Vec<Value> = sensible(schema, returned)
        .into_iter()
        .take(4)
        .map(Value::Object)
        .collect();
    let whole = properties(schema).filter_map(|(name, inner)| {
        let value = values(name, inner, returned).into_iter().next()?;
        Some((name.clone(), value))
    });
    made.push(Value::Object(whole.collect()));
    made
}

/// Unusual values of the right type.
fn odd_values(schema: &Value) -> Vec<Value> {
    if schema.get("enum").is_some() || schema.get("const").is_some() {
        return Vec::new();
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("string") => odd_texts().into_iter().map(Value::String).collect(),
        Some("integer") => [0, -1, i64::MIN, i64::MAX, 1 << 40]
            .map(Value::from)
            .to_vec(),
        Some("number") => [0.0, -1.5, 1e300, -1e300, 1e-300]
            .into_iter()
            .filter_map(|number| Number::from_f64(number).map(Value::Number))
            .collect(),
        Some("array") => odd_lists(schema),
        Some("object") => odd_objects(schema),
        _ => Vec::new(),
    }
}

fn odd_lists(schema: &Value) -> Vec<Value> {
    let mut lists = vec![json!([])];
    let Some(items) = schema.get("items") else {
        return lists;
    };
    let usual = values("path", items, &ReturnedValues::new());
    if let Some(item) = usual.first() {
        lists.push(Value::Array(vec![item.clone(); LONG_LIST_ITEMS]));
    }
    lists.extend(odd_values(items).into_iter().map(|item| json!([item])));
    lists
}

fn odd_objects(schema: &Value) -> Vec<Value> {
    let mut made = vec![json!({})];
    let Some(schema) = schema.as_object() else {
        return made;
    };
    if properties(schema).next().is_none() {
        made.push(json!({"": "", "\0": null, "a": {"b": [[[]]]}}));
        return made;
    }
    let usual = sensible(schema, &ReturnedValues::new()).into_iter().next();
    let odd = odd(schema, &usual.unwrap_or_default());
    made.extend(odd.into_iter().map(Value::Object));
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Map<String, Value> {
        let schema = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "limit": {"type": "integer", "minimum": 1},
                "mode": {"type": "string", "enum": ["a", "b"]},
                "rows": {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "string"}}}},
            },
            "required": ["path"],
        });
        schema.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn required_arguments_are_given_and_optional_ones_in_turn() {
        let returned = ReturnedValues::from([("id".to_owned(), vec![json!("abc")])]);
        let usual = sensible(&schema(), &returned);
        assert_eq!(
            usual[0],
            *json!({"path": RICH_NOTE}).as_object().expect("an object")
        );
        let optional = with_options(&schema(), &usual[0], &returned);
        assert!(
            optional
                .iter()
                .all(|arguments| arguments.contains_key("path"))
        );
        let has = |name: &str, value: Value| {
            optional
                .iter()
                .any(|arguments| arguments.get(name) == Some(&value))
        };
        assert!(has("limit", json!(1)) && has("mode", json!("b")));
        assert!(has("rows", json!([{"id": "abc"}])), "{optional:#?}");
    }

    #[test]
    fn unusual_values_have_the_right_type() {
        let validator = super::super::description::validator(&schema()).expect("a schema");
        let usual = sensible(&schema(), &ReturnedValues::new());
        let odd = odd(&schema(), &usual[0]);
        let fitting = odd
            .iter()
            .filter(|arguments| validator.is_valid(&Value::Object((*arguments).clone())));
        assert!(fitting.count() > 40);
    }

    #[test]
    fn reply_values_are_collected_by_name() {
        let mut returned = ReturnedValues::new();
        gather(
            &json!({"items": [{"id": "a", "n": 1}, {"id": "b"}], "text": "x"}),
            &mut returned,
        );
        assert_eq!(returned["id"], [json!("a"), json!("b")]);
        assert_eq!(returned["n"], [json!(1)]);
    }
}
