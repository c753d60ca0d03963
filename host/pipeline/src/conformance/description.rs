//! Checks of a component's description: whether models and their clients can use it.

use jsonschema::Validator;
use serde_json::{Map, Value};

use super::reply_checks;
use super::report::{Findings, Report};
use super::test_vault::{Ending, TestVault};
use crate::registry::COMMON_ARGUMENTS;
use notehost_runtime::{ActionDescription, Description};

/// Clients truncate longer descriptions.
const MAX_DESCRIPTION_BYTES: usize = 2048;
/// Keywords that combine schemas: many clients refuse tools with them.
const COMBINING: [&str; 6] = ["oneOf", "anyOf", "allOf", "not", "if", "$ref"];

/// Checks name and version.
pub(super) fn identity(description: &Description, findings: &mut Findings) {
    let version = &description.version;
    let numbers: Vec<&str> = version
        .split(['-', '+'])
        .next()
        .unwrap_or("")
        .split('.')
        .collect();
    let is_number = |text: &&str| text.parse::<u64>().is_ok();
    if numbers.len() != 3 || !numbers.iter().all(is_number) {
        findings.add(format!(
            "its version is `{version}`: use three numbers such as `1.0.0`, so that versions can be compared"
        ));
    }
}

/// Checks that clients accept the schemas.
pub(super) fn schemas(description: &Description, report: &mut Report) {
    let mut findings = Findings::default();
    for action in &description.actions {
        check_input(action, &mut findings);
        for key in COMBINING
            .iter()
            .filter(|key| action.output.contains_key(**key))
        {
            let problem = format!(
                "its output schema has `{key}` at the top level: list the fields there instead"
            );
            findings.add_for(&action.name, problem);
        }
        if mentions(&Value::Object(action.output.clone()), "$ref") {
            let problem = "its output schema has a `$ref`: inline the referenced schema";
            findings.add_for(&action.name, problem);
        }
        for (part, schema) in [("input", &action.input), ("output", &action.output)] {
            if let Err(reason) = validator(schema) {
                let problem = format!("its {part} schema does not compile: {reason}");
                findings.add_for(&action.name, problem);
            }
        }
    }
    report.check(
        "schemas",
        "its schemas compile and are flat, as clients require",
        findings,
    );
}

fn check_input(action: &ActionDescription, findings: &mut Findings) {
    for key in COMBINING
        .iter()
        .filter(|key| action.input.contains_key(**key))
    {
        let problem = format!(
            "its input schema has `{key}` at the top level, which many clients refuse: make the fields optional, and \
            reject invalid combinations in `call`"
        );
        findings.add_for(&action.name, problem);
    }
    for (name, schema) in properties(&action.input) {
        if COMMON_ARGUMENTS.contains(&name.as_str()) {
            let problem =
                format!("it declares the argument `{name}`, which the host handles itself");
            findings.add_for(&action.name, problem);
        }
        check_argument(action, name, schema, findings);
    }
    let known: Vec<&String> = properties(&action.input).map(|(name, _)| name).collect();
    for name in required(&action.input).filter(|name| !known.iter().any(|known| known == name)) {
        let problem = format!("it requires `{name}`, which its schema does not describe");
        findings.add_for(&action.name, problem);
    }
}

fn check_argument(action: &ActionDescription, name: &str, schema: &Value, findings: &mut Findings) {
    let Some(schema) = schema.as_object() else {
        let problem = format!("the schema of `{name}` is not an object");
        return findings.add_for(&action.name, problem);
    };
    for key in COMBINING.iter().filter(|key| schema.contains_key(**key)) {
        let problem =
            format!("`{name}` has `{key}`, which many clients refuse: give it a single type");
        findings.add_for(&action.name, problem);
    }
    let is_chosen = schema.contains_key("enum") || schema.contains_key("const");
    match schema.get("type") {
        Some(Value::String(_)) => {}
        Some(_) => {
            let problem = format!(
                "`{name}` has several types, which many clients refuse: give it a single type, and remove it from \
                `required`"
            );
            findings.add_for(&action.name, problem);
        }
        None if is_chosen || schema.keys().any(|key| COMBINING.contains(&key.as_str())) => {}
        None => {
            let problem = format!("`{name}` has no `type`, which many clients require");
            findings.add_for(&action.name, problem);
        }
    }
    if let Some(items) = schema.get("items") {
        check_argument(action, &format!("{name}[]"), items, findings);
    }
    for (inner, schema) in properties(schema) {
        check_argument(action, &format!("{name}.{inner}"), schema, findings);
    }
}

/// Checks that all descriptions exist.
pub(super) fn words(description: &Description, report: &mut Report) {
    let mut findings = Findings::default();
    if description.description.trim().is_empty() {
        findings.add("the domain has no description: state its purpose in a sentence");
    }
    for action in &description.actions {
        let length = action.description.len();
        if action.description.trim().is_empty() {
            let problem = "it has no description, by which a model chooses the action";
            findings.add_for(&action.name, problem);
        }
        if length > MAX_DESCRIPTION_BYTES {
            let problem = format!(
                "its description has {length} bytes, and clients truncate it at {MAX_DESCRIPTION_BYTES}: shorten it, and \
                put the most important first"
            );
            findings.add_for(&action.name, problem);
        }
        for (name, schema) in properties(&action.input) {
            let described = schema.get("description").and_then(Value::as_str);
            if described.is_none_or(|text| text.trim().is_empty()) {
                let problem = format!(
                    "`{name}` has no description: describe the expected value, with an example"
                );
                findings.add_for(&action.name, problem);
            }
        }
    }
    report.check(
        "words",
        "domain, actions and arguments are described",
        findings,
    );
}

/// Checks that examples and defaults match their schemas, and that examples can be called.
pub(super) async fn examples(
    test_vault: &TestVault<'_>,
    description: &Description,
    report: &mut Report,
) {
    let mut findings = Findings::default();
    for action in &description.actions {
        for (name, schema) in properties(&action.input) {
            let listed = schema.get("examples").and_then(Value::as_array);
            let shown = listed.into_iter().flatten().chain(schema.get("default"));
            let Some(fits) = schema.as_object().and_then(|map| validator(map).ok()) else {
                continue;
            };
            for value in shown.filter(|value| !fits.is_valid(value)) {
                let problem = format!(
                    "`{value}` is an example or default of `{name}` and does not match its schema"
                );
                findings.add_for(&action.name, problem);
            }
        }
        let whole = action.input.get("examples").and_then(Value::as_array);
        for example in whole.into_iter().flatten() {
            example_works(test_vault, action, example, &mut findings).await;
        }
    }
    report.check("examples", "its examples work, if it has any", findings);
}

async fn example_works(
    test_vault: &TestVault<'_>,
    action: &ActionDescription,
    example: &Value,
    findings: &mut Findings,
) {
    let fits = validator(&action.input).is_ok_and(|fits| fits.is_valid(example));
    let Some(arguments) = example.as_object().filter(|_| fits) else {
        let problem = format!("the example `{example}` does not match the input schema");
        return findings.add_for(&action.name, problem);
    };
    let answer = test_vault.call(action, arguments).await;
    let problem = match &answer.ending {
        // The notes of an example are the author's, and need not exist in this vault.
        Ending::Refused { code, .. } if code == "not_found" => None,
        Ending::Refused { code, message } => {
            Some(format!("the example is refused: {code}: {message}"))
        }
        _ => reply_checks::fault(&answer.ending),
    };
    if let Some(problem) = problem {
        findings.add_call(&action.name, arguments, problem);
    }
}

/// The properties of an object's schema.
pub(super) fn properties(schema: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    let declared = schema.get("properties").and_then(Value::as_object);
    declared.into_iter().flatten()
}

/// The names that an object's schema requires.
pub(super) fn required(schema: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str)
}

/// The validator of a schema.
pub(super) fn validator(schema: &Map<String, Value>) -> Result<Validator, String> {
    jsonschema::options()
        .build(&Value::Object(schema.clone()))
        .map_err(|error| error.to_string())
}

/// Whether a key occurs anywhere in a schema.
fn mentions(schema: &Value, key: &str) -> bool {
    match schema {
        Value::Object(map) => {
            map.contains_key(key) || map.values().any(|inner| mentions(inner, key))
        }
        Value::Array(items) => items.iter().any(|inner| mentions(inner, key)),
        _ => false,
    }
}
