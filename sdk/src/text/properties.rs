//! Changing properties: the lines of a key that changes are spliced, all others keep every byte.
//!
//! yaml-edit's tree tells where values stand. After each change the result is read again and compared with
//! what was meant; a note is never returned whose properties say anything else.

use super::error::TextError;
use super::newline::Newline;
use super::splice::{self, Splice};
use super::{body, frontmatter, lines, yaml};
use serde_json::{Map, Value};

mod layout;

/// Sets and removes properties of a note.
///
/// A key may be dotted to reach a nested one (`author.name`), unless a property of just that name exists. A
/// value is set as a whole, and what is equal already changes no byte. Lists stay in the style they have,
/// strings in their quotes; comments stay. A note without frontmatter gets one. Keys in `remove` that do not
/// exist are ignored; a nested mapping that loses its last key goes too, and so does the whole frontmatter,
/// unless it still holds a comment.
///
/// # Errors
/// Where the frontmatter is broken, or a property cannot be changed without touching others.
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
    // A value must not be able to end the frontmatter early.
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

/// One value that is to be set at a path of keys, or removed.
struct Change {
    path: Vec<String>,
    value: Option<Value>,
}

impl Change {
    /// The properties as they are meant to be afterwards.
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

/// The path of keys that a dotted key means. Nothing where it is to be removed and does not exist.
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
        // The longest name that exists wins, so that names with dots stay reachable.
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

/// Makes the path of a key that goes that of the outermost mapping which would be empty without it.
fn widen(properties: &Map<String, Value>, path: &mut Vec<String>) {
    while path.len() > 1
        && let Some(Value::Object(parent)) = lookup(properties, &path[..path.len() - 1])
        && parent.len() == 1
    {
        path.pop();
    }
}

/// Breaks a change up into the smallest ones, so that nested keys that stay keep their lines.
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
