//! Installs, upgrades, rolls back and removes components while the host runs: the same steps as `notehost component`,
//! followed by an immediate swap.

use notehost_sdk::{Code, Effect, args, reply};
use std::path::Path;

use serde_json::json;

use super::components::{check_known, granted};
use super::{AdminAction, AdminCall, Answer};
use crate::registry::{Candidate, EMBEDDED, Offer, OfferError};
use crate::{CallError, Host};
use notehost_config::GrantSettings;
use notehost_platform::clock::now_ms;
use notehost_policy::auth::{Caller, Entrance};
use notehost_runtime::packages::oci::Reference;
use notehost_runtime::packages::{Packages, PackagesError};

/// The hint for a file that this process cannot open.
const UNREADABLE: &str = "a server in the OS sandbox can open only paths from its config: put the file into \
    `component_folder`, or install it locally: `notehost component add FILE`";

/// Install a component from a file on this machine or a registry. It is granted nothing until `grant`.
///
/// Example: `{"file": "/home/ana/steady.wasm"}`
#[args]
pub(super) struct Install {
    /// The file, by its absolute path, or `oci://…`.
    file: String,
    /// The name it must have.
    component: Option<String>,
    /// The digest it must have, `sha256:…`.
    digest: Option<String>,
}

/// The version of a component that is in use.
#[reply]
pub(super) struct InUse {
    /// The component.
    component: String,
    /// The version that answers now.
    version: String,
}

impl AdminAction for Install {
    type Output = InUse;
    const EFFECT: Effect = Effect::Write;

    async fn run(self, call: &AdminCall<'_>) -> Answer<InUse> {
        let host = call.host;
        let expected = self.component.as_deref();
        let candidate = examine(host, &self.file, self.digest, expected).await?;
        let name = &candidate.description.name;
        if check_known(host, name).is_ok() {
            let message =
                format!("the component `{name}` is already installed: `upgrade` replaces it");
            return Err(CallError::new(Code::AlreadyExists, message));
        }
        check_not_older(&candidate, "add NAME FILE")?;
        put(host, candidate, "installed").await
    }
}

/// Put another version of a component in place of the one that runs. If that cannot be used, the running one stays.
///
/// Example: `{"component": "steady", "file": "/home/ana/steady-2.wasm"}`
#[args]
pub(super) struct Upgrade {
    /// Its domain's name.
    component: String,
    /// The new file, by its absolute path, or `oci://…`.
    file: String,
    /// The digest it must have, `sha256:…`.
    digest: Option<String>,
    /// Allow it also where it asks for more than before.
    accept: Option<bool>,
}

impl AdminAction for Upgrade {
    type Output = InUse;
    const EFFECT: Effect = Effect::Write;

    async fn run(self, call: &AdminCall<'_>) -> Answer<InUse> {
        let (host, caller, component) = (call.host, call.caller(), self.component.as_str());
        check_known(host, component)?;
        if let Some(file) = host
            .settings()
            .components
            .get(component)
            .and_then(|switches| switches.path.clone())
        {
            let message = format!(
                "`{component}` is loaded from the file `{}`: replace that file to upgrade it",
                file.display()
            );
            return Err(CallError::new(Code::Unsupported, message));
        }
        let candidate = examine(host, &self.file, self.digest, Some(component)).await?;
        check_not_older(&candidate, "upgrade NAME FILE")?;
        let widening = candidate.widening();
        // If nothing runs under the name any more, its replacement gets what the config still grants.
        let regains =
            candidate.difference.is_none() && granted(host, component) != GrantSettings::default();
        if (!widening.is_empty() || regains) && needs_person_elsewhere(host, caller) {
            let widening = match regains {
                true => vec!["it gets what the config grants".to_owned()],
                false => widening,
            };
            let message = format!(
                "this version of `{component}` asks for more than the one that runs, and nothing was changed: {}",
                widening.join("; ")
            );
            let command = format!("notehost component upgrade {component} FILE");
            return Err(decided_elsewhere(caller, message, &command)
                .with_details(json!({ "widening": widening })));
        }
        if !widening.is_empty() && !self.accept.unwrap_or(false) {
            let message = format!(
                "this version of `{component}` requests more than the running one, and nothing was changed: {}; call \
                again with `accept: true` to allow it",
                widening.join("; ")
            );
            return Err(CallError::new(Code::ConfirmationRequired, message)
                .with_details(json!({ "widening": widening })));
        }
        put(host, candidate, "upgraded").await
    }
}

/// Whether a caller cannot accept it itself: over HTTP, unless its client is trusted to ask its user.
pub(super) fn needs_person_elsewhere(host: &Host, caller: &Caller) -> bool {
    caller.entrance() == Entrance::Http && !host.is_attended(caller)
}

/// The refusal of what a person has to decide at the machine.
pub(super) fn decided_elsewhere(caller: &Caller, message: String, command: &str) -> CallError {
    CallError::new(Code::ConfirmationRequired, message).with_hint(format!(
        "`{}` is not attended, so a person decides at the machine: `{command}`",
        caller.name()
    ))
}

fn check_not_older(candidate: &Candidate, command: &str) -> Result<(), CallError> {
    candidate.check_not_older().map_err(|older| {
        let message = format!("nothing was changed: {older}");
        let hint = format!(
            "somebody at the machine can install it: `notehost component {command} --allow-downgrade`"
        );
        CallError::new(Code::ValidationError, message).with_hint(hint)
    })
}

/// Go back to the version that a component had before its last upgrade.
///
/// Example: `{"component": "steady"}`
#[args]
pub(super) struct Rollback {
    /// Its domain's name.
    component: String,
}

impl AdminAction for Rollback {
    type Output = InUse;
    const EFFECT: Effect = Effect::Write;

    async fn run(self, call: &AdminCall<'_>) -> Answer<InUse> {
        let (host, component) = (call.host, self.component);
        check_known(host, &component)?;
        let is_embedded = EMBEDDED.iter().any(|embedded| embedded.name == component);
        let back = Packages::of(host.state())
            .roll_back(&component, is_embedded, &host.settings().trust)
            .map_err(refused)?;
        host.refresh_components().await;
        let version =
            back.map_or_else(|| "that came with Notehost".to_owned(), |back| back.version);
        Ok(in_use("rolled back", component, version))
    }
}

/// Forget a component that was installed. What it was granted and what it keeps in vaults stays.
///
/// Example: `{"component": "steady"}`
#[args]
pub(super) struct Remove {
    /// Its domain's name.
    component: String,
}

/// A component that was removed.
#[reply]
pub(super) struct Removed {
    /// The component.
    component: String,
    /// The version that was removed.
    version: String,
}

impl AdminAction for Remove {
    type Output = Removed;
    const EFFECT: Effect = Effect::Write;

    async fn run(self, call: &AdminCall<'_>) -> Answer<Removed> {
        let (host, component) = (call.host, self.component);
        check_known(host, &component)?;
        let removed = Packages::of(host.state()).remove(&component);
        let version = removed.map_err(refused)?.current.version;
        host.refresh_components().await;
        let text = format!("removed: `{component}` {version}");
        Ok((text, Removed { component, version }))
    }
}

async fn examine(
    host: &Host,
    from: &str,
    digest: Option<String>,
    expected: Option<&str>,
) -> Result<Candidate, CallError> {
    if !Path::new(from).is_absolute() && !Reference::is_meant_by(from) {
        return Err(CallError::new(
            Code::ValidationError,
            "`file` must be the absolute path of a file on the server, or `oci://…`",
        ));
    }
    let mut offer = Offer::fetch(from, None).await.map_err(|error| {
        let refused = CallError::new(Code::ValidationError, error.to_string());
        match (error.hint(), &error) {
            (Some(hint), _) => refused.with_hint(hint),
            (None, OfferError::Unreadable { source, .. })
                if source.kind() == std::io::ErrorKind::PermissionDenied =>
            {
                refused.with_hint(UNREADABLE)
            }
            (None, _) => refused,
        }
    })?;
    offer.digest = digest;
    let settings = host.settings();
    let examined = Candidate::examine(
        offer,
        expected,
        &settings.trust,
        host.runtime(),
        host.state(),
    )
    .await;
    examined.map_err(|error| {
        let message = format!("nothing was changed: {error}");
        let refused = CallError::new(Code::ValidationError, message);
        match error.hint() {
            Some(hint) => refused.with_hint(hint),
            None => refused,
        }
    })
}

async fn put(host: &Host, candidate: Candidate, what: &str) -> Answer<InUse> {
    let name = candidate.description.name.clone();
    let installed = candidate.install(&Packages::of(host.state()), now_ms());
    let version = installed.map_err(refused)?.version;
    host.refresh_components().await;
    Ok(in_use(what, name, version))
}

fn in_use(what: &str, component: String, version: String) -> (String, InUse) {
    let text = format!("{what}: `{component}` {version}");
    (text, InUse { component, version })
}

fn refused(error: PackagesError) -> CallError {
    let code = match error {
        PackagesError::Unknown(_) | PackagesError::NothingBefore(_) => Code::Unsupported,
        PackagesError::Untrusted { .. } => Code::ValidationError,
        _ => Code::Unavailable,
    };
    let refused = CallError::new(code, error.to_string());
    match error {
        PackagesError::Untrusted { reason, .. } => refused.with_hint(reason.hint()),
        _ => refused,
    }
}
