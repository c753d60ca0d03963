//! The input of a commit: what a transaction read, what it staged, and the net effect on each file.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::SystemTime,
};

use crate::{
    path::is_below,
    storage::{
        records::{ChangeRow, FileRow, FolderRow},
        stamp::{Digest, Node, Stamp, Status},
    },
    types::{ChangeKind, CommitNote, FileChange},
};

/// The state of a file at its first access in a transaction.
#[derive(Clone, Debug)]
pub(crate) enum ReadRecord {
    /// It did not exist.
    Absent,
    /// An entry of this kind existed; nothing else of it was read.
    Present(Node),
    /// A file whose content was read or digested.
    File(ReadFile),
}

/// A file that was read.
#[derive(Clone, Debug)]
pub(crate) struct ReadFile {
    pub(crate) digest: Digest,
    pub(crate) status: Status,
    pub(crate) at: SystemTime,
    /// Kept so that repeated reads agree, as long as there is room.
    pub(crate) content: Option<Arc<[u8]>>,
}

impl ReadFile {
    /// Whether the stamp alone proves that the file is still the same.
    pub(crate) fn is_proved_by(&self, now: &Stamp) -> bool {
        self.status.stamp == *now && !now.is_racy(self.at)
    }
}

/// A file as it would be after the commit.
#[derive(Clone, Debug)]
pub(crate) struct StagedFile {
    /// Where the same file is stored now; `None` for a new one.
    pub(crate) origin: Option<String>,
    /// Its new bytes; `None` leaves those of its origin.
    pub(crate) bytes: Option<Arc<[u8]>>,
    /// Its new mode; `None` leaves that of its origin.
    pub(crate) mode: Option<u32>,
}

/// What a transaction reverts.
#[derive(Clone, Debug)]
pub(crate) struct UndoTarget {
    /// A single change.
    pub(crate) change: Option<String>,
    /// Whether all of it is reverted, and not only what the caller may see.
    pub(crate) is_whole: bool,
    /// The changes of a run that are reverted as a whole.
    pub(crate) run: Vec<String>,
}

/// The net effect on one file.
pub(crate) struct NetChange {
    pub(crate) path: String,
    pub(crate) kind: ChangeKind,
    pub(crate) from: Option<String>,
    pub(crate) before: Option<ReadFile>,
    pub(crate) after: Option<Digest>,
    /// New bytes, if it gets any.
    pub(crate) bytes: Option<Arc<[u8]>>,
    pub(crate) mode_after: Option<u32>,
    /// The id in the trash of what is removed.
    pub(crate) trash: Option<String>,
}

impl NetChange {
    /// Where its bytes are now.
    pub(crate) fn origin(&self) -> &str {
        self.from.as_deref().unwrap_or(&self.path)
    }

    pub(crate) fn to_file_change(&self) -> FileChange {
        self.to_row().to_file_change()
    }

    pub(crate) fn to_row(&self) -> FileRow {
        FileRow {
            path: self.path.clone(),
            from: self.from.clone(),
            kind: self.kind,
            before: self.before.as_ref().map(|before| before.digest),
            after: self.after,
            mode_before: self.before.as_ref().map(|before| before.status.mode),
            mode_after: self.mode_after,
            trash: self.trash.clone(),
        }
    }
}

/// Everything that a storage needs to commit a transaction. Its read set is validated.
pub(crate) struct ChangeSet<'a> {
    /// The state of each file that was read, by canonical path.
    pub(crate) read: &'a BTreeMap<String, ReadRecord>,
    /// Files as they will be; `None` where a stored file will be gone.
    pub(crate) staged: &'a BTreeMap<String, Option<StagedFile>>,
    /// Stored files that go to the trash, with their ids there.
    pub(crate) trashed: &'a BTreeMap<String, String>,
    pub(crate) new_folders: &'a BTreeSet<String>,
    /// Folders that were renamed or removed, to be pruned if nothing is left in them.
    pub(crate) gone_folders: &'a BTreeSet<String>,
    pub(crate) undoes: Option<&'a UndoTarget>,
    /// The net effect per note, sorted by path.
    pub(crate) net: Vec<NetChange>,
    /// The net effect on the data of components.
    pub(crate) data: Vec<NetChange>,
    /// The folders that are not there yet, or no longer.
    pub(crate) folders: Vec<FolderRow>,
    /// Larger files are not kept in the history.
    pub(crate) max_file_bytes: u64,
    pub(crate) by: &'a CommitNote,
}

impl ChangeSet<'_> {
    /// What was read of a file.
    pub(in crate::storage) fn read_file(&self, path: &str) -> Option<&ReadFile> {
        match self.read.get(path) {
            Some(ReadRecord::File(file)) => Some(file),
            _ => None,
        }
    }

    /// Whether a file will be somewhere below a folder.
    pub(in crate::storage) fn has_staged_below(&self, folder: &str) -> bool {
        self.staged
            .range(format!("{folder}/")..)
            .take_while(|(path, _)| is_below(path, folder))
            .any(|(_, file)| file.is_some())
    }

    /// Whether the history can take it back.
    pub(crate) fn can_be_undone(&self) -> bool {
        !(self.net.is_empty() && self.data.is_empty() && self.folders.is_empty())
    }

    /// The row of the history for this commit.
    pub(in crate::storage) fn to_row(&self, id: String, time: u64) -> ChangeRow {
        ChangeRow {
            number: 0,
            id,
            time,
            caller: self.by.caller.clone(),
            action: self.by.action.clone(),
            undoes: self.undoes.and_then(|undoes| undoes.change.clone()),
            undoes_whole: self.undoes.is_some_and(|undoes| undoes.is_whole),
            undoes_run: self
                .undoes
                .map_or_else(Vec::new, |undoes| undoes.run.clone()),
            undone: false,
            key: self.by.key.clone(),
            files: self.net.iter().map(NetChange::to_row).collect(),
            data: self.data.iter().map(NetChange::to_row).collect(),
            folders: self.folders.clone(),
        }
    }
}
