//! The component store: install, upgrade, rollback and removal on the command line, while servers run.

mod crash_safety;
mod hot_swap;
mod life_cycle;
mod rejections;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::guests::guest;
use crate::support::place::Place;

/// A user with a vault, a state folder and optionally a config.
struct Workspace {
    place: Place,
    config: Option<PathBuf>,
}

impl Workspace {
    /// With a config that allows everything to every caller.
    fn new() -> Workspace {
        let place = Place::new();
        let config = Some(place.config_file(&place.settings()));
        Workspace { place, config }
    }

    /// Without any config file.
    fn without_config() -> Workspace {
        Workspace {
            place: Place::new(),
            config: None,
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(crate::support::program());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("NOTEHOST_") {
                command.env_remove(name);
            }
        }
        command
            .args(arguments)
            .arg("--state")
            .arg(self.place.state());
        if let Some(config) = &self.config {
            command.arg("--config").arg(config);
        }
        // Ignores the config of the user who runs the tests.
        command
            .env("XDG_CONFIG_HOME", self.place.outside())
            .env("HOME", self.place.outside());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the program runs")
    }

    /// Runs a command that must succeed; returns its output.
    #[track_caller]
    fn succeed(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            output_text(&output)
        );
        String::from_utf8(output.stdout).expect("text")
    }

    /// Runs a command that must fail; returns its errors.
    #[track_caller]
    fn fail(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(
            output.status.code(),
            Some(1),
            "{arguments:?}: {}",
            output_text(&output)
        );
        output_text(&output)
    }

    /// The reply of an action, called on the command line.
    #[track_caller]
    fn call(&self, action: &str, arguments: &str) -> Value {
        let vault = self.place.vault();
        let vault = vault.to_str().expect("a path of text");
        let args = [
            "call", "steady", action, "--json", arguments, "--vault", vault,
        ];
        serde_json::from_str(&self.succeed(&args)).expect("JSON")
    }

    /// The component `steady` in `component list`.
    fn list_entry(&self) -> Option<Value> {
        let report: Value =
            serde_json::from_str(&self.succeed(&["component", "list"])).expect("JSON");
        let items = report["items"].as_array().expect("a list");
        items.iter().find(|item| item["name"] == "steady").cloned()
    }

    fn lock_file(&self) -> PathBuf {
        self.place.state().join("components/components.lock")
    }

    /// Every file in the store, except for the usage lock.
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

fn output_text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The file of a version of `steady`: `one`, `two` or `wide`.
fn version(name: &str) -> String {
    let file = guest(&format!("steady_{name}"));
    file.to_str().expect("a path of text").to_owned()
}
