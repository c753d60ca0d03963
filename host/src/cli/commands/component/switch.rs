//! `notehost component enable` and `disable`: switches a component or one of its actions on or off, with author and reason.
//! It is written to the config file, which a running server reloads; the grant of the component is kept.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use crate::cli::commands::permission;
use crate::cli::options::{self, Common};
use crate::cli::ui::failure::Failure;
use notehost_config::{Loaded, SwitchReason, nearest};
use notehost_pipeline::registry::{Absence, Snapshot};

/// Switch a component, or one of its actions, on.
///
/// This also closes the circuit breaker of a component that failed too often.
#[derive(Debug, Args)]
pub(super) struct Enable {
    /// The component, by its domain's name
    name: String,
    /// Only this action
    action: Option<String>,
    #[command(flatten)]
    common: Common,
}

/// Switch a component, or one of its actions, off.
///
/// Its grant is kept.
#[derive(Debug, Args)]
pub(super) struct Disable {
    /// The component, by its domain's name
    name: String,
    /// Only this action
    action: Option<String>,
    /// The reason, shown to callers who could use it otherwise
    #[arg(long, value_name = "TEXT")]
    because: Option<String>,
    #[command(flatten)]
    common: Common,
}

impl Enable {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let given = self.common.given();
        let loaded = options::load(given.clone())?;
        let action = self.action.as_deref();
        check_name(&loaded, &self.name, action)?;
        let rested = action.is_none()
            && notehost_records::open(&loaded.running.state)?.close_breakers(&self.name)?;
        let message = match rested {
            true => format!(
                "{} is on, its circuit breaker is closed",
                words(&self.name, action)
            ),
            false => format!("{} is on", words(&self.name, action)),
        };
        if loaded.file.is_none() && rested {
            // Without a config it cannot be switched off.
            permission::report(&message);
            return Ok(ExitCode::SUCCESS);
        }
        let mut edit = permission::open(&given)?;
        edit.set_enabled(&self.name, action, None)
            .map_err(permission::refused)?;
        permission::save(edit, &given, &message)
    }
}

impl Disable {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let given = self.common.given();
        let loaded = options::load(given.clone())?;
        let action = self.action.as_deref();
        check_name(&loaded, &self.name, action)?;
        let reason = SwitchReason {
            because: self.because,
            by: Some(user()),
        };
        let mut edit = permission::open(&given)?;
        edit.set_enabled(&self.name, action, Some(&reason))
            .map_err(permission::refused)?;
        let message = format!("{} is off", words(&self.name, action));
        permission::save(edit, &given, &message)
    }
}

fn words(name: &str, action: Option<&str>) -> String {
    match action {
        Some(action) => format!("`{name}.{action}`"),
        None => format!("`{name}`"),
    }
}

/// The local user's name, if the system reports it.
fn user() -> String {
    let variable = |name: &str| std::env::var(name).ok().filter(|user| !user.is_empty());
    let user = variable("USER").or_else(|| variable("LOGNAME"));
    user.unwrap_or_else(|| "cli".to_owned())
}

/// Checks that the component and the action exist: a misspelt name would have no effect.
fn check_name(loaded: &Loaded, name: &str, action: Option<&str>) -> Result<(), Failure> {
    let domains: Arc<Snapshot> = options::block_on(options::load_components(loaded))??;
    let unknown = |what: String, near: Option<&str>| {
        let near = near.map(|near| format!(": did you mean `{near}`?"));
        Failure::call(format!("{what}{}", near.unwrap_or_default()))
    };
    let components = || {
        let loaded = domains
            .domains()
            .filter(|domain| domain.component.is_some());
        loaded
            .map(|domain| domain.name.as_str())
            .chain(domains.disabled_domains())
            .chain(domains.broken().iter().map(|broken| broken.name.as_str()))
    };
    if !components().any(|known| known == name) {
        let near = nearest(name, components());
        return Err(unknown(format!("unknown component `{name}`"), near));
    }
    // The actions of a component that is off or broken are unknown.
    let (Some(action), Some(domain)) = (action, domains.domain(name)) else {
        return Ok(());
    };
    let is_known = domain.action(action).is_some()
        || domains.absence_of_action(name, action) == Absence::Disabled;
    if is_known {
        return Ok(());
    }
    let actions = domain.actions.iter().map(|action| action.name.as_str());
    Err(unknown(
        format!("`{name}` has no action `{action}`"),
        nearest(action, actions),
    ))
}
