//! Components that come, change and go: installed, upgraded, rolled back and removed at a terminal, while servers run.

mod installing;
mod killing;
mod refusing;
mod swapping;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::guests::guest;
use crate::support::place::Place;

/// Somebody at a terminal, with a vault, a state folder and perhaps a config.
struct Desk {
    place: Place,
    config: Option<PathBuf>,
}

impl Desk {
    /// With a config file that lets every caller do everything.
    fn new() -> Desk {
        let place = Place::new();
        let config = Some(place.config_file(&place.settings()));
        Desk { place, config }
    }

    /// Without any config file.
    fn bare() -> Desk {
        Desk {
            place: Place::new(),
            config: None,
        }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_notehost"));
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("NOTEHOST_") {
                command.env_remove(name);
            }
        }
        command.args(words).arg("--state").arg(self.place.state());
        if let Some(config) = &self.config {
            command.arg("--config").arg(config);
        }
        // The config of whoever runs the tests is none of their affair.
        command
            .env("XDG_CONFIG_HOME", self.place.outside())
            .env("HOME", self.place.outside());
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("the program runs")
    }

    /// Run what should work; returns what it printed.
    #[track_caller]
    fn done(&self, words: &[&str]) -> String {
        let output = self.run(words);
        assert!(output.status.success(), "{words:?}: {}", told(&output));
        String::from_utf8(output.stdout).expect("text")
    }

    /// Run what should be refused; returns what it said about it.
    #[track_caller]
    fn refused(&self, words: &[&str]) -> String {
        let output = self.run(words);
        assert_eq!(
            output.status.code(),
            Some(1),
            "{words:?}: {}",
            told(&output)
        );
        told(&output)
    }

    /// What an action answers, asked at the terminal.
    #[track_caller]
    fn call(&self, action: &str, arguments: &str) -> Value {
        let vault = self.place.vault();
        let vault = vault.to_str().expect("a path of text");
        let words = [
            "call", "steady", action, "--json", arguments, "--vault", vault,
        ];
        serde_json::from_str(&self.done(&words)).expect("JSON")
    }

    /// The component `steady` as `component list` tells it.
    fn listed(&self) -> Option<Value> {
        let told: Value = serde_json::from_str(&self.done(&["component", "list"])).expect("JSON");
        let items = told["items"].as_array().expect("a list");
        items.iter().find(|item| item["name"] == "steady").cloned()
    }

    fn lock_file(&self) -> PathBuf {
        self.place.state().join("components/components.lock")
    }

    /// Everything in the store, but for what says that somebody uses it.
    fn store(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        collect(&self.place.state().join("components"), &mut found);
        found.retain(|(path, _)| !path.ends_with("busy"));
        found.sort();
        found
    }
}

fn collect(folder: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => collect(&path, found),
            false => {
                let bytes = std::fs::read(&path).expect("a file");
                found.push((path, bytes));
            }
        }
    }
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The file of a version of `steady`: `one`, `two` or `wide`.
fn version(name: &str) -> String {
    let file = guest(&format!("steady_{name}"));
    file.to_str().expect("a path of text").to_owned()
}
