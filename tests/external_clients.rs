//! External clients: the official TypeScript and Python SDKs drive the built program over stdio and over HTTP, with
//! each kind of MCP revision that they support. Their scripts are in `external_clients/clients`; each prints a result
//! for every check. The packages are installed into the target folder once. If that fails, the tests print a message
//! and pass, unless `NOTEHOST_REQUIRE_NODE=1` is set. (`wire/external_tools.rs` has the Inspector and the MCP
//! conformance suite.)

mod python;
mod typescript;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use notehost::config::{Confirm, GrantSettings, Settings};
use serde_json::{Value, json};

use crate::support::guests::guest;
use crate::support::http::Server;
use crate::support::place::{Place, component};
use crate::support::repository;

/// The content of `Work/Plan.md`.
const PLAN: &str = "# Plan\n\nwrite tests\n";
/// Checks that every client must report on.
const CHECKS: [&str; 11] = [
    "connect",
    "list",
    "call",
    "error",
    "progress",
    "cancel",
    "elicit",
    "subscribe",
    "list_changed",
    "pipelined",
    "close",
];
/// Timeouts for installing packages and for running a client; only a hang reaches them.
const INSTALL_TIMEOUT: Duration = Duration::from_secs(240);
const RUN_TIMEOUT: Duration = Duration::from_secs(240);

/// How a client reaches the program.
#[derive(Clone, Copy)]
enum Wire {
    Stdio,
    Http,
}

/// A vault for the clients, with a slow component and one that is hot-swapped.
struct ClientTest {
    place: Place,
}

impl ClientTest {
    fn new() -> ClientTest {
        let place = Place::new();
        place.write("Work/Plan.md", PLAN);
        place.write("Work/Old.md", "old\n");
        let client_test = ClientTest { place };
        fs::copy(guest("steady_one"), client_test.swapped()).expect("the first version");
        client_test
    }

    /// The file of the component that is hot-swapped.
    fn swapped(&self) -> PathBuf {
        self.place.outside().join("steady.wasm")
    }

    fn settings(&self) -> Settings {
        let mut settings = Settings {
            confirm: Confirm::Floor,
            ..self.place.settings()
        };
        let everything = || GrantSettings {
            delete: vec!["**".into()],
            ..GrantSettings::default()
        };
        for (name, file) in [("slow", guest("slow")), ("steady", self.swapped())] {
            let guest = component(file, everything());
            settings.components.insert(name.into(), guest);
        }
        settings.limits.call_ms = 3_600_000;
        // A guest that keeps running after its call was cancelled would block every other call.
        settings.limits.concurrent_calls = 1;
        settings.rates.read = 1_000_000;
        settings
    }

    /// Runs a client on the program and checks its results.
    fn run_client(&self, client: &mut Command, wire: Wire, mut task: Value) {
        let config = self.place.config_file(&self.settings());
        task["vault"] = json!(self.place.vault());
        task["plan"] = PLAN.into();
        task["swap"] = json!({"file": self.swapped(), "with": guest("steady_two")});
        let server = match wire {
            Wire::Http => Some(Server::start(&config, &self.place.state())),
            Wire::Stdio => None,
        };
        match &server {
            Some(server) => {
                task["url"] = server.url().into();
                // The client answers for its user.
                let token = self.place.attended_token("judge");
                task["authorization"] = format!("Bearer {token}").into();
            }
            None => {
                task["command"] = json!([
                    crate::support::program(),
                    "serve",
                    "--config",
                    config,
                    "--state",
                    self.place.state(),
                ]);
            }
        }
        let result = run(client.arg(task.to_string()), RUN_TIMEOUT);
        let check_results: BTreeMap<String, String> = result
            .output
            .lines()
            .last()
            .and_then(|line| serde_json::from_str(line).ok())
            .unwrap_or_else(|| panic!("no verdict on {task}: {result:#?}"));
        let mut wrong: Vec<String> = Vec::new();
        for name in CHECKS {
            let check_result = check_results.get(name).map_or("no result", String::as_str);
            if check_result != "ok" {
                wrong.push(format!("{name}: {check_result}"));
            }
        }
        assert!(wrong.is_empty(), "{task}\n{wrong:#?}\n{}", result.errors);
    }
}

/// The result of a program; no code if it was killed.
#[derive(Debug)]
struct RunResult {
    code: Option<i32>,
    output: String,
    errors: String,
}

/// Runs a program until it exits, or kills it after this time.
fn run(command: &mut Command, timeout: Duration) -> RunResult {
    let spawned = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut running = match spawned {
        Ok(running) => running,
        Err(error) => {
            return RunResult {
                code: None,
                output: String::new(),
                errors: error.to_string(),
            };
        }
    };
    let output = collected(running.stdout.take());
    let errors = collected(running.stderr.take());
    let code = wait(&mut running, timeout);
    let text = |reading: std::thread::JoinHandle<String>| reading.join().expect("no panic");
    RunResult {
        code,
        output: text(output),
        errors: text(errors),
    }
}

fn collected(
    stream: Option<impl std::io::Read + Send + 'static>,
) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            // Partial output is kept after an error.
            let _ = stream.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn wait(running: &mut Child, timeout: Duration) -> Option<i32> {
    let deadline = Instant::now() + timeout;
    while Instant::now() < deadline {
        match running.try_wait() {
            Ok(None) => std::thread::sleep(Duration::from_millis(20)),
            Ok(Some(status)) => return status.code(),
            Err(_) => break,
        }
    }
    let _ = running.kill();
    let _ = running.wait();
    None
}

/// The folder of a client's packages with its script beside them, where modules are found. `None` with a message if
/// they cannot be installed. They are reinstalled when the requirements change.
fn installed(
    name: &str,
    script: &str,
    requirements: &str,
    install: impl FnOnce(&Path, &Path) -> Result<(), String>,
) -> Option<PathBuf> {
    let clients = repository().join("tests/external_clients/clients");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("judges")
        .join(name);
    let requirements = clients.join(requirements);
    let mark = folder.join("installed");
    let required = fs::read(&requirements).expect("what is to be installed");
    if fs::read(&mark).ok().as_ref() != Some(&required) {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder in target");
        if let Err(missing) = install(&folder, &requirements) {
            skip(&missing);
            return None;
        }
        fs::write(&mark, required).expect("the mark");
    }
    fs::copy(clients.join(script), folder.join(script)).expect("the script");
    Some(folder)
}

/// Reports that a client is unavailable; fails if it is required.
fn skip(missing: &str) {
    assert!(
        std::env::var_os("NOTEHOST_REQUIRE_NODE").is_none_or(|value| value != "1"),
        "{missing}"
    );
    // Not `eprintln!`, whose output is hidden for passing tests.
    let _ = writeln!(std::io::stderr(), "skipped: {missing}");
}
