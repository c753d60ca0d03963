//! Several programs on one vault: one process holds it, the others reach it through that process, and take its place when it
//! ends.

mod access;
mod command_line;
mod sessions;
mod take_over;

use std::path::PathBuf;
use std::process::{Command, Output};

use notehost::config::Settings;
use notehost::vault::Tier;

use crate::support::place::Place;

/// A place with a few notes, one of them in a notebook that some sessions hide.
fn place() -> Place {
    let place = Place::new();
    place.write("Work/Plan.md", "# Plan\n\nfirst step\n");
    place.write("Diary/Secret.md", "# Secret\n\nxyzzy\n");
    place
}

/// A config file with this name.
fn config(place: &Place, name: &str, change: impl FnOnce(&mut Settings)) -> PathBuf {
    let mut settings = place.settings();
    change(&mut settings);
    let file = place.root().join(format!("{name}.toml"));
    let text = toml::to_string(&settings).expect("settings can be written");
    std::fs::write(&file, text).expect("the config can be written");
    file
}

/// A config whose callers read only, and do not see the diary.
fn narrow(settings: &mut Settings) {
    settings.permissions.default = Tier::Read;
    settings
        .permissions
        .notebooks
        .insert("Diary".into(), Tier::None);
}

/// Runs a command on the place with this config.
fn run(place: &Place, config: &PathBuf, arguments: &[&str]) -> Output {
    let mut command = Command::new(crate::support::program());
    command.args(arguments).arg("--config").arg(config);
    command.arg("--state").arg(place.state());
    command.output().expect("the program runs")
}

fn text_of(output: &Output) -> String {
    let both = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&both).into_owned()
}

/// The process that holds the vault.
fn holder(place: &Place) -> Option<u32> {
    let held = notehost::vault::holder("main", &place.vault(), &place.state());
    let held = held.expect("the lock can be read")?;
    held.split_whitespace().next()?.parse().ok()
}
