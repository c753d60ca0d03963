//! Temporary files of interrupted commits: removed when they are no longer needed, otherwise kept where a person finds
//! them. Which commits are finished is decided in `recovery` and `pending_changes`.
//!
//! Invariant: a note that a commit parked is unlinked only if the history shows that the commit is done. A rename
//! stores no bytes in the history, so the parked file may be the only copy of the note.

use std::{
    collections::{HashMap, HashSet},
    io,
};

use crate::{
    identifier::{is_id, new_id},
    path::{PRIVATE, join},
    storage::{
        files::{
            FileStorage,
            commit::{
                journal::{Journal, Seal, journal_folder, set_aside_folder, temps_folder},
                plan::PARKED,
                recovery::optional,
                steps::{Step, is_temporary},
            },
            disk::{Folder, is_absent},
            trash,
        },
        records::TrashNote,
        stamp::{Digest, Node},
    },
};

/// Journals that recovery does not replay, and what is known of what they leave behind.
#[derive(Default)]
pub(crate) struct Unfinished {
    /// The names of the journals.
    pub(crate) journals: Vec<String>,
    parked: HashMap<String, Parked>,
}

/// A note that a commit moved out of the way.
#[derive(Clone)]
struct Parked {
    /// Where it was.
    path: String,
    caller: String,
}

impl Unfinished {
    /// Notes where a journal has parked notes. It carries our authentication code: no path in it is made up.
    pub(crate) fn learn(&mut self, journal: &Journal) {
        for step in &journal.steps {
            if let Step::Move { from, to, .. } = step
                && is_temporary(to)
            {
                let parked = Parked {
                    path: from.clone(),
                    caller: journal.caller.clone(),
                };
                self.parked.insert(to.clone(), parked);
            }
        }
    }

    /// The commits of the journals that are named as ours are.
    fn commits<'names>(&'names self, seal: &Seal) -> HashSet<&'names str> {
        let names = self.journals.iter();
        names.filter_map(|name| seal.commit_of(name)).collect()
    }
}

impl FileStorage {
    /// Moves parked notes to the trash whose commits are not done and have no journal that could be replayed. Called before
    /// the history is settled: a pending change shows where its notes were. What fails is tried again at the next start.
    pub(crate) fn rescue_parked(&self, seal: &Seal, unfinished: &Unfinished) {
        let rescued = self.each_parked(seal, |folder, path, name, commit| {
            if let Some(digest) = self.digest_if_needed(folder, name, commit)? {
                self.rescue(seal, unfinished, folder, path, name, (commit, digest))?;
            }
            Ok(())
        });
        if let Err(error) = rescued {
            tracing::error!(
                vault = self.id,
                error = %error,
                "could not move the notes of an interrupted commit out of `.notehost/tmp`; the next start retries"
            );
        }
    }

    /// Calls a function for each parked file of ours: with its folder, its path, its name and its commit. Goes on after
    /// an error, and returns the first.
    fn each_parked(
        &self,
        seal: &Seal,
        mut act: impl FnMut(&Folder, &str, &str, &str) -> io::Result<()>,
    ) -> io::Result<()> {
        let place = temps_folder();
        let Some(temps) = optional(self.root.descend(&place))? else {
            return Ok(());
        };
        let mut outcome = Ok(());
        for (name, node) in temps.names()? {
            let Some(commit) = seal.commit_of(&name) else {
                continue;
            };
            let path = join(&place, &name);
            let acted = match node {
                Node::File if is_parked(&name) => act(&temps, &path, &name, commit),
                Node::Folder => temps.folder(&name).and_then(|folder| {
                    let parked = folder.names()?.into_iter();
                    for (name, _) in parked.filter(|(name, _)| name.starts_with(PARKED)) {
                        act(&folder, &join(&path, &name), &name, commit)?;
                    }
                    Ok(())
                }),
                _ => Ok(()),
            };
            outcome = outcome.and(acted);
        }
        outcome
    }

    /// The digest of a parked file that may be the only copy of a note; `None` if its commit is done and had no more use
    /// for it, or if it is not a regular file.
    fn digest_if_needed(
        &self,
        folder: &Folder,
        name: &str,
        commit: &str,
    ) -> io::Result<Option<Digest>> {
        let Some((digest, _)) = folder.digest(name)? else {
            return Ok(None);
        };
        let change = self.history.any_change(commit).map_err(io::Error::other)?;
        let is_expendable = change.is_some_and(|(change, is_done)| {
            // A change without a journal is also marked as done when it half happened. Then a note that was only renamed
            // is nowhere else.
            let is_kept_by_rename = |before, after| before == Some(digest) && after == Some(digest);
            let mut files = change.files.iter();
            is_done && !files.any(|file| is_kept_by_rename(file.before, file.after))
        });
        Ok((!is_expendable).then_some(digest))
    }

    /// A note whose path is known goes to the trash. Where it is not, the rules cannot show who may see it: then the file
    /// goes to a folder that no caller can reach.
    fn rescue(
        &self,
        seal: &Seal,
        unfinished: &Unfinished,
        folder: &Folder,
        path: &str,
        name: &str,
        (commit, digest): (&str, Digest),
    ) -> io::Result<()> {
        let parked = match unfinished.parked.get(path) {
            Some(parked) => Some(parked.clone()),
            None => self.parked_by_history(commit, digest)?,
        };
        let Some(parked) = parked.filter(|parked| !parked.path.starts_with('.')) else {
            let place = self.open_set_aside()?;
            let free = seal.prefix(commit) + "-" + PARKED + &new_id();
            folder.rename_new(name, &place, &free)?;
            place.sync()?;
            tracing::error!(
                vault = self.id,
                change = commit,
                file = free,
                "a file that an interrupted commit moved is kept in `.notehost/set-aside`: where it was is not known, or it is a \
                 component's"
            );
            return Ok(());
        };
        let state = Some(seal.state().to_owned());
        let note = TrashNote::now(parked.path, parked.caller, state);
        let entry = trash::put(&self.root, folder, name, note)?;
        tracing::error!(
            vault = self.id,
            change = commit,
            entry,
            "a note of an interrupted commit was moved to the trash: the commit can be neither finished nor rolled back"
        );
        Ok(())
    }

    fn parked_by_history(&self, commit: &str, digest: Digest) -> io::Result<Option<Parked>> {
        let change = self.history.any_change(commit).map_err(io::Error::other)?;
        Ok(change.and_then(|(change, _)| {
            let mut files = change.files.into_iter();
            let file = files.find(|file| file.before == Some(digest))?;
            Some(Parked {
                path: file.from.unwrap_or(file.path),
                caller: change.caller,
            })
        }))
    }

    /// Journals that this machine did not write, or not for a commit that is open, are never replayed: they go where a
    /// person finds them, and nothing that they name is touched. Temporary files of those that carry our name go along:
    /// they may have versions of notes that are nowhere else. The program that put a journal there could also have made that
    /// impossible: then everything stays where it is, and is ignored.
    ///
    /// A journal with our authentication code whose change is missing in the history is not replayed either. The history
    /// may have been lost after the crash, but the same journal may as well be an old one that a sync tool brought back
    /// after its change was pruned, and replayed over what came later it would destroy that. Not replaying loses nothing.
    pub(crate) fn set_aside(&self, seal: &Seal, unfinished: &Unfinished) {
        let names = &unfinished.journals;
        let Some(first) = names.first() else {
            return;
        };
        let moved = || -> io::Result<()> {
            let place = self.open_set_aside()?;
            // The journals go last: as long as they are there, a start that is interrupted does the rest again.
            if let Some(temps) = optional(self.root.descend(&temps_folder()))? {
                let commits = unfinished.commits(seal);
                for (name, _) in temps.names()? {
                    if let Some(commit) = seal.commit_of(&name)
                        && commits.contains(commit)
                    {
                        move_aside(seal, &temps, &name, &place)?;
                    }
                }
                place.sync()?;
                temps.sync()?;
            }
            let journals = self.root.descend(&journal_folder())?;
            for name in names {
                move_aside(seal, &journals, name, &place)?;
            }
            place.sync()?;
            journals.sync()
        };
        let place = match moved() {
            Ok(()) => "set aside in `.notehost/set-aside`",
            Err(_) => "ignored, and could not be set aside in `.notehost/set-aside`",
        };
        tracing::error!(
            vault = self.id,
            count = names.len(),
            first,
            "journals not written by this machine, or not for an unfinished commit, were {place}; they were not replayed"
        );
    }

    fn open_set_aside(&self) -> io::Result<Folder> {
        let private = self.root.folder(PRIVATE)?;
        if private.make_private_folder("set-aside")? {
            private.sync()?;
        }
        self.root.descend(&set_aside_folder())
    }

    /// Removes temporary files that are no longer needed, trash notes without files, and empty folders.
    pub(crate) fn remove_leftovers(&self, seal: &Seal, unfinished: &Unfinished) -> io::Result<()> {
        // What could not be rescued or set aside.
        let mut needed: HashSet<String> = HashSet::new();
        self.each_parked(seal, |folder, _, name, commit| {
            if self.digest_if_needed(folder, name, commit)?.is_some() {
                needed.insert(commit.to_owned());
            }
            Ok(())
        })?;
        needed.extend(unfinished.commits(seal).into_iter().map(str::to_owned));
        self.remove_temps(seal, &needed)?;
        self.remove_trash_notes(seal)?;
        self.tidy_private_folders();
        Ok(())
    }

    fn remove_temps(&self, seal: &Seal, needed: &HashSet<String>) -> io::Result<()> {
        let Some(temps) = optional(self.root.descend(&temps_folder()))? else {
            return Ok(());
        };
        for (name, node) in temps.names()? {
            let commit = seal.commit_of(&name);
            if commit.is_none_or(|commit| needed.contains(commit)) {
                continue;
            }
            match node {
                Node::Folder => remove_folder(&temps, &name)?,
                _ => drop(temps.unlink(&name)?),
            }
        }
        Ok(())
    }

    fn remove_trash_notes(&self, seal: &Seal) -> io::Result<()> {
        let Some(trash) = optional(self.root.descend(&trash::folder()))? else {
            return Ok(());
        };
        for (name, _) in trash.names()? {
            // Another machine's note may come before its file, where the vault is synced.
            if let Some(id) = name.strip_suffix(".json").filter(|id| is_id(id))
                && trash.status(id)?.is_none()
                && TrashNote::read(&trash, id)
                    .is_some_and(|note| note.state.as_deref() == Some(seal.state()))
            {
                trash.unlink(&name)?;
            }
        }
        Ok(())
    }
}

/// Whether this is the name of a parked file in the folder that small commits share: `STATE-COMMIT-parked-N`.
fn is_parked(name: &str) -> bool {
    let mut parts = name.splitn(3, '-').skip(2);
    parts.next().is_some_and(|rest| rest.starts_with(PARKED))
}

/// A name of ours is kept, so that a journal and its files are found together.
fn move_aside(seal: &Seal, from: &Folder, name: &str, to: &Folder) -> io::Result<()> {
    let free = match seal.commit_of(name) {
        Some(commit) => match from.rename_new(name, to, name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                format!("{}-{}", seal.prefix(commit), new_id())
            }
            Err(error) if is_absent(&error) => return Ok(()),
            done => return done,
        },
        None => format!("journal-{}", new_id()),
    };
    from.rename_new(name, to, &free)
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
