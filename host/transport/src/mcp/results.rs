//! The outcome of a call as an MCP result. A failed call is a result too, because clients do not show protocol errors.
//!
//! A result has a text and a structured part, and clients differ: Claude Code, Codex, Cursor and opencode show their
//! model only the structured part, Claude's apps, Windsurf and Open WebUI only the text, ChatGPT and Copilot both. So
//! short content is in both. Long content is in the structured part, as the contract requires, and the text has its
//! beginning with a pointer to the rest, so that a long note is neither sent twice nor missing.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResult, ContentBlock, Resource};
use serde_json::{Map, Value};

use super::resources;
use notehost_config::LongText;
use notehost_pipeline::{CallError, Content, Reply};
use notehost_tools::uris;

/// Up to this size the text may repeat the whole structured part.
const SHORT_TEXT: usize = 4096;
/// The minimum size of a long text in the structured part.
const LONG_VALUE: usize = 512;

/// The names of clients that show only the text of a result; our own command line is one.
const TEXT_ONLY_CLIENTS: [&str; 3] = ["claude-ai", "windsurf-client", "notehost"];

/// Whether the text of a result repeats what is long in its structured part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    Whole,
    Beginning,
}

impl Repeat {
    /// From the config of a caller, or as the client needs it.
    pub(crate) fn chosen(wanted: LongText, client: Option<&str>) -> Repeat {
        match wanted {
            LongText::Full => Repeat::Whole,
            LongText::Short => Repeat::Beginning,
            LongText::Auto if client.is_some_and(|name| TEXT_ONLY_CLIENTS.contains(&name)) => {
                Repeat::Whole
            }
            LongText::Auto => Repeat::Beginning,
        }
    }
}

/// The result of a call.
pub(crate) fn of(outcome: Result<Reply, CallError>, repeat: Repeat) -> CallToolResult {
    match outcome {
        Ok(reply) => succeeded(reply, repeat),
        Err(error) => failed(&error),
    }
}

fn succeeded(reply: Reply, repeat: Repeat) -> CallToolResult {
    let text = match repeat {
        Repeat::Whole => reply.text,
        Repeat::Beginning => without_repetition(reply.text, &reply.structured),
    };
    let mut content = vec![ContentBlock::text(text)];
    content.extend(reply.content.into_iter().map(block));
    let mut result = CallToolResult::success(content);
    result.structured_content = Some(reply.structured.into());
    result
}

/// The result of a call that was refused or failed.
pub(crate) fn failed(error: &CallError) -> CallToolResult {
    let mut text = format!("{}: {}", error.code, error.message);
    if let Some(hint) = &error.hint {
        text.push_str(&format!("\nhint: {hint}"));
    }
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
    result.structured_content = Some(error.to_json().into());
    result
}

/// A long text in the structured part of a reply.
struct LongValue<'a> {
    /// Its place, such as `items[3].content`.
    place: String,
    text: &'a str,
    /// The number of its first line, where it is lines of a note.
    first_line: Option<u64>,
}

/// The text without most of what is also in the structured part.
fn without_repetition(text: String, structured: &Map<String, Value>) -> String {
    if text.len() <= SHORT_TEXT {
        return text;
    }
    let mut long = Vec::new();
    collect(structured, "", &mut long);
    let mut rest = text.as_str();
    let mut parts = Vec::new();
    // The text has the values in the order of the structured part.
    for long in &long {
        if let Some(at) = rest.find(long.text) {
            parts.push((&rest[..at], long));
            rest = &rest[at + long.text.len()..];
        }
    }
    if parts.is_empty() {
        return text;
    }
    let share = SHORT_TEXT / parts.len();
    let mut short = String::new();
    for (before, long) in parts {
        short.push_str(before);
        short.push_str(&long.beginning(share));
    }
    short.push_str(rest);
    short
}

fn collect<'a>(map: &'a Map<String, Value>, place: &str, found: &mut Vec<LongValue<'a>>) {
    let first_line = map
        .get("lines")
        .and_then(|lines| lines.get("from")?.as_u64());
    for (key, value) in map {
        let place = match place {
            "" => key.clone(),
            place => format!("{place}.{key}"),
        };
        match value {
            Value::String(text) if text.len() >= LONG_VALUE => found.push(LongValue {
                place,
                text: text.trim_end(),
                first_line: first_line.filter(|_| key == "content"),
            }),
            Value::Object(inner) => collect(inner, &place, found),
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    if let Value::Object(inner) = item {
                        collect(inner, &format!("{place}[{at}]"), found);
                    }
                }
            }
            _ => {}
        }
    }
}

impl LongValue<'_> {
    /// The first lines, in no more than so many bytes, and where the rest is.
    fn beginning(&self, most: usize) -> String {
        if self.text.len() <= most {
            return self.text.to_owned();
        }
        let end = self.text.floor_char_boundary(most);
        let end = self.text[..end].rfind('\n').map_or(0, |at| at + 1);
        let (kept, left) = self.text.split_at(end);
        let lines = |text: &str| text.bytes().filter(|byte| *byte == b'\n').count() as u64;
        let place = &self.place;
        match self.first_line {
            Some(first) => {
                let next = first + lines(kept);
                let last = next + lines(left);
                format!(
                    "{kept}[lines {next} to {last} are not repeated here: see `{place}` of the structured content, or read \
                     on from line {next}]"
                )
            }
            None => format!(
                "{kept}[{} more bytes are not repeated here: see `{place}` of the structured content]",
                left.len()
            ),
        }
    }
}

fn block(content: Content) -> ContentBlock {
    match content {
        Content::Image { bytes, mime } => ContentBlock::image(STANDARD.encode(bytes), mime),
        Content::Audio { bytes, mime } => ContentBlock::audio(STANDARD.encode(bytes), mime),
        Content::Link { vault, path } => {
            let link = Resource::new(uris::of_file(&vault, &path), resources::name(&path));
            ContentBlock::resource_link(match resources::mime(&path) {
                Some(mime) => link.with_mime_type(mime),
                None => link,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lines(count: usize) -> String {
        (1..=count)
            .map(|line| format!("line {line} of a note\n"))
            .collect()
    }

    fn short(text: &str, structured: Value) -> String {
        match structured {
            Value::Object(structured) => without_repetition(text.to_owned(), &structured),
            _ => unreachable!("an object"),
        }
    }

    #[test]
    fn long_text_is_not_repeated_and_points_to_the_rest() {
        let content = lines(1000);
        let text = format!("Content of `A.md`:\n{content}");
        let text = short(
            &text,
            json!({"content": content, "lines": {"from": 11, "to": 1010, "total": 2000}}),
        );
        assert!(text.len() < SHORT_TEXT + 300, "{}", text.len());
        assert!(text.starts_with("Content of `A.md`:\nline 1 of a note\n"));
        let shown = text.matches("of a note\n").count() as u64;
        let next = 11 + shown;
        assert!(
            text.contains(&format!("[lines {next} to 1010 are not repeated here"))
                && text.ends_with(&format!("read on from line {next}]\n")),
            "{text}"
        );
    }

    #[test]
    fn short_text_is_unchanged() {
        let content = lines(100);
        assert_eq!(short(&content, json!({"content": content})), content);
        let other = lines(1000);
        assert_eq!(short(&other, json!({"content": content.repeat(50)})), other);
    }

    #[test]
    fn several_long_texts_share_the_budget() {
        let (one, other) = (lines(400), lines(300).replace("note", "page"));
        let text = format!("A.md\n{one}\nB.md\n{other}\n");
        let text = short(
            &text,
            json!({"items": [{"content": one}, {"content": other}]}),
        );
        assert!(text.len() < SHORT_TEXT + 400, "{}", text.len());
        for place in ["items[0].content", "items[1].content"] {
            assert!(text.contains(place), "{text}");
        }
        assert!(text.contains("\nB.md\nline 1 of a page\n"), "{text}");
    }

    #[test]
    fn text_only_clients_get_the_full_text() {
        assert_eq!(
            Repeat::chosen(LongText::Auto, Some("claude-ai")),
            Repeat::Whole
        );
        assert_eq!(
            Repeat::chosen(LongText::Auto, Some("claude-code")),
            Repeat::Beginning
        );
        assert_eq!(Repeat::chosen(LongText::Auto, None), Repeat::Beginning);
        assert_eq!(Repeat::chosen(LongText::Full, None), Repeat::Whole);
        assert_eq!(
            Repeat::chosen(LongText::Short, Some("claude-ai")),
            Repeat::Beginning
        );
    }
}
