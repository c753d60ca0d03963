//! Not more calls than a caller may make.

use notehost_sdk::Code;
use serde_json::json;

use super::authorize::Allowed;
use super::{CallError, Host};
use notehost_policy::auth::Entrance;

/// Count a call, or refuse it.
pub(super) fn throttle(host: &Host, allowed: &Allowed) -> Result<(), CallError> {
    let settings = host.settings();
    let is_counted = match allowed.caller.entrance() {
        Entrance::Http => true,
        Entrance::Stdio => settings.rates.stdio,
        // Each is a process of its own, started by a person.
        Entrance::CommandLine => false,
    };
    if !is_counted {
        return Ok(());
    }
    let effect = allowed.effect;
    host.rates()
        .take(&allowed.caller.key(), effect, &settings.rates)
        .map_err(|wait| {
            let effect = effect.as_str();
            CallError::new(
                Code::Throttled,
                format!("too many calls that {effect}: try again in {wait} ms"),
            )
            .with_hint(format!(
                "an admin can allow more: `rates.{effect}` in the config"
            ))
            .with_details(json!({ "retry_after_ms": wait }))
        })
}
