//! From a name to an action. What is hidden or unknown looks the same; what an admin switched off says so.

use std::sync::Arc;

use super::{CallError, Host, Request};
use crate::auth::{Caller, Scope, Scopes};
use crate::registry::{Absence, Action, Domain, Snapshot};

/// A request whose action exists.
pub(super) struct Found {
    pub(super) domain: Arc<Domain>,
    pub(super) request: Request,
}

impl Found {
    /// The action. Invariant: `resolve` looked it up in this very domain.
    pub(super) fn action(&self) -> Result<&Action, CallError> {
        self.domain
            .action(&self.request.action)
            .ok_or_else(|| CallError::new("internal_error", "the action is gone"))
    }

    /// `domain.action`.
    pub(super) fn full_name(&self) -> String {
        format!("{}.{}", self.domain.name, self.request.action)
    }
}

/// Find the action that a request names.
pub(super) fn resolve(
    host: &Host,
    domains: &Snapshot,
    caller: &Caller,
    request: Request,
) -> Result<Found, CallError> {
    find(&host.scopes_of(caller), domains, request)
}

/// Find the action that a request names, for a caller with these scopes.
pub(super) fn find(
    scopes: &Scopes,
    domains: &Snapshot,
    request: Request,
) -> Result<Found, CallError> {
    // The host's own domain is for admins, and for others it is not there.
    let is_shown =
        |domain: &Domain| domain.component.is_some() || scopes.allow(&domain.name, Scope::Admin);
    let Some(domain) = domains
        .domain(&request.domain)
        .filter(|domain| is_shown(domain))
    else {
        if domains.absence_of_domain(&request.domain) == Absence::Disabled {
            return Err(switched_off(
                &format!("the domain `{}`", request.domain),
                &request.domain,
            ));
        }
        let shown = domains.domains().filter(|domain| is_shown(domain));
        let names = shown.map(|domain| domain.name.as_str());
        return Err(CallError::new(
            "not_found",
            format!(
                "no domain `{}`{}",
                request.domain,
                nearest(&request.domain, names)
            ),
        ));
    };
    if domain.action(&request.action).is_none() {
        if domains.absence_of_action(&domain.name, &request.action) == Absence::Disabled {
            let what = format!("the action `{}` of `{}`", request.action, domain.name);
            return Err(switched_off(&what, &domain.name));
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
        return Err(CallError::new("not_found", message)
            .with_details(serde_json::json!({ "actions": names })));
    }
    Ok(Found {
        domain: domain.clone(),
        request,
    })
}

fn switched_off(what: &str, domain: &str) -> CallError {
    CallError::new("disabled", format!("{what} is switched off")).with_hint(format!(
        "an admin switched it off in the config, under `[components.{domain}]`"
    ))
}

/// `; did you mean `x`?` for the name that is most alike, if one is.
pub(super) fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> String {
    names
        .map(|name| (strsim::jaro_winkler(wanted, name), name))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| format!("; did you mean `{name}`?"))
        .unwrap_or_default()
}
