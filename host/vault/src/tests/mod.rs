//! Tests of the vault. This file is what they share: a folder of notes, rules, short ways to call.

mod concurrency;
mod crash;
mod history_operations;
mod hostile;
mod interruption;
mod leftovers;
mod model;
mod read_operations;
mod retention;
mod revocation;
mod undo_data;
mod undo_run;
mod version_names;
mod versions;
mod write_operations;

use std::{
    cell::Cell, collections::BTreeMap, fs, os::unix::fs::PermissionsExt, path::PathBuf, sync::Arc,
    time::Duration,
};

use super::*;
use crate::storage::memory::MemoryStorage;

/// Rules by prefix of path; the longest that fits counts.
pub(crate) struct Prefixes(pub(crate) Vec<(String, Tier)>);

impl Rules for Prefixes {
    fn tier(&self, path: &str) -> Tier {
        let fits =
            |prefix: &str| prefix.is_empty() || path == prefix || path::is_below(path, prefix);
        self.0
            .iter()
            .filter(|(prefix, _)| fits(prefix))
            .max_by_key(|(prefix, _)| prefix.len())
            .map_or(Tier::None, |(_, tier)| *tier)
    }
}

thread_local! {
    static IS_IN_MEMORY: Cell<bool> = const { Cell::new(false) };
}

/// Runs a test on a vault of files, and again on one in memory.
pub(crate) fn on_each_storage(test: impl Fn()) {
    for is_in_memory in [false, true] {
        IS_IN_MEMORY.set(is_in_memory);
        test();
    }
    IS_IN_MEMORY.set(false);
}

/// A vault in a temporary folder, or in memory during the second run of [`on_each_storage`].
pub(crate) struct Fixture {
    pub(crate) temp: tempfile::TempDir,
    pub(crate) vault: Option<Arc<Vault>>,
    memory: Option<Arc<MemoryStorage>>,
}

impl Fixture {
    pub(crate) fn new(files: &[(&str, &str)]) -> Fixture {
        let temp = tempfile::tempdir().unwrap();
        let memory = IS_IN_MEMORY.get().then(Arc::default);
        let mut fixture = Fixture {
            temp,
            vault: None,
            memory,
        };
        fs::create_dir(fixture.folder()).unwrap();
        for (path, text) in files {
            fixture.put(path, text);
        }
        fixture.open();
        fixture
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.temp.path().join("notes")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.temp.path().join("state")
    }

    pub(crate) fn open(&mut self) {
        self.open_with(VaultSettings::default());
    }

    pub(crate) fn open_with(&mut self, settings: VaultSettings) {
        self.vault = None;
        if let Some(memory) = &self.memory {
            let vault = Vault::in_memory("test", Arc::clone(memory));
            self.vault = Some(Arc::new(vault));
            return;
        }
        self.vault = Some(Arc::new(
            Vault::open("test", &self.folder(), &self.state(), settings).unwrap(),
        ));
    }

    /// As an editor outside would.
    pub(crate) fn put(&self, path: &str, text: &str) {
        if let Some(memory) = &self.memory {
            return memory.put(path, text.as_bytes());
        }
        let path = self.folder().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn text(&self, path: &str) -> Option<String> {
        if self.memory.is_some() {
            let bytes = self.files().remove(path)?.0;
            return Some(String::from_utf8(bytes).unwrap());
        }
        fs::read(self.folder().join(path))
            .ok()
            .map(|bytes| String::from_utf8(bytes).unwrap())
    }

    pub(crate) fn mode(&self, path: &str) -> u32 {
        if self.memory.is_some() {
            return self.files()[path].1;
        }
        fs::metadata(self.folder().join(path))
            .unwrap()
            .permissions()
            .mode()
            & 0o7777
    }

    pub(crate) fn set_mode(&self, path: &str, mode: u32) {
        if let Some(memory) = &self.memory {
            return memory.set_mode(path, mode);
        }
        fs::set_permissions(self.folder().join(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn begin_as(&self, rules: &[(&str, Tier)], effect: Effect) -> Transaction {
        let rules = rules
            .iter()
            .map(|(prefix, tier)| ((*prefix).to_owned(), *tier))
            .collect();
        self.vault.as_ref().unwrap().begin(Access {
            rules: Arc::new(Prefixes(rules)),
            effect,
            component: "test".into(),
            limits: Limits::default(),
        })
    }

    pub(crate) fn begin(&self) -> Transaction {
        self.begin_as(&[("", Tier::Delete)], Effect::Delete)
    }

    /// One transaction that must land.
    pub(crate) fn run<T>(
        &self,
        act: impl FnOnce(&mut Transaction) -> Result<T, VaultError>,
    ) -> (T, Committed) {
        let mut transaction = self.begin();
        let result = act(&mut transaction).unwrap();
        (result, transaction.commit(note()).unwrap())
    }

    /// Every file that is not the vault's own, with bytes and mode.
    pub(crate) fn files(&self) -> BTreeMap<String, (Vec<u8>, u32)> {
        if let Some(memory) = &self.memory {
            return memory.files();
        }
        let mut files = BTreeMap::new();
        let mut ahead = vec![self.folder()];
        while let Some(folder) = ahead.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                let path = entry.path();
                let name = path
                    .strip_prefix(self.folder())
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned();
                if name == path::PRIVATE {
                    continue;
                }
                if entry.file_type().unwrap().is_dir() {
                    ahead.push(path);
                } else if entry.file_type().unwrap().is_file() {
                    files.insert(
                        name,
                        (
                            fs::read(&path).unwrap(),
                            fs::metadata(&path).unwrap().permissions().mode() & 0o7777,
                        ),
                    );
                }
            }
        }
        files
    }

    /// The mode of a file that nobody gave another one.
    pub(crate) fn new_mode(&self) -> u32 {
        if self.memory.is_some() {
            return crate::storage::memory::NEW_MODE;
        }
        let path = self.temp.path().join("plain");
        fs::write(&path, "").unwrap();
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    /// Temporary files and journals that were left behind.
    pub(crate) fn leftovers(&self) -> Vec<PathBuf> {
        let private = self.folder().join(path::PRIVATE);
        let below = |name: &str| {
            fs::read_dir(private.join(name))
                .into_iter()
                .flatten()
                .flatten()
        };
        below("tmp")
            .chain(below("journal"))
            .map(|entry| entry.path())
            .collect()
    }
}

pub(crate) fn note() -> CommitNote {
    CommitNote {
        caller: "ana".into(),
        action: "document.test".into(),
        key: None,
    }
}

pub(crate) fn code<T: std::fmt::Debug>(result: Result<T, VaultError>) -> &'static str {
    result.unwrap_err().code().as_str()
}
