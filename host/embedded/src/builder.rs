//! Builds the first-party components for wasm32-wasip2 with cargo, in a target folder of their own. The build script uses
//! it for programs that embed them, the library for programs in development, which load them from that folder.

use std::env;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest as _, Sha256};

const TARGET: &str = "wasm32-wasip2";

/// How the components are compiled: the values of cargo's profile. The build script has one more, for releases.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Optimization {
    pub(crate) level: &'static str,
    pub(crate) lto: &'static str,
    pub(crate) codegen_units: &'static str,
}

/// Compiles in a fraction of the time.
pub(crate) const QUICK: Optimization = Optimization {
    level: "1",
    lto: "off",
    codegen_units: "16",
};

/// Builds the named components and returns the folder with the `notehost_NAME.wasm` files. Cargo rebuilds only those whose
/// sources changed.
pub(crate) fn build(
    workspace: &Path,
    names: &[&str],
    target_folder: &Path,
    optimization: Optimization,
) -> Result<PathBuf, String> {
    install_target()?;
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .current_dir(workspace)
        .args(["build", "--quiet", "--release", "--locked"])
        .args(["--target", TARGET, "--target-dir"])
        .arg(target_folder);
    for name in names {
        cargo.args(["--package", &format!("notehost-{name}")]);
    }
    // What is set for the build of the host must not reach this one.
    for (variable, _) in env::vars_os() {
        let variable = variable.to_string_lossy().into_owned();
        let of_host = variable.starts_with("CARGO_") && !is_user_setting(&variable);
        // Clippy's own compiler would build every component once more.
        let of_clippy = variable == "RUSTC_WORKSPACE_WRAPPER" || variable == "CLIPPY_ARGS";
        if of_host || of_clippy || variable == "RUSTFLAGS" {
            cargo.env_remove(variable);
        }
    }
    // Every engine that runs components has vector instructions.
    cargo.env(
        "CARGO_TARGET_WASM32_WASIP2_RUSTFLAGS",
        "-Ctarget-feature=+simd128",
    );
    for (setting, value) in [
        ("OPT_LEVEL", optimization.level),
        ("LTO", optimization.lto),
        ("CODEGEN_UNITS", optimization.codegen_units),
        ("PANIC", "abort"),
        ("STRIP", "true"),
        ("DEBUG", "false"),
        ("INCREMENTAL", "false"),
    ] {
        cargo.env(format!("CARGO_PROFILE_RELEASE_{setting}"), value);
    }
    // The standard output of the program that asks belongs to its client.
    cargo.stdin(std::process::Stdio::null());
    cargo.stdout(std::process::Stdio::null());
    let status = cargo
        .status()
        .map_err(|error| format!("cargo cannot be started: {error}"))?;
    match status.success() {
        true => Ok(target_folder.join(TARGET).join("release")),
        false => Err(format!("the components cannot be built for {TARGET}")),
    }
}

/// The digest that names a component's content everywhere in the program: SHA-256 in hexadecimal digits.
pub(crate) fn digest(bytes: &[u8]) -> String {
    let mut hex = String::new();
    for byte in Sha256::digest(bytes) {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

/// Installs the compiler's library for the target if it is missing. Rustup's own automatic installation may be switched
/// off, so it is called explicitly.
fn install_target() -> Result<(), String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let libraries = Command::new(&rustc)
        .args(["--print", "target-libdir", "--target", TARGET])
        .output()
        .map_err(|error| format!("rustc cannot be started: {error}"))?;
    let folder = String::from_utf8_lossy(&libraries.stdout).trim().to_owned();
    if Path::new(&folder).exists() {
        return Ok(());
    }
    let added = Command::new("rustup")
        .args(["target", "add", TARGET])
        .stdout(std::process::Stdio::null())
        .status();
    match added {
        Ok(status) if status.success() => Ok(()),
        _ => Err(format!(
            "the target {TARGET} is missing and rustup could not add it: run `rustup target add {TARGET}`"
        )),
    }
}

/// Where cargo finds its registry and its network settings.
fn is_user_setting(variable: &str) -> bool {
    [
        "CARGO_HOME",
        "CARGO_NET",
        "CARGO_HTTP",
        "CARGO_REGISTR",
        "CARGO_SOURCE",
    ]
    .iter()
    .any(|prefix| variable.starts_with(prefix))
}
