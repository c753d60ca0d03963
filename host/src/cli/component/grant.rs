//! `notehost component grant` and `revoke`: what a component may use of the vaults and of the network. It is written to
//! the config, and a server that runs takes it over, also for calls that are under way.

use std::process::ExitCode;

use clap::Args;

use super::super::failure::Failure;
use super::super::options::{self, Common};
use super::super::permission;
use super::installing::Granted;
use notehost_config::{GrantSettings, Loaded, nearest};
use notehost_pipeline::registry::{Origin, Snapshot};

/// Say what a component may use, in place of what it was granted.
#[derive(Debug, Args)]
pub(super) struct Grant {
    /// The component, by its domain's name
    name: String,
    #[command(flatten)]
    granted: Granted,
    #[command(flatten)]
    common: Common,
}

/// Take back everything that a component was granted.
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
            return Err(Failure::usage("nothing is granted").with_hint(
                "say for example `--read 'Work/**'`; `notehost component revoke` takes everything back",
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
        let told = format!("`{}` may {}", self.name, words.join("; "));
        permission::save(edit, &given, &told)
    }
}

impl Revoke {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let given = self.common.given();
        let loaded = options::load(given.clone())?;
        check(&loaded, &self.name)?;
        let mut edit = permission::open(&given)?;
        edit.remove_grant(&self.name)?;
        let told = format!("`{}` may use nothing", self.name);
        permission::save(edit, &given, &told)
    }
}

/// There must be such a component, and it must be one that is granted things.
fn check(loaded: &Loaded, name: &str) -> Result<(), Failure> {
    let snapshot = options::block_on(options::load_components(loaded))??;
    match snapshot.domain(name).map(|domain| domain.origin) {
        Some(Origin::Embedded) => Err(Failure::call(format!(
            "`{name}` came with Notehost and is bound by the caller alone"
        ))
        .with_hint("what callers may do is set with `notehost permission set`")),
        Some(_) => Ok(()),
        None if is_known(loaded, &snapshot, name) => Ok(()),
        None => {
            let names = snapshot.domains().map(|domain| domain.name.as_str());
            let near = nearest(name, names);
            let hint = near.map_or_else(
                || "`notehost component list` tells which there are".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            Err(Failure::call(format!("no component `{name}`")).with_hint(hint))
        }
    }
}

/// Whether it is there, but switched off or broken.
fn is_known(loaded: &Loaded, snapshot: &Snapshot, name: &str) -> bool {
    snapshot.broken().iter().any(|broken| broken.name == name)
        || loaded.settings.components.contains_key(name)
}
