//! Commits a change set: write temporary files, record in the history, journal, apply, sync, clean up. The steps before
//! anything is visible are in `prepare`.
//!
//! Atomicity depends on the order. Before the journal is in place (or, for a single step, before that one rename),
//! nothing visible has changed; afterwards the commit is completed even if the process dies.

pub(crate) mod journal;
pub(crate) mod leftovers;
pub(crate) mod pending_changes;
pub(crate) mod plan;
pub(crate) mod prepare;
pub(crate) mod recovery;
pub(crate) mod steps;

use notehost_sdk::Code;
use std::{io, sync::atomic::Ordering};

use crate::{
    error::{CommitError, VaultError},
    fail::{contained, fail_point},
    identifier::new_id,
    path::{PRIVATE, split},
    storage::{
        StorageCommit,
        change_set::ChangeSet,
        files::{
            FileStorage,
            commit::{
                journal::{Direction, Seal, journal_folder, temps_folder},
                plan::{Plan, plan},
                prepare::reach,
                steps::{Step, kept_name},
            },
            disk::{Folder, is_absent},
            sync::sync_folders,
            trash,
        },
    },
};

/// A commit of more files has a folder of its own for its temporary ones. Unit tests meet both ways.
const OWN_FOLDER_STEPS: usize = if cfg!(test) { 1 } else { 32 };

const RESTART_HINT: &str = "restart the server: it finishes the commit or rolls it back";

/// A journal before it has its place.
pub(crate) const JOURNAL: &str = "journal";

impl FileStorage {
    /// Begins a commit: everything that an earlier one left is settled first.
    pub(crate) fn begin_file_commit(&self) -> Result<FileCommit<'_>, VaultError> {
        let Some(lock) = &self.lock else {
            return Err(VaultError::broken("the vault was opened read-only"));
        };
        self.check_settled()?;
        self.remove_stale_journals()?;
        reach("commit-begin")?;
        Ok(FileCommit {
            storage: self,
            seal: &lock.seal,
        })
    }

    /// Refuses to commit over what an earlier commit left half done.
    fn check_settled(&self) -> Result<(), VaultError> {
        if !self.needs_recovery.load(Ordering::SeqCst) {
            return Ok(());
        }
        let message = "an earlier commit failed and could not be rolled back; the vault cannot be changed until the server restarts";
        Err(VaultError::new(Code::Unavailable, message).with_hint(RESTART_HINT))
    }
}

/// A commit of files. The writer lock of the folder excludes other processes, the caller's lock other threads.
pub(crate) struct FileCommit<'storage> {
    storage: &'storage FileStorage,
    seal: &'storage Seal,
}

impl StorageCommit for FileCommit<'_> {
    fn apply(&self, changes: &ChangeSet<'_>) -> Result<Option<String>, CommitError> {
        reach("commit-validated")?;
        let attempt = Attempt {
            storage: self.storage,
            changes,
            seal: self.seal,
            id: new_id(),
        };
        let mut plan = plan(changes, attempt.root(), &attempt.temps())?;
        if plan.steps.is_empty() {
            return Ok(None);
        }
        plan.changes_no_note = changes.net.is_empty();
        attempt.apply_durably(plan)?;
        Ok(Some(attempt.id))
    }
}

/// One attempt to apply a change set. The commit lock is held.
pub(crate) struct Attempt<'commit> {
    pub(crate) storage: &'commit FileStorage,
    pub(crate) changes: &'commit ChangeSet<'commit>,
    pub(crate) seal: &'commit Seal,
    pub(crate) id: String,
}

impl Attempt<'_> {
    pub(crate) fn root(&self) -> &Folder {
        &self.storage.root
    }

    /// What the paths of this commit's temporary files begin with. Small commits share a folder: making one for each would
    /// take longer than writing a note. A large one has its own, because some disks go through all that was removed from a
    /// folder lately before they make a new file there.
    fn temps(&self) -> String {
        let folder = temps_folder();
        match self.is_large() {
            true => format!("{folder}/{}/", self.seal.prefix(&self.id)),
            false => format!("{folder}/{}-", self.seal.prefix(&self.id)),
        }
    }

    pub(crate) fn is_large(&self) -> bool {
        self.changes.staged.len() > OWN_FOLDER_STEPS
    }

    pub(crate) fn journal(&self, direction: Direction) -> String {
        self.seal.journal_name(&self.id, direction)
    }

    fn journals(&self) -> [String; 2] {
        [Direction::Forward, Direction::Back].map(|direction| self.journal(direction))
    }

    /// The location of a temporary file: its folder and its name in it.
    pub(crate) fn temp(&self, name: &str) -> (String, String) {
        let path = self.temps() + name;
        let (folder, name) = split(&path);
        (folder.to_owned(), name.to_owned())
    }

    fn apply_durably(&self, mut plan: Plan) -> Result<(), CommitError> {
        // A panic is a failure like any other, up to where everything is in its place.
        let prepared = contained(|| self.prepare(&mut plan));
        if let Err(error) = prepared.unwrap_or_else(|| Err(panicked().into())) {
            return Err(self.take_back(&plan, 0).err().unwrap_or(error));
        }
        // From here on readers may see a part of it.
        self.storage.sequence.fetch_add(1, Ordering::SeqCst);
        let mut begun = 0;
        let applied = contained(|| self.apply(&plan, &mut begun))
            .unwrap_or_else(|| Err(VaultError::io("", &io::Error::other("a panic")).into()));
        let taken_back = match &applied {
            Ok(()) => Ok(()),
            Err(_) => self.take_back(&plan, begun),
        };
        self.storage.sequence.fetch_add(1, Ordering::SeqCst);
        taken_back?;
        applied?;
        // Everything is there. What fails from here on is settled at the next start, and must not be reported as a failure
        // of the commit.
        contained(|| self.finish(&plan));
        Ok(())
    }

    /// What is left to do when everything is in its place. A panic in one part keeps no other from being done.
    fn finish(&self, plan: &Plan) {
        let storage = self.storage;
        let settle = || -> Result<(), VaultError> {
            let full = |error: io::Error| VaultError::io(PRIVATE, &error);
            storage.history.mark_done(&self.id)?;
            if plan.changes_no_note {
                // Without the journal nothing but this mark shows that it happened.
                storage.history.sync().map_err(full)?;
            }
            fail_point("commit-history-done").map_err(full)?;
            self.remove_journal(plan).map_err(full)?;
            fail_point("commit-journal-removed").map_err(full)
        };
        let settled = contained(settle).unwrap_or_else(|| Err(panicked()));
        if let Err(error) = settled {
            tracing::warn!(
                code = error.code().as_str(),
                "a commit succeeded but its cleanup failed; the next start repeats it"
            );
            // A journal must not outlive the next commit: replayed after that, it would undo it.
            let removed = contained(|| self.remove_journal(plan));
            if removed.is_none_or(|removed| removed.is_err()) {
                storage.stale_journals.lock().extend(self.journals());
            }
        }
        contained(|| self.clear(plan));
        contained(|| storage.forget_restored(&plan.restored));
        let gone = self.changes.gone_folders.iter();
        gone.for_each(|folder| storage.listings.forget(folder));
        contained(|| storage.prune());
    }

    /// Does the steps, and waits until they are safe on disk. `begun` counts them.
    fn apply(&self, plan: &Plan, begun: &mut usize) -> Result<(), CommitError> {
        if let [step] = plan.steps.as_slice() {
            *begun += 1;
            self.apply_single(step)?;
        } else {
            for step in &plan.steps {
                *begun += 1;
                step.apply(self.root())?;
            }
        }
        fail_point("commit-applied")
            .and_then(|()| sync_folders(self.root(), plan.steps.iter().flat_map(Step::touched)))
            .and_then(|()| fail_point("commit-folders-synced"))
            .map_err(|error| VaultError::io("", &error).into())
    }

    /// Applies the only step of a commit, and keeps the listing of its folder current.
    fn apply_single(&self, step: &Step) -> Result<(), CommitError> {
        let (path, is_new) = match step {
            Step::Create { path, .. } => (path, true),
            Step::Replace { path, .. } => (path, false),
            _ => return step.apply(self.root()),
        };
        let (parent, name) = split(path);
        let listings = &self.storage.listings;
        let folder = self.root().descend(parent).ok();
        let folder = folder.filter(|folder| listings.is_current(parent, folder));
        step.apply(self.root())?;
        if let Some(folder) = folder {
            listings.record_commit(parent, &folder, is_new.then_some(name));
        }
        Ok(())
    }

    /// Leaves everything as it was before a commit that failed after so many steps.
    fn take_back(&self, plan: &Plan, begun: usize) -> Result<(), CommitError> {
        let taken_back = contained(|| self.roll_back(plan, begun))
            .unwrap_or_else(|| Err(io::Error::other("a panic")));
        if let Err(error) = taken_back {
            // The journal and the history stay as they are: with them the next start can decide what happened.
            tracing::error!(error = %error.kind(), "a commit could not be rolled back; the next start retries");
            let storage = self.storage;
            storage.needs_recovery.store(true, Ordering::SeqCst);
            let failed = VaultError::internal("roll back a failed commit", error.kind());
            return Err(CommitError::Unsettled(failed.with_hint(RESTART_HINT)));
        }
        contained(|| self.clear(plan));
        contained(|| self.forget());
        Ok(())
    }

    fn roll_back(&self, plan: &Plan, begun: usize) -> io::Result<()> {
        let root = self.root();
        let steps = &plan.steps[..begun];
        // A rollback that is interrupted must go on as one: the journal records it before it begins.
        if let Ok(journals) = root.descend(&journal_folder())
            && journals
                .status(&self.journal(Direction::Forward))?
                .is_some()
        {
            journals.rename_over(
                &self.journal(Direction::Forward),
                &journals,
                &self.journal(Direction::Back),
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
        for name in self.journals() {
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
                && journals
                    .status(&self.journal(Direction::Forward))?
                    .is_some()
            {
                // The journal could not be removed, so the temporary files are still named by it.
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
            if !temps.unlink(name)? {
                temps.unlink(&kept_name(name))?;
            }
        }
        if plan.needs_journal() {
            temps.unlink(&journal)?;
        }
        if self.is_large() {
            let folder = self.root().descend(&temps_folder())?;
            folder.unlink_folder(&self.seal.prefix(&self.id))?;
        }
        Ok(())
    }

    fn forget(&self) {
        if let Err(error) = self.storage.history.forget(&self.id) {
            tracing::warn!(
                code = error.code().as_str(),
                "the history entry of a failed commit stays pending until the next start"
            );
        }
    }
}

fn panicked() -> VaultError {
    VaultError::broken("the commit panicked; nothing was changed")
}
