//! The host's own domain, `admin`: what an admin can do from a client or the console. Its calls pass through the same
//! stages as all others, except the sandbox and the vault.

mod approvals;
mod components;
mod index;
mod permissions;
mod records;
mod status;
mod store;
mod switch;

use notehost_sdk::Code;
use serde_json::{Map, Value};

use super::authorize::Allowed;
use super::run::{Attempt, Ran};
use super::{CallError, Host, ReloadError};
use notehost_vault::{Access, Effect, Limits};

/// The reply of an admin action: a text and a JSON object.
type Answer = (String, Value);

/// Runs one of its actions.
pub(super) async fn run(host: &Host, allowed: &Allowed) -> Result<Attempt, CallError> {
    let found = &allowed.checked.found;
    if allowed.checked.common.dry_run {
        return Err(CallError::new(
            Code::Unsupported,
            "`admin` changes no notes and has no dry run",
        ));
    }
    let arguments: Map<String, Value> =
        serde_json::from_str(&allowed.checked.arguments).unwrap_or_default();
    let args = AdminArgs(&arguments);
    let (text, structured) = match found.request.action.as_str() {
        "components" => Ok(components::list(host)),
        "enable" => switch::enable(host, &args).await,
        "disable" => switch::disable(host, &allowed.caller, &args).await,
        "status" => status::status(host, &args).await,
        "log" => status::log(host, &args).await,
        "install" => store::install(host, &args).await,
        "upgrade" => store::upgrade(host, &allowed.caller, &args).await,
        "rollback" => store::rollback(host, &args).await,
        "remove" => store::remove(host, &args).await,
        "grant" => components::grant(host, &allowed.caller, &args).await,
        "revoke" => components::revoke(host, &args).await,
        "permissions" => Ok(permissions::list(host, args.maybe("caller"))),
        "set_permission" => permissions::set(host, &args).await,
        "audit" => records::audit(host, &allowed.caller, &args).await,
        "stats" => records::stats(host, &allowed.caller, &args).await,
        "rebuild_index" => index::rebuild(host, allowed).await,
        "reload" => records::reload(host).await,
        "approvals" => approvals::list(host, &allowed.caller, args.flag("all")),
        "approve" => approvals::approve(host, allowed, args.text("id")?),
        "deny" => approvals::deny(host, &allowed.caller, args.text("id")?),
        action => Err(CallError::new(
            Code::InternalError,
            format!("`admin` describes `{action}` but does not implement it"),
        )),
    }?;
    let structured = match structured {
        Value::Object(structured) => structured,
        _ => Map::new(),
    };
    Ok(Attempt::Ran(Box::new(Ran {
        text,
        structured,
        content: Vec::new(),
        notices: Vec::new(),
        // It is begun and never used: there is nothing to commit.
        transaction: allowed.vault.begin(Access {
            rules: allowed.rules.clone(),
            effect: Effect::Read,
            component: found.domain.name.clone(),
            limits: Limits::default(),
        }),
    })))
}

/// The arguments, already validated against their schema.
struct AdminArgs<'a>(&'a Map<String, Value>);

impl<'a> AdminArgs<'a> {
    fn maybe(&self, name: &str) -> Option<&'a str> {
        self.0.get(name).and_then(Value::as_str)
    }

    fn text(&self, name: &str) -> Result<&'a str, CallError> {
        self.maybe(name)
            .ok_or_else(|| CallError::new(Code::ValidationError, format!("`{name}` is missing")))
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name).and_then(Value::as_u64)
    }

    fn texts(&self, name: &str) -> Vec<String> {
        let listed = self.0.get(name).and_then(Value::as_array);
        let texts = listed.into_iter().flatten().filter_map(Value::as_str);
        texts.map(str::to_owned).collect()
    }

    fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }
}

/// Maps the outcome of a config change.
fn written(outcome: Result<(), ReloadError>) -> Result<(), CallError> {
    outcome.map_err(|error| match error {
        ReloadError::NoFile => CallError::new(
            Code::Unsupported,
            "this Notehost runs without a config file, so there is nothing to change",
        )
        .with_hint("write one with `notehost config init`, and start with `--config`"),
        ReloadError::Unusable(told) => CallError::new(Code::ValidationError, told),
    })
}
