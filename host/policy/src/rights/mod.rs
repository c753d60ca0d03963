//! What may happen at a path: the tier of the caller's permissions and of the component's grant, and their intersection. The
//! vault enforces it. Also the hosts that a component may send requests to.

mod grant;
mod host_grant;
#[cfg(test)]
mod permission_properties;
mod permissions;

pub use grant::Grant;
pub use host_grant::{BadHost, HostGrant, Within};
pub use permissions::{Decision, Narrowing, Permissions, StatedTier};

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use notehost_vault::glob::Glob;
use notehost_vault::{GrantUsage, Kind, Rules, Tier};

/// The intersection of a caller's permissions and a component's grant.
pub struct Intersection {
    caller: Arc<dyn Rules>,
    grant: Arc<dyn Rules>,
    /// What the grant took away since the last query.
    hidden: AtomicBool,
    narrowed: AtomicBool,
}

impl Intersection {
    /// Intersects a caller's permissions with a component's grant.
    pub fn new(caller: Arc<dyn Rules>, grant: Arc<dyn Rules>) -> Intersection {
        Intersection {
            caller,
            grant,
            hidden: AtomicBool::new(false),
            narrowed: AtomicBool::new(false),
        }
    }

    /// The lower of two tiers. Notes whether the grant lowered it.
    fn both(&self, caller: Tier, grant: impl FnOnce() -> Tier) -> Tier {
        if caller == Tier::None {
            return Tier::None;
        }
        let grant = grant();
        if grant == Tier::None {
            self.hidden.store(true, Ordering::Relaxed);
        }
        if grant < caller {
            self.narrowed.store(true, Ordering::Relaxed);
        }
        caller.min(grant)
    }
}

impl Rules for Intersection {
    fn tier(&self, path: &str) -> Tier {
        self.both(self.caller.tier(path), || self.grant.tier(path))
    }

    fn tier_of(&self, path: &str, kind: Kind) -> Tier {
        let caller = self.caller.tier_of(path, kind);
        self.both(caller, || self.grant.tier_of(path, kind))
    }

    fn identity(&self) -> Option<u64> {
        Some((self.caller.identity()? << 32) | self.grant.identity()?)
    }

    fn narrowed_by(&self, path: &str) -> Option<String> {
        self.caller.narrowed_by(path)
    }

    fn grant_usage(&self) -> GrantUsage {
        // Most calls meet nothing: looking is cheaper than taking.
        let take =
            |flag: &AtomicBool| flag.load(Ordering::Relaxed) && flag.swap(false, Ordering::Relaxed);
        GrantUsage {
            hidden: take(&self.hidden),
            narrowed: take(&self.narrowed),
        }
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
fn matcher(glob: &str) -> Result<Glob, BadGlob> {
    notehost_config::glob(glob).map_err(|reason| BadGlob {
        glob: glob.to_owned(),
        reason,
    })
}

/// Whether a glob matches a path, or everything in it: `Work/**` also means the folder `Work`.
fn matches_path_or_folder(glob: &Glob, folded_path: &str) -> bool {
    glob.is_match(folded_path) || glob.is_match(&format!("{folded_path}/"))
}
