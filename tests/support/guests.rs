//! The guests of `tests/guests`, built for wasm32-wasip2 once per run.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use super::repository;

const TARGET: &str = "wasm32-wasip2";

/// The component of a guest: `hostile`, `echo`, or a file in an `examples` folder, such as `liar_garbage`.
pub(crate) fn guest(name: &str) -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let built = BUILT.get_or_init(build);
    let places = [
        built.join(format!("guest_{name}.wasm")),
        built.join("examples").join(format!("{name}.wasm")),
    ];
    let found = places.into_iter().find(|file| file.exists());
    found.unwrap_or_else(|| panic!("no guest `{name}`"))
}

/// The component of a project in `sdk/examples`.
pub(crate) fn example_bookmark() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        build_in(
            &repository().join("sdk/examples/bookmark"),
            &[
                "--lib",
                // The same profile as the guests, so that the SDK is compiled once.
                "--config=profile.release.opt-level=1",
                "--config=profile.release.lto=false",
                "--config=profile.release.codegen-units=16",
            ],
        )
    });
    built.join("bookmark.wasm")
}

/// Builds all of them; returns the folder with the results.
fn build() -> PathBuf {
    build_in(
        &repository().join("tests/guests"),
        &["--workspace", "--lib", "--examples"],
    )
}

fn build_in(project: &Path, what: &[&str]) -> PathBuf {
    // Preparing the components installs the compilation target where it is missing, under a lock.
    notehost_embedded::prepare().expect("the components are built");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guests");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .current_dir(project)
        .args(["build", "--quiet", "--release", "--locked"])
        .args(what)
        .args(["--target", TARGET, "--target-dir"])
        .arg(&target)
        // Variables of the test build must not affect this build: of incrementally compiled code the linker crashed.
        .env("CARGO_INCREMENTAL", "0")
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .status()
        .expect("cargo runs");
    assert!(status.success(), "{what:?} could not be built");
    target.join(TARGET).join("release")
}
