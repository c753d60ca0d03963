//! Grants: what a component may use of the vaults.

use super::{BadGlob, matcher, matches_path_or_folder, new_identity};
use notehost_config::GrantSettings;
use notehost_vault::glob::Glob;
use notehost_vault::{Effect, Rules, Tier, fold_path};

/// The glob of all paths.
const EVERYTHING: &str = "**";

/// What a component may use of the vaults, for all callers.
pub struct Grant {
    identity: u64,
    /// From the widest tier to the narrowest.
    allowed: Vec<Allowed>,
}

struct Allowed {
    tier: Tier,
    glob: String,
    matcher: Glob,
    /// The literal prefix of all matches.
    start: String,
}

impl Grant {
    /// Grants everything, so that only the caller's permissions decide. For first-party components.
    pub fn everything() -> Grant {
        let all = GrantSettings {
            delete: vec![EVERYTHING.into()],
            ..GrantSettings::default()
        };
        Grant::from_settings(&all).unwrap_or_else(|_| Grant::nothing())
    }

    /// Grants nothing, not even visibility.
    pub fn nothing() -> Grant {
        Grant {
            identity: new_identity(),
            allowed: Vec::new(),
        }
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
                allowed.push(Allowed {
                    tier,
                    matcher: matcher(glob)?,
                    start: literal_start(glob),
                    glob: glob.clone(),
                });
            }
        }
        Ok(Grant {
            identity: new_identity(),
            allowed,
        })
    }

    /// The same paths, limited to the tier that an effect needs.
    pub fn within(mut self, ceiling: Effect) -> Grant {
        let most = match ceiling {
            Effect::Read => Tier::Read,
            Effect::Write => Tier::Write,
            Effect::Delete => Tier::Delete,
        };
        for allowed in &mut self.allowed {
            allowed.tier = allowed.tier.min(most);
        }
        self
    }

    /// What the component may do at a path, and the glob that grants it.
    pub fn decide(&self, path: &str) -> (Tier, Option<&str>) {
        if path.is_empty() {
            return (Tier::Read, None);
        }
        // First-party components are granted everything, and every path of every call is asked about.
        if let Some(widest) = self.allowed.first().filter(|one| one.glob == EVERYTHING) {
            return (widest.tier, Some(&widest.glob));
        }
        let path = fold_path(path);
        let mut allowed = self.allowed.iter();
        if let Some(found) = allowed.find(|one| matches_path_or_folder(&one.matcher, &path)) {
            return (found.tier, Some(&found.glob));
        }
        // The folders on the way to something granted are seen, and nothing in them.
        let below = format!("{path}/");
        let mut allowed = self.allowed.iter();
        match allowed.find(|one| one.start.starts_with(&below)) {
            Some(found) => (Tier::Read, Some(&found.glob)),
            None => (Tier::None, None),
        }
    }
}

impl Rules for Grant {
    fn tier(&self, path: &str) -> Tier {
        self.decide(path).0
    }

    fn identity(&self) -> Option<u64> {
        Some(self.identity)
    }
}

/// The literal prefix of all matches of a glob.
fn literal_start(glob: &str) -> String {
    let folded = fold_path(glob);
    let end = folded.find(['*', '?', '[', '{']).unwrap_or(folded.len());
    folded[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ungranted_paths_are_hidden() {
        let grant = Grant::from_settings(&GrantSettings {
            read: vec!["Work/**".into()],
            write: vec!["Work/Log/*.md".into()],
            ..GrantSettings::default()
        })
        .expect("globs");
        assert_eq!(grant.tier("Diary/a.md"), Tier::None);
        assert_eq!(grant.tier("Work"), Tier::Read);
        assert_eq!(grant.tier("Work/a.md"), Tier::Read);
        assert_eq!(grant.tier("Work/Log/a.md"), Tier::Write);
        assert_eq!(grant.tier("Work/Log/deep/a.md"), Tier::Read);
    }

    #[test]
    fn parent_folders_keep_their_own_tier() {
        let grant = Grant::from_settings(&GrantSettings {
            write: vec!["Work/**".into()],
            delete: vec!["Work/Tasks/Done/**".into()],
            ..GrantSettings::default()
        })
        .expect("globs");
        assert_eq!(grant.decide("Work/Tasks"), (Tier::Write, Some("Work/**")));
        assert_eq!(grant.decide("Work/Tasks/Done/a.md").0, Tier::Delete);
    }

    #[test]
    fn ceilings_only_lower_grants() {
        let grant = || {
            Grant::from_settings(&GrantSettings {
                read: vec!["Log/**".into()],
                delete: vec!["Work/**".into()],
                ..GrantSettings::default()
            })
            .expect("globs")
        };
        for (ceiling, work) in [
            (Effect::Read, Tier::Read),
            (Effect::Write, Tier::Write),
            (Effect::Delete, Tier::Delete),
        ] {
            let grant = grant().within(ceiling);
            assert_eq!(grant.tier("Work/a.md"), work);
            assert_eq!(grant.tier("Log/a.md"), Tier::Read);
            assert_eq!(grant.tier("Diary/a.md"), Tier::None);
        }
    }

    #[test]
    fn a_grant_of_everything_covers_every_path() {
        let grant = |read: &[&str], write: &[&str]| {
            let globs = |globs: &[&str]| globs.iter().map(|glob| (*glob).to_owned()).collect();
            Grant::from_settings(&GrantSettings {
                read: globs(read),
                write: globs(write),
                ..GrantSettings::default()
            })
            .expect("globs")
        };
        for path in ["a.md", "Work", "Work/Ä/b.md", "Work/a\nb.md"] {
            assert_eq!(Grant::everything().tier(path), Tier::Delete, "{path}");
            let both = grant(&["**"], &["Work/**"]);
            let wanted = match path.starts_with("Work") && path.contains('/') || path == "Work" {
                true => Tier::Write,
                false => Tier::Read,
            };
            assert_eq!(both.tier(path), wanted, "{path}");
        }
    }

    #[test]
    fn an_empty_grant_hides_everything() {
        let grant = Grant::from_settings(&GrantSettings::default()).expect("globs");
        assert_eq!(grant.tier("a.md"), Tier::None);
        assert_eq!(grant.tier("Work"), Tier::None);
    }
}
