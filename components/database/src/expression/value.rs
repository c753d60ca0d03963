//! The values of expressions, with their conversions to text and JSON and their order.

use super::Pattern;
use super::dates::{Date, Duration, parse_date};
use notehost_sdk::fold_name;
use notehost_sdk::serde_json::{Map, Value as Json, json};
use std::cmp::Ordering;
use std::rc::Rc;

/// Maximum size of a value in items; a long text counts as several.
const HEAVIEST: usize = 200_000;
/// Maximum nesting depth of lists.
const MAX_DEPTH: usize = 32;
/// Maximum length of a text in bytes.
pub(super) const MAX_TEXT_BYTES: usize = 1 << 20;

/// A value. Copies are cheap.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(f64),
    Text(Rc<str>),
    Date(Date),
    Duration(Duration),
    Link(Rc<Link>),
    /// A file of the vault, by its path.
    File(Rc<str>),
    List(List),
    Object(Rc<Map<String, Json>>),
    Pattern(Rc<Pattern>),
}

/// A link from a property or from `link()`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    /// Without brackets, including the fragment.
    pub(crate) target: String,
    /// The display text.
    pub(crate) display: Option<String>,
    /// Whether the target is outside the vault.
    pub(crate) is_external: bool,
}

impl Link {
    /// Parses `[[target|display]]`.
    pub(crate) fn parse(text: &str) -> Option<Link> {
        let inner = text.trim().strip_prefix("[[")?.strip_suffix("]]")?;
        if inner.is_empty() || inner.contains(['\n', '[', ']']) {
            return None;
        }
        let (target, display) = match inner.split_once('|') {
            Some((target, display)) => (target, Some(display.to_owned())),
            None => (inner, None),
        };
        Some(Link {
            target: target.trim().to_owned(),
            display,
            is_external: false,
        })
    }

    /// The target without the fragment.
    pub(crate) fn file(&self) -> &str {
        self.target.split('#').next().unwrap_or_default()
    }

    fn written(&self) -> String {
        match (&self.display, self.is_external) {
            (Some(display), true) => format!("[{display}]({})", self.target),
            (None, true) => self.target.clone(),
            (Some(display), false) => format!("[[{}|{display}]]", self.target),
            (None, false) => format!("[[{}]]", self.target),
        }
    }
}

/// A list that tracks its size, so that expressions cannot exhaust memory.
#[derive(Debug, Clone)]
pub(crate) struct List {
    items: Rc<[Value]>,
    weight: usize,
    depth: usize,
}

impl List {
    pub(crate) fn new(items: Vec<Value>) -> Result<List, String> {
        let weight = items
            .iter()
            .map(Value::weight)
            .fold(1, usize::saturating_add);
        let depth = items.iter().map(Value::depth).max().unwrap_or_default() + 1;
        if weight > HEAVIEST {
            return Err("list is too large".to_owned());
        }
        if depth > MAX_DEPTH {
            return Err(format!("lists are nested more than {MAX_DEPTH} deep"));
        }
        Ok(List {
            items: items.into(),
            weight,
            depth,
        })
    }

    pub(crate) fn items(&self) -> &[Value] {
        &self.items
    }
}

impl Value {
    pub(crate) fn text(text: impl Into<Rc<str>>) -> Value {
        Value::Text(text.into())
    }

    /// A concatenated text, checked for length.
    pub(super) fn bounded_text(text: String) -> Result<Value, String> {
        match text.len() > MAX_TEXT_BYTES {
            true => Err("text is too long".to_owned()),
            false => Ok(Value::text(text)),
        }
    }

    pub(crate) fn list(items: Vec<Value>) -> Result<Value, String> {
        List::new(items).map(Value::List)
    }

    /// The value of a property. Text that is a link or a date is parsed, unless the owner declared the property as
    /// text.
    pub(crate) fn of_property(json: &Json, owners_type: Option<&str>) -> Value {
        let is_text = matches!(owners_type, Some("text" | "multitext" | "tags" | "aliases"));
        match json {
            Json::Null => Value::Null,
            Json::Bool(truth) => Value::Bool(*truth),
            Json::Number(number) => Value::Number(number.as_f64().unwrap_or(f64::NAN)),
            Json::String(text) => {
                if let Some(link) = Link::parse(text) {
                    return Value::Link(Rc::new(link));
                }
                match parse_date(text) {
                    Some(date) if !is_text => Value::Date(date),
                    _ => Value::text(text.as_str()),
                }
            }
            Json::Array(items) => {
                let items = items
                    .iter()
                    .map(|item| Value::of_property(item, owners_type));
                Value::list(items.collect()).unwrap_or(Value::Null)
            }
            Json::Object(map) => Value::Object(Rc::new(map.clone())),
        }
    }

    fn weight(&self) -> usize {
        match self {
            Value::Text(text) => 1 + text.len() / 32,
            Value::List(list) => list.weight,
            Value::Object(map) => 1 + map.len(),
            _ => 1,
        }
    }

    fn depth(&self) -> usize {
        match self {
            Value::List(list) => list.depth,
            _ => 0,
        }
    }

    /// The type name, as used by `isType`.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::Text(_) => "string",
            Value::Date(_) => "date",
            Value::Duration(_) => "duration",
            Value::Link(_) => "link",
            Value::File(_) => "file",
            Value::List(_) => "list",
            Value::Object(_) => "object",
            Value::Pattern(_) => "regexp",
        }
    }

    pub(crate) fn is_truthy(&self) -> bool {
        match self {
            Value::Null => false,
            Value::Bool(truth) => *truth,
            Value::Number(number) => *number != 0.0 && !number.is_nan(),
            Value::Text(text) => !text.is_empty(),
            Value::List(list) => !list.items.is_empty(),
            Value::Object(map) => !map.is_empty(),
            Value::Duration(duration) => duration.milliseconds() != 0.0,
            Value::Date(_) | Value::Link(_) | Value::File(_) | Value::Pattern(_) => true,
        }
    }

    /// Whether it is empty.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Value::Null => true,
            Value::Text(text) => text.trim().is_empty(),
            Value::List(list) => list.items.is_empty(),
            Value::Object(map) => map.is_empty(),
            _ => false,
        }
    }

    /// The value as a number, if it is one.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(*number),
            Value::Duration(duration) => Some(duration.milliseconds()),
            _ => None,
        }
    }

    /// The display text.
    pub(crate) fn display_text(&self) -> String {
        match self {
            Value::Null => String::new(),
            Value::Bool(truth) => truth.to_string(),
            Value::Number(number) => number_text(*number),
            Value::Text(text) => text.to_string(),
            Value::Date(date) => date.text(),
            Value::Duration(duration) => number_text(duration.milliseconds()),
            Value::Link(link) => link.written(),
            Value::File(path) => file_link(path),
            Value::List(list) => {
                let items: Vec<String> = list.items.iter().map(Value::display_text).collect();
                items.join(", ")
            }
            Value::Object(map) => Json::Object((**map).clone()).to_string(),
            Value::Pattern(pattern) => format!("/{}/", pattern.source),
        }
    }

    /// The value as JSON, as in frontmatter.
    pub(crate) fn json(&self) -> Json {
        match self {
            Value::Null => Json::Null,
            Value::Bool(truth) => Json::Bool(*truth),
            Value::Number(number) => number_json(*number),
            Value::Duration(duration) => number_json(duration.milliseconds()),
            Value::List(list) => list.items.iter().map(Value::json).collect(),
            Value::Object(map) => Json::Object((**map).clone()),
            other => Json::String(other.display_text()),
        }
    }

    /// The sort order of column values: numbers, dates, text, other types, and empty values last.
    pub(crate) fn order(&self, other: &Value) -> Ordering {
        let rank = |value: &Value| match value {
            value if value.is_empty() => 9,
            Value::Bool(_) => 0,
            Value::Number(_) | Value::Duration(_) => 1,
            Value::Date(_) => 2,
            _ => 3,
        };
        let ranks = rank(self).cmp(&rank(other));
        if ranks.is_ne() || self.is_empty() {
            return ranks;
        }
        match (self, other) {
            (Value::Bool(one), Value::Bool(other)) => one.cmp(other),
            (Value::Date(one), Value::Date(other)) => one.milliseconds.cmp(&other.milliseconds),
            (one, other) => match (one.number(), other.number()) {
                (Some(one), Some(other)) => one.total_cmp(&other),
                _ => {
                    let (one, other) = (one.sort_text(), other.sort_text());
                    natural(&fold_name(&one), &fold_name(&other)).then_with(|| one.cmp(&other))
                }
            },
        }
    }

    /// The sort key: links sort by their display text.
    fn sort_text(&self) -> String {
        match self {
            Value::Link(link) => link.display.clone().unwrap_or_else(|| link.target.clone()),
            Value::List(list) => list
                .items
                .iter()
                .map(Value::sort_text)
                .collect::<Vec<_>>()
                .join(", "),
            other => other.display_text(),
        }
    }
}

/// The link to a file: notes without `.md`.
pub(crate) fn file_link(path: &str) -> String {
    format!("[[{}]]", path.strip_suffix(".md").unwrap_or(path))
}

/// Formats a number for display.
pub(crate) fn number_text(number: f64) -> String {
    number_json(number)
        .as_str()
        .map_or_else(|| number_json(number).to_string(), str::to_owned)
}

/// A number as JSON: integers without a fraction, non-finite numbers as text.
fn number_json(number: f64) -> Json {
    let is_whole = number.fract() == 0.0 && number.abs() < 9e15;
    match is_whole {
        true => json!(number as i64),
        false if number.is_finite() => {
            // Round off artefacts of binary fractions.
            let rounded = format!("{number:.12}").parse::<f64>().unwrap_or(number);
            let is_close = (rounded - number).abs() <= number.abs() * 1e-14;
            json!(if is_close { rounded } else { number })
        }
        false => Json::String(
            if number.is_nan() {
                "NaN"
            } else if number > 0.0 {
                "Infinity"
            } else {
                "-Infinity"
            }
            .to_owned(),
        ),
    }
}

/// Natural order of texts: `item 2` before `item 10`.
fn natural(one: &str, other: &str) -> Ordering {
    let (mut one, mut other) = (one, other);
    loop {
        let (Some(first), Some(second)) = (one.chars().next(), other.chars().next()) else {
            return one.len().cmp(&other.len());
        };
        if first.is_ascii_digit() && second.is_ascii_digit() {
            let run = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
            let (left, right) = (&one[..run(one)], &other[..run(other)]);
            let (short, long) = (left.trim_start_matches('0'), right.trim_start_matches('0'));
            let order = short.len().cmp(&long.len()).then_with(|| short.cmp(long));
            if order.is_ne() {
                return order;
            }
            (one, other) = (&one[left.len()..], &other[right.len()..]);
            continue;
        }
        if first != second {
            return first.cmp(&second);
        }
        (one, other) = (&one[first.len_utf8()..], &other[second.len_utf8()..]);
    }
}
