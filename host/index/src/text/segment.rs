//! An immutable segment of the index, and which of its documents are current.
//!
//! A segment is on disk or in memory. Only `doc_ids` changes: a changed or removed note leaves a dead document behind
//! until the segment is merged.

use std::sync::{Arc, OnceLock};

use notehost_sdk::index::Part;
use tantivy::error::DataCorruption;
use tantivy::fastfield::AliveBitSet;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::index::SegmentId;
use tantivy::postings::{BlockSegmentPostings, SegmentPostings, TermInfo};
use tantivy::query::Bm25Weight;
use tantivy::schema::{IndexRecordOption, Value as _};
use tantivy::store::StoreReader;
use tantivy::{DocSet as _, InvertedIndexReader, Opstamp, SegmentReader, TantivyDocument};

use super::bigrams;
use super::schema::{BIGRAMS, Fields, KEY, LOOSE, PARTS, place};
use super::{Bitmap, SearchResult};
use crate::limits::deadline::Deadline;

/// How many bytes of the dictionary are searched between two steps.
const PIECE_BYTES: usize = 64 << 10;

/// The doc id of a document that belongs to no note.
pub(super) const DEAD: u32 = u32::MAX;

pub(super) struct Segment {
    pub(super) identity: Identity,
    pub(super) parts: [Words; PARTS],
    /// The doc id of each document.
    pub(super) doc_ids: Vec<u32>,
    /// The dead documents.
    pub(super) dead: Vec<u32>,
    /// The documents whose words do not show all of their letters.
    pub(super) loose: Arc<[u32]>,
    pub(super) keys: Arc<[u64]>,
    alive: Option<AliveBitSet>,
    store: StoreReader,
    fields: Fields,
}

/// Two segments with the same identity have the same documents, alive and deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Identity(SegmentId, Option<Opstamp>);

/// The words of one part of all documents of a segment.
pub(super) struct Words {
    pub(super) index: Arc<InvertedIndexReader>,
    pub(super) norms: FieldNormReader,
    /// The average length with which the best of each block was chosen when the segment was written.
    pub(super) average: f32,
    /// Which documents have which bigrams, if that is indexed.
    bigrams: Option<Arc<InvertedIndexReader>>,
    /// All words, one after the other.
    all: OnceLock<Arc<[u8]>>,
}

impl Segment {
    /// Opens a segment. Its documents belong to no note yet, but those that were deleted never will.
    pub(super) fn open(reader: &SegmentReader, fields: Fields) -> tantivy::Result<Segment> {
        let end = reader.max_doc();
        let keys = reader.fast_fields().column_first_or_default::<u64>(KEY)?;
        let loose = reader.fast_fields().column_first_or_default::<u64>(LOOSE)?;
        let words = |place: usize| -> tantivy::Result<Words> {
            let index = reader.inverted_index(fields.parts[place])?;
            let norms = reader.get_fieldnorms_reader(fields.parts[place])?;
            if norms.num_docs() != end {
                let problem = "the length of a segment differs from its metadata".to_owned();
                return Err(DataCorruption::comment_only(problem).into());
            }
            Ok(Words {
                norms,
                average: index.total_num_tokens() as f32 / end as f32,
                index,
                bigrams: None,
                all: OnceLock::new(),
            })
        };
        let mut parts = [words(0)?, words(1)?, words(2)?];
        if let Ok(bigrams) = reader.schema().get_field(BIGRAMS) {
            parts[place(Part::Text)].bigrams = Some(reader.inverted_index(bigrams)?);
        }
        Ok(Segment {
            identity: identity(reader),
            parts,
            doc_ids: vec![DEAD; end as usize],
            dead: (0..end).collect(),
            loose: (0..end).filter(|doc| loose.get_val(*doc) != 0).collect(),
            keys: (0..end).map(|doc| keys.get_val(doc)).collect(),
            alive: reader.alive_bitset().cloned(),
            store: reader.get_store_reader(8)?,
            fields,
        })
    }

    /// Assigns a doc id to each document, by document and key.
    pub(super) fn assign(&mut self, mut doc_id_of: impl FnMut(u32, u64) -> Option<u32>) {
        self.dead.clear();
        for (doc, doc_id) in self.doc_ids.iter_mut().enumerate() {
            let is_alive = self
                .alive
                .as_ref()
                .is_none_or(|alive| alive.is_alive(doc as u32));
            *doc_id = if is_alive {
                doc_id_of(doc as u32, self.keys[doc]).unwrap_or(DEAD)
            } else {
                DEAD
            };
            if *doc_id == DEAD {
                self.dead.push(doc as u32);
            }
        }
    }

    /// Marks a document that no longer belongs to a note.
    pub(super) fn kill(&mut self, doc: u32) {
        if self.doc_ids[doc as usize] != DEAD {
            self.doc_ids[doc as usize] = DEAD;
            let at = self.dead.partition_point(|dead| *dead < doc);
            self.dead.insert(at, doc);
        }
    }

    /// Whether there is a note in it at all.
    pub(super) fn is_dead(&self) -> bool {
        self.dead.len() == self.doc_ids.len()
    }

    pub(super) fn len(&self) -> u32 {
        self.doc_ids.len() as u32
    }

    /// The text of a document.
    pub(super) fn text(&self, doc: u32) -> tantivy::Result<Option<Arc<str>>> {
        let document: TantivyDocument = self.store.get(doc)?;
        Ok(document
            .get_first(self.fields.parts[2])
            .and_then(|value| value.as_str())
            .map(Arc::from))
    }

    /// How many of the documents that have a word belong to a visible note.
    pub(super) fn count_visible(
        &self,
        place: usize,
        info: &TermInfo,
        visible: &Bitmap,
        is_all_visible: bool,
        deadline: &Deadline,
    ) -> SearchResult<u32> {
        if is_all_visible {
            if self.dead.is_empty() {
                return Ok(info.doc_freq);
            }
            if self.dead.len() * 8 < info.doc_freq as usize {
                let mut postings = self.parts[place].postings(info)?;
                let mut among_dead = 0;
                for dead in &self.dead {
                    deadline.step()?;
                    if postings.doc() <= *dead && postings.seek(*dead) == *dead {
                        among_dead += 1;
                    }
                }
                return Ok(info.doc_freq - among_dead);
            }
        }
        let mut count = 0;
        self.parts[place].each_doc(info, deadline, |doc| {
            count += u32::from(visible.contains(self.doc_ids[doc as usize]));
        })?;
        Ok(count)
    }
}

impl Words {
    pub(super) fn info(&self, word: &str) -> tantivy::Result<Option<TermInfo>> {
        Ok(self.index.terms().get(word)?)
    }

    /// The documents that have a word, and how often.
    pub(super) fn postings(&self, info: &TermInfo) -> tantivy::Result<SegmentPostings> {
        Ok(self
            .index
            .read_postings_from_terminfo(info, IndexRecordOption::WithFreqs)?)
    }

    /// The same, and where it stands.
    pub(super) fn positions(&self, info: &TermInfo) -> tantivy::Result<SegmentPostings> {
        Ok(self
            .index
            .read_postings_from_terminfo(info, IndexRecordOption::WithFreqsAndPositions)?)
    }

    /// For each bigram of these words: the documents in which they may be. Nothing if there is none for
    /// two of them.
    pub(super) fn bigrams(
        &self,
        phrase: &[(usize, String)],
    ) -> tantivy::Result<Option<Vec<SegmentPostings>>> {
        let mut lists = Vec::new();
        let Some(index) = &self.bigrams else {
            return Ok(Some(lists));
        };
        for number in bigrams::among(phrase) {
            let Some(info) = index.terms().get(number.to_be_bytes())? else {
                return Ok(None);
            };
            lists.push(index.read_postings_from_terminfo(&info, IndexRecordOption::Basic)?);
        }
        lists.sort_by_key(|list| list.doc_freq());
        Ok(Some(lists))
    }

    pub(super) fn blocks(&self, info: &TermInfo) -> tantivy::Result<BlockSegmentPostings> {
        Ok(self
            .index
            .read_block_postings_from_terminfo(info, IndexRecordOption::WithFreqs)?)
    }

    /// Hands every document that has a word to `take`, in order.
    pub(super) fn each_doc(
        &self,
        info: &TermInfo,
        deadline: &Deadline,
        mut take: impl FnMut(u32),
    ) -> SearchResult<()> {
        let mut blocks = self
            .index
            .read_block_postings_from_terminfo(info, IndexRecordOption::Basic)?;
        while !blocks.docs().is_empty() {
            deadline.step()?;
            for doc in blocks.docs() {
                take(*doc);
            }
            blocks.advance();
        }
        Ok(())
    }

    /// Hands every word that contains this text to `take`, in order. They are never kept: there may be millions.
    pub(super) fn each_containing(
        &self,
        text: &str,
        deadline: &Deadline,
        mut take: impl FnMut(&TermInfo) -> SearchResult<()>,
    ) -> SearchResult<()> {
        let all = self.all(deadline)?;
        let finder = memchr::memmem::Finder::new(text);
        let mut begin = 0;
        while begin < all.len() {
            // Words are between zeros: no word contains one. A piece ends with a word.
            let least = all.len().min(begin + PIECE_BYTES);
            let end = memchr::memchr(0, &all[least..]).map_or(all.len(), |zero| least + zero);
            let piece = &all[begin..end];
            deadline.step()?;
            let mut from = 0;
            while let Some(at) = finder.find(&piece[from..]) {
                deadline.step()?;
                let at = from + at;
                let start = memchr::memrchr(0, &piece[..at]).map_or(0, |zero| zero + 1);
                let end = memchr::memchr(0, &piece[at..]).map_or(piece.len(), |zero| at + zero);
                if let Some(info) = self.index.terms().get(&piece[start..end])? {
                    take(&info)?;
                }
                from = end;
            }
            begin = end + 1;
        }
        Ok(())
    }

    /// Hands every word that begins with this text to `take`, in order.
    pub(super) fn each_beginning(
        &self,
        text: &str,
        deadline: &Deadline,
        mut take: impl FnMut(&TermInfo) -> SearchResult<()>,
    ) -> SearchResult<()> {
        let mut stream = self.index.terms().range().ge(text).into_stream()?;
        while let Some((word, info)) = stream.next() {
            deadline.step()?;
            if !word.starts_with(text.as_bytes()) {
                break;
            }
            take(info)?;
        }
        Ok(())
    }

    fn all(&self, deadline: &Deadline) -> SearchResult<&[u8]> {
        if let Some(all) = self.all.get() {
            return Ok(all);
        }
        let mut joined = Vec::new();
        let mut stream = self.index.terms().stream()?;
        while let Some((word, _)) = stream.next() {
            deadline.step()?;
            joined.extend_from_slice(word);
            joined.push(0);
        }
        Ok(self.all.get_or_init(|| joined.into()))
    }
}

/// What [`own_weight`] multiplies with: the weight of a word that all of one document have.
const OWN_WEIGHT: f32 = 0.287_682_07 * 2.2;

/// The weight by which the best of each block was chosen.
pub(super) fn own_weight(words: &Words) -> Bm25Weight {
    Bm25Weight::for_one_term_without_explain(1, 1, words.average)
}

/// The largest share of its weight that a word can bring a document of the block on which `blocks` stands, for a corpus
/// with another average length than the segment's own.
///
/// The segment remembers for each block the document that was best by its own average. With K(n) = k·(1 − b + b·n/avg)
/// a document brings 1 / (1 + K/tf); another average changes K by a factor of at least `ratio`, so this bounds them all.
pub(super) fn block_bound(
    blocks: &mut BlockSegmentPostings,
    words: &Words,
    own: &Bm25Weight,
    average: f32,
) -> f32 {
    let best = (blocks.block_max_score(&words.norms, own) / OWN_WEIGHT).min(1.0);
    let ratio = (words.average / average).min(1.0);
    // A little more: none of this is exact.
    (1.0 / (1.0 + ratio * (1.0 / best - 1.0)) * 1.0001).min(1.0)
}

pub(super) fn identity(reader: &SegmentReader) -> Identity {
    Identity(reader.segment_id(), reader.delete_opstamp())
}
