//! Sources of components: signatures, and a real registry on this machine.

mod registry_pull;
mod registry_push;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use notehost::packages::oci::{self, OciError, Pulled};

use crate::support::place::Place;

/// A user with a config and a component.
struct Workspace {
    place: Place,
    config: PathBuf,
}

impl Workspace {
    fn new() -> Workspace {
        Workspace::with("")
    }

    /// With more lines in the config.
    fn with(lines: &str) -> Workspace {
        let place = Place::new();
        let config = place.root().join("notehost.toml");
        let text = format!(
            "[[vaults]]\nid = \"main\"\npath = {:?}\n{lines}",
            place.vault()
        );
        std::fs::write(&config, text).expect("a config");
        Workspace { place, config }
    }

    /// Writes a file outside of the vault.
    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let file = self.place.outside().join(name);
        std::fs::write(&file, bytes).expect("a file");
        file
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
            .arg("--config")
            .arg(&self.config)
            .arg("--state")
            .arg(self.place.state())
            // Ignores the registry logins of the user who runs the tests.
            .env("DOCKER_CONFIG", self.place.outside());
        command
    }

    fn push(&self, file: &Path, reference: &str) -> Output {
        let file = file.to_str().expect("a path of text");
        let mut command = self.command(&["component", "push", file, reference]);
        command.output().expect("the program runs")
    }

    /// Pushes successfully; returns the program's output.
    #[track_caller]
    fn push_successfully(&self, file: &Path, reference: &str) -> serde_json::Value {
        let output = self.push(file, reference);
        assert!(output.status.success(), "{}", output_text(&output));
        serde_json::from_slice(&output.stdout).expect("JSON")
    }
}

fn output_text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A minimal component without any code: enough for a registry.
fn component(content: &str) -> Vec<u8> {
    // The magic number of components, and a custom section with the content.
    let mut bytes = b"\0asm\x0d\0\x01\0".to_vec();
    let name = b"\x04test";
    let length = u8::try_from(name.len() + content.len()).expect("a short content");
    assert!(length < 128, "a length of one byte");
    bytes.extend([0, length]);
    bytes.extend(name);
    bytes.extend(content.as_bytes());
    bytes
}

async fn pull(reference: &str) -> Result<Pulled, OciError> {
    oci::pull(&reference.parse().expect("a reference")).await
}
