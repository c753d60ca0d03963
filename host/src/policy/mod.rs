//! Who may do what. A permission is a tier per path; what a call may do is the intersection of the caller's
//! permissions and the component's grant, and it is the vault that enforces it. Beside it stands what is remembered
//! between calls: how many a caller made, which were answered already, what a person decided.

mod approvals;
mod grant;
mod idempotency;
mod permissions;
mod rates;
mod reach;

pub use approvals::{APPROVALS_TABLE, Approval, ApprovalError, ApprovalState, Approvals, Question};
pub use grant::Grant;
pub use idempotency::{Claim, Claimed, IDEMPOTENCY_TABLE, Idempotency};
pub use permissions::{Decision, Narrowing, Permissions, Said};
pub use rates::{RATES_TABLE, Rates};
pub use reach::{BadHost, Reach, Within};

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::vault::{Kind, Rules, Tier};

/// What both allow.
pub struct Both {
    /// The caller's permissions.
    pub caller: Arc<dyn Rules>,
    /// The component's grant.
    pub grant: Arc<dyn Rules>,
}

impl Rules for Both {
    fn tier(&self, path: &str) -> Tier {
        match self.caller.tier(path) {
            Tier::None => Tier::None,
            tier => tier.min(self.grant.tier(path)),
        }
    }

    fn tier_of(&self, path: &str, kind: Kind) -> Tier {
        match self.caller.tier_of(path, kind) {
            Tier::None => Tier::None,
            tier => tier.min(self.grant.tier_of(path, kind)),
        }
    }

    fn identity(&self) -> Option<u64> {
        Some((self.caller.identity()? << 32) | self.grant.identity()?)
    }

    fn narrowed_by(&self, path: &str) -> Option<String> {
        self.caller.narrowed_by(path)
    }
}

/// A number for rules that were just read, and for no others.
fn new_identity() -> u64 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    u64::from(NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A glob that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("`{glob}` is not a glob: {reason}")]
pub struct BadGlob {
    /// The glob.
    pub glob: String,
    /// What is wrong with it.
    pub reason: String,
}

/// A glob over folded paths: case and Unicode spelling do not matter, `*` stays within a folder.
fn matcher(glob: &str) -> Result<globset::GlobMatcher, BadGlob> {
    crate::config::glob(glob).map_err(|reason| BadGlob {
        glob: glob.to_owned(),
        reason,
    })
}

/// Whether a glob matches a path, or all that lies in it: `Work/**` speaks of the folder `Work` too.
fn matches_path_or_folder(glob: &globset::GlobMatcher, folded_path: &str) -> bool {
    glob.is_match(folded_path) || glob.is_match(format!("{folded_path}/"))
}
