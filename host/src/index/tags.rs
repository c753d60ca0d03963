//! The tags of a vault, as one asker sees them.

use std::collections::BTreeMap;

use notehost_sdk::fold_name;
use notehost_sdk::index::{TagCount, Tags, TagsOf};

use super::graph::Graph;
use super::links::is_under;
use super::text::Slots;

/// All tags, by their folded name.
pub(super) struct TagTable {
    /// The folded name, and what is told of it.
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
    pub(super) fn new(graph: &Graph, notes: &Slots) -> TagTable {
        let mut gathered: BTreeMap<Box<str>, Gathered> = BTreeMap::new();
        for (folded, spellings) in &graph.tags {
            for (spelling, slots) in spellings {
                let seen: Vec<u32> = slots
                    .iter()
                    .copied()
                    .filter(|slot| notes.contains(*slot))
                    .collect();
                if seen.is_empty() {
                    continue;
                }
                // The tags above it are had by the same notes, and are spelt as they are within it.
                for (name, written) in with_those_above(folded, spelling) {
                    let tag = gathered.entry(name.into()).or_default();
                    *tag.spellings.entry(written.into()).or_default() += seen.len();
                    tag.notes.extend_from_slice(&seen);
                    if name == &**folded {
                        tag.own.extend_from_slice(&seen);
                    }
                }
            }
        }
        let by_name: Vec<(Box<str>, TagCount)> = gathered
            .into_iter()
            .map(|(name, tag)| {
                let count = TagCount {
                    tag: commonest(&tag.spellings),
                    notes: different(tag.notes),
                    own: different(tag.own),
                };
                (name, count)
            })
            .collect();
        let mut by_count: Vec<u32> = (0u32..).zip(&by_name).map(|(place, _)| place).collect();
        by_count.sort_by_key(|place| (std::cmp::Reverse(by_name[*place as usize].1.notes), *place));
        TagTable { by_name, by_count }
    }

    /// A page of them.
    pub(super) fn page(&self, asked: &TagsOf) -> Tags {
        let prefix = fold_name(asked.prefix.strip_prefix('#').unwrap_or(&asked.prefix));
        let offset = usize::try_from(asked.offset).unwrap_or(usize::MAX);
        let limit = asked.limit as usize;
        if asked.by_count {
            let fitting = || {
                let places = self
                    .by_count
                    .iter()
                    .map(|place| &self.by_name[*place as usize]);
                places.filter(|(name, _)| name.starts_with(prefix.as_str()))
            };
            return Tags {
                items: fitting()
                    .skip(offset)
                    .take(limit)
                    .map(|(_, count)| count.clone())
                    .collect(),
                total: match prefix.is_empty() {
                    true => self.by_name.len() as u64,
                    false => fitting().count() as u64,
                },
            };
        }
        let start = self
            .by_name
            .partition_point(|(name, _)| **name < *prefix.as_str());
        let length = self.by_name[start..].partition_point(|(name, _)| name.starts_with(&*prefix));
        let fitting = &self.by_name[start..start + length];
        Tags {
            items: fitting
                .iter()
                .skip(offset)
                .take(limit)
                .map(|(_, count)| count.clone())
                .collect(),
            total: fitting.len() as u64,
        }
    }
}

/// How many different notes these are.
fn different(mut slots: Vec<u32>) -> u64 {
    slots.sort_unstable();
    slots.dedup();
    slots.len() as u64
}

/// The tags of the notes below a folder, among those that an asker finds.
pub(super) fn under(graph: &Graph, finds: &Slots, folder: &str) -> TagTable {
    let within: Slots = finds
        .iter()
        .filter(|slot| is_under(graph.path(*slot), folder))
        .collect();
    TagTable::new(graph, &within)
}

/// The notes that have a tag or one below it.
pub(super) fn tagged(graph: &Graph, tag: &str) -> Slots {
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
    own.chain(nested)
        .flat_map(|spellings| spellings.values())
        .flatten()
        .copied()
        .collect()
}

/// A tag and those above it: folded, and as they are written in it.
fn with_those_above<'t>(
    folded: &'t str,
    spelling: &'t str,
) -> impl Iterator<Item = (&'t str, &'t str)> {
    let ends = |text: &'t str| {
        text.match_indices('/')
            .map(|(at, _)| at)
            .chain([text.len()])
    };
    ends(folded)
        .zip(ends(spelling))
        .map(|(end, written)| (&folded[..end], &spelling[..written]))
}

/// The spelling that stands most often; of several the first by its bytes.
fn commonest(spellings: &BTreeMap<Box<str>, usize>) -> String {
    let mut best: Option<(&str, usize)> = None;
    for (spelling, count) in spellings {
        if best.is_none_or(|(_, most)| *count > most) {
            best = Some((spelling, *count));
        }
    }
    best.map_or_else(String::new, |(spelling, _)| spelling.to_owned())
}
