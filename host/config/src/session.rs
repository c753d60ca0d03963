//! The settings that a session brings along: a second program on a vault that another process serves has its own permissions,
//! tool surface and confirmations. Everything else is decided by the process that serves the vault.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::presentation::Surface;
use super::settings::{CallerSettings, Confirm, Settings};
use super::vaults::{CallerPermissions, PermissionSettings, VaultCallerSettings};

/// The settings of one session. Sent by a program of the same user.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct SessionSettings {
    /// Permissions by notebook and path.
    pub permissions: PermissionSettings,
    /// Overrides for callers, by name.
    pub callers: BTreeMap<String, CallerSettings>,
    /// How the tools are presented.
    pub surface: Surface,
    /// When a change needs confirmation by a person.
    pub confirm: Confirm,
    /// Whether all changes are rejected.
    pub read_only: bool,
    /// The vaults of the session, by the ids that its own config gives them.
    pub vaults: BTreeMap<String, SessionVault>,
    /// The vault of calls that name none.
    #[serde(default)]
    pub default_vault: Option<String>,
}

/// A vault of a session.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct SessionVault {
    /// Whether all changes in it are rejected.
    #[serde(default)]
    pub read_only: bool,
    /// Its own permissions.
    #[serde(default)]
    pub permissions: CallerPermissions,
    /// Overrides for single callers in it, by name.
    #[serde(default)]
    pub callers: BTreeMap<String, VaultCallerSettings>,
}

impl SessionSettings {
    /// What a session under these settings brings along.
    pub fn of(settings: &Settings) -> SessionSettings {
        let vaults = settings.vaults.iter().map(|vault| {
            let own = SessionVault {
                read_only: vault.read_only,
                permissions: vault.permissions.clone(),
                callers: vault.callers.clone(),
            };
            (vault.id.clone(), own)
        });
        SessionSettings {
            permissions: settings.permissions.clone(),
            callers: settings.callers.clone(),
            surface: settings.surface,
            confirm: settings.confirm,
            read_only: settings.read_only,
            vaults: vaults.collect(),
            default_vault: settings.default_vault().map(str::to_owned),
        }
    }

    /// The same with other ids for its vaults. A vault without a new id is dropped.
    pub fn with_vault_ids(mut self, ids: &BTreeMap<String, String>) -> SessionSettings {
        let vaults = std::mem::take(&mut self.vaults).into_iter();
        self.vaults = vaults
            .filter_map(|(id, vault)| Some((ids.get(&id)?.clone(), vault)))
            .collect();
        let default = self.default_vault.take();
        // A default that is not among them stays one that no call can go to: the first vault does not take its place.
        self.default_vault = default.map(|id| ids.get(&id).cloned().unwrap_or_default());
        for caller in self.callers.values_mut() {
            if let Some(bound) = &mut caller.vaults {
                *bound = bound.iter().filter_map(|id| ids.get(id).cloned()).collect();
            }
        }
        self
    }

    /// These settings of a session, and `settings` for everything else.
    pub fn over(&self, settings: &Settings) -> Settings {
        let mut merged = settings.clone();
        merged.permissions = self.permissions.clone();
        merged.callers = self.callers.clone();
        merged.surface = self.surface;
        merged.confirm = self.confirm;
        merged.read_only |= self.read_only;
        merged.default_vault = self.default_vault.clone();
        merged
            .vaults
            .retain(|vault| self.vaults.contains_key(&vault.id));
        for vault in &mut merged.vaults {
            // What this process allows in a vault says nothing about the session.
            let own = self.vaults.get(&vault.id).cloned().unwrap_or_default();
            vault.read_only |= own.read_only;
            vault.permissions = own.permissions;
            vault.callers = own.callers;
        }
        merged
    }
}

/// The sections of the config that the process that serves a vault decides for every session, as text: two programs whose
/// texts differ have contradicting configs.
pub fn vault_sections(settings: &Settings) -> BTreeMap<String, String> {
    const SECTIONS: [&str; 10] = [
        "components",
        "component_folder",
        "limits",
        "history",
        "confirmation",
        "idempotency",
        "tags",
        "orientation",
        "rates",
        "trust",
    ];
    let all = serde_json::to_value(settings).unwrap_or_default();
    let text = |name: &str| all.get(name).map(ToString::to_string).unwrap_or_default();
    let sections = SECTIONS.iter();
    sections
        .map(|name| ((*name).to_owned(), text(name)))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::VaultEntry;
    use notehost_vault::Tier;

    fn entry(id: &str, read_only: bool) -> VaultEntry {
        VaultEntry {
            read_only,
            ..serde_json::from_value(serde_json::json!({"id": id, "path": PathBuf::from("/n")}))
                .expect("an entry")
        }
    }

    #[test]
    fn a_session_keeps_its_permissions_and_gets_the_vaults_settings() {
        let mut own = Settings {
            vaults: vec![entry("notes", true)],
            confirm: Confirm::Never,
            ..Settings::default()
        };
        own.permissions.notebooks.insert("Diary".into(), Tier::None);
        let bound = CallerSettings {
            vaults: Some(vec!["notes".into(), "other".into()]),
            ..CallerSettings::default()
        };
        own.callers.insert("stdio".into(), bound);
        own.vaults[0].permissions.default = Some(Tier::Write);
        let mut serving = Settings {
            vaults: vec![entry("other", false), entry("main", false)],
            ..Settings::default()
        };
        serving.vaults[1].permissions.default = Some(Tier::Delete);
        serving.permissions.default = Tier::Delete;
        serving.limits.call_ms = 77;
        let ids = BTreeMap::from([("notes".to_owned(), "main".to_owned())]);
        let merged = SessionSettings::of(&own)
            .with_vault_ids(&ids)
            .over(&serving);
        assert_eq!(merged.permissions.default, Tier::Read);
        assert_eq!(merged.permissions.notebooks["Diary"], Tier::None);
        assert_eq!(
            merged.callers["stdio"].vaults,
            Some(vec!["main".to_owned()])
        );
        assert_eq!(merged.limits.call_ms, 77);
        assert_eq!(merged.confirm, Confirm::Never);
        assert_eq!(merged.vaults.len(), 1, "vaults of no session stay hidden");
        assert_eq!(merged.default_vault(), Some("main"));
        assert_eq!(merged.vaults[0].permissions.default, Some(Tier::Write));
        assert!(merged.vaults[0].read_only && !merged.read_only);
    }

    #[test]
    fn contradicting_sections_are_found() {
        let ours = vault_sections(&Settings::default());
        let mut other = Settings::default();
        other.limits.call_ms += 1;
        other.permissions.default = Tier::Delete;
        let other = vault_sections(&other);
        let differing = ours.iter().filter(|(name, text)| other[*name] != **text);
        let differing: Vec<&str> = differing.map(|(name, _)| name.as_str()).collect();
        assert_eq!(differing, ["limits"]);
    }
}
