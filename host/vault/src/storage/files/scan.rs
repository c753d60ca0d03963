//! Walks over all files of the folder, without reading them.

use std::io;

use crate::{
    path::{is_speakable, join},
    storage::{
        FileStat,
        files::{FileStorage, disk::Folder},
        stamp::Node,
    },
};

/// How deep folders may nest before the walk stops: a mount of something into itself has no end.
const MAX_DEPTH: usize = 64;

impl FileStorage {
    /// Every file that a component could be shown, links not followed, in no order. `keep_on` is called between folders.
    pub(crate) fn scan_files(
        &self,
        keep_on: &mut dyn FnMut() -> bool,
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
                                stamp: status.stamp,
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

    /// The files that a sync tool keeps in the cloud only, by the names that they will have.
    pub(crate) fn cloud_placeholders(&self) -> Vec<String> {
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
