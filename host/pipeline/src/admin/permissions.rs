//! Lists and sets permissions.

use notehost_sdk::{Effect, args, reply};
use serde_json::{Map, Value, json};

use super::{AdminAction, AdminCall, Answer, AnyObject, written};
use notehost_config::{TierScope, VaultEntry};
use notehost_vault::Tier;

/// Who may do what: the default tier, notebooks, rules, callers.
///
/// Example: `{}`
#[args]
pub(super) struct List {
    /// Also what differs for this caller.
    caller: Option<String>,
}

/// The permissions.
#[reply]
pub(super) struct Permissions {
    /// For notebooks not listed in the config.
    default: &'static str,
    /// The tiers of notebooks.
    #[schemars(with = "AnyObject")]
    notebooks: Value,
    /// The highest tiers of paths.
    #[schemars(with = "Vec<AnyObject>")]
    rules: Value,
    /// What differs for single callers.
    #[schemars(with = "AnyObject")]
    callers: Map<String, Value>,
    /// What differs in single vaults, for everybody and for single callers.
    #[schemars(with = "AnyObject")]
    vaults: Map<String, Value>,
    read_only: bool,
}

impl AdminAction for List {
    type Output = Permissions;
    const EFFECT: Effect = Effect::Read;

    async fn run(self, call: &AdminCall<'_>) -> Answer<Permissions> {
        let settings = call.host.settings();
        let permissions = &settings.permissions;
        let mut lines = vec![format!("default: {}", permissions.default.as_str())];
        let notebooks = permissions.notebooks.iter();
        lines.extend(notebooks.map(|(notebook, tier)| format!("{notebook}: {}", tier.as_str())));
        let rules = permissions.rules.iter();
        lines.extend(rules.map(|rule| format!("{} at most {}", rule.glob, rule.tier.as_str())));
        let only = self.caller.as_deref();
        let callers = settings
            .callers
            .iter()
            .filter(|(name, _)| only.is_none_or(|only| only == name.as_str()))
            .map(|(name, own)| (name.clone(), json!(own)));
        let callers: Map<_, _> = callers.collect();
        let names = callers.keys();
        lines.extend(names.map(|name| format!("{name}: own permissions")));
        let differs = |vault: &&VaultEntry| {
            !vault.permissions.is_empty() || !vault.callers.is_empty() || vault.read_only
        };
        let vaults = settings.vaults.iter().filter(differs).map(|vault| {
            let callers = vault.callers.iter();
            let callers = callers.filter(|(name, _)| only.is_none_or(|only| only == name.as_str()));
            let callers: Map<_, _> = callers
                .map(|(name, own)| (name.clone(), json!(own)))
                .collect();
            let own = json!({
                "permissions": vault.permissions,
                "callers": callers,
                "read_only": vault.read_only,
            });
            (vault.id.clone(), own)
        });
        let vaults: Map<_, _> = vaults.collect();
        let ids = vaults.keys();
        lines.extend(ids.map(|id| format!("vault {id}: own permissions")));
        if settings.read_only {
            lines.push("everything is read-only now".to_owned());
        }
        let listed = Permissions {
            default: permissions.default.as_str(),
            notebooks: json!(permissions.notebooks),
            rules: json!(permissions.rules),
            callers,
            vaults,
            read_only: settings.read_only,
        };
        Ok((lines.join("\n"), listed))
    }
}

/// Give a notebook a tier, for everybody or for one caller, in all vaults or in one.
///
/// Example: `{"notebook": "Journal", "tier": "r"}`
#[args]
pub(super) struct Set {
    /// The notebook; `.` is the root; left out, the default.
    notebook: Option<String>,
    /// What may be done there.
    tier: TierName,
    /// Only for this caller.
    caller: Option<String>,
    /// Only in this vault, by its id.
    #[allow(
        dead_code,
        reason = "the host takes `vault` out of the arguments of every call"
    )]
    vault: Option<String>,
}

#[args]
#[derive(Copy)]
enum TierName {
    None,
    R,
    Rw,
    Rwd,
}

impl From<TierName> for Tier {
    fn from(name: TierName) -> Tier {
        match name {
            TierName::None => Tier::None,
            TierName::R => Tier::Read,
            TierName::Rw => Tier::Write,
            TierName::Rwd => Tier::Delete,
        }
    }
}

/// The permission that is in effect.
#[reply]
pub(super) struct Permission {
    tier: &'static str,
    notebook: Option<String>,
    caller: Option<String>,
    vault: Option<String>,
}

impl AdminAction for Set {
    type Output = Permission;
    const EFFECT: Effect = Effect::Write;

    async fn run(self, call: &AdminCall<'_>) -> Answer<Permission> {
        let tier = Tier::from(self.tier);
        let (notebook, caller) = (self.notebook, self.caller);
        let vault = call.allowed.checked.common.vault.clone();
        let scope = TierScope {
            caller: caller.as_deref(),
            vault: vault.as_deref(),
        };
        written(
            call.host
                .edit_config(|edit| edit.set_tier(scope, notebook.as_deref(), tier))
                .await,
        )?;
        let whom = caller.as_ref();
        let whom = whom.map_or_else(|| "everybody".to_owned(), |caller| format!("`{caller}`"));
        let place = notebook.as_deref();
        let place = place.unwrap_or("notebooks not listed in the config");
        let tier = tier.as_str();
        let here = vault.as_ref().map(|id| format!(" of the vault `{id}`"));
        let here = here.unwrap_or_default();
        let text = format!("{whom} has `{tier}` in {place}{here} from now on");
        let permission = Permission {
            tier,
            notebook,
            caller,
            vault,
        };
        Ok((text, permission))
    }
}
