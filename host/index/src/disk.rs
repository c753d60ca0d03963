//! The graph on disk, so that a start reads only changed files. If the file is damaged or from another version, the
//! graph is rebuilt.

use std::borrow::Cow;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::graph::{File, Graph};
use super::record::StoredNote;
use notehost_vault::Stamp;

/// Another number whenever what is kept of a note changes: its words, its facts, their form.
const FORMAT: &str = concat!("notehost index 2 of ", env!("CARGO_PKG_VERSION"), "\n");
const NAME: &str = "graph";

#[derive(Serialize, Deserialize)]
struct StoredFile<'a> {
    path: Cow<'a, str>,
    stamp: Stamp,
    is_unsure: bool,
    note: Option<StoredNote<'a>>,
}

/// The files of the graph that was kept in a folder.
pub(super) fn load(folder: &Path) -> Option<Vec<File>> {
    let bytes = fs::read(folder.join(NAME)).ok()?;
    let rest = bytes.strip_prefix(FORMAT.as_bytes())?;
    let (digest, packed) = rest.split_at_checked(32)?;
    if blake3::hash(packed).as_bytes() != digest {
        tracing::warn!("the stored note graph is damaged and is rebuilt");
        return None;
    }
    let stored: Vec<StoredFile<'_>> = postcard::from_bytes(packed).ok()?;
    let restored = stored.into_iter().map(|file| {
        let note = match file.note {
            Some(note) => Some(note.restored()?),
            None => None,
        };
        Some(File {
            path: file.path.into(),
            stamp: file.stamp,
            is_unsure: file.is_unsure,
            note,
        })
    });
    restored.collect()
}

/// Packs a graph, to be written by [`save`] when nobody waits for it any more.
pub(super) fn packed(graph: &Graph) -> Vec<u8> {
    let stored: Vec<StoredFile<'_>> = graph
        .files()
        .map(|(_, file)| StoredFile {
            path: Cow::Borrowed(&file.path),
            stamp: file.stamp,
            is_unsure: file.is_unsure,
            note: file.note.as_ref().map(StoredNote::from),
        })
        .collect();
    postcard::to_stdvec(&stored).unwrap_or_default()
}

/// Writes a packed graph: all of it, or nothing.
pub(super) fn save(folder: &Path, packed: &[u8]) -> io::Result<()> {
    let temporary = folder.join(format!("{NAME}.new"));
    let mut file = fs::File::create(&temporary)?;
    file.write_all(FORMAT.as_bytes())?;
    file.write_all(blake3::hash(packed).as_bytes())?;
    file.write_all(packed)?;
    file.sync_all()?;
    fs::rename(temporary, folder.join(NAME))
}

/// How many bytes lie in a folder, with all that is below it.
pub(super) fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    });
    sizes.sum()
}
