//! Landing a transaction: validate, write aside, note in the history, journal, apply, sync, tidy.
//!
//! The order is the promise. Until the journal has its place (or, for a single step, until that one rename)
//! nothing visible has changed; after it, everything will be there, even if the process dies.

use std::{
    fs::File,
    io,
    sync::{Arc, atomic::Ordering},
};

use serde::{Deserialize, Serialize};

use super::{
    Vault,
    changes::NetChange,
    disk::{Folder, is_absent, read_bounded},
    error::{CommitError, VaultError},
    fail::fail_point,
    history::{ChangeRow, FileRow},
    identifier::{new_id, now_millis},
    path::{PRIVATE, join, split},
    plan::Plan,
    steps::{Content, Halt, Step},
    sync::{sync_folders, sync_together},
    transaction::Transaction,
    trash::{self, TrashNote},
    types::{CommitNote, Committed},
};

/// A commit of more files has a folder of its own for its temporary ones. Unit tests meet both ways.
const LARGE: usize = if cfg!(test) { 1 } else { 32 };

/// A journal before it has its place.
const JOURNAL: &str = "journal";

/// What a journal says: everything that is left to do after a crash.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Journal {
    /// Of the transaction; also of its change in the history.
    pub(super) id: String,
    pub(super) caller: String,
    pub(super) steps: Vec<Step>,
}

/// Where journals lie.
pub(super) fn journal_folder() -> String {
    join(PRIVATE, "journal")
}

/// Where temporary files lie.
pub(super) fn temps_folder() -> String {
    join(PRIVATE, "tmp")
}

/// The name of a commit's temporary file.
pub(super) fn temp_name(id: &str, name: &str) -> String {
    format!("{id}-{name}")
}

impl Transaction {
    /// Lands everything that is staged, or nothing. When it returns, what it did is safe on disk.
    pub fn commit(self, by: CommitNote) -> Result<Committed, CommitError> {
        self.commit_if(by, |_| Ok(()))
    }

    /// The same, if `may` says at the last moment that it may be: no other commit lands between its word and this one.
    /// It may take rights away, and what needs them is refused then.
    pub fn commit_if(
        mut self,
        by: CommitNote,
        may: impl FnOnce(&mut Transaction) -> Result<(), VaultError>,
    ) -> Result<Committed, CommitError> {
        let nothing = Committed {
            change: None,
            files: Vec::new(),
        };
        if self.is_read_only() {
            self.validate()?;
            return Ok(nothing);
        }
        let vault = &Arc::clone(&self.vault);
        if vault.lock.is_none() {
            return Err(VaultError::broken("the vault was opened for looking only").into());
        }
        let held = vault.commit_lock();
        reach("commit-begin")?;
        may(&mut self)?;
        self.check_rights()?;
        self.check_read_set()?;
        reach("commit-validated")?;
        let attempt = Attempt {
            transaction: &self,
            id: new_id(),
            by: &by,
        };
        let plan = self.plan(&attempt.temps())?;
        if plan.steps.is_empty() {
            return Ok(nothing);
        }
        let net = self.net_changes();
        let landed = attempt.land(plan, &net);
        landed?;
        let committed = Committed {
            change: (!net.is_empty()).then_some(attempt.id),
            files: net.iter().map(NetChange::to_file_change).collect(),
        };
        if committed.change.is_some() {
            vault.tell(&committed);
        }
        drop(held);
        Ok(committed)
    }
}

/// One try to land a transaction. The commit lock is held.
struct Attempt<'commit> {
    transaction: &'commit Transaction,
    id: String,
    by: &'commit CommitNote,
}

impl Attempt<'_> {
    fn vault(&self) -> &Vault {
        &self.transaction.vault
    }

    fn root(&self) -> &Folder {
        &self.vault().root
    }

    /// What the paths of this commit's temporary files begin with. Small commits share a folder: making one for each would
    /// take longer than writing a note. A large one has its own, because some disks go through all that was removed from a
    /// folder lately before they make a new file there.
    fn temps(&self) -> String {
        let folder = temps_folder();
        match self.is_large() {
            true => format!("{folder}/{}/", self.id),
            false => format!("{folder}/{}", temp_name(&self.id, "")),
        }
    }

    fn is_large(&self) -> bool {
        self.transaction.staged.len() > LARGE
    }

    /// Where a temporary file lies: its folder and its name in it.
    fn temp(&self, name: &str) -> (String, String) {
        let path = self.temps() + name;
        let (folder, name) = split(&path);
        (folder.to_owned(), name.to_owned())
    }

    fn land(&self, mut plan: Plan, net: &[NetChange]) -> Result<(), CommitError> {
        let history = &self.vault().history;
        let prepared = self.prepare(&mut plan, net);
        if let Err(error) = prepared {
            if self.remove_journal(&plan).is_ok() {
                self.clear(&plan);
            }
            self.forget(net);
            return Err(error);
        }
        // From here on readers may see a part of it.
        self.vault().sequence.fetch_add(1, Ordering::SeqCst);
        let applied = self.apply(&plan);
        self.vault().sequence.fetch_add(1, Ordering::SeqCst);
        if let Err(error) = applied {
            self.forget(net);
            return Err(error);
        }
        // Everything is there. What fails from here on is settled at the next start, and must not be told as
        // a failure of the commit.
        let settle = || -> Result<(), VaultError> {
            let full = |error: io::Error| VaultError::io(PRIVATE, &error);
            if !net.is_empty() {
                history.mark_done(&self.id)?;
            }
            fail_point("commit-history-done").map_err(full)?;
            self.remove_journal(&plan).map_err(full)?;
            fail_point("commit-journal-removed").map_err(full)
        };
        if let Err(error) = settle() {
            tracing::warn!(
                code = error.code(),
                "a commit landed but could not be tidied; the next start will"
            );
        }
        self.clear(&plan);
        self.vault().forget_restored(&plan.restored);
        self.transaction
            .gone_folders
            .iter()
            .for_each(|folder| self.vault().listings.forget(folder));
        self.vault().prune();
        Ok(())
    }

    /// Everything that can be done before anything is visible.
    fn prepare(&self, plan: &mut Plan, net: &[NetChange]) -> Result<(), CommitError> {
        let failed = |error: io::Error| CommitError::Failed(VaultError::io(PRIVATE, &error));
        self.vault()
            .make_private_folders(plan.uses_trash)
            .map_err(failed)?;
        reach("commit-folder-ready")?;
        let temps = self.write_temps(plan).map_err(failed)?;
        self.write_trash_notes(plan).map_err(failed)?;
        reach("commit-trash-noted")?;
        self.write_history(net)?;
        // The disk has both to keep before anything is visible. What is asked for last costs least: most of it was kept
        // with what was asked for first.
        sync_together(&temps, File::sync_all).map_err(failed)?;
        if !net.is_empty() {
            self.vault().history.sync().map_err(failed)?;
        }
        reach("commit-history-pending")?;
        if plan.needs_journal() {
            self.write_journal(plan).map_err(failed)?;
        }
        Ok(())
    }

    /// Returns those that have yet to be safe on disk.
    fn write_temps(&self, plan: &mut Plan) -> io::Result<Vec<File>> {
        if self.is_large() {
            self.root()
                .descend(&temps_folder())?
                .make_folder(&self.id)?;
        }
        let temps = self.root().descend(&self.temp("").0)?;
        let mut files: Vec<File> = Vec::with_capacity(plan.temps.len());
        for (number, temp) in plan.temps.iter().enumerate() {
            let (_, name) = self.temp(&number.to_string());
            let file = temps.write_new(&name, &temp.bytes, temp.mode, temp.owner)?;
            fail_point("commit-temp-written")?;
            let inode = temps
                .status(&name)?
                .map_or(0, |status| status.signature.inode);
            if let Step::Create { new, .. } | Step::Replace { new, .. } = &mut plan.steps[temp.step]
            {
                *new = Content { inode, ..*new };
            }
            files.push(file);
            // So many at once that the disk can gather them, so few that no limit of open files is near.
            if files.len() == 256 {
                sync_together(&files, File::sync_all)?;
                files.clear();
            }
        }
        Ok(files)
    }

    fn write_trash_notes(&self, plan: &Plan) -> io::Result<()> {
        if plan.trash.is_empty() {
            return Ok(());
        }
        let trash = self.root().descend(&trash::folder())?;
        for (id, path, size) in &plan.trash {
            let note = TrashNote {
                path: path.clone(),
                removed: now_millis(),
                size: *size,
                caller: self.by.caller.clone(),
            };
            note.write(&trash, id)?;
        }
        trash.sync()
    }

    fn write_history(&self, net: &[NetChange]) -> Result<(), CommitError> {
        if net.is_empty() {
            return Ok(());
        }
        let undoes = self.transaction.undoes.as_ref();
        let change = ChangeRow {
            number: 0,
            id: self.id.clone(),
            time: now_millis(),
            caller: self.by.caller.clone(),
            action: self.by.action.clone(),
            undoes: undoes.map(|undoes| undoes.change.clone()),
            undoes_whole: undoes.is_some_and(|undoes| undoes.is_whole),
            undone: false,
            key: self.by.key.clone(),
            files: net.iter().map(file_row).collect(),
        };
        let mut changed = None;
        let written = self.vault().history.write_pending(&change, |index| {
            let net = &net[index];
            let bytes = self.bytes_before(net)?;
            if let (Some(bytes), Some(before)) = (&bytes, &net.before)
                && super::disk::Digest::of(bytes) != before.digest
            {
                changed = Some(net.origin().to_owned());
                return Err(VaultError::conflict(net.origin()));
            }
            Ok(bytes)
        });
        match (written, changed) {
            (Err(_), Some(path)) => Err(CommitError::Conflict { path: Some(path) }),
            (written, _) => Ok(written?),
        }
    }

    /// What a file had before, if the history must keep it: a mere rename keeps it itself.
    fn bytes_before(&self, net: &NetChange) -> Result<Option<Vec<u8>>, VaultError> {
        let Some(before) = &net.before else {
            return Ok(None);
        };
        if net.after == Some(before.digest) {
            return Ok(None);
        }
        if let Some(content) = &before.content {
            return Ok(Some(content.to_vec()));
        }
        let limit = self.transaction.access.limits.max_file_bytes;
        let read = || -> io::Result<Option<Vec<u8>>> {
            let (folder, name) = self.root().place(net.origin())?;
            let Some((mut file, status)) = folder.open(name)? else {
                return Ok(Some(Vec::new()));
            };
            read_bounded(&mut file, status.signature.size, limit)
        };
        // What is too large to keep twice is in the trash.
        read().map_err(|error| VaultError::io(net.origin(), &error))
    }

    fn write_journal(&self, plan: &Plan) -> io::Result<()> {
        let root = self.root();
        let journal = Journal {
            id: self.id.clone(),
            caller: self.by.caller.clone(),
            steps: plan.steps.clone(),
        };
        let (folder, name) = self.temp(JOURNAL);
        let temps = root.descend(&folder)?;
        temps
            .write_new(&name, &serde_json::to_vec(&journal)?, None, None)?
            .sync_all()?;
        fail_point("commit-journal-written")?;
        let journals = root.descend(&journal_folder())?;
        temps.rename_new(&name, &journals, &format!("{}.json", self.id))?;
        journals.sync()?;
        // The temporary files must be found as surely as the journal that speaks of them.
        temps.sync()?;
        fail_point("commit-journal-placed")
    }

    /// Does the steps; takes back those that were done if one cannot be.
    fn apply(&self, plan: &Plan) -> Result<(), CommitError> {
        let mut begun = 0;
        let mut halt = None;
        for step in &plan.steps {
            begun += 1;
            halt = step.apply(self.root()).err();
            if halt.is_some() {
                break;
            }
        }
        let halt = halt.or_else(|| {
            let synced = fail_point("commit-applied")
                .and_then(|()| sync_folders(self.root(), plan.steps.iter().flat_map(Step::touched)))
                .and_then(|()| fail_point("commit-folders-synced"));
            synced.err().map(|error| Halt::Failed(String::new(), error))
        });
        let Some(halt) = halt else { return Ok(()) };
        if let Err(error) = self.roll_back(plan, begun) {
            tracing::error!(error = %error.kind(), "a commit could not be taken back; the next start will try again");
            return Err(
                VaultError::internal("take back a commit that failed", error.kind()).into(),
            );
        }
        self.clear(plan);
        Err(match halt {
            Halt::Changed(path) => CommitError::Conflict {
                path: Some(path).filter(|path| !path.starts_with('.')),
            },
            Halt::Failed(path, error) => CommitError::Failed(VaultError::io(&path, &error)),
        })
    }

    fn roll_back(&self, plan: &Plan, begun: usize) -> io::Result<()> {
        let root = self.root();
        let steps = &plan.steps[..begun];
        // A rollback that is interrupted must go on as one: the journal says so before it begins.
        if let Ok(journals) = root.descend(&journal_folder())
            && journals.status(&format!("{}.json", self.id))?.is_some()
        {
            journals.rename_over(
                &format!("{}.json", self.id),
                &journals,
                &format!("{}.back.json", self.id),
            )?;
            journals.sync()?;
        }
        fail_point("rollback-begin").ok();
        steps.iter().rev().try_for_each(|step| step.revert(root))?;
        sync_folders(root, steps.iter().flat_map(Step::touched))?;
        fail_point("rollback-end").ok();
        self.remove_journal(plan)
    }

    fn remove_journal(&self, plan: &Plan) -> io::Result<()> {
        if !plan.needs_journal() {
            return Ok(());
        }
        let journals = match self.root().descend(&journal_folder()) {
            Ok(journals) => journals,
            Err(error) if is_absent(&error) => return Ok(()),
            Err(error) => return Err(error),
        };
        let mut is_removed = false;
        for name in [
            format!("{}.json", self.id),
            format!("{}.back.json", self.id),
        ] {
            is_removed |= journals.unlink(&name)?;
        }
        if is_removed { journals.sync() } else { Ok(()) }
    }

    /// Removes what only the attempt needed. Whatever stays behind is removed at the next start.
    fn clear(&self, plan: &Plan) {
        let clear = || -> io::Result<()> {
            let root = self.root();
            if plan.needs_journal()
                && let Ok(journals) = root.descend(&journal_folder())
                && journals.status(&format!("{}.json", self.id))?.is_some()
            {
                // The journal could not be removed, so the temporary files are still spoken of.
                return Ok(());
            }
            self.clear_temps(plan)?;
            if plan.trash.is_empty() {
                return Ok(());
            }
            let Ok(trash) = root.descend(&trash::folder()) else {
                return Ok(());
            };
            for (id, ..) in &plan.trash {
                if trash.status(id)?.is_none() {
                    trash.unlink(&format!("{id}.json"))?;
                }
            }
            Ok(())
        };
        if let Err(error) = clear().and_then(|()| fail_point("commit-temps-removed")) {
            tracing::warn!(error = %error.kind(), "temporary files of a commit were left; the next start removes them");
        }
    }

    fn clear_temps(&self, plan: &Plan) -> io::Result<()> {
        let (folder, journal) = self.temp(JOURNAL);
        let temps = match self.root().descend(&folder) {
            Ok(temps) => temps,
            Err(error) if is_absent(&error) => return Ok(()),
            Err(error) => return Err(error),
        };
        for name in plan.temporary(&folder) {
            temps.unlink(name)?;
        }
        if plan.needs_journal() {
            temps.unlink(&journal)?;
        }
        if self.is_large() {
            let folder = self.root().descend(&temps_folder())?;
            folder.unlink_folder(&self.id)?;
        }
        Ok(())
    }

    fn forget(&self, net: &[NetChange]) {
        if !net.is_empty()
            && let Err(error) = self.vault().history.forget(&self.id)
        {
            tracing::warn!(
                code = error.code(),
                "a change that did not happen stays pending until the next start"
            );
        }
    }
}

fn file_row(net: &NetChange) -> FileRow {
    FileRow {
        path: net.path.clone(),
        from: net.from.clone(),
        kind: net.kind,
        before: net.before.as_ref().map(|before| before.digest),
        after: net.after,
        mode_before: net.before.as_ref().map(|before| before.status.mode),
        mode_after: net.mode_after,
        trash: net.trash.clone(),
    }
}

fn reach(name: &str) -> Result<(), CommitError> {
    fail_point(name).map_err(|error| CommitError::Failed(VaultError::io(PRIVATE, &error)))
}
