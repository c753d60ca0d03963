//! Free functions, and the methods of files and links.

use super::dates::Duration;
use super::evaluate::Evaluator;
use super::files::tags;
use super::value::{Link, Value};
use super::{Date, Expression, parse_date};
use notehost_sdk::text::html;
use notehost_sdk::{fold_name, parent_of};
use std::rc::Rc;

/// Calls a free function. The parser has checked the number of arguments.
pub(super) fn call(
    evaluator: &mut Evaluator<'_, '_>,
    name: &str,
    arguments: &[Expression],
) -> Result<Value, String> {
    if name == "if" {
        return match evaluator.compute(&arguments[0])?.is_truthy() {
            true => evaluator.compute(&arguments[1]),
            false => arguments
                .get(2)
                .map_or(Ok(Value::Null), |other| evaluator.compute(other)),
        };
    }
    let values = arguments.iter().map(|argument| evaluator.compute(argument));
    let values: Vec<Value> = values.collect::<Result<_, _>>()?;
    let context = evaluator.context;
    match name {
        "now" => Ok(Value::Date(context.local_now())),
        "today" => Ok(Value::Date(Date::day(context.local_now().days()))),
        "random" => Ok(Value::Number(context.random())),
        "max" | "min" => extreme(name, &values),
        _ => one(evaluator, name, &values[0], values.get(1)),
    }
}

fn one(
    evaluator: &Evaluator<'_, '_>,
    name: &str,
    value: &Value,
    second: Option<&Value>,
) -> Result<Value, String> {
    let context = evaluator.context;
    match (name, value) {
        ("list", Value::List(_)) => Ok(value.clone()),
        ("list", Value::Null) => Value::list(Vec::new()),
        ("list", _) => Value::list(vec![value.clone()]),
        (_, Value::Null) => Ok(Value::Null),
        ("date", Value::Date(_)) => Ok(value.clone()),
        ("date", Value::Number(number)) => Ok(Value::Date(context.local(number.max(0.0) as u64))),
        ("date", Value::Text(text)) => match parse_date(text) {
            Some(date) => Ok(Value::Date(date)),
            None => Err(format!(
                "invalid date `{text}`: write it as `2024-05-31` or `2024-05-31 10:00:00`"
            )),
        },
        ("date", Value::Link(link)) => match parse_date(link.file()) {
            Some(date) => Ok(Value::Date(date)),
            None => Err(format!("invalid date `{}`", link.target)),
        },
        ("duration", Value::Duration(_)) => Ok(value.clone()),
        ("duration", Value::Number(number)) => Ok(Value::Duration(Duration::of(*number as i64))),
        ("duration", Value::Text(text)) => match Duration::parse(text) {
            Some(duration) => Ok(Value::Duration(duration)),
            None => Err(format!(
                "invalid duration `{text}`: write for example `1d`, `2 weeks`, `1h 30m`"
            )),
        },
        ("number", Value::Number(_)) => Ok(value.clone()),
        ("number", Value::Bool(truth)) => Ok(Value::Number(f64::from(u8::from(*truth)))),
        ("number", Value::Date(date)) => {
            let ahead = f64::from(context.now.offset_minutes) * 60_000.0;
            Ok(Value::Number(date.milliseconds as f64 - ahead))
        }
        ("number", Value::Duration(duration)) => Ok(Value::Number(duration.milliseconds())),
        ("number", Value::Text(text)) => match text.trim().parse::<f64>() {
            Ok(number) => Ok(Value::Number(number)),
            Err(_) => Err(format!("invalid number `{text}`")),
        },
        ("file", _) => Ok(context.file_of(value).map_or(Value::Null, Value::File)),
        ("link", Value::Text(_) | Value::Link(_) | Value::File(_)) => {
            let mut link = link_of(value);
            if let Some(display) = second.filter(|display| !display.is_empty()) {
                link.display = Some(display.display_text());
            }
            Ok(Value::Link(Rc::new(link)))
        }
        ("link", _) => Ok(Value::Link(Rc::new(link_of(&Value::text(
            value.display_text(),
        ))))),
        ("image", Value::Text(text)) if text.contains("://") => {
            Value::bounded_text(format!("![]({text})"))
        }
        ("image", _) => Value::bounded_text(format!("!{}", link_of(value).bracketed())),
        ("icon", _) => Value::bounded_text(format!(":{}:", value.display_text())),
        ("html", _) => Value::bounded_text(value.display_text()),
        ("escapeHTML", _) => Value::bounded_text(html::escape(&value.display_text())),
        _ => Err(format!("`{name}` does not accept a {}", value.type_name())),
    }
}

fn link_of(value: &Value) -> Link {
    match value {
        Value::Link(link) => (**link).clone(),
        Value::File(path) => Link {
            target: path.strip_suffix(".md").unwrap_or(path).to_owned(),
            display: None,
            is_external: false,
        },
        other => {
            let text = other.display_text();
            Link::parse(&text).unwrap_or_else(|| Link {
                is_external: text.contains("://"),
                target: text,
                display: None,
            })
        }
    }
}

impl Link {
    fn bracketed(&self) -> String {
        format!("[[{}]]", self.target)
    }
}

fn extreme(name: &str, values: &[Value]) -> Result<Value, String> {
    let flat = values.iter().flat_map(|value| match value {
        Value::List(list) => list.items(),
        single => std::slice::from_ref(single),
    });
    let mut best: Option<&Value> = None;
    for value in flat.filter(|value| !value.is_empty()) {
        if !matches!(
            value,
            Value::Number(_) | Value::Date(_) | Value::Duration(_)
        ) {
            return Err(format!(
                "`{name}` takes numbers or dates, not a {}",
                value.type_name()
            ));
        }
        let is_better = best.is_none_or(|best| match name {
            "max" => value.order(best).is_gt(),
            _ => value.order(best).is_lt(),
        });
        if is_better {
            best = Some(value);
        }
    }
    Ok(best.cloned().unwrap_or(Value::Null))
}

/// Methods of files and links. `None` if the name is unknown.
pub(super) fn of_file(
    evaluator: &Evaluator<'_, '_>,
    value: &Value,
    name: &str,
    arguments: &[Value],
) -> Result<Option<Value>, String> {
    let context = evaluator.context;
    let first = arguments.first();
    if matches!(value, Value::Link(_)) && !matches!(name, "asFile" | "linksTo") {
        // A link also has the methods of its display text.
        return super::texts::method(&value.display_text(), name, arguments);
    }
    let Some(path) = context.file_of(value) else {
        return Ok(Some(match name {
            "asFile" => Value::Null,
            _ => Value::Bool(false),
        }));
    };
    Ok(Some(match name {
        "asFile" => Value::File(path),
        "asLink" => {
            let mut link = link_of(&Value::File(path));
            link.display = first
                .filter(|display| !display.is_empty())
                .map(Value::display_text);
            Value::Link(Rc::new(link))
        }
        "linksTo" | "hasLink" => {
            let target = first.and_then(|target| context.file_of(target));
            let written = first.map(Value::display_text).unwrap_or_default();
            let has_link = evaluator.with_note(&path, |note| {
                let mut links = note.links.iter().flatten();
                links.any(|link| match (&target, &link.path) {
                    (Some(target), Some(path)) => **target == **path,
                    (None, None) => {
                        !written.is_empty() && fold_name(&link.target) == fold_name(&written)
                    }
                    _ => false,
                })
            });
            Value::Bool(has_link.unwrap_or_default())
        }
        "hasTag" => {
            let parents: Vec<String> = arguments
                .iter()
                .map(|tag| fold_name(tag.display_text().trim_start_matches('#')))
                .collect();
            let has_tag = evaluator.with_note(&path, |note| {
                tags(note).into_iter().map(fold_name).any(|tag| {
                    parents.iter().any(|parent| {
                        let below = tag.strip_prefix(parent.as_str());
                        below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                    })
                })
            });
            Value::Bool(has_tag.unwrap_or_default())
        }
        "hasProperty" => {
            let name = first.map(Value::display_text).unwrap_or_default();
            let has = evaluator.with_note(&path, |note| {
                let mut keys = note
                    .properties
                    .iter()
                    .flat_map(|properties| properties.keys());
                keys.any(|key| fold_name(key) == fold_name(&name))
            });
            Value::Bool(has.unwrap_or_default())
        }
        "inFolder" => {
            let folder = first.map(Value::display_text).unwrap_or_default();
            Value::Bool(is_in_folder(&path, &folder))
        }
        _ => return Ok(None),
    }))
}

/// Whether a file is in a folder or its subfolders.
pub(crate) fn is_in_folder(path: &str, folder: &str) -> bool {
    let (folder, parent) = (
        fold_name(folder.trim_matches('/')),
        fold_name(parent_of(path)),
    );
    let below = parent.strip_prefix(&folder);
    folder.is_empty() || below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
