//! The part of a commit before anything is visible: temporary files, trash notes, the pending change in the history,
//! the journal. If a step fails here, cleanup only removes files.

use std::{borrow::Cow, fs::File, io};

use crate::{
    error::{CommitError, VaultError},
    fail::fail_point,
    path::PRIVATE,
    storage::{
        change_set::NetChange,
        files::{
            commit::{
                Attempt, JOURNAL,
                journal::{Direction, Journal, journal_folder, temps_folder},
                plan::Plan,
                steps::{Content, Step},
            },
            disk::read_bounded,
            sync::sync_together,
            trash,
        },
        records::TrashNote,
        stamp::Digest,
    },
};
use notehost_platform::clock::now_millis;

impl Attempt<'_> {
    /// Everything that can be done before anything is visible.
    pub(crate) fn prepare(&self, plan: &mut Plan) -> Result<(), CommitError> {
        let failed = |error: io::Error| CommitError::Failed(VaultError::io(PRIVATE, &error));
        self.storage
            .make_private_folders(plan.uses_trash)
            .map_err(failed)?;
        reach("commit-folder-ready")?;
        let temps = self.write_temps(plan).map_err(failed)?;
        self.write_trash_notes(plan).map_err(failed)?;
        reach("commit-trash-noted")?;
        self.write_history()?;
        // The disk has both to keep before anything is visible. What is requested last costs least: most of it was kept
        // with what was requested first.
        sync_together(&temps, File::sync_all).map_err(failed)?;
        self.storage.history.sync().map_err(failed)?;
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
                .make_private_folder(&self.seal.prefix(&self.id))?;
        }
        let temps = self.root().descend(&self.temp("").0)?;
        let mut files: Vec<File> = Vec::with_capacity(plan.temps.len());
        for (number, temp) in plan.temps.iter().enumerate() {
            let (_, name) = self.temp(&number.to_string());
            let file = temps.write_new(&name, &temp.bytes, temp.mode, temp.owner)?;
            fail_point("commit-temp-written")?;
            let inode = temps
                .status(&name)?
                .map_or(0, |status| status.stamp.identity);
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
                caller: self.changes.by.caller.clone(),
                state: Some(self.seal.state().to_owned()),
            };
            note.write(&trash, id)?;
        }
        trash.sync()
    }

    fn write_history(&self) -> Result<(), CommitError> {
        let change = self.changes.to_row(self.id.clone(), now_millis());
        let (net, data) = (&self.changes.net, &self.changes.data);
        let mut changed = None;
        let written = self.storage.history.write_pending(&change, |index| {
            let net = match index.checked_sub(net.len()) {
                None => &net[index],
                Some(index) => &data[index],
            };
            let bytes = self.bytes_before(net)?;
            if let (Some(bytes), Some(before)) = (&bytes, &net.before)
                && Digest::of(bytes) != before.digest
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
    fn bytes_before<'net>(
        &self,
        net: &'net NetChange,
    ) -> Result<Option<Cow<'net, [u8]>>, VaultError> {
        let Some(before) = &net.before else {
            return Ok(None);
        };
        if net.after == Some(before.digest) {
            return Ok(None);
        }
        if let Some(content) = &before.content {
            return Ok(Some(Cow::Borrowed(content)));
        }
        let limit = self.changes.max_file_bytes;
        let read = || -> io::Result<Option<Vec<u8>>> {
            let Some((mut file, status)) = self.root().open_below(net.origin())? else {
                return Ok(Some(Vec::new()));
            };
            read_bounded(&mut file, status.stamp.size, limit)
        };
        // What is too large to keep twice is in the trash.
        let read = read().map(|bytes| bytes.map(Cow::Owned));
        read.map_err(|error| VaultError::io(net.origin(), &error))
    }

    fn write_journal(&self, plan: &Plan) -> io::Result<()> {
        let root = self.root();
        let journal = Journal {
            id: self.id.clone(),
            caller: self.changes.by.caller.clone(),
            steps: plan.steps.clone(),
        };
        let (folder, name) = self.temp(JOURNAL);
        let temps = root.descend(&folder)?;
        temps
            .write_new(&name, &self.seal.close(&journal)?, None, None)?
            .sync_all()?;
        fail_point("commit-journal-written")?;
        let journals = root.descend(&journal_folder())?;
        temps.rename_new(&name, &journals, &self.journal(Direction::Forward))?;
        journals.sync()?;
        // The temporary files must be found as surely as the journal that names them.
        temps.sync()?;
        fail_point("commit-journal-placed")
    }
}

pub(crate) fn reach(name: &str) -> Result<(), VaultError> {
    fail_point(name).map_err(|error| VaultError::io(PRIVATE, &error))
}
