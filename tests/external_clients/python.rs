//! The official Python SDK, with stateless and session-based revisions.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::json;

use super::{ClientTest, INSTALL_TIMEOUT, Wire, installed, run};

const SCRIPT: &str = "python.py";
/// The oldest supported Python version.
const OLDEST: &str = "import sys; sys.exit(sys.version_info < (3, 10))";

/// A Python environment with the package, and the script in it.
fn packages() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        installed(
            "python",
            SCRIPT,
            "requirements.txt",
            |folder, requirements| {
                let mut python = Command::new("python3");
                if run(python.args(["-c", OLDEST]), INSTALL_TIMEOUT).code != Some(0) {
                    return Err("python 3.10 or newer is not installed".into());
                }
                let mut environment = Command::new("python3");
                environment.args(["-m", "venv"]).arg(folder);
                if run(&mut environment, INSTALL_TIMEOUT).code != Some(0) {
                    return Err("python has no `venv`".into());
                }
                let mut pip = Command::new(folder.join("bin/pip"));
                pip.args(["install", "--quiet", "--disable-pip-version-check", "-r"])
                    .arg(requirements);
                match run(&mut pip, INSTALL_TIMEOUT).code {
                    Some(0) => Ok(()),
                    _ => Err("pip cannot install the Python SDK".into()),
                }
            },
        )
    });
    folder.as_deref()
}

fn client(revision: &str, wire: Wire) {
    let Some(packages) = packages() else {
        return;
    };
    let mut python = Command::new(packages.join("bin/python"));
    python.arg(packages.join(SCRIPT));
    ClientTest::new().run_client(&mut python, wire, json!({"revision": revision}));
}

#[test]
fn python_sdk_over_stdio_with_sessions() {
    client("legacy", Wire::Stdio);
}

#[test]
fn python_sdk_over_http_with_sessions() {
    client("legacy", Wire::Http);
}

#[test]
fn python_sdk_over_stdio_without_sessions() {
    client("modern", Wire::Stdio);
}

#[test]
fn python_sdk_over_http_without_sessions() {
    client("modern", Wire::Http);
}
