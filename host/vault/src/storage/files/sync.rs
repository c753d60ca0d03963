//! Durability: syncing files and folders to disk.

use std::{collections::BTreeSet, fs::File, io, path::Path};

use crate::{
    path::is_below,
    storage::files::{
        commit::journal::temps_folder,
        disk::{Folder, is_absent},
    },
};

/// Syncs these to disk, with several threads, because a disk can combine concurrent syncs.
pub(crate) fn sync_together<T: Sync>(
    all: &[T],
    sync: impl Fn(&T) -> io::Result<()> + Sync,
) -> io::Result<()> {
    const THREADS: usize = 16;
    if all.len() < THREADS {
        return all.iter().try_for_each(sync);
    }
    std::thread::scope(|scope| {
        let parts = all.chunks(all.len().div_ceil(THREADS));
        let syncing: Vec<_> = parts
            .map(|part| scope.spawn(|| part.iter().try_for_each(&sync)))
            .collect();
        syncing.into_iter().try_for_each(|thread| {
            let panicked = |_| Err(io::Error::other("a thread panicked"));
            thread.join().unwrap_or_else(panicked)
        })
    })
}

/// Waits until the name of a file or folder of the state folder is safe on disk.
pub(crate) fn sync_parent(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// Waits until the names in these folders are safe on disk. Folders that are gone need no waiting.
pub(crate) fn sync_folders<'path>(
    root: &Folder,
    folders: impl Iterator<Item = &'path str>,
) -> io::Result<()> {
    let temps = temps_folder();
    let is_temporary = |folder: &str| folder == temps || is_below(folder, &temps);
    let folders: BTreeSet<&str> = folders.filter(|folder| !is_temporary(folder)).collect();
    let folders: Vec<&str> = folders.into_iter().collect();
    sync_together(&folders, |folder| match root.descend(folder) {
        Ok(folder) => folder.sync(),
        Err(error) if is_absent(&error) => Ok(()),
        Err(error) => Err(error),
    })
}
