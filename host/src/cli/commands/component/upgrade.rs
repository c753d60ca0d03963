//! `notehost component upgrade`, `rollback` and `remove`: replaces a component with another version, returns to the
//! previous one, or removes it.

use std::io::{BufRead as _, IsTerminal as _};
use std::process::ExitCode;

use clap::Args;

use super::fetch::{Requirements, difference, examine, refused};
use crate::cli::options::{self, Common};
use crate::cli::ui::failure::Failure;
use crate::cli::ui::terminal::Terminal;
use notehost_config::{Loaded, nearest};
use notehost_pipeline::registry::EMBEDDED;
use notehost_platform::clock::now_ms;
use notehost_runtime::packages::{Packages, PackagesError};

/// Replace a component with another version.
///
/// An invalid component changes nothing. A version that requests wider access than the current one needs confirmation;
/// an older one is refused.
#[derive(Debug, Args)]
pub(super) struct Upgrade {
    /// The component, by its domain's name
    name: String,
    /// The new version: a `.wasm` file, or oci://… [the source of the current version]
    #[arg(value_name = "FILE|REF")]
    from: Option<String>,
    #[command(flatten)]
    terms: Requirements,
    /// Allow wider access than that of the current version
    #[arg(long)]
    yes: bool,
    /// Allow it also where it is older than the newest version that was installed
    #[arg(long)]
    allow_downgrade: bool,
    #[command(flatten)]
    common: Common,
}

/// Return to the version before the last upgrade.
#[derive(Debug, Args)]
pub(super) struct Rollback {
    /// The component, by its domain's name
    name: String,
    #[command(flatten)]
    common: Common,
}

/// Remove an installed component.
///
/// Its grant and its stored data in vaults are kept.
#[derive(Debug, Args)]
pub(super) struct Remove {
    /// The component, by its domain's name
    name: String,
    #[command(flatten)]
    common: Common,
}

impl Upgrade {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let mut given = self.common.given();
        given.require_signed = self.terms.require_signed;
        let loaded = options::load(given)?;
        check_movable(&loaded, &self.name)?;
        let packages = Packages::of(&loaded.running.state);
        let installed = packages.installed()?;
        let before = installed.components.get(&self.name);
        if before.is_none() && !is_embedded(&self.name) {
            return Err(unknown(&self.name, installed.components.keys()));
        }
        let from = match (&self.from, before) {
            (Some(from), _) => from.clone(),
            (None, Some(before)) => before.current.source.clone(),
            (None, None) => {
                return Err(Failure::usage(format!("`{}` is built in", self.name))
                    .with_hint("specify the file or reference of the version that replaces it"));
            }
        };
        let candidate = examine(&loaded, &from, Some(&self.name), &self.terms)?;
        if !self.allow_downgrade {
            candidate
                .check_not_older()
                .map_err(|error| refused(&from, &error))?;
        }
        let terminal = Terminal::stdout();
        if candidate
            .difference
            .as_ref()
            .is_some_and(|found| !found.is_empty())
        {
            terminal.print(&format!(
                "differences:\n{}",
                difference(&terminal, &candidate)
            ));
        }
        let widening = candidate.widening();
        if !widening.is_empty() && !self.yes && !confirm(&terminal, &self.name) {
            return Err(Failure::call(format!(
                "this version of `{}` requests wider access than the current one; nothing was changed: {}",
                self.name,
                widening.join("; ")
            ))
            .with_hint("`--yes` allows it"));
        }
        let version = candidate.install(&packages, now_ms())?;
        terminal.print(&format!(
            "{} `{}` {}\n  {}\n",
            terminal.good("upgraded:"),
            self.name,
            terminal.safe(&version.version),
            terminal.faint(&version.digest),
        ));
        Ok(ExitCode::SUCCESS)
    }
}

impl Rollback {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let loaded = options::load(self.common.given())?;
        check_movable(&loaded, &self.name)?;
        let packages = Packages::of(&loaded.running.state);
        let trust = &loaded.settings.trust;
        let back = packages.roll_back(&self.name, is_embedded(&self.name), trust);
        let back = back.map_err(|error| named(&packages, error))?;
        let terminal = Terminal::stdout();
        let message = match back {
            Some(version) => format!("`{}` {}", self.name, terminal.safe(&version.version)),
            None => format!("`{}`, the built-in version", self.name),
        };
        terminal.print(&format!("{} {message}\n", terminal.good("rolled back:")));
        Ok(ExitCode::SUCCESS)
    }
}

impl Remove {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let loaded = options::load(self.common.given())?;
        check_movable(&loaded, &self.name)?;
        let packages = Packages::of(&loaded.running.state);
        if is_embedded(&self.name) && !packages.installed()?.components.contains_key(&self.name) {
            return Err(Failure::call(format!(
                "`{}` is built in and cannot be removed",
                self.name
            ))
            .with_hint(format!(
                "`notehost component disable {}` hides it",
                self.name
            )));
        }
        let removed = packages.remove(&self.name);
        let removed = removed.map_err(|error| named(&packages, error))?;
        let terminal = Terminal::stdout();
        terminal.print(&format!(
            "{} `{}` {}\n",
            terminal.good("removed:"),
            self.name,
            terminal.safe(&removed.current.version)
        ));
        Ok(ExitCode::SUCCESS)
    }
}

fn is_embedded(name: &str) -> bool {
    EMBEDDED.iter().any(|embedded| embedded.name == name)
}

/// A component with a file in the config can only be changed through that file.
fn check_movable(loaded: &Loaded, name: &str) -> Result<(), Failure> {
    let switches = loaded.settings.components.get(name);
    match switches.and_then(|switches| switches.path.as_ref()) {
        Some(file) => Err(Failure::call(format!(
            "`{name}` is loaded from the file `{}`; replace that file instead",
            file.display()
        ))
        .with_hint(format!("it is set in the config: `components.{name}.path`"))),
        None => Ok(()),
    }
}

/// Prompts for confirmation; without a terminal the answer is no.
fn confirm(terminal: &Terminal, name: &str) -> bool {
    if !terminal.is_terminal() || !std::io::stdin().is_terminal() {
        return false;
    }
    terminal.print(&format!(
        "The marked changes widen its access. Allow them for `{name}`? [y/N] "
    ));
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

fn named(packages: &Packages, error: PackagesError) -> Failure {
    match error {
        PackagesError::Unknown(name) => {
            let installed = packages.installed().unwrap_or_default();
            unknown(&name, installed.components.keys())
        }
        other => other.into(),
    }
}

fn unknown<'a>(name: &str, installed: impl Iterator<Item = &'a String>) -> Failure {
    let names: Vec<&str> = installed.map(String::as_str).collect();
    let hint = match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`notehost component list` shows the known components".to_owned(),
    };
    Failure::call(format!("the component `{name}` is not installed")).with_hint(hint)
}
