//! Whether a property is as a test wants it, and in which order properties come. One place for the host's index and the
//! vault in memory, so that both mean the same.

use std::cmp::Ordering;

use serde_json::{Map, Value};

use super::{PropertyTest, Span};
use crate::{fold_name, stem_of};

impl Span {
    /// Whether a number lies in it.
    pub fn contains(&self, number: u64) -> bool {
        self.from.is_none_or(|from| number >= from) && self.to.is_none_or(|to| number < to)
    }
}

impl PropertyTest {
    /// Whether a note with these properties fulfils the test.
    pub fn holds(&self, properties: Option<&Map<String, Value>>) -> bool {
        let value = properties
            .and_then(|properties| property(properties, &self.key))
            .filter(|value| !is_empty(value));
        if let Some(exists) = self.exists
            && exists != value.is_some()
        {
            return false;
        }
        if self.equals == Some(Value::Null) && value.is_some() {
            return false;
        }
        let is_so =
            |test: &dyn Fn(&Value) -> bool| value.is_some_and(|value| any_item(value, test));
        let in_order = |wanted: &Option<Value>, fits: fn(Ordering) -> bool| {
            wanted
                .as_ref()
                .is_none_or(|wanted| is_so(&|value| compare(value, wanted).is_some_and(fits)))
        };
        self.equals
            .as_ref()
            .filter(|wanted| !wanted.is_null())
            .is_none_or(|wanted| {
                value.is_some_and(|value| is_same_list(value, wanted))
                    || is_so(&|value| equals(value, wanted))
            })
            && self.contains.as_ref().is_none_or(|wanted| {
                let wanted = fold_name(wanted);
                is_so(&|value| text(value).is_some_and(|text| fold_name(&text).contains(&wanted)))
            })
            && in_order(&self.greater, Ordering::is_gt)
            && in_order(&self.at_least, Ordering::is_ge)
            && in_order(&self.less, Ordering::is_lt)
            && in_order(&self.at_most, Ordering::is_le)
    }
}

/// The property of a name, whatever its case; parts of a nested one with dots between.
pub fn property<'p>(properties: &'p Map<String, Value>, key: &str) -> Option<&'p Value> {
    let folded = fold_name(key);
    let named = |name: &str| {
        properties.get(name).or_else(|| {
            let mut others = properties.iter();
            others
                .find(|(known, _)| fold_name(known) == fold_name(name))
                .map(|(_, value)| value)
        })
    };
    named(&folded).or_else(|| {
        let (first, rest) = key.split_once('.')?;
        match named(first)? {
            Value::Object(inner) => property(inner, rest),
            _ => None,
        }
    })
}

/// The order of two properties; nothing where they cannot be compared.
fn compare(one: &Value, other: &Value) -> Option<Ordering> {
    if let (Some(one), Some(other)) = (number(one), number(other)) {
        return one.partial_cmp(&other);
    }
    Some(fold_name(&text(one)?).cmp(&fold_name(&text(other)?)))
}

/// What a note is sorted by: its property, of a list the first item that has a text; nothing where that is empty.
pub fn sort_value<'p>(properties: &'p Map<String, Value>, key: &str) -> Option<&'p Value> {
    first_with_text(property(properties, key)?)
}

fn first_with_text(value: &Value) -> Option<&Value> {
    match value {
        Value::Array(items) => items.iter().find_map(first_with_text),
        value => text(value)
            .is_some_and(|text| !text.trim().is_empty())
            .then_some(value),
    }
}

/// The order of two values that notes are sorted by: numbers, then everything else as text.
pub fn order(one: &Value, other: &Value) -> Ordering {
    match (number(one), number(other)) {
        (Some(one), Some(other)) => one.total_cmp(&other),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => {
            let folded = |value| text(value).map(|text| fold_name(&text));
            folded(one).cmp(&folded(other))
        }
    }
}

fn any_item(value: &Value, test: &dyn Fn(&Value) -> bool) -> bool {
    match value {
        Value::Array(items) => items.iter().any(|item| any_item(item, test)),
        value => test(value),
    }
}

fn is_same_list(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::Array(items), Value::Array(wanted)) => {
            items.len() == wanted.len()
                && items
                    .iter()
                    .zip(wanted)
                    .all(|(item, wanted)| equals(item, wanted))
        }
        _ => false,
    }
}

fn equals(value: &Value, wanted: &Value) -> bool {
    // A link is known by the name of its note as well.
    let is_link = value
        .as_str()
        .is_some_and(|text| text.trim().starts_with("[["));
    match (number(value), number(wanted)) {
        (Some(value), Some(wanted)) => value == wanted,
        _ => match (text(value), text(wanted)) {
            (Some(value), Some(wanted)) => {
                let (value, wanted) = (linked(&value), linked(&wanted));
                let (value, wanted) = (fold_name(value), fold_name(wanted));
                value == wanted || is_link && stem_of(&value) == stem_of(&wanted)
            }
            _ => value == wanted,
        },
    }
}

/// What a link in a property points to; any other text as it is.
fn linked(text: &str) -> &str {
    let inner = text
        .trim()
        .strip_prefix("[[")
        .and_then(|rest| rest.strip_suffix("]]"));
    inner.map_or(text.trim(), |inner| {
        inner.split('|').next().unwrap_or(inner).trim()
    })
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.iter().all(is_empty),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text
            .trim()
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite()),
        _ => None,
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn holds(properties: Value, test: Value) -> bool {
        let test: PropertyTest = serde_json::from_value(test).unwrap();
        test.holds(properties.as_object())
    }

    #[test]
    fn values_are_compared_as_people_mean_them() {
        let note = json!({"Status": "Done", "rating": 4, "due": "2024-05-01", "tags": ["a", "B"],
            "see": "[[Work/Plan|it]]", "author": {"name": "Ann"}, "empty": "", "ok": true});
        for test in [
            json!({"key": "status", "equals": "done"}),
            json!({"key": "rating", "equals": 4.0}),
            json!({"key": "rating", "at_least": 4, "less": 5}),
            json!({"key": "due", "greater": "2024-04-30"}),
            json!({"key": "tags", "equals": "b"}),
            json!({"key": "see", "equals": "[[work/plan]]"}),
            json!({"key": "see", "equals": "Work/Plan"}),
            json!({"key": "author.name", "contains": "an"}),
            json!({"key": "empty", "exists": false}),
            json!({"key": "ok", "equals": true}),
        ] {
            assert!(holds(note.clone(), test.clone()), "{test}");
        }
        for test in [
            json!({"key": "status", "equals": "open"}),
            json!({"key": "rating", "greater": 4}),
            json!({"key": "missing", "less": 4}),
            json!({"key": "missing", "exists": true}),
            json!({"key": "author", "contains": "Ann"}),
        ] {
            assert!(!holds(note.clone(), test.clone()), "{test}");
        }
    }
}
