//! The full-text index: which notes contain which words, and how well they match.
//!
//! The index is on disk and is written in the background. Recent changes are kept in memory, in small segments that
//! are built by the next search, so that a change can be found at once and costs its writer nothing.
//!
//! Notes are identified by doc id; paths, rules and properties are not known here. A search gets the set of visible
//! notes, and nothing in its answer depends on other notes: no hit, count or score. Nor does it depend on the history
//! of the index: the same notes have exactly the same scores.
//!
//! tantivy provides the files, the dictionaries and the postings; planning and scoring (`plan`, `cursor`, `best`, `weight`,
//! `listed`) are our own. tantivy can take statistics from outside (`Bm25StatisticsProvider`), and a collector can skip
//! hidden notes, but it bounds the scores of a block of postings by the average length in its segment, hidden and deleted
//! notes included. With the average of one caller these bounds do not hold: `tests::statistics` shows a best note that is
//! dropped because hidden notes are long. Without pruning tantivy scores every hit. `best` corrects the bounds for the
//! caller's average (`segment::block_bound`) and prunes. `notehost-bench find` compares both on any folder of notes.

mod best;
mod bigrams;
mod bitmap;
mod containing;
mod cursor;
mod disk;
mod files;
mod listed;
mod plan;
mod schema;
mod segment;
mod snippets;
mod state;
mod weight;

#[cfg(test)]
mod tests;

use parking_lot::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::cmp::Ordering;
use std::path::Path;
use std::sync::Arc;

use notehost_sdk::index::Part;
use tantivy::{Index, IndexWriter, SegmentReader};

pub(crate) use bitmap::Bitmap;
pub(crate) use schema::{Document, Lengths, Measure, measure};
pub(crate) use snippets::QueryWords;

use schema::Fields;
use segment::Segment;
use state::{Pending, State};

use crate::limits::deadline::Deadline;
use notehost_vault::VaultError;

/// So many bytes of new text are indexed in about a millisecond.
const QUICK_BYTES: usize = 32 << 10;

/// The words of all notes.
pub(crate) struct Texts {
    index: Index,
    fields: Fields,
    state: RwLock<State>,
    /// The writer, while notes are loaded. Held during a write.
    writer: Mutex<Option<IndexWriter>>,
    /// Held while what waits is put into a fresh segment: others go on searching what there is.
    building: Mutex<()>,
}

/// A note that was in the index when it was last written.
#[derive(Debug, Clone)]
pub(crate) struct Placed {
    /// Which note it is now.
    pub doc_id: u32,
    /// What it was put in with.
    pub key: u64,
    /// What putting it in returned.
    pub lengths: Lengths,
}

/// What a note must have.
#[derive(Debug, Clone)]
pub(crate) enum Tree {
    /// All of these; every note has all of nothing.
    All(Vec<Tree>),
    /// One of these; no note has one of nothing.
    Any(Vec<Tree>),
    /// Not this.
    Not(Box<Tree>),
    /// These words, one after the other. A single one that occurs in no note is looked for within words.
    Words { text: String, part: Option<Part> },
    /// These words, of which the last may go on.
    Prefix { text: String, part: Option<Part> },
    /// Some of the words that set this text apart.
    Like(String),
    /// One of these doc ids.
    Bitmap(Arc<Bitmap>),
}

/// A note that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Hit {
    pub doc_id: u32,
    /// Its score; 0 if the query has no words.
    pub score: f32,
}

/// What a search found.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Hits {
    pub hits: Vec<Hit>,
    /// How many there are in all.
    pub total: u64,
    /// Words that occur in no visible note, and were found within words.
    pub widened: Vec<String>,
}

/// Why the index could not answer, or not be written. It is rebuilt from the notes then.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("the search index failed: {0}")]
    Library(#[from] tantivy::TantivyError),
    #[error("cannot open the search index: {0}")]
    Disk(#[from] std::io::Error),
    #[error("the search index has another schema or version")]
    Foreign,
    #[error("the search index is damaged")]
    Damaged,
    #[error("the search engine panicked; the index is being rebuilt")]
    Panicked,
    /// Not a failure of the index: the time for the question was up.
    #[error("{0}")]
    Stopped(VaultError),
}

impl From<VaultError> for Failure {
    fn from(error: VaultError) -> Failure {
        Failure::Stopped(error)
    }
}

/// The result of a search.
type SearchResult<T> = Result<T, Failure>;

impl Texts {
    /// Opens what is on disk. What is damaged or has another version is discarded; if the disk fails, the index is in memory.
    pub(crate) fn open(folder: &Path) -> Texts {
        let (index, fields, segments) = disk::open(folder);
        Texts {
            index,
            fields,
            state: RwLock::new(State::new(segments)),
            writer: Mutex::new(None),
            building: Mutex::default(),
        }
    }

    /// Keeps the notes of the opened index that are unchanged, and drops the rest. Returns the keys of those that are
    /// missing and must be added again. To be called once, before anything else.
    pub(crate) fn bind(&self, known: &[Placed]) -> Vec<u64> {
        self.write_state().bind(known)
    }

    /// Hands notes to the writer. They are found after the next [`Texts::flush`].
    pub(crate) fn load_measured(&self, documents: Vec<(Document, Measure)>) -> Vec<Lengths> {
        let mut writer = self.writer.lock();
        if writer.is_none() {
            *writer = disk::writer(&self.index, true)
                .inspect_err(|problem| tracing::warn!(%problem, "notes are indexed in memory"))
                .ok();
        }
        let mut lengths = Vec::with_capacity(documents.len());
        for (document, measure) in documents {
            let pending = Arc::new(Pending { document, measure });
            lengths.push(pending.measure.lengths);
            let Some(writing) = writer.as_ref() else {
                self.write_state().put(pending);
                continue;
            };
            if self.write_state().load(pending.clone()) {
                writing.delete_term(self.fields.key_term(pending.document.key));
            }
            let made = self
                .fields
                .document(&pending.document, pending.measure.loose);
            if let Err(problem) = writing.add_document(made) {
                tracing::warn!(%problem, "notes are indexed in memory");
                *writer = None;
                self.write_state().writing_failed(std::iter::empty());
            }
        }
        lengths
    }

    /// Adds or replaces a note: the next search finds it.
    pub(crate) fn put_measured(&self, document: Document, measure: Measure) -> Lengths {
        let lengths = measure.lengths;
        self.write_state()
            .put(Arc::new(Pending { document, measure }));
        lengths
    }

    /// Whether a search has little or nothing to index first, and the index is not locked.
    pub(crate) fn is_quick_to_search(&self) -> bool {
        let Some(state) = self.state.try_read() else {
            return false;
        };
        !self.building.is_locked() && state.unbuilt_bytes() <= QUICK_BYTES
    }

    /// Removes a note.
    pub(crate) fn remove(&self, doc_id: u32) {
        self.write_state().remove(doc_id);
    }

    /// How many changes are not on disk.
    pub(crate) fn pending(&self) -> usize {
        self.read_state().unwritten()
    }

    /// Brings all changes to disk. Searches and changes go on meanwhile.
    pub(crate) fn flush(&self) -> Result<(), Failure> {
        let mut writer = self.writer.lock();
        if self.read_state().unwritten() == 0 {
            *writer = None;
            return Ok(());
        }
        let writing = match writer.take() {
            Some(writing) => writing,
            None => disk::writer(&self.index, false)?,
        };
        let (pending, doomed) = self.write_state().take_unwritten();
        let outcome = disk::guarded(|| {
            self.write(writing, &pending, doomed.iter().copied())?;
            let mut identities = Vec::new();
            let mut opened = Vec::new();
            let open = self.read_state().open();
            for found in self.index.searchable_segments()? {
                let reader = SegmentReader::open(&found)?;
                let identity = segment::identity(&reader);
                if !open.contains(&identity) {
                    opened.push(Segment::open(&reader, self.fields)?);
                }
                identities.push(identity);
            }
            Ok((identities, opened))
        });
        match outcome {
            Ok((identities, opened)) => {
                self.write_state().written(&pending, &identities, opened);
                Ok(())
            }
            Err(failure) => {
                // Some of it may be on disk all the same: it goes before it comes again.
                let keys = pending.iter().map(|pending| pending.document.key);
                self.write_state()
                    .writing_failed(doomed.into_iter().chain(keys));
                Err(failure)
            }
        }
    }

    /// The best notes, best first, equally good ones by `order`.
    pub(crate) fn best_until(
        &self,
        tree: &Tree,
        visible: &Bitmap,
        count: usize,
        order: &dyn Fn(u32, u32) -> Ordering,
        deadline: &Deadline,
    ) -> SearchResult<Hits> {
        self.search(deadline, |state| {
            best::best(state, tree, visible, count, order, deadline)
        })
    }

    /// All notes, in no order.
    pub(crate) fn all_until(
        &self,
        tree: &Tree,
        visible: &Bitmap,
        deadline: &Deadline,
    ) -> SearchResult<Hits> {
        self.search(deadline, |state| best::all(state, tree, visible, deadline))
    }

    /// The text of a note, as it was put in; `None` also if it cannot be read.
    pub(crate) fn text_of(
        &self,
        doc_id: u32,
        deadline: &Deadline,
    ) -> Result<Option<Arc<str>>, VaultError> {
        let state = deadline.read(&self.state)?;
        Ok(disk::guarded(|| Ok(state.text_of(doc_id)?)).ok().flatten())
    }

    /// Visible notes that may contain one text of each list, whatever its case and accents. None that does is missing.
    pub(crate) fn containing_until(
        &self,
        texts: &[Vec<String>],
        visible: &Bitmap,
        deadline: &Deadline,
    ) -> SearchResult<Bitmap> {
        self.search(deadline, |state| {
            containing::containing(state, texts, visible, deadline)
        })
    }

    fn write(
        &self,
        mut writer: IndexWriter,
        pending: &[Arc<Pending>],
        doomed: impl Iterator<Item = u64>,
    ) -> Result<(), Failure> {
        for key in doomed {
            writer.delete_term(self.fields.key_term(key));
        }
        for pending in pending {
            writer.add_document(
                self.fields
                    .document(&pending.document, pending.measure.loose),
            )?;
        }
        writer.commit()?;
        // The writer's memory is freed, and what is opened next is not merged away at once.
        writer.wait_merging_threads()?;
        Ok(())
    }

    fn search<T>(
        &self,
        deadline: &Deadline,
        ask: impl FnOnce(&State) -> SearchResult<T>,
    ) -> SearchResult<T> {
        disk::guarded(|| {
            let mut state = deadline.read(&self.state)?;
            while state.is_unbuilt() {
                drop(state);
                self.build(deadline)?;
                state = deadline.read(&self.state)?;
            }
            ask(&state)
        })
    }

    /// Puts what waits into a fresh segment. The state is not locked meanwhile: a large note blocks no other search. At the
    /// deadline nothing is built, and the notes stay pending.
    fn build(&self, deadline: &Deadline) -> SearchResult<()> {
        let _held = deadline.lock(&self.building)?;
        let documents = {
            let state = deadline.read(&self.state)?;
            match state.is_unbuilt() {
                true => state.to_build(),
                false => return Ok(()),
            }
        };
        let segment = state::fresh_segment(self.fields, &documents, deadline)?;
        self.write_state().built(&documents, segment);
        Ok(())
    }

    // A panic leaves nothing half done that could not be searched; and the index is rebuilt after any failure.
    fn read_state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read()
    }

    fn write_state(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write()
    }
}
