//! Commits: comparing two states of the vault, the history that a caller may see, and undo.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::staging::{Staging, conflict};
use super::tree::{File, Tree, etag};
use super::view::View;
use crate::{Blob, Change, ChangeKind, Error, FileChange, Kind, Result, Tier};

#[derive(Debug, Default)]
pub(super) struct History {
    /// In order, latest last.
    pub(super) commits: Vec<Commit>,
    /// The change that the running call undoes.
    undoing: Option<Undoes>,
    /// Named versions.
    pub(super) names: Vec<VersionName>,
}

/// The name of a version of a file.
#[derive(Debug)]
pub(super) struct VersionName {
    /// Where the file is now, where it was in that version, and its etag then.
    pub(super) path: String,
    pub(super) origin: String,
    pub(super) etag: String,
    pub(super) name: String,
}

/// The change that a commit undoes.
#[derive(Debug)]
struct Undoes {
    change: String,
    /// Whether it undoes all of it, and not only the files that the caller may see.
    is_whole: bool,
}

#[derive(Debug)]
pub(super) struct Commit {
    pub(super) id: String,
    time: u64,
    action: String,
    undoes: Option<Undoes>,
    pub(super) files: Vec<Touched>,
    new_folders: Vec<String>,
    gone_folders: Vec<String>,
}

/// A file that a commit changed, with its bytes.
#[derive(Debug)]
pub(super) struct Touched {
    pub(super) change: FileChange,
    pub(super) before: Option<Rc<[u8]>>,
    pub(super) after: Option<Rc<[u8]>>,
}

impl History {
    /// Records the differences between two states, if there are any.
    pub(super) fn record(
        &mut self,
        before: &Tree,
        after: &Tree,
        action: &str,
        time: u64,
    ) -> Option<String> {
        let undoes = self.undoing.take();
        let files = compare(before, after);
        let new_folders: Vec<String> = after.folders.difference(&before.folders).cloned().collect();
        let gone_folders: Vec<String> =
            before.folders.difference(&after.folders).cloned().collect();
        if files.is_empty() && new_folders.is_empty() && gone_folders.is_empty() {
            return None;
        }
        for name in &mut self.names {
            let mut renamed = files.iter().map(|file| &file.change);
            let moved = renamed.find(|change| change.from.as_ref() == Some(&name.path));
            if let Some(change) = moved {
                name.path = change.path.clone();
            }
        }
        let id = format!("change-{}", self.commits.len() + 1);
        self.commits.push(Commit {
            id: id.clone(),
            time,
            action: action.to_owned(),
            undoes,
            files,
            new_folders,
            gone_folders,
        });
        Some(id)
    }

    /// Rejects an undo after other staged writes.
    pub(super) fn must_be_first(&self, before: &Tree, after: &Tree) -> Result<()> {
        if compare(before, after).is_empty() && before.folders == after.folders {
            return Ok(());
        }
        Err(Error::validation(
            "a change is undone before anything else is written",
        ))
    }

    /// Forgets the undo of a call that was rolled back.
    pub(super) fn forget_staged(&mut self) {
        self.undoing = None;
    }

    pub(super) fn history(
        &self,
        view: &View<'_>,
        path: Option<&str>,
        after: Option<&str>,
        limit: u32,
    ) -> Vec<Change> {
        let mut path = path.map(str::to_owned);
        let mut changes: Vec<Change> = Vec::new();
        for commit in self.commits.iter().rev() {
            let touches = match &path {
                None => commit.is_visible(view),
                Some(path) => commit.files.iter().any(|file| file.concerns(path)),
            };
            path = path.map(|path| commit.path_before(&path));
            if touches && commit.is_visible(view) {
                changes.push(self.visible_change(commit, view));
            }
        }
        if let Some(after) = after {
            let begin = changes.iter().position(|change| change.id == after);
            changes.drain(..begin.map_or(changes.len(), |at| at + 1));
        }
        changes.truncate(limit.max(1) as usize);
        changes
    }

    pub(super) fn before(&self, view: &View<'_>, path: &str, change: &str) -> Result<Option<Blob>> {
        let commit = self.commit(change, view)?;
        // The path after the change takes precedence over the path before it.
        let visible = || commit.files.iter().filter(|file| file.is_visible(view));
        let touched = visible()
            .find(|file| file.change.path == path)
            .or_else(|| visible().find(|file| file.concerns(path)));
        match touched {
            Some(touched) => Ok(touched.before.as_ref().map(|bytes| Blob {
                bytes: bytes.to_vec(),
                etag: etag(bytes),
            })),
            None => Err(Error::not_found(format!(
                "change `{change}` did not touch `{path}`"
            ))),
        }
    }

    pub(super) fn undo(
        &mut self,
        staging: &mut Staging<'_>,
        change: &str,
    ) -> Result<Vec<FileChange>> {
        let commit = self.commit(change, &staging.view())?;
        if self.is_undone(commit) {
            return Err(Error::conflict(format!(
                "change `{change}` is undone already"
            )));
        }
        let view = staging.view();
        let files: Vec<&Touched> = commit
            .files
            .iter()
            .filter(|file| file.is_wholly_visible(&view))
            .collect();
        let is_whole = files.len() == commit.files.len();
        for file in &files {
            file.check_undo(staging)?;
        }
        // First remove all files, then restore them: two files may have swapped paths.
        let identities: Vec<Option<u64>> = files.iter().map(|file| file.leave(staging)).collect();
        for (file, identity) in files.iter().zip(identities) {
            let Some(bytes) = &file.before else {
                continue;
            };
            let path = file.change.from.as_ref().unwrap_or(&file.change.path);
            if staging.free_place(path, Kind::File, None)? != *path {
                return Err(conflict(path));
            }
            let back = File {
                identity: identity.unwrap_or_else(|| staging.tree.count()),
                bytes: bytes.clone(),
                modified: staging.time,
            };
            staging.tree.put_file(path, back);
        }
        for folder in &commit.gone_folders {
            staging.tree.put_folder(folder);
        }
        for folder in commit.new_folders.iter().rev() {
            if staging.tree.is_empty(folder) {
                staging.tree.folders.remove(folder);
            }
        }
        let opposites = files.iter().map(|file| opposite(&file.change)).collect();
        self.undoing = Some(Undoes {
            change: change.to_owned(),
            is_whole,
        });
        Ok(opposites)
    }

    fn commit(&self, id: &str, view: &View<'_>) -> Result<&Commit> {
        self.commits
            .iter()
            .find(|commit| commit.id == id && commit.is_visible(view))
            .ok_or_else(|| Error::not_found(format!("no change `{id}`")))
    }

    /// Whether a later change undoes this one and is not undone itself.
    fn is_undone(&self, commit: &Commit) -> bool {
        self.commits.iter().any(|later| {
            let undoes = later.undoes.as_ref();
            undoes.is_some_and(|undoes| undoes.is_whole && undoes.change == commit.id)
                && !self.is_undone(later)
        })
    }

    /// A commit, limited to the files that the caller may see.
    pub(super) fn visible_change(&self, commit: &Commit, view: &View<'_>) -> Change {
        Change {
            id: commit.id.clone(),
            time: commit.time,
            caller: "test".to_owned(),
            action: commit.action.clone(),
            undoes: commit.undoes.as_ref().map(|undoes| undoes.change.clone()),
            undone: self.is_undone(commit),
            files: commit
                .files
                .iter()
                .filter(|file| file.is_visible(view))
                .map(|file| file.visible_change(view))
                .collect(),
        }
    }
}

impl Commit {
    fn is_visible(&self, view: &View<'_>) -> bool {
        let mut folders = self.new_folders.iter().chain(&self.gone_folders);
        self.files.iter().any(|file| file.is_visible(view))
            || folders.any(|path| view.sees(path, Kind::Folder))
    }

    /// The path of a file before this commit.
    fn path_before(&self, path: &str) -> String {
        let mut files = self.files.iter().map(|file| &file.change);
        let renamed = files.find(|change| change.path == path && change.from.is_some());
        renamed
            .and_then(|change| change.from.clone())
            .unwrap_or_else(|| path.to_owned())
    }
}

impl Touched {
    fn concerns(&self, path: &str) -> bool {
        self.change.path == path || self.change.from.as_deref() == Some(path)
    }

    fn is_visible(&self, view: &View<'_>) -> bool {
        let from = self.change.from.as_deref();
        view.sees(&self.change.path, Kind::File)
            || from.is_some_and(|from| view.sees(from, Kind::File))
    }

    /// For the caller, a rename from or to an invisible path is a creation or deletion.
    fn visible_change(&self, view: &View<'_>) -> FileChange {
        let mut change = self.change.clone();
        let Some(from) = change.from.clone() else {
            return change;
        };
        if !view.sees(&change.path, Kind::File) {
            change.kind = ChangeKind::Delete;
            change.path = from;
            change.from = None;
            change.after = None;
        } else if !view.sees(&from, Kind::File) {
            change.kind = ChangeKind::Create;
            change.from = None;
            change.before = None;
        }
        change
    }

    /// Whether both paths are visible; only then the change can be undone.
    fn is_wholly_visible(&self, view: &View<'_>) -> bool {
        let mut paths = self.change.from.iter().chain([&self.change.path]);
        paths.all(|path| view.sees(path, Kind::File))
    }

    /// Checks that the file is unchanged since the commit, and that the caller may change it back.
    fn check_undo(&self, staging: &Staging<'_>) -> Result<()> {
        let path = &self.change.path;
        let needed = match self.change.kind {
            ChangeKind::Create => Tier::Delete,
            ChangeKind::Modify | ChangeKind::Rename | ChangeKind::Delete => Tier::Write,
        };
        staging.scope.require(path, Kind::File, needed)?;
        match staging.tree.files.get(path).map(File::etag) {
            now if now == self.change.after => Ok(()),
            Some(_) if self.change.after.is_none() => {
                Err(Error::already_exists(format!("`{path}` is already there")))
            }
            _ => Err(conflict(path)),
        }
    }

    /// Removes the file from its place after the commit, possibly the trash; returns its identity.
    fn leave(&self, staging: &mut Staging<'_>) -> Option<u64> {
        let path = &self.change.path;
        match self.change.kind {
            ChangeKind::Create => {
                staging.discard(path);
                None
            }
            ChangeKind::Modify | ChangeKind::Rename => {
                let file = staging.tree.files.remove(path)?;
                Some(file.identity)
            }
            ChangeKind::Delete => {
                let trash = &mut staging.tree.trash;
                let at = trash.iter().rposition(|item| {
                    item.trashed.path == *path && Some(&item.file.bytes) == self.before.as_ref()
                })?;
                Some(trash.remove(at).file.identity)
            }
        }
    }
}

/// The changes of files between two states, in order of path.
fn compare(before: &Tree, after: &Tree) -> Vec<Touched> {
    let mut touched = Vec::new();
    let mut renamed = BTreeSet::new();
    let earlier = |identity: u64| {
        let mut files = before.files.iter();
        files.find(|(_, file)| file.identity == identity)
    };
    let stays = |file: &File| {
        let mut files = after.files.values();
        files.any(|other| other.identity == file.identity)
    };
    for (path, file) in &after.files {
        // A file at the path of a removed one counts as modified, whatever its identity.
        let replaced = before
            .files
            .get_key_value(path)
            .filter(|(_, old)| !stays(old));
        let (kind, old) = match replaced.or_else(|| earlier(file.identity)) {
            None => (ChangeKind::Create, None),
            Some((old_path, old)) if old_path != path => {
                renamed.insert(old_path);
                (ChangeKind::Rename, Some((old_path, old)))
            }
            Some((_, old)) if old.bytes == file.bytes => continue,
            Some(old) => (ChangeKind::Modify, Some(old)),
        };
        touched.push(Touched {
            change: FileChange {
                path: path.clone(),
                kind,
                from: old
                    .map(|(path, _)| path)
                    .filter(|old| *old != path)
                    .cloned(),
                before: old.map(|(_, file)| file.etag()),
                after: Some(file.etag()),
            },
            before: old.map(|(_, file)| file.bytes.clone()),
            after: Some(file.bytes.clone()),
        });
    }
    for (path, file) in &before.files {
        if !after.files.contains_key(path) && !renamed.contains(path) {
            touched.push(Touched {
                change: FileChange {
                    path: path.clone(),
                    kind: ChangeKind::Delete,
                    from: None,
                    before: Some(file.etag()),
                    after: None,
                },
                before: Some(file.bytes.clone()),
                after: None,
            });
        }
    }
    touched.sort_by(|a, b| a.change.path.cmp(&b.change.path));
    touched
}

fn opposite(change: &FileChange) -> FileChange {
    let (before, after) = (change.after.clone(), change.before.clone());
    let kind = match change.kind {
        ChangeKind::Create => ChangeKind::Delete,
        ChangeKind::Delete => ChangeKind::Create,
        same => same,
    };
    let (path, from) = match change.from.clone() {
        Some(from) => (from, Some(change.path.clone())),
        None => (change.path.clone(), None),
    };
    FileChange {
        path,
        kind,
        from,
        before,
        after,
    }
}
