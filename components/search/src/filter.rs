//! What a JSON filter means: `{"status": "open", "due": {"<": "+7d"}, "or": [{"tag": "work"}, {"path": "Work/**"}]}`.
//!
//! Keys of one object must all hold. `and`, `or` and `not` hold filters; some keys are about the file, every other one is
//! a property. A value is what it must be (a list: one of these; `null`: it is not there), or an object of operators.

use notehost_sdk::host::Now;
use notehost_sdk::index::{Condition, Has, PropertyTest, Span};
use notehost_sdk::prelude::*;
use notehost_sdk::serde_json::{self, Map, Value};
use notehost_sdk::stem_of;

use crate::query;
use notehost_sdk::dates::{self, TimeRange};
use notehost_sdk::matching::{self, Place};

/// How deep filters may be nested.
const DEEPEST: usize = 24;
/// After every text that begins with another: nothing comes behind it but the end of Unicode.
const LAST: char = '\u{10ffff}';

const OPERATORS: &str = "`=`, `!=`, `>`, `>=`, `<`, `<=`, `contains`, `starts_with`, `in`, `exists` (also `eq`, `ne`, `gt`, `gte`, `lt`, `lte`)";

/// The things that a note may have, as callers write them.
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

/// The condition that a filter stands for.
pub(crate) fn condition(
    vault: &Vault,
    filter: &Map<String, Value>,
    now: &Now,
) -> Result<Condition> {
    Reader { vault, now }.object(filter, 0)
}

struct Reader<'v> {
    vault: &'v Vault,
    now: &'v Now,
}

impl Reader<'_> {
    fn object(&self, filter: &Map<String, Value>, depth: usize) -> Result<Condition> {
        if depth > DEEPEST {
            return Err(Error::validation(format!(
                "`filter` is nested more than {DEEPEST} deep"
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
            "tag" | "tags" | "file.tags" => several(key, value, &|tag| {
                let name = tag.trim().trim_start_matches('#').trim_end_matches('/');
                match name {
                    "" => Err(wrong(key, value, "the name of a tag")),
                    name => Ok(Condition::Tag(name.to_owned())),
                }
            }),
            "path" | "file.path" => several(key, value, &|path| {
                if matching::is_glob(path) {
                    matching::glob(path)?;
                    return Ok(Condition::Path(path.to_owned()));
                }
                self.place(path)
            }),
            "folder" | "file.folder" => several(key, value, &|path| self.place(path)),
            "file.name" => several(key, value, &|name| {
                let name = match matching::is_glob(name) {
                    true => name.to_owned(),
                    false => matching::escape(stem_of(name)),
                };
                matching::glob(&name)?;
                Ok(Condition::Path(format!("**/{name}.md")))
            }),
            "links_to" | "file.links" => {
                several(key, value, &|path| Ok(Condition::LinksTo(self.file(path)?)))
            }
            "linked_from" | "file.backlinks" => several(key, value, &|path| {
                Ok(Condition::LinkedFrom(self.vault.find_note(path)?))
            }),
            "has" | "file.has" => several(key, value, &|what| Ok(Condition::Has(has(what)?))),
            "text" | "file.text" => several(key, value, &|text| query::parse(text, self.now)),
            "file.modified" => self.modified(value),
            "file.size" => size(value),
            key => match key.strip_prefix("file.") {
                Some(_) => Err(Error::validation(format!(
                    "`filter` has `{key}`, which is nothing of a file: there are `file.name`, `file.path`, `file.folder`, `file.tags`, `file.modified`, `file.size`, `file.links`, `file.backlinks`, `file.has`, `file.text`"
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
                other => Err(wrong(key, other, "a filter, or a list of filters")),
            })
            .collect()
    }

    fn place(&self, path: &str) -> Result<Condition> {
        let place = Place::find(self.vault, Some(path))?;
        Ok(place.condition().unwrap_or(Condition::All(Vec::new())))
    }

    /// A file that is there, note or not.
    fn file(&self, name: &str) -> Result<String> {
        match self.vault.stat(name.trim()) {
            Ok(entry) if entry.kind == notehost_sdk::Kind::File => Ok(entry.path),
            _ => self.vault.find_note(name),
        }
    }

    /// When a note was changed.
    fn modified(&self, value: &Value) -> Result<Condition> {
        let time = |value: &Value| -> Result<TimeRange> {
            let found = match value {
                Value::String(text) => dates::parse_time_range(text, self.now),
                Value::Number(number) => {
                    number.as_u64().map(|from| TimeRange { from, to: from + 1 })
                }
                _ => None,
            };
            found.ok_or_else(|| wrong("file.modified", value, dates::TIME_FORMATS))
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
        bytes.ok_or_else(|| wrong("file.size", value, "a number of bytes"))
    };
    let spans = spans("file.size", value, &bytes)?;
    Ok(Condition::All(
        spans.into_iter().map(Condition::Size).collect(),
    ))
}

/// Operators on something that is measured, as spans.
fn spans(
    key: &str,
    value: &Value,
    measure: &dyn Fn(&Value) -> Result<TimeRange>,
) -> Result<Vec<Span>> {
    let Value::Object(operators) = value else {
        let exact = measure(value)?;
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
                ">" | "gt" | "after" => from = Some(measure(value)?.to),
                ">=" | "gte" | "from" => from = Some(measure(value)?.from),
                "<" | "lt" | "before" => to = Some(measure(value)?.from),
                "<=" | "lte" | "until" => to = Some(measure(value)?.to),
                "=" | "eq" => {
                    let exact = measure(value)?;
                    (from, to) = (Some(exact.from), Some(exact.to));
                }
                _ => {
                    return Err(Error::validation(format!(
                        "`{key}` knows no operator `{operator}`: use `=`, `>`, `>=`, `<`, `<=`"
                    )));
                }
            }
            Ok(Span { from, to })
        })
        .collect()
}

/// A text, or one of several; or `{"all": […]}`, `{"!=": …}`.
fn several(key: &str, value: &Value, one: &dyn Fn(&str) -> Result<Condition>) -> Result<Condition> {
    let each = |values: &[Value]| -> Result<Vec<Condition>> {
        let texts = values.iter().map(|value| match value {
            Value::String(text) => one(text),
            other => Err(wrong(key, other, "a text, or a list of texts")),
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
                        "`{key}` knows no operator `{operator}`: use `any`, `all`, `not`"
                    ))),
                }
            });
            Ok(Condition::All(conditions.collect::<Result<_>>()?))
        }
        other => Err(wrong(key, other, "a text, or a list of texts")),
    }
}

/// What a property must be.
pub(crate) fn property(key: &str, value: &Value, now: &Now) -> Result<Condition> {
    if key.trim().is_empty() {
        return Err(Error::validation("a property in the filter has no name"));
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
        Value::String(_) | Value::Number(_) | Value::Bool(_) => Ok(compared(value, now)),
        other => Err(wrong(key, other, "a text or a number to compare with")),
    };
    let text = |value: &Value| match value {
        Value::String(text) if !text.is_empty() => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        other => Err(wrong(key, other, "a text")),
    };
    match operator {
        "=" | "eq" | "equals" => return property_is(key, value, now),
        "!=" | "ne" => return Ok(Condition::Not(Box::new(property_is(key, value, now)?))),
        "in" => match value {
            Value::Array(values) => return one_of(key, values, now),
            other => return Err(wrong(key, other, "a list of values for `in`")),
        },
        "exists" => match value {
            Value::Bool(wanted) => test.exists = Some(*wanted),
            other => return Err(wrong(key, other, "`true` or `false` for `exists`")),
        },
        "contains" => test.contains = Some(text(value)?),
        "starts_with" => return Ok(beginning(key, &text(value)?)),
        ">" | "gt" | "after" => test.greater = Some(scalar(value)?),
        ">=" | "gte" | "from" => test.at_least = Some(scalar(value)?),
        "<" | "lt" | "before" => test.less = Some(scalar(value)?),
        "<=" | "lte" | "until" => test.at_most = Some(scalar(value)?),
        _ => {
            return Err(Error::validation(format!(
                "`{key}` knows no operator `{operator}`: use {OPERATORS}; a nested property is written `{key}.{operator}`"
            )));
        }
    }
    Ok(Condition::Property(test.into()))
}

fn property_is(key: &str, value: &Value, now: &Now) -> Result<Condition> {
    match value {
        Value::Object(_) => Err(wrong(
            key,
            value,
            "a text, a number, `true`, `false` or `null`",
        )),
        value => property(key, value, now),
    }
}

fn one_of(key: &str, values: &[Value], now: &Now) -> Result<Condition> {
    let choices = values.iter().map(|value| match value {
        Value::Array(_) | Value::Object(_) => {
            Err(wrong(key, value, "texts and numbers in the list"))
        }
        value => property(key, value, now),
    });
    Ok(Condition::Any(choices.collect::<Result<_>>()?))
}

/// That a note has a property, or has it not.
pub(crate) fn exists(key: &str, exists: bool) -> Condition {
    Condition::Property(Box::new(PropertyTest {
        key: key.to_owned(),
        exists: Some(exists),
        ..PropertyTest::default()
    }))
}

/// That a property is this. `today` may be that word, or the date.
pub(crate) fn equal(key: &str, value: &Value, now: &Now) -> Condition {
    let is = |value: &Value| {
        Condition::Property(Box::new(PropertyTest {
            key: key.to_owned(),
            equals: Some(value.clone()),
            ..PropertyTest::default()
        }))
    };
    match compared(value, now) {
        same if same == *value => is(value),
        date => Condition::Any(vec![is(value), is(&date)]),
    }
}

/// That a property begins with this text.
pub(crate) fn beginning(key: &str, text: &str) -> Condition {
    Condition::Property(Box::new(PropertyTest {
        key: key.to_owned(),
        at_least: Some(json!(text)),
        less: Some(json!(format!("{text}{LAST}"))),
        ..PropertyTest::default()
    }))
}

/// A value to compare with: a day that is told from today becomes its date.
pub(crate) fn compared(value: &Value, now: &Now) -> Value {
    let date = value
        .as_str()
        .and_then(|text| dates::relative_date(text, now));
    date.map_or_else(|| value.clone(), Value::String)
}

/// What a value means that was written without quotes.
pub(crate) fn value(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(value @ (Value::Number(_) | Value::Bool(_))) => value,
        _ => Value::String(text.to_owned()),
    }
}

/// What a note may have, by its word; `task` is `tasks`.
pub(crate) fn has(word: &str) -> Result<Has> {
    let wanted = word.trim().to_lowercase();
    let known = HAS.iter().find(|(name, _)| {
        *name == wanted || name.strip_suffix('s') == Some(&wanted) || singular(name) == wanted
    });
    known.map(|(_, has)| *has).ok_or_else(|| {
        let words: Vec<String> = HAS.iter().map(|(name, _)| format!("`{name}`")).collect();
        Error::validation(format!(
            "a note cannot be asked whether it has `{word}`: use one of {}",
            words.join(", ")
        ))
    })
}

/// The two words whose singular is not made by leaving out the `s`.
fn singular(name: &str) -> &str {
    match name {
        "properties" => "property",
        "aliases" => "alias",
        name => name,
    }
}

fn wrong(key: &str, value: &Value, expected: &str) -> Error {
    Error::validation(format!("`{key}` is `{value}`, and should be {expected}"))
}
