//! The command line in a user's environment: remote servers, profiles, client configs, shell completion, the doctor,
//! man pages and packages. Every test runs the built program, most of them with a separate home folder.

mod client_configs;
mod completion;
mod doctor;
mod local_calls;
mod packages;
mod profiles;
mod remote_calls;
mod service;

use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use notehost::config::Settings;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;

use crate::support::http::Server;
use crate::support::place::Place;

/// The content of `Work/Plan.md`.
const PLAN: &str = "# Plan\n\nbuy milk\n";

/// A user with some notes and a home folder.
struct Workspace {
    place: Place,
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
        serde_json::from_str(&self.output)
            .unwrap_or_else(|_| panic!("no JSON on stdout: {self:#?}"))
    }

    /// Asserts success.
    #[track_caller]
    fn expect_success(self) -> RunResult {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self
    }

    /// Asserts this exit code and this text on stderr.
    #[track_caller]
    fn expect_failure(self, code: i32, expected: &str) -> RunResult {
        assert_eq!(self.code, Some(code), "{self:#?}");
        assert!(
            self.errors.contains(expected),
            "{expected} is not in {self:#?}"
        );
        self
    }
}

impl Workspace {
    /// A vault with some notes.
    fn new() -> Workspace {
        let place = Place::new();
        place.write("Work/Plan.md", PLAN);
        place.write("Work/My list (1).md", "# List\n");
        place.write("Work/Sub/Deep.md", "# Deep\n");
        place.write("Diary/Monday.md", "It rained.\n");
        place.write("Top.md", "top\n");
        place.write(".obsidian/app.json", "{}");
        Workspace { place }
    }

    /// The home folder, which also contains the vault and the state.
    fn home(&self) -> PathBuf {
        self.place.root().to_owned()
    }

    /// The program, without this machine's settings.
    fn program(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(crate::support::program());
        self.cleanly(&mut command);
        command.args(arguments);
        command
    }

    /// Removes this machine's settings from a command's environment.
    fn cleanly(&self, command: &mut Command) {
        let ours = ["NOTEHOST_", "XDG_", "OTEL_"];
        let others = [
            "PAGER",
            "NO_COLOR",
            "TRACEPARENT",
            "SSL_CERT_FILE",
            "SSL_CERT_DIR",
        ];
        for (name, _) in std::env::vars() {
            let is_proxy = name.to_lowercase().ends_with("_proxy");
            let is_ours = ours.iter().any(|prefix| name.starts_with(prefix));
            if is_proxy || is_ours || others.contains(&name.as_str()) {
                command.env_remove(name);
            }
        }
        command
            .env("HOME", self.home())
            .env("TERM", "xterm")
            .env("NOTEHOST_STATE", self.place.state())
            .current_dir(self.place.outside());
    }

    /// Runs the program with these arguments.
    fn run(&self, arguments: &[&str]) -> RunResult {
        run(&mut self.program(arguments), "")
    }

    /// Runs the program with these arguments and this input.
    fn run_with(&self, arguments: &[&str], input: &str) -> RunResult {
        run(&mut self.program(arguments), input)
    }

    /// A server with these settings and its own state folder. It requires no token.
    fn serve(&self, change: impl FnOnce(&mut Settings)) -> Server {
        let mut settings = self.place.settings();
        change(&mut settings);
        let config = self.place.config_file(&settings);
        Server::start(&config, &self.server_state())
    }

    /// The same, with required tokens.
    fn serve_authenticated(&self) -> Server {
        let config = self.place.config_file(&self.place.settings());
        Server::start_authenticated(&config, &self.server_state())
    }

    /// The state folder of the server.
    fn server_state(&self) -> PathBuf {
        let state = self.place.outside().join("server");
        if !state.exists() {
            std::fs::create_dir(&state).expect("a folder");
            let compiled = self.place.state().join("compiled");
            std::os::unix::fs::symlink(compiled, state.join("compiled")).expect("a link");
        }
        state
    }

    /// A new token for the server.
    fn token(&self, name: &str, scopes: &str) -> String {
        self.token_with(name, scopes, &[])
    }

    /// A new token for the server, created with more flags.
    fn token_with(&self, name: &str, scopes: &str, more: &[&str]) -> String {
        let state = self.server_state();
        let state = state.to_string_lossy();
        let arguments = [
            "token", "new", "--name", name, "--scopes", scopes, "--state", &state,
        ];
        let report = self
            .run(&[&arguments, more].concat())
            .expect_success()
            .json();
        report["token"].as_str().expect("a token").to_owned()
    }

    /// The path of the vault, as an argument.
    fn vault(&self) -> String {
        self.place.vault().to_string_lossy().into_owned()
    }
}

/// Runs a command with this input until it exits.
fn run(command: &mut Command, input: &str) -> RunResult {
    let mut running = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut pipe = running.stdin.take().expect("its stdin is ours");
    let input = input.as_bytes().to_owned();
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

/// Runs a command at a pseudoterminal; types `types` after `prompt` appears. Returns the terminal output.
pub(crate) fn at_a_terminal(
    command: &mut Command,
    prompt: &str,
    types: &str,
) -> (Option<i32>, String) {
    let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&keyboard)
        .and_then(|()| unlockpt(&keyboard))
        .expect("it is ours");
    let name = ptsname(&keyboard, Vec::new()).expect("it has a name");
    let name = name.to_str().expect("a path").to_owned();
    let screen = || {
        let opened = std::fs::File::options().read(true).write(true).open(&name);
        Stdio::from(opened.expect("the other end"))
    };
    let mut program = command
        .stdin(screen())
        .stdout(screen())
        .stderr(screen())
        .spawn()
        .expect("the program starts");
    // Our copies of the other end would keep it open.
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut keyboard = std::fs::File::from(keyboard);
    let (mut shown, mut typed) = (String::new(), false);
    let mut buffer = [0; 4096];
    // Reading fails when the program closes the other end.
    while let Ok(length @ 1..) = keyboard.read(&mut buffer) {
        shown.push_str(&String::from_utf8_lossy(&buffer[..length]));
        if !typed && !prompt.is_empty() && shown.contains(prompt) {
            typed = true;
            keyboard
                .write_all(types.as_bytes())
                .expect("it can be typed");
        }
    }
    (program.wait().expect("it ends").code(), shown)
}

/// Reports a skipped test, or fails if the variable requires it.
fn skip(what: &str, required_by: &str) {
    let is_required = std::env::var_os(required_by).is_some_and(|value| value == "1");
    assert!(!is_required, "{what}");
    // Not `eprintln!`, whose output is hidden for passing tests.
    let _ = writeln!(std::io::stderr(), "skipped: {what}");
}
