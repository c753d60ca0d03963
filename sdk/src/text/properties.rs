//! Edits properties: splices only the lines of changed keys.
//!
//! yaml-edit's tree provides the positions of values. After each change the result is parsed again and compared with the
//! intended properties; a result that differs is never returned.

use super::error::TextError;
use super::newline::Newline;
use super::splice::{self, Splice};
use super::{body, frontmatter, lines, yaml};
use serde_json::{Map, Value};

mod layout;

/// Sets and removes properties of a note.
///
/// A dotted key refers to a nested one (`author.name`), unless a property with that literal name exists. A value is set as a
/// whole; an equal value changes no byte. The style of lists, the quotes of strings and comments are kept. A note without
/// frontmatter gets one. Keys in `remove` that do not exist are ignored. A nested mapping that becomes empty is removed, and
/// so is the whole frontmatter, unless it contains a comment.
///
/// # Errors
/// If the frontmatter is invalid, or a property cannot be changed without touching others.
pub fn set_properties(
    text: &str,
    set: &Map<String, Value>,
    remove: &[String],
) -> Result<String, TextError> {
    let newline = Newline::of(text).unwrap_or(Newline::Lf).as_str();
    let Some(found) = frontmatter::locate(text) else {
        return create(text, set, newline);
    };
    let first_line = lines::line_of(text, found.yaml.start);
    let mut current = frontmatter::parse(&text[found.yaml.clone()], first_line)?;
    let mut yaml = text[found.yaml.clone()].to_owned();
    let removals = remove.iter().map(|key| (key, None));
    for (key, value) in removals.chain(set.iter().map(|(key, value)| (key, Some(value)))) {
        let Some(mut path) = resolve(&current, key, value.is_some())? else {
            continue;
        };
        if value.is_none() {
            widen(&current, &mut path);
        }
        let mut changes = Vec::new();
        plan(lookup(&current, &path), path, value, &mut changes);
        for change in changes {
            let intended = change.applied_to(&current);
            let not_editable = || TextError::NotEditable { key: key.clone() };
            let splices = layout::splices(&yaml, &change, lookup(&current, &change.path), newline)
                .ok_or_else(not_editable)?;
            yaml = splice::apply(&yaml, splices)?;
            match frontmatter::parse(&yaml, first_line) {
                Ok(became) if became == intended => {}
                Err(limit @ TextError::YamlTooComplex { .. }) => return Err(limit),
                _ => return Err(not_editable()),
            }
            current = intended;
        }
    }
    let goes = current.is_empty() && !remove.is_empty() && yaml.trim().is_empty();
    let splice = if goes {
        Splice::delete(found.block.clone())
    } else {
        Splice::replace(found.yaml.clone(), yaml)
    };
    let edited = splice::apply(text, vec![splice])?;
    // A value must not end the frontmatter early.
    let unharmed = goes || frontmatter::properties(&edited).ok().as_ref() == Some(&current);
    if unharmed {
        Ok(edited)
    } else {
        Err(TextError::NotEditable {
            key: set.keys().cloned().collect::<Vec<_>>().join(", "),
        })
    }
}

/// A frontmatter for a note that has none.
fn create(text: &str, set: &Map<String, Value>, newline: &str) -> Result<String, TextError> {
    let mut properties = Map::new();
    for (key, value) in set {
        if let Some(path) = resolve(&properties, key, true)? {
            properties = Change {
                path,
                value: Some(value.clone()),
            }
            .applied_to(&properties);
        }
    }
    if properties.is_empty() {
        return Ok(text.to_owned());
    }
    let block = format!(
        "---{newline}{}---{newline}",
        yaml::entries(&properties, 0, newline)
    );
    let edited = splice::apply(
        text,
        vec![Splice::insert(body::after_byte_order_mark(text), block)],
    )?;
    match frontmatter::properties(&edited) {
        Ok(became) if became == properties => Ok(edited),
        Err(limit @ TextError::YamlTooComplex { .. }) => Err(limit),
        _ => Err(TextError::NotEditable {
            key: set.keys().cloned().collect::<Vec<_>>().join(", "),
        }),
    }
}

/// A value to set at a path of keys, or a path to remove.
struct Change {
    path: Vec<String>,
    value: Option<Value>,
}

impl Change {
    /// The intended properties afterwards.
    fn applied_to(&self, properties: &Map<String, Value>) -> Map<String, Value> {
        let mut properties = properties.clone();
        apply(&mut properties, &self.path, self.value.as_ref());
        properties
    }
}

fn apply(map: &mut Map<String, Value>, path: &[String], value: Option<&Value>) {
    match (path, value) {
        ([key], Some(value)) => drop(map.insert(key.clone(), value.clone())),
        ([key], None) => drop(map.shift_remove(key)),
        ([key, rest @ ..], _) => {
            let child = map.entry(key.clone()).or_insert(Value::Null);
            if child.is_null() {
                *child = Value::Object(Map::new());
            }
            if let Value::Object(child) = child {
                apply(child, rest, value);
            }
        }
        ([], _) => {}
    }
}

/// The path of keys that a dotted key refers to. `None` if it is to be removed and does not exist.
fn resolve(
    map: &Map<String, Value>,
    key: &str,
    create: bool,
) -> Result<Option<Vec<String>>, TextError> {
    let mut path = Vec::new();
    let (mut map, mut rest) = (map, key);
    loop {
        if map.contains_key(rest) {
            path.push(rest.to_owned());
            return Ok(Some(path));
        }
        // The longest existing name wins, so that names with dots are reachable.
        let mut splits = rest
            .rmatch_indices('.')
            .map(|(dot, _)| (&rest[..dot], &rest[dot + 1..]));
        match splits.find_map(|(name, below)| map.get(name).map(|value| (name, value, below))) {
            Some((name, Value::Object(child), below)) => {
                path.push(name.to_owned());
                (map, rest) = (child, below);
            }
            Some((name, Value::Null, below)) if create => {
                path.push(name.to_owned());
                path.extend(below.split('.').map(str::to_owned));
                return Ok(Some(path));
            }
            Some((name, ..)) if create => {
                path.push(name.to_owned());
                return Err(TextError::NotNested {
                    key: key.to_owned(),
                    parent: path.join("."),
                });
            }
            _ if !create => return Ok(None),
            _ if rest.split('.').any(str::is_empty) => {
                path.push(rest.to_owned());
                return Ok(Some(path));
            }
            _ => {
                path.extend(rest.split('.').map(str::to_owned));
                return Ok(Some(path));
            }
        }
    }
}

fn lookup<'a>(map: &'a Map<String, Value>, path: &[String]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    rest.iter()
        .try_fold(map.get(first)?, |value, key| value.get(key))
}

/// Shortens the path of a removed key to the outermost mapping that would become empty.
fn widen(properties: &Map<String, Value>, path: &mut Vec<String>) {
    while path.len() > 1
        && let Some(Value::Object(parent)) = lookup(properties, &path[..path.len() - 1])
        && parent.len() == 1
    {
        path.pop();
    }
}

/// Splits a change into minimal ones, so that unchanged nested keys keep their lines.
fn plan(
    current: Option<&Value>,
    path: Vec<String>,
    value: Option<&Value>,
    changes: &mut Vec<Change>,
) {
    match (current, value) {
        (current, Some(value)) if current == Some(value) => {}
        (Some(Value::Object(old)), Some(Value::Object(new)))
            if old.keys().any(|key| new.contains_key(key)) =>
        {
            let below = |key: &String| path.iter().chain([key]).cloned().collect::<Vec<_>>();
            for key in old.keys().filter(|key| !new.contains_key(*key)) {
                changes.push(Change {
                    path: below(key),
                    value: None,
                });
            }
            for (key, value) in new {
                plan(old.get(key), below(key), Some(value), changes);
            }
        }
        (_, value) => changes.push(Change {
            path,
            value: value.cloned(),
        }),
    }
}

#[cfg(test)]
mod tests;
