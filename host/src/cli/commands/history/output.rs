//! Formats past changes: as tables and coloured diffs for people, as JSON for programs.

use serde_json::{Value, json};

use crate::cli::ui::output::coloured_diff;
use crate::cli::ui::terminal::Terminal;
use notehost_config::VaultEntry;
use notehost_records::when;
use notehost_vault::{Change, StagedChange, unified_diff};

/// The maximum number of paths in a line.
const MAX_PATHS: usize = 3;

/// A change as JSON.
pub(super) fn to_json(entry: &VaultEntry, change: &Change) -> Value {
    let files: Vec<Value> = change
        .files
        .iter()
        .map(|file| {
            let mut value = json!({ "path": file.path, "kind": file.kind });
            if let Some(from) = &file.from {
                value["from"] = from.as_str().into();
            }
            value
        })
        .collect();
    let mut value = json!({
        "change": change.id,
        "time": when::iso(i64::try_from(change.time).unwrap_or_default()),
        "caller": change.caller,
        "action": change.action,
        "vault": entry.id,
        "undone": change.undone,
        "files": files,
    });
    if let Some(undoes) = &change.undoes {
        value["undoes"] = undoes.as_str().into();
    }
    value
}

/// The change of a file as JSON.
pub(super) fn with_diff(file: &StagedChange) -> Value {
    let mut value = json!({
        "path": file.path,
        "kind": file.kind,
        "added": file.added,
        "removed": file.removed,
        "diff": unified_diff(file),
    });
    if let Some(from) = &file.from {
        value["from"] = from.as_str().into();
    }
    value
}

/// The changes of the files as text, with diffs.
pub(super) fn shown_files(terminal: &Terminal, files: &[StagedChange]) -> String {
    let mut text = String::new();
    for file in files {
        let kind = serde_json::to_value(file.kind).unwrap_or_default();
        let from = file.from.as_ref().map(|from| format!(" (from {from})"));
        let heading = format!(
            "{} {}{} +{} −{}",
            kind.as_str().unwrap_or_default(),
            file.path,
            from.unwrap_or_default(),
            file.added,
            file.removed
        );
        text.push_str(&format!(
            "\n{}\n",
            terminal.strong(&terminal.safe(&heading))
        ));
        let diff = unified_diff(file);
        match diff.is_empty() {
            true => text.push_str(&format!(
                "{}\n",
                terminal.faint("its content is unchanged or no longer retained")
            )),
            false => text.push_str(&coloured_diff(terminal, &diff)),
        }
    }
    text
}

/// A change as a line of a table.
pub(super) fn cells(entry: &VaultEntry, change: &Change) -> Vec<String> {
    let mut files: Vec<String> = change
        .files
        .iter()
        .take(MAX_PATHS)
        .map(|file| match &file.from {
            Some(from) => format!("{from} → {}", file.path),
            None => file.path.clone(),
        })
        .collect();
    if change.files.len() > MAX_PATHS {
        files.push(format!("and {} more", change.files.len() - MAX_PATHS));
    }
    vec![
        change.id.clone(),
        when::shown(i64::try_from(change.time).unwrap_or_default()),
        change.caller.clone(),
        change.action.clone(),
        entry.id.clone(),
        files.join(", "),
        remark(change).trim_start_matches(", ").to_owned(),
    ]
}

/// Whether a change undoes another one, or was undone.
pub(super) fn remark(change: &Change) -> String {
    match (&change.undoes, change.undone) {
        (Some(undoes), false) => format!(", undoes {undoes}"),
        (Some(undoes), true) => format!(", undoes {undoes}, undone"),
        (None, true) => ", undone".into(),
        (None, false) => String::new(),
    }
}
