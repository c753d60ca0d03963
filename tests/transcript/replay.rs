//! Replays a transcript: a separate vault and host, every request through `dispatch::call`, every reply rewritten. Also
//! checks the properties of all replies.

use std::path::Path;
use std::sync::Arc;

use notehost::auth::Caller;
use notehost::config::{CallerSettings, ComponentSettings, Settings};
use notehost::dispatch::{self, CallError, Content as ReplyContent, Host, Reply, Request};
use notehost::registry::EMBEDDED;
use serde_json::{Map, Value};

use super::layout::{escaped_lines, json};
use super::script::{Content, Header, Script, StepKind};
use super::stable::Stable;
use crate::support::place::Place;

/// Replays a transcript; returns it with the current replies.
pub(crate) async fn replay(text: &str) -> String {
    let Script { header, steps } = Script::parse(text);
    let place = Place::new();
    let mut replayer = Replayer {
        host: None,
        settings: settings(&place, &header),
        caller: Caller::command_line(Some(&header.caller.name)),
        stable: Stable::new(),
        place,
    };
    let mut played = String::new();
    for step in steps {
        played.push_str(&step.source);
        played.push_str(&replayer.perform(step.act).await);
    }
    played
}

/// The vault and host of a transcript.
struct Replayer {
    place: Place,
    settings: Settings,
    /// Created by the first call, when the vault is complete.
    host: Option<Arc<Host>>,
    caller: Caller,
    stable: Stable,
}

fn settings(place: &Place, header: &Header) -> Settings {
    let mut settings = place.settings();
    settings.permissions = header.permissions.clone();
    settings.orientation.notebooks = ["Work", "Diary"].map(str::to_owned).to_vec();
    settings.limits = header.limits.clone();
    let first = (&header.caller.name, &header.caller.permissions);
    for (name, notebooks) in header.callers.iter().chain([first]) {
        let mut caller = CallerSettings::default();
        caller.permissions.notebooks = notebooks.clone();
        settings.callers.insert(name.clone(), caller);
    }
    for embedded in EMBEDDED {
        let named = header.components.as_ref();
        let mut switches = ComponentSettings {
            enabled: named.is_none_or(|named| named.iter().any(|name| name == embedded.name)),
            ..ComponentSettings::default()
        };
        for name in &header.switched_off {
            let (domain, action) = name.split_once('.').expect("domain.action");
            if domain == embedded.name {
                switches.actions.insert(action.to_owned(), false);
            }
        }
        settings
            .components
            .insert(embedded.name.to_owned(), switches);
    }
    settings
}

impl Replayer {
    async fn perform(&mut self, act: StepKind) -> String {
        match act {
            StepKind::Nothing => String::new(),
            StepKind::Put { path, content } => {
                match content {
                    Content::File(bytes) => self.place.write(&path, bytes),
                    Content::Folder => {
                        std::fs::create_dir_all(self.place.vault().join(path)).expect("a folder")
                    }
                    Content::Link(target) => self.place.link(&path, target),
                }
                String::new()
            }
            StepKind::Caller(name) => {
                self.caller = Caller::command_line(Some(&name));
                String::new()
            }
            StepKind::Clock(moment) => {
                let now = notehost_sdk::host::Now {
                    milliseconds: u64::try_from(moment.timestamp_millis()).expect("after 1970"),
                    offset_minutes: moment.offset().local_minus_utc() / 60,
                    zone: None,
                };
                self.host().await.stop_clock(now);
                String::new()
            }
            StepKind::Show(path) => self.show(&path),
            StepKind::Call {
                domain,
                action,
                arguments,
            } => self.call(domain, action, &arguments).await,
        }
    }

    async fn host(&mut self) -> Arc<Host> {
        if let Some(host) = &self.host {
            return host.clone();
        }
        let host = self.place.host(self.settings.clone()).await;
        self.host.insert(host).clone()
    }

    async fn call(&mut self, domain: String, action: String, arguments: &str) -> String {
        let arguments: Map<String, Value> = serde_json::from_str(&self.stable.with_ids(arguments))
            .unwrap_or_else(|error| {
                panic!("the arguments of {domain}.{action}: {error}: {arguments}")
            });
        let host = self.host().await;
        let request = Request::new(&domain, &action, arguments);
        let report = match dispatch::call(&host, &self.caller, request).await {
            Ok(reply) => {
                check_reply(&host, &domain, &action, &reply);
                self.format_reply(&reply, &domain, &action)
            }
            Err(error) => self.format_error(&error),
        };
        let root = self.place.root().to_str().expect("a UTF-8 path");
        assert!(
            !report.contains(root),
            "{domain}.{action} reveals a path of the machine: {report}"
        );
        report
    }

    fn format_reply(&mut self, reply: &Reply, domain: &str, action: &str) -> String {
        // The structured content determines the kind of an id, or else the action.
        let kind = if (domain, action) == ("document", "trash") {
            "trash"
        } else {
            "change"
        };
        let structured = self
            .stable
            .value(&Value::Object(reply.structured.clone()), kind);
        let text = self.stable.text(&reply.text, kind);
        let mut output = String::new();
        for line in escaped_lines(text.as_bytes())
            .iter()
            .filter(|_| !text.is_empty())
        {
            // Texts usually end without a line feed, so this is not shown.
            let line = line.strip_suffix('\\').unwrap_or(line);
            output.push_str(format!("< {line}").trim_end());
            output.push('\n');
        }
        for content in &reply.content {
            output.push_str(&match content {
                ReplyContent::Image { bytes, mime } | ReplyContent::Audio { bytes, mime } => {
                    format!("< [{mime}, {} bytes]\n", bytes.len())
                }
                ReplyContent::Link { vault, path } => format!("< [link to {path} of {vault}]\n"),
            });
        }
        output.push_str(&json(&structured, 0));
        output.push('\n');
        output
    }

    fn format_error(&mut self, error: &CallError) -> String {
        let message = self.stable.text(&error.message, "change");
        let mut report = format!("! {}: {}\n", error.code, message.replace('\n', "\n  "));
        if let Some(hint) = &error.hint {
            report.push_str(&format!("  hint: {}\n", hint.replace('\n', "\n  ")));
        }
        if let Some(details) = error.details() {
            let details = self.stable.value(&details, "change");
            report.push_str(&format!("  details: {}\n", json(&details, 2)));
        }
        report
    }

    fn show(&self, path: &str) -> String {
        let mut report = String::new();
        if path.ends_with('/') {
            for path in below(&self.place.vault(), path.trim_start_matches("./")) {
                report.push_str(&format!("| {}\n", String::from_utf8_lossy(path.as_bytes())));
            }
            return if report.is_empty() {
                "(empty)\n".to_owned()
            } else {
                report
            };
        }
        match self.place.read(path) {
            None => "(absent)\n".to_owned(),
            Some(bytes) => {
                for line in escaped_lines(&bytes) {
                    report.push_str(format!("| {line}").trim_end());
                    report.push('\n');
                }
                report
            }
        }
    }
}

/// Every file and folder below a folder of the vault, without Notehost's own.
fn below(vault: &Path, folder: &str) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(vault.join(folder)) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for entry in entries.map(|entry| entry.expect("an entry")) {
        let name = entry.file_name().into_string().expect("a UTF-8 name");
        if name == ".notehost" {
            continue;
        }
        if entry.file_type().expect("a kind").is_dir() {
            found.push(format!("{folder}{name}/"));
            found.extend(below(vault, &format!("{folder}{name}/")));
        } else {
            found.push(format!("{folder}{name}"));
        }
    }
    found.sort();
    found
}

/// Checks every reply: it matches the output schema, and its paths are in the vault.
fn check_reply(host: &Host, domain: &str, action: &str, reply: &Reply) {
    let snapshot = host.registry().snapshot();
    let described = snapshot
        .domain(domain)
        .and_then(|domain| domain.action(action))
        .expect("it was called");
    let schema = Value::Object(described.output.clone());
    let structured = Value::Object(reply.structured.clone());
    let validator = jsonschema::validator_for(&schema).expect("the output schema is one");
    let problems: Vec<String> = validator
        .iter_errors(&structured)
        .map(|error| error.to_string())
        .collect();
    assert!(
        problems.is_empty(),
        "{domain}.{action} violates its output schema: {problems:#?}\n{structured:#}"
    );
    let mut undeclared = Vec::new();
    find_undeclared(&schema, &structured, "", &mut undeclared);
    assert!(
        undeclared.is_empty(),
        "{domain}.{action} returns fields that its output schema does not declare: {undeclared:?}\n{structured:#}"
    );
    check_paths(&structured, false);
}

/// Fields that a schema allows but does not declare.
fn find_undeclared(schema: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            // An object with arbitrary keys declares none, or one schema for all values.
            let properties = schema.get("properties").and_then(Value::as_object);
            let Some(properties) = properties.filter(|declared| !declared.is_empty()) else {
                return;
            };
            for (key, inner) in map {
                let place = format!("{place}.{key}");
                match properties.get(key).or(schema.get("additionalProperties")) {
                    Some(schema) => find_undeclared(schema, inner, &place, found),
                    None => found.push(place),
                }
            }
        }
        Value::Array(items) => {
            let Some(schema) = schema.get("items") else {
                return;
            };
            for (at, item) in items.iter().enumerate() {
                find_undeclared(schema, item, &format!("{place}[{at}]"), found);
            }
        }
        _ => {}
    }
}

fn check_paths(value: &Value, is_path: bool) {
    match value {
        Value::String(path) if is_path => {
            let leaves = path.starts_with('/')
                || path.split('/').any(|part| part == "..")
                || path.contains('\\');
            assert!(!leaves, "a reply contains the path {path:?}");
        }
        Value::Array(items) => items.iter().for_each(|item| check_paths(item, is_path)),
        Value::Object(map) => {
            for (key, value) in map {
                check_paths(
                    value,
                    matches!(
                        key.as_str(),
                        "path" | "paths" | "from" | "to" | "into" | "notebook"
                    ),
                );
            }
        }
        _ => {}
    }
}
