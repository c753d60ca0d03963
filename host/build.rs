//! Builds the first-party components for wasm32-wasip2 and hands them to the program as embedded bytes.
//!
//! They are built in a target folder of their own. A release embeds components that were optimised across crates; in
//! development they are built without that, in a fraction of the time. Cargo rebuilds only those whose sources changed.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest as _, Sha256};

const TARGET: &str = "wasm32-wasip2";
/// Names a folder of `notehost_NAME.wasm` files to embed instead of building the components.
const PREBUILT: &str = "NOTEHOST_COMPONENTS";

fn main() {
    let workspace = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"))
        .parent()
        .expect("the host lies in the workspace")
        .to_owned();
    // Of the SDK only what is compiled: its guide and examples change nothing in here.
    for watched in [
        "components",
        "sdk/Cargo.toml",
        "sdk/src",
        "sdk/macros",
        "wit",
        "Cargo.lock",
    ] {
        println!(
            "cargo::rerun-if-changed={}",
            workspace.join(watched).display()
        );
    }
    println!("cargo::rerun-if-env-changed={PREBUILT}");
    let names = component_names(&workspace.join("components"));
    let built = match env::var_os(PREBUILT).filter(|folder| !folder.is_empty()) {
        Some(folder) => prebuilt(Path::new(&folder), &names),
        None => {
            ask_for_target();
            build(&workspace, &names)
        }
    };
    embed(&workspace, &names, &built);
    embed_sdk(&workspace);
}

/// Every folder of `components` that is a crate.
fn component_names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .expect("the components folder can be read")
        .map(|entry| entry.expect("the components folder can be read").path())
        .filter(|path| path.join("Cargo.toml").exists())
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    names
}

/// Install the compiler's library for the target where it is missing. Rustup's own automatic installation may be
/// switched off, so it has to be asked.
fn ask_for_target() {
    let rustc = env::var_os("RUSTC").expect("cargo sets it");
    let libraries = Command::new(&rustc)
        .args(["--print", "target-libdir", "--target", TARGET])
        .output()
        .expect("rustc runs");
    let folder = String::from_utf8_lossy(&libraries.stdout).trim().to_owned();
    if Path::new(&folder).exists() {
        return;
    }
    println!(
        "cargo::warning=the target {TARGET} is missing: installing it with `rustup target add {TARGET}`"
    );
    let added = Command::new("rustup")
        .args(["target", "add", TARGET])
        .status();
    if !added.is_ok_and(|status| status.success()) {
        panic!(
            "the target {TARGET} is missing and rustup could not add it: run `rustup target add {TARGET}`"
        );
    }
}

/// Take components that were built before; returns the folder.
fn prebuilt(folder: &Path, names: &[String]) -> PathBuf {
    for name in names {
        let wasm = folder.join(format!("notehost_{name}.wasm"));
        println!("cargo::rerun-if-changed={}", wasm.display());
        assert!(
            wasm.is_file(),
            "{PREBUILT} names a folder without `notehost_{name}.wasm`"
        );
    }
    folder.to_owned()
}

/// Build all components at once; returns the folder with the results.
fn build(workspace: &Path, names: &[String]) -> PathBuf {
    let target = target_folder();
    let mut cargo = Command::new(env::var_os("CARGO").expect("cargo sets it"));
    cargo
        .current_dir(workspace)
        .args([
            "build",
            "--release",
            "--locked",
            "--target",
            TARGET,
            "--target-dir",
        ])
        .arg(&target);
    for name in names {
        cargo.args(["--package", &format!("notehost-{name}")]);
    }
    // What is set for the host's own build must not reach this one.
    for (variable, _) in env::vars_os() {
        let variable = variable.to_string_lossy().into_owned();
        let of_host = variable.starts_with("CARGO_") && !is_users_own(&variable);
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
    let (optimization, lto, units) = match is_release() {
        true => ("3", "true", "1"),
        false => ("1", "off", "16"),
    };
    for (setting, value) in [
        ("OPT_LEVEL", optimization),
        ("LTO", lto),
        ("CODEGEN_UNITS", units),
        ("PANIC", "abort"),
        ("STRIP", "true"),
        ("DEBUG", "false"),
        ("INCREMENTAL", "false"),
    ] {
        cargo.env(format!("CARGO_PROFILE_RELEASE_{setting}"), value);
    }
    let status = cargo.status().expect("cargo runs");
    assert!(
        status.success(),
        "the components could not be built for {TARGET}"
    );
    target.join(TARGET).join("release")
}

/// Where cargo finds its registry and its network settings.
fn is_users_own(variable: &str) -> bool {
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

/// Whether the host is built to be released.
fn is_release() -> bool {
    env::var("PROFILE").is_ok_and(|profile| profile == "release")
}

/// A folder beside the host's own build.
fn target_folder() -> PathBuf {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    // <target>/<profile>/build/<package>/out
    let target = out.ancestors().nth(4).expect("cargo's layout");
    target.join(match is_release() {
        true => "components",
        false => "components-dev",
    })
}

fn embed(workspace: &Path, names: &[String], built: &Path) {
    let mut source = String::from("/// All of them.\npub static EMBEDDED: &[Embedded] = &[\n");
    for name in names {
        let wasm = built.join(format!("notehost_{name}.wasm"));
        let description = workspace
            .join("components")
            .join(name)
            .join("description.json");
        writeln!(
            source,
            "    Embedded {{ name: {name:?}, wasm: include_bytes!({:?}), digest: {:?}, description: include_str!({:?}) }},",
            wasm.display().to_string(),
            digest(&fs::read(&wasm).expect("it was built")),
            description.display().to_string(),
        )
        .expect("writing to a string");
    }
    source.push_str("];\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("embedded.rs"), source).expect("OUT_DIR can be written");
}

/// As the program itself names a component's content.
fn digest(bytes: &[u8]) -> String {
    let mut hex = String::new();
    for byte in Sha256::digest(bytes) {
        write!(hex, "{byte:02x}").expect("writing to a string");
    }
    hex
}

/// The SDK's sources and the contract, for projects of authors who have nothing but the program.
fn embed_sdk(workspace: &Path) {
    let mut files = Vec::new();
    for part in ["LICENSE", "sdk/Cargo.toml", "sdk/src", "sdk/macros", "wit"] {
        collect(&workspace.join(part), &mut files);
    }
    files.sort();
    let mut source = String::from(
        "/// The SDK and the contract: paths from the top of the repository, and texts.\n",
    );
    source.push_str("static SDK_SOURCES: &[(&str, &str)] = &[\n");
    for file in files {
        let path = file.strip_prefix(workspace).expect("it lies there");
        let path = path.to_str().expect("a plain path").replace('\\', "/");
        writeln!(
            source,
            "    ({path:?}, include_str!({:?})),",
            file.display().to_string()
        )
        .expect("writing to a string");
    }
    source.push_str("];\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("sdk_sources.rs"), source).expect("OUT_DIR can be written");
}

/// Every file below a folder, without its tests.
fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    let name = path.file_name().unwrap_or_default();
    if name == "tests" || name == "tests.rs" || name == "target" {
        return;
    }
    if !path.is_dir() {
        files.push(path.to_owned());
        return;
    }
    for entry in fs::read_dir(path).expect("the folder can be read") {
        collect(&entry.expect("the folder can be read").path(), files);
    }
}
