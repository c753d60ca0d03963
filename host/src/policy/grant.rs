//! What an admin lets a component use of the vaults.

use super::{BadGlob, matcher, matches_path_or_folder};
use crate::config::GrantSettings;
use crate::vault::{Rules, Tier, fold_path};

/// What a component may use of the vaults, whoever calls.
pub struct Grant {
    /// From the widest tier to the narrowest.
    allowed: Vec<(Tier, globset::GlobMatcher, String)>,
}

impl Grant {
    /// Everything: the caller's permissions alone decide. For first-party components.
    pub fn everything() -> Grant {
        let all = GrantSettings {
            delete: vec!["**".into()],
            ..GrantSettings::default()
        };
        Grant::from_settings(&all).unwrap_or(Grant {
            allowed: Vec::new(),
        })
    }

    /// What the config grants.
    pub fn from_settings(settings: &GrantSettings) -> Result<Grant, BadGlob> {
        let mut allowed = Vec::new();
        for (tier, globs) in [
            (Tier::Delete, &settings.delete),
            (Tier::Write, &settings.write),
            (Tier::Read, &settings.read),
        ] {
            for glob in globs {
                allowed.push((tier, matcher(glob)?, literal_start(glob)));
            }
        }
        Ok(Grant { allowed })
    }
}

impl Rules for Grant {
    fn tier(&self, path: &str) -> Tier {
        if path.is_empty() {
            return Tier::Read;
        }
        let path = fold_path(path);
        for (tier, glob, start) in &self.allowed {
            if matches_path_or_folder(glob, &path) {
                return *tier;
            }
            // The folders on the way to something granted are seen, and nothing in them.
            if start.starts_with(&format!("{path}/")) {
                return Tier::Read;
            }
        }
        Tier::None
    }
}

/// What every match of a glob begins with.
fn literal_start(glob: &str) -> String {
    let folded = fold_path(glob);
    let end = folded.find(['*', '?', '[', '{']).unwrap_or(folded.len());
    folded[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nothing_names_cannot_be_seen() {
        let grant = Grant::from_settings(&GrantSettings {
            read: vec!["Work/**".into()],
            write: vec!["Work/Log/*.md".into()],
            delete: Vec::new(),
        })
        .expect("globs");
        assert_eq!(grant.tier("Diary/a.md"), Tier::None);
        assert_eq!(grant.tier("Work"), Tier::Read);
        assert_eq!(grant.tier("Work/a.md"), Tier::Read);
        assert_eq!(grant.tier("Work/Log/a.md"), Tier::Write);
        assert_eq!(grant.tier("Work/Log/deep/a.md"), Tier::Read);
    }

    #[test]
    fn nothing_granted_is_nothing_seen() {
        let grant = Grant::from_settings(&GrantSettings::default()).expect("globs");
        assert_eq!(grant.tier("a.md"), Tier::None);
        assert_eq!(grant.tier("Work"), Tier::None);
    }
}
