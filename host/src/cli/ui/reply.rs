//! Formats a reply for a terminal: a table for a list, a coloured diff for a dry run,
//! its text otherwise; and rephrases errors with the flags of the command line.

use serde_json::{Map, Value};

use crate::cli::ui::action_help::command;
use crate::cli::ui::fields::Fields;
use crate::cli::ui::output::coloured_diff;
use crate::cli::ui::terminal::Terminal;
use notehost_pipeline::registry::Snapshot;
use notehost_pipeline::{Content, Reply};
use notehost_platform::shell::quoted;
use notehost_records::when;

/// A reply for a terminal.
pub(crate) fn for_people(terminal: &Terminal, reply: &Reply) -> String {
    let structured = &reply.structured;
    let mut text = list(terminal, structured)
        .or_else(|| diffs(terminal, structured))
        .or_else(|| note(terminal, structured))
        .unwrap_or_else(|| terminal.safe(&reply.text).into_owned());
    if !text.ends_with('\n') {
        text.push('\n');
    }
    for content in &reply.content {
        let line = match content {
            Content::Image { bytes, mime } => format!("[image: {mime}, {} bytes]", bytes.len()),
            Content::Audio { bytes, mime } => format!("[audio: {mime}, {} bytes]", bytes.len()),
            Content::Link { vault, path } => format!("[link: {path} in {vault}]"),
        };
        text.push_str(&terminal.faint(&terminal.safe(&line)));
        text.push('\n');
    }
    text
}

/// A page of a list as a table, with the flag for the next page.
fn list(terminal: &Terminal, structured: &Map<String, Value>) -> Option<String> {
    let items = structured.get("items")?.as_array()?;
    let mut text = if items.is_empty() {
        terminal.faint("no items") + "\n"
    } else if items.iter().all(Value::is_object) {
        table(terminal, items)
    } else {
        items
            .iter()
            .map(|item| format!("{}\n", terminal.safe(&cell("", item))))
            .collect()
    };
    let mut footer = Vec::new();
    if let Some(total) = structured
        .get("total")
        .and_then(Value::as_u64)
        .filter(|total| *total > items.len() as u64)
    {
        footer.push(format!("{} of {total}", items.len()));
    }
    if let Some(cursor) = structured.get("next_cursor").and_then(Value::as_str) {
        footer.push(format!("more: --cursor {}", quoted(cursor)));
    }
    if !footer.is_empty() {
        text.push_str(&terminal.faint(&terminal.safe(&footer.join(" · "))));
        text.push('\n');
    }
    Some(text)
}

fn table(terminal: &Terminal, items: &[Value]) -> String {
    let mut columns: Vec<&str> = Vec::new();
    for (key, value) in items.iter().filter_map(Value::as_object).flatten() {
        if !value.is_object() && !columns.contains(&key.as_str()) {
            columns.push(key);
        }
    }
    let row = |item: &Value| {
        columns
            .iter()
            .map(|key| {
                item.get(key)
                    .map_or(String::new(), |value| cell(key, value))
            })
            .collect()
    };
    terminal.table(&columns, items.iter().map(row))
}

fn cell(key: &str, value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(true) => "yes".into(),
        Value::Bool(false) => "no".into(),
        Value::Number(number) => match (key, number.as_u64()) {
            ("modified" | "time" | "removed" | "created", Some(milliseconds)) => {
                when::shown(i64::try_from(milliseconds).unwrap_or(i64::MAX))
            }
            _ => number.to_string(),
        },
        Value::Array(items) => items
            .iter()
            .map(|item| cell("", item))
            .collect::<Vec<_>>()
            .join(", "),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| format!("{key} {}", cell(key, value)))
            .collect::<Vec<_>>()
            .join(", "),
    }
}

/// A note that was read: its text, below a line with its path and line range.
fn note(terminal: &Terminal, structured: &Map<String, Value>) -> Option<String> {
    let path = structured.get("path")?.as_str()?;
    let content = structured.get("content")?.as_str()?;
    let line = |which: &str| structured.get("lines")?.get(which)?.as_u64();
    let place = match (line("from"), line("to"), line("total")) {
        (Some(from), Some(to), Some(total)) if from > 1 || to < total => {
            format!("{path}, lines {from}–{to} of {total}")
        }
        _ => path.to_owned(),
    };
    let place = terminal.faint(&terminal.safe(&place));
    Some(format!("{place}\n{}", terminal.safe(content)))
}

/// The changes of a dry run.
fn diffs(terminal: &Terminal, structured: &Map<String, Value>) -> Option<String> {
    structured
        .get("dry_run")?
        .as_bool()
        .filter(|dry_run| *dry_run)?;
    let changes = structured.get("changes")?.as_array()?;
    if changes.is_empty() {
        return Some("nothing would change\n".into());
    }
    let mut text = String::new();
    for change in changes {
        let field = |key: &str| change.get(key).and_then(Value::as_str).unwrap_or_default();
        let from = change
            .get("from")
            .and_then(Value::as_str)
            .map(|from| format!(" (from {from})"));
        let heading = format!(
            "would {} {}{}",
            field("kind"),
            field("path"),
            from.unwrap_or_default()
        );
        text.push_str(&terminal.strong(&terminal.safe(&heading)));
        text.push('\n');
        text.push_str(&coloured_diff(terminal, field("diff")));
    }
    Some(text)
}

/// The context for rephrasing a message for the command line.
pub(crate) struct Commands<'a> {
    /// The domain that was called.
    pub(crate) domain: &'a str,
    /// All domains.
    pub(crate) domains: &'a Snapshot,
    /// The fields of the action.
    pub(crate) fields: &'a Fields<'a>,
    /// The arguments of the call.
    pub(crate) arguments: &'a Map<String, Value>,
}

impl Commands<'_> {
    /// Replaces names of arguments with flags, and names of actions with commands.
    pub(crate) fn phrase(&self, message: &str) -> String {
        let mut phrased = String::new();
        for (index, part) in message.split('`').enumerate() {
            if index > 0 {
                phrased.push('`');
            }
            match (index % 2 == 1).then(|| self.translate(part)).flatten() {
                Some(translated) => phrased.push_str(&translated),
                None => phrased.push_str(part),
            }
        }
        phrased
    }

    fn translate(&self, word: &str) -> Option<String> {
        // A word that the person typed is a value, even if a field has the same name.
        if self
            .arguments
            .values()
            .any(|value| value.as_str() == Some(word))
        {
            return None;
        }
        if word == "vault" || self.fields.contains(word) {
            return Some(format!("--{word}"));
        }
        if let Some((name, value)) = word
            .split_once(": ")
            .filter(|(name, _)| self.fields.contains(name))
        {
            return Some(match value.trim_matches('"') {
                "true" => format!("--{name}"),
                value => format!("--{name} {}", quoted(value)),
            });
        }
        let (name, example) = word.split_once(" {").unwrap_or((word, ""));
        let (domain, action) = name.split_once(['.', ' ']).unwrap_or((self.domain, name));
        let found = self.domains.domain(domain)?.action(action)?;
        if example.is_empty() {
            return Some(format!("notehost call {domain} {action}"));
        }
        let arguments = serde_json::from_str(&format!("{{{example}")).ok()?;
        Some(command(domain, found, &arguments))
    }
}
