//! Snapshots of folders, to detect changes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Folders with their contents: bytes, modes, targets of links.
#[derive(PartialEq, Eq)]
pub(crate) struct Snapshot(BTreeMap<PathBuf, (u32, Content)>);

#[derive(PartialEq, Eq)]
enum Content {
    File(Vec<u8>),
    Folder,
    Link(PathBuf),
}

impl Snapshot {
    /// The current state of these folders.
    pub(crate) fn of(folders: &[&Path]) -> Snapshot {
        let mut found = BTreeMap::new();
        for folder in folders {
            collect(folder, &mut found);
        }
        Snapshot(found)
    }

    /// Fails with the changed paths, if there are any.
    #[track_caller]
    pub(crate) fn assert_same_as(&self, before: &Snapshot) {
        let paths = self.0.keys().chain(before.0.keys());
        let mut changed: Vec<&PathBuf> = paths
            .filter(|path| self.0.get(*path) != before.0.get(*path))
            .collect();
        changed.dedup();
        assert!(changed.is_empty(), "unexpected changes: {changed:#?}");
    }
}

fn collect(path: &Path, found: &mut BTreeMap<PathBuf, (u32, Content)>) {
    let metadata = fs::symlink_metadata(path).expect("it exists");
    let content = if metadata.is_symlink() {
        Content::Link(fs::read_link(path).expect("a link"))
    } else if metadata.is_dir() {
        for entry in fs::read_dir(path).expect("a folder") {
            collect(&entry.expect("an entry").path(), found);
        }
        Content::Folder
    } else {
        Content::File(fs::read(path).expect("a file"))
    };
    found.insert(path.to_owned(), (metadata.permissions().mode(), content));
}
