//! Rate limits: a caller may not make more calls than the settings allow.

use notehost_sdk::Code;
use serde_json::json;

use super::authorize::Allowed;
use super::claim::Claim;
use crate::{CallError, Host};
use notehost_policy::auth::Entrance;

/// A call that its caller's rate limits admit. Only [`throttle`] creates one.
#[must_use]
pub struct Admitted {
    claim: Claim,
}

impl Admitted {
    pub(crate) fn into_claim(self) -> Claim {
        self.claim
    }
}

/// Counts a call, or refuses it.
#[tracing::instrument(level = "debug", skip_all)]
pub fn throttle(host: &Host, allowed: &Allowed, claim: Claim) -> Result<Admitted, CallError> {
    let _stage = allowed.clock.stage("throttle");
    let settings = host.settings();
    let is_counted = match allowed.caller.entrance() {
        Entrance::Http => true,
        Entrance::Stdio => settings.rates.stdio,
        // Each is a process of its own, started by a person.
        Entrance::CommandLine => false,
    };
    if !is_counted {
        return Ok(Admitted { claim });
    }
    let effect = allowed.effect;
    let taken = host
        .rates()
        .take(&allowed.caller.key(), effect, &settings.rates);
    match taken {
        Ok(()) => Ok(Admitted { claim }),
        Err(wait) => {
            let effect = effect.as_str();
            Err(CallError::new(
                Code::Throttled,
                format!("too many calls that {effect}: try again in {wait} ms"),
            )
            .with_hint(format!(
                "an admin can allow more: `rates.{effect}` in the config"
            ))
            .with_details(json!({ "retry_after_ms": wait })))
        }
    }
}
