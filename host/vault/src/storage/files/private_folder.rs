//! The vault's own folder, `.notehost`: creation on first commit, private permissions, cleanup and pruning. Leftovers
//! of interrupted commits are handled in `leftovers`.

use std::{io, sync::atomic::Ordering};

use crate::{
    identifier::is_id,
    path::PRIVATE,
    storage::{
        files::{FileStorage, disk::Folder, trash},
        stamp::Node,
    },
};
use notehost_platform::clock::now_millis;

impl FileStorage {
    /// The folders that a commit needs in `.notehost`, durably.
    pub(crate) fn make_private_folders(&self, with_trash: bool) -> io::Result<()> {
        let is_new = self.root.make_private_folder(PRIVATE)?;
        let private = self.root.folder(PRIVATE)?;
        let mut is_changed = false;
        for name in ["tmp", "journal"]
            .into_iter()
            .chain(with_trash.then_some("trash"))
        {
            is_changed |= private.make_private_folder(name)?;
        }
        if is_changed {
            private.sync()?;
        }
        if is_new { self.root.sync() } else { Ok(()) }
    }

    /// Folders of `.notehost` that are empty need not be there: a vault that was only read shows no trace.
    pub(crate) fn tidy_private_folders(&self) {
        let Ok(private) = self.root.folder(PRIVATE) else {
            return;
        };
        for name in ["tmp", "journal", "trash", "store", "set-aside"] {
            let _ = private.unlink_folder(name);
        }
        let _ = self.root.unlink_folder(PRIVATE);
    }

    /// Removes the notes of what left the trash.
    pub(crate) fn forget_restored(&self, ids: &[String]) {
        let Ok(trash) = self.root.descend(&trash::folder()) else {
            return;
        };
        for id in ids {
            let _ = trash.unlink(&format!("{id}.json"));
        }
    }

    /// Forgets what is too old, in the history and in the trash, once in a while.
    pub(crate) fn prune(&self) {
        let commits = self.sequence.load(Ordering::SeqCst) / 2;
        if let Err(error) = self.history.prune(commits, &self.settings) {
            tracing::warn!(code = error.code().as_str(), "could not remove old history");
        }
        let Some(age) = self.settings.trash_max_age.filter(|_| commits % 128 == 16) else {
            return;
        };
        let oldest =
            now_millis().saturating_sub(u64::try_from(age.as_millis()).unwrap_or(u64::MAX));
        let Ok(trash) = self.root.descend(&trash::folder()) else {
            return;
        };
        // Also what another machine removed. The trash belongs to the vault: its entries are shown and restored on every
        // machine that has it, and the limit is set for a vault. An entry of a state folder that no longer exists would
        // otherwise stay for good.
        for (id, note) in trash::entries(&trash).unwrap_or_default() {
            if note.removed < oldest && trash.unlink(&id).is_ok() {
                let _ = trash.unlink(&format!("{id}.json"));
            }
        }
    }
}

/// Makes a folder private that was open, and what is in it. A note in the trash keeps the mode that it comes back with.
pub(crate) fn close(folder: &Folder, name: &str, depth: usize) -> io::Result<()> {
    /// How deep the store's folders nest, and more.
    const MAX_DEPTH: usize = 32;
    let was_open = folder.restrict()?;
    if !was_open && depth == 0 || depth > MAX_DEPTH {
        return Ok(());
    }
    for (inner, node) in folder.names()? {
        match node {
            Node::Folder => close(&folder.folder(&inner)?, &inner, depth + 1)?,
            Node::File if name != "trash" || !is_id(&inner) => folder.restrict_file(&inner)?,
            _ => {}
        }
    }
    Ok(())
}
