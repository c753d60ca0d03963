//! The host's own domain, `admin`: what an admin can do from a client. An action is a struct, as in a component: its
//! fields are its arguments, its doc comment is its description. Its calls pass all stages; only the sandbox and the vault
//! are not involved.

mod approvals;
mod components;
mod index;
mod permissions;
mod records;
mod status;
mod store;
mod switch;

use notehost_sdk::schemars::JsonSchema;
use notehost_sdk::serde::Serialize;
use notehost_sdk::serde::de::DeserializeOwned;
use notehost_sdk::{Code, Effect, describe_signature, unwrapped};
use serde_json::{Map, Value, json};

use crate::stages::authorize::Allowed;
use crate::stages::run::{Ran, Run};
use crate::{CallError, Host, ReloadError};
use notehost_policy::auth::Caller;
use notehost_vault::{Access, Effect as VaultEffect, Limits};

/// The name of the domain.
pub(crate) const NAME: &str = "admin";

/// The reply of an action: a text and a JSON object.
type Answer<T> = Result<(String, T), CallError>;

/// An action of the host. The fields of the implementing struct are its arguments.
trait AdminAction: DeserializeOwned + JsonSchema {
    /// The result, which becomes a JSON object.
    type Output: Serialize + JsonSchema;

    /// What it may do.
    const EFFECT: Effect;

    /// Runs the action.
    async fn run(self, call: &AdminCall<'_>) -> Answer<Self::Output>;
}

/// A call of an admin action.
struct AdminCall<'a> {
    host: &'a Host,
    allowed: &'a Allowed,
}

impl AdminCall<'_> {
    fn caller(&self) -> &Caller {
        &self.allowed.caller
    }

    /// The approval of a person that the call brings.
    fn approval(&self) -> Option<&str> {
        self.allowed.checked.found.request.approval.as_deref()
    }
}

/// Defines the domain in the form of the SDK's `domain!`.
macro_rules! admin_domain {
    ($(#[doc = $doc:literal])+ { $($action:literal => $args:ty),+ $(,)? }) => {
        /// The description of the domain.
        pub(crate) fn describe() -> Value {
            json!({
                "name": NAME,
                "version": env!("CARGO_PKG_VERSION"),
                "description": unwrapped(concat!($($doc, "\n"),+)),
                "actions": [$(
                    describe_signature::<$args, <$args as AdminAction>::Output>(
                        $action,
                        <$args as AdminAction>::EFFECT,
                    )
                ),+],
            })
        }

        async fn perform(
            call: &AdminCall<'_>,
            action: &str,
            arguments: &str,
        ) -> Answer<Map<String, Value>> {
            match action {
                $($action => perform_as::<$args>(call, arguments).await,)+
                _ => Err(CallError::new(
                    Code::InternalError,
                    format!("`{NAME}` describes `{action}` but does not implement it"),
                )),
            }
        }
    };
}

admin_domain! {
    /// Administration of this Notehost: components on and off, permissions, approvals that wait for a person, which
    /// calls were made. Only for admins.
    {
        "components" => components::List,
        "enable" => switch::Enable,
        "disable" => switch::Disable,
        "install" => store::Install,
        "upgrade" => store::Upgrade,
        "rollback" => store::Rollback,
        "remove" => store::Remove,
        "grant" => components::Grant,
        "revoke" => components::Revoke,
        "status" => status::Status,
        "log" => status::Log,
        "permissions" => permissions::List,
        "set_permission" => permissions::Set,
        "approvals" => approvals::List,
        "approve" => approvals::Approve,
        "deny" => approvals::Deny,
        "audit" => records::Audit,
        "stats" => records::Stats,
        "rebuild_index" => index::Rebuild,
        "reload" => records::Reload,
    }
}

async fn perform_as<A: AdminAction>(
    call: &AdminCall<'_>,
    arguments: &str,
) -> Answer<Map<String, Value>> {
    // They match the action's schema, which is made of the same type.
    let action: A = serde_json::from_str(arguments)
        .map_err(|error| CallError::new(Code::ValidationError, error.to_string()))?;
    let (text, output) = action.run(call).await?;
    match serde_json::to_value(output) {
        Ok(Value::Object(structured)) => Ok((text, structured)),
        _ => Err(CallError::new(
            Code::InternalError,
            "the reply is not a JSON object",
        )),
    }
}

/// Runs one of its actions.
pub(crate) async fn run(host: &Host, allowed: &Allowed) -> Result<Ran, CallError> {
    let checked = &allowed.checked;
    if checked.common.dry_run {
        return Err(CallError::new(
            Code::Unsupported,
            "`admin` changes no notes and has no dry run",
        ));
    }
    let call = AdminCall { host, allowed };
    let action = &checked.found.request.action;
    let (text, structured) = perform(&call, action, &checked.arguments).await?;
    Ok(Ran(Box::new(Run {
        text,
        structured,
        content: Vec::new(),
        notices: Vec::new(),
        // It stages nothing, so there is nothing to commit.
        transaction: allowed.vault.begin(Access {
            rules: allowed.rules.clone(),
            effect: VaultEffect::Read,
            component: checked.found.domain.name.clone(),
            limits: Limits::default(),
        }),
    })))
}

// The schema of an object with any fields.
#[derive(JsonSchema)]
#[schemars(crate = "::notehost_sdk::schemars")]
struct AnyObject {}

/// Maps the outcome of a config change.
fn written(outcome: Result<(), ReloadError>) -> Result<(), CallError> {
    outcome.map_err(|error| match error {
        ReloadError::NoFile => CallError::new(
            Code::Unsupported,
            "this Notehost runs without a config file, so there is nothing to change",
        )
        .with_hint("write one with `notehost config init`, and start with `--config`"),
        ReloadError::Unusable(reason) => CallError::new(Code::ValidationError, reason),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use notehost_runtime::Description;

    #[test]
    fn the_description_is_valid() {
        let description = Description::parse(&describe().to_string()).expect("a description");
        assert_eq!(
            (description.name.as_str(), description.actions.len()),
            (NAME, 20)
        );
        for action in &description.actions {
            assert_eq!(
                action.input["additionalProperties"], false,
                "{}",
                action.name
            );
            assert!(
                action.description.contains("\nExample: `{"),
                "{}",
                action.name
            );
        }
    }
}
