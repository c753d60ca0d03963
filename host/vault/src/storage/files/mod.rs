//! A vault as a folder of files: the only code that accesses the disk.
//!
//! Files are opened relative to the vault's folder ([`disk`]); commits are applied with a journal ([`commit`]); what they
//! replaced is kept in SQLite, outside the vault ([`history`]).

pub(crate) mod commit;
pub(crate) mod disk;
mod errors;
pub(crate) mod history;
pub(crate) mod inspect;
pub(crate) mod listing;
pub(crate) mod lock;
pub(crate) mod private_folder;
pub(crate) mod scan;
pub(crate) mod sync;
pub(crate) mod trash;
pub(crate) mod watch;

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use notehost_sdk::Code;
use parking_lot::Mutex;

use crate::{
    VaultSettings,
    error::VaultError,
    identifier::is_id,
    path::split,
    storage::{
        ChangeFeed, ChangeListener, FileStat, LinkTarget, Position, ReadOutcome, Storage,
        StorageCommit,
        files::{
            disk::{Folder, is_absent},
            history::History,
            listing::Listings,
            lock::WriterLock,
        },
        listing::Listing,
        records::{ChangeRow, NameEdit, NameRow, TrashNote},
        stamp::{Digest, Node, Status},
    },
};

/// The versions that a caller names take at most this part of the history's bytes.
const MAX_NAMED_SHARE: u64 = 8;

/// A folder of notes that this process alone writes for callers, while people and their programs may edit it at any
/// moment.
pub(crate) struct FileStorage {
    /// The id of the vault, for the log.
    pub(crate) id: String,
    /// Where absolute links inside the vault begin.
    pub(crate) canonical: PathBuf,
    pub(crate) root: Arc<Folder>,
    /// The folder for what this machine keeps of the vault.
    pub(crate) state: PathBuf,
    folds_names: bool,
    pub(crate) settings: VaultSettings,
    pub(crate) history: History,
    pub(crate) listings: Listings,
    /// Journals of commits that landed and could not be removed then.
    pub(crate) stale_journals: Mutex<Vec<String>>,
    /// A commit is half done: only the next start can settle it.
    pub(crate) needs_recovery: AtomicBool,
    /// Counts commits; odd while one is being applied.
    pub(crate) sequence: AtomicU64,
    /// `None` in a vault that was opened read-only.
    pub(crate) lock: Option<WriterLock>,
}

impl FileStorage {
    /// Opens a folder. A writer takes the lock, and completes or rolls back what a crash interrupted.
    pub(crate) fn open(
        id: &str,
        canonical: &Path,
        state: PathBuf,
        settings: VaultSettings,
        is_writer: bool,
    ) -> Result<FileStorage, VaultError> {
        let root = Arc::new(Folder::open_vault(canonical).map_err(|error| not_opened(id, &error))?);
        let is_new = !state.exists();
        notehost_platform::private::create_folder(&state)
            .and_then(|()| match is_new {
                true => sync::sync_parent(&state),
                false => Ok(()),
            })
            .map_err(|error| VaultError::internal("create the state folder", error.kind()))?;
        let lock = is_writer
            .then(|| WriterLock::take(&state, &root))
            .transpose()?;
        let history = History::open(&state.join("history.db"))?;
        let storage = FileStorage {
            id: id.to_owned(),
            canonical: canonical.to_owned(),
            folds_names: disk::folds_names(&root),
            root,
            state,
            settings,
            history,
            listings: Listings::default(),
            stale_journals: Mutex::default(),
            needs_recovery: AtomicBool::new(false),
            sequence: AtomicU64::new(0),
            lock,
        };
        if is_writer {
            storage.recover()?;
        }
        Ok(storage)
    }
}

/// The absolute path of a vault's folder, without links.
pub(crate) fn canonical(id: &str, folder: &Path) -> Result<PathBuf, VaultError> {
    fs::canonicalize(folder).map_err(|error| not_opened(id, &error))
}

fn not_opened(id: &str, error: &io::Error) -> VaultError {
    VaultError::new(
        Code::Unavailable,
        format!("cannot open the folder of vault `{id}`: {}", error.kind()),
    )
}

impl Drop for FileStorage {
    fn drop(&mut self) {
        if self.lock.is_some() {
            self.tidy_private_folders();
        }
    }
}

impl Storage for FileStorage {
    fn folds_names(&self) -> bool {
        self.folds_names
    }

    fn stat(&self, path: &str) -> Result<Option<Status>, VaultError> {
        self.root
            .status_below(path)
            .map_err(|error| VaultError::io(path, &error))
    }

    fn stat_many(&self, paths: &[&str]) -> Vec<Option<Status>> {
        let mut open: Option<(&str, Option<Folder>)> = None;
        let mut stats = Vec::with_capacity(paths.len());
        for path in paths {
            let (parent, name) = split(path);
            if open.as_ref().is_none_or(|(known, _)| *known != parent) {
                open = Some((parent, self.root.descend(parent).ok()));
            }
            let folder = open.as_ref().and_then(|(_, folder)| folder.as_ref());
            stats.push(folder.and_then(|folder| folder.status(name).ok().flatten()));
        }
        stats
    }

    fn read(
        &self,
        path: &str,
        max_bytes: u64,
        bytes: &mut Vec<u8>,
    ) -> Result<ReadOutcome, VaultError> {
        let mut read = || -> io::Result<ReadOutcome> {
            let Some((mut file, status)) = self.root.open_below(path)? else {
                return Ok(ReadOutcome::Absent);
            };
            Ok(
                match disk::read_into(&mut file, status.stamp.size, max_bytes, bytes)? {
                    true => ReadOutcome::Content(status),
                    false => ReadOutcome::TooLarge(status),
                },
            )
        };
        read().map_err(|error| VaultError::io(path, &error))
    }

    fn digest(&self, path: &str) -> Result<Option<(Digest, Status)>, VaultError> {
        self.root
            .digest_below(path)
            .map_err(|error| VaultError::io(path, &error))
    }

    fn link_target(&self, path: &str) -> Option<LinkTarget> {
        let (folder, name) = self.root.place(path).ok()?;
        let target = folder.link(name).ok()??;
        if !target.starts_with('/') {
            return Some(LinkTarget::FromFolder(target));
        }
        let inside = Path::new(&target).strip_prefix(&self.canonical).ok()?;
        inside
            .to_str()
            .map(|inside| LinkTarget::FromRoot(inside.to_owned()))
    }

    fn list(&self, path: &str) -> Result<Option<Arc<Listing>>, VaultError> {
        let listed = match self.root.descend(path) {
            Ok(folder) => self.listings.of(path, &folder).map(Some),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(error),
        };
        listed.map_err(|error| VaultError::io(path, &error))
    }

    fn twins(&self, path: &str, name: &str) -> Result<Vec<(String, Node)>, VaultError> {
        let twins = match self.root.descend(path) {
            Ok(folder) => self.listings.twins(path, &folder, name),
            Err(error) if is_absent(&error) => Ok(Vec::new()),
            Err(error) => Err(error),
        };
        twins.map_err(|error| VaultError::io(path, &error))
    }

    fn known_len(&self, folder: &str) -> Option<usize> {
        self.listings.len_of(folder)
    }

    fn walk(&self, keep_on: &mut dyn FnMut() -> bool) -> Result<Option<Vec<FileStat>>, VaultError> {
        self.scan_files(keep_on)
            .map_err(|error| VaultError::io("", &error))
    }

    fn watch(&self, listener: ChangeListener) -> Option<Box<dyn ChangeFeed>> {
        watch::watch(&self.canonical, listener)
    }

    fn placeholders(&self) -> Vec<String> {
        self.cloud_placeholders()
    }

    fn position(&self) -> Position {
        Position(self.sequence.load(Ordering::SeqCst))
    }

    fn begin_commit(&self) -> Result<Box<dyn StorageCommit + '_>, VaultError> {
        Ok(Box::new(self.begin_file_commit()?))
    }

    fn change(&self, id: &str) -> Result<Option<ChangeRow>, VaultError> {
        self.history.change(id)
    }

    fn change_with_key(&self, key: &str) -> Result<Option<ChangeRow>, VaultError> {
        self.history.change_with_key(key)
    }

    fn changes_before(&self, number: i64, limit: usize) -> Result<Vec<ChangeRow>, VaultError> {
        self.history
            .before(number, i64::try_from(limit).unwrap_or(i64::MAX))
    }

    fn change_touching(&self, path: &str, number: i64) -> Result<Option<ChangeRow>, VaultError> {
        self.history.touching(path, number)
    }

    fn names(&self, path: &str) -> Result<Vec<NameRow>, VaultError> {
        self.history.names(path)
    }

    fn set_name(&self, caller: &str, edit: &NameEdit) -> Result<(), VaultError> {
        let most = self.settings.history_max_bytes / MAX_NAMED_SHARE;
        self.history.set_name(caller, edit, most)?;
        let synced = self.history.sync();
        synced.map_err(|error| VaultError::internal("keep the name", error.kind()))?;
        self.prune();
        Ok(())
    }

    fn kept_content(&self, digest: &Digest) -> Result<Option<Vec<u8>>, VaultError> {
        self.history.bytes(digest)
    }

    fn trash(&self) -> Result<Vec<(String, TrashNote)>, VaultError> {
        let entries = match self.root.descend(&trash::folder()) {
            Ok(folder) => trash::entries(&folder),
            Err(error) if is_absent(&error) => Ok(Vec::new()),
            Err(error) => Err(error),
        };
        entries.map_err(|error| VaultError::internal("read the trash", error.kind()))
    }

    fn trash_entry(&self, id: &str) -> Result<Option<TrashNote>, VaultError> {
        let Some(folder) = is_id(id)
            .then(|| self.root.descend(&trash::folder()).ok())
            .flatten()
        else {
            return Ok(None);
        };
        let is_file = matches!(folder.status(id), Ok(Some(status)) if status.node == Node::File);
        Ok(is_file.then(|| TrashNote::read(&folder, id)).flatten())
    }
}
