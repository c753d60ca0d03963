//! Bounds on a message before anything is built from it. A tree of JSON values takes up to a hundred times the memory of
//! its text, so a linear scan of the bytes counts the structural tokens first: `{`, `[`, `,` and `:`, and how deep they
//! nest. The scan allocates nothing but the few short names it reports, and does not check that the text is JSON: that is
//! the parser's part, for messages that are within the bounds.

use memchr::{memchr, memchr2};

/// The maximum size of a message. Notes are sent in arguments, pictures as base64.
pub(crate) const MAX_MESSAGE_BYTES: usize = 32 << 20;
/// The maximum size of a message without content arguments, and the maximum of any message outside of strings, where
/// content is not.
pub(crate) const MAX_PLAIN_MESSAGE_BYTES: usize = 1 << 20;
/// The maximum number of structural tokens. A value takes about 100 bytes in memory, and a message is held several
/// times while it is parsed.
pub(crate) const MAX_TOKENS: usize = 1 << 16;
/// The maximum nesting depth.
pub(crate) const MAX_DEPTH: usize = 64;
/// A name or an id longer than this is not reported.
const MAX_NAME_BYTES: usize = 256;

/// Where a message of a stateless revision names its version.
pub(crate) const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// Why a message is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OverBounds {
    #[error("a message may have at most {0} bytes")]
    Bytes(usize),
    #[error(
        "a message may have at most {MAX_TOKENS} JSON values and keys: send long lists in several calls"
    )]
    Tokens,
    #[error("a message may be nested at most {MAX_DEPTH} levels deep")]
    Depth,
    #[error("a message may have at most {MAX_PLAIN_MESSAGE_BYTES} bytes outside of strings")]
    OutsideStrings,
}

/// Scans one message, in as many pieces as it comes.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// The outline so far.
    pub(crate) outline: Outline,
    over: Option<OverBounds>,
    depth: usize,
    /// The keys on the way to where the scan is, for the outermost levels.
    keys: [Vec<u8>; OUTER_LEVELS],
    state: State,
    /// The string or the number that is being scanned; `None` once it is too long to be a name.
    word: Option<Vec<u8>>,
    /// Whether what comes next is the value of a key.
    after_colon: bool,
    /// How many bytes were outside of strings.
    outside_strings: usize,
}

/// How many levels of keys are tracked: `params`, `arguments`, and those of the arguments.
const OUTER_LEVELS: usize = 3;

/// The outline of a message: what it calls. If a key occurs twice the last one counts, as for the parser. Controlled by
/// the client.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Outline {
    /// The structural tokens.
    pub(crate) tokens: usize,
    /// The id of the request as JSON text.
    pub(crate) id: Option<String>,
    pub(crate) method: Option<String>,
    /// The protocol version that the message names itself, as those of the stateless revisions do.
    pub(crate) version: Option<String>,
    /// The tool of a call, and what its arguments have as `domain` and `action`.
    pub(crate) tool: Option<String>,
    pub(crate) domain: Option<String>,
    pub(crate) action: Option<String>,
    /// A key of the outermost levels has an escape: the parser may know it by a name that the scan does not.
    pub(crate) has_escaped_key: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Between,
    InString,
    /// After a backslash in a string.
    Escaped,
    /// In a number or a literal, of which only an id is of interest.
    InScalar,
}

impl Scan {
    /// The outline of a whole message, or why it is refused.
    #[cfg(any(test, fuzzing))]
    pub(crate) fn of(message: &[u8]) -> Result<Outline, OverBounds> {
        let mut scan = Scan::default();
        // What is over a bound is not looked at any further.
        for piece in message.chunks(64 << 10) {
            scan.push(piece);
            scan.check()?;
        }
        Ok(scan.finish())
    }

    /// Whether what was scanned so far is within the bounds.
    pub(crate) fn check(&self) -> Result<(), OverBounds> {
        self.over.map_or(Ok(()), Err)
    }

    /// The end of the message.
    pub(crate) fn finish(mut self) -> Outline {
        self.end_scalar();
        self.outline
    }

    /// The next piece of the message.
    pub(crate) fn push(&mut self, mut bytes: &[u8]) {
        while let Some((&first, rest)) = bytes.split_first() {
            bytes = match self.state {
                State::InString => self.in_string(bytes),
                State::Escaped => {
                    self.add_to_word(&bytes[..1]);
                    self.state = State::InString;
                    rest
                }
                State::Between | State::InScalar => {
                    self.outside_strings += 1;
                    if self.outside_strings > MAX_PLAIN_MESSAGE_BYTES {
                        self.over.get_or_insert(OverBounds::OutsideStrings);
                    }
                    self.structural(first);
                    rest
                }
            };
        }
    }

    /// Up to the end of the string, or of the piece. What is left.
    fn in_string<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let Some(at) = memchr2(b'"', b'\\', bytes) else {
            self.add_to_word(bytes);
            return &[];
        };
        self.add_to_word(&bytes[..at]);
        if bytes[at] == b'"' {
            self.state = State::Between;
            self.end_string();
        } else {
            self.add_to_word(b"\\");
            self.state = State::Escaped;
        }
        &bytes[at + 1..]
    }

    fn structural(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.end_scalar();
                self.state = State::InString;
                self.word = Some(Vec::new());
            }
            b'{' | b'[' => {
                self.end_scalar();
                self.after_colon = false;
                self.depth += 1;
                if let Some(key) = self.keys.get_mut(self.depth - 1) {
                    key.clear();
                }
                if self.depth > MAX_DEPTH {
                    self.over.get_or_insert(OverBounds::Depth);
                }
                self.count();
            }
            b'}' | b']' => {
                self.end_scalar();
                self.after_colon = false;
                self.depth = self.depth.saturating_sub(1);
            }
            b',' => {
                self.end_scalar();
                self.after_colon = false;
                self.count();
            }
            b':' => {
                let name = self.word.take().unwrap_or_default();
                self.begin_value(name);
                self.after_colon = true;
                self.state = State::Between;
                self.count();
            }
            b' ' | b'\t' | b'\r' | b'\n' => self.end_scalar(),
            _ => {
                if self.state == State::Between {
                    self.state = State::InScalar;
                    self.word = Some(Vec::new());
                }
                self.add_to_word(&[byte]);
            }
        }
    }

    /// Handles a key: the value of an earlier equal key is dropped.
    fn begin_value(&mut self, name: Vec<u8>) {
        let level = self.depth.checked_sub(1);
        let Some(key) = level.and_then(|level| self.keys.get_mut(level)) else {
            return;
        };
        self.outline.has_escaped_key |= memchr(b'\\', &name).is_some();
        *key = name;
        if self.is_at(&["params"]) {
            self.outline.tool = None;
            self.outline.version = None;
        }
        if self.is_at(&["params"]) || self.is_at(&["params", "arguments"]) {
            self.outline.domain = None;
            self.outline.action = None;
        }
        if let Some(place) = self.place() {
            *place = None;
        }
    }

    /// The field of the outline for the current value.
    fn place(&mut self) -> Option<&mut Option<String>> {
        let place = match self.depth {
            1 if self.is_at(&["method"]) => &mut self.outline.method,
            2 if self.is_at(&["params", "name"]) => &mut self.outline.tool,
            3 if self.is_at(&["params", "_meta", VERSION_KEY]) => &mut self.outline.version,
            3 if self.is_at(&["params", "arguments", "domain"]) => &mut self.outline.domain,
            3 if self.is_at(&["params", "arguments", "action"]) => &mut self.outline.action,
            _ => return None,
        };
        Some(place)
    }

    fn count(&mut self) {
        self.outline.tokens += 1;
        if self.outline.tokens > MAX_TOKENS {
            self.over.get_or_insert(OverBounds::Tokens);
        }
    }

    fn add_to_word(&mut self, bytes: &[u8]) {
        if let Some(word) = &mut self.word {
            match word.len() + bytes.len() <= MAX_NAME_BYTES {
                true => word.extend_from_slice(bytes),
                false => self.word = None,
            }
        }
    }

    /// A string has ended: a key, or the value of one.
    fn end_string(&mut self) {
        if !self.after_colon {
            return;
        }
        self.after_colon = false;
        let is_id = self.is_at(&["id"]);
        let Some(word) = self
            .word
            .take()
            .and_then(|word| String::from_utf8(word).ok())
        else {
            return;
        };
        if is_id {
            self.outline.id = Some(format!("\"{word}\""));
            return;
        }
        // A name with an escape is none of ours.
        if memchr(b'\\', word.as_bytes()).is_some() {
            return;
        }
        if let Some(place) = self.place() {
            *place = Some(word);
        }
    }

    /// A number or a literal has ended.
    fn end_scalar(&mut self) {
        if self.state != State::InScalar {
            return;
        }
        self.state = State::Between;
        let word = self.word.take();
        if self.after_colon && self.is_at(&["id"]) {
            self.outline.id = word.and_then(|word| String::from_utf8(word).ok());
        }
        self.after_colon = false;
    }

    /// Whether the scan is at the value of these keys.
    fn is_at(&self, keys: &[&str]) -> bool {
        let mut way = self.keys.iter().zip(keys);
        self.depth == keys.len() && way.all(|(key, wanted)| key == wanted.as_bytes())
    }
}

/// What the fuzzer calls: the scan finds the same in pieces as in the whole, and what it lets pass can be parsed.
#[cfg(fuzzing)]
pub fn fuzz_message(input: &[u8]) {
    let size = input.first().map_or(1, |byte| usize::from(*byte) + 1);
    let mut scan = Scan::default();
    input.chunks(size).for_each(|piece| scan.push(piece));
    let over = scan.check();
    let outline = scan.finish();
    assert_eq!(Scan::of(input).err(), over.err());
    let Ok(value) = serde_json::from_slice::<serde_json::Value>(input) else {
        return;
    };
    if over.is_ok() {
        assert!(outline.tokens <= MAX_TOKENS);
        assert!(values(&value) <= outline.tokens + 1);
    }
}

#[cfg(fuzzing)]
fn values(value: &serde_json::Value) -> usize {
    use serde_json::Value;
    match value {
        Value::Array(items) => items.iter().map(values).sum::<usize>() + 1,
        Value::Object(members) => members.values().map(values).sum::<usize>() + 1,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn outline(text: &str) -> Outline {
        Scan::of(text.as_bytes()).expect("within the bounds")
    }

    #[test]
    fn an_outline_names_the_called_action() {
        let message = json!({
            "method": "tools/call",
            "params": {
                "arguments": { "action": "create", "content": "\"id\": 9, {[ \\", "list": [{ "action": "x" }] },
                "name": "document",
                "_meta": { "name": "other" },
            },
            "jsonrpc": "2.0",
            "id": 17,
        });
        let found = outline(&message.to_string());
        assert_eq!(found.method.as_deref(), Some("tools/call"));
        assert_eq!(found.tool.as_deref(), Some("document"));
        assert_eq!(found.action.as_deref(), Some("create"));
        assert_eq!(found.domain, None);
        assert_eq!(found.id.as_deref(), Some("17"));
        let text = outline(r#"{ "id" : "a\"b" , "method":"ping"}"#);
        assert_eq!(text.id.as_deref(), Some(r#""a\"b""#));
        assert_eq!(text.method.as_deref(), Some("ping"));
    }

    #[test]
    fn the_last_of_duplicate_keys_counts() {
        let call = |arguments: &str| {
            let text = format!(
                r#"{{"method":"tools/call","params":{{"name":"document","arguments":{{{arguments}}}}}}}"#
            );
            outline(&text)
        };
        let found = call(r#""action":"create","action":"read""#);
        assert_eq!(found.action.as_deref(), Some("read"));
        let escaped = call(r#""action":"create","\u0061ction":"read""#);
        assert!(escaped.has_escaped_key);
        for value in [r#""re\u0061d""#, "5", "null", r#"["read"]"#] {
            let found = call(&format!(r#""action":"create","action":{value}"#));
            assert_eq!(found.action, None, "{value}");
        }
        let long = call(&format!(
            r#""action":"create","action":"{}""#,
            "x".repeat(300)
        ));
        assert_eq!(long.action, None);
        let twice = outline(
            r#"{"params":{"name":"document","arguments":{"action":"create"},"arguments":{}}}"#,
        );
        assert_eq!(
            (twice.tool.as_deref(), twice.action),
            (Some("document"), None)
        );
        let params = outline(r#"{"params":{"name":"document"},"params":{}}"#);
        assert_eq!(params.tool, None);
        // A key of the content itself may be written in any way.
        let inner = call(r#""action":"create","properties":{"\u0061":1}"#);
        assert!(!inner.has_escaped_key && inner.action.is_some());
    }

    #[test]
    fn blanks_and_digits_count_as_plain_bytes() {
        for filling in [" ", "9", "x"] {
            let text = filling.repeat(MAX_PLAIN_MESSAGE_BYTES + 1);
            assert_eq!(Scan::of(text.as_bytes()), Err(OverBounds::OutsideStrings));
        }
    }

    #[test]
    fn piecewise_scans_equal_whole_scans() {
        let message =
            r#"{"id":"é\\","params":{"name":"x\"y","arguments":{"domain":"d"}},"method":"m"}"#;
        let whole = outline(message);
        assert_eq!(whole.domain.as_deref(), Some("d"));
        for size in 1..message.len() {
            let mut scan = Scan::default();
            message
                .as_bytes()
                .chunks(size)
                .for_each(|piece| scan.push(piece));
            assert_eq!(scan.finish(), whole, "{size}");
        }
    }

    #[test]
    fn wide_or_deep_messages_are_refused_and_long_strings_pass() {
        let wide = |count| format!(r#"{{"id":1,"tags":[{}0]}}"#, "0,".repeat(count));
        assert_eq!(
            Scan::of(wide(MAX_TOKENS).as_bytes()),
            Err(OverBounds::Tokens)
        );
        assert!(Scan::of(wide(MAX_TOKENS - 10).as_bytes()).is_ok());
        let deep = |count| "[".repeat(count) + &"]".repeat(count);
        assert_eq!(
            Scan::of(deep(MAX_DEPTH + 1).as_bytes()),
            Err(OverBounds::Depth)
        );
        assert!(Scan::of(deep(MAX_DEPTH).as_bytes()).is_ok());
        let long = format!(r#"{{"content":"{}"}}"#, "[{,:".repeat(1 << 20));
        assert_eq!(outline(&long).tokens, 2);
    }

    #[test]
    fn ids_of_refused_messages_are_found() {
        let mut scan = Scan::default();
        scan.push(format!(r#"{{"params":[{}0],"id":5}}"#, "0,".repeat(MAX_TOKENS)).as_bytes());
        assert_eq!(scan.check(), Err(OverBounds::Tokens));
        assert_eq!(scan.finish().id.as_deref(), Some("5"));
    }
}
