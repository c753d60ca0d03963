//! A caller's tiers: one per notebook, narrowed by globs. Each tier knows the line that says so, so that whoever is
//! refused can be told why.

use std::collections::HashMap;

use super::{BadGlob, matcher, matches_path_or_folder, new_identity};
use notehost_config::{CallerPermissions, PermissionRule, Settings, dotted};
use notehost_vault::glob::Glob;
use notehost_vault::{Kind, Rules, Tier, fold_path};

/// The notebook of the notes that lie in the vault's root.
const ROOT: &str = ".";
/// What stands for a key of the config where a token says it.
const TOKEN: &str = "token";

/// What one caller may do where.
pub struct Permissions {
    identity: u64,
    default: Said,
    notebooks: HashMap<String, Said>,
    narrower: Vec<Rule>,
}

/// A tier, and who says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The tier.
    pub tier: Tier,
    /// The key of the config, such as `permissions.notebooks.Work`; with `token.` in front it is the caller's token.
    pub key: String,
}

struct Rule {
    said: Said,
    glob: String,
    matcher: Glob,
}

/// What a caller may do at a path, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision<'permissions> {
    /// What it may do.
    pub tier: Tier,
    /// What its notebook allows; nobody has to say that a vault can be listed.
    pub notebook: Option<&'permissions Said>,
    /// The rule that allows less than the notebook does.
    pub narrowed: Option<Narrowing<'permissions>>,
}

/// A rule that allows less than a notebook does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Narrowing<'permissions> {
    /// Its tier, and who says so.
    pub said: &'permissions Said,
    /// Which paths it speaks of.
    pub glob: &'permissions str,
}

impl Permissions {
    /// The permissions of the caller of that name: everybody's, with what its token and then what the config says
    /// differently for it.
    pub fn of_caller(
        settings: &Settings,
        caller: &str,
        token: Option<&CallerPermissions>,
    ) -> Result<Permissions, BadGlob> {
        let everybody = &settings.permissions;
        let everybody = CallerPermissions {
            default: Some(everybody.default),
            notebooks: everybody.notebooks.clone(),
            rules: everybody.rules.clone(),
        };
        let own = settings.callers.get(caller).map(|own| &own.permissions);
        let mut permissions = Permissions {
            identity: new_identity(),
            default: Said {
                tier: Tier::None,
                key: String::new(),
            },
            notebooks: HashMap::new(),
            narrower: Vec::new(),
        };
        permissions.add("permissions", &everybody)?;
        if let Some(token) = token {
            permissions.add(TOKEN, token)?;
        }
        if let Some(own) = own {
            permissions.add(&format!("{}.permissions", dotted("callers", caller)), own)?;
        }
        Ok(permissions)
    }

    /// What is said later wins, except that rules only ever narrow.
    fn add(&mut self, prefix: &str, said: &CallerPermissions) -> Result<(), BadGlob> {
        if let Some(tier) = said.default {
            let key = format!("{prefix}.default");
            self.default = Said { tier, key };
        }
        for (notebook, tier) in &said.notebooks {
            let key = dotted(&format!("{prefix}.notebooks"), notebook);
            let said = Said { tier: *tier, key };
            self.notebooks.insert(fold_path(notebook), said);
        }
        for (index, PermissionRule { glob, tier }) in said.rules.iter().enumerate() {
            let key = format!("{prefix}.rules[{index}]");
            self.narrower.push(Rule {
                said: Said { tier: *tier, key },
                matcher: matcher(glob)?,
                glob: glob.clone(),
            });
        }
        Ok(())
    }

    /// What the caller may do at a path, and why. The kind only matters for a path of one part, which is a notebook
    /// or a file in the root.
    pub fn decide(&self, path: &str, kind: Option<Kind>) -> Decision<'_> {
        if path.is_empty() {
            // The vault itself can be listed by anybody; what is in it is asked for one by one.
            return Decision {
                tier: Tier::Read,
                notebook: None,
                narrowed: None,
            };
        }
        let path = fold_path(path);
        let notebook = match path.split_once('/') {
            Some((notebook, _)) => self.of_notebook(notebook),
            None => self.of_single_part(&path, kind),
        };
        let mut decision = Decision {
            tier: notebook.tier,
            notebook: Some(notebook),
            narrowed: None,
        };
        for rule in &self.narrower {
            if rule.said.tier < decision.tier && rule.holds_at(&path) {
                decision.tier = rule.said.tier;
                decision.narrowed = Some(Narrowing {
                    said: &rule.said,
                    glob: &rule.glob,
                });
            }
        }
        decision
    }

    fn of_notebook(&self, notebook: &str) -> &Said {
        self.notebooks.get(notebook).unwrap_or(&self.default)
    }

    /// A path of one part is a notebook or a file in the root. What is not there yet is either: where the name does
    /// not tell, the narrower tier holds.
    fn of_single_part(&self, name: &str, kind: Option<Kind>) -> &Said {
        let (root, notebook) = (self.of_notebook(ROOT), self.of_notebook(name));
        match kind {
            Some(Kind::File) => root,
            Some(Kind::Folder) => notebook,
            None if self.notebooks.contains_key(name) => notebook,
            None if name.ends_with(".md") => root,
            None if name.contains('.') && root.tier < notebook.tier => root,
            None => notebook,
        }
    }
}

impl Rule {
    /// What is said of a folder is said of all that lies in it.
    fn holds_at(&self, folded_path: &str) -> bool {
        let mut folders = folded_path.match_indices('/');
        matches_path_or_folder(&self.matcher, folded_path)
            || folders.any(|(end, _)| self.matcher.is_match(&folded_path[..end]))
    }
}

impl Decision<'_> {
    /// The line that decided.
    pub fn said(&self) -> Option<&Said> {
        let narrowed = self.narrowed.as_ref().map(|narrowed| narrowed.said);
        narrowed.or(self.notebook)
    }
}

impl Rules for Permissions {
    fn tier(&self, path: &str) -> Tier {
        self.decide(path, None).tier
    }

    fn tier_of(&self, path: &str, kind: Kind) -> Tier {
        self.decide(path, Some(kind)).tier
    }

    fn identity(&self) -> Option<u64> {
        Some(self.identity)
    }

    fn narrowed_by(&self, path: &str) -> Option<String> {
        let narrowed = self.decide(path, None).narrowed?;
        Some(narrowed.glob.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permissions(toml: &str, caller: &str) -> Permissions {
        let settings: Settings = toml::from_str(toml).expect("settings");
        Permissions::of_caller(&settings, caller, None).expect("permissions")
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

    #[test]
    fn a_path_of_one_part_is_what_it_is_on_the_disk() {
        let config = "[permissions]\ndefault = 'none'\n[permissions.notebooks]\n'.' = 'rw'\n";
        let ana = permissions(config, "ana");
        assert_eq!(ana.tier_of("secret.md", Kind::Folder), Tier::None);
        assert_eq!(ana.tier_of("secret.md", Kind::File), Tier::Write);
        assert_eq!(ana.tier_of("picture.png", Kind::File), Tier::Write);
        let ana = permissions("[permissions.notebooks]\n'.' = 'none'\nWork = 'rw'", "ana");
        assert_eq!(ana.tier_of("LICENSE", Kind::File), Tier::None);
        assert_eq!(ana.tier_of("Work", Kind::File), Tier::None);
        assert_eq!(ana.tier_of("Work", Kind::Folder), Tier::Write);
    }

    #[test]
    fn a_rule_about_a_folder_holds_for_what_is_in_it() {
        let config = "[permissions]\ndefault = 'rwd'\n[[permissions.rules]]\nglob = '**/Private'\ntier = 'none'\n\
                      [[permissions.rules]]\nglob = 'Work/*.md'\ntier = 'r'\n";
        let ana = permissions(config, "ana");
        for path in [
            "Private",
            "Private/a.md",
            "Work/private",
            "Work/Private/deep/er/a.md",
        ] {
            assert_eq!(ana.tier(path), Tier::None, "{path}");
        }
        assert_eq!(ana.tier("Work/Privateer/a.md"), Tier::Delete);
        assert_eq!(ana.tier("Work/a.md"), Tier::Read);
        assert_eq!(ana.tier("Work/Sub/a.md"), Tier::Delete);
    }

    #[test]
    fn the_line_that_decides_is_named() {
        let token = CallerPermissions {
            notebooks: [("Diary".to_owned(), Tier::Read)].into(),
            ..CallerPermissions::default()
        };
        let settings: Settings = toml::from_str(CONFIG).expect("settings");
        let phone = Permissions::of_caller(&settings, "phone", Some(&token)).expect("permissions");
        let key = |path: &str| {
            let decision = phone.decide(path, None);
            decision
                .said()
                .map(|said| said.key.clone())
                .unwrap_or_default()
        };
        assert_eq!(key("Other/a.md"), "permissions.default");
        assert_eq!(key("a.md"), "permissions.notebooks.\".\"");
        assert_eq!(key("Diary/a.md"), "token.notebooks.Diary");
        assert_eq!(key("work/a.md"), "callers.phone.permissions.notebooks.Work");
        assert_eq!(
            key("Work/Contracts/a.md"),
            "callers.phone.permissions.notebooks.Work"
        );
        let ana = Permissions::of_caller(&settings, "ana", None).expect("permissions");
        let decision = ana.decide("Work/Contracts/a.md", None);
        let narrowed = decision.narrowed.expect("a rule");
        assert_eq!(
            (narrowed.said.key.as_str(), narrowed.glob),
            ("permissions.rules[0]", "Work/Contracts/**")
        );
    }
}
