//! The settings that a command line selects, so that completion uses the same vault as the command.
//! Errors in them are not reported here.

use std::cell::OnceCell;
use std::path::PathBuf;
use std::sync::Arc;

use super::Candidate;
use crate::cli::options;
use notehost_config::{Loaded, Overrides};
use notehost_pipeline::registry::Snapshot;
use notehost_policy::Permissions;
use notehost_vault::{Access, Effect, Entry, Kind, Limits, Vault};

/// The maximum number of candidates.
const MAX_CANDIDATES: u32 = 1000;

/// The settings flags of the line.
pub(super) struct CompletionContext {
    loaded: Option<Loaded>,
    domains: OnceCell<Snapshot>,
}

impl CompletionContext {
    /// The settings of a line with these words.
    pub(super) fn of(words: &[String]) -> CompletionContext {
        let flag = |name: &str| {
            let with = format!("{name}=");
            let value = words
                .iter()
                .enumerate()
                .find_map(|(at, word)| match word == name {
                    true => words.get(at + 1).map(String::as_str),
                    false => word.strip_prefix(&with),
                });
            value.map(PathBuf::from)
        };
        let given = Overrides {
            config: flag("--config"),
            state: flag("--state"),
            vault: flag("--vault"),
            ..Overrides::default()
        };
        CompletionContext {
            loaded: options::load(given).ok(),
            domains: OnceCell::new(),
        }
    }

    /// The domains that are known without running a component.
    pub(super) fn domains(&self) -> &Snapshot {
        self.domains.get_or_init(|| match &self.loaded {
            Some(loaded) => Snapshot::known(&loaded.settings, &loaded.running.state),
            None => Snapshot::default(),
        })
    }

    /// The ids of the vaults.
    pub(super) fn vaults(&self) -> Vec<Candidate> {
        let loaded = self.loaded.iter();
        let vaults = loaded.flat_map(|loaded| &loaded.settings.vaults);
        vaults
            .map(|vault| Candidate::new(&vault.id, &vault.path.display().to_string()))
            .collect()
    }

    /// The wanted entries and the folders of the typed folder of the vault. Only entries that a local call
    /// could see.
    pub(super) fn below(&self, typed: &str, is_wanted: impl Fn(&Entry) -> bool) -> Vec<Candidate> {
        self.entries(typed)
            .unwrap_or_default()
            .into_iter()
            .filter(|entry| entry.path.starts_with(typed))
            .filter_map(|entry| match entry.kind {
                Kind::Folder => Some(Candidate::new(format!("{}/", entry.path), "")),
                Kind::File => is_wanted(&entry).then(|| Candidate::new(entry.path, "")),
            })
            .collect()
    }

    /// The notebooks with this prefix.
    pub(super) fn notebooks(&self, typed: &str) -> Vec<Candidate> {
        let entries = self.entries("").unwrap_or_default().into_iter();
        entries
            .filter(|entry| entry.kind == Kind::Folder && entry.path.starts_with(typed))
            .map(|entry| Candidate::new(entry.path, ""))
            .collect()
    }

    fn entries(&self, typed: &str) -> Option<Vec<Entry>> {
        let loaded = self.loaded.as_ref()?;
        let settings = &loaded.settings;
        // A call that names no vault goes to the default one.
        let default = settings.default_vault().and_then(|id| settings.vault(id));
        let vault = default.or(settings.vaults.first())?;
        let rules = Permissions::of_caller(settings, &vault.id, "cli", None).ok()?;
        let vault = Vault::open_read_only(&vault.id, &vault.path, &loaded.running.state).ok()?;
        let mut looking = Arc::new(vault).begin(Access {
            rules: Arc::new(rules),
            effect: Effect::Read,
            component: "cli".into(),
            limits: Limits::default(),
        });
        let folder = typed.rsplit_once('/').map_or("", |(folder, _)| folder);
        let page = looking.list(folder, false, None, MAX_CANDIDATES).ok()?;
        Some(page.entries)
    }
}
