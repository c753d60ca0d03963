//! Locates and parses the frontmatter of a note. Edits are in `properties`.

use super::body;
use super::error::TextError;
use super::lines;
use super::yaml_gate::{self, Refused};
use serde_json::{Map, Value};
use std::ops::Range;

/// The position of a note's frontmatter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frontmatter {
    /// From the first `---` to the end of the closing line, with its line ending.
    pub block: Range<usize>,
    /// The bytes between the two delimiters.
    pub yaml: Range<usize>,
}

/// Finds the frontmatter: the first line is `---` and a later one `---` or `...`. Without the closing line the note has
/// no frontmatter, and starts with a thematic break.
pub fn locate(text: &str) -> Option<Frontmatter> {
    let start = body::after_byte_order_mark(text);
    let mut lines = text[start..].split_inclusive('\n');
    let first = lines
        .next()
        .filter(|line| line.ends_with('\n') && line.trim_end() == "---")?;
    let yaml_start = start + first.len();
    let mut at = yaml_start;
    for line in lines {
        if matches!(line.trim_end(), "---" | "...") {
            return Some(Frontmatter {
                block: start..at + line.len(),
                yaml: yaml_start..at,
            });
        }
        at += line.len();
    }
    None
}

/// The properties of a note, in order. A note without frontmatter has none.
///
/// # Errors
/// [`TextError::BrokenFrontmatter`], [`TextError::NoProperties`] or [`TextError::YamlTooComplex`].
pub fn properties(text: &str) -> Result<Map<String, Value>, TextError> {
    match locate(text) {
        Some(found) => parse(
            &text[found.yaml.clone()],
            lines::line_of(text, found.yaml.start),
        ),
        None => Ok(Map::new()),
    }
}

/// Parses YAML that starts on `first_line` of the file.
pub(crate) fn parse(yaml: &str, first_line: usize) -> Result<Map<String, Value>, TextError> {
    let value = yaml_gate::values(yaml).map_err(|refused| match refused {
        Refused::Limit(limit) => TextError::YamlTooComplex {
            line: first_line,
            limit,
        },
        Refused::Syntax(error) => TextError::BrokenFrontmatter {
            line: first_line
                + error
                    .location()
                    .map_or(0, |location| location.line().saturating_sub(1)),
            message: without_location(&error.to_string()).to_owned(),
        },
    })?;
    match json(value) {
        Value::Object(map) => Ok(map),
        Value::Null => Ok(Map::new()),
        _ => Err(TextError::NoProperties { line: first_line }),
    }
}

/// The message without the location, which is relative to the YAML; the error has the line of the file.
fn without_location(message: &str) -> &str {
    message.split(" at line ").next().unwrap_or(message)
}

fn json(value: yaml_serde::Value) -> Value {
    use yaml_serde::Value as Yaml;
    match value {
        Yaml::Null => Value::Null,
        Yaml::Bool(truth) => Value::Bool(truth),
        Yaml::Number(number) => json_number(&number),
        Yaml::String(text) => Value::String(text),
        Yaml::Sequence(items) => Value::Array(items.into_iter().map(json).collect()),
        Yaml::Mapping(entries) => Value::Object(
            entries
                .into_iter()
                .map(|(key, value)| (key_text(json(key)), json(value)))
                .collect(),
        ),
        Yaml::Tagged(tagged) => json(tagged.value),
    }
}

/// Infinity and NaN, which JSON does not have, become strings in YAML's spelling.
fn json_number(number: &yaml_serde::Number) -> Value {
    let exact = number
        .as_i64()
        .map(Value::from)
        .or_else(|| number.as_u64().map(Value::from));
    let rounded = || {
        number
            .as_f64()
            .and_then(serde_json::Number::from_f64)
            .map(Value::Number)
    };
    exact
        .or_else(rounded)
        .unwrap_or_else(|| Value::String(number.to_string()))
}

fn key_text(key: Value) -> String {
    match key {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn block(text: &str) -> Option<&str> {
        locate(text).map(|found| &text[found.block])
    }

    #[test]
    fn frontmatter_is_found_with_any_line_ending() {
        assert_eq!(block("---\na: 1\n---\nx"), Some("---\na: 1\n---\n"));
        assert_eq!(
            block("\u{feff}---\r\na: 1\r\n...\r\nx"),
            Some("---\r\na: 1\r\n...\r\n")
        );
        assert_eq!(block("---\n---"), Some("---\n---"));
    }

    #[test]
    fn a_thematic_break_is_not_frontmatter() {
        for text in [
            "---",
            "---\n",
            "---\ntext\n",
            "\n---\na: 1\n---\n",
            " ---\na: 1\n---\n",
            "----\na: 1\n---\n",
            "---a\n---\n",
        ] {
            assert_eq!(block(text), None, "{text:?}");
        }
    }

    #[test]
    fn properties_keep_their_types_and_order() {
        let text = "---\nz: 1\na: [x, 'y']\nd: 2024-01-01\n1: true\nn:\nf: 1.5\nt: !x v\nm: {k: .inf}\n---\n";
        let expected = json!({"z": 1, "a": ["x", "y"], "d": "2024-01-01", "1": true, "n": null, "f": 1.5, "t": "v", "m": {"k": ".inf"}});
        let found = properties(text).unwrap();
        assert_eq!(Value::Object(found.clone()), expected);
        assert_eq!(found.keys().next().unwrap(), "z");
    }

    #[test]
    fn invalid_yaml_is_reported_with_the_line_of_the_file() {
        let error = properties("---\na: 1\nb: [x\nc: 2\n---\n").unwrap_err();
        assert!(
            matches!(&error, TextError::BrokenFrontmatter { line: 4, .. }),
            "{error}"
        );
        assert!(matches!(
            properties("---\njust words\n---\n"),
            Err(TextError::NoProperties { line: 2 })
        ));
        assert!(matches!(
            properties("---\na: 1\na: 2\n---\n"),
            Err(TextError::BrokenFrontmatter { .. })
        ));
        assert_eq!(
            properties("---\n# only a comment\n---\n").unwrap(),
            Map::new()
        );
    }
}
