//! The atomic steps of a commit: how each is applied, verified, reverted, and redone after a crash. A journal is a
//! list of steps.
//!
//! Invariant: no step destroys a concurrent edit. Replacing swaps the files, and the swapped-out file is compared with
//! what was validated; if it differs, it is swapped back.

use std::{io, time::SystemTime};

use serde::{Deserialize, Serialize};

use crate::{
    error::{CommitError, VaultError},
    fail::fail_point,
    path::split,
    storage::{
        change_set::ReadFile,
        files::{
            commit::journal::temps_folder,
            disk::{Folder, is_absent},
            trash,
        },
        stamp::{Digest, Node, Stamp},
    },
};

/// One act. Paths are relative to the vault; those in `.notehost` are the vault's own.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Step {
    /// Creates a folder.
    MakeFolder { path: String },
    /// Moves a new file into its place.
    Create {
        temp: String,
        path: String,
        new: Content,
    },
    /// New content gets the place of a file; the old file stays where the new content was (or beside it), until the end.
    Replace {
        temp: String,
        path: String,
        new: Content,
        old: Expected,
    },
    /// Moves a file to a free path.
    Move {
        from: String,
        to: String,
        expected: Expected,
    },
    /// Removes a folder if it is empty.
    Prune { path: String },
}

/// New content, written and synced.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Content {
    pub(crate) digest: Digest,
    pub(crate) inode: u64,
}

impl Content {
    /// Whether the file at a name has this content.
    fn is_at(&self, folder: &Folder, name: &str) -> io::Result<bool> {
        Ok(folder
            .digest(name)?
            .is_some_and(|(digest, _)| digest == self.digest))
    }
}

/// A file as it was when the transaction was validated.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Expected {
    pub(crate) digest: Digest,
    pub(crate) stamp: Stamp,
    /// Whether an edit within the resolution of the disk's clock could hide behind the stamp.
    is_racy: bool,
}

impl Expected {
    pub(crate) fn of(file: &ReadFile) -> Self {
        let stamp = file.status.stamp;
        Expected {
            digest: file.digest,
            stamp,
            is_racy: stamp.is_racy(SystemTime::now()),
        }
    }

    /// Whether the file at a name is the expected one.
    pub(crate) fn is_at(&self, folder: &Folder, name: &str) -> io::Result<bool> {
        let Some(status) = folder.status(name)? else {
            return Ok(false);
        };
        if status.node != Node::File {
            return Ok(false);
        }
        if !self.is_racy && status.stamp.is_renamed_from(&self.stamp) {
            return Ok(true);
        }
        Ok(folder
            .digest(name)?
            .is_some_and(|(digest, _)| digest == self.digest))
    }
}

/// Makes a folder of a step: private if it is the vault's own, else as a person would make it.
pub(crate) fn make_folder(folder: &Folder, name: &str, path: &str) -> io::Result<bool> {
    match path.starts_with('.') {
        true => folder.make_private_folder(name),
        false => folder.make_folder(name),
    }
}

/// Whether a path is that of a temporary file, which the next start removes.
pub(crate) fn is_temporary(path: &str) -> bool {
    split(path).0.starts_with(&temps_folder())
}

/// What a file is called that was replaced where the disk cannot swap two files.
pub(crate) fn kept_name(temp: &str) -> String {
    format!("{temp}.old")
}

/// What was swapped out is not what was validated: it goes back. `false` if ours was replaced meanwhile: then it was seen and
/// counts as done, and what somebody wrote last stays.
fn put_back(
    temps: &Folder,
    temp: &str,
    folder: &Folder,
    name: &str,
    inode: u64,
) -> io::Result<bool> {
    let is_ours = |folder: &Folder, name: &str| -> io::Result<bool> {
        let status = folder.status(name)?;
        Ok(status.is_some_and(|status| status.stamp.identity == inode))
    };
    if !is_ours(folder, name)? {
        return Ok(false);
    }
    temps.exchange(temp, folder, name)?;
    if is_ours(temps, temp)? {
        return Ok(true);
    }
    // Between looking and swapping somebody replaced ours: their version came out, and is the latest.
    temps.exchange(temp, folder, name)?;
    Ok(false)
}

impl Step {
    /// Applies the step.
    pub(crate) fn apply(&self, root: &Folder) -> Result<(), CommitError> {
        match self.attempt(root) {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.conflict()),
            // The name was taken, or what should be there went away, between validation and now.
            Err(error) if is_absent(&error) || error.kind() == io::ErrorKind::AlreadyExists => {
                Err(self.conflict())
            }
            Err(error) => Err(VaultError::io(self.shown(), &error).into()),
        }
    }

    /// A file differs from what was validated. Callers do not see paths of the vault's own.
    fn conflict(&self) -> CommitError {
        let path = self.shown();
        CommitError::Conflict {
            path: (!path.starts_with('.')).then(|| path.to_owned()),
        }
    }

    /// `false` if a file is not as expected; then nothing was changed.
    fn attempt(&self, root: &Folder) -> io::Result<bool> {
        match self {
            Step::MakeFolder { path } => {
                let (folder, name) = root.place(path)?;
                let is_made = make_folder(&folder, name, path)?;
                if !is_made
                    && !folder
                        .status(name)?
                        .is_some_and(|status| status.node == Node::Folder)
                {
                    return Ok(false);
                }
                fail_point("apply-folder-made")?;
                Ok(true)
            }
            Step::Create { temp, path, .. } => {
                let ((temps, temp), (folder, name)) = (root.place(temp)?, root.place(path)?);
                temps.rename_new(temp, &folder, name)?;
                fail_point("apply-put")?;
                Ok(true)
            }
            Step::Replace {
                temp,
                path,
                old,
                new,
            } => {
                let at = path;
                let ((temps, temp), (folder, name)) = (root.place(temp)?, root.place(path)?);
                // Writing aside took its time: an edit meanwhile is noticed here, before anybody
                // could see (and keep) content that is then taken back.
                if !old.is_at(&folder, name)? {
                    return Ok(false);
                }
                if !temps.exchange(temp, &folder, name)? {
                    // This disk cannot swap: the old file is kept under another name, from where it can be put back.
                    // The gap between looking and replacing is as small as can be.
                    let kept = kept_name(temp);
                    folder.keep(name, &temps, &kept)?;
                    temps.rename_over(temp, &folder, name)?;
                    fail_point("apply-exchanged")?;
                    if !old.is_at(&temps, &kept)? {
                        temps.rename_over(&kept, &folder, name)?;
                        return Ok(false);
                    }
                    fail_point("apply-put")?;
                    return Ok(true);
                }
                fail_point("apply-exchanged")?;
                if !old.is_at(&temps, temp)? {
                    if put_back(&temps, temp, &folder, name, new.inode)? {
                        return Ok(false);
                    }
                    trash::keep(root, &temps, temp, at)?;
                }
                fail_point("apply-put")?;
                Ok(true)
            }
            Step::Move { from, to, expected } => {
                let ((source, from), (folder, name)) = (root.place(from)?, root.place(to)?);
                if !expected.is_at(&source, from)? {
                    return Ok(false);
                }
                match source.rename_new(from, &folder, name) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                        // On a disk that takes both names for the same, the file is in its own way.
                        let same = folder
                            .status(name)?
                            .is_some_and(|now| now.stamp.identity == expected.stamp.identity);
                        if !same
                            || source
                                .status(from)?
                                .is_none_or(|now| now.stamp.identity != expected.stamp.identity)
                        {
                            return Err(error);
                        }
                        source.rename_over(from, &folder, name)?;
                    }
                    done => done?,
                }
                if !expected.is_at(&folder, name)? {
                    folder.rename_new(name, &source, from)?;
                    return Ok(false);
                }
                fail_point("apply-moved")?;
                Ok(true)
            }
            Step::Prune { path } => {
                match root.place(path) {
                    // What cannot be pruned may stay: an empty folder does no harm.
                    Ok((folder, name)) => drop(folder.unlink_folder(name)),
                    Err(error) if is_absent(&error) => {}
                    Err(error) => return Err(error),
                }
                fail_point("apply-pruned")?;
                Ok(true)
            }
        }
    }

    /// Takes it back if it was done and nobody touched the result since; it may have got half way only.
    pub(crate) fn revert(&self, root: &Folder) -> io::Result<()> {
        let is_inode = |folder: &Folder, name: &str, inode: u64| -> io::Result<bool> {
            Ok(folder
                .status(name)?
                .is_some_and(|status| status.stamp.identity == inode))
        };
        let reverted = match self {
            Step::MakeFolder { path } => root
                .place(path)
                .and_then(|(folder, name)| folder.unlink_folder(name))
                .map(|_| ()),
            Step::Prune { path } => root
                .place(path)
                .and_then(|(folder, name)| make_folder(&folder, name, path))
                .map(|_| ()),
            Step::Create { temp, path, new } => root.place(path).and_then(|(folder, name)| {
                // A file that somebody edited in place since is theirs by now.
                if !is_inode(&folder, name, new.inode)? || !new.is_at(&folder, name)? {
                    return Ok(());
                }
                let (temps, temp) = root.place(temp)?;
                folder.rename_new(name, &temps, temp)
            }),
            Step::Replace {
                temp, path, new, ..
            } => root.place(path).and_then(|(folder, name)| {
                if !is_inode(&folder, name, new.inode)? {
                    return Ok(());
                }
                let (temps, temp) = root.place(temp)?;
                let kept = kept_name(temp);
                let is_kept = temps.status(&kept)?.is_some();
                if !new.is_at(&folder, name)? {
                    // Somebody edited it in place: their version stays, and the one that we replaced is kept beside it.
                    let old = if is_kept { &kept } else { temp };
                    return trash::keep(root, &temps, old, path);
                }
                if is_kept {
                    return temps.rename_over(&kept, &folder, name);
                }
                match folder.exchange(name, &temps, temp)? {
                    true => Ok(()),
                    false => Err(io::ErrorKind::Unsupported.into()),
                }
            }),
            Step::Move { from, to, expected } => root.place(to).and_then(|(folder, name)| {
                if !is_inode(&folder, name, expected.stamp.identity)? {
                    return Ok(());
                }
                let (source, from_name) = root.place(from)?;
                match folder.rename_new(name, &source, from_name) {
                    // Somebody has written a new file there: it stays, and ours where it is found again.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                        match is_temporary(to) {
                            true => trash::keep(root, &folder, name, from),
                            false => Ok(()),
                        }
                    }
                    moved => moved,
                }
            }),
        };
        fail_point("rollback-step")?;
        match reverted {
            Err(error) if is_absent(&error) => Ok(()),
            done => done,
        }
    }

    /// The folders whose names it changes.
    pub(crate) fn touched(&self) -> impl Iterator<Item = &str> {
        let (one, other) = match self {
            Step::MakeFolder { path } | Step::Prune { path } => (split(path).0, None),
            Step::Create { path, .. } | Step::Replace { path, .. } => (split(path).0, None),
            Step::Move { from, to, .. } => (split(from).0, Some(split(to).0)),
        };
        [Some(one), other].into_iter().flatten()
    }

    /// Every path that it names.
    #[cfg(any(fuzzing, test))]
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        let (one, other) = match self {
            Step::MakeFolder { path } | Step::Prune { path } => (path, None),
            Step::Create { temp, path, .. } | Step::Replace { temp, path, .. } => {
                (temp, Some(path))
            }
            Step::Move { from, to, .. } => (from, Some(to)),
        };
        [Some(one), other].into_iter().flatten().map(String::as_str)
    }

    /// The path that a conflict names: never one of the vault's own if there is another.
    pub(crate) fn shown(&self) -> &str {
        match self {
            Step::Move { from, to, .. } if from.starts_with('.') => to,
            Step::Move { from: path, .. }
            | Step::MakeFolder { path }
            | Step::Prune { path }
            | Step::Create { path, .. }
            | Step::Replace { path, .. } => path,
        }
    }
}
