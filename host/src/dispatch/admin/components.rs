//! Components: which there are, which are on, and what those from files may use.

use serde_json::{Map, Value, json};

use super::super::{CallError, Host};
use super::{Answer, Said, written};
use crate::config::GrantSettings;

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
        let origin = switches
            .and_then(|switches| switches.path.as_deref())
            .map_or("embedded", |_| "file");
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
            "origin": origin,
            "digest": component.digest(),
            "size": component.size(),
        }));
    }
    for (name, switches) in &settings.components {
        if !switches.enabled {
            lines.push(format!("{name}: switched off"));
            items.push(json!({ "name": name, "enabled": false }));
        }
    }
    for broken in snapshot.broken() {
        lines.push(format!("{}: {}", broken.name, broken.reason));
        items.push(json!({ "name": broken.name, "enabled": false, "problem": broken.reason }));
    }
    (lines.join("\n"), json!({ "items": items }))
}

/// Switch a component or an action on or off.
pub(super) async fn switch(host: &Host, said: &Said<'_>, on: bool) -> Result<Answer, CallError> {
    let component = known(host, said.text("component")?)?;
    let action = said.maybe("action");
    if let (Some(action), Some(domain)) = (action, host.registry().snapshot().domain(component)) {
        let is_off = host
            .settings()
            .components
            .get(component)
            .is_some_and(|switches| switches.actions.contains_key(action));
        if domain.action(action).is_none() && !is_off {
            let message = format!("`{component}` has no action `{action}`");
            return Err(CallError::new("not_found", message));
        }
    }
    written(
        host.edit_config(|edit| edit.set_enabled(component, action, on))
            .await,
    )?;
    let what = action.map_or_else(
        || component.to_owned(),
        |action| format!("{component}.{action}"),
    );
    let word = if on { "on" } else { "off" };
    let mut told = Map::from_iter([
        ("component".to_owned(), component.into()),
        ("enabled".to_owned(), on.into()),
    ]);
    if let Some(action) = action {
        told.insert("action".into(), action.into());
    }
    Ok((format!("{what} is switched {word}"), told.into()))
}

/// Say which paths a component from a file may use.
pub(super) async fn grant(host: &Host, said: &Said<'_>) -> Result<Answer, CallError> {
    let component = known(host, said.text("component")?)?;
    let is_from_file = host
        .settings()
        .components
        .get(component)
        .is_some_and(|switches| switches.path.is_some());
    if !is_from_file {
        let message = format!("`{component}` came with Notehost and is bound by the caller alone");
        return Err(CallError::new("unsupported", message));
    }
    let grant = GrantSettings {
        read: said.texts("read"),
        write: said.texts("write"),
        delete: said.texts("delete"),
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

/// A component that there is, also one that is switched off or broken.
fn known<'n>(host: &Host, name: &'n str) -> Result<&'n str, CallError> {
    let snapshot = host.registry().snapshot();
    let is_loaded = snapshot
        .domain(name)
        .is_some_and(|domain| domain.component.is_some());
    if is_loaded || host.settings().components.contains_key(name) {
        return Ok(name);
    }
    let names: Vec<Value> = snapshot
        .domains()
        .filter(|domain| domain.component.is_some())
        .map(|domain| domain.name.clone().into())
        .collect();
    Err(
        CallError::new("not_found", format!("no component `{name}`"))
            .with_details(json!({ "components": names })),
    )
}
