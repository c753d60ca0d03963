//! The official TypeScript SDK: version 1 with session-based revisions, version 2 with both kinds.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::json;

use super::{ClientTest, INSTALL_TIMEOUT, Wire, installed, run};

const SCRIPT: &str = "typescript.mjs";

/// The packages, and the script beside them.
fn packages() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        installed(
            "typescript",
            SCRIPT,
            "package.json",
            |folder, requirements| {
                fs::copy(requirements, folder.join("package.json")).expect("the list of packages");
                let mut npm = Command::new("npm");
                npm.args(["install", "--no-audit", "--no-fund", "--no-package-lock"])
                    .current_dir(folder);
                match run(&mut npm, INSTALL_TIMEOUT).code {
                    Some(0) => Ok(()),
                    _ => Err("npm cannot install the TypeScript SDK".into()),
                }
            },
        )
    });
    folder.as_deref()
}

fn client(version: u32, revision: &str, wire: Wire) {
    let Some(packages) = packages() else {
        return;
    };
    let mut node = Command::new("node");
    node.arg(packages.join(SCRIPT));
    let task = json!({"sdk": version, "revision": revision});
    ClientTest::new().run_client(&mut node, wire, task);
}

#[test]
fn typescript_sdk_v1_over_stdio() {
    client(1, "legacy", Wire::Stdio);
}

#[test]
fn typescript_sdk_v1_over_http() {
    client(1, "legacy", Wire::Http);
}

#[test]
fn typescript_sdk_v2_over_stdio_with_sessions() {
    client(2, "legacy", Wire::Stdio);
}

#[test]
fn typescript_sdk_v2_over_http_with_sessions() {
    client(2, "legacy", Wire::Http);
}

#[test]
fn typescript_sdk_v2_over_stdio_without_sessions() {
    client(2, "modern", Wire::Stdio);
}

#[test]
fn typescript_sdk_v2_over_http_without_sessions() {
    client(2, "modern", Wire::Http);
}
