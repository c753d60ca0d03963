//! Lines from stdio, bounded before rmcp parses them. A line over a bound is replaced by a request with the same id
//! that the server answers with an error, so that its client learns of it; rmcp itself would drop it silently, or parse
//! all of it. A line without an id gets no response.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use serde_json::json;
use tokio::io::{AsyncRead, ReadBuf};

use crate::limits::bounds::{MAX_MESSAGE_BYTES, Outline, OverBounds, Scan, VERSION_KEY};

/// The method of the replacement for a refused message.
pub(crate) const REFUSED: &str = "notehost/refused";

/// The size of one read.
const READ_BYTES: usize = 16 << 10;
/// A buffer that a long line made larger than this is not kept.
const MAX_KEPT_BUFFER: usize = 1 << 20;

/// Refuses a message of so many bytes by what it calls.
pub(crate) type CheckSize = Box<dyn Fn(&Outline, usize) -> Result<(), OverBounds> + Send>;

/// A stream of lines within the bounds.
pub(crate) struct BoundedLines<R> {
    input: R,
    check_size: CheckSize,
    piece: Box<[u8]>,
    /// What was read and not looked at yet: a range of `piece`.
    unread: std::ops::Range<usize>,
    /// The line that is being read, and whether it is whole and goes out.
    line: Vec<u8>,
    sent: usize,
    is_going_out: bool,
    scan: Scan,
    over: Option<OverBounds>,
    has_ended: bool,
    /// How many bytes were passed on; the receiver of the messages takes the number.
    passed: Arc<AtomicUsize>,
}

impl<R> BoundedLines<R> {
    pub(crate) fn new(
        input: R,
        check_size: CheckSize,
        passed: Arc<AtomicUsize>,
    ) -> BoundedLines<R> {
        BoundedLines {
            input,
            check_size,
            piece: vec![0; READ_BYTES].into_boxed_slice(),
            unread: 0..0,
            line: Vec::new(),
            sent: 0,
            is_going_out: false,
            scan: Scan::default(),
            over: None,
            has_ended: false,
            passed,
        }
    }

    /// Consumes what was read, up to the end of a line.
    fn take_up(&mut self) {
        let unread = &self.piece[self.unread.clone()];
        let newline = memchr::memchr(b'\n', unread);
        let part = &unread[..newline.map_or(unread.len(), |at| at + 1)];
        self.scan.push(part);
        if self.over.is_none() {
            self.over = self.scan.check().err();
        }
        if self.line.len() + part.len() > MAX_MESSAGE_BYTES {
            self.over
                .get_or_insert(OverBounds::Bytes(MAX_MESSAGE_BYTES));
        }
        match self.over {
            None => self.line.extend_from_slice(part),
            // Its end is looked for, and its id.
            Some(_) => self.line = Vec::new(),
        }
        self.unread.start += part.len();
        if newline.is_some() {
            self.end_line();
        }
    }

    /// Completes a line: passes it on, or its replacement.
    fn end_line(&mut self) {
        let outline = std::mem::take(&mut self.scan).finish();
        if self.over.is_none() {
            self.over = (self.check_size)(&outline, self.line.len()).err();
        }
        if let Some(bound) = self.over.take() {
            tracing::warn!(%bound, method = outline.method.as_deref(), "a message was refused");
            // A response of the client has an id too, but no method, and gets no response itself.
            let id = outline.id.filter(|_| outline.method.is_some());
            let id = id.and_then(|id| serde_json::from_str::<serde_json::Value>(&id).ok());
            let Some(id) = id.filter(|id| id.is_number() || id.is_string()) else {
                return;
            };
            let mut params = json!({ "reason": bound.to_string() });
            // Without it a client of a stateless revision would get the error that it is missing.
            if let Some(version) = outline.version {
                params["_meta"] = json!({
                    VERSION_KEY: version,
                    "io.modelcontextprotocol/clientCapabilities": {},
                    "io.modelcontextprotocol/clientInfo": { "name": "refused", "version": "0" },
                });
            }
            let refused =
                json!({ "jsonrpc": "2.0", "id": id, "method": REFUSED, "params": params });
            self.line = format!("{refused}\n").into_bytes();
        }
        self.is_going_out = true;
    }

    /// As much of the line as there is room for.
    fn send(&mut self, buffer: &mut ReadBuf<'_>) {
        let rest = &self.line[self.sent..];
        let part = &rest[..rest.len().min(buffer.remaining())];
        buffer.put_slice(part);
        self.sent += part.len();
        self.passed.fetch_add(part.len(), Ordering::Relaxed);
        if self.sent == self.line.len() {
            self.sent = 0;
            self.is_going_out = false;
            match self.line.capacity() > MAX_KEPT_BUFFER {
                true => self.line = Vec::new(),
                false => self.line.clear(),
            }
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for BoundedLines<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let lines = self.get_mut();
        loop {
            if lines.is_going_out {
                lines.send(buffer);
                return Poll::Ready(Ok(()));
            }
            if !lines.unread.is_empty() {
                lines.take_up();
                continue;
            }
            if lines.has_ended {
                return Poll::Ready(Ok(()));
            }
            let mut piece = ReadBuf::new(&mut lines.piece);
            ready!(Pin::new(&mut lines.input).poll_read(context, &mut piece))?;
            let length = piece.filled().len();
            lines.unread = 0..length;
            // Without a newline the end of the input is not a message.
            lines.has_ended = length == 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use tokio::io::AsyncReadExt as _;

    use super::*;
    use crate::limits::bounds::{MAX_DEPTH, MAX_TOKENS};

    async fn passed(input: &[u8]) -> Vec<String> {
        let mut text = String::new();
        let passed = Arc::<AtomicUsize>::default();
        let mut lines = BoundedLines::new(input, Box::new(|_, _| Ok(())), passed.clone());
        lines.read_to_string(&mut text).await.expect("text");
        assert_eq!(passed.load(Ordering::Relaxed), text.len());
        text.split_inclusive('\n').map(str::to_owned).collect()
    }

    #[tokio::test]
    async fn lines_within_bounds_pass_unchanged() {
        let long = format!("{{\"content\":\"{}\"}}\r\n", "é,".repeat(READ_BYTES));
        let input = format!("{{\"id\":1}}\n\n{long}{{\"id\":2}}\nno end");
        let lines = passed(input.as_bytes()).await;
        assert_eq!(lines, ["{\"id\":1}\n", "\n", &long, "{\"id\":2}\n"]);
    }

    #[tokio::test]
    async fn a_refused_line_gets_an_error_and_the_next_passes() {
        let wide = format!(
            "{{\"method\":\"x\",\"params\":[{}0],\"id\":\"a\"}}\n",
            "0,".repeat(MAX_TOKENS)
        );
        let deep = format!(
            "{{\"method\":\"x\",\"id\":7,\"params\":{}}}\n",
            "[".repeat(MAX_DEPTH)
        );
        let huge = format!(
            "{{\"method\":\"x\",\"p\":\"{}\",\"id\":8}}\n",
            "x".repeat(MAX_MESSAGE_BYTES)
        );
        let silent = format!("{{\"id\":9,\"result\":{}}}\n", "[".repeat(MAX_DEPTH));
        let input = wide + &deep + &huge + &silent + "{\"id\":10}\n";
        let lines = passed(input.as_bytes()).await;
        assert_eq!(lines.len(), 4, "{lines:?}");
        let ids = ["\"a\"", "7", "8"];
        for (line, id) in lines.iter().zip(ids) {
            let refused: Value = serde_json::from_str(line).expect("JSON");
            assert_eq!(refused["method"], REFUSED);
            assert_eq!(refused["id"].to_string(), id);
        }
        assert_eq!(lines[3], "{\"id\":10}\n");
    }
}
