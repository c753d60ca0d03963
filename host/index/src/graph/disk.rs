//! The graph on disk, so that a start reads only changed files. If the file is damaged or from another version, the
//! graph is rebuilt.
//!
//! The file consists of [`FORMAT`], the digest of the rest, the length of the lines of all links, these lines, and the
//! notes. The lines are only hashed when the file is loaded: they are read when an answer shows them.

use std::fs;
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::contexts::LinkContexts;
use super::record::StoredNote;
use super::{File, Graph};
use notehost_vault::Stamp;

/// Changes with what is stored of a note: its words, its facts, their encoding.
const FORMAT: &str = concat!("notehost index 3 of ", env!("CARGO_PKG_VERSION"), "\n");
const NAME: &str = "graph";
/// How long a digest is, and the length of the lines.
const DIGEST_BYTES: usize = 32;
const LENGTH_BYTES: usize = 8;
/// Where the lines begin.
const CONTEXTS_START: u64 = (FORMAT.len() + DIGEST_BYTES + LENGTH_BYTES) as u64;
/// How much of the lines is read at once to check them.
const BUFFER_BYTES: usize = 256 << 10;

#[derive(Serialize, Deserialize)]
struct StoredFile<'a> {
    path: &'a str,
    stamp: Stamp,
    is_unsure: bool,
    #[serde(borrow)]
    note: Option<StoredNote<'a>>,
}

/// The files of the graph that is saved in a folder.
pub(crate) fn load(folder: &Path) -> Option<Vec<File>> {
    let mut file = fs::File::open(folder.join(NAME)).ok()?;
    let mut format = [0; FORMAT.len()];
    file.read_exact(&mut format).ok()?;
    if format != *FORMAT.as_bytes() {
        return None;
    }
    let Ok(Some(packed)) = checked(&mut file) else {
        tracing::warn!("the stored note graph is damaged and is rebuilt");
        return None;
    };
    let saved = Arc::new(file);
    let stored: Vec<StoredFile<'_>> = postcard::from_bytes(&packed).ok()?;
    let restored = stored.into_iter().map(|file| {
        let note = match file.note {
            Some(note) => Some(note.restored(&saved)?),
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

/// The notes of a file that is read up to its digest; `None` if it is damaged.
fn checked(file: &mut fs::File) -> io::Result<Option<Vec<u8>>> {
    let mut digest = [0; DIGEST_BYTES];
    file.read_exact(&mut digest)?;
    let mut length = [0; LENGTH_BYTES];
    file.read_exact(&mut length)?;
    let mut hasher = blake3::Hasher::new();
    hasher.update(&length);
    let mut left = u64::from_le_bytes(length);
    let mut buffer = vec![0; BUFFER_BYTES];
    while left > 0 {
        let part = buffer
            .len()
            .min(usize::try_from(left).unwrap_or(usize::MAX));
        file.read_exact(&mut buffer[..part])?;
        hasher.update(&buffer[..part]);
        left -= part as u64;
    }
    let mut packed = Vec::new();
    file.read_to_end(&mut packed)?;
    hasher.update(&packed);
    Ok((hasher.finalize() == digest).then_some(packed))
}

/// A graph as it is written.
pub(crate) struct PackedGraph {
    /// The notes.
    packed: Vec<u8>,
    /// The lines of the links of each note, by its doc id and key, in the order in which they are written.
    contexts: Vec<(u32, u64, LinkContexts)>,
}

/// The lines of the links of a note with this doc id and key, in the file that was written.
pub(crate) type SavedContexts = (u32, u64, LinkContexts);

/// Encodes a graph, to be written by [`save`] after the lock is released.
pub(crate) fn packed(graph: &Graph) -> PackedGraph {
    let mut end = CONTEXTS_START;
    let mut contexts = Vec::new();
    let mut stored = Vec::new();
    for (doc_id, file) in graph.files() {
        let note = file.note.as_ref().map(|note| {
            let place = (end, length_of(note.contexts()));
            end += u64::from(place.1);
            contexts.push((doc_id, note.key, note.contexts().clone()));
            StoredNote::new(note, place)
        });
        stored.push(StoredFile {
            path: &file.path,
            stamp: file.stamp,
            is_unsure: file.is_unsure,
            note,
        });
    }
    PackedGraph {
        packed: postcard::to_stdvec(&stored).unwrap_or_default(),
        contexts,
    }
}

fn length_of(contexts: &LinkContexts) -> u32 {
    // A note has at most 64 MiB.
    u32::try_from(contexts.len()).unwrap_or(u32::MAX)
}

/// Writes a packed graph: all of it, or nothing. Returns where the lines of links are now.
pub(crate) fn save(folder: &Path, graph: PackedGraph) -> io::Result<Vec<SavedContexts>> {
    let temporary = folder.join(format!("{NAME}.new"));
    let file = fs::File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(&temporary)?;
    let mut hasher = blake3::Hasher::new();
    let mut writer = BufWriter::with_capacity(BUFFER_BYTES, file);
    writer.write_all(FORMAT.as_bytes())?;
    writer.write_all(&[0; DIGEST_BYTES])?;
    let mut write = |bytes: &[u8]| {
        hasher.update(bytes);
        writer.write_all(bytes)
    };
    let lengths = graph.contexts.iter();
    let total: u64 = lengths.map(|(.., lines)| u64::from(length_of(lines))).sum();
    write(&total.to_le_bytes())?;
    for (.., lines) in &graph.contexts {
        write(&lines.bytes()?)?;
    }
    write(&graph.packed)?;
    let mut file = writer
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    file.seek(SeekFrom::Start(FORMAT.len() as u64))?;
    file.write_all(hasher.finalize().as_bytes())?;
    file.sync_all()?;
    fs::rename(temporary, folder.join(NAME))?;
    let file = Arc::new(file);
    let mut offset = CONTEXTS_START;
    let saved = graph.contexts.into_iter().map(|(doc_id, key, lines)| {
        let length = length_of(&lines);
        let saved = LinkContexts::Saved {
            file: Arc::clone(&file),
            offset,
            length,
        };
        offset += u64::from(length);
        (doc_id, key, saved)
    });
    Ok(saved.collect())
}

/// The size of a folder in bytes, with everything below it.
pub(crate) fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    });
    sizes.sum()
}
