//! Undo of what a change did beside files: folders, and the data of components.

use std::collections::BTreeMap;

use notehost_sdk::Code;

use crate::{
    access::Tier,
    error::VaultError,
    path::DATA,
    storage::{
        change_set::StagedFile,
        records::{ChangeRow, FileRow},
        stamp::{Digest, Node},
    },
    transaction::{DataChanges, Transaction},
    types::{Kind, is_by},
};

impl Transaction {
    /// Whether the caller sees a change none of whose files it sees.
    pub(super) fn sees_without_files(&self, row: &ChangeRow) -> bool {
        let sees_folder = |path: &str| {
            self.sees(path, Kind::Folder) && !path.split('/').any(crate::path::is_closed)
        };
        if row.folders.iter().any(|folder| sees_folder(&folder.path)) {
            return true;
        }
        let is_own = match &self.data_changes {
            DataChanges::Hidden => false,
            DataChanges::Of(caller) => is_by(&row.caller, caller),
            DataChanges::All => true,
        };
        is_own && row.files.is_empty() && !row.data.is_empty()
    }

    /// Stages the data that components had before a change.
    pub(super) fn undo_data(&mut self, row: &ChangeRow) -> Result<(), VaultError> {
        for file in &row.data {
            if self.data_digest(&file.path)? != file.after {
                let message = format!(
                    "{} changed since change `{}`",
                    described(&file.path),
                    row.id
                );
                return Err(VaultError::new(Code::Conflict, message)
                    .with_hint("undo the later changes first, the latest one first"));
            }
        }
        for file in &row.data {
            self.put_data(&row.id, file)?;
        }
        Ok(())
    }

    /// The data at a path of a component's store.
    pub(super) fn data_digest(&mut self, path: &str) -> Result<Option<Digest>, VaultError> {
        match self.vault.storage.stat(path)? {
            Some(status) if status.node == Node::File => Ok(Some(self.observe(path)?.digest)),
            _ => {
                self.hold_absent(path);
                Ok(None)
            }
        }
    }

    /// Stages the data that was at a path before a change.
    pub(super) fn put_data(&mut self, change: &str, file: &FileRow) -> Result<(), VaultError> {
        let origin = self.data_digest(&file.path)?.map(|_| file.path.clone());
        let Some(before) = file.before else {
            if origin.is_some() {
                self.take(&file.path)?;
            }
            return Ok(());
        };
        let bytes = self.kept_bytes(change, file, &before).map_err(|error| {
            let message = format!(
                "{} before change `{change}` is no longer in the history",
                described(&file.path)
            );
            match error.code() {
                Code::NotFound => VaultError::new(Code::NotFound, message),
                _ => error,
            }
        })?;
        self.check_room(&file.path, bytes.len() as u64)?;
        self.written += bytes.len() as u64;
        self.put(
            file.path.clone(),
            StagedFile {
                origin,
                bytes: Some(bytes),
                mode: None,
            },
        );
        Ok(())
    }

    /// Stages the folders that were there before a change. A folder that it made and that has something in it by now is a
    /// conflict if the change did nothing else, and stays otherwise.
    pub(super) fn undo_folders(&mut self, row: &ChangeRow) -> Result<(), VaultError> {
        let mut wanted: BTreeMap<&str, bool> = row
            .folders
            .iter()
            .filter(|folder| self.sees(&folder.path, Kind::Folder))
            .map(|folder| (folder.path.as_str(), !folder.is_new))
            .collect();
        let kept = self.stage_folders(&mut wanted)?;
        match kept.first() {
            Some(path) if row.files.is_empty() => {
                let message = format!("the folder `{path}` is not empty any more");
                Err(VaultError::new(Code::Conflict, message))
            }
            _ => Ok(()),
        }
    }

    /// Whether nothing is left in a folder once what is staged is done, and these folders are there or not.
    fn would_be_empty(
        &self,
        folder: &str,
        wanted: &BTreeMap<&str, bool>,
    ) -> Result<bool, VaultError> {
        let listing = self.vault.storage.list(folder)?;
        let mut inside = listing.iter().flat_map(|listing| &listing.names);
        let goes = |name: &str| {
            let path = crate::path::join(folder, name);
            matches!(self.staged.get(&path), Some(None))
                || wanted.get(path.as_str()) == Some(&false)
        };
        Ok(inside.all(|(name, _)| goes(name)) && self.staged_below(folder).next().is_none())
    }

    /// Stages the folders from before the run. Returns those that stay although the run made them, with the change.
    pub(super) fn stage_folders_of_run(
        &mut self,
        rows: &[ChangeRow],
    ) -> Result<Vec<(String, String)>, VaultError> {
        let mut wanted = BTreeMap::new();
        let mut made_by = BTreeMap::new();
        for row in rows {
            let folders = row.folders.iter();
            for folder in folders.filter(|folder| self.sees(&folder.path, Kind::Folder)) {
                // The oldest change decides what was there before.
                wanted.insert(folder.path.as_str(), !folder.is_new);
                made_by.insert(folder.path.as_str(), row);
            }
        }
        let kept = self.stage_folders(&mut wanted)?.into_iter();
        Ok(kept
            .filter_map(|path| {
                let row = made_by.get(path.as_str())?;
                row.files.is_empty().then(|| (path, row.id.clone()))
            })
            .collect())
    }

    /// Stages that folders are there, or are not. Returns those that cannot go, because something is in them.
    pub(super) fn stage_folders(
        &mut self,
        wanted: &mut BTreeMap<&str, bool>,
    ) -> Result<Vec<String>, VaultError> {
        let mut kept = Vec::new();
        // What is below comes first: a folder goes only if those in it go too.
        let paths: Vec<&str> = wanted.keys().rev().copied().collect();
        for path in paths {
            let is_wanted = wanted[path];
            let status = self.vault.storage.stat(path)?;
            let is_there = status.is_some_and(|status| status.node == Node::Folder);
            let needed = match (is_wanted, is_there) {
                (true, false) => Tier::Write,
                (false, true) => Tier::Delete,
                _ => continue,
            };
            if !is_wanted && !self.would_be_empty(path, wanted)? {
                wanted.remove(path);
                kept.push(path.to_owned());
                continue;
            }
            self.must_reach(path, needed)?;
            self.check_room(path, 0)?;
            match is_wanted {
                true => drop(self.new_folders.insert(path.to_owned())),
                false => drop(self.gone_folders.insert(path.to_owned())),
            }
        }
        Ok(kept)
    }
}

/// The data at a path, as it is called in messages: keys may be about notes that a caller may not see.
pub(super) fn described(path: &str) -> String {
    let below = path
        .strip_prefix(DATA)
        .unwrap_or(path)
        .trim_start_matches('/');
    let component = below.split('/').next().unwrap_or_default();
    format!("the data of the component `{component}`")
}
