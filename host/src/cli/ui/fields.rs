//! Parses `--field value` of the command line into the arguments of an action, by its schema. Whether the
//! arguments satisfy the schema is validated by the pipeline, as for every caller.

use notehost_platform::shell::quoted;
use std::io::Read;

use serde_json::{Map, Value, json};

use crate::cli::ui::failure::Failure;
use notehost_config::nearest;
use notehost_pipeline::registry::COMMON_ARGUMENTS;

/// The fields that an action takes from the command line, by name.
pub(crate) struct Fields<'a> {
    domain: &'a str,
    action: &'a str,
    properties: Map<String, Value>,
    /// The fields that every action accepts; only listed where they matter.
    quiet: Map<String, Value>,
    required: Vec<&'a str>,
}

impl<'a> Fields<'a> {
    /// The fields of an action with this input schema, and those that the host takes for every action.
    pub(crate) fn of(
        domain: &'a str,
        action: &'a str,
        input: &'a Map<String, Value>,
    ) -> Fields<'a> {
        let mut properties = input
            .get("properties")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        // The vault is selected by the flag of that name.
        properties.remove("vault");
        let quiet = COMMON_ARGUMENTS
            .into_iter()
            .filter(|name| *name != "vault" && !properties.contains_key(*name));
        let quiet = quiet.map(|name| {
            let kind = if name == "dry_run" {
                "boolean"
            } else {
                "string"
            };
            (name.to_owned(), json!({ "type": kind }))
        });
        let required = input
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        Fields {
            domain,
            action,
            quiet: quiet.collect(),
            properties,
            required: required.filter_map(Value::as_str).collect(),
        }
    }

    /// Each field with its schema, and whether it is required.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Value, bool)> {
        self.properties.iter().map(|(name, schema)| {
            (
                name.as_str(),
                schema,
                self.required.contains(&name.as_str()),
            )
        })
    }

    /// Whether the field exists.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.properties.contains_key(name) || self.quiet.contains_key(name)
    }

    /// Parses the words of the command line into `arguments`. The value `-` reads `stdin`.
    pub(crate) fn read(
        &self,
        words: &[String],
        arguments: &mut Map<String, Value>,
        stdin: &mut dyn Read,
    ) -> Result<(), Failure> {
        let mut given = Map::new();
        let mut words = words.iter().map(String::as_str).peekable();
        while let Some(word) = words.next() {
            let Some(flag) = word.strip_prefix("--").filter(|flag| !flag.is_empty()) else {
                return Err(self.misplaced(word));
            };
            let (name, mut value) = match flag.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (flag, None),
            };
            let (name, schema) = self.known(name)?;
            let kind = kind_of(schema);
            if value.is_none() {
                let next = words.peek().copied().filter(|next| !next.starts_with("--"));
                value = next.filter(|next| kind != "boolean" || parse_boolean(next).is_some());
                if value.is_some() {
                    words.next();
                }
            }
            let value = match (value, kind) {
                (None, "boolean") => Value::Bool(true),
                (None, _) => {
                    return Err(Failure::usage(format!(
                        "`--{name}` needs a value: {}",
                        accepted(schema)
                    ))
                    .with_hint(format!(
                        "write a value that begins with `--` as `--{name}=…`"
                    )));
                }
                (Some("-"), "string") => Value::String(everything(name, stdin)?),
                (Some(text), _) => parse(name, schema, text)?,
            };
            self.put(&mut given, name, value, kind)?;
        }
        arguments.extend(given);
        Ok(())
    }

    /// The field with that name, also if written with `-` for `_`.
    fn known(&self, name: &str) -> Result<(&str, &Value), Failure> {
        let spelt = name.replace('-', "_");
        let mut all = self.properties.iter().chain(&self.quiet);
        if let Some((known, schema)) = all.find(|(known, _)| *known == name || **known == spelt) {
            return Ok((known, schema));
        }
        let names = self.properties.keys().map(String::as_str);
        let message = match nearest(name, names.clone()) {
            Some(near) => format!(
                "`{} {}` has no `--{name}`: did you mean `--{near}`?",
                self.domain, self.action
            ),
            None => format!("`{} {}` has no `--{name}`", self.domain, self.action),
        };
        let all: Vec<String> = names.map(|name| format!("--{name}")).collect();
        Err(Failure::usage(message).with_hint(format!(
            "fields: {}; see `notehost help {} {}`",
            all.join(", "),
            self.domain,
            self.action
        )))
    }

    fn put(
        &self,
        given: &mut Map<String, Value>,
        name: &str,
        value: Value,
        kind: &str,
    ) -> Result<(), Failure> {
        match (given.get_mut(name), value) {
            (None, value) => {
                given.insert(name.to_owned(), value);
                Ok(())
            }
            (Some(Value::Array(earlier)), Value::Array(more)) if kind == "array" => {
                earlier.extend(more);
                Ok(())
            }
            _ => Err(Failure::usage(format!("`--{name}` was given twice"))),
        }
    }

    fn misplaced(&self, word: &str) -> Failure {
        let name = self
            .required
            .first()
            .copied()
            .or_else(|| self.properties.keys().next().map(String::as_str));
        Failure::usage(format!("`{word}` does not belong to a field")).with_any_hint(name.map(
            |name| {
                format!(
                    "name the field: `notehost call {} {} --{name} {}`",
                    self.domain,
                    self.action,
                    quoted(word)
                )
            },
        ))
    }
}

/// The JSON type of a field; `""` if its schema has none.
pub(crate) fn kind_of(schema: &Value) -> &str {
    schema
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn parse(name: &str, schema: &Value, text: &str) -> Result<Value, Failure> {
    let json = || serde_json::from_str::<Value>(text).ok();
    let read = match kind_of(schema) {
        "string" => Some(text.into()),
        "boolean" => parse_boolean(text).map(Value::Bool),
        "integer" => json().filter(|value| value.is_i64() || value.is_u64()),
        "number" => json().filter(Value::is_number),
        "object" => json().filter(Value::is_object),
        "array" => match json() {
            Some(list @ Value::Array(_)) => Some(list),
            _ => Some(
                vec![parse(
                    name,
                    schema.get("items").unwrap_or(&Value::Null),
                    text,
                )?]
                .into(),
            ),
        },
        // The schema has no type: JSON if it parses as JSON.
        _ => Some(json().unwrap_or_else(|| text.into())),
    };
    read.ok_or_else(|| {
        Failure::usage(format!(
            "`--{name}` needs {}, not `{text}`",
            accepted(schema)
        ))
    })
}

/// The accepted values of a field, in words.
pub(crate) fn accepted(schema: &Value) -> String {
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        return format!("one of {}", words.join(", "));
    }
    match kind_of(schema) {
        "string" => "a string".into(),
        "boolean" => "true or false".into(),
        "integer" => "an integer".into(),
        "number" => "a number".into(),
        "object" => "a JSON object".into(),
        "array" => match kind_of(schema.get("items").unwrap_or(&Value::Null)) {
            "object" => "JSON objects (repeat the flag, or a JSON array)".into(),
            _ => "a list (repeat the flag, or a JSON array)".into(),
        },
        _ => "a value".into(),
    }
}

fn parse_boolean(text: &str) -> Option<bool> {
    match text.to_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

fn everything(name: &str, stdin: &mut dyn Read) -> Result<String, Failure> {
    let mut text = String::new();
    stdin
        .read_to_string(&mut text)
        .map_err(|error| Failure::usage(format!("cannot read `--{name}` from stdin: {error}")))?;
    Ok(text)
}

#[cfg(test)]
#[path = "fields_tests.rs"]
mod tests;
