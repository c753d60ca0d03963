//! A caller's permissions in a vault: one tier per notebook, narrowed by globs. Each tier knows the config line that set
//! it, so that a refusal can name it.
//!
//! Up to five tables are stated, each more specific than the one before: the general one, that of the vault, that of the
//! caller's token, that of the caller, and that of the caller in the vault. In each of them
//!
//! 1. a notebook's line replaces that of the tables before it;
//! 2. `default` is for the notebooks that no table lists, and lowers those that only tables before it list: what a table
//!    does not open itself, its `default` closes;
//! 3. rules are added to those of the tables before it, and only ever narrow.

use std::collections::HashMap;

use super::{BadGlob, matcher, matches_path_or_folder, new_identity};
use notehost_config::{CallerPermissions, PermissionRule, Settings, dotted};
use notehost_vault::glob::Glob;
use notehost_vault::{Kind, Rules, Tier, fold_path};

/// The name for the root of the vault as a notebook.
const ROOT: &str = ".";
/// The prefix of a key that comes from a token.
const TOKEN: &str = "token";

/// The permissions of one caller in one vault.
pub struct Permissions {
    identity: u64,
    default: StatedTier,
    notebooks: HashMap<String, StatedTier>,
    narrower: Vec<Rule>,
}

/// A tier, and the key that set it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatedTier {
    /// The tier.
    pub tier: Tier,
    /// The key of the config, such as `permissions.notebooks.Work`; with `token.` in front it is the caller's token.
    pub key: String,
}

struct Rule {
    stated: StatedTier,
    glob: String,
    matcher: Glob,
}

/// The decision for a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision<'permissions> {
    /// The resulting tier.
    pub tier: Tier,
    /// What its notebook allows; listing a vault needs no rule.
    pub notebook: Option<&'permissions StatedTier>,
    /// The rule that allows less than the notebook does.
    pub narrowed: Option<Narrowing<'permissions>>,
}

/// A rule that allows less than a notebook does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Narrowing<'permissions> {
    /// Its tier, and the key that set it.
    pub stated: &'permissions StatedTier,
    /// The glob of its paths.
    pub glob: &'permissions str,
}

impl Permissions {
    /// The permissions of a named caller in a vault: the general ones, overridden by those of the vault, by its token, by its
    /// own settings and by its own settings in that vault.
    pub fn of_caller(
        settings: &Settings,
        vault: &str,
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
            default: StatedTier {
                tier: Tier::None,
                key: String::new(),
            },
            notebooks: HashMap::new(),
            narrower: Vec::new(),
        };
        permissions.add("permissions", &everybody)?;
        let mut vaults = settings.vaults.iter().enumerate();
        let here = vaults.find(|(_, entry)| entry.id == vault);
        let here = here.map(|(index, entry)| (format!("vaults[{index}]"), entry));
        if let Some((key, entry)) = &here {
            permissions.add(&format!("{key}.permissions"), &entry.permissions)?;
        }
        if let Some(token) = token {
            permissions.add(TOKEN, token)?;
        }
        if let Some(own) = own {
            permissions.add(&format!("{}.permissions", dotted("callers", caller)), own)?;
        }
        if let Some((key, entry)) = &here
            && let Some(own) = entry.callers.get(caller)
        {
            let key = dotted(&format!("{key}.callers"), caller);
            permissions.add(&format!("{key}.permissions"), &own.permissions)?;
        }
        Ok(permissions)
    }

    /// Adds a more specific table.
    fn add(&mut self, prefix: &str, stated: &CallerPermissions) -> Result<(), BadGlob> {
        if let Some(tier) = stated.default {
            let key = format!("{prefix}.default");
            let default = StatedTier { tier, key };
            // Those that this table lists itself are replaced below.
            for wider in self.notebooks.values_mut() {
                if wider.tier > tier {
                    *wider = default.clone();
                }
            }
            self.default = default;
        }
        for (notebook, tier) in &stated.notebooks {
            let key = dotted(&format!("{prefix}.notebooks"), notebook);
            let stated = StatedTier { tier: *tier, key };
            self.notebooks.insert(fold_path(notebook), stated);
        }
        for (index, PermissionRule { glob, tier }) in stated.rules.iter().enumerate() {
            let key = format!("{prefix}.rules[{index}]");
            self.narrower.push(Rule {
                stated: StatedTier { tier: *tier, key },
                matcher: matcher(glob)?,
                glob: glob.clone(),
            });
        }
        Ok(())
    }

    /// Decides what the caller may do at a path, and why. The kind only matters for a path of one part, which is a
    /// notebook or a file in the root.
    pub fn decide(&self, path: &str, kind: Option<Kind>) -> Decision<'_> {
        if path.is_empty() {
            // The vault itself can be listed by anybody; each path in it is decided separately.
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
            if rule.stated.tier < decision.tier && rule.holds_at(&path) {
                decision.tier = rule.stated.tier;
                decision.narrowed = Some(Narrowing {
                    stated: &rule.stated,
                    glob: &rule.glob,
                });
            }
        }
        decision
    }

    fn of_notebook(&self, notebook: &str) -> &StatedTier {
        self.notebooks.get(notebook).unwrap_or(&self.default)
    }

    /// A path of one part is a notebook or a file in the root. If it does not exist yet and the name does not show which,
    /// the narrower tier applies.
    fn of_single_part(&self, name: &str, kind: Option<Kind>) -> &StatedTier {
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
    /// A glob for a folder also matches everything in it.
    fn holds_at(&self, folded_path: &str) -> bool {
        let mut folders = folded_path.match_indices('/');
        matches_path_or_folder(&self.matcher, folded_path)
            || folders.any(|(end, _)| self.matcher.is_match(&folded_path[..end]))
    }
}

impl Decision<'_> {
    /// The setting that decided.
    pub fn stated(&self) -> Option<&StatedTier> {
        let narrowed = self.narrowed.as_ref().map(|narrowed| narrowed.stated);
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
        Permissions::of_caller(&settings, "main", caller, None).expect("permissions")
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
    fn notebooks_not_in_the_config_get_the_default_tier() {
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
    fn case_and_spelling_do_not_bypass_rules() {
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
    fn one_part_paths_follow_the_kind_on_disk() {
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
    fn folder_rules_apply_to_their_content() {
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

    const TWO_VAULTS: &str = r#"
        [permissions]
        default = "r"
        notebooks = { Work = "rw", Diary = "none", Inbox = "rwd" }
        rules = [{ glob = "**/Old", tier = "r" }]
        [[vaults]]
        id = "main"
        path = "/main"
        [[vaults]]
        id = "archive"
        path = "/archive"
        [vaults.permissions]
        default = "r"
        notebooks = { Inbox = "rw" }
        rules = [{ glob = "Inbox/Done/**", tier = "none" }]
        [vaults.callers.phone.permissions]
        notebooks = { Diary = "r", Inbox = "rwd" }
        [callers.phone.permissions]
        default = "none"
        notebooks = { Work = "rw" }
    "#;

    #[test]
    fn a_vault_overrides_the_general_tiers_and_a_caller_those_of_the_vault() {
        let settings: Settings = toml::from_str(TWO_VAULTS).expect("settings");
        let of = |vault: &str, caller: &str| {
            Permissions::of_caller(&settings, vault, caller, None).expect("permissions")
        };
        let tiers = |vault: &str, caller: &str| {
            let permissions = of(vault, caller);
            ["Work/a.md", "Diary/a.md", "Inbox/a.md", "Other/a.md"].map(|path| {
                let tier = permissions.tier(path);
                tier.as_str()
            })
        };
        assert_eq!(tiers("main", "ana"), ["rw", "none", "rwd", "r"]);
        // The vault's `default` closes `Work`, and does not open `Diary`.
        assert_eq!(tiers("archive", "ana"), ["r", "none", "rw", "r"]);
        assert_eq!(tiers("main", "phone"), ["rw", "none", "none", "none"]);
        assert_eq!(tiers("archive", "phone"), ["rw", "r", "rwd", "none"]);
        // Rules of all tables narrow.
        let archive = of("archive", "phone");
        assert_eq!(archive.tier("Inbox/Done/a.md"), Tier::None);
        assert_eq!(archive.tier("Inbox/Old/a.md"), Tier::Read);
        assert_eq!(of("main", "ana").tier("Inbox/Done/a.md"), Tier::Delete);
        let key = |vault: &str, caller: &str, path: &str| {
            let permissions = of(vault, caller);
            let decision = permissions.decide(path, None);
            decision.stated().map(|stated| stated.key.clone())
        };
        let stated = |key: &str| Some(key.to_owned());
        assert_eq!(
            key("archive", "ana", "Work/a.md"),
            stated("vaults[1].permissions.default")
        );
        assert_eq!(
            key("archive", "ana", "Diary/a.md"),
            stated("permissions.notebooks.Diary")
        );
        assert_eq!(
            key("archive", "phone", "Diary/a.md"),
            stated("vaults[1].callers.phone.permissions.notebooks.Diary")
        );
        assert_eq!(
            key("archive", "phone", "Inbox/Done/a.md"),
            stated("vaults[1].permissions.rules[0]")
        );
    }

    #[test]
    fn decisions_name_the_deciding_setting() {
        let token = CallerPermissions {
            notebooks: [("Diary".to_owned(), Tier::Read)].into(),
            ..CallerPermissions::default()
        };
        let settings: Settings = toml::from_str(CONFIG).expect("settings");
        let phone = Permissions::of_caller(&settings, "main", "phone", Some(&token));
        let phone = phone.expect("permissions");
        let key = |path: &str| {
            let decision = phone.decide(path, None);
            decision
                .stated()
                .map(|stated| stated.key.clone())
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
        let ana = Permissions::of_caller(&settings, "main", "ana", None).expect("permissions");
        let decision = ana.decide("Work/Contracts/a.md", None);
        let narrowed = decision.narrowed.expect("a rule");
        assert_eq!(
            (narrowed.stated.key.as_str(), narrowed.glob),
            ("permissions.rules[0]", "Work/Contracts/**")
        );
    }
}
