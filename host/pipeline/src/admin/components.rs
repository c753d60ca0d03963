//! Lists components and changes the grants of those loaded from files.

use notehost_sdk::Code;
use std::sync::Arc;

use serde_json::{Value, json};

use super::super::{CallError, Host};
use super::store::{decided_elsewhere, needs_person_elsewhere};
use super::{AdminArgs, Answer, written};
use crate::registry::{Domain, Origin};
use notehost_config::GrantSettings;
use notehost_policy::auth::Caller;
use notehost_runtime::packages::Packages;

pub(super) fn list(host: &Host) -> Answer {
    let snapshot = host.registry().snapshot();
    let settings = host.settings();
    let mut items = Vec::new();
    let mut lines = Vec::new();
    for domain in snapshot.domains() {
        let Some(component) = &domain.component else {
            continue;
        };
        let actions: Vec<&str> = domain
            .actions
            .iter()
            .map(|action| action.name.as_str())
            .collect();
        let switches = settings.components.get(&domain.name);
        let off: Vec<&String> = switches
            .into_iter()
            .flat_map(|switches| &switches.actions)
            .filter(|(_, on)| !**on)
            .map(|(action, _)| action)
            .collect();
        lines.push(format!(
            "{} {}: {} actions",
            domain.name,
            domain.version,
            actions.len()
        ));
        items.push(json!({
            "name": domain.name,
            "version": domain.version,
            "enabled": true,
            "actions": actions,
            "disabled_actions": off,
            "origin": domain.origin.as_str(),
            "digest": format!("sha256:{}", component.digest()),
            "size": component.size(),
        }));
    }
    for (name, switches) in &settings.components {
        if !switches.enabled {
            lines.push(format!("{name}: switched off"));
            let mut told = json!({ "name": name, "enabled": false });
            for (key, word) in [("because", &switches.because), ("by", &switches.by)] {
                if let Some(word) = word {
                    told[key] = word.as_str().into();
                }
            }
            items.push(told);
        }
    }
    for broken in snapshot.broken() {
        lines.push(format!("{}: {}", broken.name, broken.reason));
        items.push(json!({ "name": broken.name, "enabled": false, "problem": broken.reason }));
    }
    (lines.join("\n"), json!({ "items": items }))
}

/// Sets the paths that a component from a file may use.
pub(super) async fn grant(
    host: &Host,
    caller: &Caller,
    args: &AdminArgs<'_>,
) -> Result<Answer, CallError> {
    let component = known(host, args.text("component")?)?;
    let snapshot = host.registry().snapshot();
    let is_embedded = |domain: &Arc<Domain>| domain.origin == Origin::Embedded;
    if snapshot.domain(component).is_some_and(is_embedded) {
        let message = format!(
            "`{component}` is embedded in Notehost and limited only by the permissions of its caller"
        );
        return Err(CallError::new(Code::Unsupported, message));
    }
    let grant = GrantSettings {
        read: args.texts("read"),
        write: args.texts("write"),
        delete: args.texts("delete"),
        http: args.texts("http"),
        store_bytes: args.number("store_bytes"),
    };
    let now = granted(host, component);
    if widens(&now, &grant) && needs_person_elsewhere(host, caller) {
        let message =
            format!("this grants `{component}` more than it has, and nothing was changed");
        let command = format!("notehost component grant {component}");
        return Err(decided_elsewhere(caller, message, &command));
    }
    written(
        host.edit_config(|edit| edit.set_grant(component, &grant))
            .await,
    )?;
    Ok((
        format!("the grant of `{component}` is in effect"),
        json!({ "component": component, "grant": grant }),
    ))
}

/// What the config grants a component.
pub(super) fn granted(host: &Host, component: &str) -> GrantSettings {
    let settings = host.settings();
    let switches = settings.components.get(component);
    switches
        .map(|switches| switches.grant.clone())
        .unwrap_or_default()
}

/// Whether a grant names anything that another does not.
pub(super) fn widens(now: &GrantSettings, new: &GrantSettings) -> bool {
    let adds = |now: &[String], new: &[String]| new.iter().any(|one| !now.contains(one));
    adds(&now.read, &new.read)
        || adds(&now.write, &new.write)
        || adds(&now.delete, &new.delete)
        || adds(&now.http, &new.http)
        || new.store_bytes > now.store_bytes
}

/// Revokes the grant of a component.
pub(super) async fn revoke(host: &Host, args: &AdminArgs<'_>) -> Result<Answer, CallError> {
    let component = known(host, args.text("component")?)?;
    written(host.edit_config(|edit| edit.remove_grant(component)).await)?;
    Ok((
        format!("the grant of `{component}` was revoked"),
        json!({ "component": component }),
    ))
}

/// Checks that a component exists; it may be disabled or broken.
pub(super) fn known<'n>(host: &Host, name: &'n str) -> Result<&'n str, CallError> {
    let snapshot = host.registry().snapshot();
    let is_loaded = snapshot
        .domain(name)
        .is_some_and(|domain| domain.component.is_some());
    let lock = Packages::of(host.state()).installed().unwrap_or_default();
    let is_named = host.settings().components.contains_key(name);
    if is_loaded || is_named || lock.components.contains_key(name) {
        return Ok(name);
    }
    let names: Vec<Value> = snapshot
        .domains()
        .filter(|domain| domain.component.is_some())
        .map(|domain| domain.name.clone().into())
        .collect();
    Err(
        CallError::new(Code::NotFound, format!("no component `{name}`"))
            .with_details(json!({ "components": names })),
    )
}
