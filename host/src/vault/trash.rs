//! The vault's trash: what is in it, and how something comes back. Removing is staging's affair.
//!
//! An entry is the file itself, `.notehost/trash/ID`, with a note beside it, `ID.json`, of where it was.

use std::io;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    access::Effect,
    disk::{Folder, Node, is_absent},
    error::VaultError,
    identifier::is_id,
    path::{PRIVATE, is_closed, join},
    transaction::{Seen, StagedFile, Transaction},
    types::Trashed,
};

/// Where the trash lies.
pub(super) fn folder() -> String {
    join(PRIVATE, "trash")
}

/// Where an entry lies.
pub(super) fn entry_path(id: &str) -> String {
    format!("{PRIVATE}/trash/{id}")
}

/// What is noted beside an entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct TrashNote {
    /// Where it was.
    pub(super) path: String,
    /// Milliseconds since 1970.
    pub(super) removed: u64,
    pub(super) size: u64,
    pub(super) caller: String,
}

impl TrashNote {
    /// Writes the note beside where the entry will be.
    pub(super) fn write(&self, trash: &Folder, id: &str) -> io::Result<()> {
        let name = format!("{id}.json");
        trash.unlink(&name)?;
        trash
            .write_new(&name, serde_json::to_string(self)?.as_bytes(), None, None)?
            .sync_all()
    }

    /// The note of an entry that is there, if it can be read.
    pub(super) fn read(trash: &Folder, id: &str) -> Option<TrashNote> {
        let (file, _) = trash.open(&format!("{id}.json")).ok()??;
        serde_json::from_reader::<_, TrashNote>(io::BufReader::new(file)).ok()
    }
}

/// The entries of the trash folder: ids whose file and note are both there.
pub(super) fn entries(trash: &Folder) -> io::Result<Vec<(String, TrashNote)>> {
    let names = trash.names()?;
    let files = names
        .into_iter()
        .filter(|(name, node)| *node == Node::File && is_id(name));
    Ok(files
        .filter_map(|(id, _)| TrashNote::read(trash, &id).map(|note| (id, note)))
        .collect())
}

impl Transaction {
    /// What is in the trash, the latest first.
    pub fn trash(&mut self, after: Option<&str>, limit: u32) -> Result<Vec<Trashed>, VaultError> {
        let failed = |error: io::Error| VaultError::internal("read the trash", error.kind());
        let on_disk = match self.vault.root.descend(&folder()) {
            Ok(trash) => entries(&trash).map_err(failed)?,
            Err(error) if is_absent(&error) => Vec::new(),
            Err(error) => return Err(failed(error)),
        };
        let mut items: Vec<Trashed> = on_disk
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

    /// Something from the trash goes back to where it was, or to another path. Returns the path.
    pub fn restore(&mut self, id: &str, to: Option<&str>) -> Result<String, VaultError> {
        self.must_have(Effect::Write)?;
        let absent = || {
            VaultError::new(
                "not_found",
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
                let trash = self.vault.root.descend(&folder()).map_err(|_| absent())?;
                if !matches!(trash.status(id), Ok(Some(status)) if status.node == Node::File) {
                    return Err(absent());
                }
                TrashNote::read(&trash, id).ok_or_else(absent)?.path
            }
        };
        if !self.sees_original(&original) {
            return Err(absent());
        }
        let destination = self
            .free_destination(to.unwrap_or(&original))
            .map_err(|error| {
                let is_taken = error.code() == "already_exists" && to.is_none();
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
                let path = entry_path(id);
                self.observe(&path).map_err(|_| absent())?;
                path
            }
        };
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
        self.sees(path, super::Kind::File) && !path.split('/').any(is_closed)
    }

    fn is_restored(&self, id: &str) -> bool {
        let origin = entry_path(id);
        self.staged
            .values()
            .flatten()
            .any(|file| file.origin.as_deref() == Some(&origin))
    }

    fn seen_size(&self, path: &str) -> u64 {
        match self.seen.get(path) {
            Some(Seen::File(file)) => file.status.signature.size,
            _ => 0,
        }
    }
}
