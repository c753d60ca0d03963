//! What a storage keeps beside the notes: the rows of the history and the notes of the trash.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    storage::stamp::Digest,
    types::{ChangeKind, FileChange},
};
use notehost_platform::clock::now_millis;

/// One commit.
#[derive(Clone, Debug)]
pub(crate) struct ChangeRow {
    pub(crate) number: i64,
    pub(crate) id: String,
    pub(crate) time: u64,
    pub(crate) caller: String,
    pub(crate) action: String,
    pub(crate) undoes: Option<String>,
    pub(crate) undoes_whole: bool,
    /// The changes that the undo of a run reverted as a whole.
    pub(crate) undoes_run: Vec<String>,
    pub(crate) undone: bool,
    /// Set only when a change is written.
    pub(crate) key: Option<String>,
    pub(crate) files: Vec<FileRow>,
    /// What it did to the data of components.
    pub(crate) data: Vec<FileRow>,
    pub(crate) folders: Vec<FolderRow>,
}

impl ChangeRow {
    /// Whether there is nothing to undo.
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.data.is_empty() && self.folders.is_empty()
    }
}

/// A folder that a commit made or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FolderRow {
    pub(crate) path: String,
    pub(crate) is_new: bool,
}

/// What a commit did to one file.
#[derive(Clone, Debug)]
pub(crate) struct FileRow {
    pub(crate) path: String,
    pub(crate) from: Option<String>,
    pub(crate) kind: ChangeKind,
    pub(crate) before: Option<Digest>,
    pub(crate) after: Option<Digest>,
    pub(crate) mode_before: Option<u32>,
    pub(crate) mode_after: Option<u32>,
    pub(crate) trash: Option<String>,
}

impl FileRow {
    /// What the commit did to the file, unfiltered.
    pub(crate) fn to_file_change(&self) -> FileChange {
        FileChange {
            path: self.path.clone(),
            kind: self.kind,
            from: self.from.clone(),
            before: self.before.map(|digest| digest.etag()),
            after: self.after.map(|digest| digest.etag()),
        }
    }
}

/// The name of a version of a note. It keeps the content of the version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NameRow {
    /// Where the note is now.
    pub(crate) path: String,
    pub(crate) name: String,
    pub(crate) digest: Digest,
    /// The path of the note in that version.
    pub(crate) origin: String,
    /// Every path that it has had since the version got the name.
    pub(crate) trail: Vec<String>,
}

/// A name that a version gets, instead of the one that it has.
#[derive(Clone, Debug)]
pub(crate) struct NameEdit {
    pub(crate) path: String,
    pub(crate) digest: Digest,
    pub(crate) origin: String,
    /// `None` removes the name.
    pub(crate) name: Option<String>,
    pub(crate) bytes: Arc<[u8]>,
}

/// What is noted beside an entry of the trash.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TrashNote {
    /// Where the file was.
    pub(crate) path: String,
    /// Milliseconds since 1970.
    pub(crate) removed: u64,
    pub(crate) size: u64,
    pub(crate) caller: String,
    /// The id of the state folder that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) state: Option<String>,
}

impl TrashNote {
    /// The note of a file that is removed now; its size is filled in when it is moved.
    pub(crate) fn now(path: String, caller: String, state: Option<String>) -> TrashNote {
        TrashNote {
            path,
            removed: now_millis(),
            size: 0,
            caller,
            state,
        }
    }
}
