//! After a crash: journals are finished or taken back, pending changes settled, leftovers removed.
//!
//! A person may have edited files between the crash and now. What they wrote stays where they wrote it; what
//! we meant to write there goes to the trash.

use std::io;

use super::{
    Vault, VaultError,
    commit::{Journal, journal_folder, temp_name, temps_folder},
    disk::{Folder, Node, is_absent, read_bounded},
    fail::fail_point,
    history::ChangeRow,
    identifier::{is_id, new_id, now_millis},
    path::{PRIVATE, join},
    steps::{Expected, Step},
    sync::sync_folders,
    trash::{self, TrashNote},
    types::ChangeKind,
};

/// Larger than any journal of a transaction within limits.
const MAX_JOURNAL: u64 = 256 << 20;

impl Vault {
    /// Brings the vault into a whole state. Nothing else uses it yet.
    pub(super) fn recover(&self) -> Result<(), VaultError> {
        let failed = |error: io::Error| {
            let cause = VaultError::io(PRIVATE, &error);
            VaultError::new(
                "unavailable",
                format!(
                    "cannot finish what a crash left in vault `{}`: {cause}",
                    self.id
                ),
            )
        };
        fail_point("recover-begin").map_err(failed)?;
        self.finish_journals().map_err(failed)?;
        self.settle_history()?;
        fail_point("recover-history-settled").map_err(failed)?;
        self.remove_leftovers().map_err(failed)?;
        fail_point("recover-end").map_err(failed)
    }

    fn finish_journals(&self) -> io::Result<()> {
        let Some(journals) = optional(self.root.descend(&journal_folder()))? else {
            return Ok(());
        };
        let mut names: Vec<String> = journals
            .names()?
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        names.sort_unstable();
        for name in names {
            let Some((mut file, status)) = journals.open(&name)? else {
                continue;
            };
            let bytes =
                read_bounded(&mut file, status.signature.size, MAX_JOURNAL)?.unwrap_or_default();
            let Ok(journal) = serde_json::from_slice::<Journal>(&bytes) else {
                // Journals get their name when they are whole, so this is none of ours: out of the way with it.
                tracing::error!(
                    vault = self.id,
                    name,
                    "a journal cannot be read; it was put into the trash folder"
                );
                self.make_private_folders(true)?;
                journals.rename_over(
                    &name,
                    &self.root.descend(&trash::folder())?,
                    &format!("unreadable-{}", new_id()),
                )?;
                continue;
            };
            let is_back = name.ends_with(".back.json");
            if is_back {
                for step in journal.steps.iter().rev() {
                    step.revert(&self.root)?;
                    fail_point("recover-step")?;
                }
            } else {
                for step in &journal.steps {
                    self.redo(step, &journal)?;
                    fail_point("recover-step")?;
                }
            }
            sync_folders(&self.root, journal.steps.iter().flat_map(Step::touched))?;
            fail_point("recover-journal-redone")?;
            let settled = if is_back {
                self.history.forget(&journal.id)
            } else {
                self.history.mark_done(&journal.id)
            };
            if let Err(error) = settled {
                tracing::warn!(
                    vault = self.id,
                    code = error.code(),
                    "the history does not know a commit that was finished"
                );
            }
            journals.unlink(&name)?;
            journals.sync()?;
            fail_point("recover-journal-removed")?;
            let done = if is_back { "taken back" } else { "finished" };
            tracing::warn!(
                vault = self.id,
                change = journal.id,
                steps = journal.steps.len(),
                "a commit that a crash interrupted was {done}"
            );
        }
        Ok(())
    }

    /// Does a step that may have been done already, or half.
    fn redo(&self, step: &Step, journal: &Journal) -> io::Result<()> {
        let root = &self.root;
        match step {
            Step::MakeFolder { path } => {
                if let Some((folder, name)) = optional(root.place(path))? {
                    folder.make_folder(name)?;
                }
            }
            Step::Prune { path } => {
                if let Some((folder, name)) = optional(root.place(path))? {
                    folder.unlink_folder(name)?;
                }
            }
            Step::Create { temp, path, new } => {
                let (Some((temps, temp)), Some((folder, name))) =
                    (optional(root.place(temp))?, optional(root.place(path))?)
                else {
                    return Ok(());
                };
                if temps.status(temp)?.is_none() {
                    return Ok(());
                }
                match temps.rename_new(temp, &folder, name) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                        let is_same = folder
                            .digest(name)?
                            .is_some_and(|(digest, _)| digest == new.digest);
                        if !is_same {
                            self.keep_ours(&temps, temp, path, journal)?;
                        }
                    }
                    done => done?,
                }
            }
            Step::Replace {
                temp,
                path,
                new,
                old,
            } => {
                let Some((temps, temp)) = optional(root.place(temp))? else {
                    return Ok(());
                };
                let Some(swapped) = temps.status(temp)? else {
                    return Ok(());
                };
                let is_ours = swapped.signature.inode == new.inode
                    || swapped.signature.inode != old.signature.inode
                        && temps
                            .digest(temp)?
                            .is_some_and(|(digest, _)| digest == new.digest);
                let place = optional(root.place(path))?;
                match place {
                    Some((folder, name)) if is_ours => {
                        if has_content(&folder, name, old)? {
                            temps.rename_over(temp, &folder, name)?;
                        } else if folder
                            .digest(name)?
                            .is_none_or(|(digest, _)| digest != new.digest)
                        {
                            self.keep_ours(&temps, temp, path, journal)?;
                        }
                    }
                    None if is_ours => self.keep_ours(&temps, temp, path, journal)?,
                    // It was swapped. What came out must be what was validated; if not, it goes back.
                    Some((folder, name)) if !has_content(&temps, temp, old)? => {
                        let is_untouched = folder
                            .status(name)?
                            .is_some_and(|now| now.signature.inode == new.inode);
                        if is_untouched {
                            temps.exchange(temp, &folder, name)?;
                        }
                        self.keep_ours(&temps, temp, path, journal)?;
                    }
                    _ => {}
                }
            }
            Step::Move { from, to, expected } => self.redo_move(from, to, expected)?,
        }
        Ok(())
    }

    fn redo_move(&self, from: &str, to: &str, expected: &Expected) -> io::Result<()> {
        let root = &self.root;
        let Some((folder, name)) = optional(root.place(to))? else {
            return Ok(());
        };
        let Some((source, from_name)) = optional(root.place(from))? else {
            return Ok(());
        };
        let into_private = to.starts_with('.');
        let at_source = source
            .status(from_name)?
            .filter(|status| status.node == Node::File);
        match (at_source, folder.status(name)?) {
            // A person's edit outlives a removal; a rename takes it along.
            (Some(_), None) if !into_private || has_content(&source, from_name, expected)? => {
                source.rename_new(from_name, &folder, name)
            }
            (Some(_), None) => {
                tracing::warn!(
                    vault = self.id,
                    "a file was edited after the crash: it stays where it is"
                );
                Ok(())
            }
            (None, Some(_)) if into_private && !has_content(&folder, name, expected)? => {
                tracing::warn!(
                    vault = self.id,
                    "a file was edited before it could be removed: it is put back"
                );
                folder.rename_new(name, &source, from_name)
            }
            _ => Ok(()),
        }
    }

    /// Somebody else's file has the place: ours goes to the trash, where it can be had back.
    fn keep_ours(
        &self,
        temps: &Folder,
        temp: &str,
        path: &str,
        journal: &Journal,
    ) -> io::Result<()> {
        tracing::warn!(
            vault = self.id,
            "a file was edited after the crash: the interrupted version is in the trash"
        );
        if path.starts_with('.') {
            return Ok(());
        }
        self.make_private_folders(true)?;
        let trash = self.root.descend(&trash::folder())?;
        let id = new_id();
        let size = temps
            .status(temp)?
            .map_or(0, |status| status.signature.size);
        TrashNote {
            path: path.to_owned(),
            removed: now_millis(),
            size,
            caller: journal.caller.clone(),
        }
        .write(&trash, &id)?;
        temps.rename_new(temp, &trash, &id)?;
        trash.sync()
    }

    /// Changes without a journal were single renames: the files tell whether they happened.
    fn settle_history(&self) -> Result<(), VaultError> {
        for change in self.history.pending()? {
            let failed = |error| VaultError::io(PRIVATE, &error);
            if self.swap_back(&change).map_err(failed)?
                || self.is_as_before(&change).map_err(failed)?
            {
                self.history.forget(&change.id)?;
            } else {
                self.history.mark_done(&change.id)?;
            }
        }
        Ok(())
    }

    /// If a replacement was interrupted between swapping and looking at what came out, somebody else's version
    /// may lie in our temporary file. Whether it did, and is back.
    fn swap_back(&self, change: &ChangeRow) -> io::Result<bool> {
        let [file] = change.files.as_slice() else {
            return Ok(false);
        };
        // Much may have been staged that came to nothing: then it lies in a folder.
        let flat = (temps_folder(), temp_name(&change.id, "0"));
        let own = (join(&temps_folder(), &change.id), "0".to_owned());
        let mut found = None;
        for (folder, temp) in [flat, own] {
            if let Some(temps) = optional(self.root.descend(&folder))?
                && let Some((swapped, _)) = temps.digest(&temp)?
            {
                found = Some((temps, temp, swapped));
            }
        }
        let Some((temps, temp, swapped)) = found else {
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
            "a file was edited while it was replaced: the edit is put back"
        );
        temps.exchange(&temp, &folder, name)?;
        folder.sync()?;
        Ok(true)
    }

    fn is_as_before(&self, change: &ChangeRow) -> io::Result<bool> {
        for file in &change.files {
            let before = file.from.as_ref().unwrap_or(&file.path);
            let digest = match optional(self.root.place(before))? {
                Some((folder, name)) => folder.digest(name)?.map(|(digest, _)| digest),
                None => None,
            };
            // A change of the mode alone leaves no trace in the content: it counts as done.
            let is_only_mode = file.before == file.after && file.from.is_none();
            if digest != file.before || is_only_mode {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Temporary files that nothing speaks of, trash notes without files, empty folders.
    fn remove_leftovers(&self) -> io::Result<()> {
        if let Some(temps) = optional(self.root.descend(&temps_folder()))? {
            for (name, node) in temps.names()? {
                match node {
                    Node::Folder => remove_folder(&temps, &name)?,
                    _ => drop(temps.unlink(&name)?),
                }
            }
        }
        if let Some(trash) = optional(self.root.descend(&trash::folder()))? {
            for (name, _) in trash.names()? {
                if let Some(id) = name.strip_suffix(".json").filter(|id| is_id(id))
                    && trash.status(id)?.is_none()
                {
                    trash.unlink(&name)?;
                }
            }
        }
        self.tidy_private_folders();
        Ok(())
    }

    /// The folders that a commit needs in `.notehost`, durably.
    pub(super) fn make_private_folders(&self, with_trash: bool) -> io::Result<()> {
        let is_new = self.root.make_folder(PRIVATE)?;
        let private = self.root.folder(PRIVATE)?;
        let mut is_changed = false;
        for name in ["tmp", "journal"]
            .into_iter()
            .chain(with_trash.then_some("trash"))
        {
            is_changed |= private.make_folder(name)?;
        }
        if is_changed {
            private.sync()?;
        }
        if is_new { self.root.sync() } else { Ok(()) }
    }

    /// Folders of `.notehost` that are empty need not be there: a vault that was only read shows no trace.
    pub(super) fn tidy_private_folders(&self) {
        let Ok(private) = self.root.folder(PRIVATE) else {
            return;
        };
        for name in ["tmp", "journal", "trash", "store"] {
            let _ = private.unlink_folder(name);
        }
        let _ = self.root.unlink_folder(PRIVATE);
    }

    /// Removes the notes of what left the trash.
    pub(super) fn forget_restored(&self, ids: &[String]) {
        let Ok(trash) = self.root.descend(&trash::folder()) else {
            return;
        };
        for id in ids {
            let _ = trash.unlink(&format!("{id}.json"));
        }
    }

    /// Forgets what is too old, in the history and in the trash, once in a while.
    pub(super) fn prune(&self) {
        let commits = self.sequence() / 2;
        if let Err(error) = self.history.prune(commits, &self.settings) {
            tracing::warn!(code = error.code(), "old history could not be removed");
        }
        let Some(age) = self.settings.trash_max_age.filter(|_| commits % 128 == 16) else {
            return;
        };
        let oldest =
            now_millis().saturating_sub(u64::try_from(age.as_millis()).unwrap_or(u64::MAX));
        let Ok(trash) = self.root.descend(&trash::folder()) else {
            return;
        };
        for (id, note) in trash::entries(&trash).unwrap_or_default() {
            if note.removed < oldest && trash.unlink(&id).is_ok() {
                let _ = trash.unlink(&format!("{id}.json"));
            }
        }
    }
}

fn has_content(folder: &Folder, name: &str, expected: &Expected) -> io::Result<bool> {
    Ok(folder
        .digest(name)?
        .is_some_and(|(digest, _)| digest == expected.digest))
}

/// What may be missing.
fn optional<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Removes the folder of a large commit with the files in it.
fn remove_folder(parent: &Folder, name: &str) -> io::Result<()> {
    let Some(folder) = optional(parent.folder(name))? else {
        return Ok(());
    };
    for (name, _) in folder.names()? {
        folder.unlink(&name)?;
    }
    parent.unlink_folder(name)?;
    Ok(())
}
