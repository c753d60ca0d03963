//! The content of the vault: files, folders, trash and the component's store. Independent of permissions.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::paths;
use crate::Trashed;

/// A file. Its identity is kept through renames and the trash, so that a commit can detect them.
#[derive(Debug, Clone)]
pub(super) struct File {
    pub(super) identity: u64,
    pub(super) bytes: Rc<[u8]>,
    pub(super) modified: u64,
}

impl File {
    pub(super) fn etag(&self) -> String {
        etag(&self.bytes)
    }
}

#[derive(Debug, Clone)]
pub(super) struct TrashedFile {
    pub(super) trashed: Trashed,
    pub(super) file: File,
}

/// Cheap to clone: the bytes of files are shared.
#[derive(Debug, Clone, Default)]
pub(super) struct Tree {
    pub(super) files: BTreeMap<String, File>,
    // Invariant: contains all parents of every file and folder.
    pub(super) folders: BTreeSet<String>,
    /// In order, latest last.
    pub(super) trash: Vec<TrashedFile>,
    pub(super) store: BTreeMap<String, Vec<u8>>,
    /// The last number that was assigned.
    counted: u64,
}

impl Tree {
    /// Assigns the next unique number.
    pub(super) fn count(&mut self) -> u64 {
        self.counted += 1;
        self.counted
    }

    /// Creates or replaces a file with these bytes.
    pub(super) fn put(&mut self, path: &str, bytes: &[u8], modified: u64) {
        let identity = match self.files.get(path) {
            Some(file) => file.identity,
            None => self.count(),
        };
        let bytes = Rc::from(bytes);
        self.put_file(
            path,
            File {
                identity,
                bytes,
                modified,
            },
        );
    }

    pub(super) fn put_file(&mut self, path: &str, file: File) {
        self.put_folders_above(path);
        self.files.insert(path.to_owned(), file);
    }

    pub(super) fn put_folder(&mut self, path: &str) {
        self.put_folders_above(path);
        self.folders.insert(path.to_owned());
    }

    fn put_folders_above(&mut self, path: &str) {
        self.folders
            .extend(paths::folders_above(path).map(str::to_owned));
    }

    /// Whether a folder is empty.
    pub(super) fn is_empty(&self, folder: &str) -> bool {
        let below = |path: &String| paths::is_below(path, folder);
        !self.files.keys().any(below) && !self.folders.iter().any(below)
    }
}

/// The etag of a content, computed as by the host.
pub(super) fn etag(bytes: &[u8]) -> String {
    let mut digits = blake3::hash(bytes).to_hex().to_string();
    digits.truncate(24);
    digits
}
