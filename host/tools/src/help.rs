//! Help texts for models: an action in one line, a domain on one page, an action in full. The texts are the component's
//! own; here they are only arranged and cut.

use notehost_sdk::Code;
use serde_json::{Value, json};

use crate::schema;
use notehost_config::nearest;
use notehost_pipeline::registry::{Action, COMMON_ARGUMENTS, Domain, Example};
use notehost_pipeline::{CallError, Reply};

/// Whether an argument is handled by the host for every action, so that no line repeats it.
pub(crate) fn is_common(argument: &str) -> bool {
    COMMON_ARGUMENTS.contains(&argument)
}

/// Whether an argument only selects a page of a list: every list has these, so no line repeats them.
pub(crate) fn is_paging(argument: &str) -> bool {
    matches!(argument, "limit" | "cursor")
}

/// A text in one line, up to the end of its first sentence, in no more than `limit` bytes.
pub fn first_sentence(text: &str, limit: usize) -> String {
    let paragraph = text.trim().split("\n\n").next().unwrap_or_default();
    let line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let sentence = line
        .split_once(". ")
        .map_or(line.as_str(), |(sentence, _)| sentence);
    let sentence = sentence.trim_end_matches('.');
    if sentence.len() <= limit {
        return sentence.to_owned();
    }
    first_clauses(sentence, limit).unwrap_or_else(|| cut(sentence, limit))
}

/// The leading clauses of a sentence that fit: a whole clause is better than half a sentence. Commas may be those of a
/// list, and a colon after code explains that code.
fn first_clauses(sentence: &str, limit: usize) -> Option<String> {
    let stops = sentence.match_indices([';', ':']).map(|(at, _)| at);
    let end = stops
        .chain(sentence.match_indices(" (").map(|(at, _)| at))
        .filter(|end| (1..=limit).contains(end))
        .filter(|end| is_balanced(&sentence[..*end]) && !sentence[..*end].ends_with('`'))
        .max()?;
    Some(sentence[..end].to_owned())
}

/// Whether no parenthesis and no code is left open.
fn is_balanced(text: &str) -> bool {
    text.matches('(').count() == text.matches(')').count()
        && text.matches('`').count().is_multiple_of(2)
}

fn cut(text: &str, limit: usize) -> String {
    let mut short = String::new();
    for part in text.split(' ') {
        if short.len() + part.len() + '…'.len_utf8() > limit {
            break;
        }
        short.push_str(part);
        short.push(' ');
    }
    if short.is_empty() {
        short
    } else {
        format!("{}…", short.trim_end())
    }
}

/// The signature of an action: `read(path, [section, format])`.
pub(crate) fn signature(action: &Action) -> String {
    let own = || {
        schema::properties(&action.input)
            .map(|(name, _)| name)
            .filter(|name| !is_common(name) && !is_paging(name))
    };
    let required: Vec<&str> = own()
        .filter(|name| schema::is_required(&action.input, name))
        .collect();
    let optional: Vec<&str> = own()
        .filter(|name| !schema::is_required(&action.input, name))
        .collect();
    let mut arguments = required.join(", ");
    if !optional.is_empty() {
        if !arguments.is_empty() {
            arguments.push_str(", ");
        }
        arguments.push_str(&format!("[{}]", optional.join(", ")));
    }
    format!("{}({arguments})", action.name)
}

/// Help on a domain, or on one of its actions.
pub fn reply(domain: &Domain, topic: Option<&str>) -> Result<Reply, CallError> {
    match topic {
        None => Ok(on_domain(domain)),
        Some(topic) => match domain.action(topic) {
            Some(action) => Ok(on_action(domain, action)),
            None => Err(no_such_action(domain, topic)),
        },
    }
}

/// The error for an unknown action of a domain.
fn no_such_action(domain: &Domain, action: &str) -> CallError {
    let names: Vec<&str> = domain
        .actions
        .iter()
        .map(|action| action.name.as_str())
        .collect();
    let near = match nearest(action, names.iter().copied()) {
        Some(near) => format!("; did you mean `{near}`? It has"),
        None => "; it has".to_owned(),
    };
    CallError::new(
        Code::NotFound,
        format!(
            "`{}` has no action `{action}`{near} {}",
            domain.name,
            quoted(&names)
        ),
    )
    .with_details(json!({ "actions": names }))
}

/// Names for a message.
pub(crate) fn quoted(names: &[&str]) -> String {
    names
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

fn on_domain(domain: &Domain) -> Reply {
    let mut text = format!(
        "{} {}\n{}\n",
        domain.name,
        domain.version,
        domain.description.trim()
    );
    let mut actions = Vec::new();
    for action in &domain.actions {
        let sentence = first_sentence(&action.description, 200);
        let signature = signature(action);
        text.push_str(&format!(
            "\n{signature} [{}]: {sentence}",
            action.effect.as_str()
        ));
        let first = action.examples.first();
        if let Some(first) = first {
            text.push_str(&format!("\n  {}", Value::Object(first.arguments.clone())));
        }
        actions.push(json!({
            "name": action.name, "effect": action.effect.as_str(), "signature": signature, "description": sentence,
            "examples": calls(first),
        }));
    }
    let structured =
        json!({ "domain": domain.name, "version": domain.version, "actions": actions });
    answer(text, structured)
}

/// An action in full: description, arguments, reply.
fn on_action(domain: &Domain, action: &Action) -> Reply {
    let input = schema::plain(&action.input);
    let mut text = format!(
        "{}.{} [{}]\n{}\n",
        domain.name,
        signature(action),
        action.effect.as_str(),
        action.description.trim()
    );
    for (name, argument) in schema::properties(&input) {
        let kind = argument
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or("object");
        let need = if schema::is_required(&input, name) {
            ", required"
        } else {
            ""
        };
        let about = argument
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or_default();
        text.push_str(&format!("\n{name} ({kind}{need}): {}", about.trim()));
    }
    for example in &action.examples {
        let about = example.about.as_deref();
        let about = about.map(|about| format!(" ({about})")).unwrap_or_default();
        let arguments = Value::Object(example.arguments.clone());
        text.push_str(&format!("\n\nExample{about}: {arguments}"));
    }
    let structured = json!({
        "domain": domain.name,
        "action": action.name,
        "effect": action.effect.as_str(),
        "description": action.description,
        "examples": calls(&action.examples),
        "input": input,
        "output": action.output,
    });
    answer(text, structured)
}

/// The arguments of examples.
fn calls<'a>(examples: impl IntoIterator<Item = &'a Example>) -> Vec<Value> {
    let arguments = examples.into_iter().map(|example| &example.arguments);
    arguments.cloned().map(Value::Object).collect()
}

/// A reply made by the host.
pub(crate) fn answer(text: String, structured: Value) -> Reply {
    Reply {
        text,
        structured: schema::object(structured),
        content: Vec::new(),
    }
}
