//! Validates the arguments against the action's schema. An error names the field, the problem and the accepted values.

use notehost_sdk::Code;
use std::sync::Arc;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::{Map, Value, json};

use super::govern::Cut;
use super::resolve::{Found, nearest};
use crate::registry::{Action, COMMON_ARGUMENTS};
use crate::request::APPROVAL;
use crate::{CallError, Request};
use notehost_vault::Effect;

/// The longest idempotency key.
const MAX_KEY_BYTES: usize = 256;
/// The maximum size of a reading action's arguments: names and conditions, no content.
const MAX_READ_ARGUMENT_BYTES: usize = 1 << 20;
/// How many problems are reported, and how many unknown arguments of one object.
const MAX_PROBLEMS: usize = 5;

/// A request with valid arguments.
pub struct Checked {
    pub(crate) found: Found,
    pub(crate) common: Common,
    /// What the component gets, as JSON text. Shared by all attempts.
    pub(crate) arguments: Arc<str>,
    /// Where an earlier reply to this list was cut.
    pub(crate) resumed: Option<Cut>,
}

/// The arguments that the host handles for every action.
#[derive(Debug, Default)]
pub(crate) struct Common {
    pub(crate) vault: Option<String>,
    pub(crate) dry_run: bool,
    pub(crate) if_match: Option<String>,
    pub(crate) idempotency_key: Option<String>,
}

/// Takes out the arguments that the host handles, and validates the rest.
#[tracing::instrument(level = "debug", skip_all)]
pub fn validate(mut found: Found) -> Result<Checked, CallError> {
    let common = Common::take(&mut found.request)?;
    let resumed = Cut::take(&mut found.request.arguments);
    let arguments = Value::Object(std::mem::take(&mut found.request.arguments));
    let action = found.action()?;
    let validator = action.validator().map_err(|reason| {
        CallError::new(
            Code::ComponentFailed,
            format!("the action's schema cannot be used: {reason}"),
        )
    })?;
    if !validator.is_valid(&arguments) {
        let problems: Vec<String> = validator
            .iter_errors(&arguments)
            .take(MAX_PROBLEMS)
            .map(|error| problem(&error, action))
            .collect();
        return Err(mended(problems.join("; "), &found.domain.name, action));
    }
    let arguments = arguments.to_string();
    if action.effect == Effect::Read && arguments.len() > MAX_READ_ARGUMENT_BYTES {
        return Err(CallError::new(
            Code::TooLarge,
            format!(
                "the arguments have {} bytes, and the limit of an action that reads is {MAX_READ_ARGUMENT_BYTES}",
                arguments.len()
            ),
        ));
    }
    Ok(Checked {
        common,
        arguments: arguments.into(),
        resumed,
        found,
    })
}

/// An error that ends with an example of a valid call.
fn mended(problems: String, domain: &str, action: &Action) -> CallError {
    let usage = usage(domain, action);
    let Some(example) = action.examples.first() else {
        return CallError::new(Code::ValidationError, problems)
            .with_details(json!({ "usage": usage }));
    };
    let arguments = Value::Object(example.arguments.clone());
    let message = format!(
        "{problems}; for example `{domain}.{} {arguments}`",
        action.name
    );
    let details = json!({ "usage": usage, "example": arguments });
    CallError::new(Code::ValidationError, message).with_details(details)
}

impl Common {
    fn take(request: &mut Request) -> Result<Common, CallError> {
        let mut text = |name: &str| match request.arguments.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong_type(name, "a string", &other)),
        };
        let vault = text("vault")?;
        let if_match = text("if_match")?;
        // A request takes a valid approval out of its arguments.
        text(APPROVAL)?;
        let idempotency_key = text("idempotency_key")?;
        if let Some(key) = &idempotency_key
            && !(1..=MAX_KEY_BYTES).contains(&key.len())
        {
            return Err(CallError::new(
                Code::ValidationError,
                format!(
                    "`idempotency_key` has {} bytes, and 1 to {MAX_KEY_BYTES} are allowed",
                    key.len()
                ),
            ));
        }
        let dry_run = match request.arguments.remove("dry_run") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(dry_run)) => dry_run,
            Some(other) => return Err(wrong_type("dry_run", "true or false", &other)),
        };
        Ok(Common {
            vault,
            dry_run,
            if_match,
            idempotency_key,
        })
    }
}

fn wrong_type(name: &str, wanted: &str, found: &Value) -> CallError {
    CallError::new(
        Code::ValidationError,
        format!("`{name}` must be {wanted}, not {}", shown(found)),
    )
}

/// Describes one problem.
fn problem(error: &jsonschema::ValidationError<'_>, action: &Action) -> String {
    let at = field(&error.instance_path().to_string());
    let at = if at.is_empty() {
        "the arguments".to_owned()
    } else {
        format!("`{at}`")
    };
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let known = accepted(action, &error.instance_path().to_string());
            let mut problems: Vec<String> = unexpected
                .iter()
                .take(MAX_PROBLEMS)
                .map(|name| {
                    let near = nearest(name, known.iter().map(String::as_str));
                    format!(
                        "`{}` is not an argument of `{}`{near}",
                        short(name),
                        action.name
                    )
                })
                .collect();
            let more = unexpected.len().saturating_sub(MAX_PROBLEMS);
            if more > 0 {
                problems.push(format!("nor are {more} others"));
            }
            let accepted = match known.as_slice() {
                [] => "it takes none".to_owned(),
                known => format!("accepted: {}", known.join(", ")),
            };
            format!("{} ({accepted})", problems.join(", "))
        }
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            match at.as_str() {
                "the arguments" => format!("`{name}` is missing{}", meaning(action, name)),
                _ => format!("{at} lacks `{name}`"),
            }
        }
        ValidationErrorKind::Type { kind } => {
            let wanted = match kind {
                TypeKind::Single(kind) => kind.to_string(),
                TypeKind::Multiple(kinds) => {
                    let kinds: Vec<String> = kinds.iter().map(|kind| kind.to_string()).collect();
                    kinds.join(" or ")
                }
            };
            format!(
                "{at} must be of type {wanted}, not {}",
                shown(error.instance())
            )
        }
        ValidationErrorKind::Enum { options } => {
            let words: Vec<String> = options
                .as_array()
                .into_iter()
                .flatten()
                .map(|word| {
                    word.as_str()
                        .map_or_else(|| word.to_string(), str::to_owned)
                })
                .collect();
            let near = error
                .instance()
                .as_str()
                .map(|word| nearest(word, words.iter().map(String::as_str)))
                .unwrap_or_default();
            format!(
                "{at} must be one of {}, not {}{near}",
                words.join(", "),
                shown(error.instance())
            )
        }
        _ => {
            let mut message = error.to_string();
            message.truncate(message.floor_char_boundary(200));
            format!("{at}: {message}")
        }
    }
}

/// `/edits/0/old` as `edits[0].old`.
fn field(pointer: &str) -> String {
    let mut name = String::new();
    for part in pointer.split('/').skip(1) {
        if part.bytes().all(|byte| byte.is_ascii_digit()) {
            name.push_str(&format!("[{part}]"));
        } else {
            if !name.is_empty() {
                name.push('.');
            }
            name.push_str(part);
        }
    }
    name
}

/// The names accepted at a place of the arguments.
fn accepted(action: &Action, pointer: &str) -> Vec<String> {
    let mut schema = Value::Object(action.own_input().clone());
    for part in pointer.split('/').skip(1) {
        let inner = match part.parse::<usize>() {
            Ok(_) => schema.get("items").cloned(),
            Err(_) => schema
                .get("properties")
                .and_then(|all| all.get(part))
                .cloned(),
        };
        schema = inner.unwrap_or_default();
    }
    let own = schema.get("properties").and_then(Value::as_object);
    let mut names: Vec<String> = own
        .map(|own| own.keys().cloned().collect())
        .unwrap_or_default();
    if pointer.is_empty() {
        let common = COMMON_ARGUMENTS
            .iter()
            .filter(|name| action.input["properties"].get(**name).is_some());
        names.extend(common.map(|name| (*name).to_owned()));
    }
    names
}

fn meaning(action: &Action, argument: &str) -> String {
    let described = action
        .own_input()
        .get("properties")
        .and_then(|all| all.get(argument))
        .and_then(|schema| schema.get("description"))
        .and_then(Value::as_str);
    described
        .map(|text| format!(": {}", text.trim_end_matches('.')))
        .unwrap_or_default()
}

/// `document.read(path, [section], …)`: the signature of the call.
fn usage(domain: &str, action: &Action) -> String {
    let empty = Map::new();
    let properties = action
        .own_input()
        .get("properties")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    let required: Vec<&str> = action
        .own_input()
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let arguments: Vec<String> = properties
        .keys()
        .map(|name| {
            if required.contains(&name.as_str()) {
                name.clone()
            } else {
                format!("[{name}]")
            }
        })
        .collect();
    format!("{domain}.{}({})", action.name, arguments.join(", "))
}

/// A value that a caller sent, short enough for a sentence.
fn shown(value: &Value) -> String {
    format!("`{}`", short(&value.to_string()))
}

/// A name that a caller sent, short enough for a sentence.
fn short(text: &str) -> String {
    match text.len() > 60 {
        true => format!("{}…", &text[..text.floor_char_boundary(57)]),
        false => text.to_owned(),
    }
}
