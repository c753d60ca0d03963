//! Components: which there are, which are on, and what those from files may use.

use notehost_sdk::Code;
use std::sync::Arc;

use serde_json::{Value, json};

use super::super::{CallError, Host};
use super::{Answer, Said, written};
use crate::registry::{Domain, Origin};
use notehost_config::GrantSettings;
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
            "origin": domain.origin.word(),
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

/// Say which paths a component from a file may use.
pub(super) async fn grant(host: &Host, said: &Said<'_>) -> Result<Answer, CallError> {
    let component = known(host, said.text("component")?)?;
    let snapshot = host.registry().snapshot();
    let is_embedded = |domain: &Arc<Domain>| domain.origin == Origin::Embedded;
    if snapshot.domain(component).is_some_and(is_embedded) {
        let message = format!("`{component}` came with Notehost and is bound by the caller alone");
        return Err(CallError::new(Code::Unsupported, message));
    }
    let grant = GrantSettings {
        read: said.texts("read"),
        write: said.texts("write"),
        delete: said.texts("delete"),
        http: said.texts("http"),
        store_bytes: said.number("store_bytes"),
    };
    written(
        host.edit_config(|edit| edit.set_grant(component, &grant))
            .await,
    )?;
    Ok((
        format!("`{component}` may use what it was granted from now on"),
        json!({ "component": component, "grant": grant }),
    ))
}

/// Take back what a component was granted.
pub(super) async fn revoke(host: &Host, said: &Said<'_>) -> Result<Answer, CallError> {
    let component = known(host, said.text("component")?)?;
    written(host.edit_config(|edit| edit.remove_grant(component)).await)?;
    Ok((
        format!("`{component}` may use nothing from now on"),
        json!({ "component": component }),
    ))
}

/// A component that there is, also one that is switched off or broken.
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
