//! The seam below transactions: what a vault needs of the place that keeps its notes.
//!
//! Lookup, visibility, staging, conflict detection and diffs are above it and shared. A storage answers for canonical
//! paths, applies a [`ChangeSet`] completely or not at all, and keeps the history and the trash. [`files`] stores a vault
//! as a folder on disk. Invariant: nothing above this module knows file descriptors, inodes or errors of the system;
//! stamps are compared and never interpreted.
//!
//! Paths below `.notehost` are the vault's own: `trash/ID` is a removed file, `store/…` the data of components.

pub(crate) mod change_set;
pub(crate) mod files;
pub(crate) mod listing;
#[cfg(test)]
pub(crate) mod memory;
pub(crate) mod records;
pub(crate) mod stamp;

use std::sync::Arc;

use change_set::ChangeSet;
use listing::Listing;
use records::{ChangeRow, NameEdit, NameRow, TrashNote};
use stamp::{Digest, Node, Stamp, Status};

use crate::{
    error::{CommitError, VaultError},
    path::PRIVATE,
};

/// A place that keeps the notes of a vault.
///
/// Paths are canonical: without links, spelt as stored. `""` is the root. No method follows a link, and none applies
/// access rules.
pub(crate) trait Storage: Send + Sync {
    /// Whether names that differ only in case or normal form are one name.
    fn folds_names(&self) -> bool;

    /// What is at a path.
    fn stat(&self, path: &str) -> Result<Option<Status>, VaultError>;

    /// The same for many paths; what cannot be read is reported as absent. Paths of one folder should be adjacent.
    fn stat_many(&self, paths: &[&str]) -> Vec<Option<Status>> {
        let status = |path: &&str| self.stat(path).ok().flatten();
        paths.iter().map(status).collect()
    }

    /// Reads a file of at most so many bytes into an empty or reused buffer.
    fn read(
        &self,
        path: &str,
        max_bytes: u64,
        bytes: &mut Vec<u8>,
    ) -> Result<ReadOutcome, VaultError>;

    /// Digests a file without holding it in memory; `None` where there is no file.
    fn digest(&self, path: &str) -> Result<Option<(Digest, Status)>, VaultError>;

    /// Where a link leads; `None` if it leads out of the vault.
    fn link_target(&self, path: &str) -> Option<LinkTarget>;

    /// The names in a folder; `None` if there is no such folder.
    fn list(&self, folder: &str) -> Result<Option<Arc<Listing>>, VaultError>;

    /// The names in a folder that differ from this one at most in case and normal form.
    fn twins(&self, folder: &str, name: &str) -> Result<Vec<(String, Node)>, VaultError> {
        let listing = self.list(folder)?;
        let twins = listing.iter().flat_map(|listing| listing.twins(name));
        Ok(twins.cloned().collect())
    }

    /// How many names a folder has, if that is known without looking.
    fn known_len(&self, folder: &str) -> Option<usize>;

    /// Every file that a component could be shown, links not followed, in no order. `keep_on` is called between folders;
    /// `None` once it returned `false`.
    fn walk(&self, keep_on: &mut dyn FnMut() -> bool) -> Result<Option<Vec<FileStat>>, VaultError>;

    /// Reports edits that other programs make from now on; `None` where that is not supported.
    fn watch(&self, listener: ChangeListener) -> Option<Box<dyn ChangeFeed>>;

    /// Files that are known but not stored on this machine, by the names that they will have.
    fn placeholders(&self) -> Vec<String>;

    /// How far commits have come: equal and settled positions mean that no commit happened in between.
    fn position(&self) -> Position;

    /// Begins a commit: other writers are excluded until the result is dropped.
    fn begin_commit(&self) -> Result<Box<dyn StorageCommit + '_>, VaultError>;

    /// A change of the history.
    fn change(&self, id: &str) -> Result<Option<ChangeRow>, VaultError>;

    /// The change that a call with this key made.
    fn change_with_key(&self, key: &str) -> Result<Option<ChangeRow>, VaultError>;

    /// Changes of files before one, the latest first.
    fn changes_before(&self, number: i64, limit: usize) -> Result<Vec<ChangeRow>, VaultError>;

    /// The latest change before one that touched a path.
    fn change_touching(&self, path: &str, number: i64) -> Result<Option<ChangeRow>, VaultError>;

    /// The names of the versions of a note, the latest last.
    fn names(&self, path: &str) -> Result<Vec<NameRow>, VaultError>;

    /// Names a version. Other commits are excluded meanwhile.
    fn set_name(&self, caller: &str, edit: &NameEdit) -> Result<(), VaultError>;

    /// The content that a digest names, if the history still keeps it.
    fn kept_content(&self, digest: &Digest) -> Result<Option<Vec<u8>>, VaultError>;

    /// The entries of the trash with their ids.
    fn trash(&self) -> Result<Vec<(String, TrashNote)>, VaultError>;

    /// One entry of the trash.
    fn trash_entry(&self, id: &str) -> Result<Option<TrashNote>, VaultError>;
}

/// A commit for which other writers are excluded.
pub(crate) trait StorageCommit {
    /// Applies a change set, completely or not at all. When it returns, the result is durable. Returns the id of the
    /// change; `None` if there was nothing to do.
    fn apply(&self, changes: &ChangeSet<'_>) -> Result<Option<String>, CommitError>;
}

/// The outcome of a read.
#[derive(Debug)]
pub(crate) enum ReadOutcome {
    /// There is no file.
    Absent,
    /// It has more bytes than were allowed; none are returned.
    TooLarge(Status),
    /// The buffer has the content. If its length is not the size in the status, the file changed meanwhile.
    Content(Status),
}

/// Where a link leads.
pub(crate) enum LinkTarget {
    /// Relative to the folder of the link.
    FromFolder(String),
    /// Relative to the root of the vault.
    FromRoot(String),
}

/// A file of a vault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStat {
    /// As it is stored.
    pub path: String,
    /// Changes when the file does.
    pub stamp: Stamp,
}

/// How far the commits of a vault have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position(pub(in crate::storage) u64);

impl Position {
    /// Whether no commit was being applied at this position: what was read there was one state.
    pub(crate) fn is_settled(self) -> bool {
        self.0.is_multiple_of(2)
    }
}

/// An edit by another program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExternalChange {
    /// Something happened to this file.
    File(String),
    /// Something happened somewhere: only a walk can show what.
    Unknown,
    /// The feed needs [`ChangeFeed::maintain`] to be called.
    Maintain,
}

/// Receives edits by other programs. Called on a thread of the storage, so it should hand over and return.
pub type ChangeListener = Box<dyn Fn(ExternalChange) + Send>;

/// Reports edits as long as it is held.
pub trait ChangeFeed: Send {
    /// Whether every edit is reported, also one by another machine.
    fn is_reliable(&self) -> bool;

    /// What the feed requested with [`ExternalChange::Maintain`].
    fn maintain(&mut self);
}

/// The path of an entry of the trash.
pub(crate) fn trash_path(id: &str) -> String {
    format!("{PRIVATE}/trash/{id}")
}

/// The id of a path in the trash.
pub(crate) fn trash_id(path: &str) -> Option<&str> {
    path.strip_prefix(PRIVATE)?.strip_prefix("/trash/")
}
