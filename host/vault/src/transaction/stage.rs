//! Staged writes: `create`, `write`, `create_folder`, `rename`, `remove`.
//!
//! Nothing here changes the disk. Each operation adds its preconditions to the read set, which the commit validates.

use notehost_sdk::Code;
use std::collections::BTreeMap;

use crate::{
    access::{Effect, Tier},
    error::VaultError,
    identifier::new_id,
    path::{folded, is_below, join, split},
    storage::{
        change_set::{ReadRecord, StagedFile},
        stamp::{Digest, Node},
        trash_id,
    },
    transaction::{
        Transaction,
        lookup::{Destination, Found},
    },
    types::Kind,
};

impl Transaction {
    /// A new file, with the folders above it. Returns its etag.
    pub fn create(&mut self, path: &str, bytes: &[u8]) -> Result<String, VaultError> {
        self.must_have(Effect::Write)?;
        let destination = self.free_destination(path)?;
        self.check_room(&destination, bytes.len() as u64)?;
        self.put(
            destination,
            StagedFile {
                origin: None,
                bytes: Some(bytes.into()),
                mode: None,
            },
        );
        self.written += bytes.len() as u64;
        Ok(Digest::of(bytes).etag())
    }

    /// Other bytes for a file that is there; with `if_match`, only if that is still its etag.
    pub fn write(
        &mut self,
        path: &str,
        bytes: &[u8],
        if_match: Option<&str>,
    ) -> Result<String, VaultError> {
        self.must_have(Effect::Write)?;
        let Some(found) = self.find(path)? else {
            self.note_absent(path);
            return Err(self.absent(path));
        };
        self.must_reach(&found.path, Tier::Write)?;
        self.must_be_writable(&found)?;
        self.check_room(&found.path, bytes.len() as u64)?;
        let (_, digest) = self.content(&found)?;
        if if_match.is_some_and(|etag| etag != digest.etag()) {
            return Err(VaultError::conflict(&found.spelt));
        }
        self.written += bytes.len() as u64;
        let staged = self.staged.remove(&found.path).flatten();
        let mut file = staged.unwrap_or_else(|| StagedFile {
            origin: Some(found.path.clone()),
            bytes: None,
            mode: None,
        });
        file.bytes = Some(bytes.into());
        self.put(found.path, file);
        Ok(Digest::of(bytes).etag())
    }

    /// A new, empty folder, with the folders above it.
    pub fn create_folder(&mut self, path: &str) -> Result<(), VaultError> {
        self.must_have(Effect::Write)?;
        let destination = self.free_destination(path)?;
        self.check_room(&destination, 0)?;
        self.revive_folders(&destination);
        self.new_folders.insert(destination);
        Ok(())
    }

    /// A file or a folder gets another path; nothing may be there yet.
    pub fn rename(&mut self, from: &str, to: &str) -> Result<(), VaultError> {
        self.must_have(Effect::Write)?;
        let found = self.movable(from, "rename")?;
        self.must_reach(&found.path, Tier::Write)?;
        self.must_be_writable(&found)?;
        let Destination { path: to, occupant } = self.destination(to)?;
        match occupant {
            // The same name in another case or normal form: the file is its own twin.
            Some(occupant)
                if occupant == found.path
                    && to != found.path
                    && folded(&to) == folded(&found.path) =>
            {
                crate::path::check_new_name(split(&to).1)?;
            }
            Some(occupant) => return Err(VaultError::exists(&occupant)),
            None => self.expect_nothing(&to)?,
        }
        if found.kind == Kind::File {
            return self.move_file(&found.path, to);
        }
        if is_below(&to, &found.path) {
            return Err(VaultError::invalid(format!(
                "`{}` cannot be moved into itself",
                found.spelt
            )));
        }
        let below = self.visible_below(&found.path)?;
        for path in below.keys() {
            self.must_reach(path, Tier::Write)?;
            self.must_reach(&moved(path, &found.path, &to), Tier::Write)?;
        }
        for (path, kind) in below {
            let target = moved(&path, &found.path, &to);
            match kind {
                Kind::File => self.move_file(&path, target)?,
                Kind::Folder => self.move_folder(path, target),
            }
        }
        self.move_folder(found.path, to);
        Ok(())
    }

    /// A file, or a folder with all that is in it, goes to the vault's trash. Returns the trash ids.
    pub fn remove(&mut self, path: &str) -> Result<Vec<String>, VaultError> {
        self.must_have(Effect::Delete)?;
        let found = self.movable(path, "remove")?;
        self.must_reach(&found.path, Tier::Delete)?;
        self.must_be_writable(&found)?;
        if found.kind == Kind::File {
            return Ok(self.discard(&found.path)?.into_iter().collect());
        }
        let below = self.visible_below(&found.path)?;
        below
            .keys()
            .try_for_each(|path| self.must_reach(path, Tier::Delete))?;
        let mut ids = Vec::new();
        for (path, kind) in below {
            match kind {
                Kind::File => ids.extend(self.discard(&path)?),
                Kind::Folder => self.drop_folder(path),
            }
        }
        self.drop_folder(found.path);
        Ok(ids)
    }

    /// What can be renamed or removed: not the vault itself, and not a link, which would take its target along.
    fn movable(&mut self, path: &str, doing: &str) -> Result<Found, VaultError> {
        let Some(found) = self.find(path)? else {
            self.note_absent(path);
            return Err(self.absent(path));
        };
        if found.path.is_empty() {
            return Err(VaultError::invalid(format!(
                "cannot {doing} the vault itself"
            )));
        }
        if found.is_link {
            let message = format!(
                "`{}` is a link to `{}`: {doing} that instead",
                found.spelt, found.path
            );
            return Err(VaultError::new(Code::Unsupported, message));
        }
        Ok(found)
    }

    /// Where a new file or folder may be staged: nothing is there.
    pub(crate) fn free_destination(&mut self, path: &str) -> Result<String, VaultError> {
        let Destination { path, occupant } = self.destination(path)?;
        if let Some(occupant) = occupant {
            return Err(VaultError::exists(&occupant));
        }
        self.expect_nothing(&path)?;
        Ok(path)
    }

    fn expect_nothing(&mut self, path: &str) -> Result<(), VaultError> {
        if self.gone_folders.contains(path) {
            // What the caller may not see could still be in the folder that had this name.
            return Err(VaultError::exists(path));
        }
        if !self.staged.contains_key(path) {
            match self.seen.get(path) {
                None => self.hold_absent(path),
                Some(ReadRecord::Absent) => {}
                Some(_) => return Err(VaultError::conflict(path)),
            }
            self.check_retained()?;
        }
        Ok(())
    }

    fn must_be_writable(&self, found: &Found) -> Result<(), VaultError> {
        let Some(stored) = &found.stored else {
            return Ok(());
        };
        let folder = self.vault.storage.stat(split(&found.path).0)?;
        if stored.is_writable() && folder.is_none_or(|folder| folder.is_writable()) {
            Ok(())
        } else {
            Err(VaultError::read_only(&found.spelt))
        }
    }

    /// Everything below a folder that the caller may see.
    fn visible_below(&self, folder: &str) -> Result<BTreeMap<String, Kind>, VaultError> {
        let mut below = BTreeMap::new();
        for (parent, listing) in self.survey_below(folder, true)? {
            for (name, node) in &listing.names {
                let path = join(&parent, name);
                let kind = match node {
                    Node::File => Kind::File,
                    Node::Folder => Kind::Folder,
                    // Links and special files stay where they are.
                    _ => continue,
                };
                if self.sees(&path, kind) {
                    below.insert(path, kind);
                }
            }
        }
        self.overlay(folder, true, &mut below);
        Ok(below)
    }

    /// Stages a file at a path; staging what is there already stages nothing.
    pub(crate) fn put(&mut self, path: String, file: StagedFile) {
        self.revive_folders(split(&path).0);
        let is_as_before = file.origin.as_deref() == Some(path.as_str())
            && match self.seen.get(&path) {
                Some(ReadRecord::File(seen)) => {
                    file.bytes
                        .as_ref()
                        .is_none_or(|bytes| Digest::of(bytes) == seen.digest)
                        && file.mode.is_none_or(|mode| mode == seen.status.mode)
                }
                _ => false,
            };
        if is_as_before {
            self.staged.remove(&path);
        } else {
            self.staged.insert(path, Some(file));
        }
    }

    /// Stages that a path has no file any more.
    fn vacate(&mut self, path: &str) {
        if matches!(self.seen.get(path), Some(ReadRecord::File(_))) {
            self.staged.insert(path.to_owned(), None);
        } else {
            self.staged.remove(path);
        }
    }

    /// Takes a file from where it is: what was staged, or what the disk has.
    pub(crate) fn take(&mut self, path: &str) -> Result<StagedFile, VaultError> {
        let staged = self.staged.get(path).cloned().flatten();
        let file = match staged {
            Some(file) => file,
            None => {
                self.observe(path)?;
                StagedFile {
                    origin: Some(path.to_owned()),
                    bytes: None,
                    mode: None,
                }
            }
        };
        self.vacate(path);
        Ok(file)
    }

    fn move_file(&mut self, from: &str, to: String) -> Result<(), VaultError> {
        self.check_room(&to, 0)?;
        if !self.staged.contains_key(&to) {
            self.hold_absent(&to);
            self.check_retained()?;
        }
        let file = self.take(from)?;
        self.put(to, file);
        Ok(())
    }

    fn move_folder(&mut self, from: String, to: String) {
        self.drop_folder(from);
        self.revive_folders(&to);
        self.new_folders.insert(to);
    }

    fn drop_folder(&mut self, path: String) {
        if !self.new_folders.remove(&path) || matches!(self.vault.storage.stat(&path), Ok(Some(_)))
        {
            self.gone_folders.insert(path);
        }
    }

    /// Stages that a file goes to the trash. The id it will have there; `None` if it was never on disk.
    pub(crate) fn discard(&mut self, path: &str) -> Result<Option<String>, VaultError> {
        self.check_room(path, 0)?;
        let Some(origin) = self.take(path)?.origin else {
            return Ok(None);
        };
        if let Some(id) = trash_id(&origin) {
            // It came from the trash in this very transaction, and so it stays there.
            return Ok(Some(id.to_owned()));
        }
        let id = new_id();
        self.trashed.insert(origin, id.clone());
        Ok(Some(id))
    }
}

/// A path below a folder that gets another name.
fn moved(path: &str, from: &str, to: &str) -> String {
    format!("{to}{}", &path[from.len()..])
}
