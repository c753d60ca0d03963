//! A client of the built program over HTTP: one connection that is kept open, and both eras of MCP on it. Written by
//! hand, so that a test sees every status and header.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

/// Longer than anything takes, even on a busy machine; only a hang reaches it.
const PATIENCE: Duration = Duration::from_secs(120);

/// The revision of MCP without sessions.
pub(crate) const STATELESS: &str = "2026-07-28";
/// The last revision with them.
pub(crate) const SESSIONS: &str = "2025-11-25";

/// A running `notehost serve --http`.
pub(crate) struct Server {
    program: Child,
    address: String,
}

impl Server {
    /// Start the program with a config and a state folder, on any free port.
    pub(crate) fn start(config: &Path, state: &Path) -> Server {
        let mut program = Command::new(env!("CARGO_BIN_EXE_notehost"))
            .args(["serve", "--http", "127.0.0.1:0", "--config"])
            .arg(config)
            .arg("--state")
            .arg(state)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut lines = BufReader::new(program.stderr.take().expect("its stderr is ours")).lines();
        let mut told = Vec::new();
        let address = loop {
            let Some(Ok(line)) = lines.next() else {
                panic!("the program does not listen: {told:#?}");
            };
            let url = line.strip_prefix("listening on http://");
            if let Some(address) = url.and_then(|rest| rest.strip_suffix("/mcp")) {
                break address.to_owned();
            }
            told.push(line);
        };
        // What nobody reads would fill the pipe and hold the program up.
        std::thread::spawn(move || lines.for_each(drop));
        Server { program, address }
    }

    /// Its address: host and port.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// The address of its MCP endpoint.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// The program's process.
    pub(crate) fn process(&mut self) -> &mut Child {
        &mut self.program
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// One connection, kept open from request to request.
pub(crate) struct Connection {
    host: String,
    stream: BufReader<TcpStream>,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Response {
    /// The status code.
    pub(crate) status: u16,
    /// The body, its chunks joined.
    pub(crate) body: String,
    headers: Vec<(String, String)>,
}

impl Response {
    /// A header; its name in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The JSON-RPC message of the body, whether it came as JSON or as an event.
    #[track_caller]
    pub(crate) fn message(&self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        let mut events = self
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("data: "));
        let event = events.rfind(|data| !data.is_empty());
        let text = event.unwrap_or(&self.body);
        serde_json::from_str(text).unwrap_or_else(|_| panic!("a body that is no message: {self:?}"))
    }
}

impl Connection {
    /// Connect to a host and port.
    pub(crate) fn open(address: &str) -> Connection {
        let stream = TcpStream::connect(address).expect("the program listens");
        stream.set_nodelay(true).expect("an option of the socket");
        stream
            .set_read_timeout(Some(PATIENCE))
            .expect("an option of the socket");
        Connection {
            host: address.to_owned(),
            stream: BufReader::new(stream),
        }
    }

    /// Send a request and wait for what comes back. A header `Host` replaces the right one.
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

    /// Send a request.
    pub(crate) fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) {
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
        // A server that refuses a body does not wait for all of it; its answer is there all the same.
        let _ = sent;
    }

    /// Wait for what comes back.
    pub(crate) fn receive(&mut self) -> Response {
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

/// An MCP client on one connection.
pub(crate) struct HttpClient {
    connection: Connection,
    /// In the sessions' era.
    session: Option<String>,
    last_id: u64,
}

impl HttpClient {
    /// A client of the stateless era.
    pub(crate) fn stateless(address: &str) -> HttpClient {
        HttpClient {
            connection: Connection::open(address),
            session: None,
            last_id: 0,
        }
    }

    /// A client of the sessions' era, hands shaken.
    pub(crate) fn with_session(address: &str) -> HttpClient {
        let mut connection = Connection::open(address);
        let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": SESSIONS, "capabilities": {}, "clientInfo": {"name": "tests", "version": "0"}}});
        let answer = connection.ask("POST", "/mcp", &[], &initialize.to_string());
        assert_eq!(answer.message()["result"]["protocolVersion"], SESSIONS);
        let session = answer
            .header("mcp-session-id")
            .expect("a session")
            .to_owned();
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let headers = [
            ("Mcp-Session-Id", session.as_str()),
            ("MCP-Protocol-Version", SESSIONS),
        ];
        let answer = connection.ask("POST", "/mcp", &headers, &initialized.to_string());
        assert_eq!(answer.status, 202, "{answer:?}");
        HttpClient {
            connection,
            session: Some(session),
            last_id: 0,
        }
    }

    /// The id of its session, if it has one.
    pub(crate) fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// Send a request; what comes back is had with [`HttpClient::receive`].
    pub(crate) fn send(&mut self, method: &str, mut params: Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        let name = params["name"]
            .as_str()
            .or(params["uri"].as_str())
            .unwrap_or_default()
            .to_owned();
        let headers = match &self.session {
            Some(session) => vec![
                ("Mcp-Session-Id", session.as_str()),
                ("MCP-Protocol-Version", SESSIONS),
            ],
            None => {
                params["_meta"] = stateless_meta();
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
        let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.connection
            .send("POST", "/mcp", &headers, &body.to_string());
        id
    }

    /// The whole answer to the request that was sent: with `result` or `error`.
    #[track_caller]
    pub(crate) fn receive(&mut self) -> Value {
        self.connection.receive().message()
    }

    /// The whole answer to a request.
    #[track_caller]
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.send(method, params);
        self.receive()
    }

    /// Send a call of `domain.action`.
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

/// What every request of the stateless era carries.
pub(crate) fn stateless_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "0"},
    })
}
