//! The vaults and the permissions in them: general ones, those of a vault, those of a caller. How they combine is defined
//! by `Permissions` of the crate `policy`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Settings;
use notehost_vault::Tier;

/// One folder of notes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VaultEntry {
    /// The id by which calls select it.
    pub id: String,
    /// Its path; `~` is the home folder.
    pub path: PathBuf,
    /// Whether all changes in it are rejected.
    #[serde(default)]
    pub read_only: bool,
    /// Its own permissions, which override the general ones.
    #[serde(default, skip_serializing_if = "CallerPermissions::is_empty")]
    pub permissions: CallerPermissions,
    /// Overrides for single callers in this vault, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub callers: BTreeMap<String, VaultCallerSettings>,
}

/// Overrides for one caller in one vault.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct VaultCallerSettings {
    /// The caller's own tiers in this vault.
    pub permissions: CallerPermissions,
}

/// Permissions by notebook and path.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PermissionSettings {
    /// The tier of notebooks that are not listed.
    pub default: Tier,
    /// Tiers by notebook; `.` is the notes in the vault's root.
    pub notebooks: BTreeMap<String, Tier>,
    /// Lower tiers for paths in notebooks.
    pub rules: Vec<PermissionRule>,
}

impl Default for PermissionSettings {
    fn default() -> Self {
        // A missing line grants no write.
        PermissionSettings {
            default: Tier::Read,
            notebooks: BTreeMap::new(),
            rules: Vec::new(),
        }
    }
}

/// A lower tier for the paths that a glob matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PermissionRule {
    /// The paths, such as `Work/Contracts/**`.
    pub glob: String,
    /// The highest tier in them.
    pub tier: Tier,
}

/// The tiers of one caller or of one vault; unset values are the general ones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CallerPermissions {
    /// The tier of notebooks that are not listed. It also closes what more general permissions allow in them.
    pub default: Option<Tier>,
    /// Tiers by notebook.
    pub notebooks: BTreeMap<String, Tier>,
    /// Lower tiers for paths, in addition to the general ones.
    pub rules: Vec<PermissionRule>,
}

impl CallerPermissions {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        *self == CallerPermissions::default()
    }
}

impl Settings {
    /// The id of the default vault: the one that is meant where none is named, and the only one of tokens without a vault.
    /// It need not be served, if only one vault is.
    pub fn default_vault(&self) -> Option<&str> {
        let first = self.vaults.first().map(|vault| vault.id.as_str());
        self.default_vault.as_deref().or(first)
    }

    /// A vault by its id.
    pub fn vault(&self, id: &str) -> Option<&VaultEntry> {
        self.vaults.iter().find(|vault| vault.id == id)
    }
}
