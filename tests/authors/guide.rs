//! The guide in `sdk/README.md`: runs every command in order, as a new author would.

use std::path::{Path, PathBuf};

use super::dev::Dev;
use super::tools::{
    author, bench, has_javascript, python_environment, share_compiled_code, succeed, workshop,
};
use crate::support::repository;

/// Reuses compiled code of the other tests.
const PRELUDE: &str = r#"
cd() {
    builtin cd "$@"
    if [ -f Cargo.toml ]; then mkdir -p "$SHARED" && ln -sfn "$SHARED" target; fi
}
"#;

/// A fenced code block: its language and its lines.
struct Block {
    language: String,
    text: String,
}

/// The code blocks of one section of the guide.
fn section(title: &str) -> Vec<Block> {
    let guide = std::fs::read_to_string(repository().join("sdk/README.md")).expect("the guide");
    let section = guide
        .split("\n## ")
        .find_map(|section| section.strip_prefix(title));
    let mut fences = section
        .unwrap_or_else(|| panic!("no section `{title}`"))
        .split("\n```");
    fences.next();
    let mut blocks = Vec::new();
    while let (Some(block), Some(_)) = (fences.next(), fences.next()) {
        let (language, text) = block.split_once('\n').expect("a block has lines");
        blocks.push(Block {
            language: language.to_owned(),
            text: text.to_owned(),
        });
    }
    assert!(blocks.len() > 2, "the section `{title}` has blocks");
    blocks
}

/// Runs a section from its first command to its last.
fn run_section(title: &str) {
    let mut folder = bench(&format!("guide-{}", title.to_lowercase()));
    let state = folder.join("state-of-the-author");
    share_compiled_code(&state);
    let scratch = folder.join("scratch-of-the-author");
    std::fs::create_dir(&scratch).expect("a folder");
    let mut dev: Option<Dev> = None;
    for block in section(title) {
        match (block.language.as_str(), block.text.trim()) {
            ("sh", "notehost component dev .") => {
                dev = Some(Dev::start(
                    &folder,
                    &[],
                    &[
                        ("TMPDIR", scratch.clone()),
                        ("NOTEHOST_STATE", state.clone()),
                    ],
                ));
                dev.as_ref().expect("it runs").wait_for("ready: ", 1);
            }
            ("text", lines) => {
                let mut dev = dev
                    .take()
                    .expect("something is running that one can type into");
                for line in lines.lines() {
                    let answer = dev.call(line);
                    assert!(answer["path"].is_string(), "{line}: {answer}");
                }
            }
            ("sh", commands) => folder = run(commands, &folder, &state),
            (other, _) => panic!("no runner for a block of `{other}`"),
        }
    }
}

/// Runs commands in a folder; returns the folder in which they ended.
fn run(commands: &str, folder: &Path, state: &Path) -> PathBuf {
    let place = state.with_extension("place");
    let script = format!("{PRELUDE}{commands}\npwd > \"$PLACE\"\n");
    let mut shell = author("bash", folder);
    shell
        .env("NOTEHOST_STATE", state)
        .env("PLACE", &place)
        .env("SHARED", workshop().join("target"))
        .env_remove("CARGO_TARGET_DIR");
    succeed(shell.args(["-euxc", &script]));
    PathBuf::from(std::fs::read_to_string(place).expect("a folder").trim())
}

/// Two compilers take minutes. `authors::cycle` takes the same steps for every change; the nightly script runs the
/// guide.
fn is_nightly() -> bool {
    let is_nightly = std::env::var_os("NOTEHOST_GUIDES").is_some();
    if !is_nightly {
        eprintln!("skipped: `NOTEHOST_GUIDES` is not set");
    }
    is_nightly
}

#[test]
fn guide_commands_work_in_rust() {
    run_section("Rust");
}

#[test]
fn guide_commands_work_in_javascript() {
    if is_nightly() && has_javascript() {
        run_section("JavaScript");
    }
}

#[test]
fn guide_commands_work_in_python() {
    if is_nightly() && python_environment().is_some() {
        run_section("Python");
    }
}
