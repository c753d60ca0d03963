//! The host's own view of the vault, independent of a caller: a scan of all files with their stamps, and their
//! content. The index is built from it; nothing of it reaches a caller before the rules are applied.

use std::{io, time::SystemTime};

use super::{
    Vault,
    disk::{Digest, Folder, Node, Signature, is_absent, read_bounded},
    path::{is_speakable, join},
};

/// How deep folders may nest before the walk stops: a mount of something into itself has no end.
const MAX_DEPTH: usize = 64;

/// File metadata that detects a change without reading the file.
pub type Stamp = Signature;

/// A file of the vault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStat {
    /// As the disk spells it.
    pub path: String,
    /// What the disk says of it.
    pub stamp: Stamp,
}

/// A file that was read.
pub struct FileContent {
    /// Its bytes; `None` if it exceeds the requested size.
    pub bytes: Option<Vec<u8>>,
    /// What the disk said of it just before.
    pub stamp: Stamp,
    /// When it was read.
    pub at: SystemTime,
}

/// Names content: equal bytes have equal etags.
pub fn etag_of(bytes: &[u8]) -> String {
    Digest::of(bytes).etag()
}

impl Vault {
    /// Every file that a component could be shown, links not followed, in no order. `keep_on` is asked between folders.
    pub fn scan_files(
        &self,
        mut keep_on: impl FnMut() -> bool,
    ) -> io::Result<Option<Vec<FileStat>>> {
        let mut scanned = Vec::new();
        let mut ahead = vec![(String::new(), self.root.descend("")?, 0)];
        while let Some((path, folder, depth)) = ahead.pop() {
            if !keep_on() {
                return Ok(None);
            }
            // A folder that cannot be listed is as empty as one that vanished.
            let Ok(listing) = self.listings.of(&path, &folder) else {
                continue;
            };
            for (name, node) in &listing.names {
                match node {
                    Node::File => {
                        if let Ok(Some(status)) = folder.status(name)
                            && status.node == Node::File
                        {
                            scanned.push(FileStat {
                                path: join(&path, name),
                                stamp: status.signature,
                            });
                        }
                    }
                    Node::Folder if depth < MAX_DEPTH => {
                        if let Ok(below) = folder.folder(name) {
                            ahead.push((join(&path, name), below, depth + 1));
                        }
                    }
                    _ => {}
                }
            }
        }
        Ok(Some(scanned))
    }

    /// The stamp of a file; `None` if a component could not be shown a file there.
    pub fn stamp(&self, path: &str) -> Option<Stamp> {
        let status = self.root.status_below(path).ok()??;
        let is_open = path.split('/').all(is_speakable);
        (is_open && status.node == Node::File).then_some(status.signature)
    }

    /// The content of a file; `None` if there is none.
    pub fn read_content(&self, path: &str, most: u64) -> io::Result<Option<FileContent>> {
        let (folder, name) = match self.root.place(path) {
            Ok(place) => place,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        read(&folder, name, most)
    }

    /// A file of the vault that is closed to components, for the host's own eyes: `.obsidian/app.json`.
    pub fn own_file(&self, path: &str, most: u64) -> Option<Vec<u8>> {
        self.read_content(path, most).ok()??.bytes
    }

    /// The folder, for a watcher.
    pub fn folder(&self) -> &std::path::Path {
        &self.canonical
    }

    /// The folder for what this machine keeps of the vault.
    pub fn state(&self) -> &std::path::Path {
        &self.state
    }

    /// The files that a sync tool keeps in the cloud only, by the names that they will have: for the doctor.
    pub fn placeholders(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut ahead: Vec<(String, Folder, usize)> = Vec::new();
        ahead.extend(self.root.descend("").map(|root| (String::new(), root, 0)));
        while let Some((path, folder, depth)) = ahead.pop() {
            for (name, node) in folder.names().unwrap_or_default() {
                let real = name
                    .strip_prefix('.')
                    .and_then(|name| name.strip_suffix(".icloud"));
                if let (Node::File, Some(real)) = (node, real) {
                    found.push(join(&path, real));
                } else if node == Node::Folder
                    && is_speakable(&name)
                    && depth < MAX_DEPTH
                    && let Ok(below) = folder.folder(&name)
                {
                    ahead.push((join(&path, &name), below, depth + 1));
                }
            }
        }
        found
    }
}

fn read(folder: &Folder, name: &str, most: u64) -> io::Result<Option<FileContent>> {
    let at = SystemTime::now();
    let Some((mut file, status)) = folder.open(name)? else {
        return Ok(None);
    };
    let bytes = read_bounded(&mut file, status.signature.size, most)?;
    Ok(Some(FileContent {
        bytes,
        stamp: status.signature,
        at,
    }))
}
