//! The built program as a server over HTTP.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::http::TIMEOUT;

/// A running `notehost serve --http`.
pub(crate) struct Server {
    program: Child,
    address: String,
    log: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Starts the program with a config and a state folder, on any free port, without authentication: tokens in
    /// requests are checked, but none is required.
    pub(crate) fn start(config: &Path, state: &Path) -> Server {
        Server::start_at("127.0.0.1:0", config, state, |command| {
            command.arg("--no-auth");
        })
    }

    /// The same, with required tokens.
    pub(crate) fn start_authenticated(config: &Path, state: &Path) -> Server {
        Server::start_at("127.0.0.1:0", config, state, |_| {})
    }

    /// Starts the program at another address, or with more flags or variables.
    pub(crate) fn start_at(
        address: &str,
        config: &Path,
        state: &Path,
        prepare: impl FnOnce(&mut Command),
    ) -> Server {
        let mut command = Command::new(crate::support::program());
        command
            .args(["serve", "--http", address, "--config"])
            .arg(config)
            .arg("--state")
            .arg(state)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        prepare(&mut command);
        Server::spawn(&mut command)
    }

    /// Starts the program and waits until it listens; stderr of the command must be piped.
    pub(crate) fn spawn(command: &mut Command) -> Server {
        let mut program = command.spawn().expect("the program starts");
        let mut lines = BufReader::new(program.stderr.take().expect("its stderr is ours")).lines();
        let mut printed = Vec::new();
        let address = loop {
            let Some(Ok(line)) = lines.next() else {
                panic!("the program does not listen: {printed:#?}");
            };
            let url = line
                .strip_prefix("listening on ")
                .and_then(|url| url.split_once("://"));
            if let Some(address) = url.and_then(|(_, rest)| rest.strip_suffix("/mcp")) {
                let address = address.to_owned();
                printed.push(line);
                break address;
            }
            printed.push(line);
        };
        let log = Arc::new(Mutex::new(printed));
        let printed = log.clone();
        // An unread pipe would fill up and block the program.
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                printed.lock().expect("no panic").push(line);
            }
        });
        Server {
            program,
            address,
            log,
        }
    }

    /// The lines on stderr so far.
    pub(crate) fn log(&self) -> String {
        self.log.lock().expect("no panic").join("\n")
    }

    /// Waits until stderr contains this text.
    #[track_caller]
    pub(crate) fn wait_for_log(&self, words: &str) {
        wait_until(words, || self.log().contains(words));
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

/// Waits until a condition is true.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut is_true: impl FnMut() -> bool) {
    let deadline = Instant::now() + TIMEOUT;
    while !is_true() {
        assert!(Instant::now() < deadline, "timed out waiting until {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
