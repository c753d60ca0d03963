//! File references in canvases. A canvas is JSON whose cards reference files (`"file": "Pictures/a.png"`) or contain
//! Markdown (`"text": "![[a.png]]"`). Strings are located by range, so that renaming a file changes no other byte.

use std::ops::Range;

use notehost_sdk::Kind;
use notehost_sdk::prelude::*;
use notehost_sdk::serde_json;

use crate::file_type::{FileKind, by_name};

/// Larger canvases are skipped.
const MAX_CANVAS_BYTES: u64 = 16 << 20;

/// A value of a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// The path of a file.
    File(String),
    /// Markdown.
    Text(String),
}

/// All card values that may reference a file, with the range of the string, quotes included.
pub(crate) fn values(canvas: &str) -> Vec<(Range<usize>, Value)> {
    let bytes = canvas.as_bytes();
    let mut found = Vec::new();
    let mut key: Option<&str> = None;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                let Some(end) = string_end(bytes, at) else {
                    break;
                };
                let range = at..end;
                let follows = bytes[end..].iter().find(|byte| !byte.is_ascii_whitespace());
                if follows == Some(&b':') {
                    key = canvas.get(at + 1..end - 1);
                } else if let Some(name @ ("file" | "text")) = key.take()
                    && let Ok(value) = serde_json::from_str::<String>(&canvas[range.clone()])
                {
                    let value = match name {
                        "file" => Value::File(value),
                        _ => Value::Text(value),
                    };
                    found.push((range, value));
                }
                at = end;
            }
            byte => {
                if !byte.is_ascii_whitespace() && byte != b':' {
                    key = None;
                }
                at += 1;
            }
        }
    }
    found
}

/// The end of a string, after its closing quote.
fn string_end(bytes: &[u8], begin: usize) -> Option<usize> {
    let mut at = begin + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Replaces the path of a file in a canvas; `None` if it does not reference it.
pub(crate) fn renamed(canvas: &str, from: &str, to: &str) -> Option<(String, usize)> {
    let mut text = String::with_capacity(canvas.len());
    let mut done = 0;
    let mut count = 0;
    for (range, value) in values(canvas) {
        if value == Value::File(from.to_owned()) {
            text.push_str(&canvas[done..range.start]);
            text.push_str(&serde_json::Value::from(to).to_string());
            done = range.end;
            count += 1;
        }
    }
    text.push_str(&canvas[done..]);
    (count > 0).then_some((text, count))
}

/// Calls `visit` for every canvas of the vault that is text.
pub(crate) fn each(vault: &Vault, mut visit: impl FnMut(Note)) -> Result<()> {
    for entry in vault.list_all("", true)? {
        if entry.kind == Kind::File
            && entry.size <= MAX_CANVAS_BYTES
            && by_name(&entry.path).kind == FileKind::Canvas
            && let Ok(canvas) = vault.read_text(&entry.path)
        {
            visit(canvas);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CANVAS: &str = "{\t\"nodes\":[\r\n {\"id\":\"file\",\"type\":\"file\",\"file\" : \"P/\\u00e4 \\\"b\\\".png\",\"x\":1},\n {\"text\":\"![[a.png]] \\\"file\\\":\\\"P/x\\\"\"},{\"file\":3}]}";

    #[test]
    fn files_and_texts_are_found() {
        let found: Vec<Value> = values(CANVAS).into_iter().map(|(_, value)| value).collect();
        assert_eq!(
            found,
            [
                Value::File("P/ä \"b\".png".to_owned()),
                Value::Text("![[a.png]] \"file\":\"P/x\"".to_owned())
            ]
        );
        assert_eq!(values("{\"file\": \"never closed"), []);
        assert_eq!(values("\"file\" \"a\""), []);
    }

    #[test]
    fn renaming_changes_only_the_file_reference() {
        let (text, count) = renamed(CANVAS, "P/ä \"b\".png", "Q/\"c\".png").unwrap();
        assert_eq!(count, 1);
        assert_eq!(
            text,
            CANVAS.replace("P/\\u00e4 \\\"b\\\".png", "Q/\\\"c\\\".png")
        );
        assert_eq!(renamed(CANVAS, "P/x", "Q/x"), None);
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in "[\\\\\"{}:,a-e file\n]{0,80}") {
            for (range, _) in values(&text) {
                prop_assert!(text[range].starts_with('"'));
            }
        }

        #[test]
        fn all_references_to_a_file_are_renamed(paths in prop::collection::vec("[a-cé\" /]{1,4}", 1..5), to in "[x-z\"\\\\]{1,4}") {
            let nodes: Vec<_> = paths.iter().map(|path| json!({"file": path, "text": path})).collect();
            let canvas = json!({ "nodes": nodes }).to_string();
            let (text, count) = renamed(&canvas, &paths[0], &to).unwrap();
            prop_assert_eq!(count, paths.iter().filter(|path| **path == paths[0]).count());
            let expected: Vec<_> = paths.iter().map(|path| {
                let file = if *path == paths[0] { &to } else { path };
                json!({"file": file, "text": path})
            }).collect();
            prop_assert_eq!(text, json!({ "nodes": expected }).to_string());
        }
    }
}
