//! The rights of a caller from the settings and its token: scopes, vaults, and tiers in each vault.

use std::collections::HashMap;
use std::sync::Arc;

use notehost_config::Settings;
use notehost_policy::auth::{Caller, Scopes, UnknownScope, VaultBinding};
use notehost_policy::{BadGlob, Permissions};
use parking_lot::Mutex;

/// How many callers' rights are cached: signed tokens may bring any number of names.
const MAX_CACHED_CALLERS: usize = 10_000;

/// The rights of a caller.
pub(crate) struct Rights {
    pub(crate) scopes: Scopes,
    /// One per vault that it may use, the default vault first.
    vaults: Vec<VaultRights>,
}

/// The rights of a caller in one vault. The rights in another vault say nothing about it: a notebook of the same name may
/// be hidden in one of them.
pub(crate) struct VaultRights {
    vault: String,
    pub(crate) permissions: Arc<Permissions>,
    /// Identifies the rules behind its tiers: with another identity it may see something else.
    pub(crate) rules: String,
}

/// A rule about a caller that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum BadRights {
    /// A permission rule.
    #[error(transparent)]
    Glob(#[from] BadGlob),
    /// A scope.
    #[error(transparent)]
    Scope(#[from] UnknownScope),
    /// The caller's session.
    #[error("the session of this caller is over")]
    NoSession,
}

/// The settings with the rights derived from them, kept together so that no outdated rights remain in use.
pub(crate) struct RightsBySettings {
    settings: Arc<Settings>,
    known: Mutex<HashMap<String, Arc<Rights>>>,
}

impl RightsBySettings {
    /// Parses every rule once, so that none can fail during a call.
    pub(crate) fn new(settings: Settings) -> Result<RightsBySettings, BadRights> {
        let of_vaults = settings
            .vaults
            .iter()
            .flat_map(|vault| vault.callers.keys());
        let names = settings.callers.keys().chain(of_vaults);
        for name in names.map(String::as_str).chain([""]) {
            Rights::of(&settings, &Caller::command_line(Some(name)))?;
        }
        Ok(RightsBySettings {
            settings: Arc::new(settings),
            known: Mutex::default(),
        })
    }

    pub(crate) fn settings(&self) -> &Arc<Settings> {
        &self.settings
    }

    /// The rights of a caller.
    pub(crate) fn of(&self, caller: &Caller) -> Result<Arc<Rights>, BadRights> {
        let who = identity(caller);
        if let Some(rights) = self.known.lock().get(&who) {
            return Ok(rights.clone());
        }
        let rights = Arc::new(Rights::of(&self.settings, caller)?);
        let mut known = self.known.lock();
        if known.len() >= MAX_CACHED_CALLERS {
            known.clear();
        }
        known.insert(who, rights.clone());
        Ok(rights)
    }
}

impl Rights {
    /// The rights of a caller under these settings.
    pub(crate) fn of(settings: &Settings, caller: &Caller) -> Result<Rights, BadRights> {
        let own = settings.callers.get(caller.name());
        let configured = own
            .and_then(|own| own.scopes.as_ref())
            .map(|words| Scopes::parse(words.iter().map(String::as_str)))
            .transpose()?;
        let scopes = match configured {
            None => caller.scopes().clone(),
            // A caller with a token never gets more than the scopes of the token.
            Some(configured) if caller.has_token() => configured.both(caller.scopes()),
            Some(configured) => configured,
        };
        let configured = own.and_then(|own| own.vaults.as_deref());
        let mut ids: Vec<&str> = settings
            .vaults
            .iter()
            .map(|vault| vault.id.as_str())
            .collect();
        ids.retain(|id| is_usable(settings, caller.vaults(), configured, id));
        // Where a call names no vault, the first one is meant.
        ids.sort_by_key(|id| settings.default_vault() != Some(*id));
        let vaults = ids.into_iter().map(|id| {
            let (name, token) = (caller.name(), caller.permissions());
            Ok(VaultRights {
                vault: id.to_owned(),
                permissions: Arc::new(Permissions::of_caller(settings, id, name, token)?),
                rules: rules(settings, caller, id),
            })
        });
        Ok(Rights {
            scopes,
            vaults: vaults.collect::<Result<_, BadRights>>()?,
        })
    }

    /// The ids of the vaults that it may use, the default one first.
    pub(crate) fn vaults(&self) -> impl Iterator<Item = &str> {
        self.vaults.iter().map(|rights| rights.vault.as_str())
    }

    /// Its rights in a vault; `None` if it may not use it at all.
    pub(crate) fn in_vault(&self, vault: &str) -> Option<&VaultRights> {
        self.vaults.iter().find(|rights| rights.vault == vault)
    }
}

/// Whether a caller may use a vault: its token and its settings both allow it. A token that names no vault is for the
/// default vault, unless the caller's settings name others.
fn is_usable(
    settings: &Settings,
    bound: &VaultBinding,
    configured: Option<&[String]>,
    vault: &str,
) -> bool {
    let is_configured = configured.map(|ids| ids.iter().any(|id| id == vault));
    match bound {
        VaultBinding::All => is_configured.unwrap_or(true),
        VaultBinding::Default => {
            is_configured.unwrap_or_else(|| settings.default_vault() == Some(vault))
        }
        VaultBinding::Only(ids) => {
            is_configured.unwrap_or(true) && ids.iter().any(|id| id == vault)
        }
    }
}

fn rules(settings: &Settings, caller: &Caller, vault: &str) -> String {
    let name = caller.name();
    let own = settings.callers.get(name).map(|own| &own.permissions);
    let here = settings.vault(vault);
    let all = serde_json::json!([
        settings.permissions,
        here.map(|here| &here.permissions),
        caller.permissions(),
        own,
        here.and_then(|here| here.callers.get(name))
            .map(|own| &own.permissions),
    ]);
    blake3::hash(all.to_string().as_bytes())
        .to_hex()
        .to_string()
}

/// The key of cached rights: what they depend on besides the settings.
fn identity(caller: &Caller) -> String {
    if !caller.has_token() {
        return format!("{} {}", caller.entrance().as_str(), caller.name());
    }
    let permissions = serde_json::to_string(&caller.permissions()).unwrap_or_default();
    format!(
        "{}\n{}\n{:?}\n{permissions}",
        caller.name(),
        caller.scopes(),
        caller.vaults(),
    )
}
