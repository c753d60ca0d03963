//! The host's own view of a vault, independent of a caller: a scan of all files with their stamps, and their content. The
//! index is built from it; nothing of it reaches a caller before the rules are applied.

use std::time::SystemTime;

use crate::{
    Vault,
    error::VaultError,
    path::is_speakable,
    storage::{
        ChangeFeed, ChangeListener, FileStat, ReadOutcome,
        stamp::{Digest, Node, Stamp},
    },
};

/// A file that was read.
pub struct FileContent {
    /// Its bytes; `None` if it exceeds the requested size.
    pub bytes: Option<Vec<u8>>,
    /// Its stamp just before it was read.
    pub stamp: Stamp,
    /// When it was read.
    pub at: SystemTime,
}

/// Names content: equal bytes have equal etags.
pub fn etag_of(bytes: &[u8]) -> String {
    Digest::of(bytes).etag()
}

impl Vault {
    /// Every file that a component could be shown, links not followed, in no order. `keep_on` is called between folders;
    /// `None` once it returned `false`.
    pub fn scan_files(
        &self,
        mut keep_on: impl FnMut() -> bool,
    ) -> Result<Option<Vec<FileStat>>, VaultError> {
        self.storage.walk(&mut keep_on)
    }

    /// The stamp of a file; `None` if a component could not be shown a file there.
    pub fn stamp(&self, path: &str) -> Option<Stamp> {
        let status = self.storage.stat(path).ok()??;
        let is_open = path.split('/').all(is_speakable);
        (is_open && status.node == Node::File).then_some(status.stamp)
    }

    /// The content of a file; `None` if there is none.
    pub fn read_content(
        &self,
        path: &str,
        max_bytes: u64,
    ) -> Result<Option<FileContent>, VaultError> {
        let at = SystemTime::now();
        let mut bytes = Vec::new();
        let (stamp, bytes) = match self.storage.read(path, max_bytes, &mut bytes)? {
            ReadOutcome::Absent => return Ok(None),
            ReadOutcome::TooLarge(status) => (status.stamp, None),
            ReadOutcome::Content(status) => (status.stamp, Some(bytes)),
        };
        Ok(Some(FileContent { bytes, stamp, at }))
    }

    /// A file of the vault that components cannot access, read by the host itself: `.obsidian/app.json`.
    pub fn own_file(&self, path: &str, max_bytes: u64) -> Option<Vec<u8>> {
        self.read_content(path, max_bytes).ok()??.bytes
    }

    /// Reports edits by other programs as long as the feed is held; `None` where only scans can find them.
    pub fn watch(&self, listener: ChangeListener) -> Option<Box<dyn ChangeFeed>> {
        self.storage.watch(listener)
    }

    /// The folder for what this machine keeps of the vault.
    pub fn state(&self) -> &std::path::Path {
        &self.state
    }

    /// The files that a sync tool keeps in the cloud only, by the names that they will have.
    pub fn placeholders(&self) -> Vec<String> {
        self.storage.placeholders()
    }
}
