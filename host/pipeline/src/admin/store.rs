//! Components that come, change and go while the host runs: the same steps as `notehost component` takes, and then the
//! swap at once.

use notehost_sdk::Code;
use std::path::Path;

use serde_json::json;

use super::super::{CallError, Host};
use super::components::known;
use super::{Answer, Said};
use crate::registry::{Candidate, EMBEDDED, Offer, OfferError};
use notehost_records::database::now_ms;
use notehost_runtime::packages::oci::Reference;
use notehost_runtime::packages::{Packages, PackagesError};

/// What a person can do about a file that this process cannot open.
const UNREADABLE: &str = "a server in the operating system's sandbox opens only what its config names: put the file into \
     `component_folder`, or install it at the machine: `notehost component add FILE`";

/// Take up a new component.
pub(super) async fn install(host: &Host, said: &Said<'_>) -> Result<Answer, CallError> {
    let candidate = examine(host, said, said.maybe("component")).await?;
    let name = candidate.description.name.clone();
    if known(host, &name).is_ok() {
        let message = format!("there is a component `{name}` already: `upgrade` replaces it");
        return Err(CallError::new(Code::AlreadyExists, message));
    }
    put(host, candidate, "installed").await
}

/// Put another version in the place of the one that runs; what cannot be used replaces nothing.
pub(super) async fn upgrade(host: &Host, said: &Said<'_>) -> Result<Answer, CallError> {
    let component = known(host, said.text("component")?)?;
    if let Some(file) = host
        .settings()
        .components
        .get(component)
        .and_then(|switches| switches.path.clone())
    {
        let message = format!(
            "`{component}` comes from the file `{}`, and changes with it",
            file.display()
        );
        return Err(CallError::new(Code::Unsupported, message));
    }
    let candidate = examine(host, said, Some(component)).await?;
    if let Err(older) = candidate.check_not_older() {
        let message = format!("nothing was changed: {older}");
        let hint = "somebody at the machine can install it: `notehost component upgrade NAME FILE --allow-downgrade`";
        return Err(CallError::new(Code::ValidationError, message).with_hint(hint));
    }
    let widening = candidate.widening();
    if !widening.is_empty() && !said.flag("accept") {
        let message = format!(
            "this version of `{component}` asks for more than the one that runs, and nothing was changed: {}; call again with \
             `accept: true` to allow it",
            widening.join("; ")
        );
        return Err(CallError::new(Code::ConfirmationRequired, message)
            .with_details(json!({ "widening": widening })));
    }
    put(host, candidate, "upgraded").await
}

/// Go back to the version of before.
pub(super) async fn rollback(host: &Host, said: &Said<'_>) -> Result<Answer, CallError> {
    let component = known(host, said.text("component")?)?;
    let is_embedded = EMBEDDED.iter().any(|embedded| embedded.name == component);
    let back = Packages::of(host.state())
        .roll_back(component, is_embedded, &host.settings().trust)
        .map_err(refused)?;
    host.refresh_components().await;
    let version = back.map_or_else(|| "that came with Notehost".to_owned(), |back| back.version);
    Ok(told("rolled back", component, &version))
}

/// Forget a component. What it was granted, and what it keeps in the vaults, stays.
pub(super) async fn remove(host: &Host, said: &Said<'_>) -> Result<Answer, CallError> {
    let component = known(host, said.text("component")?)?;
    let removed = Packages::of(host.state()).remove(component);
    let version = removed.map_err(refused)?.current.version;
    host.refresh_components().await;
    Ok(told("removed", component, &version))
}

async fn examine(
    host: &Host,
    said: &Said<'_>,
    expected: Option<&str>,
) -> Result<Candidate, CallError> {
    let from = said.text("file")?;
    if !Path::new(from).is_absolute() && !Reference::is_meant_by(from) {
        return Err(CallError::new(
            Code::ValidationError,
            "`file` must be the absolute path of a file on the machine of this Notehost, or `oci://…`",
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
    offer.digest = said.maybe("digest").map(str::to_owned);
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
