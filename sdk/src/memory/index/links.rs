//! Backlinks, unresolved links and the graph of links.

use std::collections::BTreeMap;

use super::View;
use super::scan::{Scan, Scanned};
use crate::index::{
    Backlink, Backlinks, BacklinksQuery, Edges, Missing, PlaceAt, Unresolved, UnresolvedQuery,
};
use crate::text::links::target_file_name;
use crate::{Result, fold_name};

/// Whether a path is this folder or file, or below it; everything is below `""`.
pub(super) fn is_under(path: &str, folder: &str) -> bool {
    path == folder || super::super::paths::is_below(path, folder)
}

/// Links to a file.
pub(in crate::memory) fn backlinks(view: &View<'_>, of: &BacklinksQuery) -> Result<Backlinks> {
    let scan = Scan::of(view);
    let mut answer = Backlinks::default();
    for note in scan.notes.iter().filter(|note| note.path != of.path) {
        let links = note.links.iter().zip(&note.facts.links);
        let mut links_here: Vec<Backlink> = links
            .filter(|(link, _)| link.path.as_deref() == Some(of.path.as_str()))
            .map(|(link, fact)| Backlink {
                path: note.path.clone(),
                line: link.line,
                context: fact.context.clone(),
                kind: link.kind,
                fragment: link.fragment.clone(),
            })
            .collect();
        links_here.sort_by_key(|link| link.line);
        answer.notes += u64::from(!links_here.is_empty());
        answer.items.extend(links_here);
    }
    answer.total = answer.items.len() as u64;
    answer.items = page(answer.items, of.offset, of.limit);
    Ok(answer)
}

/// Unresolved links.
pub(in crate::memory) fn unresolved(
    view: &View<'_>,
    within: &UnresolvedQuery,
) -> Result<Unresolved> {
    let scan = Scan::of(view);
    let mut missing: BTreeMap<String, Missing> = BTreeMap::new();
    for note in scan
        .notes
        .iter()
        .filter(|note| is_under(&note.path, &within.under))
    {
        let mut broken: Vec<_> = note.broken_links().collect();
        broken.sort_by_key(|link| link.line);
        for link in broken {
            let target = missing
                .entry(fold_name(&link.target))
                .or_insert_with(|| Missing {
                    target: link.target.clone(),
                    count: 0,
                    places: Vec::new(),
                });
            target.count += 1;
            if target.places.len() < within.places as usize {
                target.places.push(PlaceAt {
                    path: note.path.clone(),
                    line: link.line,
                });
            }
        }
    }
    // They are in order of name, and the sort is stable.
    let mut items: Vec<Missing> = missing.into_values().collect();
    items.sort_by_key(|missing| std::cmp::Reverse(missing.count));
    Ok(Unresolved {
        total: items.len() as u64,
        links: items.iter().map(|missing| missing.count).sum(),
        items: page(items, within.offset, within.limit),
    })
}

/// The graph of links between notes.
pub(in crate::memory) fn edges(view: &View<'_>) -> Result<Edges> {
    let scan = Scan::of(view);
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let mut answer = Edges::default();
    for (from, note) in scan.notes.iter().enumerate() {
        answer.paths.push(note.path.clone());
        answer.broken.push(count(note.broken_links().count()));
        for (to, other) in scan.notes.iter().enumerate() {
            let links = note.links_to(&other.path).count();
            if from != to && links > 0 {
                answer.edges.extend([count(from), count(to), count(links)]);
            }
        }
    }
    Ok(answer)
}

/// The notes with a link to the name of one of these files.
pub(in crate::memory) fn linking(view: &View<'_>, files: &[String]) -> Result<Vec<String>> {
    let scan = Scan::of(view);
    let file_name = |path: &String| path.rsplit('/').next().map(fold_name);
    let wanted: Vec<String> = files.iter().filter_map(file_name).collect();
    let is_linking = |note: &&Scanned| {
        let mut links = note.links.iter();
        links.any(|link| {
            let name = target_file_name(&link.target);
            let with_extension = format!("{name}.md");
            !link.external
                && !name.is_empty()
                && (wanted.contains(&name) || wanted.contains(&with_extension))
        })
    };
    let found = scan.notes.iter().filter(is_linking);
    Ok(found.map(|note| note.path.clone()).collect())
}

/// A page of a list.
pub(super) fn page<T>(items: Vec<T>, offset: u64, limit: u32) -> Vec<T> {
    items
        .into_iter()
        .skip(usize::try_from(offset).unwrap_or(usize::MAX))
        .take(limit as usize)
        .collect()
}
