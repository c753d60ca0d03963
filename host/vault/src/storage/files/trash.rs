//! The trash on disk: an entry is the file itself, `.notehost/trash/ID`, with a note `ID.json` that records its original
//! path.

use std::io;

use crate::{
    identifier::{is_id, new_id},
    path::{PRIVATE, join},
    storage::{
        files::disk::{Folder, read_bounded},
        records::TrashNote,
        stamp::Node,
    },
};

/// More than a path, a time and a name need; the file comes from the vault.
const MAX_NOTE_BYTES: u64 = 64 << 10;

/// The path of the trash.
pub(crate) fn folder() -> String {
    join(PRIVATE, "trash")
}

impl TrashNote {
    /// Writes the note beside where the entry will be.
    pub(crate) fn write(&self, trash: &Folder, id: &str) -> io::Result<()> {
        let name = format!("{id}.json");
        trash.unlink(&name)?;
        trash
            .write_new(&name, serde_json::to_string(self)?.as_bytes(), None, None)?
            .sync_all()
    }

    /// The note of an entry that is there, if it can be read.
    pub(crate) fn read(trash: &Folder, id: &str) -> Option<TrashNote> {
        let (mut file, status) = trash.open(&format!("{id}.json")).ok()??;
        let bytes = read_bounded(&mut file, status.stamp.size, MAX_NOTE_BYTES).ok()??;
        serde_json::from_slice(&bytes).ok()
    }
}

/// Puts a version of a note into the trash that somebody wrote and nobody removed: it was in the way of a commit.
pub(crate) fn keep(root: &Folder, temps: &Folder, temp: &str, path: &str) -> io::Result<()> {
    if path.starts_with('.') {
        return Ok(());
    }
    tracing::warn!("a file was edited during a commit: one of its versions was moved to the trash");
    let note = TrashNote::now(path.to_owned(), String::new(), None);
    put(root, temps, temp, note).map(drop)
}

/// Puts a file into the trash. Returns the id of the entry.
pub(crate) fn put(
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
    note.size = status.map_or(0, |status| status.stamp.size);
    note.write(&trash, &id)?;
    from.rename_new(name, &trash, &id)?;
    trash.sync()?;
    Ok(id)
}

/// The entries of the trash folder: ids whose file and note are both there.
pub(crate) fn entries(trash: &Folder) -> io::Result<Vec<(String, TrashNote)>> {
    let names = trash.names()?;
    let files = names
        .into_iter()
        .filter(|(name, node)| *node == Node::File && is_id(name));
    Ok(files
        .filter_map(|(id, _)| TrashNote::read(trash, &id).map(|note| (id, note)))
        .collect())
}
