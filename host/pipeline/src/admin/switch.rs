//! Enables and disables components and single actions. Who did it and why is stored beside the switch. Grants stay
//! unchanged.

use notehost_sdk::{Code, Effect, args, reply};

use super::components::check_known;
use super::{AdminAction, AdminCall, Answer, written};
use crate::{CallError, Host};
use notehost_config::SwitchReason;

/// Switch a component, or one of its actions, on. A component that rests because it failed too often can be called at
/// once.
///
/// Example: `{"component": "mascot"}`
#[args]
pub(super) struct Enable {
    /// The component, by its domain's name.
    component: String,
    /// Only this action.
    action: Option<String>,
}

/// What was switched on.
#[reply]
pub(super) struct Enabled {
    component: String,
    enabled: bool,
    action: Option<String>,
    /// Whether it rested and does no longer.
    released: Option<bool>,
}

impl AdminAction for Enable {
    type Output = Enabled;
    const EFFECT: Effect = Effect::Write;

    /// Enables a component or an action, and closes its circuit breaker.
    async fn run(self, call: &AdminCall<'_>) -> Answer<Enabled> {
        let host = call.host;
        let (component, action) = (self.component, self.action);
        check_action(host, &component, action.as_deref())?;
        // Without a config file nothing is switched off, but a circuit breaker may be open.
        let is_off = is_off(host, &component, action.as_deref());
        if is_off || host.config_is_known() {
            written(
                host.edit_config(|edit| edit.set_enabled(&component, action.as_deref(), None))
                    .await,
            )?;
        }
        let released = action.is_none() && host.circuit_breakers().close(host, &component);
        let breaker = match released {
            true => ", and its circuit breaker is closed",
            false => "",
        };
        let what = full_name(&component, action.as_deref());
        let enabled = Enabled {
            component,
            enabled: true,
            action,
            released: released.then_some(true),
        };
        Ok((format!("{what} is switched on{breaker}"), enabled))
    }
}

/// Switch a component, or one of its actions, off.
///
/// Example: `{"component": "mascot", "because": "we work here"}`
#[args]
pub(super) struct Disable {
    /// The component, by its domain's name.
    component: String,
    /// Only this action.
    action: Option<String>,
    /// Why: shown to callers who could use it otherwise.
    #[schemars(length(max = 500))]
    because: Option<String>,
}

/// What was switched off.
#[reply]
pub(super) struct Disabled {
    component: String,
    enabled: bool,
    action: Option<String>,
    /// Why.
    because: Option<String>,
    /// Who did it.
    by: Option<String>,
}

impl AdminAction for Disable {
    type Output = Disabled;
    const EFFECT: Effect = Effect::Write;

    /// Disables a component or an action, with the reason.
    async fn run(self, call: &AdminCall<'_>) -> Answer<Disabled> {
        let host = call.host;
        let (component, action) = (self.component, self.action);
        check_action(host, &component, action.as_deref())?;
        let because = self.because.as_deref().map(str::trim);
        let reason = SwitchReason {
            because: because.filter(|text| !text.is_empty()).map(str::to_owned),
            by: Some(call.caller().name().to_owned()),
        };
        written(
            host.edit_config(|edit| edit.set_enabled(&component, action.as_deref(), Some(&reason)))
                .await,
        )?;
        let what = full_name(&component, action.as_deref());
        let disabled = Disabled {
            component,
            enabled: false,
            action,
            because: reason.because,
            by: reason.by,
        };
        Ok((format!("{what} is switched off"), disabled))
    }
}

/// Checks that a component, and an action of it if one is named, exists.
fn check_action(host: &Host, component: &str, action: Option<&str>) -> Result<(), CallError> {
    check_known(host, component)?;
    if let (Some(action), Some(domain)) = (action, host.registry().snapshot().domain(component))
        && domain.action(action).is_none()
        && !is_off(host, component, Some(action))
    {
        let message = format!("`{component}` has no action `{action}`");
        return Err(CallError::new(Code::NotFound, message));
    }
    Ok(())
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

fn full_name(component: &str, action: Option<&str>) -> String {
    match action {
        Some(action) => format!("{component}.{action}"),
        None => component.to_owned(),
    }
}
