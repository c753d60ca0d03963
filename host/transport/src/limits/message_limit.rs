//! The size limit of a message. Only a call of an action that takes content may be large, and only if the caller may
//! call it: everything else is names, conditions and short text. The called action is known from the message's outline,
//! before anything is parsed.

use serde_json::Value;

use super::bounds::{MAX_MESSAGE_BYTES, MAX_PLAIN_MESSAGE_BYTES, Outline, OverBounds};
use notehost_pipeline::Host;
use notehost_pipeline::registry::Action;
use notehost_policy::auth::Caller;
use notehost_tools::{CalledNames, action_of};
use notehost_vault::Effect;

/// The arguments that content is sent in. An action takes content if it declares one of them and is not one that only
/// reads.
const CONTENT_ARGUMENTS: [&str; 6] = ["content", "text", "base64", "data", "body", "edits"];

/// Refuses a message that is too large for its outline.
pub(crate) fn check(
    host: &Host,
    caller: &Caller,
    outline: &Outline,
    bytes: usize,
) -> Result<(), OverBounds> {
    if bytes <= MAX_PLAIN_MESSAGE_BYTES {
        return Ok(());
    }
    let most = match may_be_large(host, caller, outline) {
        true => MAX_MESSAGE_BYTES,
        false => MAX_PLAIN_MESSAGE_BYTES,
    };
    match bytes <= most {
        true => Ok(()),
        false => Err(OverBounds::Bytes(most)),
    }
}

fn may_be_large(host: &Host, caller: &Caller, outline: &Outline) -> bool {
    // No name needs an escape; a message with one may hide what it calls.
    if outline.has_escaped_key || outline.method.as_deref() != Some("tools/call") {
        return false;
    }
    let snapshot = host.registry().snapshot();
    let called = CalledNames {
        tool: outline.tool.as_deref(),
        domain: outline.domain.as_deref(),
        action: outline.action.as_deref(),
    };
    action_of(&snapshot, called).is_some_and(|(domain, action)| {
        takes_content(action)
            && host
                .scopes_of(caller)
                .allow(&domain.name, domain.scope_of(action))
    })
}

fn takes_content(action: &Action) -> bool {
    let declared = action.own_input().get("properties");
    let declared = declared.and_then(Value::as_object);
    action.effect != Effect::Read
        && declared.is_some_and(|declared| {
            CONTENT_ARGUMENTS
                .iter()
                .any(|name| declared.contains_key(*name))
        })
}
