//! The transports: the built program, used by clients, external tools and people. Few tests, but every transport; the
//! scenarios test the actions themselves.

mod command_line;
mod external_tools;
mod http;
mod shutdown;
mod stdio;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use notehost::config::{GrantSettings, Settings};
use serde_json::{Value, json};

use crate::support::guests::guest;
use crate::support::place::{Place, component};

/// The content of `Work/Plan.md`.
const PLAN: &str = "# Plan\n\n## Today\n\nwrite tests\n";

/// A vault with a note in it.
fn place_with_note() -> Place {
    let place = Place::new();
    place.write("Work/Plan.md", PLAN);
    place
}

/// Settings with the guest that never ends, with this deadline.
fn settings_with_spinning_guest(place: &Place, call_ms: u64) -> Settings {
    let mut settings = place.settings();
    settings.components.insert(
        "hostile".into(),
        component(guest("hostile"), GrantSettings::default()),
    );
    settings.limits.call_ms = call_ms;
    settings.supervision.strikes = 0;
    settings
}

/// The program, without this machine's settings.
fn program(place: &Place) -> Command {
    let mut command = Command::new(crate::support::program());
    for (name, _) in std::env::vars()
        .filter(|(name, _)| name.starts_with("NOTEHOST_") || name.starts_with("XDG_"))
    {
        command.env_remove(name);
    }
    command
        .env("HOME", place.root())
        .env("NOTEHOST_STATE", place.state());
    command
}

/// The program as a server over stdio that allows everything.
fn serve_command(place: &Place) -> Command {
    let mut command = program(place);
    command
        .arg("serve")
        .arg(place.vault())
        .args(["--allow", "rwd"]);
    command
}

/// The result of running the program.
#[derive(Debug)]
struct RunResult {
    code: Option<i32>,
    output: String,
    errors: String,
}

impl RunResult {
    /// The single JSON document on stdout.
    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.output).unwrap_or_else(|_| panic!("no JSON on stdout: {self:?}"))
    }

    /// The messages on stdout, one per line and nothing else.
    #[track_caller]
    fn messages(&self) -> Vec<Value> {
        let message = |line| match serde_json::from_str::<Value>(line) {
            Ok(message) if message["jsonrpc"] == "2.0" => message,
            _ => panic!("invalid message on stdout: {line}"),
        };
        self.output.lines().map(message).collect()
    }

    /// The reply with this id, which must exist exactly once.
    #[track_caller]
    fn answer(&self, id: u64) -> Value {
        let mut found: Vec<Value> = self.messages();
        found.retain(|message| message["id"] == id);
        assert_eq!(found.len(), 1, "answers to {id}: {found:#?} in {self:#?}");
        found.remove(0)
    }
}

/// Runs a command with this input until it exits.
fn run(command: &mut Command, input: impl Into<Vec<u8>>) -> RunResult {
    let mut running = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut pipe = running.stdin.take().expect("its stdin is ours");
    let input = input.into();
    // A program that reads nothing may exit before everything is written.
    let writing = std::thread::spawn(move || drop(pipe.write_all(&input)));
    let result = running.wait_with_output().expect("the program ends");
    writing.join().expect("no panic");
    RunResult {
        code: result.status.code(),
        output: String::from_utf8(result.stdout).expect("text on stdout"),
        errors: String::from_utf8(result.stderr).expect("text on stderr"),
    }
}

/// A whole conversation over stdio: the handshake, these requests at once with ids from 1, and the end of the input.
fn run_conversation(command: &mut Command, requests: &[(&str, Value)]) -> RunResult {
    let mut lines = handshake(crate::support::http::SESSIONS);
    for (number, (method, params)) in requests.iter().enumerate() {
        lines.push_str(&format!(
            "{}\n",
            message(number as u64 + 1, method, params.clone())
        ));
    }
    run(command, lines)
}

/// The first lines of a session-based client; its `initialize` has the id 0.
fn handshake(revision: &str) -> String {
    let about = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "tests", "version": "0"}});
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    format!("{}\n{initialized}\n", message(0, "initialize", about))
}

fn message(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// The parameters of a call of a tool.
fn tool(name: &str, arguments: Value) -> Value {
    json!({"name": name, "arguments": arguments})
}

/// A new file beside the vault.
fn path_outside(place: &Place, name: &str) -> PathBuf {
    place.outside().join(name)
}
