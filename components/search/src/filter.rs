//! Parses JSON filters: `{"status": "open", "due": {"<": "+7d"}, "or": [{"tag": "work"}, {"path": "Work/**"}]}`.
//!
//! All keys of an object must match. `and`, `or` and `not` contain filters; some keys are about the file, every other
//! key is a property. A value is the expected value (a list: any of these; `null`: not set), or an object of operators.

use notehost_sdk::host::Now;
use notehost_sdk::index::{Condition, Has, PropertyTest, Span};
use notehost_sdk::prelude::*;
use notehost_sdk::serde_json::{self, Map, Value};
use notehost_sdk::{quoted, stem_of};

use crate::query;
use notehost_sdk::dates::{self, TimeRange};
use notehost_sdk::matching::{self, Place};

/// The maximum nesting depth of filters.
const MAX_DEPTH: usize = 24;
/// The last Unicode code point: `prefix` + this is the upper bound of a prefix range.
const MAX_CHAR: char = '\u{10ffff}';

const OPERATORS: &str = "`=`, `!=`, `>`, `>=`, `<`, `<=`, `contains`, `starts_with`, `in`, `exists` (also `eq`, `ne`, `gt`, `gte`, `lt`, `lte`)";

/// The values of `has`.
const HAS: [(&str, Has); 11] = [
    ("tags", Has::Tags),
    ("properties", Has::Properties),
    ("aliases", Has::Aliases),
    ("headings", Has::Headings),
    ("links", Has::Links),
    ("broken_links", Has::BrokenLinks),
    ("backlinks", Has::Backlinks),
    ("embeds", Has::Embeds),
    ("blocks", Has::Blocks),
    ("tasks", Has::Tasks),
    ("open_tasks", Has::OpenTasks),
];

/// Parses a filter into a condition.
pub(crate) fn condition(
    vault: &Vault,
    filter: &Map<String, Value>,
    now: &Now,
) -> Result<Condition> {
    FilterParser { vault, now }.object(filter, 0)
}

struct FilterParser<'v> {
    vault: &'v Vault,
    now: &'v Now,
}

impl FilterParser<'_> {
    fn object(&self, filter: &Map<String, Value>, depth: usize) -> Result<Condition> {
        if depth > MAX_DEPTH {
            return Err(Error::validation(format!(
                "`filter` is nested more than {MAX_DEPTH} levels deep"
            )));
        }
        let mut conditions = filter
            .iter()
            .map(|(key, value)| self.key(key, value, depth))
            .collect::<Result<Vec<_>>>()?;
        Ok(match conditions.len() {
            1 => conditions.remove(0),
            _ => Condition::All(conditions),
        })
    }

    fn key(&self, key: &str, value: &Value, depth: usize) -> Result<Condition> {
        match key {
            "and" => Ok(Condition::All(self.list(key, value, depth)?)),
            "or" => Ok(Condition::Any(self.list(key, value, depth)?)),
            "not" => {
                let inner = Condition::All(self.list(key, value, depth)?);
                Ok(Condition::Not(Box::new(inner)))
            }
            "tag" | "tags" | "file.tags" => string_condition(key, value, &|tag| {
                let name = tag.trim().trim_start_matches('#').trim_end_matches('/');
                match name {
                    "" => Err(invalid(key, value, "a tag name")),
                    name => Ok(Condition::Tag(name.to_owned())),
                }
            }),
            "path" | "file.path" => string_condition(key, value, &|path| {
                if matching::is_glob(path) {
                    matching::glob(path)?;
                    return Ok(Condition::Path(path.to_owned()));
                }
                self.place(path)
            }),
            "folder" | "file.folder" => string_condition(key, value, &|path| self.place(path)),
            "file.name" => string_condition(key, value, &|name| {
                let name = match matching::is_glob(name) {
                    true => name.to_owned(),
                    false => matching::escape(stem_of(name)),
                };
                matching::glob(&name)?;
                Ok(Condition::Path(format!("**/{name}.md")))
            }),
            "links_to" | "file.links" => {
                string_condition(key, value, &|path| Ok(Condition::LinksTo(self.file(path)?)))
            }
            "linked_from" | "file.backlinks" => string_condition(key, value, &|path| {
                Ok(Condition::LinkedFrom(self.vault.find_note(path)?))
            }),
            "has" | "file.has" => {
                string_condition(key, value, &|what| Ok(Condition::Has(has(what)?)))
            }
            "text" | "file.text" => {
                string_condition(key, value, &|text| query::parse(text, self.now))
            }
            "file.modified" => self.modified(value),
            "file.size" => size(value),
            key => match key.strip_prefix("file.") {
                Some(_) => Err(Error::validation(format!(
                    "`filter` has the unknown key `{key}`: the file keys are `file.name`, `file.path`, `file.folder`, `file.tags`, `file.modified`, `file.size`, `file.links`, `file.backlinks`, `file.has`, `file.text`"
                ))),
                None => property(key.strip_prefix("note.").unwrap_or(key), value, self.now),
            },
        }
    }

    /// A list of filters, or one filter.
    fn list(&self, key: &str, value: &Value, depth: usize) -> Result<Vec<Condition>> {
        let filters = match value {
            Value::Array(filters) => filters.iter().collect(),
            filter => vec![filter],
        };
        filters
            .into_iter()
            .map(|filter| match filter {
                Value::Object(filter) => self.object(filter, depth + 1),
                other => Err(invalid(key, other, "a filter or a list of filters")),
            })
            .collect()
    }

    fn place(&self, path: &str) -> Result<Condition> {
        let place = Place::find(self.vault, Some(path))?;
        Ok(place.condition().unwrap_or(Condition::All(Vec::new())))
    }

    /// Resolves the path of an existing file, note or not.
    fn file(&self, name: &str) -> Result<String> {
        match self.vault.stat(name.trim()) {
            Ok(entry) if entry.kind == notehost_sdk::Kind::File => Ok(entry.path),
            _ => self.vault.find_note(name),
        }
    }

    /// The condition on the modification time.
    fn modified(&self, value: &Value) -> Result<Condition> {
        let time = |value: &Value| -> Result<TimeRange> {
            let found = match value {
                Value::String(text) => dates::parse_time_range(text, self.now),
                Value::Number(number) => {
                    number.as_u64().map(|from| TimeRange { from, to: from + 1 })
                }
                _ => None,
            };
            found.ok_or_else(|| invalid("file.modified", value, dates::TIME_FORMATS))
        };
        spans("file.modified", value, &time)
            .map(|spans| Condition::All(spans.into_iter().map(Condition::Modified).collect()))
    }
}

fn size(value: &Value) -> Result<Condition> {
    let bytes = |value: &Value| {
        let exactly = |from| TimeRange { from, to: from + 1 };
        let bytes = value
            .as_u64()
            .filter(|bytes| *bytes < u64::MAX)
            .map(exactly);
        bytes.ok_or_else(|| invalid("file.size", value, "a number of bytes"))
    };
    let spans = spans("file.size", value, &bytes)?;
    Ok(Condition::All(
        spans.into_iter().map(Condition::Size).collect(),
    ))
}

/// Turns comparison operators on a measurable value into ranges.
fn spans(
    key: &str,
    value: &Value,
    parse: &dyn Fn(&Value) -> Result<TimeRange>,
) -> Result<Vec<Span>> {
    let Value::Object(operators) = value else {
        let exact = parse(value)?;
        return Ok(vec![Span {
            from: Some(exact.from),
            to: Some(exact.to),
        }]);
    };
    operators
        .iter()
        .map(|(operator, value)| {
            let (mut from, mut to) = (None, None);
            match operator.as_str() {
                ">" | "gt" | "after" => from = Some(parse(value)?.to),
                ">=" | "gte" | "from" => from = Some(parse(value)?.from),
                "<" | "lt" | "before" => to = Some(parse(value)?.from),
                "<=" | "lte" | "until" => to = Some(parse(value)?.to),
                "=" | "eq" => {
                    let exact = parse(value)?;
                    (from, to) = (Some(exact.from), Some(exact.to));
                }
                _ => {
                    return Err(Error::validation(format!(
                        "unknown operator `{operator}` for `{key}`: use `=`, `>`, `>=`, `<`, `<=`"
                    )));
                }
            }
            Ok(Span { from, to })
        })
        .collect()
}

/// A string, a list of alternatives, or operators: `{"all": […]}`, `{"!=": …}`.
fn string_condition(
    key: &str,
    value: &Value,
    one: &dyn Fn(&str) -> Result<Condition>,
) -> Result<Condition> {
    let each = |values: &[Value]| -> Result<Vec<Condition>> {
        let texts = values.iter().map(|value| match value {
            Value::String(text) => one(text),
            other => Err(invalid(key, other, "a string or a list of strings")),
        });
        texts.collect()
    };
    match value {
        Value::String(text) => one(text),
        Value::Array(values) => Ok(Condition::Any(each(values)?)),
        Value::Object(operators) => {
            let conditions = operators.iter().map(|(operator, value)| {
                let values = match value {
                    Value::Array(values) => values.clone(),
                    value => vec![value.clone()],
                };
                let conditions = each(&values)?;
                match operator.as_str() {
                    "=" | "eq" | "in" | "any" => Ok(Condition::Any(conditions)),
                    "all" => Ok(Condition::All(conditions)),
                    "!=" | "ne" | "not" => Ok(Condition::Not(Box::new(Condition::Any(conditions)))),
                    _ => Err(Error::validation(format!(
                        "unknown operator `{operator}` for `{key}`: use `any`, `all`, `not`"
                    ))),
                }
            });
            Ok(Condition::All(conditions.collect::<Result<_>>()?))
        }
        other => Err(invalid(key, other, "a string or a list of strings")),
    }
}

/// The condition on a property.
pub(crate) fn property(key: &str, value: &Value, now: &Now) -> Result<Condition> {
    if key.trim().is_empty() {
        return Err(Error::validation(
            "`filter` has a property with an empty name",
        ));
    }
    match value {
        Value::Null => Ok(exists(key, false)),
        Value::Array(values) => one_of(key, values, now),
        Value::Object(operators) if operators.is_empty() => Err(Error::validation(format!(
            "`{key}` has no operator: use {OPERATORS}"
        ))),
        Value::Object(operators) => {
            let tests = operators
                .iter()
                .map(|(operator, value)| operation(key, operator, value, now));
            Ok(Condition::All(tests.collect::<Result<_>>()?))
        }
        value => Ok(equal(key, value, now)),
    }
}

fn operation(key: &str, operator: &str, value: &Value, now: &Now) -> Result<Condition> {
    let mut test = PropertyTest {
        key: key.to_owned(),
        ..PropertyTest::default()
    };
    let scalar = |value: &Value| match value {
        Value::String(_) | Value::Number(_) | Value::Bool(_) => Ok(resolve_date(value, now)),
        other => Err(invalid(key, other, "a string or number to compare with")),
    };
    let text = |value: &Value| match value {
        Value::String(text) if !text.is_empty() => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        other => Err(invalid(key, other, "a string")),
    };
    match operator {
        "=" | "eq" | "equals" => return property_is(key, value, now),
        "!=" | "ne" => return Ok(Condition::Not(Box::new(property_is(key, value, now)?))),
        "in" => match value {
            Value::Array(values) => return one_of(key, values, now),
            other => return Err(invalid(key, other, "a list of values for `in`")),
        },
        "exists" => match value {
            Value::Bool(exists) => test.exists = Some(*exists),
            other => return Err(invalid(key, other, "`true` or `false` for `exists`")),
        },
        "contains" => test.contains = Some(text(value)?),
        "starts_with" => return Ok(starts_with(key, &text(value)?)),
        ">" | "gt" | "after" => test.greater = Some(scalar(value)?),
        ">=" | "gte" | "from" => test.at_least = Some(scalar(value)?),
        "<" | "lt" | "before" => test.less = Some(scalar(value)?),
        "<=" | "lte" | "until" => test.at_most = Some(scalar(value)?),
        _ => {
            return Err(Error::validation(format!(
                "unknown operator `{operator}` for `{key}`: use {OPERATORS}; a nested property is written `{key}.{operator}`"
            )));
        }
    }
    Ok(Condition::Property(test.into()))
}

fn property_is(key: &str, value: &Value, now: &Now) -> Result<Condition> {
    match value {
        Value::Object(_) => Err(invalid(key, value, "a string, number, boolean or `null`")),
        value => property(key, value, now),
    }
}

fn one_of(key: &str, values: &[Value], now: &Now) -> Result<Condition> {
    let choices = values.iter().map(|value| match value {
        Value::Array(_) | Value::Object(_) => {
            Err(invalid(key, value, "strings and numbers in the list"))
        }
        value => property(key, value, now),
    });
    Ok(Condition::Any(choices.collect::<Result<_>>()?))
}

/// The condition that a property is set, or is not set.
pub(crate) fn exists(key: &str, exists: bool) -> Condition {
    Condition::Property(Box::new(PropertyTest {
        key: key.to_owned(),
        exists: Some(exists),
        ..PropertyTest::default()
    }))
}

/// The condition that a property equals a value. A relative date such as `today` matches that text or the date.
pub(crate) fn equal(key: &str, value: &Value, now: &Now) -> Condition {
    let is = |value: &Value| {
        Condition::Property(Box::new(PropertyTest {
            key: key.to_owned(),
            equals: Some(value.clone()),
            ..PropertyTest::default()
        }))
    };
    match resolve_date(value, now) {
        same if same == *value => is(value),
        date => Condition::Any(vec![is(value), is(&date)]),
    }
}

/// The condition that a property starts with a text.
pub(crate) fn starts_with(key: &str, text: &str) -> Condition {
    Condition::Property(Box::new(PropertyTest {
        key: key.to_owned(),
        at_least: Some(json!(text)),
        less: Some(json!(format!("{text}{MAX_CHAR}"))),
        ..PropertyTest::default()
    }))
}

/// A value to compare with; a relative date becomes an absolute one.
pub(crate) fn resolve_date(value: &Value, now: &Now) -> Value {
    let date = value
        .as_str()
        .and_then(|text| dates::relative_date(text, now));
    date.map_or_else(|| value.clone(), Value::String)
}

/// Parses an unquoted value: a number, a boolean or a string.
pub(crate) fn parse_value(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(value @ (Value::Number(_) | Value::Bool(_))) => value,
        _ => Value::String(text.to_owned()),
    }
}

/// Parses a value of `has`; `task` is accepted for `tasks`.
pub(crate) fn has(word: &str) -> Result<Has> {
    let word_folded = word.trim().to_lowercase();
    let known = HAS.iter().find(|(name, _)| {
        *name == word_folded
            || name.strip_suffix('s') == Some(&word_folded)
            || singular(name) == word_folded
    });
    known.map(|(_, has)| *has).ok_or_else(|| {
        Error::validation(format!(
            "invalid value `{word}` for `has`: use one of {}",
            quoted(HAS.iter().map(|(name, _)| name))
        ))
    })
}

/// The irregular singulars.
fn singular(name: &str) -> &str {
    match name {
        "properties" => "property",
        "aliases" => "alias",
        name => name,
    }
}

fn invalid(key: &str, value: &Value, expected: &str) -> Error {
    Error::validation(format!("`{key}` is `{value}`, expected {expected}"))
}
