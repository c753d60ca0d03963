//! The tags of a vault, as one caller sees them.

use std::collections::BTreeMap;

use notehost_sdk::fold_name;
use notehost_sdk::index::{TagCount, Tags, TagsQuery};

use super::links::is_under;
use crate::graph::Graph;
use crate::limits::answer_budget::AnswerBudget;
use crate::limits::bounds::MAX_TAG_DEPTH;
use crate::limits::deadline::Deadline;
use crate::limits::order::in_order;
use crate::text::Bitmap;
use notehost_vault::VaultError;

/// All tags, by their folded name.
pub(crate) struct TagTable {
    /// By folded name.
    by_name: Vec<(Box<str>, TagCount)>,
    /// Their places in the order of use.
    by_count: Vec<u32>,
}

/// What is gathered of one tag.
#[derive(Default)]
struct Gathered {
    notes: Vec<u32>,
    own: Vec<u32>,
    /// How often it is spelt so.
    spellings: BTreeMap<Box<str>, usize>,
}

impl TagTable {
    /// The tags of these notes.
    pub(crate) fn new(
        graph: &Graph,
        notes: &Bitmap,
        deadline: &Deadline,
    ) -> Result<TagTable, VaultError> {
        let mut gathered: BTreeMap<Box<str>, Gathered> = BTreeMap::new();
        for (folded, spellings) in &graph.tags {
            for (spelling, doc_ids) in spellings {
                let mut seen: Vec<u32> = Vec::new();
                let mut count = 0;
                for tagged in doc_ids {
                    deadline.step()?;
                    if notes.contains(tagged.doc_id) {
                        seen.push(tagged.doc_id);
                        count += tagged.count as usize;
                    }
                }
                if seen.is_empty() {
                    continue;
                }
                // The tags above it are had by the same notes, and are spelt as they are within it.
                for (name, written) in with_those_above(folded, spelling) {
                    deadline.before(seen.len() * size_of::<u32>() + name.len())?;
                    let tag = gathered.entry(name.into()).or_default();
                    *tag.spellings.entry(written.into()).or_default() += count;
                    tag.notes.extend_from_slice(&seen);
                    if name == &**folded {
                        tag.own.extend_from_slice(&seen);
                    }
                }
            }
        }
        let mut by_name: Vec<(Box<str>, TagCount)> = Vec::with_capacity(gathered.len());
        for (name, tag) in gathered {
            deadline.before(tag.notes.len() * size_of::<u32>())?;
            let count = TagCount {
                tag: commonest(&tag.spellings),
                notes: different(tag.notes),
                own: different(tag.own),
            };
            by_name.push((name, count));
        }
        let by_count: Vec<u32> = (0u32..).zip(&by_name).map(|(place, _)| place).collect();
        let notes = |place: &u32| by_name[*place as usize].1.notes;
        let by_count = in_order(
            by_count,
            |one, other| notes(other).cmp(&notes(one)),
            deadline,
        )?;
        Ok(TagTable { by_name, by_count })
    }

    /// All of them, in order of name.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.iter().map(|(_, count)| count.tag.as_str())
    }

    /// A page of them.
    pub(crate) fn page(
        &self,
        query: &TagsQuery,
        budget: &AnswerBudget,
        deadline: &Deadline,
    ) -> Result<Tags, VaultError> {
        let prefix = fold_name(query.prefix.strip_prefix('#').unwrap_or(&query.prefix));
        let offset = usize::try_from(query.offset).unwrap_or(usize::MAX);
        let limit = query.limit as usize;
        let start = self
            .by_name
            .partition_point(|(name, _)| **name < *prefix.as_str());
        let length = self.by_name[start..].partition_point(|(name, _)| name.starts_with(&*prefix));
        let mut items = Vec::new();
        let mut take = |(_, count): &(Box<str>, TagCount)| -> Result<(), VaultError> {
            budget.take_item([count.tag.len()])?;
            items.push(count.clone());
            Ok(())
        };
        if query.by_count {
            let fitting = start..start + length;
            let mut to_skip = offset;
            let mut left = limit.min(length);
            for place in &self.by_count {
                deadline.step()?;
                if left == 0 {
                    break;
                }
                if !fitting.contains(&(*place as usize)) {
                    continue;
                }
                if to_skip > 0 {
                    to_skip -= 1;
                    continue;
                }
                take(&self.by_name[*place as usize])?;
                left -= 1;
            }
        } else {
            let fitting = self.by_name[start..start + length].iter();
            for tag in fitting.skip(offset).take(limit) {
                deadline.step()?;
                take(tag)?;
            }
        }
        Ok(Tags {
            items,
            total: length as u64,
        })
    }
}

/// How many different notes these are.
fn different(mut doc_ids: Vec<u32>) -> u64 {
    doc_ids.sort_unstable();
    doc_ids.dedup();
    doc_ids.len() as u64
}

/// The tags of the notes below a folder, among those that a caller finds.
pub(crate) fn under(
    graph: &Graph,
    finds: &Bitmap,
    folder: &str,
    deadline: &Deadline,
) -> Result<TagTable, VaultError> {
    let mut within = Bitmap::default();
    for doc_id in finds.iter() {
        deadline.step()?;
        if is_under(graph.path(doc_id), folder) {
            within.insert(doc_id);
        }
    }
    TagTable::new(graph, &within, deadline)
}

/// The notes that have a tag or one below it.
pub(crate) fn tagged(graph: &Graph, tag: &str, deadline: &Deadline) -> Result<Bitmap, VaultError> {
    let folded = fold_name(tag.strip_prefix('#').unwrap_or(tag).trim_end_matches('/'));
    let below = format!("{folded}/");
    let own = graph.tags.get(folded.as_str()).into_iter();
    let nested = graph
        .tags
        .range::<str, _>((
            std::ops::Bound::Included(below.as_str()),
            std::ops::Bound::Unbounded,
        ))
        .take_while(|(name, _)| name.starts_with(below.as_str()))
        .map(|(_, spellings)| spellings);
    let mut notes = Bitmap::default();
    for doc_ids in own.chain(nested).flat_map(|spellings| spellings.values()) {
        for tagged in doc_ids {
            deadline.step()?;
            notes.insert(tagged.doc_id);
        }
    }
    Ok(notes)
}

/// A tag and those above it: folded, and as they are written in it. Of a tag with very many parts only the first of those
/// above it count: each has the length of its path.
fn with_those_above<'t>(
    folded: &'t str,
    spelling: &'t str,
) -> impl Iterator<Item = (&'t str, &'t str)> {
    let ends = |text: &'t str| {
        text.match_indices('/')
            .map(|(at, _)| at)
            .take(MAX_TAG_DEPTH)
            .chain([text.len()])
    };
    ends(folded)
        .zip(ends(spelling))
        .map(|(end, written)| (&folded[..end], &spelling[..written]))
}

/// The most frequent spelling; on ties, the first by bytes.
fn commonest(spellings: &BTreeMap<Box<str>, usize>) -> String {
    let mut best: Option<(&str, usize)> = None;
    for (spelling, count) in spellings {
        if best.is_none_or(|(_, most)| *count > most) {
            best = Some((spelling, *count));
        }
    }
    best.map_or_else(String::new, |(spelling, _)| spelling.to_owned())
}
