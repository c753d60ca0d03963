//! Measures the cost of Notehost in one run: `cargo run --release -p notehost-bench [FOLDER]`.
//!
//! Every figure is printed beside its reference: the same action run natively, the disk's own fsync, the same program
//! without its cache. Every part takes any folder of notes, which is copied first; without one, a synthetic vault of
//! 2,000 notes is generated.
//!
//! - `[FOLDER]`: the sandbox, the pipeline, durable writes, starts, and calls over the transports.
//! - `sandbox [FOLDER]`: the sandbox and the pipeline alone.
//! - `compare FOLDER…`: everyday calls over stdio, in one run with other servers.
//! - `find FOLDER…`: searches, links and tags, in one run with other tools; `find --growth [NOTES…]`: their growth.
//! - `soak [CALLS [FOLDER]]`: 100,000 calls with faults, and checks for leaks.
//! - `make-vault`: generates a vault.
//!
//! `NOTEHOST` names another build of the program to be measured.
#![allow(clippy::print_stdout, reason = "printing is what this program is for")]

mod client;
mod compare;
mod disk;
mod native;
mod pipeline;
mod sandbox;
mod search;
mod soak;
mod startup;
mod statistics;
mod transports;
mod vault_generator;
mod vaults;
mod writes;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

fn main() -> Result<()> {
    let mut words = std::env::args_os().skip(1);
    let first = words.next();
    let rest = || std::env::args().skip(2).collect::<Vec<_>>();
    let second = words.next().and_then(|word| word.into_string().ok());
    match first.as_deref().and_then(|word| word.to_str()) {
        Some("soak-client") => return soak::client(&second.context("an address")?),
        Some("soak") => {
            let calls = second.map_or(Ok(100_000), |calls| calls.parse())?;
            let folder = std::env::args_os().nth(3).map(PathBuf::from);
            return soak::run(&build_program()?, calls, folder.as_deref());
        }
        Some("make-vault") => return vault_generator::run(&rest()),
        Some("sandbox") => {
            let place = tempfile::tempdir()?;
            let folder = second.map(PathBuf::from);
            let vault = vaults::copied_or_synthetic(folder.as_deref(), 2000, place.path())?;
            return in_process(&vault, place.path());
        }
        Some("compare") => return compare::run(&build_program()?, &rest()),
        Some("find") => return search::run(&build_program()?, &rest()),
        _ => {}
    }
    let program = build_program()?;
    let place = tempfile::tempdir()?;
    let folder = first.map(PathBuf::from);
    let vault = vaults::copied_or_synthetic(folder.as_deref(), 2000, place.path())?;
    println!(
        "{} notes, {} cores",
        vault.notes.len(),
        std::thread::available_parallelism()?
    );

    in_process(&vault, place.path())?;

    println!("\n== writing durably, against the disk's own write, fsync and rename");
    tokio::runtime::Runtime::new()?.block_on(writes::measure(&vault, place.path()))?;

    println!("\n== start to first reply");
    startup::measure(&program, &vault, place.path())?;

    println!("\n== over the transports");
    transports::measure(&program, &vault, place.path())
}

fn in_process(vault: &vaults::Notes, place: &Path) -> Result<()> {
    println!("\n== the sandbox, against the same action run natively");
    tokio::runtime::Runtime::new()?.block_on(sandbox::measure(vault, place))?;

    println!("\n== every stage of a call except the transport");
    tokio::runtime::Runtime::new()?.block_on(pipeline::measure(vault, place))
}

/// The release build of the program, or the one that `NOTEHOST` names.
fn build_program() -> Result<PathBuf> {
    if let Some(program) = std::env::var_os("NOTEHOST") {
        return Ok(program.into());
    }
    let built = Command::new(env!("CARGO"))
        .args(["build", "--release", "--quiet", "--package", "notehost"])
        .status()
        .context("cargo runs")?;
    ensure!(built.success(), "notehost could not be built");
    let here = std::env::current_exe()?;
    let folder = here.parent().context("the program is in a folder")?;
    Ok(folder.join("notehost"))
}
