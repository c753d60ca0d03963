//! Completion of a call: the domain, the action, its fields as flags, and their values. The values of a field
//! come from its schema; whether it is the path of a note, from its name.

use clap::Command;
use serde_json::{Map, Value};

use super::Candidate;
use super::commands::{flag, flags, takes_value, values, with_flag};
use super::settings::CompletionContext;
use crate::cli::commands::tools::first_sentence;
use crate::cli::ui::fields::{Fields, kind_of};
use notehost_pipeline::registry::Snapshot;

/// The fields that are paths of notes or files.
const NOTES: [&str; 10] = [
    "path", "paths", "source", "from", "to", "into", "note", "template", "database", "file",
];
/// The field that is the path of a folder.
const FOLDER: &str = "folder";

/// The domains, by name.
pub(super) fn domains(domains: &Snapshot) -> Vec<Candidate> {
    domains
        .domains()
        .map(|domain| Candidate::new(&domain.name, &first_sentence(&domain.description)))
        .collect()
}

/// The actions of a domain.
pub(super) fn actions(domains: &Snapshot, domain: &str) -> Vec<Candidate> {
    let domain = domains.domain(domain).into_iter();
    let actions = domain.flat_map(|domain| domain.actions.iter());
    actions
        .map(|action| Candidate::new(&action.name, &first_sentence(&action.description)))
        .collect()
}

/// The candidates for the unfinished word; the words begin with `call` or with the domain.
pub(super) fn candidates(
    program: &Command,
    setting: &CompletionContext,
    words: &[String],
    current: &str,
) -> Vec<Candidate> {
    let Some(call) = program.find_subcommand("call") else {
        return Vec::new();
    };
    let known = setting.domains();
    let words = match words.first().is_some_and(|first| first == "call") {
        true => &words[1..],
        false => words,
    };
    let (names, is_field_only) = names(call, words);
    let (Some(domain), Some(action)) = (names.first(), names.get(1)) else {
        if current.starts_with('-') {
            return flags(call, words);
        }
        return match names.first() {
            None => {
                expected_by_flag(call, setting, words, current).unwrap_or_else(|| domains(known))
            }
            Some(domain) => expected_by_flag(call, setting, words, current)
                .unwrap_or_else(|| actions(known, domain)),
        };
    };
    let found = known
        .domain(domain)
        .and_then(|domain| domain.action(action));
    let nothing = Map::new();
    let input = found.map_or(&nothing, |action| &action.input);
    let fields = Fields::of(domain, action, input);
    let schema = |word: &str| {
        let name = word
            .strip_prefix("--")?
            .split('=')
            .next()?
            .replace('-', "_");
        let (_, schema, _) = fields.iter().find(|(field, ..)| *field == name)?;
        Some((name, schema))
    };
    let is_own = |word: &str| !is_field_only && flag(call, word).is_some();

    if let Some((name, value)) = current
        .split_once('=')
        .filter(|_| current.starts_with("--"))
    {
        if is_own(name) {
            return with_flag(name, flag(call, name), setting, value);
        }
        let found =
            schema(name).map(|(field, schema)| of_field(&field, schema, setting, domain, value));
        return found
            .unwrap_or_default()
            .into_iter()
            .map(|candidate| {
                Candidate::new(format!("{name}={}", candidate.value), &candidate.about)
            })
            .collect();
    }
    let last = words.last().map_or("", String::as_str);
    if is_own(last) && !last.contains('=') {
        if let Some(found) = expected_by_flag(call, setting, words, current) {
            return found;
        }
    } else if let Some((field, schema)) = schema(last).filter(|_| !last.contains('='))
        && !(kind_of(schema) == "boolean" && current.starts_with('-'))
    {
        return of_field(&field, schema, setting, domain, current);
    }
    let is_given = |name: &str, schema: &Value| {
        let flag = format!("--{name}");
        let again = kind_of(schema) == "array";
        !again
            && words
                .iter()
                .any(|word| word.split('=').next() == Some(&flag))
    };
    let mut found: Vec<Candidate> = fields
        .iter()
        .filter(|(name, schema, _)| !is_given(name, schema))
        .map(|(name, schema, is_required)| {
            let about = schema.get("description").and_then(Value::as_str);
            let about = first_sentence(about.unwrap_or_default());
            let need = if is_required { "required: " } else { "" };
            Candidate::new(format!("--{name}"), &format!("{need}{about}"))
        })
        .collect();
    if !is_field_only {
        let own = flags(call, words);
        // A field that has the name of a flag goes behind `--`.
        found.retain(|field| own.iter().all(|own| own.value != field.value));
        found.extend(own);
    }
    found
}

/// The words that are neither flags nor their values, and whether everything after them is fields.
fn names(call: &Command, words: &[String]) -> (Vec<String>, bool) {
    let (mut names, mut skip) = (Vec::new(), false);
    for (at, word) in words.iter().enumerate() {
        if std::mem::take(&mut skip) {
            continue;
        }
        if word == "--" {
            let rest = words[at + 1..].iter().filter(|word| !word.starts_with('-'));
            names.extend(rest.cloned());
            return (names, true);
        }
        if word.starts_with('-') {
            let own = flag(call, word);
            // After the action only fields take values, and those are not names.
            skip = !word.contains('=') && own.is_some_and(takes_value);
        } else {
            names.push(word.clone());
        }
    }
    (names, false)
}

/// The flag of `call` that the unfinished word is the value of.
fn expected_by_flag(
    call: &Command,
    setting: &CompletionContext,
    words: &[String],
    current: &str,
) -> Option<Vec<Candidate>> {
    let last = words.last().filter(|last| !last.contains('='))?;
    let expected = flag(call, last).filter(|found| takes_value(found))?;
    Some(values(expected, setting, current))
}

fn of_field(
    name: &str,
    schema: &Value,
    setting: &CompletionContext,
    domain: &str,
    typed: &str,
) -> Vec<Candidate> {
    let inner = match kind_of(schema) {
        "array" => schema.get("items").unwrap_or(&Value::Null),
        _ => schema,
    };
    if let Some(words) = inner.get("enum").and_then(Value::as_array) {
        let words = words.iter().filter_map(Value::as_str);
        return words.map(|word| Candidate::new(word, "")).collect();
    }
    match (kind_of(inner), name) {
        ("boolean", _) => ["true", "false"]
            .map(|word| Candidate::new(word, ""))
            .to_vec(),
        ("string", "notebook") => setting.notebooks(typed),
        ("string", FOLDER) => setting.below(typed, |_| false),
        ("string", name) if NOTES.contains(&name) => setting.below(typed, |entry| {
            let end = entry.path.rsplit('.').next().unwrap_or_default();
            match domain {
                "file" | "fs" => true,
                "database" => matches!(end, "md" | "base"),
                _ => end.eq_ignore_ascii_case("md"),
            }
        }),
        _ => Vec::new(),
    }
}
