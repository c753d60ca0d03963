//! What a caller may do, as the settings and its token say: its scopes, its vaults, its tiers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use notehost_config::Settings;
use notehost_policy::auth::{Caller, Scopes, UnknownScope};
use notehost_policy::{BadGlob, Permissions};

/// How many callers' rights are remembered: signed tokens may bring any number of names.
const MAX_CACHED_CALLERS: usize = 10_000;

/// What a caller may do.
pub(super) struct Rights {
    pub(super) permissions: Arc<Permissions>,
    pub(super) scopes: Scopes,
    /// Names the rules that its tiers follow from: another name, and it may see something else.
    pub(super) rules: String,
    /// The vaults it is bound to; `None` is all of them.
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
}

/// Settings, and what callers may do by them. They go together, so that nobody keeps rights of settings that are no
/// longer in force.
pub(super) struct RightsBySettings {
    settings: Arc<Settings>,
    known: Mutex<HashMap<String, Arc<Rights>>>,
}

impl RightsBySettings {
    /// Every rule is read once, so that none can fail at a call.
    pub(super) fn new(settings: Settings) -> Result<RightsBySettings, BadRights> {
        for name in settings.callers.keys().map(String::as_str).chain([""]) {
            Rights::of(&settings, &Caller::command_line(Some(name)))?;
        }
        Ok(RightsBySettings {
            settings: Arc::new(settings),
            known: Mutex::default(),
        })
    }

    pub(super) fn settings(&self) -> &Arc<Settings> {
        &self.settings
    }

    /// What a caller may do.
    pub(super) fn of(&self, caller: &Caller) -> Result<Arc<Rights>, BadRights> {
        let who = identity(caller);
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rights) = known().get(&who) {
            return Ok(rights.clone());
        }
        let rights = Arc::new(Rights::of(&self.settings, caller)?);
        let mut known = known();
        if known.len() >= MAX_CACHED_CALLERS {
            known.clear();
        }
        known.insert(who, rights.clone());
        Ok(rights)
    }
}

impl Rights {
    /// What a caller may do by these settings.
    pub(super) fn of(settings: &Settings, caller: &Caller) -> Result<Rights, BadRights> {
        let own = settings.callers.get(caller.name());
        let configured = own
            .and_then(|own| own.scopes.as_ref())
            .map(|words| Scopes::parse(words.iter().map(String::as_str)))
            .transpose()?;
        let scopes = match configured {
            None => caller.scopes().clone(),
            // Who shows a token cannot get more than was put into it.
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
    pub(super) fn may_use(&self, vault: &str) -> bool {
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

/// What a caller's rights follow from, besides the settings.
fn identity(caller: &Caller) -> String {
    if !caller.has_token() {
        return format!("{} {}", caller.entrance().word(), caller.name());
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
