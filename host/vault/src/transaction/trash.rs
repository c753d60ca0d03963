//! The trash: listing and restoring entries. Removing is in `stage`.

use notehost_sdk::Code;
use serde_json::json;

use crate::{
    access::{Effect, Tier},
    error::VaultError,
    identifier::is_id,
    path::is_closed,
    storage::{
        change_set::{ReadRecord, StagedFile},
        trash_path,
    },
    transaction::Transaction,
    types::Trashed,
};

impl Transaction {
    /// What is in the trash, the latest first.
    pub fn trash(&mut self, after: Option<&str>, limit: u32) -> Result<Vec<Trashed>, VaultError> {
        let stored = self.vault.storage.trash()?;
        let mut items: Vec<Trashed> = stored
            .into_iter()
            .filter(|(id, _)| !self.is_restored(id))
            .map(|(id, note)| Trashed {
                id,
                path: note.path,
                size: note.size,
                removed: note.removed,
            })
            .collect();
        items.extend(self.trashed.iter().map(|(path, id)| Trashed {
            id: id.clone(),
            path: path.clone(),
            size: self.seen_size(path),
            removed: self.began_millis,
        }));
        items.retain(|item| self.sees_original(&item.path));
        items.sort_unstable_by(|a, b| (b.removed, &b.id).cmp(&(a.removed, &a.id)));
        if let Some(after) = after {
            let Some(place) = items.iter().position(|item| item.id == after) else {
                return Ok(Vec::new());
            };
            items.drain(..=place);
        }
        items.truncate((limit as usize).max(1));
        Ok(items)
    }

    /// Something from the trash goes back to where it was, or to another path. Both places have to be writable. Returns
    /// the path.
    pub fn restore(&mut self, id: &str, to: Option<&str>) -> Result<String, VaultError> {
        self.must_have(Effect::Write)?;
        let absent = || {
            VaultError::new(
                Code::NotFound,
                format!("nothing in the trash has the id `{id}`"),
            )
        };
        if !is_id(id) || self.is_restored(id) {
            return Err(absent());
        }
        let own = self
            .trashed
            .iter()
            .find(|(_, known)| *known == id)
            .map(|(path, _)| path.clone());
        let original = match &own {
            Some(path) => path.clone(),
            None => {
                let note = self.vault.storage.trash_entry(id).ok().flatten();
                note.ok_or_else(absent)?.path
            }
        };
        if !self.sees_original(&original) {
            return Err(absent());
        }
        // It leaves the trash, so it can no longer come back to where it was: that is a change there too.
        self.must_reach(&original, Tier::Write)?;
        let destination = self
            .free_destination(to.unwrap_or(&original))
            .map_err(|error| {
                let is_taken = error.code() == Code::AlreadyExists && to.is_none();
                if is_taken {
                    error
                        .with_hint("give another path with `to`")
                        .with_details(json!({ "path": original }))
                } else {
                    error
                }
            })?;
        self.check_room(&destination, 0)?;
        let origin = match own {
            Some(path) => {
                self.trashed.remove(&path);
                path
            }
            None => {
                let path = trash_path(id);
                self.observe(&path).map_err(|_| absent())?;
                path
            }
        };
        self.restored.insert(original);
        self.put(
            destination.clone(),
            StagedFile {
                origin: Some(origin),
                bytes: None,
                mode: None,
            },
        );
        Ok(destination)
    }

    fn sees_original(&self, path: &str) -> bool {
        self.sees(path, crate::Kind::File) && !path.split('/').any(is_closed)
    }

    fn is_restored(&self, id: &str) -> bool {
        let origin = trash_path(id);
        self.staged
            .values()
            .flatten()
            .any(|file| file.origin.as_deref() == Some(&origin))
    }

    fn seen_size(&self, path: &str) -> u64 {
        match self.seen.get(path) {
            Some(ReadRecord::File(file)) => file.status.stamp.size(),
            _ => 0,
        }
    }
}
