//! Crash recovery of pending changes in the history that have no journal: decides whether each was applied.

use std::{io, sync::Arc};

use crate::{
    VaultError,
    path::join,
    storage::{
        files::{
            FileStorage,
            commit::{
                journal::{Seal, temps_folder},
                recovery::optional,
            },
            disk::Folder,
        },
        records::ChangeRow,
        stamp::{Digest, Node},
        trash_path,
    },
    types::ChangeKind,
};

impl FileStorage {
    /// Changes without a journal were single renames: the files show whether they happened.
    pub(crate) fn settle_history(&self, seal: &Seal) -> Result<(), VaultError> {
        for change in self.history.pending()? {
            let failed = |error| self.unrecovered(&temps_folder(), &error);
            if self.swap_back(&change, seal).map_err(failed)?
                || self.is_as_before(&change, seal).map_err(failed)?
            {
                self.history.forget(&change.id)?;
            } else {
                self.history.mark_done(&change.id)?;
            }
        }
        Ok(())
    }

    /// If a replacement was interrupted between swapping and looking at what came out, somebody else's version
    /// may be in our temporary file. Whether it did, and is back.
    fn swap_back(&self, change: &ChangeRow, seal: &Seal) -> io::Result<bool> {
        let [file] = change.files.as_slice() else {
            return Ok(false);
        };
        let temps = self.temps_of(change, seal)?;
        let Some((temps, temp, swapped)) = temps.into_iter().find(|(_, temp, _)| is_first(temp))
        else {
            return Ok(false);
        };
        let Some((folder, name)) = optional(self.root.place(&file.path))? else {
            return Ok(false);
        };
        let is_foreign = Some(swapped) != file.before && Some(swapped) != file.after;
        let is_ours = folder.digest(name)?.map(|(digest, _)| digest) == file.after;
        if file.kind != ChangeKind::Modify || !is_foreign || !is_ours {
            return Ok(false);
        }
        tracing::warn!(
            vault = self.id,
            "a file was edited during a commit: the edit was restored"
        );
        temps.exchange(&temp, &folder, name)?;
        folder.sync()?;
        Ok(true)
    }

    /// The temporary files of a change that are still there, with what they hold. Those of a large commit are in a folder.
    fn temps_of(
        &self,
        change: &ChangeRow,
        seal: &Seal,
    ) -> io::Result<Vec<(Arc<Folder>, String, Digest)>> {
        let prefix = seal.prefix(&change.id);
        let mut found = Vec::new();
        for (folder, prefix) in [
            (temps_folder(), format!("{prefix}-")),
            (join(&temps_folder(), &prefix), String::new()),
        ] {
            let Some(temps) = optional(self.root.descend(&folder))?.map(Arc::new) else {
                continue;
            };
            for (name, _) in temps.names()? {
                if name.starts_with(&prefix)
                    && let Some((digest, _)) = temps.digest(&name)?
                {
                    found.push((Arc::clone(&temps), name, digest));
                }
            }
        }
        Ok(found)
    }

    /// Whether nothing of a change without a journal happened. A person may have edited the files since: what decides is
    /// where our own are.
    fn is_as_before(&self, change: &ChangeRow, seal: &Seal) -> io::Result<bool> {
        let digest_at = |path: &str| -> io::Result<Option<Digest>> {
            match optional(self.root.place(path))? {
                Some((folder, name)) => Ok(folder.digest(name)?.map(|(digest, _)| digest)),
                None => Ok(None),
            }
        };
        // New content that still waits for its place. If only a part of it waits, the journal was lost and the rest
        // happened: then the change stays, with what it replaced.
        let temps = self.temps_of(change, seal)?;
        let (mut waiting, mut placed) = (0, 0);
        for file in &change.files {
            let Some(after) = file.after.filter(|after| Some(*after) != file.before) else {
                continue;
            };
            let is_waiting = temps.iter().any(|(_, _, digest)| *digest == after)
                && digest_at(&file.path)? != Some(after);
            *(if is_waiting {
                &mut waiting
            } else {
                &mut placed
            }) += 1;
        }
        if waiting > 0 {
            return Ok(placed == 0);
        }
        for file in &change.files {
            let is_there = |path: &str| -> io::Result<bool> {
                let status = self.root.status_below(path)?;
                Ok(status.is_some_and(|status| status.node == Node::File))
            };
            let is_before = match (file.kind, &file.from, &file.trash) {
                (ChangeKind::Rename, Some(from), _) => is_there(from)? && !is_there(&file.path)?,
                (ChangeKind::Delete, _, Some(id)) => {
                    is_there(&file.path)? && !is_there(&trash_path(id))?
                }
                // A change of the mode alone leaves no trace in the content: it counts as done.
                _ => file.before != file.after && digest_at(&file.path)? == file.before,
            };
            if !is_before {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Whether this is the name of a commit's first temporary file, in a folder of its own or not.
fn is_first(temp: &str) -> bool {
    temp.rsplit('-').next() == Some("0")
}
