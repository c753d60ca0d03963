//! `notehost component grant` and `revoke`: a component's access to vaults and network. The grant is written to
//! the config, and a running server applies it at once, also to calls in progress.

use std::process::ExitCode;

use clap::Args;

use super::fetch::GrantFlags;
use crate::cli::commands::permission;
use crate::cli::options::{self, Common};
use crate::cli::ui::failure::Failure;
use notehost_config::{GrantSettings, Loaded, nearest};
use notehost_pipeline::registry::{Origin, Snapshot};

/// Set what a component may access, replacing its previous grant.
#[derive(Debug, Args)]
pub(super) struct Grant {
    /// The component, by its domain's name
    name: String,
    #[command(flatten)]
    granted: GrantFlags,
    #[command(flatten)]
    common: Common,
}

/// Revoke the grant of a component.
#[derive(Debug, Args)]
pub(super) struct Revoke {
    /// The component, by its domain's name
    name: String,
    #[command(flatten)]
    common: Common,
}

impl Grant {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let grant = self.granted.settings();
        if grant == GrantSettings::default() {
            return Err(Failure::usage("no access is specified").with_hint(
                "for example `--read 'Work/**'`; `notehost component revoke` removes the whole grant",
            ));
        }
        let given = self.common.given();
        let loaded = options::load(given.clone())?;
        check(&loaded, &self.name)?;
        let mut edit = permission::open(&given)?;
        edit.set_grant(&self.name, &grant)?;
        let granted = [
            ("read", &grant.read),
            ("write", &grant.write),
            ("delete", &grant.delete),
            ("http", &grant.http),
        ];
        let words: Vec<String> = granted
            .iter()
            .filter(|(_, globs)| !globs.is_empty())
            .map(|(what, globs)| format!("{what} {}", globs.join(", ")))
            .collect();
        let message = format!("`{}` has access: {}", self.name, words.join("; "));
        permission::save(edit, &given, &message)
    }
}

impl Revoke {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let given = self.common.given();
        let loaded = options::load(given.clone())?;
        check(&loaded, &self.name)?;
        let mut edit = permission::open(&given)?;
        edit.remove_grant(&self.name)?;
        let message = format!("`{}` has no access", self.name);
        permission::save(edit, &given, &message)
    }
}

/// Checks that the component exists and is not built in.
fn check(loaded: &Loaded, name: &str) -> Result<(), Failure> {
    let snapshot = options::block_on(options::load_components(loaded))??;
    match snapshot.domain(name).map(|domain| domain.origin) {
        Some(Origin::Embedded) => Err(Failure::call(format!(
            "`{name}` is built in and only limited by the caller's permissions"
        ))
        .with_hint("set permissions of callers with `notehost permission set`")),
        Some(_) => Ok(()),
        None if is_known(loaded, &snapshot, name) => Ok(()),
        None => {
            let names = snapshot.domains().map(|domain| domain.name.as_str());
            let near = nearest(name, names);
            let hint = near.map_or_else(
                || "`notehost component list` shows the known components".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            Err(Failure::call(format!("unknown component `{name}`")).with_hint(hint))
        }
    }
}

/// Whether it exists, but is switched off or broken.
fn is_known(loaded: &Loaded, snapshot: &Snapshot, name: &str) -> bool {
    snapshot.broken().iter().any(|broken| broken.name == name)
        || loaded.settings.components.contains_key(name)
}
