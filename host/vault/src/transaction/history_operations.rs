//! The operations `history`, `before` and `undo`; `undo` stages the inverse of a change.
//!
//! The history records all files; what a caller may see of a change is decided here, file by file.

use notehost_sdk::Code;
use std::sync::Arc;

use crate::{
    access::{Effect, Tier},
    error::VaultError,
    identifier::is_id,
    path::is_closed,
    storage::{
        change_set::{ReadRecord, StagedFile, UndoTarget},
        records::{ChangeRow, FileRow},
        stamp::{Digest, Node},
        trash_path,
    },
    transaction::Transaction,
    types::{Blob, Change, ChangeKind, FileChange},
};

const MAX_CHANGES: usize = 1000;

impl Transaction {
    /// The commits that touched a path (or any, without one), the latest first. A file's history goes with it
    /// through renames.
    pub fn history(
        &mut self,
        path: Option<&str>,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<Change>, VaultError> {
        let limit = (limit as usize).clamp(1, MAX_CHANGES);
        let mut number = i64::MAX;
        let mut is_past = after.is_none();
        let mut changes = Vec::new();
        let mut path = match path {
            Some(path) => Some(self.past_path(path)?),
            None => {
                if let Some(after) = after {
                    let change = self.vault.storage.change(after)?;
                    // What this caller may not see did not happen, and nothing came before it.
                    let Some(change) = change.filter(|row| self.visible_change(row).is_some())
                    else {
                        return Ok(changes);
                    };
                    number = change.number;
                    is_past = true;
                }
                None
            }
        };
        while changes.len() < limit {
            self.access.limits.check_deadline()?;
            let rows = match &path {
                Some(path) => self
                    .vault
                    .storage
                    .change_touching(path, number)?
                    .into_iter()
                    .collect(),
                None => self.vault.storage.changes_before(number, limit)?,
            };
            let Some(last) = rows.last() else { break };
            number = last.number;
            for row in rows {
                if let Some(current) = &path {
                    let came_from = row
                        .files
                        .iter()
                        .find(|file| file.path == *current)
                        .and_then(|file| file.from.clone());
                    match came_from {
                        Some(from) if self.sees_past(&from) => path = Some(from),
                        // Before that it was where this caller may not look.
                        Some(_) => number = 0,
                        None => {}
                    }
                }
                if is_past {
                    changes.extend(self.visible_change(&row));
                }
                is_past |= after == Some(row.id.as_str());
            }
        }
        changes.truncate(limit);
        Ok(changes)
    }

    /// A file as it was before a change touched it; `None` if that change made it.
    pub fn before(&mut self, path: &str, change: &str) -> Result<Option<Blob>, VaultError> {
        let path = self.past_path(path)?;
        let row = self.known_change(change)?;
        let visible = row
            .files
            .iter()
            .filter_map(|file| Some((self.visible_file(file)?, file)));
        // The latest name is what the file is requested by; its earlier one will do as well.
        let mut named: Vec<_> = visible
            .filter(|(seen, _)| seen.path == path || seen.from.as_deref() == Some(path.as_str()))
            .collect();
        named.sort_by_key(|(seen, _)| seen.path != path);
        let Some((seen, file)) = named.into_iter().next() else {
            return Err(VaultError::new(
                Code::NotFound,
                format!("change `{change}` did not touch `{path}`"),
            ));
        };
        let (Some(_), Some(digest)) = (&seen.before, file.before) else {
            return Ok(None);
        };
        let bytes = self.kept_bytes(change, file, &digest)?;
        Ok(Some(Blob {
            bytes,
            etag: digest.etag(),
        }))
    }

    /// Stages the opposite of a change: every file gets back the bytes, mode and path it had.
    pub fn undo(&mut self, change: &str) -> Result<Vec<FileChange>, VaultError> {
        self.must_have(Effect::Write)?;
        if !self.has_no_changes() {
            return Err(VaultError::invalid(
                "a change must be undone before anything else is written",
            ));
        }
        let row = self.known_change(change)?;
        if row.undone {
            return Err(VaultError::new(
                Code::Conflict,
                format!("change `{change}` is undone already"),
            ));
        }
        let files: Vec<FileRow> = row
            .files
            .iter()
            .filter_map(|file| self.undoable(file))
            .collect();
        // First everything is checked, then everything leaves its place, then everything gets its new one: so
        // that two files that changed places can change back.
        for file in &files {
            self.check_undo(file)?;
        }
        let mut arriving = Vec::new();
        for file in &files {
            arriving.extend(self.take_back(change, file)?);
        }
        for (path, staged) in arriving {
            if !self.staged.contains_key(&path) {
                self.hold_absent(&path);
                self.check_retained()?;
            }
            self.put(path, staged);
        }
        let is_whole = files.len() == row.files.len();
        // The data belongs to the change as a whole.
        if is_whole {
            self.undo_data(&row)?;
        }
        self.undo_folders(&row)?;
        self.undoes = Some(UndoTarget {
            change: Some(row.id),
            is_whole,
            run: Vec::new(),
        });
        Ok(self
            .net_changes()
            .iter()
            .map(|net| net.to_file_change())
            .collect())
    }

    /// Whether everything is as the change left it, and may be changed back.
    fn check_undo(&mut self, file: &FileRow) -> Result<(), VaultError> {
        match file.after {
            Some(after) => {
                let needed = if file.kind == ChangeKind::Create {
                    Tier::Delete
                } else {
                    Tier::Write
                };
                self.must_reach(&file.path, needed)?;
                let status = self.vault.storage.stat(&file.path)?;
                let Some(status) = status.filter(|status| status.node == Node::File) else {
                    return Err(VaultError::conflict(&file.path));
                };
                if !status.is_writable() {
                    return Err(VaultError::read_only(&file.path));
                }
                if self.observe(&file.path)?.digest != after {
                    return Err(VaultError::conflict(&file.path));
                }
            }
            None => {
                self.must_reach(&file.path, Tier::Write)?;
            }
        }
        Ok(())
    }

    /// Takes a file from where the change left it, and says where it goes instead.
    fn take_back(
        &mut self,
        change: &str,
        file: &FileRow,
    ) -> Result<Option<(String, StagedFile)>, VaultError> {
        let to = file.from.as_ref().unwrap_or(&file.path).clone();
        match file.kind {
            ChangeKind::Create => {
                self.discard(&file.path)?;
                return Ok(None);
            }
            ChangeKind::Modify => {
                let mut staged = self.take(&file.path)?;
                self.restore_content(change, file, &mut staged)?;
                return Ok(Some((to, staged)));
            }
            ChangeKind::Rename => self.must_reach(&to, Tier::Write)?,
            ChangeKind::Delete => {}
        }
        // The place must be free on disk, or be left by this very undo, which staging has noted by now.
        let mut staged = match file.kind {
            ChangeKind::Rename => self.take(&file.path)?,
            _ => StagedFile {
                origin: self.in_trash(file)?,
                bytes: None,
                mode: None,
            },
        };
        let is_left = self.staged.get(&to).is_some_and(Option::is_none)
            || self
                .seen
                .get(&to)
                .is_some_and(|seen| matches!(seen, ReadRecord::File(_)));
        if !is_left {
            let free = self.free_destination(&to)?;
            if free != to {
                return Err(VaultError::conflict(&to));
            }
        }
        if file.kind == ChangeKind::Rename || staged.origin.is_none() {
            self.restore_content(change, file, &mut staged)?;
        }
        staged.mode = file.mode_before;
        Ok(Some((to, staged)))
    }

    /// Stages the bytes and the mode that a file had before.
    fn restore_content(
        &mut self,
        change: &str,
        file: &FileRow,
        staged: &mut StagedFile,
    ) -> Result<(), VaultError> {
        staged.mode = file.mode_before;
        if let Some(before) = file.before.filter(|before| Some(*before) != file.after) {
            let bytes = self.kept_bytes(change, file, &before)?;
            self.check_room(&file.path, bytes.len() as u64)?;
            self.written += bytes.len() as u64;
            staged.bytes = Some(bytes);
        }
        Ok(())
    }

    /// Where a removed file is in the trash, if it is still there and untouched.
    fn in_trash(&mut self, file: &FileRow) -> Result<Option<String>, VaultError> {
        let Some(path) = file.trash.as_deref().map(trash_path) else {
            return Ok(None);
        };
        if !matches!(self.vault.storage.stat(&path)?, Some(status) if status.node == Node::File) {
            return Ok(None);
        }
        Ok((Some(self.observe(&path)?.digest) == file.before).then_some(path))
    }

    pub(crate) fn kept_bytes(
        &self,
        change: &str,
        file: &FileRow,
        digest: &Digest,
    ) -> Result<Arc<[u8]>, VaultError> {
        // A mere rename keeps no copy: the bytes are wherever the file is now.
        let now = || -> Option<Vec<u8>> {
            let in_trash = file.trash.as_deref().map(trash_path);
            [Some(file.path.clone()), in_trash]
                .into_iter()
                .flatten()
                .find_map(|path| {
                    let limit = self.access.limits.max_file_bytes;
                    let bytes = self.vault.read_content(&path, limit).ok()??.bytes?;
                    (Digest::of(&bytes) == *digest).then_some(bytes)
                })
        };
        let kept = self.vault.storage.kept_content(digest)?.or_else(now);
        kept.map(Arc::from).ok_or_else(|| {
            let path = file.from.as_deref().unwrap_or(&file.path);
            VaultError::new(Code::NotFound, format!("the content of `{path}` before change `{change}` is no longer in the history"))
                .with_hint("the history keeps changes for a limited time and size; see `history` in the config")
        })
    }

    pub(crate) fn known_change(&self, id: &str) -> Result<ChangeRow, VaultError> {
        let row = if is_id(id) {
            self.vault.storage.change(id)?
        } else {
            None
        };
        row.filter(|row| self.visible_change(row).is_some())
            .ok_or_else(|| VaultError::new(Code::NotFound, format!("no change `{id}`")))
    }

    /// The path by which the history knows a file: as the disk spells it if it is there, else as given.
    pub(super) fn past_path(&self, path: &str) -> Result<String, VaultError> {
        match self.find(path)? {
            Some(found) => Ok(match self.staged.get(&found.path) {
                Some(Some(StagedFile {
                    origin: Some(origin),
                    ..
                })) => origin.clone(),
                _ => found.path,
            }),
            None if self.sees_past(path) => Ok(crate::path::composed(path).into_owned()),
            None => Err(VaultError::absent(path)),
        }
    }

    pub(super) fn sees_past(&self, path: &str) -> bool {
        !path.is_empty() && self.sees(path, crate::Kind::File) && !path.split('/').any(is_closed)
    }

    pub(crate) fn visible_change(&self, row: &ChangeRow) -> Option<Change> {
        let files: Vec<FileChange> = row
            .files
            .iter()
            .filter_map(|file| self.visible_file(file))
            .collect();
        // What the caller may not see did not happen.
        let is_visible = !files.is_empty() || self.sees_without_files(row);
        is_visible.then(|| Change {
            id: row.id.clone(),
            time: row.time,
            caller: row.caller.clone(),
            action: row.action.clone(),
            undoes: row.undoes.clone(),
            undone: row.undone,
            files,
        })
    }

    /// A file's part in a change: a rename across the border of what is seen looks like coming or going.
    pub(crate) fn visible_file(&self, file: &FileRow) -> Option<FileChange> {
        let (before, after) = (
            file.before.map(|digest| digest.etag()),
            file.after.map(|digest| digest.etag()),
        );
        let from = file.from.clone().filter(|from| self.sees_past(from));
        let path = file.path.clone();
        match (self.sees_past(&path), &file.from, from) {
            (true, None, _) => Some(FileChange {
                path,
                kind: file.kind,
                from: None,
                before,
                after,
            }),
            (true, Some(_), Some(from)) => Some(FileChange {
                path,
                kind: file.kind,
                from: Some(from),
                before,
                after,
            }),
            (true, Some(_), None) => Some(FileChange {
                path,
                kind: ChangeKind::Create,
                from: None,
                before: None,
                after,
            }),
            (false, Some(_), Some(from)) => Some(FileChange {
                path: from,
                kind: ChangeKind::Delete,
                from: None,
                before,
                after: None,
            }),
            (false, ..) => None,
        }
    }

    /// Only a file's change that is seen whole can be undone.
    pub(super) fn undoable(&self, file: &FileRow) -> Option<FileRow> {
        let is_whole = self.sees_past(&file.path)
            && file.from.as_ref().is_none_or(|from| self.sees_past(from));
        is_whole.then(|| file.clone())
    }
}
