//! Crash recovery: journals are finished or rolled back. Journals that are not replayed and temporary files are
//! handled in `leftovers`, pending changes without a journal in `pending_changes`.
//!
//! A person may have edited files since the crash. Their version stays in place; the version of the interrupted commit
//! goes to the trash.

use notehost_sdk::Code;
use std::io;

use crate::{
    VaultError,
    fail::fail_point,
    path::{PRIVATE, join},
    storage::{
        files::{
            FileStorage,
            commit::{
                journal::{Direction, Journal, MAX_JOURNAL, Origin, Seal, journal_folder},
                leftovers::Unfinished,
                steps::{Expected, Step, is_temporary, make_folder},
            },
            disk::{Folder, is_absent, read_bounded},
            private_folder::close,
            sync::sync_folders,
            trash,
        },
        records::TrashNote,
        stamp::Node,
    },
};

impl FileStorage {
    /// Brings the vault into a whole state. Nothing else uses it yet.
    pub(crate) fn recover(&self) -> Result<(), VaultError> {
        let _span = tracing::debug_span!("vault.recover", vault = self.id).entered();
        let reach = |name| fail_point(name).map_err(|error| self.unrecovered(PRIVATE, &error));
        reach("recover-begin")?;
        let Some(lock) = &self.lock else {
            return Ok(());
        };
        let seal = &lock.seal;
        if let Ok(private) = self.root.folder(PRIVATE) {
            // As a version before this one, or a sync tool, made it. Where it belongs to somebody else it stays so.
            let _ = close(&private, "", 0);
        }
        let unfinished = self.finish_journals(seal)?;
        self.rescue_parked(seal, &unfinished);
        self.settle_history(seal)?;
        self.set_aside(seal, &unfinished);
        reach("recover-history-settled")?;
        if let Err(error) = self.remove_leftovers(seal, &unfinished) {
            // They are in nobody's way.
            tracing::warn!(vault = self.id, error = %error, "temporary files were left; the next start removes them");
        }
        reach("recover-end")
    }

    /// Why a start ends here. What could not be read may be needed to make the vault whole, so the start does not go on
    /// without it.
    pub(crate) fn unrecovered(&self, path: &str, error: &io::Error) -> VaultError {
        let owner = self.root.status(PRIVATE).ok().flatten();
        let owner = owner.map(|status| status.owner.0);
        unrecovered(&self.id, path, error, owner, own_user())
    }

    /// Finishes or takes back the commits of our journals. Returns those that are not replayed.
    fn finish_journals(&self, seal: &Seal) -> Result<Unfinished, VaultError> {
        let mut unfinished = Unfinished::default();
        let place = journal_folder();
        let failed = |error: io::Error| self.unrecovered(&place, &error);
        let Some(journals) = optional(self.root.descend(&place)).map_err(failed)? else {
            return Ok(unfinished);
        };
        let names = journals.names().map_err(failed)?.into_iter();
        let mut names: Vec<String> = names.map(|(name, _)| name).collect();
        names.sort_unstable();
        let mut others = Vec::new();
        for name in names {
            match seal.origin(&name) {
                Origin::Own => {}
                Origin::Other => {
                    others.push(name);
                    continue;
                }
                Origin::Unknown => {
                    unfinished.journals.push(name);
                    continue;
                }
            }
            let failed = |error: io::Error| self.unrecovered(&join(&place, &name), &error);
            let opened = match read_journal(&journals, &name) {
                Ok(opened) => opened,
                // A name does not prove that it is ours: only what a commit still waits for may stop the start.
                Err(error) => match seal.commit_of(&name) {
                    Some(commit) if self.history.is_done(commit)? == Some(false) => {
                        return Err(failed(error));
                    }
                    _ => None,
                },
            };
            let opened = opened.and_then(|bytes| seal.open(&name, &bytes));
            let Some((journal, direction)) = opened else {
                unfinished.journals.push(name);
                continue;
            };
            unfinished.learn(&journal);
            let is_done = self.history.is_done(&journal.id)?;
            // A journal comes with a change that is still pending in the history. One that was kept or copied from an
            // earlier commit must not be replayed over what came later.
            if is_done.is_none() || is_done == Some(true) && direction == Direction::Back {
                unfinished.journals.push(name);
                continue;
            }
            // Everything was in its place when the change was marked as done.
            let is_open = is_done == Some(false);
            if is_open {
                self.replay(&journal, direction)?;
            }
            self.close_journal(&journals, &name, &journal, direction)
                .map_err(failed)?;
            if is_open {
                let done = match direction {
                    Direction::Forward => "finished",
                    Direction::Back => "rolled back",
                };
                tracing::warn!(
                    vault = self.id,
                    change = journal.id,
                    steps = journal.steps.len(),
                    "a commit that a crash interrupted was {done}"
                );
            }
        }
        if !others.is_empty() {
            self.warn_of_others(&others);
        }
        Ok(unfinished)
    }

    /// Journals that another state folder wrote are left alone. If it is that of the same vault under another id or path,
    /// its owner has to know: the commit is half done until it starts so again.
    fn warn_of_others(&self, names: &[String]) {
        let seals = self.state.parent().map(Seal::all).unwrap_or_default();
        let is_of = |seal: &Seal| names.iter().any(|name| seal.origin(name) == Origin::Own);
        for (left_as, _) in seals.iter().filter(|(_, seal)| is_of(seal)) {
            tracing::error!(
                vault = self.id,
                left_as,
                "a change was interrupted when this machine served the vault under another id or path: start once with \
                 those, which finishes the change or takes it back"
            );
        }
        tracing::warn!(
            vault = self.id,
            count = names.len(),
            "journals of another machine or state folder are left alone"
        );
    }

    fn replay(&self, journal: &Journal, direction: Direction) -> Result<(), VaultError> {
        let mut steps: Vec<&Step> = journal.steps.iter().collect();
        if direction == Direction::Back {
            steps.reverse();
        }
        for step in steps {
            match direction {
                Direction::Forward => self.redo(step, journal),
                Direction::Back => step.revert(&self.root),
            }
            .and_then(|()| fail_point("recover-step"))
            .map_err(|error| self.unrecovered(step.shown(), &error))?;
        }
        Ok(())
    }

    /// Settles the change of a journal that was replayed, and removes the journal.
    fn close_journal(
        &self,
        journals: &Folder,
        name: &str,
        journal: &Journal,
        direction: Direction,
    ) -> io::Result<()> {
        sync_folders(&self.root, journal.steps.iter().flat_map(Step::touched))?;
        fail_point("recover-journal-redone")?;
        if direction == Direction::Forward {
            // Before the journal goes: without both, nothing shows that it happened.
            self.settled(self.history.mark_done(&journal.id));
            self.history.sync()?;
        }
        journals.unlink(name)?;
        journals.sync()?;
        if direction == Direction::Back {
            // After the journal is gone: with it and without the change, it would look like a foreign one.
            self.settled(self.history.forget(&journal.id));
        }
        fail_point("recover-journal-removed")
    }

    fn settled(&self, settled: Result<(), VaultError>) {
        if let Err(error) = settled {
            tracing::warn!(
                vault = self.id,
                code = error.code().as_str(),
                "the history could not record how a commit ended"
            );
        }
    }

    /// Removes journals that could not be removed when their commits landed. Before that nothing else may land: the next
    /// start would do their steps again, over what came later.
    pub(crate) fn remove_stale_journals(&self) -> Result<(), VaultError> {
        let mut names = self.stale_journals.lock();
        if names.is_empty() {
            return Ok(());
        }
        let removed = optional(self.root.descend(&journal_folder())).and_then(|journals| {
            let Some(journals) = journals else {
                return Ok(());
            };
            names
                .iter()
                .try_for_each(|name| journals.unlink(name).map(drop))?;
            journals.sync()
        });
        removed.map_err(|error| VaultError::io(PRIVATE, &error))?;
        names.clear();
        Ok(())
    }

    /// Does a step that may have been done already, or half.
    fn redo(&self, step: &Step, journal: &Journal) -> io::Result<()> {
        let root = &self.root;
        match step {
            Step::MakeFolder { path } => {
                if let Some((folder, name)) = optional(root.place(path))? {
                    make_folder(&folder, name, path)?;
                }
            }
            Step::Prune { path } => {
                if let Some((folder, name)) = optional(root.place(path))? {
                    folder.unlink_folder(name)?;
                }
            }
            Step::Create { temp, path, new } => {
                let Some((temps, temp)) = optional(root.place(temp))? else {
                    return Ok(());
                };
                // Only what was written for it: anybody could have put another file there since.
                if temps
                    .digest(temp)?
                    .is_none_or(|(digest, _)| digest != new.digest)
                {
                    return Ok(());
                }
                let Some((folder, name)) = optional(root.place(path))? else {
                    return self.keep_ours(&temps, temp, path, journal);
                };
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
                let is_ours = swapped.stamp.identity == new.inode
                    || swapped.stamp.identity != old.stamp.identity
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
                            .is_some_and(|now| now.stamp.identity == new.inode);
                        if is_untouched {
                            temps.exchange(temp, &folder, name)?;
                        }
                        self.keep_ours(&temps, temp, path, journal)?;
                    }
                    _ => {}
                }
            }
            Step::Move { from, to, expected } => self.redo_move(from, to, expected, journal)?,
        }
        Ok(())
    }

    fn redo_move(
        &self,
        from: &str,
        to: &str,
        expected: &Expected,
        journal: &Journal,
    ) -> io::Result<()> {
        let root = &self.root;
        let Some((source, from_name)) = optional(root.place(from))? else {
            return Ok(());
        };
        let at_source = source
            .status(from_name)?
            .filter(|status| status.node == Node::File);
        // A note that was parked is removed with the temporary files unless it gets a place.
        let is_parked = at_source.is_some() && is_temporary(from);
        let Some((folder, name)) = optional(root.place(to))? else {
            return match is_parked {
                true => self.keep_ours(&source, from_name, to, journal),
                false => Ok(()),
            };
        };
        if is_parked && folder.status(name)?.is_some() {
            return self.keep_ours(&source, from_name, to, journal);
        }
        let into_private = to.starts_with('.');
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
                    "a file was edited before it could be removed: it was restored"
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
        let state = self.lock.as_ref().map(|lock| lock.seal.state().to_owned());
        let note = TrashNote::now(path.to_owned(), journal.caller.clone(), state);
        trash::put(&self.root, temps, temp, note).map(drop)
    }
}

/// The bytes of a journal; `None` if there is no regular file of that name, or one that is too large to be a journal.
pub(crate) fn read_journal(journals: &Folder, name: &str) -> io::Result<Option<Vec<u8>>> {
    match journals.open(name)? {
        Some((mut file, status)) => read_bounded(&mut file, status.stamp.size, MAX_JOURNAL),
        None => Ok(None),
    }
}

/// The user that this process acts as.
fn own_user() -> u32 {
    notehost_platform::process::user_id()
}

/// Names the file that stops the start, and who can act. `owner` is the user that `.notehost` belongs to.
pub(crate) fn unrecovered(
    vault: &str,
    path: &str,
    error: &io::Error,
    owner: Option<u32>,
    own: u32,
) -> VaultError {
    let doing = format!("cannot recover vault `{vault}` after a crash");
    if error.kind() != io::ErrorKind::PermissionDenied {
        let cause = VaultError::io(path, error);
        let failure = VaultError::new(Code::Unavailable, format!("{doing}: {cause}"));
        return match cause.hint() {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        };
    }
    let is_private = path.starts_with(PRIVATE);
    let (whose, hint) = match owner.filter(|owner| is_private && *owner != own) {
        Some(owner) => (
            format!(
                ": `{PRIVATE}` belongs to the user {owner}, and this process runs as the user {own}"
            ),
            format!(
                "run notehost as the user {owner}, or, if no other process serves this vault, give the folder to this user: \
                 `sudo chown -R {own} {PRIVATE}` in the vault's folder"
            ),
        ),
        None if is_private => (
            String::new(),
            format!("allow it: `chmod -R u+rwX {PRIVATE}` in the vault's folder"),
        ),
        None => (
            String::new(),
            "make the file and its folder readable and writable for the user that runs notehost"
                .into(),
        ),
    };
    let message = format!("{doing}: access to `{path}` was denied{whose}");
    VaultError::new(Code::Unavailable, message).with_hint(hint)
}

fn has_content(folder: &Folder, name: &str, expected: &Expected) -> io::Result<bool> {
    Ok(folder
        .digest(name)?
        .is_some_and(|(digest, _)| digest == expected.digest))
}

/// What may be missing.
pub(crate) fn optional<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}
