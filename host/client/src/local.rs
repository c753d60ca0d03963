//! Requests over a local socket: one line each way. A call that was sent when the connection broke is not sent again: only
//! a session of `notehost serve` has ids for that, and the person at the terminal sees what happened.

use std::io;

use notehost_platform::local_socket::LocalStream;
use notehost_relay::Lines;
use reqwest::Url;
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::sync::Mutex;

use crate::{ClientError, MAX_RESPONSE_BYTES};

/// A connection, for one request at a time.
#[derive(Debug)]
pub(crate) struct LocalLink(Mutex<Lines<LocalStream>>);

impl LocalLink {
    pub(crate) fn new(stream: LocalStream) -> LocalLink {
        LocalLink(Mutex::new(Lines::new(stream, MAX_RESPONSE_BYTES)))
    }

    /// Sends a request and returns the response to it. Notifications in between are dropped.
    pub(crate) async fn ask(&self, url: &Url, request: &Value) -> Result<Value, ClientError> {
        let mut lines = self.0.lock().await;
        let unreachable = |error: io::Error| ClientError::Unreachable {
            url: url.to_string(),
            reason: error.to_string(),
            is_tls: false,
        };
        let line = format!("{request}\n");
        let sent = lines.stream().write_all(line.as_bytes()).await;
        sent.map_err(unreachable)?;
        loop {
            let line = lines.next().await.map_err(unreachable)?;
            let line = line.ok_or_else(|| unreachable(io::ErrorKind::UnexpectedEof.into()))?;
            if !line.ends_with(b"\n") {
                return Err(ClientError::TooLarge(url.to_string()));
            }
            let message: Value = serde_json::from_slice(&line).unwrap_or_default();
            if message["id"] == request["id"] {
                return Ok(message);
            }
        }
    }
}
