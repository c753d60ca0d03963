//! Components: which there are, which are on, and what those from files may use.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::super::{CallError, Host};
use super::{Answer, Said, written};
use crate::config::{Edit, GrantSettings};

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

/// Take up a component from a file.
pub(super) async fn install(host: &Host, said: &Said<'_>) -> Result<Answer, CallError> {
    let (component, file) = (said.text("component")?, new_file(said)?);
    if known(host, component).is_ok() || host.registry().snapshot().domain(component).is_some() {
        let message = format!("there is a component `{component}` already: `upgrade` replaces it");
        return Err(CallError::new("already_exists", message));
    }
    written(
        host.edit_config(|edit| edit.set_component_file(component, &file, None))
            .await,
    )?;
    match answering(host, component) {
        Ok(version) => Ok(told("installed", component, &version, &file)),
        Err(reason) => {
            written(
                host.edit_config(|edit| edit.remove_component(component))
                    .await,
            )?;
            Err(unusable(component, &reason))
        }
    }
}

/// Replace a component by another file; what cannot be used replaces nothing.
pub(super) async fn upgrade(host: &Host, said: &Said<'_>) -> Result<Answer, CallError> {
    let (component, file) = (said.text("component")?, new_file(said)?);
    let (running, previous) = files(host, component)?;
    exchange(host, component, &file, &running, previous.as_deref()).await?;
    let version = answering(host, component).map_err(|reason| unusable(component, &reason))?;
    Ok(told("upgraded", component, &version, &file))
}

/// Go back to the file of before.
pub(super) async fn rollback(host: &Host, said: &Said<'_>) -> Result<Answer, CallError> {
    let component = said.text("component")?;
    let (running, previous) = files(host, component)?;
    let Some(file) = previous else {
        let message = format!("`{component}` was never upgraded: there is nothing to go back to");
        return Err(CallError::new("unsupported", message));
    };
    exchange(host, component, &file, &running, Some(&file)).await?;
    let version = answering(host, component).map_err(|reason| unusable(component, &reason))?;
    Ok(told("rolled back", component, &version, &file))
}

/// Put a file in the place of the running one, and the running one back if the new one cannot be used.
async fn exchange(
    host: &Host,
    component: &str,
    file: &Path,
    running: &Path,
    previous: Option<&Path>,
) -> Result<(), CallError> {
    let put = |file: &Path, previous: Option<&Path>| {
        let (file, previous) = (file.to_owned(), previous.map(Path::to_owned));
        move |edit: &mut Edit| edit.set_component_file(component, &file, previous.as_deref())
    };
    written(host.edit_config(put(file, Some(running))).await)?;
    if let Err(reason) = answering(host, component) {
        written(host.edit_config(put(running, previous)).await)?;
        return Err(unusable(component, &reason));
    }
    Ok(())
}

/// The version that answers, or why none does.
fn answering(host: &Host, component: &str) -> Result<String, String> {
    let snapshot = host.registry().snapshot();
    let broken = snapshot
        .broken()
        .iter()
        .find(|broken| broken.name == component);
    match (snapshot.domain(component), broken) {
        (_, Some(broken)) => Err(broken.reason.clone()),
        (Some(domain), None) => Ok(domain.version.clone()),
        (None, None) => Err("it is switched off".to_owned()),
    }
}

fn files(host: &Host, component: &str) -> Result<(PathBuf, Option<PathBuf>), CallError> {
    known(host, component)?;
    let settings = host.settings();
    let switches = settings.components.get(component);
    let Some(path) = switches.and_then(|switches| switches.path.clone()) else {
        let message = format!("`{component}` came with Notehost and changes with it");
        return Err(CallError::new("unsupported", message));
    };
    Ok((
        path,
        switches.and_then(|switches| switches.previous.clone()),
    ))
}

fn new_file(said: &Said<'_>) -> Result<PathBuf, CallError> {
    let file = PathBuf::from(said.text("file")?);
    if file.is_absolute() && file.is_file() {
        return Ok(file);
    }
    Err(CallError::new(
        "validation_error",
        "`file` must be the absolute path of a file on the machine of this Notehost",
    ))
}

fn unusable(component: &str, reason: &str) -> CallError {
    CallError::new(
        "validation_error",
        format!("`{component}` cannot be used and nothing was changed: {reason}"),
    )
}

fn told(what: &str, component: &str, version: &str, file: &Path) -> Answer {
    (
        format!("{what}: `{component}` {version}"),
        json!({ "component": component, "version": version, "file": file.display().to_string() }),
    )
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
