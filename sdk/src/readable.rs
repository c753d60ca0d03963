//! Formats a JSON result as readable text: the default for actions without their own `text`.

use serde::Serialize;
use serde_json::Value;

/// The result of an action that can state itself as text. `#[reply]` implements it.
pub trait Readable {
    /// A short, human-readable text.
    fn to_readable(&self) -> String;
}

/// A result as indented lines, without JSON's punctuation.
pub fn readable<T: Serialize>(answer: &T) -> String {
    let mut text = String::new();
    match serde_json::to_value(answer) {
        Ok(value) => write_value(&value, 0, &mut text),
        Err(error) => text.push_str(&error.to_string()),
    }
    text.trim_end().to_owned()
}

fn write_value(value: &Value, depth: usize, text: &mut String) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                text.push_str(&"  ".repeat(depth));
                text.push_str(key);
                text.push(':');
                write_inner(inner, depth, text);
            }
        }
        Value::Array(items) => {
            for item in items {
                text.push_str(&"  ".repeat(depth));
                text.push('-');
                match one_line(item) {
                    Some(line) => push_line(&line, text),
                    None => write_inner(item, depth, text),
                }
            }
        }
        scalar => push_line(&plain(scalar), text),
    }
}

fn write_inner(value: &Value, depth: usize, text: &mut String) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            text.push('\n');
            write_value(value, depth + 1, text);
        }
        Value::Array(items) if !items.is_empty() => {
            text.push('\n');
            write_value(value, depth + 1, text);
        }
        scalar => push_line(&plain(scalar), text),
    }
}

/// An object of scalars on one line: `path: A.md, line: 3`.
fn one_line(value: &Value) -> Option<String> {
    let map = value.as_object()?;
    let mut parts = Vec::new();
    for (key, inner) in map {
        if inner.is_object()
            || inner.is_array()
            || inner.as_str().is_some_and(|text| text.contains('\n'))
        {
            return None;
        }
        parts.push(format!("{key}: {}", plain(inner)));
    }
    Some(parts.join(", "))
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "–".to_owned(),
        Value::Object(_) | Value::Array(_) => "none".to_owned(),
        scalar => scalar.to_string(),
    }
}

fn push_line(line: &str, text: &mut String) {
    text.push(' ');
    text.push_str(line);
    text.push('\n');
}
