//! Access of one call: tiers, effects, the `Rules` trait that decides per path, and the limits of a transaction.
//!
//! Where the rules come from (config, callers, grants) is decided in the policy crate.

use std::{fmt, str::FromStr, sync::Arc, time::Instant};

use serde::{Deserialize, Serialize};

use crate::error::VaultError;
use crate::types::Kind;

/// What a caller may do in a place. Each tier includes the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Tier {
    /// Nothing, not even learn that something is there.
    #[serde(rename = "none")]
    None,
    /// Read.
    #[serde(rename = "r")]
    Read,
    /// Read, create, change, rename.
    #[serde(rename = "rw")]
    Write,
    /// All that, and remove.
    #[serde(rename = "rwd")]
    Delete,
}

impl Tier {
    /// The word for this tier in configs and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Tier::None => "none",
            Tier::Read => "r",
            Tier::Write => "rw",
            Tier::Delete => "rwd",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl FromStr for Tier {
    type Err = UnknownTier;

    fn from_str(word: &str) -> Result<Self, UnknownTier> {
        [Tier::None, Tier::Read, Tier::Write, Tier::Delete]
            .into_iter()
            .find(|tier| tier.as_str() == word)
            .ok_or_else(|| UnknownTier(word.to_owned()))
    }
}

/// A word that names no tier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a tier: expected `none`, `r`, `rw` or `rwd`")]
pub struct UnknownTier(pub String);

/// What an action was declared to do. Each effect includes the ones before it.
pub use notehost_sdk::Effect;

/// Says what the caller of a transaction may do at a path.
pub trait Rules: Send + Sync {
    /// The tier at a vault-relative path in NFC, spelt as on disk; `""` is the vault itself.
    fn tier(&self, path: &str) -> Tier;

    /// The same for a path whose kind is known: a path of one part is a notebook, or a file in the root.
    fn tier_of(&self, path: &str, kind: Kind) -> Tier {
        let _ = kind;
        self.tier(path)
    }

    /// Identifies these rules while the process runs: rules with equal identities decide alike. Without one, nothing that
    /// was derived from them is cached.
    fn identity(&self) -> Option<u64> {
        None
    }

    /// Reports an action that was refused because it tried more than it was declared to do.
    fn overstepped(&self, needed: Effect) {
        let _ = needed;
    }

    /// The glob of a rule that allows less here than in the rest of the notebook.
    fn narrowed_by(&self, path: &str) -> Option<String> {
        let _ = path;
        None
    }

    /// What the component's grant has taken from the caller since the last call of this function.
    fn grant_usage(&self) -> GrantUsage {
        GrantUsage::default()
    }
}

/// What a component's grant took from what its caller may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GrantUsage {
    /// Something that the caller may see was hidden.
    pub hidden: bool,
    /// The caller may do more somewhere than the component may.
    pub narrowed: bool,
}

/// What one transaction may do, in whose name, and how much of it.
#[derive(Clone)]
pub struct Access {
    /// What the caller may do, by path.
    pub rules: Arc<dyn Rules>,
    /// What the action was declared to do.
    pub effect: Effect,
    /// The component that runs: the owner of the private store.
    pub component: String,
    /// Bounds of this transaction.
    pub limits: Limits,
}

/// Bounds of one transaction.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The largest file that is read or written.
    pub max_file_bytes: u64,
    /// How many bytes may be staged in all.
    pub max_staged_bytes: u64,
    /// How many files and new folders may be touched.
    pub max_staged_files: usize,
    /// How many bytes of questions are held until the commit.
    pub max_retained_bytes: u64,
    /// How many bytes a component may keep in its store, per vault.
    pub store_quota: u64,
    /// When walks and scans fail with `timeout`.
    pub deadline: Option<Instant>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_file_bytes: 64 << 20,
            max_staged_bytes: 256 << 20,
            max_staged_files: 10_000,
            max_retained_bytes: 16 << 20,
            store_quota: 16 << 20,
            deadline: None,
        }
    }
}

impl Limits {
    /// Fails with `timeout` once the deadline has passed.
    pub fn check_deadline(&self) -> Result<(), VaultError> {
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(VaultError::timeout()),
            _ => Ok(()),
        }
    }
}
