//! Installs, upgrades, rolls back and removes components while the host runs: the same steps as `notehost component`,
//! followed by an immediate swap.

use notehost_sdk::Code;
use std::path::Path;

use serde_json::json;

use super::super::{CallError, Host};
use super::components::{granted, known};
use super::{AdminArgs, Answer};
use crate::registry::{Candidate, EMBEDDED, Offer, OfferError};
use notehost_config::GrantSettings;
use notehost_policy::auth::{Caller, Entrance};
use notehost_records::database::now_ms;
use notehost_runtime::packages::oci::Reference;
use notehost_runtime::packages::{Packages, PackagesError};

/// The hint for a file that this process cannot open.
const UNREADABLE: &str = "a server in the OS sandbox can open only paths from its config: put the file into \
    `component_folder`, or install it locally: `notehost component add FILE`";

/// Installs a new component.
pub(super) async fn install(host: &Host, args: &AdminArgs<'_>) -> Result<Answer, CallError> {
    let candidate = examine(host, args, args.maybe("component")).await?;
    let name = candidate.description.name.clone();
    if known(host, &name).is_ok() {
        let message = format!("the component `{name}` is already installed: `upgrade` replaces it");
        return Err(CallError::new(Code::AlreadyExists, message));
    }
    check_not_older(&candidate, "add NAME FILE")?;
    put(host, candidate, "installed").await
}

/// Replaces the running version; a version that cannot be used replaces nothing.
pub(super) async fn upgrade(
    host: &Host,
    caller: &Caller,
    args: &AdminArgs<'_>,
) -> Result<Answer, CallError> {
    let component = known(host, args.text("component")?)?;
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
    let candidate = examine(host, args, Some(component)).await?;
    check_not_older(&candidate, "upgrade NAME FILE")?;
    let widening = candidate.widening();
    // Where nothing runs under the name any more, what the config still grants goes to whatever takes its place.
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
    if !widening.is_empty() && !args.flag("accept") {
        let message = format!(
            "this version of `{component}` requests more than the running one, and nothing was changed: {}; call again \
            with `accept: true` to allow it",
            widening.join("; ")
        );
        return Err(CallError::new(Code::ConfirmationRequired, message)
            .with_details(json!({ "widening": widening })));
    }
    put(host, candidate, "upgraded").await
}

/// Whether what a caller accepts itself counts for nothing: over HTTP, unless its client is trusted to ask its user.
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

/// Returns to the previous version.
pub(super) async fn rollback(host: &Host, args: &AdminArgs<'_>) -> Result<Answer, CallError> {
    let component = known(host, args.text("component")?)?;
    let is_embedded = EMBEDDED.iter().any(|embedded| embedded.name == component);
    let back = Packages::of(host.state())
        .roll_back(component, is_embedded, &host.settings().trust)
        .map_err(refused)?;
    host.refresh_components().await;
    let version = back.map_or_else(|| "that came with Notehost".to_owned(), |back| back.version);
    Ok(told("rolled back", component, &version))
}

/// Removes a component. Its grant and its data in the vaults stay.
pub(super) async fn remove(host: &Host, args: &AdminArgs<'_>) -> Result<Answer, CallError> {
    let component = known(host, args.text("component")?)?;
    let removed = Packages::of(host.state()).remove(component);
    let version = removed.map_err(refused)?.current.version;
    host.refresh_components().await;
    Ok(told("removed", component, &version))
}

async fn examine(
    host: &Host,
    args: &AdminArgs<'_>,
    expected: Option<&str>,
) -> Result<Candidate, CallError> {
    let from = args.text("file")?;
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
    offer.digest = args.maybe("digest").map(str::to_owned);
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

async fn put(host: &Host, candidate: Candidate, what: &str) -> Result<Answer, CallError> {
    let name = candidate.description.name.clone();
    let installed = candidate.install(&Packages::of(host.state()), now_ms());
    let version = installed.map_err(refused)?.version;
    host.refresh_components().await;
    Ok(told(what, &name, &version))
}

fn told(what: &str, component: &str, version: &str) -> Answer {
    (
        format!("{what}: `{component}` {version}"),
        json!({ "component": component, "version": version }),
    )
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
