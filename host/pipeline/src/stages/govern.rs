//! Bounds the size of replies. A list is cut between two items and a note between two lines, each with a way to
//! continue; JSON is never cut.

use std::sync::Arc;

use notehost_sdk::Code;
use serde_json::{Map, Value};

use super::authorize::Allowed;
use super::commit::Landed;
use crate::{CallError, Host, Reply};
use notehost_config::LimitSettings;

/// The prefix of a cursor that points into a component's own page.
const MARK: &str = "cut.";

/// Where a list was cut: the number of items into the component's page, and its own cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cut {
    skip: usize,
    cursor: String,
}

impl Cut {
    /// Takes our cursor out of the arguments and puts back the component's own.
    pub(crate) fn take(arguments: &mut Map<String, Value>) -> Option<Cut> {
        let cut = Cut::parse(arguments.get("cursor")?.as_str()?)?;
        if cut.cursor.is_empty() {
            arguments.remove("cursor");
        } else {
            arguments.insert("cursor".into(), cut.cursor.clone().into());
        }
        Some(cut)
    }

    fn parse(cursor: &str) -> Option<Cut> {
        let (skip, cursor) = cursor.strip_prefix(MARK)?.split_once('.')?;
        Some(Cut {
            skip: skip.parse().ok()?,
            cursor: cursor.to_owned(),
        })
    }

    fn word(skip: usize, cursor: &str) -> String {
        format!("{MARK}{skip}.{cursor}")
    }
}

/// Cuts the reply of a call. It owns what it needs, so that it can run on any thread.
pub(crate) struct Cutter {
    limits: LimitSettings,
    resumed: Option<Cut>,
    arguments: Arc<str>,
}

impl Cutter {
    pub(crate) fn of(host: &Host, allowed: &Allowed) -> Cutter {
        Cutter {
            limits: host.settings().limits.clone(),
            resumed: allowed.checked.resumed.clone(),
            arguments: Arc::clone(&allowed.checked.arguments),
        }
    }

    /// Cuts a reply to the byte budget.
    pub(crate) fn govern(self, landed: Landed) -> Result<Reply, CallError> {
        let limits = &self.limits;
        // About four bytes are a token.
        let budget = limits
            .reply_bytes
            .min(limits.reply_tokens.saturating_mul(4));
        let resumed = self.resumed.as_ref();
        let mut structured = landed.structured;
        let mut text = landed.text;
        if let Some(cut) = resumed {
            skip_items(&mut structured, cut.skip);
        }
        let size = size_of(&structured);
        if size > budget {
            let own_cursor = own_cursor(&self.arguments);
            let skipped = resumed.map_or(0, |cut| cut.skip);
            let was_cut = cut_items(&mut structured, &mut text, budget, skipped, &own_cursor)
                || cut_note(&mut structured, &mut text, size, budget);
            let has_landed = landed.footprint.is_landed;
            if !was_cut && has_landed {
                // The change is on disk, so this is not a failure: only some of the changes are listed.
                cut_changes(&mut structured, budget);
            }
            // A reply that cannot be cut may exceed the token budget, but not the byte limit of clients.
            if !was_cut && !has_landed && size > limits.reply_bytes {
                return Err(CallError::new(
                    Code::TooLarge,
                    format!(
                        "the reply has {size} bytes, and the limit is {}: request less at once",
                        limits.reply_bytes
                    ),
                )
                .with_hint("an admin can allow more: `limits.reply_bytes` in the config"));
            }
        }
        Ok(Reply {
            text: cut_text(text, budget),
            structured,
            content: landed.content,
        })
    }
}

/// The size of a reply as JSON, without serializing it: this runs for every reply.
fn size_of(structured: &Map<String, Value>) -> usize {
    // A value that cannot be serialized exceeds every budget.
    counted(structured, usize::MAX).unwrap_or(usize::MAX)
}

/// Whether a reply has at most this size; stops counting at the first byte beyond it.
pub(crate) fn is_within(structured: &Map<String, Value>, most: usize) -> bool {
    counted(structured, most).is_some()
}

fn counted(structured: &Map<String, Value>, most: usize) -> Option<usize> {
    struct Counted {
        length: usize,
        most: usize,
    }
    impl std::io::Write for Counted {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.length += bytes.len();
            match self.length > self.most {
                true => Err(std::io::ErrorKind::FileTooLarge.into()),
                false => Ok(bytes.len()),
            }
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut counted = Counted { length: 0, most };
    let written = serde_json::to_writer(&mut counted, structured);
    written.is_ok().then_some(counted.length)
}

/// The cursor that the component got with this call.
fn own_cursor(arguments: &str) -> String {
    let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
    arguments
        .get("cursor")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

fn skip_items(structured: &mut Map<String, Value>, skip: usize) {
    if let Some(Value::Array(items)) = structured.get_mut("items") {
        items.drain(..skip.min(items.len()));
    }
}

/// Keeps as many items as fit; the cursor continues with the rest.
fn cut_items(
    structured: &mut Map<String, Value>,
    text: &mut String,
    budget: usize,
    skipped: usize,
    cursor: &str,
) -> bool {
    let Some(Value::Array(items)) = structured.get_mut("items") else {
        return false;
    };
    // Reserve space for the other fields.
    let mut left = budget.saturating_sub(2048);
    let kept = items
        .iter()
        .take_while(|item| {
            let size = item.to_string().len() + 1;
            let fits = size <= left;
            left = left.saturating_sub(size);
            fits
        })
        .count();
    if kept == 0 {
        return false;
    }
    let all = items.len();
    items.truncate(kept);
    let next = Cut::word(skipped + kept, cursor);
    *text = cut_text(std::mem::take(text), budget);
    text.push_str(&format!(
        "\n… ({kept} of {all} items of this page fit: continue with `cursor`: `{next}`)"
    ));
    structured.insert("next_cursor".into(), next.into());
    true
}

/// Keeps as many changes as fit, and states their total.
fn cut_changes(structured: &mut Map<String, Value>, budget: usize) {
    let Some(Value::Array(changes)) = structured.get_mut("changes") else {
        return;
    };
    let all = changes.len();
    let mut left = budget / 2;
    let kept = changes.iter().take_while(|change| {
        let size = change.to_string().len() + 1;
        let fits = size <= left;
        left = left.saturating_sub(size);
        fits
    });
    let kept = kept.count();
    changes.truncate(kept);
    structured.insert("changes_total".into(), all.into());
}

/// Keeps as many lines of a note as fit, with the offset of the next one. The text is cut to the same lines.
fn cut_note(
    structured: &mut Map<String, Value>,
    text: &mut String,
    size: usize,
    budget: usize,
) -> bool {
    let Some(Value::String(content)) = structured.get("content") else {
        return false;
    };
    let from = structured
        .get("lines")
        .and_then(|lines| lines.get("from"))
        .and_then(Value::as_u64);
    let Some(from) = from else {
        return false;
    };
    // Escapes make JSON longer than the note: cut in proportion, then at a line.
    let share = budget.saturating_sub(2048) as f64 / size as f64;
    let most = content.floor_char_boundary((content.len() as f64 * share) as usize);
    let Some(end) = content[..most].rfind('\n') else {
        return false;
    };
    let kept = content[..=end].to_owned();
    let next = from + kept.bytes().filter(|byte| *byte == b'\n').count() as u64;
    if let Some(place) = text.find(content.as_str()) {
        let advice = format!("… (cut: continue with `offset` {next})\n");
        text.replace_range(place..place + content.len(), &(kept.clone() + &advice));
    }
    structured.insert("content".into(), kept.into());
    structured.insert("truncated".into(), true.into());
    structured.insert("next_offset".into(), next.into());
    if let Some(Value::Object(lines)) = structured.get_mut("lines") {
        lines.insert("to".into(), (next - 1).into());
    }
    true
}

fn cut_text(mut text: String, budget: usize) -> String {
    if text.len() > budget {
        let most = text.floor_char_boundary(budget);
        let end = text[..most].rfind('\n').unwrap_or(most);
        text.truncate(end);
        text.push_str("\n… (cut: request less at once, or continue with `cursor` or `offset`)");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }

    #[test]
    fn lists_are_cut_between_items_with_a_cursor() {
        let items: Vec<String> = (0..1000).map(|number| format!("item {number}")).collect();
        let mut reply = object(json!({ "items": items }));
        let mut text = String::from("a list");
        assert!(cut_items(&mut reply, &mut text, 4096, 0, "own"));
        assert!(text.contains("of 1000 items of this page fit: continue with `cursor`: `cut."));
        let kept = reply["items"].as_array().map_or(0, Vec::len);
        assert!(kept > 0 && kept < 1000);
        let mut arguments = object(json!({ "cursor": reply["next_cursor"] }));
        let cut = Cut::take(&mut arguments).expect("a cut");
        assert_eq!(arguments["cursor"], "own");
        let mut again = object(json!({ "items": items }));
        skip_items(&mut again, cut.skip);
        assert_eq!(again["items"][0], format!("item {kept}"));
    }

    #[test]
    fn a_note_is_cut_between_lines() {
        let content = "a line of text\n".repeat(1000);
        let mut reply =
            object(json!({"content": content, "lines": {"from": 11, "to": 1010, "total": 1010}}));
        let size = size_of(&reply);
        assert_eq!(size, json!(reply).to_string().len());
        assert!(is_within(&reply, size) && !is_within(&reply, size - 1));
        let mut text = format!("Content:\n{content}");
        assert!(cut_note(&mut reply, &mut text, size, 4096));
        let shown = reply["content"].as_str().unwrap_or_default();
        assert!(text.starts_with(&format!("Content:\n{shown}… (cut")));
        let kept = reply["content"].as_str().unwrap_or_default();
        assert!(kept.ends_with('\n') && content.starts_with(kept));
        let lines = kept.lines().count() as u64;
        assert_eq!(reply["next_offset"], 11 + lines);
        assert_eq!(reply["lines"]["to"], 10 + lines);
    }

    #[test]
    fn foreign_cursors_are_passed_on() {
        let mut arguments = object(json!({"cursor": "cut"}));
        assert_eq!(Cut::take(&mut arguments), None);
        assert_eq!(arguments["cursor"], "cut");
    }
}
