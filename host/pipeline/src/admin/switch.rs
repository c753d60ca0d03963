//! Components and single actions, switched on and off: who did it and why is kept beside the switch. What a component was
//! granted stays as it is.

use notehost_sdk::Code;
use serde_json::{Map, Value};

use super::super::{CallError, Host};
use super::components::known;
use super::{Answer, Said, written};
use notehost_config::SwitchReason;
use notehost_policy::auth::Caller;

/// Switch a component or an action on. One that rests can be called at once.
pub(super) async fn enable(host: &Host, said: &Said<'_>) -> Result<Answer, CallError> {
    let (component, action) = named(host, said)?;
    // A Notehost without a config file has nothing switched off, and may have something that rests.
    let is_off = is_off(host, component, action);
    if is_off || host.config_is_known() {
        written(
            host.edit_config(|edit| edit.set_enabled(component, action, None))
                .await,
        )?;
    }
    let released = action.is_none() && host.supervision().lift(host, component);
    let mut told = told(component, action, true);
    if released {
        told.insert("released".into(), true.into());
    }
    let rests = if released {
        ", and rests no longer"
    } else {
        ""
    };
    let what = words(component, action);
    Ok((format!("{what} is switched on{rests}"), told.into()))
}

/// Switch a component or an action off, and say why.
pub(super) async fn disable(
    host: &Host,
    caller: &Caller,
    said: &Said<'_>,
) -> Result<Answer, CallError> {
    let (component, action) = named(host, said)?;
    let because = said.maybe("because").map(str::trim);
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

/// The component that is meant, and the action, if only that is.
fn named<'said>(
    host: &Host,
    said: &Said<'said>,
) -> Result<(&'said str, Option<&'said str>), CallError> {
    let component = known(host, said.text("component")?)?;
    let action = said.maybe("action");
    if let (Some(action), Some(domain)) = (action, host.registry().snapshot().domain(component))
        && domain.action(action).is_none()
        && !is_off(host, component, Some(action))
    {
        let message = format!("`{component}` has no action `{action}`");
        return Err(CallError::new(Code::NotFound, message));
    }
    Ok((component, action))
}

/// Whether the config says anything of a switch.
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
