//! Authorizes a call and picks its vault. Permissions on paths are not checked here but handed on: the vault enforces
//! them path by path.

use notehost_sdk::Code;
use std::sync::Arc;

use serde_json::Value;

use super::record::Record;
use super::resolve::nearest;
use super::stage_clock::StageClock;
use super::validate::Checked;
use crate::application::rights::{BadRights, Rights};
use crate::capabilities::egress::CallEgress;
use crate::capabilities::live_rights::{CallStart, LiveRights};
use crate::registry::{Action, Domain};
use crate::{CallError, Host, Reply};
use notehost_config::{Settings, VaultEntry};
use notehost_index::Index;
use notehost_policy::Intersection;
use notehost_policy::auth::{Caller, Scope, Scopes};
use notehost_vault::{Effect, Rules, Vault};

/// A request that may run. Only [`authorize`] creates one.
pub struct Allowed {
    pub(crate) checked: Checked,
    pub(crate) caller: Caller,
    pub(crate) effect: Effect,
    pub(crate) vault: Arc<Vault>,
    pub(crate) index: Arc<Index>,
    /// What the caller and the component's grant both allow.
    pub(crate) rules: Arc<dyn Rules>,
    /// Identifies the caller's rules in this vault.
    pub(crate) caller_rules: String,
    /// Whether the reply names the vault: the caller has several.
    pub(crate) is_named: bool,
    /// Its outgoing requests.
    pub(crate) egress: Arc<CallEgress>,
    /// Its rights while it runs.
    pub(crate) live_rights: Arc<LiveRights>,
    /// Measures its stages.
    pub(crate) clock: StageClock,
}

/// Picks the vault, and intersects the permissions of the caller with the grant of the component. `generation` is the
/// registry's, from before anything was looked up for this call: the call notices later changes at its first step.
#[tracing::instrument(level = "debug", skip_all)]
pub fn authorize(
    host: &Host,
    caller: &Caller,
    checked: Checked,
    record: &Record<'_>,
    generation: u64,
) -> Result<Allowed, CallError> {
    let broken = |error: BadRights| CallError::new(Code::InternalError, error.to_string());
    let rights = host.rights_of(caller).map_err(broken)?;
    let vaults = host.vaults_of(caller).map_err(broken)?;
    let ids: Vec<&str> = vaults.iter().map(|vault| vault.id()).collect();
    let action = checked.found.action()?;
    let gate = Gate {
        settings: &host.settings_of(caller),
        rights: &rights,
        domain: &checked.found.domain,
        action,
        vaults: &ids,
    };
    let chosen = gate.pass(checked.common.vault.as_deref(), checked.common.dry_run)?;
    let effect = action.effect;
    let vault = vaults[chosen].clone();
    let here = rights.in_vault(vault.id()).ok_or_else(no_vault)?;
    let index = host.index_of(&vault);
    let live_rights = Arc::new(LiveRights::new(
        host,
        CallStart {
            caller,
            domain: &checked.found.domain,
            action: &action.name,
            effect,
            vault: vault.id(),
            is_dry: checked.common.dry_run,
            generation,
            rules: here.rules.clone(),
        },
    ));
    Ok(Allowed {
        egress: Arc::new(CallEgress::of(host, &checked, effect, live_rights.clone())),
        rules: Arc::new(Intersection::new(
            here.permissions.clone(),
            checked.found.domain.grant.clone(),
        )),
        live_rights,
        caller_rules: here.rules.clone(),
        is_named: vaults.len() > 1 && checked.found.domain.component.is_some(),
        clock: record.clock(),
        caller: caller.clone(),
        checked,
        effect,
        vault,
        index,
    })
}

/// The checks before the vault: scope, vault binding, kill switch.
pub(crate) struct Gate<'call> {
    pub(crate) settings: &'call Settings,
    pub(crate) rights: &'call Rights,
    pub(crate) domain: &'call Domain,
    pub(crate) action: &'call Action,
    /// The ids of the vaults that this caller may use, the default one first.
    pub(crate) vaults: &'call [&'call str],
}

impl Gate<'_> {
    /// The place of the chosen vault among those that this caller may use.
    pub(crate) fn pass(&self, vault: Option<&str>, dry_run: bool) -> Result<usize, CallError> {
        let needed = self.domain.scope_of(self.action);
        let scopes = &self.rights.scopes;
        if !scopes.allow(&self.domain.name, needed) {
            let action = format!("{}.{}", self.domain.name, self.action.name);
            return Err(out_of_scope(action, needed, scopes));
        }
        // Actions of the host itself apply to all vaults.
        let chosen = match self.domain.component.is_none() && !self.vaults.is_empty() {
            true => 0,
            false => pick_vault(self.vaults, vault)?,
        };
        if self.action.effect > Effect::Read && self.domain.component.is_some() && !dry_run {
            refuse_if_read_only(self.settings, self.vaults[chosen])?;
        }
        Ok(chosen)
    }
}

impl Allowed {
    /// States the vault in a reply, if the caller has several.
    pub(crate) fn name_vault(&self, mut reply: Reply) -> Reply {
        if self.is_named {
            let id = self.vault.id();
            reply.text.insert_str(0, &format!("Vault `{id}`:\n"));
            // A component may state it itself.
            let stated = reply.structured.entry("vault");
            stated.or_insert_with(|| id.into());
        }
        reply
    }

    /// States the vault in which something was not found or not allowed, if the caller has several.
    pub(crate) fn name_vault_in_error(&self, mut error: CallError) -> CallError {
        let is_about_vault = matches!(
            error.code,
            Code::NotFound | Code::AlreadyExists | Code::AmbiguousName | Code::PermissionDenied
        );
        if self.is_named && is_about_vault {
            let suffix = format!(" (in the vault `{}`)", self.vault.id());
            error.message.push_str(&suffix);
        }
        error
    }

    /// A hash of action, vault and arguments.
    pub(crate) fn binding(&self) -> String {
        let common = &self.checked.common;
        let whole = serde_json::json!([
            self.checked.found.full_name(),
            self.vault.identity(),
            sorted(&serde_json::from_str(&self.checked.arguments).unwrap_or_default()),
            common.if_match,
        ]);
        blake3::hash(whole.to_string().as_bytes())
            .to_hex()
            .to_string()
    }
}

/// The value in canonical form, independent of the order of its fields.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut fields: Vec<(&String, &Value)> = map.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            fields
                .into_iter()
                .map(|(name, value)| (name.clone(), sorted(value)))
                .collect()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

pub(crate) fn out_of_scope(action: String, needed: Scope, held: &Scopes) -> CallError {
    let held = match held.is_empty() {
        true => "none".to_owned(),
        false => held.to_string(),
    };
    CallError::new(
        Code::Forbidden,
        format!(
            "`{action}` needs the scope `{}`, and this caller has: {held}",
            needed.as_str()
        ),
    )
    .with_hint("an admin can give a token with more scopes: `notehost token new --scopes …`")
    .with_details(serde_json::json!({ "needed": needed.as_str() }))
}

/// The kill switch.
pub(crate) fn refuse_if_read_only(settings: &Settings, vault: &str) -> Result<(), CallError> {
    let is_closed = |entry: &VaultEntry| entry.id == vault && entry.read_only;
    let (what, command) = if settings.read_only {
        (
            "Notehost is".to_owned(),
            "notehost permission read-only off".to_owned(),
        )
    } else if settings.vaults.iter().any(is_closed) {
        (
            format!("the vault `{vault}` is"),
            format!("notehost permission read-only off --vault {vault}"),
        )
    } else {
        return Ok(());
    };
    Err(CallError::new(
        Code::ReadOnly,
        format!("{what} switched to read-only: nothing can be changed now"),
    )
    .with_hint(format!("an admin can switch it back: `{command}`")))
}

fn no_vault() -> CallError {
    CallError::new(Code::NotFound, "this caller has access to no vault").with_hint(
        "a token that names no vault is for the default vault; an admin can create one for others: `notehost token new \
         --vault ID`",
    )
}

/// The place of the vault that a call means: the one that it names, otherwise the caller's default one.
fn pick_vault(ids: &[&str], wanted: Option<&str>) -> Result<usize, CallError> {
    match (wanted, ids) {
        (None, []) => Err(no_vault()),
        (None, _) => Ok(0),
        (Some(wanted), ids) => ids.iter().position(|id| *id == wanted).ok_or_else(|| {
            let near = nearest(wanted, ids.iter().copied());
            CallError::new(Code::NotFound, format!("no vault `{wanted}`{near}"))
        }),
    }
}
