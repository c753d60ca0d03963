//! The rights of a caller from the settings and its token: scopes, vaults, tiers.

use std::collections::HashMap;
use std::sync::Arc;

use notehost_config::Settings;
use notehost_policy::auth::{Caller, Scopes, UnknownScope};
use notehost_policy::{BadGlob, Permissions};
use parking_lot::Mutex;

/// How many callers' rights are cached: signed tokens may bring any number of names.
const MAX_CACHED_CALLERS: usize = 10_000;

/// The rights of a caller.
pub(crate) struct Rights {
    pub(crate) permissions: Arc<Permissions>,
    pub(crate) scopes: Scopes,
    /// Identifies the rules behind its tiers: with another identity it may see something else.
    pub(crate) rules: String,
    /// The vaults it is bound to; `None` means all.
    vaults: Option<Vec<String>>,
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
        for name in settings.callers.keys().map(String::as_str).chain([""]) {
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
        let mut vaults: Option<Vec<String>> = caller.vaults().map(<[String]>::to_vec);
        if let Some(configured) = own.and_then(|own| own.vaults.as_ref()) {
            vaults = Some(match vaults {
                None => configured.clone(),
                Some(bound) => bound
                    .into_iter()
                    .filter(|id| configured.contains(id))
                    .collect(),
            });
        }
        let permissions = Permissions::of_caller(settings, caller.name(), caller.permissions())?;
        Ok(Rights {
            permissions: Arc::new(permissions),
            scopes,
            rules: rules(settings, caller),
            vaults,
        })
    }

    /// Whether it may use a vault at all.
    pub(crate) fn may_use(&self, vault: &str) -> bool {
        let bound = self.vaults.as_deref();
        bound.is_none_or(|bound| bound.iter().any(|id| id == vault))
    }
}

fn rules(settings: &Settings, caller: &Caller) -> String {
    let own = settings
        .callers
        .get(caller.name())
        .map(|own| &own.permissions);
    let all = serde_json::json!([settings.permissions, own, caller.permissions()]);
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
    let vaults = caller.vaults().unwrap_or_default().join(",");
    format!(
        "{}\n{}\n{}{vaults}\n{permissions}",
        caller.name(),
        caller.scopes(),
        caller.vaults().is_some(),
    )
}
