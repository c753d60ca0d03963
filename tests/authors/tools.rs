//! The tools that build JavaScript and Python components, fetched once per run into `target/authors`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::support::repository;

/// The folder of the tests' projects; node finds packages from here upwards.
pub(super) fn workshop() -> PathBuf {
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let folder = temporary
        .parent()
        .expect("the build folder")
        .join("authors");
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// A new folder of the workshop.
pub(super) fn bench(name: &str) -> PathBuf {
    let folder = workshop().join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Whether JavaScript can be built here; if not, prints why once.
pub(super) fn has_javascript() -> bool {
    static READY: OnceLock<bool> = OnceLock::new();
    *READY.get_or_init(|| ready("javascript", javascript()))
}

/// The virtual environment with componentize-py if Python can be built here; if not, prints why once.
pub(super) fn python_environment() -> Option<PathBuf> {
    static READY: OnceLock<bool> = OnceLock::new();
    let folder = workshop().join("venv");
    READY
        .get_or_init(|| ready("python", python(&folder)))
        .then_some(folder)
}

fn ready(language: &str, fetched: Result<(), &str>) -> bool {
    let Err(missing) = fetched else {
        return true;
    };
    let is_required = std::env::var_os("NOTEHOST_REQUIRE_NODE").is_some_and(|value| value == "1");
    assert!(!is_required, "{missing}");
    // Not `eprintln!`, whose output is hidden for passing tests.
    let _ = writeln!(std::io::stderr(), "skipped: {language}: {missing}");
    false
}

fn javascript() -> Result<(), &'static str> {
    let example = repository().join("sdk/examples/javascript");
    let mut fresh = true;
    for file in ["package.json", "package-lock.json"] {
        let (source, there) = (example.join(file), workshop().join(file));
        let source = std::fs::read(source).expect("a file of the example");
        fresh &= std::fs::read(&there).is_ok_and(|known| known == source);
        std::fs::write(there, source).expect("a copy");
    }
    if fresh && workshop().join("node_modules/.package-lock.json").exists() {
        return Ok(());
    }
    if !succeeds(Command::new("npm").arg("--version")) {
        return Err("npm is not installed");
    }
    // Not `npm ci`, which fails for packages that exist only for some platforms.
    let mut install = Command::new("npm");
    install.args(["install", "--no-save", "--no-audit", "--no-fund"]);
    match succeeds(install.current_dir(workshop())) {
        true => Ok(()),
        false => Err("npm cannot install componentize-js"),
    }
}

fn python(folder: &Path) -> Result<(), &'static str> {
    let requirements = repository().join("sdk/examples/python/requirements.txt");
    let expected = std::fs::read(&requirements).expect("a file of the example");
    let mark = folder.join("installed");
    if std::fs::read(&mark).is_ok_and(|known| known == expected) {
        return Ok(());
    }
    if !succeeds(Command::new("python3").args(["-m", "venv"]).arg(folder)) {
        return Err("python3 with venv is not installed");
    }
    let mut install = Command::new(folder.join("bin/pip"));
    install
        .args(["install", "--quiet", "--requirement"])
        .arg(requirements);
    if !succeeds(&mut install) {
        return Err("pip cannot install componentize-py");
    }
    std::fs::write(mark, expected).expect("a mark");
    Ok(())
}

fn succeeds(command: &mut Command) -> bool {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// A command in an author's environment: the program, the compilers, and packages that are already fetched.
pub(super) fn author(program: &str, folder: &Path) -> Command {
    let own = Path::new(crate::support::program());
    let mut paths = vec![own.parent().expect("a folder").to_owned()];
    paths.extend(std::env::split_paths(
        &std::env::var_os("PATH").unwrap_or_default(),
    ));
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        // Variables that cargo sets for this test build do not exist for an author.
        let of_cargo = text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_");
        let of_build =
            ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_TARGET_DIR"].contains(&&*text);
        if text.starts_with("NOTEHOST_") || of_cargo || of_build {
            command.env_remove(&name);
        }
    }
    command
        .current_dir(folder)
        .env("PATH", std::env::join_paths(paths).expect("paths"))
        .env("CARGO_TARGET_DIR", workshop().join("target"))
        // Ignores the settings and the state of the user who runs the tests.
        .env("XDG_CONFIG_HOME", workshop().join("config"))
        .env("XDG_STATE_HOME", workshop().join("state"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::null());
    if let Some(environment) = python_environment_if_made() {
        command.env("VIRTUAL_ENV", environment);
    }
    command
}

fn python_environment_if_made() -> Option<PathBuf> {
    let folder = workshop().join("venv");
    folder.join("installed").exists().then_some(folder)
}

/// Runs a command that must succeed. Returns its stdout and stderr.
#[track_caller]
pub(super) fn succeed(command: &mut Command) -> String {
    let result = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = String::from_utf8_lossy(&result.stdout) + String::from_utf8_lossy(&result.stderr);
    assert!(result.status.success(), "{command:?}:\n{text}");
    text.into_owned()
}

/// A state folder that reuses the compiled code of the other tests.
pub(super) fn share_compiled_code(state: &Path) {
    let shared = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compiled");
    std::fs::create_dir_all(&shared).expect("the shared folder");
    std::fs::create_dir_all(state).expect("the state");
    std::os::unix::fs::symlink(shared, state.join("compiled")).expect("a link");
}
