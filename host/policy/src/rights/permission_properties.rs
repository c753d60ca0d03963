//! Properties of the permissions of generated configs: rules only narrow, a `default` closes what its table does not
//! open, and a vault's table has no effect in another vault.

use notehost_config::{
    CallerPermissions, CallerSettings, PermissionRule, PermissionSettings, Settings,
    VaultCallerSettings, VaultEntry,
};
use notehost_vault::{Rules as _, Tier};
use proptest::prelude::*;

use super::Permissions;

const CALLER: &str = "ana";
const VAULT: &str = "main";
/// The notebooks that tables list.
const NOTEBOOKS: [&str; 4] = ["Work", "Diary", "Inbox", "."];
/// What rules are for.
const GLOBS: [&str; 5] = ["Work/**", "**/Private", "Inbox", "*.md", "Diary/2026/*.md"];
/// Paths in listed notebooks, and in others.
const PATHS: [&str; 8] = [
    "Work/Plan.md",
    "Work/Private/a.md",
    "Diary/2026/a.md",
    "Inbox/a.md",
    "Inbox/Private/a.md",
    "Other/a.md",
    "Other/Private",
    "Root.md",
];

fn tier() -> impl Strategy<Value = Tier> {
    prop::sample::select(vec![Tier::None, Tier::Read, Tier::Write, Tier::Delete])
}

fn rules() -> impl Strategy<Value = Vec<PermissionRule>> {
    let rule = (prop::sample::select(&GLOBS[..]), tier());
    let rule = rule.prop_map(|(glob, tier)| PermissionRule {
        glob: glob.to_owned(),
        tier,
    });
    prop::collection::vec(rule, 0..3)
}

fn table() -> impl Strategy<Value = CallerPermissions> {
    let notebook = prop::sample::select(&NOTEBOOKS[..]).prop_map(str::to_owned);
    let notebooks = prop::collection::btree_map(notebook, tier(), 0..4);
    (prop::option::of(tier()), notebooks, rules()).prop_map(|(default, notebooks, rules)| {
        CallerPermissions {
            default,
            notebooks,
            rules,
        }
    })
}

/// The tables of a config, from the general one to the most specific one, and that of a token.
#[derive(Debug, Clone)]
struct Tables {
    general: CallerPermissions,
    vault: CallerPermissions,
    token: CallerPermissions,
    caller: CallerPermissions,
    caller_in_vault: CallerPermissions,
}

fn tables() -> impl Strategy<Value = Tables> {
    (table(), table(), table(), table(), table()).prop_map(
        |(general, vault, token, caller, caller_in_vault)| Tables {
            general,
            vault,
            token,
            caller,
            caller_in_vault,
        },
    )
}

impl Tables {
    fn permissions_in(&self, vault: &str) -> Permissions {
        let entry = |id: &str| VaultEntry {
            id: id.to_owned(),
            ..VaultEntry::default()
        };
        let mut settings = Settings {
            vaults: vec![entry("other"), entry(VAULT)],
            permissions: PermissionSettings {
                default: self.general.default.unwrap_or(Tier::Read),
                notebooks: self.general.notebooks.clone(),
                rules: self.general.rules.clone(),
            },
            ..Settings::default()
        };
        let own = CallerSettings {
            permissions: self.caller.clone(),
            ..CallerSettings::default()
        };
        settings.callers.insert(CALLER.to_owned(), own);
        settings.vaults[1].permissions = self.vault.clone();
        let own = VaultCallerSettings {
            permissions: self.caller_in_vault.clone(),
        };
        settings.vaults[1].callers.insert(CALLER.to_owned(), own);
        Permissions::of_caller(&settings, vault, CALLER, Some(&self.token)).expect("permissions")
    }

    fn table(&mut self, which: usize) -> &mut CallerPermissions {
        match which {
            0 => &mut self.general,
            1 => &mut self.vault,
            2 => &mut self.token,
            3 => &mut self.caller,
            _ => &mut self.caller_in_vault,
        }
    }
}

/// Whether a table lists the notebook of a path.
fn lists(table: &CallerPermissions, path: &str) -> bool {
    let notebook = path.split_once('/').map_or(".", |(notebook, _)| notebook);
    table.notebooks.contains_key(notebook)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// More rules, in whichever table, never allow more.
    #[test]
    fn rules_only_narrow(tables in tables(), which in 0..5_usize, added in rules()) {
        let mut narrowed = tables.clone();
        narrowed.table(which).rules.extend(added);
        let (before, after) = (tables.permissions_in(VAULT), narrowed.permissions_in(VAULT));
        for path in PATHS {
            prop_assert!(after.tier(path) <= before.tier(path), "{path}");
        }
    }

    /// What a table does not list, its `default` closes, whatever the tables before it allow.
    #[test]
    fn a_default_closes_what_its_table_and_later_ones_do_not_open(tables in tables()) {
        let found = tables.permissions_in(VAULT);
        let chain = [&tables.vault, &tables.token, &tables.caller, &tables.caller_in_vault];
        for path in PATHS.into_iter().filter(|path| *path != "Other/Private") {
            let opens = |table: &&CallerPermissions| table.default.is_some() || lists(table, path);
            let last = chain.into_iter().rev().find(opens);
            let closed = last.filter(|table| !lists(table, path)).and_then(|table| table.default);
            if let Some(default) = closed {
                prop_assert!(found.tier(path) <= default, "{path}");
            }
        }
    }

    /// In another vault neither the vault's table nor that of its callers counts.
    #[test]
    fn tables_of_a_vault_have_no_effect_elsewhere(tables in tables()) {
        let plain = Tables {
            vault: CallerPermissions::default(),
            caller_in_vault: CallerPermissions::default(),
            ..tables.clone()
        };
        let (other, expected) = (tables.permissions_in("other"), plain.permissions_in("other"));
        for path in PATHS {
            prop_assert_eq!(other.tier(path), expected.tier(path), "{}", path);
        }
    }
}
