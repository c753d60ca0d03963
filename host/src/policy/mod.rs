//! Who may do what. A permission is a tier per path; what a call may do is the intersection of the caller's
//! permissions and the component's grant, and it is the vault that enforces it. Later policy (rates, confirmation,
//! idempotency) lives here as well.

mod grant;
mod permissions;

pub use grant::Grant;
pub use permissions::Permissions;

use std::sync::Arc;

use crate::vault::{Rules, Tier};

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
    globset::GlobBuilder::new(&crate::vault::fold_path(glob))
        .literal_separator(true)
        .backslash_escape(false)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| BadGlob {
            glob: glob.to_owned(),
            reason: error.kind().to_string(),
        })
}

/// Whether a glob matches a path, or all that lies in it: `Work/**` speaks of the folder `Work` too.
fn matches_path_or_folder(glob: &globset::GlobMatcher, folded_path: &str) -> bool {
    glob.is_match(folded_path) || glob.is_match(format!("{folded_path}/"))
}
