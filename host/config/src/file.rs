//! Parses the config file from TOML; every error has a line number. Whether the settings are consistent is
//! validated in `check`.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use toml_edit::{Document, Item, Key, TableLike, Value};

use super::{ConfigError, Settings, nearest};

/// A parsed config file.
#[derive(Debug)]
pub(super) struct ConfigFile {
    pub(super) settings: Settings,
    /// The line of every value that the file sets, by its dotted key.
    pub(super) lines: BTreeMap<String, usize>,
}

/// Parses the text of the config file at `path`.
pub(super) fn parse(text: &str, path: &Path) -> Result<ConfigFile, ConfigError> {
    let document = Document::parse(text).map_err(|error| {
        ConfigError::new(error.message().trim())
            .at(path, error.span().map(|span| line_of(text, span.start)))
    })?;
    let mut keys = Keys::default();
    keys.walk_table(document.as_table(), "");
    let settings = toml::from_str(text).map_err(|error| explain(&error, text, &keys, path))?;
    let lines = keys
        .values
        .iter()
        .map(|(key, at)| (key.clone(), line_of(text, *at)));
    Ok(ConfigFile {
        settings,
        lines: lines.collect(),
    })
}

/// Appends a part to a dotted key, quoted where TOML requires it.
pub fn join(prefix: &str, part: &str) -> String {
    let bare = !part.is_empty()
        && part
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    let part = if bare {
        part.to_owned()
    } else {
        format!("{part:?}")
    };
    if prefix.is_empty() {
        part
    } else {
        format!("{prefix}.{part}")
    }
}

/// The positions of the keys and values of a file.
#[derive(Default)]
struct Keys {
    /// Every key with the bytes of its name, tables included.
    names: Vec<(String, Range<usize>)>,
    /// The offsets of the values, by dotted key.
    values: BTreeMap<String, usize>,
}

impl Keys {
    fn walk_table(&mut self, table: &dyn TableLike, prefix: &str) {
        for (name, item) in table.iter() {
            let path = join(prefix, name);
            if let Some(span) = table.key(name).and_then(Key::span) {
                self.names.push((path.clone(), span));
            }
            match item {
                Item::Table(inner) => self.walk_table(inner, &path),
                Item::ArrayOfTables(several) => {
                    for (index, inner) in several.iter().enumerate() {
                        self.walk_table(inner, &format!("{path}[{index}]"));
                    }
                }
                Item::Value(value) => self.walk_value(value, &path),
                Item::None => {}
            }
        }
    }

    fn walk_value(&mut self, value: &Value, path: &str) {
        match value {
            Value::InlineTable(inner) => return self.walk_table(inner, path),
            Value::Array(several) if !several.is_empty() => {
                for (index, inner) in several.iter().enumerate() {
                    self.walk_value(inner, &format!("{path}[{index}]"));
                }
            }
            _ => {}
        }
        self.values
            .insert(path.to_owned(), value.span().unwrap_or_default().start);
    }

    /// The key whose name, or else whose value, an error points to.
    fn at(&self, offset: usize) -> Option<&str> {
        let named = self.names.iter().find(|(_, span)| span.contains(&offset));
        let valued = || self.values.iter().find(|(_, start)| **start == offset);
        named
            .map(|(path, _)| path.as_str())
            .or_else(|| valued().map(|(path, _)| path.as_str()))
    }
}

/// Translates a serde error into the terms of the config file.
fn explain(error: &toml::de::Error, text: &str, keys: &Keys, path: &Path) -> ConfigError {
    let start = error.span().map(|span| span.start);
    let key = start.and_then(|start| keys.at(start));
    let message = error.message().trim();
    let (what, expected) = message.split_once(", expected ").unwrap_or((message, ""));
    let explained = if let Some(name) = what.strip_prefix("unknown field ") {
        let misspelt = name.trim_matches('`');
        with_nearest(
            format!("unknown key `{}`", key.unwrap_or(misspelt)),
            misspelt,
            expected,
        )
    } else if let Some(word) = what.strip_prefix("unknown variant ") {
        let problem = format!("{}{word} is not a valid value", prefixed(key));
        with_nearest(problem, word.trim_matches('`'), expected)
    } else if let Some(found) = what
        .strip_prefix("invalid type: ")
        .or(what.strip_prefix("invalid value: "))
    {
        ConfigError::new(format!(
            "{}expected {}, found {found}",
            prefixed(key),
            type_name(expected)
        ))
    } else {
        ConfigError::new(format!(
            "{}{}",
            prefixed(key),
            message.replace("missing field", "missing key")
        ))
    };
    explained.at(path, start.map(|start| line_of(text, start)))
}

fn prefixed(key: Option<&str>) -> String {
    key.map(|key| format!("`{key}`: ")).unwrap_or_default()
}

fn with_nearest(problem: String, misspelt: &str, expected: &str) -> ConfigError {
    // Serde puts each accepted word in backticks.
    let accepted: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
    let error = match nearest(misspelt, accepted.iter().copied()) {
        Some(near) => ConfigError::new(format!("{problem}: did you mean `{near}`?")),
        None => ConfigError::new(problem),
    };
    if accepted.is_empty() {
        return error;
    }
    let list: Vec<String> = accepted.iter().map(|word| format!("`{word}`")).collect();
    error.with_hint(format!("valid values: {}", list.join(", ")))
}

/// The TOML name of a Rust type.
fn type_name(expected: &str) -> &str {
    match expected {
        "u64" | "usize" | "u32" | "u16" => "a non-negative integer",
        "a string" | "a string or string key" | "path string" => "a string",
        "a boolean" => "`true` or `false`",
        "a sequence" => "a list",
        "a map" => "a table",
        other => other.strip_prefix("struct ").map_or(other, |_| "a table"),
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    let before = &text.as_bytes()[..offset.min(text.len())];
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fails(text: &str) -> (String, Option<String>) {
        let error = parse(text, Path::new("n.toml")).expect_err("refused");
        (error.to_string(), error.hint().map(str::to_owned))
    }

    #[test]
    fn an_unknown_key_names_its_line_and_the_nearest_known_one() {
        let (message, hint) = fails("\n[permissions]\ndefault = \"r\"\nnotebook = {}\n");
        assert_eq!(
            message,
            "n.toml:4: unknown key `permissions.notebook`: did you mean `notebooks`?"
        );
        assert_eq!(
            hint.as_deref(),
            Some("valid values: `default`, `notebooks`, `rules`")
        );
        assert_eq!(
            fails("[permision]\n").0,
            "n.toml:1: unknown key `permision`: did you mean `permissions`?"
        );
        assert_eq!(
            fails("[[vaults]]\nid = 'a'\npath = 'b'\n\n[[vaults]]\nid = 'c'\npaht = 'd'\n").0,
            "n.toml:7: unknown key `vaults[1].paht`: did you mean `path`?"
        );
        assert_eq!(
            fails("[limits]\nqwertyuiop = 1\n").0,
            "n.toml:2: unknown key `limits.qwertyuiop`"
        );
    }

    #[test]
    fn a_wrong_type_names_its_key_and_line() {
        assert_eq!(
            fails("[limits]\n\ncall_ms = \"soon\"\n").0,
            "n.toml:3: `limits.call_ms`: expected a non-negative integer, found string \"soon\""
        );
        assert_eq!(
            fails("[components.document]\nenabled = 1\n").0,
            "n.toml:2: `components.document.enabled`: expected `true` or `false`, found integer `1`"
        );
    }

    #[test]
    fn an_invalid_tier_suggests_the_nearest() {
        let (message, hint) = fails("[permissions.notebooks]\n\"My Work\" = \"rwx\"\n");
        assert_eq!(
            message,
            "n.toml:2: `permissions.notebooks.\"My Work\"`: `rwx` is not a valid value: did you mean `rw`?"
        );
        assert_eq!(
            hint.as_deref(),
            Some("valid values: `none`, `r`, `rw`, `rwd`")
        );
    }

    #[test]
    fn a_missing_key_and_broken_syntax_have_a_line() {
        let (message, _) = fails("confirm = \"never\"\n\n[[vaults]]\nid = 'a'\n");
        assert!(
            message.starts_with("n.toml:3: ") && message.contains("missing key `path`"),
            "{message}"
        );
        assert!(fails("a = \n").0.starts_with("n.toml:1: "));
    }

    #[test]
    fn values_know_their_lines() {
        let file = parse(
            "confirm = \"never\"\n[[vaults]]\nid = 'a'\npath = 'b'\n[callers.phone.permissions]\nnotebooks = { Work = 'r' }\n",
            Path::new("n.toml"),
        )
        .expect("settings");
        let lines: Vec<(&str, usize)> = file
            .lines
            .iter()
            .map(|(key, line)| (key.as_str(), *line))
            .collect();
        assert_eq!(
            lines,
            [
                ("callers.phone.permissions.notebooks.Work", 6),
                ("confirm", 1),
                ("vaults[0].id", 3),
                ("vaults[0].path", 4),
            ]
        );
    }
}
