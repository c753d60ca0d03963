//! The messages in a stream of server-sent events.

use serde_json::Value;

/// The incomplete event of a stream.
#[derive(Debug, Default)]
pub(crate) struct Events {
    /// The line that has not ended.
    line: Vec<u8>,
    /// The data of the event that has not ended.
    data: String,
}

impl Events {
    /// The messages that end within these bytes. Invalid JSON is skipped.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<Value> {
        let mut messages = Vec::new();
        for byte in bytes {
            if *byte != b'\n' {
                self.line.push(*byte);
                continue;
            }
            let line = std::mem::take(&mut self.line);
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end_matches('\r');
            if let Some(data) = line.strip_prefix("data:") {
                if !self.data.is_empty() {
                    self.data.push('\n');
                }
                self.data.push_str(data.strip_prefix(' ').unwrap_or(data));
            } else if line.is_empty() {
                let data = std::mem::take(&mut self.data);
                messages.extend(serde_json::from_str::<Value>(&data));
            }
        }
        messages
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn events_parse_across_chunk_boundaries() {
        let stream = "retry: 3\r\nid: 0\ndata:\n\n: ping\n\nevent: message\ndata: {\"a\":\ndata: \"ü\"}\n\ndata: {\"b\":2}\n\n";
        for size in 1..stream.len() {
            let mut events = Events::default();
            let messages: Vec<Value> = stream
                .as_bytes()
                .chunks(size)
                .flat_map(|chunk| events.feed(chunk))
                .collect();
            assert_eq!(messages, [json!({"a": "ü"}), json!({"b": 2})], "{size}");
        }
    }
}
