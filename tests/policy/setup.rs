//! Shared setup of the tests of records: a place with some notes and a config, and functions that run the program on
//! it.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use notehost::config::{Confirm, Settings};
use notehost::vault::Tier;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::client::Client;
use crate::support::http::Server;
use crate::support::place::Place;

/// Longer than any operation, even on a busy machine; only a hang reaches it.
pub(super) const TIMEOUT: Duration = Duration::from_secs(120);

/// The program with the config and the state of a place, without this machine's settings.
pub(super) fn program(place: &Place, arguments: &[&str]) -> Command {
    let mut command = Command::new(crate::support::program());
    for (name, _) in std::env::vars().filter(|(name, _)| {
        name.starts_with("NOTEHOST_") || name.starts_with("XDG_") || name.starts_with("OTEL_")
    }) {
        command.env_remove(name);
    }
    command
        .env_remove("TRACEPARENT")
        .env("HOME", place.root())
        .args(arguments)
        .arg("--config")
        .arg(place.root().join("notehost.toml"))
        .arg("--state")
        .arg(place.state());
    command
}

/// The result of running the program.
#[derive(Debug)]
pub(super) struct RunResult {
    pub(super) code: Option<i32>,
    pub(super) output: String,
    pub(super) errors: String,
}

impl RunResult {
    /// The single JSON document on stdout.
    #[track_caller]
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.output)
            .unwrap_or_else(|_| panic!("no JSON on stdout: {self:#?}"))
    }

    /// The JSON documents on stdout, one per line.
    #[track_caller]
    pub(super) fn lines(&self) -> Vec<Value> {
        assert_eq!(self.code, Some(0), "{self:#?}");
        let parsed =
            |line| serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}"));
        self.output.lines().map(parsed).collect()
    }
}

/// Runs a command until it exits.
pub(super) fn run(command: &mut Command) -> RunResult {
    let result = command
        .stdin(Stdio::null())
        .output()
        .expect("the program runs");
    RunResult {
        code: result.status.code(),
        output: String::from_utf8(result.stdout).expect("text on stdout"),
        errors: String::from_utf8(result.stderr).expect("text on stderr"),
    }
}

/// Terminates a process and waits until it has exited.
pub(super) fn stop(process: &mut Child) {
    kill_process(Pid::from_child(process), Signal::TERM).expect("the signal is sent");
    assert_eq!(process.wait().expect("it ends").code(), Some(0));
}

/// A vault with some notes, and a config that allows everything, except for `change`.
pub(super) fn place_with_notes(change: impl FnOnce(&mut Settings)) -> Place {
    let place = Place::new();
    place.write("Work/Plan.md", "# Plan\n\nwrite tests\n");
    place.write("Work/Old.md", "# Old\n");
    place.write("Closed/Law.md", "# Law\n");
    let mut settings = place.settings();
    settings.confirm = Confirm::Floor;
    settings
        .permissions
        .notebooks
        .insert("Closed".into(), Tier::Read);
    change(&mut settings);
    place.config_file(&settings);
    place
}

/// A client of a server over stdio.
pub(super) fn over_stdio(place: &Place) -> Client {
    Client::start(&place.root().join("notehost.toml"), &place.state())
}

/// A server over HTTP.
pub(super) fn over_http(place: &Place) -> Server {
    Server::start(&place.root().join("notehost.toml"), &place.state())
}

/// The rows that `notehost audit` prints with these flags.
#[track_caller]
pub(super) fn audit(place: &Place, flags: &[&str]) -> Vec<Value> {
    run(&mut program(place, &[&["audit"], flags].concat())).lines()
}

/// A text field of a row.
pub(super) fn word(row: &Value, field: &str) -> String {
    row[field].as_str().unwrap_or_default().to_owned()
}

/// Changes the records without the program.
pub(super) fn rewrite(place: &Place, statement: &str) {
    let records =
        rusqlite::Connection::open(place.state().join("records.sqlite")).expect("records");
    records.busy_timeout(TIMEOUT).expect("an option");
    records.execute_batch(statement).expect("it can be written");
}
