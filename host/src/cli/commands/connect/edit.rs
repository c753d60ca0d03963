//! Edits an entry in the config file of a client: adds, replaces or removes it, and keeps every other byte of the
//! file. Comments and trailing commas are supported, because editors allow them; invalid JSON is not touched.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::{Value, json};

/// Why a file is not edited.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum EditError {
    /// It cannot be parsed.
    #[error("it is not valid JSON: {0}")]
    NoJson(String),
    /// It has another structure.
    #[error("{0} is not an object")]
    NoObject(String),
    /// The name is used for another program.
    #[error("its entry `{0}` starts another program")]
    OfAnother(String),
}

/// The text with this entry in a section; the same text if it already contains the entry.
pub(super) fn put(
    text: &str,
    section: &str,
    name: &str,
    entry: &Value,
    replace: bool,
) -> Result<String, EditError> {
    if text.trim().is_empty() {
        return Ok(format!("{:#}\n", json!({ section: { name: entry } })));
    }
    let (mark, root) = parse(text)?;
    let top = top(&root)?;
    let section = match top.get(section) {
        Some(found) => found
            .object_value()
            .ok_or_else(|| EditError::NoObject(format!("`{section}`")))?,
        None => top.object_value_or_set(section),
    };
    match section.get(name) {
        None => {
            section.append(name, input(entry));
        }
        Some(found) => {
            let there = found.value().and_then(|value| value.to_serde_value());
            if there.as_ref() == Some(entry) {
                return Ok(text.to_owned());
            }
            if !replace && !there.is_some_and(|there| is_ours(&there)) {
                return Err(EditError::OfAnother(name.to_owned()));
            }
            found.set_value(input(entry));
        }
    }
    Ok(format!("{mark}{root}"))
}

/// The text without the entry of that name; the same text if there is none.
pub(super) fn remove(
    text: &str,
    section: &str,
    name: &str,
    replace: bool,
) -> Result<String, EditError> {
    if text.trim().is_empty() {
        return Ok(text.to_owned());
    }
    let (mark, root) = parse(text)?;
    let found = top(&root)?
        .object_value(section)
        .and_then(|section| section.get(name));
    let Some(found) = found else {
        return Ok(text.to_owned());
    };
    let there = found.value().and_then(|value| value.to_serde_value());
    if !replace && !there.is_some_and(|there| is_ours(&there)) {
        return Err(EditError::OfAnother(name.to_owned()));
    }
    found.remove();
    Ok(format!("{mark}{root}"))
}

/// Parses the file into a tree that keeps every byte, and splits off a byte order mark.
fn parse(text: &str) -> Result<(&str, CstRootNode), EditError> {
    let (mark, text) = match text.strip_prefix('\u{feff}') {
        Some(rest) => ("\u{feff}", rest),
        None => ("", text),
    };
    // The syntax that editors accept in settings, and no more: a client could not read the rest.
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let root =
        CstRootNode::parse(text, &options).map_err(|error| EditError::NoJson(error.to_string()))?;
    Ok((mark, root))
}

fn top(root: &CstRootNode) -> Result<CstObject, EditError> {
    match root.value() {
        // A file with comments only.
        None => Ok(root.object_value_or_set()),
        Some(_) => root
            .object_value()
            .ok_or_else(|| EditError::NoObject("its content".into())),
    }
}

/// Whether an entry is ours: it starts a program named `notehost`, or has a URL.
fn is_ours(entry: &Value) -> bool {
    let command = entry.get("command").and_then(Value::as_str);
    match command {
        Some(command) => command
            .rsplit(['/', '\\'])
            .next()
            .is_some_and(|program| program.trim_end_matches(".exe") == "notehost"),
        None => entry.get("url").is_some(),
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(is_true) => CstInputValue::Bool(*is_true),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(map) => CstInputValue::Object(
            map.iter()
                .map(|(name, value)| (name.clone(), input(value)))
                .collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> Value {
        json!({"command": "/bin/notehost", "args": ["serve", "/a \"b\"\\c"]})
    }

    #[track_caller]
    fn assert_put(before: &str, after: &str) {
        let put_in = |text: &str| put(text, "mcpServers", "notes", &entry(), false);
        assert_eq!(put_in(before).as_deref(), Ok(after));
        assert_eq!(put_in(after).as_deref(), Ok(after), "twice is once");
    }

    #[test]
    fn everything_else_is_kept() {
        assert_put(
            "",
            "{\n  \"mcpServers\": {\n    \"notes\": {\n      \"command\": \"/bin/notehost\",\n      \"args\": [\n        \
             \"serve\",\n        \"/a \\\"b\\\"\\\\c\"\n      ]\n    }\n  }\n}\n",
        );
        assert_put(
            "{\n\t// mine\n\t\"z\": 1.0,\n\t\"mcpServers\": {\n\t\t\"other\": {\"command\":\"x\"} // kept\n\t}\n}\n",
            "{\n\t// mine\n\t\"z\": 1.0,\n\t\"mcpServers\": {\n\t\t\"other\": {\"command\":\"x\"}, // kept\n\t\t\"notes\": \
             {\n\t\t\t\"command\": \"/bin/notehost\",\n\t\t\t\"args\": [\"serve\", \"/a \\\"b\\\"\\\\c\"]\n\t\t}\n\t}\n}\n",
        );
        assert_put(
            "\u{feff}{\"mcpServers\":{\"notes\":{\"command\":\"C:\\\\old\\\\notehost.exe\"}},\"a\":[1,2,]}",
            "\u{feff}{\"mcpServers\":{\"notes\":{\n      \"command\": \"/bin/notehost\",\n      \"args\": [\"serve\", \
             \"/a \\\"b\\\"\\\\c\"]\n    }},\"a\":[1,2,]}",
        );
    }

    #[test]
    fn an_added_entry_can_be_removed() {
        for text in [
            "{\n  \"a\": 1,\n  \"mcpServers\": {\n    \"other\": {} // kept\n  }\n}\n",
            "{\r\n  \"mcpServers\": {\r\n    \"other\": {}\r\n  }\r\n}",
        ] {
            let with = put(text, "mcpServers", "notes", &entry(), false).expect("it fits");
            assert_ne!(with, text);
            let without = remove(&with, "mcpServers", "notes", false);
            assert_eq!(without.as_deref(), Ok(text));
            assert_eq!(
                remove(text, "mcpServers", "notes", false).as_deref(),
                Ok(text)
            );
        }
    }

    #[test]
    fn unparsable_files_are_not_changed() {
        for text in [
            "{",
            "{\"a\": }",
            "{a: 1}",
            "not json",
            "{} {}",
            "{'a': 1}",
            "{\"a\": 1 \"b\": 2}",
        ] {
            let refused = put(text, "mcpServers", "notes", &entry(), true);
            assert!(
                matches!(refused, Err(EditError::NoJson(_))),
                "{text}: {refused:?}"
            );
        }
        for text in ["[]", "1", "{\"mcpServers\": []}", "{\"mcpServers\": null}"] {
            let refused = put(text, "mcpServers", "notes", &entry(), true);
            assert!(
                matches!(refused, Err(EditError::NoObject(_))),
                "{text}: {refused:?}"
            );
        }
    }

    #[test]
    fn a_foreign_entry_is_replaced_only_with_replace() {
        let text = "{\"mcpServers\": {\"notes\": {\"command\": \"npx\"}}}";
        let other = Err(EditError::OfAnother("notes".into()));
        assert_eq!(put(text, "mcpServers", "notes", &entry(), false), other);
        assert_eq!(remove(text, "mcpServers", "notes", false), other);
        assert!(put(text, "mcpServers", "notes", &entry(), true).is_ok());
        assert_eq!(
            remove(text, "mcpServers", "notes", true).as_deref(),
            Ok("{\"mcpServers\": {}}")
        );
    }
}
