//! Whether this caller may, and on which vault. What it may do where is not asked here but handed on: the vault
//! itself enforces it, path by path.

use std::sync::Arc;

use super::resolve::nearest;
use super::validate::Checked;
use super::{CallError, Host};
use crate::auth::Caller;
use crate::policy::Both;
use crate::vault::{Effect, Rules, Vault};

/// A request that may run. Only [`authorize`] makes one.
pub(super) struct Allowed {
    pub(super) checked: Checked,
    pub(super) caller: Caller,
    pub(super) effect: Effect,
    pub(super) vault: Arc<Vault>,
    /// What the caller and the component's grant both allow.
    pub(super) rules: Arc<dyn Rules>,
}

/// Pick the vault, and intersect what the caller and the component may do.
pub(super) fn authorize(
    host: &Host,
    caller: &Caller,
    checked: Checked,
) -> Result<Allowed, CallError> {
    let vault = pick_vault(host, checked.common.vault.as_deref())?;
    let effect = checked.found.action()?.effect;
    let permissions = host
        .permissions_of(caller)
        .map_err(|error| CallError::new("internal_error", error.to_string()))?;
    Ok(Allowed {
        rules: Arc::new(Both {
            caller: permissions,
            grant: checked.found.domain.grant.clone(),
        }),
        caller: caller.clone(),
        checked,
        effect,
        vault,
    })
}

fn pick_vault(host: &Host, wanted: Option<&str>) -> Result<Arc<Vault>, CallError> {
    let ids = || host.vaults().iter().map(|vault| vault.id());
    match (wanted, host.vaults()) {
        (None, [only]) => Ok(only.clone()),
        (None, _) => Err(CallError::new(
            "validation_error",
            format!(
                "`vault` is missing: there are {}",
                ids().collect::<Vec<_>>().join(", ")
            ),
        )),
        (Some(wanted), vaults) => vaults
            .iter()
            .find(|vault| vault.id() == wanted)
            .cloned()
            .ok_or_else(|| {
                let near = nearest(wanted, ids());
                CallError::new("not_found", format!("no vault `{wanted}`{near}"))
            }),
    }
}
