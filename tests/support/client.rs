//! A minimal client of the built program over stdio: JSON-RPC, one message per line. Anything else on the program's
//! stdout fails the test.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// Longer than any operation, even on a busy machine; only a hang reaches it.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A running `notehost serve`, over its stdin and stdout.
pub(crate) struct Client {
    program: Child,
    input: Option<ChildStdin>,
    messages: Receiver<String>,
    last_id: u64,
    early_replies: HashMap<u64, Value>,
    notifications: Vec<Value>,
    /// The user's answer to elicitations, and the elicitations received.
    user_answer: Option<Value>,
    elicitations: Vec<Value>,
}

impl Client {
    /// Starts the program with a config and a state folder, and does the handshake.
    pub(crate) fn start(config: &Path, state: &Path) -> Client {
        let mut client = Client::spawn(
            Command::new(crate::support::program())
                .arg("serve")
                .arg("--config")
                .arg(config)
                .arg("--state")
                .arg(state),
        );
        client.initialize();
        client
    }

    /// Starts any command that serves over stdio, without a handshake.
    pub(crate) fn spawn(command: &mut Command) -> Client {
        Client::spawn_with(command, Stdio::null())
    }

    /// The same, with a readable stderr.
    pub(crate) fn spawn_with(command: &mut Command, errors: Stdio) -> Client {
        let mut program = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors)
            .spawn()
            .expect("the program starts");
        let output = BufReader::new(program.stdout.take().expect("its stdout is ours"));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Client {
            input: program.stdin.take(),
            program,
            messages,
            last_id: 0,
            early_replies: HashMap::new(),
            notifications: Vec::new(),
            user_answer: None,
            elicitations: Vec::new(),
        }
    }

    /// `initialize` as a client with elicitation, whose user always gives this answer.
    pub(crate) fn initialize_with_elicitation(&mut self, answer_value: Value) {
        self.user_answer = Some(answer_value);
        self.ask(
            "initialize",
            json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {"elicitation": {}},
                "clientInfo": {"name": "tests", "version": "0"},
            }),
        );
        self.notify("notifications/initialized", json!({}));
    }

    /// The elicitations received.
    pub(crate) fn elicitations(&self) -> &[Value] {
        &self.elicitations
    }

    /// `initialize`, as in the session-based revisions.
    pub(crate) fn initialize(&mut self) -> Value {
        let answer = self.ask(
            "initialize",
            json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "tests", "version": "0"},
            }),
        );
        self.notify("notifications/initialized", json!({}));
        answer
    }

    /// Sends a request; its reply comes from [`Client::answer`].
    pub(crate) fn send(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Sends a call of `domain.action`.
    pub(crate) fn send_call(&mut self, name: &str, arguments: Value) -> u64 {
        let (domain, action) = name.split_once('.').expect("domain.action");
        let tool = format!("{domain}__{action}");
        self.send("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// Sends a notification.
    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.write(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// The full reply to a request: with `result` or `error`.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        loop {
            if let Some(answer) = self.early_replies.remove(&id) {
                return answer;
            }
            let line = self
                .messages
                .recv_timeout(TIMEOUT)
                .expect("the program answers");
            let message: Value = serde_json::from_str(&line)
                .unwrap_or_else(|_| panic!("invalid message on stdout: {line}"));
            match (message["id"].as_u64(), message.get("method")) {
                (Some(id), None) => drop(self.early_replies.insert(id, message)),
                (None, _) => self.notifications.push(message),
                (Some(id), Some(_)) => {
                    let answer_value = self.user_answer.clone().expect("an unexpected elicitation");
                    self.write(&json!({"jsonrpc": "2.0", "id": id, "result": answer_value}));
                    self.elicitations.push(message);
                }
            }
        }
    }

    /// Whether the output read so far contains a reply to this request, after the program exited.
    pub(crate) fn has_answer(&mut self, id: u64) -> bool {
        while let Ok(line) = self.messages.recv_timeout(TIMEOUT) {
            // A killed program may leave an incomplete line.
            if let Ok(message) = serde_json::from_str::<Value>(&line)
                && let Some(id) = message["id"].as_u64()
            {
                self.early_replies.insert(id, message);
            }
        }
        self.early_replies.contains_key(&id)
    }

    /// The reply to a request, or `None` if the program exits first.
    pub(crate) fn answer_or_exit(&mut self, id: u64) -> Option<Value> {
        while !self.early_replies.contains_key(&id) {
            let line = self.messages.recv().ok()?;
            if let Ok(message) = serde_json::from_str::<Value>(&line)
                && let Some(id) = message["id"].as_u64()
            {
                self.early_replies.insert(id, message);
            }
        }
        self.early_replies.remove(&id)
    }

    /// The result of a request.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let mut answer = self.answer(id);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].take()
    }

    /// The result of a call of `domain.action`.
    pub(crate) fn call(&mut self, name: &str, arguments: Value) -> Value {
        let id = self.send_call(name, arguments);
        self.answer(id)["result"].take()
    }

    /// Waits for the next notification or request of the server, and removes it from the queue.
    pub(crate) fn next_notification(&mut self) -> Value {
        while self.notifications.is_empty() {
            let line = self.messages.recv_timeout(TIMEOUT);
            let line = line.expect("the program sends a message");
            let message: Value = serde_json::from_str(&line).expect("a message");
            match message["id"].as_u64() {
                Some(id) => drop(self.early_replies.insert(id, message)),
                None => self.notifications.push(message),
            }
        }
        self.notifications.remove(0)
    }

    /// The notifications and requests of the server.
    pub(crate) fn notifications(&self) -> &[Value] {
        &self.notifications
    }

    /// The program's process.
    pub(crate) fn process(&mut self) -> &mut Child {
        &mut self.program
    }

    fn write(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("the program's stdin is open");
        writeln!(input, "{message}")
            .and_then(|()| input.flush())
            .expect("the program reads");
    }
}

impl Client {
    /// Disconnects as clients do, and waits until the program has exited by itself, with everything written.
    pub(crate) fn disconnect(mut self) {
        drop(self.input.take());
        self.program.wait().expect("an end");
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Closing stdin ends the program; one that hangs is killed.
        drop(self.input.take());
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// The error code of a call's result, if it failed.
pub(crate) fn error_code(result: &Value) -> Option<&str> {
    result["structuredContent"]["error"]["code"].as_str()
}
