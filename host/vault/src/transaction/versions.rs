//! The versions of a file: its states after each change that touched it, and those that other programs wrote in between.
//!
//! A version is named by the change that left it. A state that no change left is `before-ID`, after the change that
//! replaced it, or `current`. Invariant: a version is visible only if the caller may read the file now and could read it at
//! the path that it had then; where the file came from a hidden path, its earlier versions do not exist.

use std::collections::VecDeque;

use notehost_sdk::Code;
use serde_json::json;

use crate::{
    diff::{DiffBudget, compare},
    error::VaultError,
    path::folded,
    storage::{
        records::{ChangeRow, FileRow, NameRow},
        stamp::{Digest, Node},
    },
    transaction::Transaction,
    types::{Blob, Version},
};

/// The version that is in the vault.
pub(super) const CURRENT: &str = "current";
/// Begins the version before a change.
pub(super) const BEFORE: &str = "before-";
const MAX_VERSIONS: usize = 500;
/// So many bytes are compared to count lines; versions after that have no counts.
const MAX_COMPARED_BYTES: usize = 32 << 20;

/// A state of a file.
pub(crate) struct FileState {
    pub(crate) id: String,
    /// Its path then.
    pub(crate) path: String,
    /// The change that left it.
    pub(crate) row: Option<ChangeRow>,
    /// Its content; `None` if the file was not there.
    pub(crate) digest: Option<Digest>,
    /// Whether it differs from the state that the change before left.
    is_listed: bool,
    /// Whether nothing was there before it.
    is_first: bool,
}

/// Goes through the states of a file, the latest first.
struct StateWalk {
    /// Where the file was before the changes that were visited; `None` at the end.
    path: Option<String>,
    /// The latest change that was visited.
    number: i64,
    replaced_by: Option<String>,
    /// What the file must have been before that change.
    expected: Option<Digest>,
    found: VecDeque<FileState>,
}

impl StateWalk {
    fn next(&mut self, transaction: &Transaction) -> Result<Option<FileState>, VaultError> {
        while self.found.is_empty() {
            let Some(path) = self.path.take() else {
                return Ok(None);
            };
            transaction.access.limits.check_deadline()?;
            let storage = &transaction.vault.storage;
            let row = storage.change_touching(&path, self.number)?;
            let left = row.as_ref().map(|row| left_at(row, &path));
            let after = left.and_then(|left| left.after);
            self.found.push_back(FileState {
                id: match &self.replaced_by {
                    None => CURRENT.to_owned(),
                    Some(change) => format!("{BEFORE}{change}"),
                },
                path: path.clone(),
                row: None,
                digest: self.expected,
                is_listed: self.expected.is_some() && self.expected != after,
                is_first: false,
            });
            let Some((row, left)) = row.as_ref().zip(left) else {
                return Ok(self.found.pop_front());
            };
            // Before a rename from where this caller may not look, there was nothing.
            let is_visible = left.from.is_none_or(|from| transaction.sees_past(from));
            self.found.push_back(FileState {
                id: row.id.clone(),
                path: path.clone(),
                row: Some(row.clone()),
                digest: after,
                is_listed: true,
                is_first: left.before.is_none() || !is_visible,
            });
            if is_visible {
                self.path = Some(left.from.map_or(path, str::to_owned));
            }
            self.number = row.number;
            self.replaced_by = Some(row.id.clone());
            self.expected = left.before;
        }
        Ok(self.found.pop_front())
    }
}

/// What a change did to the file at a path.
#[derive(Clone, Copy)]
struct Left<'row> {
    before: Option<Digest>,
    after: Option<Digest>,
    from: Option<&'row str>,
}

fn left_at<'row>(row: &'row ChangeRow, path: &str) -> Left<'row> {
    let here = |file: &&FileRow| file.path == path;
    // Where one file was removed and another took its place, the path has the latter.
    let stays = row
        .files
        .iter()
        .filter(here)
        .find(|file| file.after.is_some());
    if let Some(file) = stays.or_else(|| row.files.iter().find(here)) {
        return Left {
            before: file.before,
            after: file.after,
            from: file.from.as_deref(),
        };
    }
    let moved = row
        .files
        .iter()
        .find(|file| file.from.as_deref() == Some(path));
    Left {
        before: moved.and_then(|file| file.before),
        after: None,
        from: None,
    }
}

/// A version that a name keeps.
fn named_state(row: NameRow) -> FileState {
    FileState {
        id: row.name,
        path: row.origin,
        row: None,
        digest: Some(row.digest),
        is_listed: true,
        is_first: false,
    }
}

/// A version whose predecessor has not been visited yet.
struct Uncounted {
    version: Version,
    /// Its content, if it is known and may be compared.
    content: Option<Option<Vec<u8>>>,
    is_first: bool,
}

impl Uncounted {
    fn counted(mut self, before: Option<Option<&[u8]>>, budget: &DiffBudget) -> Version {
        let before = match self.is_first {
            true => Some(None),
            false => before,
        };
        if let (Some(before), Some(after)) = (before, &self.content) {
            let (added, removed, _) = compare(before, after.as_deref(), budget);
            (self.version.added, self.version.removed) = (Some(added), Some(removed));
        }
        self.version
    }
}

impl Transaction {
    /// The versions of a file, the latest first, also under earlier names and after its removal.
    pub fn versions(
        &mut self,
        path: &str,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<Version>, VaultError> {
        let limit = (limit as usize).clamp(1, MAX_VERSIONS);
        let (now, mut walk) = self.walk_states(path)?;
        let budget = DiffBudget::new();
        let mut room = MAX_COMPARED_BYTES;
        // What was current may have been recorded since: the rest is everything.
        let mut is_past = after.is_none_or(|after| after == CURRENT);
        let mut versions = Vec::new();
        let mut waiting: Option<Uncounted> = None;
        let mut names = self.visible_names(&now)?;
        while let Some((state, name)) = self.next_named(&mut walk, &mut names)? {
            if !state.is_listed {
                continue;
            }
            if !is_past {
                is_past = after == Some(state.id.as_str());
                continue;
            }
            if after == Some(state.id.as_str()) {
                continue;
            }
            let (content, kept) = match state.digest {
                None => (Some(None), false),
                Some(_) if room == 0 => (None, true),
                Some(digest) => {
                    let content = self.state_content(&digest, &[&now, &state.path])?;
                    room = room.saturating_sub(content.as_ref().map_or(0, Vec::len));
                    let kept = content.is_some();
                    (content.map(Some), kept)
                }
            };
            if let Some(newer) = waiting.take() {
                let before = content.as_ref().map(Option::as_deref);
                versions.push(newer.counted(before, &budget));
            }
            if versions.len() == limit {
                return Ok(versions);
            }
            waiting = Some(Uncounted {
                version: Version {
                    change: state.row.as_ref().and_then(|row| self.visible_change(row)),
                    id: state.id,
                    path: state.path,
                    etag: state.digest.map(|digest| digest.etag()),
                    name,
                    added: None,
                    removed: None,
                    kept,
                },
                content,
                is_first: state.is_first,
            });
        }
        versions.extend(waiting.map(|last| last.counted(None, &budget)));
        Ok(versions)
    }

    /// The content of a version of a file.
    pub fn read_version(&mut self, path: &str, version: &str) -> Result<Blob, VaultError> {
        let (now, state) = self.state(path, version)?;
        let Some(digest) = state.digest else {
            let message = format!("`{path}` did not exist in version `{version}`");
            // So that a component can tell a removed note from an unknown version.
            let error = VaultError::new(Code::NotFound, message);
            return Err(error.with_details(json!({ "removed": true })));
        };
        let content = self.state_content(&digest, &[&now, &state.path])?;
        let bytes = content.ok_or_else(|| {
            let message = format!("the content of version `{version}` of `{path}` is no longer in the history");
            VaultError::new(Code::NotFound, message).with_hint(
                "the history keeps changes for a limited time and size; see `history` in the config",
            )
        })?;
        Ok(Blob {
            bytes: bytes.into(),
            etag: digest.etag(),
        })
    }

    /// The next state with its name; at the end those that only a name still keeps.
    fn next_named(
        &self,
        walk: &mut StateWalk,
        names: &mut Vec<NameRow>,
    ) -> Result<Option<(FileState, Option<String>)>, VaultError> {
        if let Some(state) = walk.next(self)? {
            let is_this =
                |row: &NameRow| Some(row.digest) == state.digest && row.origin == state.path;
            let found = names.iter().position(is_this).filter(|_| state.is_listed);
            let name = found.map(|at| names.remove(at).name);
            return Ok(Some((state, name)));
        }
        Ok(names.pop().map(|row| {
            let name = row.name.clone();
            (named_state(row), Some(name))
        }))
    }

    /// The state that a version names, and the path that the history knows the file by.
    pub(super) fn state(
        &mut self,
        path: &str,
        version: &str,
    ) -> Result<(String, FileState), VaultError> {
        let (now, mut walk) = self.walk_states(path)?;
        let mut names = self.visible_names(&now)?.into_iter();
        if let Some(row) = names.find(|row| folded(&row.name) == folded(version)) {
            return Ok((now, named_state(row)));
        }
        while let Some(state) = walk.next(self)? {
            if state.id == version {
                return Ok((now, state));
            }
        }
        let message = format!("`{path}` has no version `{version}`: `history` lists its versions");
        Err(VaultError::new(Code::NotFound, message))
    }

    fn walk_states(&mut self, path: &str) -> Result<(String, StateWalk), VaultError> {
        let path = self.past_path(path)?;
        let expected = match self.vault.storage.stat(&path)? {
            Some(status) if status.node == Node::File => Some(self.observe(&path)?.digest),
            _ => None,
        };
        let walk = StateWalk {
            path: Some(path.clone()),
            number: i64::MAX,
            replaced_by: None,
            expected,
            found: VecDeque::new(),
        };
        Ok((path, walk))
    }

    /// The content that a digest names: from the history, or of a file that still has it.
    fn state_content(
        &self,
        digest: &Digest,
        places: &[&str],
    ) -> Result<Option<Vec<u8>>, VaultError> {
        if let Some(kept) = self.vault.storage.kept_content(digest)? {
            return Ok(Some(kept));
        }
        let limit = self.access.limits.max_file_bytes;
        let now = places.iter().find_map(|place| {
            let content = self.vault.read_content(place, limit).ok()??;
            content.bytes.filter(|bytes| Digest::of(bytes) == *digest)
        });
        Ok(now)
    }
}
