//! A caller's tiers: one per notebook, narrowed by globs.

use std::collections::HashMap;

use super::{BadGlob, matcher, matches_path_or_folder};
use crate::config::{PermissionRule, Settings};
use crate::vault::{Rules, Tier, fold_path};

/// The notebook of the notes that lie in the vault's root.
const ROOT: &str = ".";

/// What one caller may do where.
pub struct Permissions {
    default: Tier,
    notebooks: HashMap<String, Tier>,
    narrower: Vec<(globset::GlobMatcher, Tier)>,
}

impl Permissions {
    /// The permissions of the caller of that name: everybody's, with what the config says differently for it.
    pub fn of_caller(settings: &Settings, caller: &str) -> Result<Permissions, BadGlob> {
        let everybody = &settings.permissions;
        let own = settings
            .callers
            .get(caller)
            .map(|caller| caller.permissions.clone())
            .unwrap_or_default();
        let notebooks = everybody.notebooks.iter().chain(&own.notebooks);
        Ok(Permissions {
            default: own.default.unwrap_or(everybody.default),
            notebooks: notebooks
                .map(|(notebook, tier)| (fold_path(notebook), *tier))
                .collect(),
            narrower: everybody
                .rules
                .iter()
                .chain(&own.rules)
                .map(|PermissionRule { glob, tier }| Ok((matcher(glob)?, *tier)))
                .collect::<Result<_, BadGlob>>()?,
        })
    }

    fn of_notebook(&self, notebook: &str) -> Tier {
        self.notebooks
            .get(notebook)
            .copied()
            .unwrap_or(self.default)
    }

    /// A path of one part is a notebook or a file in the root, and the path alone does not tell which: where it could
    /// be either, the narrower tier holds.
    fn of_single_part(&self, name: &str) -> Tier {
        if self.notebooks.contains_key(name) {
            self.of_notebook(name)
        } else if name.ends_with(".md") {
            self.of_notebook(ROOT)
        } else if name.contains('.') {
            self.of_notebook(ROOT).min(self.default)
        } else {
            self.default
        }
    }
}

impl Rules for Permissions {
    fn tier(&self, path: &str) -> Tier {
        if path.is_empty() {
            // The vault itself can be listed by anybody; what is in it is asked for one by one.
            return Tier::Read;
        }
        let path = fold_path(path);
        let mut tier = match path.split_once('/') {
            Some((notebook, _)) => self.of_notebook(notebook),
            None => self.of_single_part(&path),
        };
        for (glob, narrower) in &self.narrower {
            if *narrower < tier && matches_path_or_folder(glob, &path) {
                tier = *narrower;
            }
        }
        tier
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permissions(toml: &str, caller: &str) -> Permissions {
        let settings: Settings = toml::from_str(toml).expect("settings");
        Permissions::of_caller(&settings, caller).expect("permissions")
    }

    const CONFIG: &str = r#"
        [permissions]
        default = "r"
        [permissions.notebooks]
        Work = "rw"
        Diary = "none"
        "." = "rwd"
        [[permissions.rules]]
        glob = "Work/Contracts/**"
        tier = "r"
        [[permissions.rules]]
        glob = "Archive/**"
        tier = "rwd"
        [callers.phone.permissions.notebooks]
        Work = "r"
    "#;

    #[test]
    fn a_notebook_that_nothing_names_can_only_be_read() {
        assert_eq!(permissions(CONFIG, "ana").tier("Other/a.md"), Tier::Read);
    }

    #[test]
    fn rules_narrow_and_never_widen() {
        let ana = permissions(CONFIG, "ana");
        assert_eq!(ana.tier("Work/Plan.md"), Tier::Write);
        assert_eq!(ana.tier("Work/Contracts/a.md"), Tier::Read);
        assert_eq!(ana.tier("Work/Contracts"), Tier::Read);
        assert_eq!(ana.tier("Archive/a.md"), Tier::Read);
    }

    #[test]
    fn case_and_spelling_open_no_door() {
        let ana = permissions(CONFIG, "ana");
        assert_eq!(ana.tier("DIARY/x.md"), Tier::None);
        assert_eq!(ana.tier("diary"), Tier::None);
        assert_eq!(ana.tier("work/contracts/A.md"), Tier::Read);
    }

    #[test]
    fn a_caller_has_its_own_tiers_and_the_root_is_a_notebook() {
        assert_eq!(permissions(CONFIG, "phone").tier("Work/a.md"), Tier::Read);
        assert_eq!(permissions(CONFIG, "phone").tier("Root.md"), Tier::Delete);
        assert_eq!(permissions(CONFIG, "phone").tier("v1.0"), Tier::Read);
    }
}
