//! The vault: one folder of notes, with transactions.
//!
//! Work on a [`Vault`] happens in a [`Transaction`]: it reads a consistent view and stages its writes, and
//! [`Transaction::commit`] applies all of them or none. Callers and their permissions are not known here: they are behind
//! the trait [`Rules`].
//!
//! ```text
//! access, path, glob, diff, types, error     what all parts share
//! transaction/   lookup, read, view          reads
//!                stage, trash, store         staged writes
//!                validate, revocation        checks before a commit
//!                changes, history_operations, versions
//! storage/       the trait that a place for notes implements
//!                files/                      folders, locks, listings: the only code that touches the disk
//!                files/commit/               plan, prepare, steps, journal, recovery
//!                files/history/              what each commit replaced, in SQLite
//! host_view      what the host itself sees: walks, stamps, contents, edits by other programs
//! ```

mod access;
mod diff;
mod error;
mod fail;
pub mod glob;
mod host_view;
mod identifier;
mod path;
mod storage;
mod transaction;
mod types;

#[cfg(test)]
mod tests;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use parking_lot::{Mutex, RwLock};

pub use access::{Access, Effect, GrantUsage, Limits, Rules, Tier, UnknownTier};
pub use diff::SUMMARISED;
pub use diff::{DiffHunk, FileDiff, LineDiff, file_diff, unified_diff};
pub use error::{CommitError, VaultError};
pub use fail::{FAIL_POINTS, REPLY_POINTS};
pub use fail::{contained, reply_point};
pub use host_view::{FileContent, etag_of};
pub use path::PRIVATE;
pub use path::{folded as fold_path, is_open as is_open_path};
#[cfg(fuzzing)]
pub use storage::files::commit::journal::fuzz_journal;
pub use storage::files::inspect::{Findings, LARGE_NOTE, holder, inspect};
pub use storage::stamp::Stamp;
pub use storage::{ChangeFeed, ChangeListener, ExternalChange, FileStat};
pub use transaction::{DataChanges, RecomputeAnswer, Transaction};
pub use types::{
    Blob, Change, ChangeKind, CommitNote, Committed, Entry, FileChange, Kind, Page, RunSelection,
    RunUndo, StagedChange, Trashed, UndoConflict, Version, is_by,
};

use storage::{
    Storage,
    files::{self, FileStorage},
    records::FileRow,
    stamp::Digest,
};

/// How long a vault remembers.
#[derive(Clone, Copy, Debug)]
pub struct VaultSettings {
    /// Changes older than this can no longer be undone.
    pub history_max_age: Duration,
    /// How much the changes of all callers may take. Over it, callers with more than an equal share of it lose their oldest
    /// changes; what some do not use, others may.
    pub history_max_bytes: u64,
    /// What was removed longer ago than this leaves the trash for good; `None` keeps it.
    pub trash_max_age: Option<Duration>,
}

impl Default for VaultSettings {
    fn default() -> Self {
        VaultSettings {
            history_max_age: Duration::from_secs(90 * 24 * 60 * 60),
            history_max_bytes: 1 << 30,
            trash_max_age: None,
        }
    }
}

type Listener = Box<dyn Fn(&Committed) + Send + Sync>;

/// Notes with transactions, history and trash.
pub struct Vault {
    id: String,
    identity: String,
    folder_name: String,
    /// The folder for what this machine keeps of it.
    state: PathBuf,
    storage: Arc<dyn Storage>,
    /// Held during a commit, and by listeners until they return.
    commits: Mutex<()>,
    listeners: RwLock<Vec<Listener>>,
    #[cfg(test)]
    files: Option<Arc<FileStorage>>,
}

impl Vault {
    /// Opens a folder as a vault: takes the writer's lock, and completes or rolls back what a crash interrupted.
    ///
    /// Machine-local state (history, the lock) is kept below `state`, apart for each vault.
    pub fn open(
        id: &str,
        folder: &Path,
        state: &Path,
        settings: VaultSettings,
    ) -> Result<Vault, VaultError> {
        Vault::open_folder(id, folder, state, settings, true)
    }

    /// Opens a vault without write access, also while another process serves it: no lock, no recovery, no commits.
    pub fn open_read_only(id: &str, folder: &Path, state: &Path) -> Result<Vault, VaultError> {
        Vault::open_folder(id, folder, state, VaultSettings::default(), false)
    }

    fn open_folder(
        id: &str,
        folder: &Path,
        state: &Path,
        settings: VaultSettings,
        is_writer: bool,
    ) -> Result<Vault, VaultError> {
        let canonical = files::canonical(id, folder)?;
        let identity = state_key(id, &canonical);
        let state = state.join(&identity);
        let storage = FileStorage::open(id, &canonical, state.clone(), settings, is_writer)?;
        let storage = Arc::new(storage);
        let folder_name = canonical.file_name().map(|name| name.to_string_lossy());
        Ok(Vault {
            id: id.to_owned(),
            identity,
            folder_name: folder_name.unwrap_or_default().into_owned(),
            state,
            #[cfg(test)]
            files: Some(Arc::clone(&storage)),
            storage,
            commits: Mutex::new(()),
            listeners: RwLock::default(),
        })
    }

    /// A vault in memory, to run the tests of transactions on a second storage.
    #[cfg(test)]
    fn in_memory(id: &str, storage: Arc<storage::memory::MemoryStorage>) -> Vault {
        Vault {
            id: id.to_owned(),
            identity: id.to_owned(),
            folder_name: id.to_owned(),
            state: PathBuf::new(),
            storage,
            commits: Mutex::new(()),
            listeners: RwLock::default(),
            files: None,
        }
    }

    #[cfg(test)]
    fn files(&self) -> &Arc<FileStorage> {
        self.files.as_ref().expect("a vault of files")
    }

    /// The name that the config gives this vault.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Names this folder on this machine: two folders that share an id differ in it.
    pub fn identity(&self) -> String {
        self.identity.clone()
    }

    /// The name of its folder, without the path.
    pub fn folder_name(&self) -> &str {
        &self.folder_name
    }

    /// Begins a transaction.
    pub fn begin(self: &Arc<Self>, access: Access) -> Transaction {
        Transaction::new(Arc::clone(self), access)
    }

    /// What a call with this key changed, if it landed.
    pub fn landed(&self, key: &str) -> Result<Option<Committed>, VaultError> {
        let change = self.storage.change_with_key(key)?;
        Ok(change.map(|change| Committed {
            is_landed: true,
            files: change.files.iter().map(FileRow::to_file_change).collect(),
            change: (!change.is_empty()).then_some(change.id),
        }))
    }

    /// Calls a function after each commit that changed files, in the order of commits. The next commit waits for
    /// it, so it should hand over and return; it must not commit itself.
    pub fn on_commit(&self, listener: Box<dyn Fn(&Committed) + Send + Sync>) {
        self.listeners.write().push(listener);
    }

    fn notify_listeners(&self, committed: &Committed) {
        for listener in self.listeners.read().iter() {
            // A panic in one affects neither the others nor the commit.
            contained(|| listener(committed));
        }
    }
}

impl std::fmt::Debug for Vault {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Vault")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// The folder name of a vault's state: readable, and different for two folders that share an id.
fn state_key(id: &str, canonical: &Path) -> String {
    let readable: String = id
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        .take(40)
        .collect();
    let path = canonical.as_os_str().as_encoded_bytes();
    let digest = Digest::of(&[id.as_bytes(), b"\0", path].concat()).etag();
    format!("{readable}-{}", &digest[..16])
}
