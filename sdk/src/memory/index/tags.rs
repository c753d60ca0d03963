//! Tags and their counts.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::View;
use super::links::{is_under, page};
use super::scan::Scan;
use crate::index::{TagCount, Tags, TagsQuery};
use crate::{Result, fold_name};

#[derive(Default)]
struct Used {
    spellings: BTreeMap<String, usize>,
    notes: BTreeSet<String>,
    own: BTreeSet<String>,
}

/// Tags of the vault, including the parents of nested ones.
pub(in crate::memory) fn tags(view: &View<'_>, of: &TagsQuery) -> Result<Tags> {
    let scan = Scan::of(view);
    let mut used: BTreeMap<String, Used> = BTreeMap::new();
    for note in scan
        .notes
        .iter()
        .filter(|note| is_under(&note.path, &of.under))
    {
        for tag in &note.facts.tags {
            for name in with_parents(&tag.tag) {
                let entry = used.entry(fold_name(name)).or_default();
                *entry.spellings.entry(name.to_owned()).or_default() += 1;
                entry.notes.insert(note.path.clone());
                if name == tag.tag {
                    entry.own.insert(note.path.clone());
                }
            }
        }
    }
    let prefix = fold_name(&of.prefix);
    let mut items: Vec<TagCount> = used
        .into_iter()
        .filter(|(folded, _)| folded.starts_with(&prefix))
        .map(|(_, used)| TagCount {
            notes: used.notes.len() as u64,
            own: used.own.len() as u64,
            tag: most_common(used.spellings),
        })
        .collect();
    if of.by_count {
        // They are in order of name, and the sort is stable.
        items.sort_by_key(|tag| Reverse(tag.notes));
    }
    Ok(Tags {
        total: items.len() as u64,
        items: page(items, of.offset, of.limit),
    })
}

/// `a`, `a/b`, `a/b/c`.
fn with_parents(tag: &str) -> impl Iterator<Item = &str> {
    tag.match_indices('/')
        .map(|(end, _)| &tag[..end])
        .filter(|above| !above.is_empty() && !above.ends_with('/'))
        .chain([tag])
}

/// The most common spelling; ties: the first by bytes.
fn most_common(spellings: BTreeMap<String, usize>) -> String {
    spellings
        .into_iter()
        .min_by_key(|(_, count)| Reverse(*count))
        .map(|(spelling, _)| spelling)
        .unwrap_or_default()
}
