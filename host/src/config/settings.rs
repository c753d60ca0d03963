//! The settings as the rest of the host uses them, with their defaults. How they are read from flags, variables
//! and files is told beside this file.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::vault::Tier;

/// Everything that an admin can decide.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The folders of notes that are served.
    pub vaults: Vec<VaultEntry>,
    /// Who may do what in which notebook.
    pub permissions: PermissionSettings,
    /// What differs for single callers, by their name.
    pub callers: BTreeMap<String, CallerSettings>,
    /// Components and actions that are switched off.
    pub components: BTreeMap<String, ComponentSettings>,
    /// What one call may use.
    pub limits: LimitSettings,
    /// How long what a change replaced is kept.
    pub history: HistorySettings,
    /// How the tools are presented to a client.
    #[serde(rename = "tool_surface")]
    pub surface: Surface,
    /// When a person is asked before a change lands.
    pub confirm: Confirm,
}

/// One folder of notes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VaultEntry {
    /// The name by which calls pick it.
    pub id: String,
    /// Where it is; `~` is the home folder.
    pub path: PathBuf,
}

/// Who may do what in which notebook.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PermissionSettings {
    /// For notebooks that nothing names.
    pub default: Tier,
    /// By notebook; `.` is the notes in the vault's root.
    pub notebooks: BTreeMap<String, Tier>,
    /// Narrower tiers for paths within notebooks.
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

/// A narrower tier for the paths that a glob matches.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PermissionRule {
    /// Which paths, such as `Work/Contracts/**`.
    pub glob: String,
    /// At most this tier.
    pub tier: Tier,
}

/// What differs for one caller.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CallerSettings {
    /// The caller's own tiers.
    pub permissions: CallerPermissions,
}

/// The tiers of one caller: what it does not name is as for everybody.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CallerPermissions {
    /// For notebooks that nothing names.
    pub default: Option<Tier>,
    /// By notebook.
    pub notebooks: BTreeMap<String, Tier>,
    /// Narrower tiers for paths, on top of everybody's.
    pub rules: Vec<PermissionRule>,
}

/// What is switched off in one component.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ComponentSettings {
    /// Whether the component is there at all.
    pub enabled: bool,
    /// Single actions: `false` switches one off.
    pub actions: BTreeMap<String, bool>,
    /// The component's file; first-party components have none, they are part of the program.
    pub path: Option<PathBuf>,
    /// What a component from a file may use of the vaults. First-party components are only bound by the caller.
    pub grant: GrantSettings,
}

/// What a component from a file may use of the vaults: globs by effect. What nothing names it cannot see.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GrantSettings {
    /// Paths it may read, such as `Work/**`; `**` is everything.
    pub read: Vec<String>,
    /// Paths where it may also create, change and rename.
    pub write: Vec<String>,
    /// Paths where it may also remove.
    pub delete: Vec<String>,
}

impl Default for ComponentSettings {
    fn default() -> Self {
        ComponentSettings {
            enabled: true,
            actions: BTreeMap::new(),
            path: None,
            grant: GrantSettings::default(),
        }
    }
}

/// What one call may use before it is ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitSettings {
    /// How long a call may take, in milliseconds.
    pub call_ms: u64,
    /// How much memory a component's instance may use, in bytes.
    pub memory_bytes: usize,
    /// How many functions of the host a call may use.
    pub host_calls: u64,
    /// How many bytes a call may stage for its commit.
    pub staged_bytes: u64,
    /// How large a reply may be, in bytes.
    pub reply_bytes: usize,
    /// How many calls run at once; the rest wait.
    pub concurrent_calls: usize,
    /// How many bytes a component may keep in its store, per vault.
    pub store_bytes: u64,
}

impl Default for LimitSettings {
    fn default() -> Self {
        LimitSettings {
            call_ms: 10_000,
            memory_bytes: 256 << 20,
            host_calls: 200_000,
            staged_bytes: 128 << 20,
            reply_bytes: 1 << 20,
            concurrent_calls: 128,
            store_bytes: 16 << 20,
        }
    }
}

/// How long what a change replaced is kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HistorySettings {
    /// In days.
    pub keep_days: u64,
    /// In bytes; the oldest goes first.
    pub keep_bytes: u64,
}

impl Default for HistorySettings {
    fn default() -> Self {
        HistorySettings {
            keep_days: 90,
            keep_bytes: 1 << 30,
        }
    }
}

/// How the tools are presented to a client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Surface {
    /// One tool per domain, with an `action`.
    #[default]
    Domain,
    /// One tool per domain and effect.
    Split,
    /// One tool per action.
    Flat,
    /// Three tools: find, describe and call an action.
    Finder,
}

/// When a person is asked before a change lands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Confirm {
    /// Before what removes notes or drops content.
    #[default]
    Floor,
    /// Never; for stdio and the command line only.
    Never,
}
