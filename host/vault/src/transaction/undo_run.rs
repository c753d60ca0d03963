//! Undo of a whole run: all changes of one caller in a time span, staged as one change.
//!
//! The changes are taken back one by one, the latest first, on a model of the paths that they touched; only the net effect is
//! staged. Invariant: each file is either exactly as it was before the run, or exactly as it is now. It stays as it is if
//! somebody else changed it meanwhile, if its place is taken, or if it depends on such a file: that is a conflict.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    access::{Effect, Tier},
    error::VaultError,
    path::{DATA, is_below},
    storage::{
        change_set::{StagedFile, UndoTarget},
        records::{ChangeRow, FileRow},
        stamp::{Digest, Node},
    },
    transaction::{Transaction, undo_data::described},
    types::{Change, ChangeKind, RunSelection, RunUndo, UndoConflict, is_by},
};

/// A run of more changes is refused.
const MAX_RUN_CHANGES: usize = 10_000;
const BATCH_SIZE: usize = 200;

/// A file that the run touched.
struct RunFile {
    /// Where it is now; `None` if the run removed it.
    origin: Option<String>,
    /// What it has now.
    now: Option<(Digest, u32)>,
    /// Where it was before the changes that were taken back so far; `None` if they created it.
    target: Option<String>,
    digest: Digest,
    mode: Option<u32>,
    /// What the oldest change that was taken back did to it, and the id of that change.
    source: Option<(String, FileRow)>,
    /// The bytes that it gets, if they differ.
    bytes: Option<Arc<[u8]>>,
    has_conflict: bool,
}

/// The state of the model.
#[derive(Default)]
struct RunModel {
    files: Vec<RunFile>,
    /// Which file is where, as far as that was looked up.
    places: BTreeMap<String, Option<usize>>,
    /// Paths whose files stay as they are, under each name that they had during the run.
    blocked: BTreeSet<String>,
    conflicts: BTreeMap<String, UndoConflict>,
    /// Which change touched which file.
    touches: Vec<(usize, usize)>,
    /// Changes that are not taken back as a whole.
    partial: BTreeSet<usize>,
}

impl RunModel {
    fn conflict(&mut self, row: &ChangeRow, file: &FileRow, reason: String) {
        self.blocked.insert(file.path.clone());
        self.blocked.extend(file.from.clone());
        self.report(&file.path, &row.id, reason);
    }

    fn report(&mut self, path: &str, change: &str, reason: String) {
        let conflict = UndoConflict {
            path: shown(path),
            change: change.to_owned(),
            reason,
        };
        self.conflicts.entry(path.to_owned()).or_insert(conflict);
    }

    /// A file stays as it is; so does every file that would need its place.
    fn settle_conflicts(&mut self) {
        loop {
            let kept: BTreeMap<&str, usize> = self
                .files
                .iter()
                .enumerate()
                .filter(|(_, file)| file.has_conflict)
                .filter_map(|(index, file)| Some((file.origin.as_deref()?, index)))
                .collect();
            let in_the_way = self.files.iter().position(|file| {
                let target = file.target.as_deref();
                !file.has_conflict && target.is_some_and(|target| kept.contains_key(target))
            });
            let Some(index) = in_the_way else { return };
            let file = &mut self.files[index];
            file.has_conflict = true;
            let (change, path) = match (&file.source, &file.origin, &file.target) {
                (Some((change, row)), origin, _) => (
                    change.clone(),
                    origin.clone().unwrap_or_else(|| row.path.clone()),
                ),
                (None, origin, target) => (
                    String::new(),
                    origin.clone().or(target.clone()).unwrap_or_default(),
                ),
            };
            let target = file.target.clone().unwrap_or_default();
            self.report(&path, &change, format!("`{target}` stays where it is"));
        }
    }
}

impl Transaction {
    /// Stages the state before a run of changes: all changes of one caller in a time span.
    pub fn undo_run(&mut self, run: &RunSelection) -> Result<RunUndo, VaultError> {
        self.must_have(Effect::Write)?;
        if !self.has_no_changes() {
            return Err(VaultError::invalid(
                "a run must be undone before anything else is written",
            ));
        }
        let rows = self.rows_of_run(run)?;
        let mut model = RunModel::default();
        for (index, row) in rows.iter().enumerate() {
            self.access.limits.check_deadline()?;
            self.take_back_row(&mut model, index, row, &rows)?;
        }
        self.load_contents(&mut model)?;
        model.settle_conflicts();
        for (row, file) in &model.touches {
            if model.files[*file].has_conflict {
                model.partial.insert(*row);
            }
        }
        self.stage_run(&model.files)?;
        for (path, change) in self.stage_folders_of_run(&rows)? {
            model.report(
                &path,
                &change,
                "the folder is not empty any more".to_owned(),
            );
        }
        let whole = rows.iter().enumerate();
        let whole = whole.filter(|(index, _)| !model.partial.contains(index));
        self.undoes = Some(UndoTarget {
            change: None,
            is_whole: false,
            run: whole.map(|(_, row)| row.id.clone()).collect(),
        });
        let changes: Vec<Change> = rows
            .iter()
            .filter_map(|row| self.visible_change(row))
            .collect();
        Ok(RunUndo {
            changes,
            conflicts: model.conflicts.into_values().collect(),
        })
    }

    /// The changes of a run, the latest first, without those that somebody else has undone.
    fn rows_of_run(&self, run: &RunSelection) -> Result<Vec<ChangeRow>, VaultError> {
        let mut rows: Vec<ChangeRow> = Vec::new();
        let mut number = i64::MAX;
        'all: loop {
            self.access.limits.check_deadline()?;
            let batch = self.vault.storage.changes_before(number, BATCH_SIZE)?;
            let Some(last) = batch.last() else { break };
            number = last.number;
            for row in batch {
                if row.time < run.since {
                    break 'all;
                }
                let is_in_time = run.until.is_none_or(|until| row.time <= until);
                if is_in_time
                    && is_by(&row.caller, &run.caller)
                    && self.visible_change(&row).is_some()
                {
                    rows.push(row);
                }
                if rows.len() > MAX_RUN_CHANGES {
                    return Err(VaultError::too_large(format!(
                        "the run has more than {MAX_RUN_CHANGES} changes: select a shorter time"
                    )));
                }
            }
        }
        let undone: BTreeSet<String> = rows
            .iter()
            .flat_map(|row| row.undoes.iter().chain(&row.undoes_run))
            .cloned()
            .collect();
        rows.retain(|row| !row.undone || undone.contains(&row.id));
        Ok(rows)
    }

    /// Takes one change back on the model.
    fn take_back_row(
        &mut self,
        model: &mut RunModel,
        index: usize,
        row: &ChangeRow,
        rows: &[ChangeRow],
    ) -> Result<(), VaultError> {
        // First everything is checked, then everything leaves its place, then everything gets its earlier one.
        let mut leaving = Vec::new();
        let mut files: Vec<FileRow> = row
            .files
            .iter()
            .filter_map(|file| self.undoable(file))
            .collect();
        match files.len() == row.files.len() {
            // The data belongs to the change as a whole.
            true => files.extend(row.data.iter().cloned()),
            false => drop(model.partial.insert(index)),
        }
        for file in files {
            let blocked = |name: &&String| model.blocked.contains(*name);
            let name = Some(&file.path).filter(blocked);
            if let Some(name) = name.or(file.from.as_ref().filter(blocked)).cloned() {
                let reason = format!("it depends on `{name}`, which stays as it is");
                self.give_up(model, index, row, &file, reason)?;
                continue;
            }
            let Some(after) = file.after else {
                leaving.push((file, None));
                continue;
            };
            match self.file_of_run(model, &file.path)? {
                Some(found) if model.files[found].digest == after => {
                    leaving.push((file, Some(found)));
                }
                found => {
                    let reason = match found {
                        Some(_) => self.changed_by(&file.path, row, rows)?,
                        None => "it is no longer there".to_owned(),
                    };
                    self.give_up(model, index, row, &file, reason)?;
                }
            }
        }
        for (file, found) in &leaving {
            if found.is_some() {
                model.places.insert(file.path.clone(), None);
            }
        }
        for (file, found) in leaving {
            if file.kind == ChangeKind::Create {
                if let Some(found) = found {
                    model.files[found].target = None;
                    model.files[found].source = Some((row.id.clone(), file));
                    model.touches.push((index, found));
                }
                continue;
            }
            let target = file.from.as_ref().unwrap_or(&file.path).clone();
            let is_taken =
                model.blocked.contains(&target) || !self.is_free_for_run(model, &target)?;
            if is_taken {
                if let Some(found) = found {
                    model.places.insert(file.path.clone(), Some(found));
                }
                let reason = format!("`{target}` is taken by another file");
                self.give_up(model, index, row, &file, reason)?;
                continue;
            }
            let Some(before) = file.before else {
                model.partial.insert(index);
                continue;
            };
            // A file that was removed, and made again at the same path, is one file.
            let same =
                |entry: &RunFile| entry.target.is_none() && entry.origin.as_ref() == Some(&target);
            let same = || model.files.iter().position(same);
            let found = found.or_else(same).unwrap_or_else(|| {
                model.files.push(RunFile {
                    origin: None,
                    now: None,
                    target: None,
                    digest: before,
                    mode: None,
                    source: None,
                    bytes: None,
                    has_conflict: false,
                });
                model.files.len() - 1
            });
            let entry = &mut model.files[found];
            entry.digest = before;
            entry.mode = file.mode_before;
            entry.target = Some(target.clone());
            entry.source = Some((row.id.clone(), file));
            model.places.insert(target, Some(found));
            model.touches.push((index, found));
        }
        Ok(())
    }

    /// A file of a change stays as it is.
    fn give_up(
        &mut self,
        model: &mut RunModel,
        index: usize,
        row: &ChangeRow,
        file: &FileRow,
        reason: String,
    ) -> Result<(), VaultError> {
        for name in [Some(&file.path), file.from.as_ref()].into_iter().flatten() {
            if let Some(found) = self.file_of_run(model, name)?
                && (*name == file.path || model.files[found].source.is_some())
            {
                model.files[found].has_conflict = true;
            }
        }
        model.partial.insert(index);
        model.conflict(row, file, reason);
        Ok(())
    }

    /// The file at a path of the model; at first what the vault has there.
    fn file_of_run(
        &mut self,
        model: &mut RunModel,
        path: &str,
    ) -> Result<Option<usize>, VaultError> {
        if let Some(known) = model.places.get(path) {
            return Ok(*known);
        }
        let status = self.vault.storage.stat(path)?;
        let found = match status.filter(|status| status.node == Node::File) {
            None => None,
            Some(status) => {
                let digest = self.observe(path)?.digest;
                model.files.push(RunFile {
                    origin: Some(path.to_owned()),
                    now: Some((digest, status.mode)),
                    target: Some(path.to_owned()),
                    digest,
                    mode: Some(status.mode),
                    source: None,
                    bytes: None,
                    has_conflict: false,
                });
                Some(model.files.len() - 1)
            }
        };
        model.places.insert(path.to_owned(), found);
        Ok(found)
    }

    fn is_free_for_run(&mut self, model: &mut RunModel, path: &str) -> Result<bool, VaultError> {
        let is_known = model.places.contains_key(path);
        if self.file_of_run(model, path)?.is_some() {
            return Ok(false);
        }
        // A folder may have the name by now.
        Ok(is_known || self.vault.storage.stat(path)?.is_none())
    }

    /// Who changed a file after a change of the run.
    fn changed_by(
        &self,
        path: &str,
        row: &ChangeRow,
        rows: &[ChangeRow],
    ) -> Result<String, VaultError> {
        let mut number = i64::MAX;
        while let Some(later) = self.vault.storage.change_touching(path, number)? {
            self.access.limits.check_deadline()?;
            if later.number <= row.number {
                break;
            }
            number = later.number;
            if !rows.iter().any(|row| row.number == number) {
                return Ok(format!(
                    "changed by `{}` with `{}`, change {}",
                    later.caller, later.action, later.id
                ));
            }
        }
        Ok("changed by another program".to_owned())
    }

    /// Loads the bytes that files get. What is no longer kept is a conflict.
    fn load_contents(&mut self, model: &mut RunModel) -> Result<(), VaultError> {
        for index in 0..model.files.len() {
            let file = &model.files[index];
            let needs_bytes = !file.has_conflict
                && file.target.is_some()
                && file.now.is_none_or(|(now, _)| now != file.digest);
            let (true, Some((change, row))) = (needs_bytes, file.source.clone()) else {
                continue;
            };
            self.access.limits.check_deadline()?;
            match self.kept_bytes(&change, &row, &file.digest.clone()) {
                Ok(bytes) => {
                    self.check_room(&shown(&row.path), bytes.len() as u64)?;
                    self.written += bytes.len() as u64;
                    model.files[index].bytes = Some(bytes);
                }
                Err(error) if error.code() == notehost_sdk::Code::NotFound => {
                    let file = &mut model.files[index];
                    file.has_conflict = true;
                    let path = file.origin.clone().unwrap_or_else(|| row.path.clone());
                    let reason = "its content before the run is no longer in the history";
                    model.report(&path, &change, reason.to_owned());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Stages the net effect: everything leaves its place before anything gets one.
    fn stage_run(&mut self, files: &[RunFile]) -> Result<(), VaultError> {
        let is_changed = |file: &&RunFile| {
            let stays = file.origin == file.target
                && file.now.is_some_and(|(digest, mode)| {
                    digest == file.digest && file.mode.is_none_or(|target| target == mode)
                });
            !file.has_conflict && !stays && (file.origin.is_some() || file.target.is_some())
        };
        let changed: Vec<&RunFile> = files.iter().filter(is_changed).collect();
        let is_note = |path: &&String| !is_below(path, DATA);
        for file in &changed {
            if let Some(origin) = file.origin.as_ref().filter(is_note) {
                let needed = match file.target {
                    Some(_) => Tier::Write,
                    None => Tier::Delete,
                };
                self.must_reach(origin, needed)?;
                let status = self.vault.storage.stat(origin)?;
                if status.is_some_and(|status| !status.is_writable()) {
                    return Err(VaultError::read_only(origin));
                }
            }
            if let Some(target) = file.target.as_ref().filter(is_note) {
                self.must_reach(target, Tier::Write)?;
            }
        }
        let mut arriving = Vec::new();
        let mut left = BTreeSet::new();
        for file in &changed {
            let staged = match (&file.origin, &file.target) {
                (Some(origin), None) => {
                    match is_note(&origin) {
                        true => drop(self.discard(origin)?),
                        false => drop(self.take(origin)?),
                    }
                    None
                }
                (Some(origin), Some(_)) => Some(self.take(origin)?),
                (None, _) => Some(StagedFile {
                    origin: None,
                    bytes: None,
                    mode: None,
                }),
            };
            left.extend(file.origin.as_deref());
            if let (Some(mut staged), Some(target)) = (staged, &file.target) {
                staged.bytes = file.bytes.clone();
                staged.mode = file.mode;
                arriving.push((target, staged));
            }
        }
        for (target, staged) in arriving {
            match left.contains(target.as_str()) {
                true => {}
                false if is_note(&target) => {
                    if self.free_destination(target)? != *target {
                        return Err(VaultError::conflict(target));
                    }
                }
                false => self.hold_absent(target),
            }
            self.put(target.clone(), staged);
        }
        Ok(())
    }
}

/// How a path is called in a conflict: the keys of a component's data are its own.
fn shown(path: &str) -> String {
    match is_below(path, DATA) {
        true => described(path),
        false => path.to_owned(),
    }
}
