//! The host's own domain, `admin`: what an admin can do from a client or the console. Its calls pass through the same
//! stages as every other; only the sandbox and the vault are left out.

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

/// What an action answers: a text and a JSON object.
type Answer = (String, Value);

/// Run one of its actions.
pub(super) async fn run(host: &Host, allowed: &Allowed) -> Result<Attempt, CallError> {
    let found = &allowed.checked.found;
    if allowed.checked.common.dry_run {
        return Err(CallError::new(
            Code::Unsupported,
            "what `admin` does is not done to notes, and cannot be tried dry",
        ));
    }
    let arguments: Map<String, Value> =
        serde_json::from_str(&allowed.checked.arguments).unwrap_or_default();
    let said = Said(&arguments);
    let (text, structured) = match found.request.action.as_str() {
        "components" => Ok(components::list(host)),
        "enable" => switch::enable(host, &said).await,
        "disable" => switch::disable(host, &allowed.caller, &said).await,
        "status" => status::status(host, &said).await,
        "log" => status::log(host, &said).await,
        "install" => store::install(host, &said).await,
        "upgrade" => store::upgrade(host, &said).await,
        "rollback" => store::rollback(host, &said).await,
        "remove" => store::remove(host, &said).await,
        "grant" => components::grant(host, &said).await,
        "revoke" => components::revoke(host, &said).await,
        "permissions" => Ok(permissions::list(host, said.maybe("caller"))),
        "set_permission" => permissions::set(host, &said).await,
        "audit" => records::audit(host, &allowed.caller, &said).await,
        "stats" => records::stats(host, &allowed.caller, &said).await,
        "rebuild_index" => index::rebuild(host, allowed).await,
        "reload" => records::reload(host).await,
        "approvals" => approvals::list(host, &allowed.caller, said.flag("all")),
        "approve" => approvals::decide(host, &allowed.caller, said.text("id")?, true),
        "deny" => approvals::decide(host, &allowed.caller, said.text("id")?, false),
        action => Err(CallError::new(
            Code::InternalError,
            format!("`admin` describes `{action}` and has it not"),
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

/// The arguments, which fit their schema already.
struct Said<'a>(&'a Map<String, Value>);

impl<'a> Said<'a> {
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

/// What became of a change of the config.
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
