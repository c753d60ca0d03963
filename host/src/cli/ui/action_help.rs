//! The help of one action: its description, its fields as flags, and example commands.

use clap::Args;
use serde_json::{Map, Value};

use crate::cli::commands::call::Call;
use crate::cli::commands::tools::effect_word;
use crate::cli::ui::failure::Failure;
use crate::cli::ui::fields::{Fields, accepted, kind_of};
use crate::cli::ui::terminal::Terminal;
use notehost_config::nearest;
use notehost_pipeline::registry::{Action, Domain};
use notehost_platform::shell::quoted;

/// The help of one action of a domain.
pub(crate) fn of_action(
    terminal: &Terminal,
    domain: &Domain,
    name: &str,
) -> Result<String, Failure> {
    let action = find(domain, name)?;
    let fields = Fields::of(&domain.name, &action.name, &action.input);
    let rows = fields.iter().map(|(name, schema, is_required)| {
        let description = schema
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let need = match (is_required, schema.get("default")) {
            (true, _) => "required".to_owned(),
            (false, None) => String::new(),
            (false, Some(Value::String(default))) => format!("default {default}"),
            (false, Some(default)) => format!("default {default}"),
        };
        vec![flag(name), accepted(schema), need, description.to_owned()]
    });
    Ok(format!(
        "{} {}\n{}\n\n{}\n{}\n{}",
        terminal.strong(&format!("{} {}", domain.name, action.name)),
        terminal.faint(&format!("(effect: {})", effect_word(action.effect))),
        terminal.safe(action.description.trim()),
        terminal.table(&["field", "type", "", "description"], rows),
        terminal.strong("Examples:"),
        examples(terminal, domain, action, &fields),
    ))
}

/// Example commands: those of the component's author, otherwise one with the required fields.
fn examples(terminal: &Terminal, domain: &Domain, action: &Action, fields: &Fields<'_>) -> String {
    let mut commands: Vec<(Option<&str>, String)> = action
        .examples
        .iter()
        .map(|example| {
            let command = command(&domain.name, action, &example.arguments);
            (example.about.as_deref(), command)
        })
        .collect();
    if commands.is_empty() {
        commands.push((None, example_command(domain, action, fields)));
    }
    let lines = commands.into_iter().map(|(about, command)| {
        let about = about.map(|about| {
            format!(
                "  {}\n",
                terminal.faint(&terminal.safe(&format!("# {about}")))
            )
        });
        format!(
            "{}  {}\n",
            about.unwrap_or_default(),
            terminal.good(&terminal.safe(&command))
        )
    });
    lines.collect()
}

/// A call with these arguments as a command.
pub(crate) fn command(domain: &str, action: &Action, arguments: &Map<String, Value>) -> String {
    let mut command = command_start(domain, action);
    for (name, value) in arguments {
        match value {
            Value::Bool(true) => command.push_str(&format!(" {}", flag(name))),
            // A value that begins with `-` would be read as a flag, and `-` alone as stdin.
            Value::String(text) if text.starts_with('-') => {
                command.push_str(&format!(" {}={}", flag(name), quoted(text)));
            }
            Value::String(text) => command.push_str(&format!(" {} {}", flag(name), quoted(text))),
            Value::Array(items) if !items.is_empty() && items.iter().all(is_plain_text) => {
                for item in items.iter().filter_map(Value::as_str) {
                    command.push_str(&format!(" {} {}", flag(name), quoted(item)));
                }
            }
            other => command.push_str(&format!(" {} {}", flag(name), quoted(&other.to_string()))),
        }
    }
    command
}

/// Whether an item of a list can be passed as a plain word, without being read as JSON.
fn is_plain_text(item: &Value) -> bool {
    let text = item.as_str();
    text.is_some_and(|text| !text.starts_with('-') && serde_json::from_str::<Value>(text).is_err())
}

/// The start of a command, up to its fields.
fn command_start(domain: &str, action: &Action) -> String {
    let allow = match effect_word(action.effect) {
        "read" => "",
        "write" => " --allow rw",
        _ => " --allow rwd",
    };
    format!(
        "notehost call {domain} {} --vault ~/notes{allow}",
        action.name
    )
}

fn find<'a>(domain: &'a Domain, name: &str) -> Result<&'a Action, Failure> {
    if let Some(found) = domain.action(name) {
        return Ok(found);
    }
    let known: Vec<&str> = domain
        .actions
        .iter()
        .map(|action| action.name.as_str())
        .collect();
    let message = match nearest(name, known.iter().copied()) {
        Some(near) => format!(
            "`{}` has no action `{name}`: did you mean `{near}`?",
            domain.name
        ),
        None => format!("`{}` has no action `{name}`", domain.name),
    };
    Err(Failure::usage(message).with_hint(format!("actions: {}", known.join(", "))))
}

/// A field as a flag; one with the name of a flag of `call` goes behind `--`.
fn flag(name: &str) -> String {
    let command = Call::augment_args(clap::Command::new("call"));
    let is_taken = command
        .get_arguments()
        .any(|argument| argument.get_long() == Some(name));
    if is_taken {
        format!("-- --{name}")
    } else {
        format!("--{name}")
    }
}

/// An example command with the required fields.
fn example_command(domain: &Domain, action: &Action, fields: &Fields<'_>) -> String {
    let mut command = command_start(&domain.name, action);
    for (name, schema, _) in fields.iter().filter(|(_, _, is_required)| *is_required) {
        command.push_str(&format!(
            " {} {}",
            flag(name),
            quoted(&example_value(name, schema))
        ));
    }
    command
}

fn example_value(name: &str, schema: &Value) -> String {
    let description = schema
        .get("examples")
        .and_then(|examples| examples.get(0))
        .or_else(|| schema.get("enum")?.get(0));
    match description {
        Some(Value::String(text)) => return text.clone(),
        Some(other) => return other.to_string(),
        None => {}
    }
    let items = schema.get("items").unwrap_or(&Value::Null);
    match (name, kind_of(schema)) {
        (_, "array") if kind_of(items) == "object" => format!("[{}]", example_object(items)),
        (_, "array") => example_value(name.trim_end_matches('s'), items),
        (_, "object") if name == "set" || name == "properties" => r#"{"status": "done"}"#.into(),
        (_, "object") => example_object(schema),
        (_, "integer" | "number") => "10".into(),
        (_, "boolean") => "true".into(),
        ("path" | "from" | "source", _) => "Work/Plan.md".into(),
        ("to" | "into", _) => "Work/Next plan.md".into(),
        ("notebook", _) => "Work".into(),
        ("section", _) => "Plan > Next steps".into(),
        ("text" | "content", _) => "A line of text".into(),
        ("query", _) => "garden".into(),
        (name, _) => name.to_uppercase(),
    }
}

/// An example object with its required fields.
fn example_object(schema: &Value) -> String {
    let required = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let fields = required.filter_map(Value::as_str).map(|name| {
        let inner = schema
            .get("properties")
            .and_then(|properties| properties.get(name))
            .unwrap_or(&Value::Null);
        let value = example_value(name, inner);
        // Strings are quoted; numbers, lists and objects are JSON already.
        let value = if kind_of(inner) == "string" {
            Value::String(value).to_string()
        } else {
            value
        };
        format!("\"{name}\": {value}")
    });
    format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
#[path = "action_help_tests.rs"]
mod tests;
