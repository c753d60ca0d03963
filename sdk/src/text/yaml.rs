//! Writes values as idiomatic YAML, with quotes only where needed.

use serde_json::{Map, Value};
use std::fmt::Write as _;

/// A value in the form that follows `key:`.
pub(crate) struct Rendered {
    /// The part on the line of the key; empty if the value is null or entirely on the lines below.
    pub(crate) inline: String,
    /// The lines below, each with its line ending.
    pub(crate) lines: String,
}

impl Rendered {
    fn inline(text: String) -> Self {
        Self {
            inline: text,
            lines: String::new(),
        }
    }
}

/// The indentation per level.
const INDENT: usize = 2;

/// A `key: value` entry with its lines, at a column.
pub(crate) fn entry(key: &str, value: &Value, column: usize, newline: &str) -> String {
    let rendered = block(value, column, newline, None);
    let space = if rendered.inline.is_empty() { "" } else { " " };
    format!(
        "{:column$}{}:{space}{}{newline}{}",
        "",
        self::key(key),
        rendered.inline,
        rendered.lines
    )
}

/// An item of a block list with its lines; `column` is the column of the dash.
pub(crate) fn item(value: &Value, column: usize, newline: &str) -> String {
    match value {
        Value::Object(map) if !map.is_empty() => {
            let lines = entries(map, column + INDENT, newline);
            format!("{:column$}- {}", "", lines.trim_start_matches(' '))
        }
        Value::Array(_) | Value::Null => format!("{:column$}- {}{newline}", "", flow(value)),
        _ => {
            let rendered = block(value, column, newline, None);
            format!(
                "{:column$}- {}{newline}{}",
                "", rendered.inline, rendered.lines
            )
        }
    }
}

/// The value of a key at a column, in block style. `quote` is the quotation mark of the previous value.
pub(crate) fn block(value: &Value, column: usize, newline: &str, quote: Option<char>) -> Rendered {
    match value {
        Value::Null => Rendered::inline(String::new()),
        Value::String(text) if quote.is_none() && fits_block_scalar(text) => {
            block_scalar(text, column + INDENT, newline)
        }
        Value::String(text) => Rendered::inline(string(text, quote, false)),
        Value::Array(items) if !items.is_empty() => Rendered {
            inline: String::new(),
            lines: items
                .iter()
                .map(|value| item(value, column + INDENT, newline))
                .collect(),
        },
        Value::Object(map) if !map.is_empty() => Rendered {
            inline: String::new(),
            lines: entries(map, column + INDENT, newline),
        },
        other => Rendered::inline(flow(other)),
    }
}

/// The entries of a mapping, one per line.
pub(crate) fn entries(map: &Map<String, Value>, column: usize, newline: &str) -> String {
    map.iter()
        .map(|(key, value)| entry(key, value, column, newline))
        .collect()
}

/// A value on one line.
pub(crate) fn flow(value: &Value) -> String {
    flow_quoted(value, None)
}

/// A value on one line; a string gets the quotation mark of the previous value.
pub(crate) fn flow_quoted(value: &Value, quote: Option<char>) -> String {
    match value {
        Value::String(text) => string(text, quote, true),
        Value::Array(items) => format!(
            "[{}]",
            items.iter().map(flow).collect::<Vec<_>>().join(", ")
        ),
        Value::Object(map) => {
            let pairs: Vec<String> = map
                .iter()
                .map(|(key, value)| format!("{}: {}", string(key, None, true), flow(value)))
                .collect();
            format!("{{{}}}", pairs.join(", "))
        }
        other => other.to_string(),
    }
}

/// A key of a mapping.
pub(crate) fn key(text: &str) -> String {
    string(text, None, false)
}

fn string(text: &str, quote: Option<char>, in_flow: bool) -> String {
    let escapes = text.chars().any(needs_escape);
    match quote {
        Some('\'') if !escapes => single_quoted(text),
        Some('"') => double_quoted(text),
        _ if escapes => double_quoted(text),
        _ if is_plain(text, in_flow) => text.to_owned(),
        _ if text.contains(['"', '\\']) => single_quoted(text),
        _ => double_quoted(text),
    }
}

fn single_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn double_quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            other if needs_escape(other) => {
                // Writing to a `String` cannot fail.
                let _ = write!(quoted, "\\u{:04x}", u32::from(other));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

/// Characters that YAML interprets, or does not allow, outside of double quotes.
fn needs_escape(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
        )
}

/// Whether an unquoted text parses as the same text.
fn is_plain(text: &str, in_flow: bool) -> bool {
    let Some(first) = text.chars().next() else {
        return false;
    };
    let second = text[first.len_utf8()..].chars().next();
    let opens = match first {
        '-' | '?' | ':' => {
            second.is_some_and(|next| !next.is_whitespace()) && !text.starts_with("---") && !in_flow
        }
        '.' => !text.starts_with("..."),
        '!' | '&' | '*' | '#' | '|' | '>' | '@' | '`' | '"' | '\'' | '%' | ',' | '[' | ']'
        | '{' | '}' | '=' | '<' => false,
        _ => true,
    };
    opens
        && text.trim() == text
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with(':')
        && !(in_flow && (text.contains(['[', ']', '{', '}', ',']) || text.contains(':')))
        && !reads_as_other_type(text)
}

/// Whether some version of YAML parses an unquoted text as a number, a boolean or null.
fn reads_as_other_type(text: &str) -> bool {
    const WORDS: [&str; 8] = ["null", "~", "true", "false", "yes", "no", "on", "off"];
    let unsigned = text.trim_start_matches(['+', '-']);
    let is_number = unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && (text.replace('_', "").parse::<f64>().is_ok()
            || ["0x", "0o", "0b"]
                .iter()
                .any(|prefix| unsigned.starts_with(prefix))
            || unsigned.split(':').all(|part| {
                !part.is_empty()
                    && part
                        .bytes()
                        .all(|byte| byte.is_ascii_digit() || byte == b'.')
            }));
    is_number
        || WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
        || matches!(unsigned.to_ascii_lowercase().as_str(), ".inf" | ".nan")
}

/// Whether a multi-line text can be a block scalar without indentation indicator or escapes.
fn fits_block_scalar(text: &str) -> bool {
    text.trim_end_matches('\n').contains('\n')
        && !text.starts_with([' ', '\t', '\n'])
        && !text
            .chars()
            .any(|character| character != '\n' && character != '\t' && needs_escape(character))
        && text
            .lines()
            .all(|line| line.is_empty() || !line.trim().is_empty())
}

fn block_scalar(text: &str, column: usize, newline: &str) -> Rendered {
    let body = text.trim_end_matches('\n');
    let final_newlines = text.len() - body.len();
    let inline = match final_newlines {
        0 => "|-",
        1 => "|",
        _ => "|+",
    };
    let mut lines = String::with_capacity(text.len() + 16);
    for line in body.split('\n') {
        if !line.is_empty() {
            let _ = write!(lines, "{:column$}{line}", "");
        }
        lines.push_str(newline);
    }
    lines.push_str(&newline.repeat(final_newlines.saturating_sub(1)));
    Rendered {
        inline: inline.to_owned(),
        lines,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn strings_are_quoted_only_if_needed() {
        for plain in [
            "word",
            "two words",
            "2024-01-01",
            "2024-01-01T10:00:00",
            "a:b",
            "-x",
            "日本",
            "it's",
            "a, b",
            "v1.2.3",
            "https://x.y/z",
        ] {
            assert_eq!(key(plain), plain);
        }
        for quoted in [
            "", "yes", "1", "1.5", "0x1f", "12:30", "[[Note]]", "#tag", "a: b", "a #b", "- x",
            " x", "x ", "---", "null", "~", "end:",
        ] {
            assert_eq!(key(quoted), format!("\"{quoted}\""));
        }
        assert_eq!(key("[\"q\"]"), "'[\"q\"]'");
        assert_eq!(key("tab\there"), "\"tab\\there\"");
        assert_eq!(
            flow(&json!(["a", "b, c", {"k": null}])),
            "[a, \"b, c\", {k: null}]"
        );
    }

    #[test]
    fn entries_are_indented_below_their_key() {
        let value =
            json!({"list": ["x", {"k": 1, "l": [2]}], "text": "one\n\ntwo\n", "none": null});
        assert_eq!(
            entry("a", &value, 0, "\n"),
            "a:\n  list:\n    - x\n    - k: 1\n      l:\n        - 2\n  text: |\n    one\n\n    two\n  none:\n"
        );
    }
}
