//! What several commands print: JSON documents and diffs.

use serde_json::Value;

use super::terminal::Terminal;

/// A JSON document: pretty-printed on a terminal, otherwise on one line.
pub(crate) fn json_text(terminal: &Terminal, value: Value) -> String {
    if terminal.is_terminal() {
        terminal.safe_json(&format!("{value:#}\n")).into_owned()
    } else {
        format!("{value}\n")
    }
}

/// Prints a JSON document.
pub(crate) fn print_json(terminal: &Terminal, value: Value) {
    terminal.print(&json_text(terminal, value));
}

/// A unified diff, coloured on a terminal.
pub(crate) fn coloured_diff(terminal: &Terminal, diff: &str) -> String {
    let mut text = String::new();
    for line in terminal.safe(diff).lines() {
        let coloured = match line.as_bytes().first() {
            Some(b'+') => terminal.good(line),
            Some(b'-') => terminal.bad(line),
            Some(b'@') => terminal.faint(line),
            _ => line.to_owned(),
        };
        text.push_str(&coloured);
        text.push('\n');
    }
    text
}
