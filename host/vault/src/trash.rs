//! The vault's trash: listing and restoring entries. Removing is in `stage`.
//!
//! An entry is the file itself, `.notehost/trash/ID`, with a note `ID.json` that records its original path.

use notehost_sdk::Code;
use std::io;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    access::{Effect, Tier},
    disk::{Folder, Node, is_absent, read_bounded},
    error::VaultError,
    identifier::{is_id, new_id, now_millis},
    path::{PRIVATE, is_closed, join},
    transaction::{ReadRecord, StagedFile, Transaction},
    types::Trashed,
};

/// More than a path, a time and a name need; the file comes from the vault.
const MAX_NOTE_BYTES: u64 = 64 << 10;

/// The path of the trash.
pub(super) fn folder() -> String {
    join(PRIVATE, "trash")
}

/// The path of an entry.
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
    /// The id of the state folder that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) state: Option<String>,
}

impl TrashNote {
    /// Of a file that leaves its place now; `put` fills in its size.
    pub(super) fn now(path: String, caller: String, state: Option<String>) -> TrashNote {
        TrashNote {
            path,
            removed: now_millis(),
            size: 0,
            caller,
            state,
        }
    }

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
        let (mut file, status) = trash.open(&format!("{id}.json")).ok()??;
        let bytes = read_bounded(&mut file, status.signature.size, MAX_NOTE_BYTES).ok()??;
        serde_json::from_slice(&bytes).ok()
    }
}

/// Puts a version of a note into the trash that somebody wrote and nobody removed: it was in the way of a commit.
pub(super) fn keep(root: &Folder, temps: &Folder, temp: &str, path: &str) -> io::Result<()> {
    if path.starts_with('.') {
        return Ok(());
    }
    tracing::warn!("a file was edited during a commit: one of its versions was moved to the trash");
    let note = TrashNote::now(path.to_owned(), String::new(), None);
    put(root, temps, temp, note).map(drop)
}

/// Puts a file into the trash. Returns the id of the entry.
pub(super) fn put(
    root: &Folder,
    from: &Folder,
    name: &str,
    mut note: TrashNote,
) -> io::Result<String> {
    let private = root.folder(PRIVATE)?;
    if private.make_private_folder("trash")? {
        private.sync()?;
    }
    let trash = root.descend(&folder())?;
    let id = new_id();
    let status = from.status(name)?;
    note.size = status.map_or(0, |status| status.signature.size);
    note.write(&trash, &id)?;
    from.rename_new(name, &trash, &id)?;
    trash.sync()?;
    Ok(id)
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
                let path = entry_path(id);
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
            Some(ReadRecord::File(file)) => file.status.signature.size,
            _ => 0,
        }
    }
}
