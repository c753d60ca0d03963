//! Resolves a name to an action. Hidden and unknown actions look the same; one disabled by an admin is reported as
//! disabled.

use notehost_sdk::Code;
use std::sync::Arc;

use crate::registry::{Absence, Action, Domain, Snapshot, SwitchedOff};
use crate::{CallError, Host, Request};
use notehost_config::SwitchReason;
use notehost_policy::auth::{Caller, Scope, Scopes};
use notehost_vault::Effect;

/// A request whose action exists.
pub struct Found {
    pub(crate) domain: Arc<Domain>,
    pub(crate) request: Request,
}

impl Found {
    /// The action. Invariant: `resolve` looked it up in this very domain.
    pub(crate) fn action(&self) -> Result<&Action, CallError> {
        self.domain
            .action(&self.request.action)
            .ok_or_else(|| CallError::new(Code::InternalError, "the action was removed"))
    }

    /// `domain.action`.
    pub(crate) fn full_name(&self) -> String {
        format!("{}.{}", self.domain.name, self.request.action)
    }
}

/// Finds the action that a request names.
#[tracing::instrument(level = "debug", skip_all)]
pub fn resolve(
    host: &Host,
    domains: &Snapshot,
    caller: &Caller,
    request: Request,
) -> Result<Found, CallError> {
    find(&host.scopes_of(caller), domains, request)
}

/// Finds the action that a request names.
pub(crate) fn find(
    scopes: &Scopes,
    domains: &Snapshot,
    request: Request,
) -> Result<Found, CallError> {
    // The host's own domain exists only for admins.
    let is_shown =
        |domain: &Domain| domain.component.is_some() || scopes.allow(&domain.name, Scope::Admin);
    let Some(domain) = domains
        .domain(&request.domain)
        .filter(|domain| is_shown(domain))
    else {
        if domains.absence_of_domain(&request.domain) == Absence::Disabled
            && may_know(scopes, &request.domain, None)
        {
            let known = domains.switched_off(&request.domain, None);
            return Err(switched_off(&request.domain, None, known));
        }
        let shown = domains.domains().filter(|domain| is_shown(domain));
        let names = shown.map(|domain| domain.name.as_str());
        return Err(CallError::new(
            Code::NotFound,
            format!(
                "no domain `{}`{}",
                request.domain,
                nearest(&request.domain, names)
            ),
        ));
    };
    if domain.action(&request.action).is_none() {
        let known = domains.switched_off(&domain.name, Some(&request.action));
        let effect = known.and_then(|known| known.effect);
        if domains.absence_of_action(&domain.name, &request.action) == Absence::Disabled
            && may_know(scopes, &domain.name, effect)
        {
            return Err(switched_off(&domain.name, Some(&request.action), known));
        }
        let names: Vec<&str> = domain
            .actions
            .iter()
            .map(|action| action.name.as_str())
            .collect();
        let message = format!(
            "`{}` has no action `{}`{}",
            domain.name,
            request.action,
            nearest(&request.action, names.iter().copied()),
        );
        return Err(CallError::new(Code::NotFound, message)
            .with_details(serde_json::json!({ "actions": names })));
    }
    Ok(Found {
        domain: domain.clone(),
        request,
    })
}

/// Whether a caller could use the disabled action if it were enabled; for others it does not exist.
fn may_know(scopes: &Scopes, domain: &str, effect: Option<Effect>) -> bool {
    let effects = [Effect::Read, Effect::Write, Effect::Delete].into_iter();
    let mut wanted = effects.filter(|known| effect.is_none_or(|effect| effect == *known));
    wanted.any(|effect| scopes.allow(domain, Scope::of(effect)))
}

/// The error for something disabled: by whom and why, if known.
pub(crate) fn switched_off(
    domain: &str,
    action: Option<&str>,
    known: Option<&SwitchedOff>,
) -> CallError {
    let what = match action {
        None => format!("the domain `{domain}`"),
        Some(action) => format!("the action `{action}` of `{domain}`"),
    };
    let reason = known.map(|known| known.reason.clone()).unwrap_or_default();
    let mut message = match &reason.by {
        Some(by) => format!("{what} was switched off by `{by}`"),
        None => format!("{what} is switched off"),
    };
    if let Some(because) = &reason.because {
        message.push_str(": ");
        message.push_str(because);
    }
    let words = match action {
        None => domain.to_owned(),
        Some(action) => format!("{domain} {action}"),
    };
    let error = CallError::new(Code::Disabled, message).with_hint(format!(
        "an admin can switch it on: `notehost component enable {words}`"
    ));
    match reason == SwitchReason::default() {
        true => error,
        false => error.with_details(serde_json::json!(reason)),
    }
}

/// `; did you mean `x`?` for the most similar name, if any.
pub(crate) fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> String {
    notehost_platform::nearest(wanted, names)
        .map(|name| format!("; did you mean `{name}`?"))
        .unwrap_or_default()
}
