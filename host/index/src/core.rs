//! The two halves of the index and how files are applied to them. What is applied was read from disk and is verified
//! under the graph's lock, so two concurrent refreshes of a file cannot leave the older state behind.

use parking_lot::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use notehost_sdk::text::facts::{Facts, facts};
use notehost_sdk::{is_note, stem_of};
use rayon::prelude::*;

use crate::graph::disk;
use crate::graph::record::Note;
use crate::graph::{File, Graph};
use crate::indexer::file_events::{FileEvent, Listeners};
use crate::indexer::file_read::{FileRead, Read, ReadText, without_note};
use crate::indexer::ignore::Ignored;
use crate::limits::deadline::Deadline;
use crate::query::caller_view::CallerViews;
use crate::text::{Document, Measure, Placed, Texts, measure};
use notehost_vault::{FileStat, Vault, VaultError, etag_of};

/// Larger notes are not read.
const MAX_FILE_BYTES: u64 = 64 << 20;
/// How many files are read before their content is applied.
const BATCH_SIZE: usize = 256;
/// The folder of the full-text half.
const TEXT: &str = "text";

/// The index of one vault.
pub(super) struct Core {
    pub(super) vault: Arc<Vault>,
    pub(super) folder: PathBuf,
    /// Opened on first use, which reads all of it once.
    texts: RwLock<Option<Arc<Texts>>>,
    pub(super) caller_views: CallerViews,
    pub(super) listeners: Listeners,
    graph: RwLock<Graph>,
    ignored: RwLock<Arc<Ignored>>,
    /// The notes that are there while not all of them are in the graph.
    expected: RwLock<Option<Arc<Vec<String>>>>,
    /// Files that a commit changed and that have not been read since.
    pub(super) dirty: Mutex<BTreeSet<String>>,
    /// Held while they are read.
    pub(super) settling: Mutex<()>,
    pub(super) is_stopping: AtomicBool,
    /// The generation of the graph that is on disk.
    saved: AtomicU64,
}

impl Core {
    pub(super) fn new(vault: Arc<Vault>) -> Core {
        let folder = vault.state().join("index");
        if let Err(error) = notehost_platform::private::create_folder(&folder) {
            tracing::warn!("cannot create the index folder: {}", error.kind());
        }
        Core {
            texts: RwLock::default(),
            folder,
            caller_views: CallerViews::default(),
            listeners: Listeners::default(),
            graph: RwLock::default(),
            ignored: RwLock::new(Arc::new(Ignored::of(&vault))),
            expected: RwLock::new(Some(Arc::default())),
            dirty: Mutex::default(),
            settling: Mutex::default(),
            is_stopping: AtomicBool::new(false),
            saved: AtomicU64::new(0),
            vault,
        }
    }

    pub(super) fn graph(&self) -> RwLockReadGuard<'_, Graph> {
        self.graph.read()
    }

    /// The same, waiting until the deadline for writers.
    pub(super) fn graph_until(
        &self,
        deadline: &Deadline,
    ) -> Result<RwLockReadGuard<'_, Graph>, VaultError> {
        deadline.read(&self.graph)
    }

    pub(super) fn graph_to_change(&self) -> RwLockWriteGuard<'_, Graph> {
        self.graph.write()
    }

    /// The full-text half.
    pub(super) fn texts(&self) -> Arc<Texts> {
        let known = self.texts.read();
        if let Some(texts) = &*known {
            return texts.clone();
        }
        drop(known);
        let mut texts = self.texts.write();
        let opened = || Arc::new(Texts::open(&self.folder.join(TEXT)));
        texts.get_or_insert_with(opened).clone()
    }

    pub(super) fn ignored(&self) -> Arc<Ignored> {
        self.ignored.read().clone()
    }

    /// The notes that should be in the index while it is being built; `None` once they are.
    pub(super) fn expected(&self) -> Option<Arc<Vec<String>>> {
        self.expected.read().clone()
    }

    pub(super) fn expect(&self, notes: Option<Vec<String>>) {
        let mut expected = self.expected.write();
        *expected = notes.map(Arc::new);
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed)
    }

    /// Loads the graph from disk.
    pub(super) fn restore(&self) {
        let files = disk::load(&self.folder).unwrap_or_default();
        let ignored = self.ignored();
        ignored.log_refused();
        let decided: Vec<bool> = files
            .par_iter()
            .map(|file| ignored.matches(&file.path))
            .collect();
        let mut graph = self.graph_to_change();
        for (file, is_ignored) in files.into_iter().zip(decided) {
            graph.put(file, is_ignored);
        }
        let placed: Vec<Placed> = graph
            .files()
            .filter_map(|(doc_id, file)| {
                let note = file.note.as_ref()?;
                Some(Placed {
                    doc_id,
                    key: note.key,
                    lengths: note.lengths,
                })
            })
            .collect();
        let unknown: HashSet<u64> = self.texts().bind(&placed).into_iter().collect();
        // A note whose text is not there is read again.
        let lost: Vec<String> = graph
            .files()
            .filter(|(_, file)| {
                file.note
                    .as_ref()
                    .is_some_and(|note| unknown.contains(&note.key))
            })
            .map(|(_, file)| file.path.to_string())
            .collect();
        for path in lost {
            graph.remove(&path);
        }
        self.saved.store(graph.generation, Ordering::Relaxed);
    }

    /// Saves the graph, if it changed.
    pub(super) fn save(&self) {
        let (packed, generation) = {
            let graph = self.graph();
            if graph.generation == self.saved.load(Ordering::Relaxed) {
                return;
            }
            (disk::packed(&graph), graph.generation)
        };
        match disk::save(&self.folder, packed) {
            Ok(saved) => {
                self.graph_to_change().move_contexts(saved);
                self.saved.store(generation, Ordering::Relaxed);
            }
            Err(error) => tracing::warn!("cannot save the note graph: {}", error.kind()),
        }
    }

    /// Compares the index with a scan of the whole vault. Returns the files that changed.
    pub(super) fn compare(&self, scanned: &[FileStat]) -> Vec<String> {
        let mut known: HashSet<&str> = HashSet::new();
        let mut changed = Vec::new();
        let graph = self.graph();
        for file in scanned {
            known.insert(&file.path);
            let is_same = graph
                .doc_id(&file.path)
                .and_then(|doc_id| graph.file(doc_id))
                .is_some_and(|known| known.stamp == file.stamp && !known.is_unsure);
            if !is_same {
                changed.push(file.path.clone());
            }
        }
        let gone = graph
            .files()
            .filter(|(_, file)| !known.contains(&*file.path));
        changed.extend(gone.map(|(_, file)| file.path.to_string()));
        changed.sort_unstable();
        changed
    }

    /// Reads many files at once. They are found after the next flush of the text half, which `each` may ask for.
    /// Returns their events.
    pub(super) fn load(&self, paths: &[String], mut each: impl FnMut(usize)) -> Vec<FileEvent> {
        let mut done = 0;
        let mut edits = Vec::new();
        for chunk in paths.chunks(BATCH_SIZE) {
            if self.is_stopping() {
                return edits;
            }
            let looks: Vec<(&String, FileRead)> = chunk
                .par_iter()
                .map(|path| (path, self.read_file(path)))
                .collect();
            let mut documents = Vec::new();
            {
                let mut graph = self.graph_to_change();
                for (path, look) in looks {
                    edits.extend(look.edit(&graph, path));
                    documents.extend(self.apply(&mut graph, path, look));
                }
            }
            let placed: Vec<(u32, u64)> = documents
                .iter()
                .map(|(document, _)| (document.doc_id, document.key))
                .collect();
            let lengths = self.texts().load_measured(documents);
            let mut overtaken = Vec::new();
            {
                let mut graph = self.graph_to_change();
                for ((doc_id, key), lengths) in placed.into_iter().zip(lengths) {
                    match graph.note(doc_id).map(|note| note.key) {
                        Some(known) if known == key => graph.set_lengths(doc_id, lengths),
                        Some(_) => overtaken.push(graph.path(doc_id).to_owned()),
                        None => self.texts().remove(doc_id),
                    }
                }
            }
            for path in overtaken {
                self.put_again(&path);
            }
            done += chunk.len();
            each(done);
        }
        edits
    }

    /// What is at a path now, compared with what is known.
    pub(super) fn read_file(&self, path: &str) -> FileRead {
        let mut look = self.read_anew(path);
        if let FileRead::Read(read) = &mut look {
            let ignored = self.ignored();
            let is_ignored = ignored.matches(path);
            read.ignored = Some((ignored, is_ignored));
        }
        look
    }

    fn read_anew(&self, path: &str) -> FileRead {
        let Some(stamp) = self.vault.stamp(path) else {
            return FileRead::Gone;
        };
        let known = {
            let graph = self.graph();
            let file = graph.doc_id(path).and_then(|doc_id| graph.file(doc_id));
            file.map(|file| {
                let etag = file.note.as_ref().map(|note| note.etag.clone());
                (file.stamp, file.is_unsure, etag)
            })
        };
        if let Some((known, false, _)) = &known
            && *known == stamp
        {
            return FileRead::Same;
        }
        if !is_note(path) {
            return without_note(path, stamp);
        }
        let content = match self.vault.read_content(path, MAX_FILE_BYTES) {
            Ok(Some(content)) => content,
            Ok(None) => return FileRead::Gone,
            Err(_) => return without_note(path, stamp),
        };
        let is_unsure = content.stamp.is_racy(content.at);
        let Some(bytes) = content.bytes else {
            return without_note(path, content.stamp);
        };
        let etag = etag_of(&bytes);
        if let Some((_, _, Some(known))) = &known
            && **known == *etag
        {
            return FileRead::Restamped(content.stamp, is_unsure);
        }
        // What is not UTF-8 is indexed as far as it can be read: its links count, and it is found.
        let text: Arc<str> = String::from_utf8_lossy(&bytes).into();
        let facts = facts(&text);
        let (name, headings) = (names(path, &facts), headings(&facts));
        let note = Note::new(&etag, key(path, &etag), facts);
        FileRead::Read(Box::new(Read {
            file: File {
                path: path.into(),
                stamp: content.stamp,
                is_unsure,
                note: Some(note),
            },
            text: Some(ReadText {
                measure: measure(&name, &headings, &text),
                name,
                headings,
                text,
            }),
            ignored: None,
        }))
    }

    /// Puts what was seen into the graph, unless the disk has something newer. Returns what the text half must know.
    pub(super) fn apply(
        &self,
        graph: &mut Graph,
        path: &str,
        look: FileRead,
    ) -> Option<(Document, Measure)> {
        match look {
            FileRead::Same => None,
            FileRead::Gone => {
                if self.vault.stamp(path).is_none()
                    && let Some(doc_id) = graph.remove(path)
                {
                    self.texts().remove(doc_id);
                }
                None
            }
            FileRead::Restamped(stamp, is_unsure) => {
                if self.vault.stamp(path) == Some(stamp)
                    && let Some(doc_id) = graph.doc_id(path)
                {
                    graph.restamp(doc_id, stamp, is_unsure);
                }
                None
            }
            FileRead::Read(read) => {
                if self.vault.stamp(path) != Some(read.file.stamp) {
                    return None;
                }
                let current = self.ignored();
                let is_ignored = match read.ignored {
                    Some((by, is_ignored)) if Arc::ptr_eq(&by, &current) => is_ignored,
                    // The filters changed since it was read.
                    _ => current.matches(path),
                };
                let key = read.file.note.as_ref().map(|note| note.key);
                let doc_id = graph.put(read.file, is_ignored);
                match (key, read.text) {
                    (Some(key), Some(read)) => {
                        let document = Document {
                            doc_id,
                            key,
                            name: read.name,
                            headings: read.headings,
                            text: read.text,
                        };
                        Some((document, read.measure))
                    }
                    _ => {
                        self.texts().remove(doc_id);
                        None
                    }
                }
            }
        }
    }

    /// Reads the ignore rules again, if they changed.
    pub(super) fn refresh_ignored(&self) {
        if self.ignored().is_current(&self.vault) {
            return;
        }
        let fresh = Arc::new(Ignored::of(&self.vault));
        fresh.log_refused();
        // New files are decided by the new rules from now on; known files are decided before the lock is taken.
        *self.ignored.write() = fresh.clone();
        let decided: Vec<(String, bool)> = {
            let graph = self.graph();
            let files = graph.files().map(|(_, file)| file.path.to_string());
            let paths: Vec<String> = files.collect();
            drop(graph);
            let decided = paths.into_par_iter().map(|path| {
                let is_ignored = fresh.matches(&path);
                (path, is_ignored)
            });
            decided.collect()
        };
        let mut graph = self.graph_to_change();
        for (path, is_ignored) in decided {
            if let Some(doc_id) = graph.doc_id(&path) {
                graph.set_ignored(doc_id, is_ignored);
            }
        }
    }

    /// Clears the index in any state.
    pub(super) fn clear(&self) {
        let mut graph = self.graph_to_change();
        let paths: Vec<String> = graph
            .files()
            .map(|(_, file)| file.path.to_string())
            .collect();
        for path in paths {
            graph.remove(&path);
        }
        let folder = self.folder.join(TEXT);
        let mut texts = self.texts.write();
        // Searches that still run keep what they have open.
        if let Err(error) = std::fs::remove_dir_all(&folder) {
            tracing::debug!("cannot remove the old index: {}", error.kind());
        }
        *texts = None;
        drop(texts);
        self.texts().bind(&[]);
    }
}

/// The names of a note: file name, aliases and title.
fn names(path: &str, facts: &Facts) -> String {
    let aliases = facts.aliases.iter().map(String::as_str);
    let names = [stem_of(path)].into_iter().chain(aliases);
    let all: Vec<&str> = names.chain(facts.title.as_deref()).collect();
    all.join("\n")
}

fn headings(facts: &Facts) -> String {
    let texts = facts.headings.iter().map(|heading| heading.text.as_str());
    texts.collect::<Vec<_>>().join("\n")
}

/// Names a path and its content.
fn key(path: &str, etag: &str) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(path.as_bytes());
    hasher.update(&[0]);
    hasher.update(etag.as_bytes());
    let mut first = [0; 8];
    first.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    u64::from_le_bytes(first)
}
