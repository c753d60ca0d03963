//! The location of each note: in a segment on disk, in a fresh one in memory, or pending.
//!
//! Invariant: a note that can be found (`live`) has exactly one current document.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tantivy::Index;
use tantivy::directory::RamDirectory;

use super::schema::{self, Document, Fields, Lengths, Measure, PARTS};
use super::segment::{Identity, Segment};
use super::{Bitmap, Placed, SearchResult};
use crate::limits::deadline::Deadline;

/// A fresh segment of this size is not built again to take more notes in.
const FULL_SEGMENT_DOCS: u32 = 64;

/// Nor is one with a note of this size, which takes a while.
const MAX_REBUILT_BYTES: usize = 256 << 10;

/// What a fresh segment may take while it is made. Only a hint: it grows if it must.
const FRESH_MEMORY: usize = 200_000;

pub(super) struct State {
    pub(super) disk: Vec<Segment>,
    pub(super) fresh: Vec<Segment>,
    /// Notes that are not on disk.
    pending: HashMap<u32, Arc<Pending>>,
    /// Those of them that are in no fresh segment.
    unbuilt: Vec<u32>,
    /// Notes that the writer has, but has not committed.
    loading: HashMap<u32, Arc<Pending>>,
    homes: Vec<Location>,
    /// Live documents on disk or in the writer.
    keys: HashMap<u64, u32>,
    /// Dead documents on disk or in the writer.
    doomed: HashSet<u64>,
    lengths: Vec<Lengths>,
    pub(super) live: Bitmap,
    tokens: [u64; PARTS],
}

/// A note that is not on disk.
pub(super) struct Pending {
    pub(super) document: Document,
    pub(super) measure: Measure,
}

#[derive(Debug, Clone, Copy)]
enum Location {
    Nowhere,
    In(Identity, u32),
    /// In `loading`.
    Loading,
    /// In `unbuilt`.
    Waiting,
}

impl State {
    pub(super) fn new(disk: Vec<Segment>) -> State {
        State {
            disk,
            fresh: Vec::new(),
            pending: HashMap::new(),
            unbuilt: Vec::new(),
            loading: HashMap::new(),
            homes: Vec::new(),
            keys: HashMap::new(),
            doomed: HashSet::new(),
            lengths: Vec::new(),
            live: Bitmap::new(),
            tokens: [0; PARTS],
        }
    }

    /// All segments.
    pub(super) fn segments(&self) -> impl Iterator<Item = &Segment> {
        self.disk.iter().chain(&self.fresh)
    }

    /// How much there is to be written.
    pub(super) fn unwritten(&self) -> usize {
        self.pending.len() + self.loading.len() + self.doomed.len()
    }

    /// Whether a search has to wait for [`State::built`].
    pub(super) fn is_unbuilt(&self) -> bool {
        !self.unbuilt.is_empty()
    }

    /// The words in each part of all visible notes.
    pub(super) fn tokens(&self, visible: &Bitmap, is_all_visible: bool) -> [u64; PARTS] {
        if is_all_visible {
            return self.tokens;
        }
        let mut tokens = [0; PARTS];
        for doc_id in visible.iter() {
            if self.live.contains(doc_id) {
                add(&mut tokens, &self.lengths[doc_id as usize]);
            }
        }
        tokens
    }

    /// Where the text of a note is: at hand, or in a segment.
    pub(super) fn text_of(&self, doc_id: u32) -> tantivy::Result<Option<Arc<str>>> {
        if let Some(pending) = self.pending.get(&doc_id) {
            return Ok(Some(pending.document.text.clone()));
        }
        let Some(Location::In(identity, doc)) = self.homes.get(doc_id as usize) else {
            return Ok(None);
        };
        let segment = self
            .segments()
            .find(|segment| segment.identity == *identity);
        match segment {
            Some(segment) => segment.text(*doc),
            None => Ok(None),
        }
    }

    /// Assigns the documents on disk to the notes that they were made of.
    pub(super) fn bind(&mut self, known: &[Placed]) -> Vec<u64> {
        let mut doc_ids: HashMap<u64, &Placed> =
            known.iter().map(|placed| (placed.key, placed)).collect();
        let mut seen: HashMap<u64, u32> = HashMap::new();
        for segment in &mut self.disk {
            segment.assign(|_, key| {
                *seen.entry(key).or_default() += 1;
                None
            });
        }
        // A key that is there twice cannot be deleted once: both go.
        doc_ids.retain(|key, _| seen.get(key) == Some(&1));
        for segment in &mut self.disk {
            let identity = segment.identity;
            segment.assign(|doc, key| {
                let Some(placed) = doc_ids.get(&key) else {
                    self.doomed.insert(key);
                    return None;
                };
                let at = placed.doc_id as usize;
                if self.homes.len() <= at {
                    self.homes.resize(at + 1, Location::Nowhere);
                    self.lengths.resize(at + 1, [0; PARTS]);
                }
                self.homes[at] = Location::In(identity, doc);
                self.lengths[at] = placed.lengths;
                self.keys.insert(key, placed.doc_id);
                self.live.insert(placed.doc_id);
                add(&mut self.tokens, &placed.lengths);
                Some(placed.doc_id)
            });
        }
        known
            .iter()
            .filter(|placed| self.keys.get(&placed.key) != Some(&placed.doc_id))
            .map(|placed| placed.key)
            .collect()
    }

    /// Adds or replaces a note.
    pub(super) fn put(&mut self, pending: Arc<Pending>) {
        let doc_id = pending.document.doc_id;
        self.leave(doc_id);
        self.settle(doc_id, Location::Waiting);
        self.arrive(doc_id, pending.measure.lengths);
        self.pending.insert(doc_id, pending);
        self.unbuilt.push(doc_id);
    }

    /// A note is handed to the writer. Returns whether a document of the same key must be deleted first.
    pub(super) fn load(&mut self, pending: Arc<Pending>) -> bool {
        let doc_id = pending.document.doc_id;
        let key = pending.document.key;
        self.leave(doc_id);
        self.settle(doc_id, Location::Loading);
        self.keys.insert(key, doc_id);
        self.loading.insert(doc_id, pending);
        self.doomed.remove(&key)
    }

    /// Removes a note.
    pub(super) fn remove(&mut self, doc_id: u32) {
        self.leave(doc_id);
    }

    /// How many bytes of text a search has to index first.
    pub(super) fn unbuilt_bytes(&self) -> usize {
        let waiting = self
            .unbuilt
            .iter()
            .filter_map(|doc_id| self.pending.get(doc_id));
        waiting.map(|pending| pending.document.text.len()).sum()
    }

    /// What goes into the next fresh segment: all that waits, and the notes of small segments, so that there are never
    /// many.
    pub(super) fn to_build(&self) -> Vec<Arc<Pending>> {
        let mut doc_ids: Vec<u32> = self.unbuilt.clone();
        for segment in self.fresh.iter().rev() {
            let is_small = |doc_id: &u32| {
                let pending = self.pending.get(doc_id);
                pending.is_none_or(|pending| pending.document.text.len() <= MAX_REBUILT_BYTES)
            };
            if segment.len() >= FULL_SEGMENT_DOCS
                || segment.len() as usize > doc_ids.len() * 2
                || !segment.doc_ids.iter().all(is_small)
            {
                break;
            }
            let again = segment.doc_ids.iter();
            doc_ids.extend(again.filter(|doc_id| self.pending.contains_key(*doc_id)));
        }
        let documents = doc_ids.iter().filter_map(|doc_id| self.pending.get(doc_id));
        documents.cloned().collect()
    }

    /// Takes a fresh segment that was built of these notes. One that changed meanwhile waits for the next.
    pub(super) fn built(&mut self, documents: &[Arc<Pending>], mut segment: Segment) {
        let identity = segment.identity;
        let mut stands_for: Vec<Option<u32>> = Vec::with_capacity(documents.len());
        for (doc, built) in documents.iter().enumerate() {
            let doc_id = built.document.doc_id;
            let known = self.pending.get(&doc_id);
            if !known.is_some_and(|known| Arc::ptr_eq(known, built)) {
                stands_for.push(None);
                continue;
            }
            if let Location::In(other, doc) = self.homes[doc_id as usize] {
                kill(&mut self.fresh, other, doc);
            }
            self.settle(doc_id, Location::In(identity, doc as u32));
            stands_for.push(Some(doc_id));
        }
        segment.assign(|doc, _| stands_for.get(doc as usize).copied().flatten());
        let taken: HashSet<u32> = stands_for.into_iter().flatten().collect();
        self.unbuilt.retain(|doc_id| !taken.contains(doc_id));
        self.fresh.push(segment);
        self.fresh.retain(|segment| !segment.is_dead());
    }

    /// What has to be written: notes, and the keys of documents to delete before.
    pub(super) fn take_unwritten(&mut self) -> (Vec<Arc<Pending>>, HashSet<u64>) {
        let pending = self.pending.values().cloned().collect();
        (pending, std::mem::take(&mut self.doomed))
    }

    /// Nothing could be written: what the writer had is pending again.
    pub(super) fn writing_failed(&mut self, doomed: impl Iterator<Item = u64>) {
        self.doomed.extend(doomed);
        let loading = std::mem::take(&mut self.loading);
        for (doc_id, pending) in loading {
            if matches!(self.homes[doc_id as usize], Location::Loading) {
                self.keys.remove(&pending.document.key);
                self.doomed.insert(pending.document.key);
                self.homes[doc_id as usize] = Location::Nowhere;
                self.put(pending);
            }
        }
    }

    /// Which segments on disk are open already.
    pub(super) fn open(&self) -> HashSet<Identity> {
        self.disk.iter().map(|segment| segment.identity).collect()
    }

    /// What was pending is written: on disk there are these segments now, of which some are new to us.
    pub(super) fn written(
        &mut self,
        written: &[Arc<Pending>],
        identities: &[Identity],
        opened: Vec<Segment>,
    ) {
        for (doc_id, pending) in std::mem::take(&mut self.loading) {
            if matches!(self.homes[doc_id as usize], Location::Loading) {
                self.homes[doc_id as usize] = Location::Nowhere;
                self.arrive(doc_id, pending.measure.lengths);
            }
        }
        let mut moved = Bitmap::new();
        for pending in written {
            let Document { doc_id, key, .. } = pending.document;
            let is_current = self
                .pending
                .get(&doc_id)
                .is_some_and(|current| Arc::ptr_eq(current, pending));
            if is_current {
                if let Location::In(identity, doc) = self.homes[doc_id as usize] {
                    kill(&mut self.fresh, identity, doc);
                }
                self.homes[doc_id as usize] = Location::Nowhere;
                self.pending.remove(&doc_id);
                self.keys.insert(key, doc_id);
                moved.insert(doc_id);
            } else {
                // It changed while it was written.
                self.doomed.insert(key);
            }
        }
        self.unbuilt.retain(|doc_id| !moved.contains(*doc_id));
        self.fresh.retain(|segment| !segment.is_dead());

        self.disk
            .retain(|segment| identities.contains(&segment.identity));
        let kept = self.open();
        let mut placed = Bitmap::new();
        for mut segment in opened {
            let identity = segment.identity;
            segment.assign(|doc, key| {
                let doc_id = *self.keys.get(&key)?;
                let home = &mut self.homes[doc_id as usize];
                match home {
                    Location::In(other, _) if kept.contains(other) => return None,
                    _ if !placed.insert(doc_id) => return None,
                    _ => *home = Location::In(identity, doc),
                }
                Some(doc_id)
            });
            self.disk.push(segment);
        }
    }

    fn arrive(&mut self, doc_id: u32, lengths: Lengths) {
        self.lengths[doc_id as usize] = lengths;
        self.live.insert(doc_id);
        add(&mut self.tokens, &lengths);
    }

    /// Detaches the document of a note.
    fn leave(&mut self, doc_id: u32) {
        let Some(home) = self.homes.get_mut(doc_id as usize) else {
            return;
        };
        match std::mem::replace(home, Location::Nowhere) {
            Location::Nowhere => {}
            Location::Waiting => {
                self.pending.remove(&doc_id);
                self.unbuilt.retain(|waiting| *waiting != doc_id);
            }
            Location::Loading => {
                if let Some(pending) = self.loading.remove(&doc_id) {
                    self.keys.remove(&pending.document.key);
                    self.doomed.insert(pending.document.key);
                }
            }
            Location::In(identity, doc) => {
                if self.pending.remove(&doc_id).is_some() {
                    kill(&mut self.fresh, identity, doc);
                } else if let Some(key) = kill(&mut self.disk, identity, doc) {
                    self.keys.remove(&key);
                    self.doomed.insert(key);
                }
            }
        }
        if self.live.remove(doc_id) {
            for (sum, length) in self.tokens.iter_mut().zip(self.lengths[doc_id as usize]) {
                *sum -= u64::from(length);
            }
        }
    }

    fn settle(&mut self, doc_id: u32, home: Location) {
        let at = doc_id as usize;
        if self.homes.len() <= at {
            self.homes.resize(at + 1, Location::Nowhere);
            self.lengths.resize(at + 1, [0; PARTS]);
        }
        self.homes[at] = home;
    }
}

/// Marks a document as dead; returns its key.
fn kill(segments: &mut [Segment], identity: Identity, doc: u32) -> Option<u64> {
    let segment = segments
        .iter_mut()
        .find(|segment| segment.identity == identity)?;
    segment.kill(doc);
    Some(segment.keys[doc as usize])
}

fn add(sums: &mut [u64; PARTS], lengths: &Lengths) {
    for (sum, length) in sums.iter_mut().zip(lengths) {
        *sum += u64::from(*length);
    }
}

/// Indexes notes in memory. Only searches wait for it.
pub(super) fn fresh_segment(
    fields: Fields,
    documents: &[Arc<Pending>],
    deadline: &Deadline,
) -> SearchResult<Segment> {
    let mut writer = Index::builder()
        .schema(schema::fresh_schema())
        .settings(schema::settings())
        .tokenizers(schema::tokenizers())
        .single_segment_index_writer(RamDirectory::create(), FRESH_MEMORY)?;
    for pending in documents {
        deadline.check()?;
        writer.add_document(fields.fresh_document(&pending.document, pending.measure.loose))?;
    }
    let index = writer.finalize()?;
    let segments = index.searchable_segments()?;
    let segment = segments
        .first()
        .ok_or_else(|| tantivy::TantivyError::InternalError("no fresh segment".to_owned()))?;
    Ok(Segment::open(
        &tantivy::SegmentReader::open(segment)?,
        fields,
    )?)
}
