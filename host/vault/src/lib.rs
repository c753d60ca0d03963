//! The vault: one folder of notes, with transactions.
//!
//! Work on a [`Vault`] happens in a [`Transaction`]: it reads a consistent view and stages its writes, and
//! [`Transaction::commit`] applies all of them or none. Only this crate accesses files of a vault ([`disk`]), keeps the
//! trash and the history, and resolves paths ([`lookup`]).
//!
//! Callers and their permissions are not known here: they are behind the trait [`Rules`].
//!
//! ```text
//! path ─ lookup ─ transaction ─┬─ read, view, trash, history_operations   reads
//!                              └─ stage ─ plan ─ commit                   writes
//!                                            └─ steps ─ recovery
//! ```

mod access;
mod change_details;
mod changes;
mod chunks;
mod commit;
mod contents;
mod diff;
mod disk;
mod error;
mod fail;
pub mod glob;
mod history;
mod history_operations;
mod identifier;
mod inspect;
mod journal;
mod leftovers;
mod listing;
mod lock;
mod lookup;
mod path;
mod pending_changes;
mod plan;
mod prepare;
mod private_folder;
mod read;
mod recovery;
mod retention;
mod revocation;
mod scan;
mod stage;
mod steps;
mod store;
mod suggestions;
mod sync;
mod text_search;
mod transaction;
mod trash;
mod types;
mod validate;
mod view;

#[cfg(test)]
mod tests;

use notehost_sdk::Code;
use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

pub use access::{Access, Effect, GrantUsage, Limits, Rules, Tier, UnknownTier};
pub use diff::SUMMARISED;
pub use diff::{DiffHunk, FileDiff, LineDiff, file_diff, unified_diff};
pub use error::{CommitError, VaultError};
pub use fail::{FAIL_POINTS, REPLY_POINTS};
pub use fail::{contained, reply_point};
pub use inspect::{Findings, LARGE_NOTE, holder, inspect};
#[cfg(fuzzing)]
pub use journal::fuzz_journal;
pub use path::PRIVATE;
pub use path::{folded as fold_path, is_open as is_open_path};
pub use scan::{FileContent, FileStat, Stamp, etag_of};
pub use transaction::{RecomputeAnswer, Transaction};
pub use types::{
    Blob, Change, ChangeKind, CommitNote, Committed, Entry, FileChange, Kind, Page, StagedChange,
    Trashed,
};

use disk::{Digest, Folder};
use history::History;
use listing::Listings;
use lock::WriterLock;

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

/// A folder of notes that this process alone writes for callers, while people and their programs may edit it at
/// any moment.
pub struct Vault {
    id: String,
    folder_name: String,
    /// Where absolute links inside the vault begin.
    canonical: PathBuf,
    root: Arc<Folder>,
    /// The folder for what this machine keeps of it.
    state: PathBuf,
    /// Whether the disk takes names for the same that differ in case or normal form.
    is_forgiving: bool,
    settings: VaultSettings,
    history: History,
    listings: Listings,
    commits: Mutex<()>,
    /// Journals of commits that landed and could not be removed then.
    stale_journals: Mutex<Vec<String>>,
    /// A commit is half done: only the next start can settle it.
    needs_recovery: AtomicBool,
    /// Counts commits; odd while one is being applied, so that a reader knows that its view may be torn.
    sequence: AtomicU64,
    listeners: RwLock<Vec<Listener>>,
    /// `None` in a vault that was opened for looking only.
    lock: Option<WriterLock>,
}

impl Vault {
    /// Opens a folder as a vault: takes the writer's lock, finishes or takes back what a crash left.
    ///
    /// Machine-local state (history, the lock) lives below `state`, apart for each vault.
    pub fn open(
        id: &str,
        folder: &Path,
        state: &Path,
        settings: VaultSettings,
    ) -> Result<Vault, VaultError> {
        let vault = Vault::opened(id, folder, state, settings, true)?;
        vault.recover()?;
        Ok(vault)
    }

    /// Opens a vault for looking only, also while another process serves it: no lock, no recovery, no commits.
    pub fn open_read_only(id: &str, folder: &Path, state: &Path) -> Result<Vault, VaultError> {
        Vault::opened(id, folder, state, VaultSettings::default(), false)
    }

    fn opened(
        id: &str,
        folder: &Path,
        state: &Path,
        settings: VaultSettings,
        is_writer: bool,
    ) -> Result<Vault, VaultError> {
        let canonical = fs::canonicalize(folder).map_err(|error| {
            VaultError::new(
                Code::Unavailable,
                format!("cannot open the folder of vault `{id}`: {}", error.kind()),
            )
        })?;
        let root = Folder::open_vault(&canonical).map_err(|error| {
            VaultError::new(
                Code::Unavailable,
                format!("cannot open the folder of vault `{id}`: {}", error.kind()),
            )
        })?;
        let state = state.join(state_key(id, &canonical));
        let is_new = !state.exists();
        notehost_platform::private::create_folder(&state)
            .and_then(|()| match is_new {
                true => sync::sync_parent(&state),
                false => Ok(()),
            })
            .map_err(|error| VaultError::internal("create the state folder", error.kind()))?;
        let root = Arc::new(root);
        let lock = is_writer
            .then(|| WriterLock::take(&state, &root))
            .transpose()?;
        let history = History::open(&state.join("history.db"))?;
        Ok(Vault {
            id: id.to_owned(),
            folder_name: canonical
                .file_name()
                .map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
            is_forgiving: disk::is_forgiving(&root),
            canonical,
            root,
            state,
            settings,
            history,
            listings: Listings::default(),
            commits: Mutex::new(()),
            stale_journals: Mutex::default(),
            needs_recovery: AtomicBool::new(false),
            sequence: AtomicU64::new(0),
            listeners: RwLock::default(),
            lock,
        })
    }

    /// The name that the config gives this vault.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Names this folder on this machine: two folders that share an id differ in it.
    pub fn identity(&self) -> String {
        state_key(&self.id, &self.canonical)
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
        let change = self.history.change_with_key(key)?;
        Ok(change.map(|change| Committed {
            is_landed: true,
            files: change
                .files
                .iter()
                .map(history_operations::file_change)
                .collect(),
            change: Some(change.id).filter(|_| !change.files.is_empty()),
        }))
    }

    /// Calls a function after each commit that changed files, in the order of commits. The next commit waits for
    /// it, so it should hand over and return; it must not commit itself.
    pub fn on_commit(&self, listener: Box<dyn Fn(&Committed) + Send + Sync>) {
        self.listeners
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .push(listener);
    }

    fn notify_listeners(&self, committed: &Committed) {
        for listener in self
            .listeners
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
        {
            // One that panics keeps nobody else from hearing of it, and does not undo what landed.
            contained(|| listener(committed));
        }
    }

    /// Holds off all other commits. A commit that panicked left either nothing or a journal, so going on is safe.
    fn commit_lock(&self) -> MutexGuard<'_, ()> {
        self.commits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stale_journals(&self) -> MutexGuard<'_, Vec<String>> {
        self.stale_journals
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn sequence(&self) -> u64 {
        self.sequence.load(Ordering::SeqCst)
    }
}

impl Drop for Vault {
    fn drop(&mut self) {
        if self.lock.is_some() {
            self.tidy_private_folders();
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
