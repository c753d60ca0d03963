//! `notehost component add`: installs a component from a file or a registry.

use std::process::ExitCode;

use clap::Args;

use super::fetch::{GrantFlags, Requirements, examine, refused};
use crate::cli::commands::permission;
use crate::cli::options::{self, Common};
use crate::cli::ui::failure::Failure;
use crate::cli::ui::terminal::Terminal;
use notehost_config::GrantSettings;
use notehost_pipeline::registry::EMBEDDED;
use notehost_platform::clock::now_ms;
use notehost_runtime::packages::Packages;

/// Install a component.
///
/// The component is inspected, compiled and described before anything is changed. It has no access until
/// some is granted, here or with `notehost component grant`.
#[derive(Debug, Args)]
pub(super) struct Add {
    /// The component: a `.wasm` file, or oci://HOST[:PORT]/NAME[:TAG|@DIGEST]
    #[arg(value_name = "FILE|REF")]
    from: String,
    #[command(flatten)]
    terms: Requirements,
    #[command(flatten)]
    granted: GrantFlags,
    /// Allow it also where it is older than a version that was installed and removed
    #[arg(long)]
    allow_downgrade: bool,
    #[command(flatten)]
    common: Common,
}

impl Add {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let mut given = self.common.given();
        given.require_signed = self.terms.require_signed;
        let loaded = options::load(given.clone())?;
        let candidate = examine(&loaded, &self.from, None, &self.terms)?;
        let name = candidate.description.name.clone();
        let packages = Packages::of(&loaded.running.state);
        let is_embedded = EMBEDDED.iter().any(|embedded| embedded.name == name);
        if is_embedded || packages.installed()?.components.contains_key(&name) {
            return Err(
                Failure::call(format!("the component `{name}` is already installed")).with_hint(
                    format!(
                        "`notehost component upgrade {name} {}` replaces it",
                        self.from
                    ),
                ),
            );
        }
        if !self.allow_downgrade {
            candidate
                .check_not_older()
                .map_err(|error| refused(&self.from, &error))?;
        }
        let grant = self.granted.settings();
        let is_granted = grant != GrantSettings::default();
        if is_granted {
            // The grant is written first, so that the component never runs without it.
            let mut edit = permission::open(&given)?;
            edit.set_grant(&name, &grant)?;
            edit.save(&given)?;
        }
        let actions: Vec<String> = candidate
            .description
            .actions
            .iter()
            .map(|action| format!("{} ({})", action.name, action.effect.as_str()))
            .collect();
        let signer = candidate
            .signed
            .as_ref()
            .map(|signed| signed.publisher.clone());
        let version = candidate.install(&packages, now_ms())?;
        let terminal = Terminal::stdout();
        let signed = signer.map_or_else(
            || "not signed by a trusted publisher".to_owned(),
            |publisher| format!("signed by {publisher}"),
        );
        terminal.print(&format!(
            "{} `{name}` {}, {signed}\n  {}\n  actions: {}\n",
            terminal.good("installed:"),
            terminal.safe(&version.version),
            terminal.faint(&version.digest),
            actions.join(", "),
        ));
        if !is_granted {
            let next = format!(
                "it has no access yet: `notehost component grant {name} --read '**'` lets it read all notes"
            );
            terminal.print(&format!("{}\n", terminal.faint(&next)));
        }
        Ok(ExitCode::SUCCESS)
    }
}
