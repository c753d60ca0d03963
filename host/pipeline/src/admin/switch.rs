//! Enables and disables components and single actions. Who did it and why is stored beside the switch. Grants stay
//! unchanged.

use notehost_sdk::Code;
use serde_json::{Map, Value};

use super::super::{CallError, Host};
use super::components::known;
use super::{AdminArgs, Answer, written};
use notehost_config::SwitchReason;
use notehost_policy::auth::Caller;

/// Enables a component or an action, and closes its circuit breaker.
pub(super) async fn enable(host: &Host, args: &AdminArgs<'_>) -> Result<Answer, CallError> {
    let (component, action) = named(host, args)?;
    // A Notehost without a config file has nothing switched off, and may have something that rests.
    let is_off = is_off(host, component, action);
    if is_off || host.config_is_known() {
        written(
            host.edit_config(|edit| edit.set_enabled(component, action, None))
                .await,
        )?;
    }
    let released = action.is_none() && host.circuit_breakers().close(host, component);
    let mut told = told(component, action, true);
    if released {
        told.insert("released".into(), true.into());
    }
    let rests = if released {
        ", and its circuit breaker is closed"
    } else {
        ""
    };
    let what = words(component, action);
    Ok((format!("{what} is switched on{rests}"), told.into()))
}

/// Disables a component or an action, with the reason.
pub(super) async fn disable(
    host: &Host,
    caller: &Caller,
    args: &AdminArgs<'_>,
) -> Result<Answer, CallError> {
    let (component, action) = named(host, args)?;
    let because = args.maybe("because").map(str::trim);
    let reason = SwitchReason {
        because: because.filter(|text| !text.is_empty()).map(str::to_owned),
        by: Some(caller.name().to_owned()),
    };
    written(
        host.edit_config(|edit| edit.set_enabled(component, action, Some(&reason)))
            .await,
    )?;
    let mut told = told(component, action, false);
    for (key, word) in [("because", &reason.because), ("by", &reason.by)] {
        if let Some(word) = word {
            told.insert(key.into(), word.as_str().into());
        }
    }
    let what = words(component, action);
    Ok((format!("{what} is switched off"), told.into()))
}

/// The named component, and the action if one is named.
fn named<'said>(
    host: &Host,
    args: &AdminArgs<'said>,
) -> Result<(&'said str, Option<&'said str>), CallError> {
    let component = known(host, args.text("component")?)?;
    let action = args.maybe("action");
    if let (Some(action), Some(domain)) = (action, host.registry().snapshot().domain(component))
        && domain.action(action).is_none()
        && !is_off(host, component, Some(action))
    {
        let message = format!("`{component}` has no action `{action}`");
        return Err(CallError::new(Code::NotFound, message));
    }
    Ok((component, action))
}

/// Whether the config has an entry for a switch.
fn is_off(host: &Host, component: &str, action: Option<&str>) -> bool {
    let settings = host.settings();
    let switches = settings.components.get(component);
    switches.is_some_and(|switches| match action {
        Some(action) => switches.actions.contains_key(action),
        None => !switches.enabled,
    })
}

fn words(component: &str, action: Option<&str>) -> String {
    match action {
        Some(action) => format!("{component}.{action}"),
        None => component.to_owned(),
    }
}

fn told(component: &str, action: Option<&str>, on: bool) -> Map<String, Value> {
    let mut told = Map::from_iter([
        ("component".to_owned(), component.into()),
        ("enabled".to_owned(), on.into()),
    ]);
    if let Some(action) = action {
        told.insert("action".into(), action.into());
    }
    told
}
