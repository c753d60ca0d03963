//! Finds the notes that match a query tree: all of them, or only the best.

use std::cmp::Ordering;

use notehost_sdk::index::Part;

use super::cursor::{Cursor, END, LeafCursor};
use super::plan::{Leaf, LeafPart, Plan, Planner, Source};
use super::schema::place;
use super::segment::{Segment, block_bound, own_weight};
use super::state::State;
use super::weight::Corpus;
use super::{Bitmap, Hit, Hits, SearchResult, Tree};
use crate::limits::deadline::Deadline;

pub(super) fn all(
    state: &State,
    tree: &Tree,
    visible: &Bitmap,
    deadline: &Deadline,
) -> SearchResult<Hits> {
    let corpus = Corpus::new(state, visible, deadline);
    let (plan, widened) = plan(&corpus, tree)?;
    let mut hits = Vec::new();
    for (ordinal, segment) in state.segments().enumerate() {
        each(&corpus, &plan, segment, ordinal, |doc_id, cursor| {
            let score = cursor.score();
            hits.push(Hit { doc_id, score });
        })?;
    }
    Ok(Hits {
        total: hits.len() as u64,
        hits,
        widened,
    })
}

pub(super) fn best(
    state: &State,
    tree: &Tree,
    visible: &Bitmap,
    count: usize,
    order: &dyn Fn(u32, u32) -> Ordering,
    deadline: &Deadline,
) -> SearchResult<Hits> {
    let corpus = Corpus::new(state, visible, deadline);
    let (plan, widened) = plan(&corpus, tree)?;
    let mut top = Top::new(count, order);
    let mut total = 0;
    if let Some((leaf, text)) = single_word(&plan) {
        total += text.notes;
        for (ordinal, segment) in state.segments().enumerate() {
            total += best_of_word(&corpus, leaf, text, segment, ordinal, &mut top)?;
        }
    } else {
        for (ordinal, segment) in state.segments().enumerate() {
            each(&corpus, &plan, segment, ordinal, |doc_id, cursor| {
                total += 1;
                if count > 0 {
                    top.offer(doc_id, cursor.score());
                }
            })?;
        }
    }
    Ok(Hits {
        hits: top.finish(),
        total,
        widened,
    })
}

fn plan(corpus: &Corpus<'_>, tree: &Tree) -> SearchResult<(Plan, Vec<String>)> {
    let mut planner = Planner {
        corpus,
        widened: Vec::new(),
    };
    let plan = planner.plan(tree)?;
    Ok((plan, planner.widened))
}

/// Hands every visible note of a segment that fulfils a plan to `take`.
fn each(
    corpus: &Corpus<'_>,
    plan: &Plan,
    segment: &Segment,
    ordinal: usize,
    mut take: impl FnMut(u32, &mut Cursor<'_>),
) -> SearchResult<()> {
    if matches!(plan, Plan::Nothing) {
        return Ok(());
    }
    let mut cursor = Cursor::new(plan, segment, ordinal, corpus.deadline)?;
    let mut doc = cursor.doc();
    while doc != END {
        corpus.deadline.step()?;
        let doc_id = segment.doc_ids[doc as usize];
        if corpus.visible.contains(doc_id) {
            take(doc_id, &mut cursor);
        }
        doc = cursor.seek(doc + 1);
    }
    Ok(corpus.deadline.check()?)
}

/// Whether the query is a single word that occurs in texts.
fn single_word(plan: &Plan) -> Option<(&Leaf, &LeafPart)> {
    let Plan::Leaf(leaf) = plan else {
        return None;
    };
    let is_word = |part: &LeafPart| matches!(part.source, Source::Word(_));
    let text = leaf.parts.last()?;
    (leaf.parts.iter().all(is_word) && text.place == place(Part::Text)).then_some((leaf, text))
}

/// The most common question has a short way: the few documents that have the word in a name or a heading are looked at
/// one by one; of the many that have it in their text only those blocks in which a document can be good enough. Returns how
/// many notes have it only outside of their text; how many have it there is known.
fn best_of_word(
    corpus: &Corpus<'_>,
    leaf: &Leaf,
    text: &LeafPart,
    segment: &Segment,
    ordinal: usize,
    top: &mut Top<'_>,
) -> SearchResult<u64> {
    let (visible, deadline) = (corpus.visible, corpus.deadline);
    let mut outside = 0;
    let mut seen = Bitmap::new();
    if leaf.parts.len() > 1 {
        let others = &leaf.parts[..leaf.parts.len() - 1];
        let mut titled = LeafCursor::new(others, segment, ordinal, deadline)?;
        let mut whole = LeafCursor::new(&leaf.parts, segment, ordinal, deadline)?;
        let mut doc = titled.doc();
        while doc != END {
            deadline.step()?;
            seen.insert(doc);
            let doc_id = segment.doc_ids[doc as usize];
            if visible.contains(doc_id) {
                whole.seek(doc);
                outside += u64::from(!whole.is_in(text.place));
                top.offer(doc_id, whole.score());
            }
            doc = titled.seek(doc + 1);
        }
    }
    let Source::Word(infos) = &text.source else {
        return Ok(outside);
    };
    let Some(info) = &infos[ordinal] else {
        return Ok(outside);
    };
    if top.count == 0 {
        return Ok(outside);
    }
    let words = &segment.parts[text.place];
    let own = own_weight(words);
    let average = corpus.average(text.place);
    let mut blocks = words.blocks(info)?;
    while !blocks.docs().is_empty() {
        deadline.step()?;
        let bound = text.weight.most * block_bound(&mut blocks, words, &own, average);
        if bound >= top.least {
            for (doc, frequency) in blocks.docs().iter().zip(blocks.freqs()) {
                let doc_id = segment.doc_ids[*doc as usize];
                if visible.contains(doc_id) && !seen.contains(*doc) {
                    let score = text
                        .weight
                        .score(words.norms.fieldnorm_id(*doc), *frequency);
                    top.offer(doc_id, score);
                }
            }
        }
        blocks.advance();
    }
    Ok(outside)
}

/// The best so far.
struct Top<'o> {
    count: usize,
    order: &'o dyn Fn(u32, u32) -> Ordering,
    /// At most twice as many as requested.
    hits: Vec<Hit>,
    /// Lower scores are not among the best.
    least: f32,
}

impl<'o> Top<'o> {
    fn new(count: usize, order: &'o dyn Fn(u32, u32) -> Ordering) -> Top<'o> {
        Top {
            count,
            order,
            hits: Vec::new(),
            least: f32::NEG_INFINITY,
        }
    }

    #[inline]
    fn offer(&mut self, doc_id: u32, score: f32) {
        if score >= self.least {
            self.hits.push(Hit { doc_id, score });
            if self.hits.len() >= self.count.saturating_mul(2).max(16) {
                self.shrink();
            }
        }
    }

    fn shrink(&mut self) {
        if self.hits.len() <= self.count {
            return;
        }
        if self.count == 0 {
            self.hits.clear();
            return;
        }
        let order = self.order;
        self.hits
            .select_nth_unstable_by(self.count - 1, |left, right| compare(left, right, order));
        self.hits.truncate(self.count);
        self.least = self.hits[self.count - 1].score;
    }

    fn finish(mut self) -> Vec<Hit> {
        self.shrink();
        let order = self.order;
        self.hits
            .sort_unstable_by(|left, right| compare(left, right, order));
        self.hits
    }
}

fn compare(left: &Hit, right: &Hit, order: &dyn Fn(u32, u32) -> Ordering) -> Ordering {
    right
        .score
        .total_cmp(&left.score)
        .then_with(|| order(left.doc_id, right.doc_id))
}
