//! A client of the built program over HTTP: one persistent connection, with stateless and session-based requests.
//! Written by hand, so that a test sees every status and header.

use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

pub(crate) use super::program::{Server, wait_until};

/// Longer than any operation, even on a busy machine; only a hang reaches it.
pub(super) const TIMEOUT: Duration = Duration::from_secs(120);

/// The stateless MCP revision.
pub(crate) const STATELESS: &str = "2026-07-28";
/// The last session-based MCP revision.
pub(crate) const SESSIONS: &str = "2025-11-25";

/// A persistent connection.
pub(crate) struct Connection {
    host: String,
    stream: BufReader<TcpStream>,
    /// Number of requests without a reply.
    unanswered: usize,
}

/// An HTTP response.
#[derive(Debug)]
pub(crate) struct Response {
    /// The status code.
    pub(crate) status: u16,
    /// The body, its chunks joined.
    pub(crate) body: String,
    headers: Vec<(String, String)>,
}

impl Response {
    /// A header, by its lower-case name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The JSON-RPC message of the body, sent as JSON or as an event.
    #[track_caller]
    pub(crate) fn message(&self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        let mut events = self
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("data: "));
        let event = events.rfind(|data| !data.is_empty());
        let text = event.unwrap_or(&self.body);
        serde_json::from_str(text)
            .unwrap_or_else(|_| panic!("invalid message in the body: {self:?}"))
    }
}

impl Connection {
    /// Connects to a host and port.
    pub(crate) fn open(address: &str) -> Connection {
        Connection {
            host: address.to_owned(),
            stream: connect(address),
            unanswered: 0,
        }
    }

    /// Whether the server closed the connection while it was idle, as it does after a while. Every client then opens
    /// another one.
    fn was_closed_idle(&mut self) -> bool {
        let stream = self.stream.get_ref();
        stream
            .set_nonblocking(true)
            .expect("an option of the socket");
        let closed = match stream.peek(&mut [0]) {
            Ok(bytes) => bytes == 0,
            Err(error) => error.kind() != ErrorKind::WouldBlock,
        };
        stream
            .set_nonblocking(false)
            .expect("an option of the socket");
        closed && self.unanswered == 0
    }

    /// Sends a request and waits for the response. A header `Host` replaces the default.
    pub(crate) fn ask(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Response {
        self.send(method, path, headers, body);
        self.receive()
    }

    /// Sends a request.
    pub(crate) fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) {
        if self.was_closed_idle() {
            self.stream = connect(&self.host);
        }
        self.unanswered += 1;
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            head.push_str(&format!("Host: {}\r\n", self.host));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!(
            "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             Content-Length: {}\r\n\r\n",
            body.len()
        ));
        let stream = self.stream.get_mut();
        let sent = stream
            .write_all(head.as_bytes())
            .and_then(|()| stream.write_all(body.as_bytes()));
        // A server that rejects a body does not read all of it, but its response is readable.
        let _ = sent;
    }

    /// Sends raw bytes; `false` if the connection is closed.
    pub(crate) fn send_raw(&mut self, bytes: &[u8]) -> bool {
        self.stream.get_mut().write_all(bytes).is_ok()
    }

    /// Reads until the server closes the connection.
    pub(crate) fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        // A reset connection has ended as well.
        let _ = self.stream.read_to_end(&mut rest);
        String::from_utf8_lossy(&rest).into_owned()
    }

    /// Waits for the response.
    pub(crate) fn receive(&mut self) -> Response {
        self.unanswered = self.unanswered.saturating_sub(1);
        let status = self.line();
        let status = status.split(' ').nth(1).and_then(|code| code.parse().ok());
        let mut headers = Vec::new();
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(':') else {
                break;
            };
            headers.push((name.to_lowercase(), value.trim().to_owned()));
        }
        let mut response = Response {
            status: status.expect("a status line"),
            body: String::new(),
            headers,
        };
        let body = if response.header("transfer-encoding") == Some("chunked") {
            self.chunks()
        } else {
            let length = response.header("content-length").map_or(Ok(0), str::parse);
            self.bytes(length.expect("a length"))
        };
        response.body = String::from_utf8(body).expect("a body of text");
        response
    }

    /// Waits for the head of a response whose body is a stream.
    pub(crate) fn receive_head(&mut self) -> u16 {
        let status = self.line();
        while !self.line().is_empty() {}
        let code = status.split(' ').nth(1).and_then(|code| code.parse().ok());
        code.expect("a status line")
    }

    /// Waits until the stream ends, and returns the rest of it.
    pub(crate) fn rest_of_stream(&mut self) -> String {
        String::from_utf8(self.chunks()).expect("a body of text")
    }

    /// Waits for the next event of the stream.
    pub(crate) fn event(&mut self) -> Value {
        loop {
            let length = usize::from_str_radix(&self.line(), 16).expect("a chunk's length");
            assert!(length > 0, "the events end");
            let chunk = String::from_utf8(self.bytes(length)).expect("text");
            self.line();
            let mut data = chunk.lines().filter_map(|line| line.strip_prefix("data:"));
            // The first event may contain only a retry time.
            if let Some(data) = data.find(|data| !data.trim().is_empty()) {
                return serde_json::from_str(data).expect("JSON");
            }
        }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream
            .read_line(&mut line)
            .expect("the program answers");
        line.truncate(line.trim_end().len());
        line
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.stream
            .read_exact(&mut bytes)
            .expect("the whole body comes");
        bytes
    }

    fn chunks(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let length = usize::from_str_radix(&self.line(), 16).expect("a chunk's length");
            body.extend(self.bytes(length));
            self.line();
            if length == 0 {
                return body;
            }
        }
    }
}

fn connect(address: &str) -> BufReader<TcpStream> {
    let stream = TcpStream::connect(address).expect("the program listens");
    stream.set_nodelay(true).expect("an option of the socket");
    stream
        .set_read_timeout(Some(TIMEOUT))
        .expect("an option of the socket");
    BufReader::new(stream)
}

/// An MCP client with one connection.
pub(crate) struct HttpClient {
    connection: Connection,
    /// The session id, in a session-based revision.
    session: Option<String>,
    /// The header `Authorization`.
    authorization: Option<String>,
    last_id: u64,
}

impl HttpClient {
    /// A client of the stateless revision.
    pub(crate) fn stateless(address: &str) -> HttpClient {
        HttpClient {
            connection: Connection::open(address),
            session: None,
            authorization: None,
            last_id: 0,
        }
    }

    /// The same client with a token.
    pub(crate) fn with_token(mut self, token: &str) -> HttpClient {
        self.authorization = Some(format!("Bearer {token}"));
        self
    }

    /// A session-based client, after the handshake.
    pub(crate) fn with_session(address: &str) -> HttpClient {
        HttpClient::with_session_and_token(address, None)
    }

    /// A session-based client with a token, after the handshake.
    pub(crate) fn with_session_and_token(address: &str, token: Option<&str>) -> HttpClient {
        let mut connection = Connection::open(address);
        let authorization = token.map(|token| format!("Bearer {token}"));
        let proof = authorization
            .iter()
            .map(|shown| ("Authorization", shown.as_str()));
        let proof: Vec<(&str, &str)> = proof.collect();
        let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": SESSIONS, "capabilities": {}, "clientInfo": {"name": "tests", "version": "0"}}});
        let answer = connection.ask("POST", "/mcp", &proof, &initialize.to_string());
        assert_eq!(answer.message()["result"]["protocolVersion"], SESSIONS);
        let session = answer
            .header("mcp-session-id")
            .expect("a session")
            .to_owned();
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let mut headers = vec![
            ("Mcp-Session-Id", session.as_str()),
            ("MCP-Protocol-Version", SESSIONS),
        ];
        headers.extend(proof);
        let answer = connection.ask("POST", "/mcp", &headers, &initialized.to_string());
        assert_eq!(answer.status, 202, "{answer:?}");
        HttpClient {
            connection,
            session: Some(session),
            authorization,
            last_id: 0,
        }
    }

    /// The id of its session, if it has one.
    pub(crate) fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// Sends a request; its reply comes from [`HttpClient::receive`].
    pub(crate) fn send(&mut self, method: &str, mut params: Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        let name = params["name"]
            .as_str()
            .or(params["uri"].as_str())
            .or(params["taskId"].as_str())
            .unwrap_or_default()
            .to_owned();
        let mut headers = match &self.session {
            Some(session) => vec![
                ("Mcp-Session-Id", session.as_str()),
                ("MCP-Protocol-Version", SESSIONS),
            ],
            None => {
                let own = params["_meta"].take();
                params["_meta"] = stateless_meta();
                for (key, value) in own.as_object().into_iter().flatten() {
                    params["_meta"][key] = value.clone();
                }
                let headers = [
                    ("MCP-Protocol-Version", STATELESS),
                    ("Mcp-Method", method),
                    ("Mcp-Name", &name),
                ];
                headers
                    .into_iter()
                    .filter(|(_, value)| !value.is_empty())
                    .collect()
            }
        };
        if let Some(authorization) = &self.authorization {
            headers.push(("Authorization", authorization));
        }
        let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.connection
            .send("POST", "/mcp", &headers, &body.to_string());
        id
    }

    /// The response to the request that was sent.
    pub(crate) fn response(&mut self) -> Response {
        self.connection.receive()
    }

    /// The first event of an open stream.
    pub(crate) fn first_event(&mut self) -> Value {
        assert_eq!(self.connection.receive_head(), 200);
        self.connection.event()
    }

    /// The full reply to the request that was sent: with `result` or `error`.
    #[track_caller]
    pub(crate) fn receive(&mut self) -> Value {
        self.connection.receive().message()
    }

    /// The full reply to a request.
    #[track_caller]
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.send(method, params);
        self.receive()
    }

    /// The full reply to a request, with any status.
    pub(crate) fn ask_any(&mut self, method: &str, params: Value) -> Value {
        self.send(method, params);
        let response = self.connection.receive();
        match response.status {
            200 => response.message(),
            status => json!({"status": status, "body": response.body}),
        }
    }

    /// Sends a call of `domain.action`.
    pub(crate) fn send_call(&mut self, name: &str, arguments: Value) -> u64 {
        let tool = name.replacen('.', "__", 1);
        self.send("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// The result of a call of `domain.action`.
    #[track_caller]
    pub(crate) fn call(&mut self, name: &str, arguments: Value) -> Value {
        self.send_call(name, arguments);
        self.receive()["result"].take()
    }
}

/// The `_meta` of every stateless request.
pub(crate) fn stateless_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "0"},
    })
}
