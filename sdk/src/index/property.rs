//! Property tests and the sort order of properties, shared by the host's index and the vault in memory.
//!
//! A note may have tens of thousands of properties, and a query runs over thousands of notes: so names and expected values
//! are folded once per query, sort keys are computed once per note, and a lookup scans the keys of a note once.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::{Map, Value};

use super::{PropertyTest, SortBy, Span};
use crate::{fold_name, stem_of};

impl Span {
    /// Whether it contains a number.
    pub fn contains(&self, number: u64) -> bool {
        self.from.is_none_or(|from| number >= from) && self.to.is_none_or(|to| number < to)
    }
}

impl PropertyTest {
    /// Whether a note with these properties passes the test.
    pub fn holds(&self, properties: Option<&Map<String, Value>>) -> bool {
        self.matcher().holds(properties)
    }

    /// The test, prepared for many notes.
    pub fn matcher(&self) -> PropertyMatcher<'_> {
        let in_order: [(_, OrderTest); 4] = [
            (&self.greater, Ordering::is_gt),
            (&self.at_least, Ordering::is_ge),
            (&self.less, Ordering::is_lt),
            (&self.at_most, Ordering::is_le),
        ];
        let in_order = in_order.into_iter();
        PropertyMatcher {
            name: PropertyName::new(&self.key),
            exists: self.exists,
            is_absent: self.equals == Some(Value::Null),
            equals: self
                .equals
                .as_ref()
                .filter(|wanted| !wanted.is_null())
                .map(Expected::new),
            contains: self.contains.as_deref().map(fold_name),
            in_order: in_order
                .filter_map(|(wanted, fits)| Some((Expected::new(wanted.as_ref()?), fits)))
                .collect(),
        }
    }
}

/// Whether the result of a comparison passes a test.
type OrderTest = fn(Ordering) -> bool;

/// A [`PropertyTest`] with folded names and values.
pub struct PropertyMatcher<'t> {
    name: PropertyName<'t>,
    exists: Option<bool>,
    is_absent: bool,
    equals: Option<Expected<'t>>,
    contains: Option<String>,
    in_order: Vec<(Expected<'t>, OrderTest)>,
}

impl PropertyMatcher<'_> {
    /// Whether a note with these properties passes the test.
    pub fn holds(&self, properties: Option<&Map<String, Value>>) -> bool {
        let value = properties
            .and_then(|properties| self.name.find(properties))
            .filter(|value| !is_empty(value));
        if self.exists.is_some_and(|exists| exists != value.is_some()) {
            return false;
        }
        if self.is_absent && value.is_some() {
            return false;
        }
        let is_so =
            |test: &dyn Fn(&Value) -> bool| value.is_some_and(|value| any_item(value, test));
        self.equals.as_ref().is_none_or(|wanted| {
            value.is_some_and(|value| is_same_list(value, wanted.value))
                || is_so(&|value| wanted.is_equal(value))
        }) && self.contains.as_ref().is_none_or(|wanted| {
            is_so(&|value| text(value).is_some_and(|text| folded(text).contains(wanted.as_str())))
        }) && self
            .in_order
            .iter()
            .all(|(wanted, fits)| is_so(&|value| wanted.order_of(value).is_some_and(fits)))
    }
}

/// The expected value of a comparison.
struct Expected<'t> {
    value: &'t Value,
    number: Option<f64>,
    text: Option<ExpectedText>,
}

/// The folded text of an expected value.
struct ExpectedText {
    whole: String,
    /// The target, if it is a link.
    target: String,
    stem: String,
}

impl<'t> Expected<'t> {
    fn new(value: &'t Value) -> Expected<'t> {
        Expected {
            value,
            number: number(value),
            text: text(value).map(|text| {
                let target = fold_name(linked(&text));
                ExpectedText {
                    stem: stem_of(&target).to_owned(),
                    target,
                    whole: fold_name(&text),
                }
            }),
        }
    }

    fn is_equal(&self, value: &Value) -> bool {
        if let (Some(number), Some(wanted)) = (number(value), self.number) {
            return number == wanted;
        }
        let (Some(text), Some(wanted)) = (text(value), &self.text) else {
            return value == self.value;
        };
        // A link also equals the bare name of its note.
        let is_link = value.is_string() && text.trim().starts_with("[[");
        let target = folded(Cow::Borrowed(linked(&text)));
        target == wanted.target || is_link && stem_of(&target) == wanted.stem
    }

    /// How a value compares with it; `None` if they are not comparable.
    fn order_of(&self, value: &Value) -> Option<Ordering> {
        if let (Some(number), Some(wanted)) = (number(value), self.number) {
            return number.partial_cmp(&wanted);
        }
        let (text, wanted) = (text(value)?, self.text.as_ref()?);
        Some((*folded(text)).cmp(wanted.whole.as_str()))
    }
}

/// The case-insensitive name of a property, nested keys joined with dots; prepared for lookups in many notes.
pub struct PropertyName<'n> {
    name: &'n str,
    folded: String,
    /// The offset of each part in the name, and in the folded name.
    parts: Vec<(usize, usize)>,
}

impl<'n> PropertyName<'n> {
    fn new(name: &'n str) -> PropertyName<'n> {
        let (mut folded, mut parts, mut start) = (String::new(), Vec::new(), 0);
        for part in name.split('.') {
            if start > 0 {
                folded.push('.');
            }
            parts.push((start, folded.len()));
            folded.push_str(&fold_name(part));
            start += part.len() + 1;
        }
        PropertyName {
            name,
            folded,
            parts,
        }
    }

    /// The property of this name. A name with dots may be the literal name of a property, or the path of a nested one; each
    /// mapping on the path is scanned once.
    pub fn find<'p>(&self, properties: &'p Map<String, Value>) -> Option<&'p Value> {
        let mut inside = properties;
        for (number, (start, folded_start)) in self.parts.iter().enumerate() {
            let whole = &self.folded[*folded_start..];
            if let Some(value) = inside.get(whole) {
                return Some(value);
            }
            let first = self.parts.get(number + 1).map(|(next, folded_next)| {
                let written = &self.name[*start..next - 1];
                (written, &self.folded[*folded_start..folded_next - 1])
            });
            let mut nested = first.and_then(|(written, _)| inside.get(written));
            for (known, value) in inside {
                let known: Cow<'_, str> = match known.is_ascii() {
                    true => Cow::Borrowed(known),
                    false => Cow::Owned(fold_name(known)),
                };
                if known.eq_ignore_ascii_case(whole) {
                    return Some(value);
                }
                let is_first = |(_, first): (_, &str)| known.eq_ignore_ascii_case(first);
                if nested.is_none() && first.is_some_and(is_first) {
                    nested = Some(value);
                }
            }
            inside = nested?.as_object()?;
        }
        None
    }

    /// The sort key of a note with these properties; `None` if the property is missing or empty.
    pub fn sort_key<'p>(&self, properties: &'p Map<String, Value>) -> Option<SortKey<'p>> {
        let value = first_with_text(self.find(properties)?)?;
        Some(SortKey::new(value))
    }

    /// The case-folded name: equal folded names refer to the same property, unless a note has keys that differ only in
    /// case.
    pub fn folded(&self) -> &str {
        &self.folded
    }
}

impl SortBy {
    /// The property to sort by, prepared for many notes.
    pub fn property(&self) -> Option<PropertyName<'_>> {
        match self {
            SortBy::Property(name) => Some(PropertyName::new(name)),
            _ => None,
        }
    }
}

/// The property of a name, case-insensitive; nested keys are joined with dots.
pub fn property<'p>(properties: &'p Map<String, Value>, key: &str) -> Option<&'p Value> {
    PropertyName::new(key).find(properties)
}

/// The value to sort a note by: its property, for a list the first non-empty item; `None` if it is empty.
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

/// A sort key, prepared for many comparisons. Numbers come first, then everything else as text.
#[derive(Debug)]
pub enum SortKey<'p> {
    /// A number, or a text that is one.
    Number(f64),
    /// Any other text, folded.
    Text(Cow<'p, str>),
}

impl<'p> SortKey<'p> {
    fn new(value: &'p Value) -> SortKey<'p> {
        match number(value) {
            Some(number) => SortKey::Number(number),
            None => SortKey::Text(text(value).map_or(Cow::Borrowed(""), folded)),
        }
    }

    /// The order of two keys.
    pub fn order(&self, other: &SortKey<'_>) -> Ordering {
        match (self, other) {
            (SortKey::Number(one), SortKey::Number(other)) => one.total_cmp(other),
            (SortKey::Number(_), SortKey::Text(_)) => Ordering::Less,
            (SortKey::Text(_), SortKey::Number(_)) => Ordering::Greater,
            (SortKey::Text(one), SortKey::Text(other)) => one.cmp(other),
        }
    }

    /// The number of bytes that a comparison may read.
    pub fn bytes(&self) -> usize {
        match self {
            SortKey::Number(_) => 0,
            SortKey::Text(text) => text.len(),
        }
    }
}

/// The order of two sort values: numbers, then everything else as text.
pub fn order(one: &Value, other: &Value) -> Ordering {
    SortKey::new(one).order(&SortKey::new(other))
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
                    .all(|(item, wanted)| Expected::new(wanted).is_equal(item))
        }
        _ => false,
    }
}

/// The target of a link in a property; any other text unchanged.
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

fn text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Number(number) => Some(Cow::Owned(number.to_string())),
        Value::Bool(boolean) => Some(Cow::Borrowed(if *boolean { "true" } else { "false" })),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The folded text. Most values are already folded, and are not copied.
fn folded(text: Cow<'_, str>) -> Cow<'_, str> {
    let is_folded = |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase();
    match text.bytes().all(is_folded) {
        true => text,
        false => Cow::Owned(fold_name(&text)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn holds(properties: Value, test: Value) -> bool {
        let test: PropertyTest = serde_json::from_value(test).unwrap();
        test.holds(properties.as_object())
    }

    #[test]
    fn values_compare_by_type() {
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

    /// The reference implementation of [`property`].
    fn by_scan<'p>(properties: &'p Map<String, Value>, key: &str) -> Option<&'p Value> {
        let named = |name: &str| {
            properties.get(name).or_else(|| {
                let mut others = properties.iter();
                others
                    .find(|(known, _)| fold_name(known) == fold_name(name))
                    .map(|(_, value)| value)
            })
        };
        named(&fold_name(key)).or_else(|| {
            let (first, rest) = key.split_once('.')?;
            by_scan(named(first)?.as_object()?, rest)
        })
    }

    fn properties() -> impl Strategy<Value = Map<String, Value>> {
        let leaf = (0..9).prop_map(Value::from);
        let value = leaf.prop_recursive(3, 24, 4, |inner| {
            prop::collection::vec((prop::sample::select(NAMES), inner), 0..5).prop_map(|fields| {
                let fields = fields.into_iter();
                Value::Object(fields.map(|(key, value)| (key.to_owned(), value)).collect())
            })
        });
        prop::collection::vec((prop::sample::select(NAMES), value), 0..6).prop_map(|fields| {
            let fields = fields.into_iter();
            fields.map(|(key, value)| (key.to_owned(), value)).collect()
        })
    }

    const NAMES: &[&str] = &[
        "a",
        "A",
        "b",
        "a.b",
        "A.B",
        "b.a",
        "a.b.a",
        "",
        ".",
        "cafe\u{301}",
        "Café",
        "café.a",
        "\u{212a}",
        "k",
        "\u{301}a",
    ];

    proptest! {
        #[test]
        fn property_name_lookup_equals_a_plain_scan(
            properties in properties(),
            parts in prop::collection::vec(prop::sample::select(NAMES), 1..4),
        ) {
            let key = parts.join(".");
            prop_assert_eq!(property(&properties, &key), by_scan(&properties, &key), "{}", key);
        }
    }

    #[test]
    fn sort_keys_order_numbers_before_texts_and_fold_texts() {
        let mut values = [json!("b"), json!("A"), json!("10"), json!(9), json!(true)];
        values.sort_by(order);
        let expected = [json!(9), json!("10"), json!("A"), json!("b"), json!(true)];
        assert_eq!(values, expected);
    }
}
