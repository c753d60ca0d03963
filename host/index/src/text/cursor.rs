//! Iterates over the documents of one segment that match a plan, in order.
//!
//! Scores are summed in the order of the plan and not of the iteration, so that they are the same in every segment.

use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{Postings as _, SegmentPostings};
use tantivy::{DocSet as _, TERMINATED};

use std::sync::Arc;

use super::listed::{self, Listed};
use super::plan::{LeafPart, Plan, Source};
use super::segment::Segment;
use super::weight::Weight;
use super::{Bitmap, SearchResult};
use crate::limits::deadline::Deadline;

/// After the last document.
pub(super) const END: u32 = TERMINATED;

/// A cursor that goes through many documents to find the next one ends at the deadline, as if there were no more: its
/// caller has to check the deadline after the last document.
pub(super) enum Cursor<'s> {
    Leaf(LeafCursor),
    All(AllCursor<'s>),
    Set(Set),
}

impl<'s> Cursor<'s> {
    /// Stands on the first document.
    pub(super) fn new(
        plan: &'s Plan,
        segment: &'s Segment,
        ordinal: usize,
        deadline: &'s Deadline,
    ) -> SearchResult<Cursor<'s>> {
        deadline.check()?;
        Ok(match plan {
            Plan::Nothing => Cursor::Set(Set::default()),
            Plan::Every => Cursor::Set(Set::unscored((0..segment.len()).collect())),
            Plan::Leaf(leaf) => {
                Cursor::Leaf(LeafCursor::new(&leaf.parts, segment, ordinal, deadline)?)
            }
            Plan::All {
                with,
                without,
                within,
            } => Cursor::All(AllCursor::new(
                with, without, within, segment, ordinal, deadline,
            )?),
            Plan::Any(plans) => Cursor::Set(any(plans, segment, ordinal, deadline)?),
            Plan::Not(plan) => {
                let mut cursor = Cursor::new(plan, segment, ordinal, deadline)?;
                let mut docs = Vec::new();
                for doc in 0..segment.len() {
                    deadline.step()?;
                    if cursor.seek(doc) != doc {
                        docs.push(doc);
                    }
                }
                deadline.check()?;
                Cursor::Set(Set::unscored(docs))
            }
            Plan::Within(doc_ids) => Cursor::Set(Set::unscored(
                (0..segment.len())
                    .filter(|doc| doc_ids.contains(segment.doc_ids[*doc as usize]))
                    .collect(),
            )),
        })
    }

    pub(super) fn doc(&self) -> u32 {
        match self {
            Cursor::Leaf(leaf) => leaf.doc,
            Cursor::All(all) => all.doc,
            Cursor::Set(set) => set.doc(),
        }
    }

    /// To the first document that is not before `target`. Never goes back.
    pub(super) fn seek(&mut self, target: u32) -> u32 {
        match self {
            Cursor::Leaf(leaf) => leaf.seek(target),
            Cursor::All(all) => all.seek(target),
            Cursor::Set(set) => set.seek(target),
        }
    }

    /// The score of the current document.
    pub(super) fn score(&mut self) -> f32 {
        match self {
            Cursor::Leaf(leaf) => leaf.score(),
            Cursor::All(all) => all.score(),
            Cursor::Set(set) => set.scores.get(set.at).copied().unwrap_or(0.0),
        }
    }

    /// About how many documents there are.
    fn cost(&self) -> usize {
        match self {
            Cursor::Leaf(leaf) => leaf.parts.iter().map(|part| part.list.len()).sum(),
            Cursor::All(all) => all.cost,
            Cursor::Set(set) => set.docs.len(),
        }
    }
}

/// Documents that have something in one of their parts.
pub(super) struct LeafCursor {
    parts: Vec<PartCursor>,
    doc: u32,
}

struct PartCursor {
    place: usize,
    list: List,
    doc: u32,
    norms: FieldNormReader,
    weight: Weight,
}

enum List {
    Word(Box<SegmentPostings>),
    Listed(Arc<Listed>, usize),
}

impl LeafCursor {
    pub(super) fn new<'p>(
        leaf: impl IntoIterator<Item = &'p LeafPart>,
        segment: &Segment,
        ordinal: usize,
        deadline: &Deadline,
    ) -> SearchResult<LeafCursor> {
        let mut parts = Vec::new();
        for part in leaf {
            if let Some(list) = List::new(part, segment, ordinal, deadline)? {
                parts.push(PartCursor {
                    place: part.place,
                    doc: list.doc(),
                    list,
                    norms: segment.parts[part.place].norms.clone(),
                    weight: part.weight.clone(),
                });
            }
        }
        let doc = parts.iter().map(|part| part.doc).min().unwrap_or(END);
        Ok(LeafCursor { parts, doc })
    }

    pub(super) fn doc(&self) -> u32 {
        self.doc
    }

    /// Whether the current document has it in this part.
    pub(super) fn is_in(&self, place: usize) -> bool {
        self.parts
            .iter()
            .any(|part| part.place == place && part.doc == self.doc)
    }

    pub(super) fn seek(&mut self, target: u32) -> u32 {
        if self.doc >= target {
            return self.doc;
        }
        let mut doc = END;
        for part in &mut self.parts {
            if part.doc < target {
                part.doc = part.list.seek(target);
            }
            doc = doc.min(part.doc);
        }
        self.doc = doc;
        doc
    }

    pub(super) fn score(&mut self) -> f32 {
        let doc = self.doc;
        self.parts
            .iter()
            .filter(|part| part.doc == doc)
            .map(PartCursor::score)
            .fold(0.0, |sum, score| sum + score)
    }
}

impl PartCursor {
    fn score(&self) -> f32 {
        self.weight
            .score(self.norms.fieldnorm_id(self.doc), self.list.frequency())
    }
}

impl List {
    fn new(
        part: &LeafPart,
        segment: &Segment,
        ordinal: usize,
        deadline: &Deadline,
    ) -> SearchResult<Option<List>> {
        let words = &segment.parts[part.place];
        Ok(match &part.source {
            Source::Word(infos) => match &infos[ordinal] {
                Some(info) => Some(List::Word(Box::new(words.postings(info)?))),
                None => None,
            },
            Source::Phrase(phrase) => {
                let found = listed::phrase(words, phrase, deadline)?;
                Some(List::Listed(Arc::new(found), 0))
            }
            Source::Listed(found) => Some(List::Listed(found[ordinal].clone(), 0)),
        })
    }

    fn doc(&self) -> u32 {
        match self {
            List::Word(postings) => postings.doc(),
            List::Listed(listed, at) => listed.docs.get(*at).copied().unwrap_or(END),
        }
    }

    fn seek(&mut self, target: u32) -> u32 {
        match self {
            List::Word(postings) => postings.seek(target),
            List::Listed(listed, at) => {
                *at = seek_in(&listed.docs, *at, target);
                listed.docs.get(*at).copied().unwrap_or(END)
            }
        }
    }

    fn frequency(&self) -> u32 {
        match self {
            List::Word(postings) => postings.term_freq(),
            List::Listed(listed, at) => listed.frequencies.get(*at).copied().unwrap_or(0),
        }
    }

    fn len(&self) -> usize {
        match self {
            List::Word(postings) => postings.doc_freq() as usize,
            List::Listed(listed, _) => listed.docs.len(),
        }
    }
}

/// Documents that are in several lists and not in others.
pub(super) struct AllCursor<'s> {
    with: Vec<Cursor<'s>>,
    /// The order in which `with` is walked: the shortest first.
    order: Vec<usize>,
    without: Vec<Cursor<'s>>,
    within: &'s [Arc<Bitmap>],
    doc_ids: &'s [u32],
    deadline: &'s Deadline,
    cost: usize,
    doc: u32,
}

impl<'s> AllCursor<'s> {
    fn new(
        with: &'s [Plan],
        without: &'s [Plan],
        within: &'s [Arc<Bitmap>],
        segment: &'s Segment,
        ordinal: usize,
        deadline: &'s Deadline,
    ) -> SearchResult<AllCursor<'s>> {
        let cursors = |plans: &'s [Plan]| -> SearchResult<Vec<Cursor<'s>>> {
            plans
                .iter()
                .map(|plan| Cursor::new(plan, segment, ordinal, deadline))
                .collect()
        };
        let mut with = cursors(with)?;
        if with.is_empty() {
            with.push(Cursor::new(&Plan::Every, segment, ordinal, deadline)?);
        }
        let mut order: Vec<usize> = (0..with.len()).collect();
        order.sort_by_key(|at| with[*at].cost());
        let mut all = AllCursor {
            cost: with[order[0]].cost(),
            with,
            order,
            without: cursors(without)?,
            within,
            doc_ids: &segment.doc_ids,
            deadline,
            doc: 0,
        };
        all.doc = all.find(0);
        Ok(all)
    }

    fn seek(&mut self, target: u32) -> u32 {
        if self.doc < target {
            self.doc = self.find(target);
        }
        self.doc
    }

    fn find(&mut self, mut target: u32) -> u32 {
        'documents: loop {
            if self.deadline.step().is_err() {
                return END;
            }
            let doc = self.with[self.order[0]].seek(target);
            if doc == END {
                return END;
            }
            for at in &self.order[1..] {
                let found = self.with[*at].seek(doc);
                if found != doc {
                    if found == END {
                        return END;
                    }
                    target = found;
                    continue 'documents;
                }
            }
            target = doc + 1;
            let doc_id = self.doc_ids[doc as usize];
            if self.within.iter().all(|doc_ids| doc_ids.contains(doc_id))
                && self.without.iter_mut().all(|list| list.seek(doc) != doc)
            {
                return doc;
            }
        }
    }

    fn score(&mut self) -> f32 {
        self.with
            .iter_mut()
            .map(Cursor::score)
            .fold(0.0, |sum, score| sum + score)
    }
}

/// Documents that were found before.
#[derive(Default)]
pub(super) struct Set {
    docs: Vec<u32>,
    /// As long as `docs`, or empty if they are worth nothing.
    scores: Vec<f32>,
    at: usize,
}

impl Set {
    fn unscored(docs: Vec<u32>) -> Set {
        Set {
            docs,
            scores: Vec::new(),
            at: 0,
        }
    }

    fn doc(&self) -> u32 {
        self.docs.get(self.at).copied().unwrap_or(END)
    }

    fn seek(&mut self, target: u32) -> u32 {
        self.at = seek_in(&self.docs, self.at, target);
        self.doc()
    }
}

/// Documents that are in one of several lists: one list after the other is added up.
fn any(
    plans: &[Plan],
    segment: &Segment,
    ordinal: usize,
    deadline: &Deadline,
) -> SearchResult<Set> {
    let documents = segment.len() as usize;
    let mut sums = vec![0.0_f32; documents];
    let mut found = vec![0_u64; documents.div_ceil(64)];
    let mut add = |doc: u32, score: f32| {
        sums[doc as usize] += score;
        found[doc as usize / 64] |= 1 << (doc % 64);
    };
    for plan in plans {
        let mut cursor = Cursor::new(plan, segment, ordinal, deadline)?;
        if let Cursor::Leaf(leaf) = &mut cursor {
            for part in &mut leaf.parts {
                while part.doc != END {
                    deadline.step()?;
                    add(part.doc, part.score());
                    part.doc = part.list.seek(part.doc + 1);
                }
            }
            continue;
        }
        while cursor.doc() != END {
            deadline.step()?;
            add(cursor.doc(), cursor.score());
            cursor.seek(cursor.doc() + 1);
        }
        deadline.check()?;
    }
    let mut set = Set::default();
    for (at, word) in found.into_iter().enumerate() {
        let mut rest = word;
        while rest != 0 {
            let doc = at * 64 + rest.trailing_zeros() as usize;
            rest &= rest - 1;
            set.docs.push(doc as u32);
            set.scores.push(sums[doc]);
        }
    }
    Ok(set)
}

/// The first place from `at` on whose document is not before `target`. It is most often near.
fn seek_in(docs: &[u32], mut at: usize, target: u32) -> usize {
    let mut step = 1;
    while docs.get(at + step).is_some_and(|doc| *doc < target) {
        at += step;
        step *= 2;
    }
    let end = docs.len().min(at + step + 1);
    let start = at.min(end);
    start + docs[start..end].partition_point(|doc| *doc < target)
}
