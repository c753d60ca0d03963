//! The index of a vault in memory: a full scan of all notes per query. Deliberately simple: it is the reference that the
//! host's index is tested against.
//!
//! It reads only files that the caller may see, so it needs no permission checks. It includes staged writes, which the
//! host's index does not.

mod condition;
mod glob;
mod links;
mod names;
mod order;
mod phrase;
mod scan;
mod tags;

#[cfg(test)]
mod tests;

pub(super) use links::{backlinks, edges, linking, unresolved};
pub(super) use names::names_in;
pub(super) use tags::tags;

use super::view::View;
use crate::index::{
    Condition, Field, Found, FoundNote, IndexState, Progress, Query, Snippet, SortBy,
};
use crate::{Result, fold_name};
use condition::Prepared;
use scan::{Scan, Scanned};

pub(super) fn state(view: &View<'_>) -> IndexState {
    let notes = Scan::of(view).notes.len() as u64;
    IndexState {
        state: Progress::Ready,
        done: notes,
        total: notes,
        assistant_tag: Some("assistant".to_owned()),
    }
}

/// Notes that match a condition.
pub(super) fn find(view: &View<'_>, query: &Query) -> Result<Found> {
    let scan = Scan::of(view);
    let every_note = Condition::All(Vec::new());
    let condition = query.condition.as_ref().unwrap_or(&every_note);
    let prepared = Prepared::of(&scan, condition)?;
    let mut found: Vec<(&Scanned, Option<f64>)> = scan
        .notes
        .iter()
        .filter(|note| prepared.fits(note, condition))
        .map(|note| (note, prepared.score(note)))
        .collect();
    let total = found.len() as u64;
    let by_score = [crate::index::Sort {
        by: SortBy::Score,
        descending: true,
    }];
    let order = match query.sort.as_slice() {
        [] if prepared.has_words() => &by_score,
        order => order,
    };
    // The notes are in order of path, and the sort is stable.
    found.sort_by(|one, other| order::compare(&scan, order, *one, *other));
    let items = found
        .into_iter()
        .skip(usize::try_from(query.offset).unwrap_or(usize::MAX))
        .take(query.limit as usize)
        .map(|(note, score)| FoundNote {
            score,
            snippets: prepared.snippets(note, query.snippets as usize),
            ..found_note(&scan, note, &query.fields)
        })
        .collect();
    Ok(Found {
        items,
        total,
        widened: prepared.widened(),
    })
}

/// The notes that contain, for each of these lists, at least one of its texts.
pub(super) fn containing(view: &View<'_>, texts: &[Vec<String>]) -> Result<Vec<String>> {
    let has = |note: &str, text: &String| {
        // In NFC (`é`) and NFD (`e` and an accent): a text matches in either form.
        let letters = caseless::default_case_fold_str;
        letters(note).contains(&letters(text)) || fold_name(note).contains(&fold_name(text))
    };
    let mut found = Vec::new();
    for (path, file) in view.notes() {
        let note = String::from_utf8_lossy(&file.bytes);
        if texts
            .iter()
            .all(|choice| choice.iter().any(|text| has(&note, text)))
        {
            found.push(path.clone());
        }
    }
    Ok(found)
}

/// The requested fields of a note.
fn found_note(scan: &Scan, note: &Scanned, fields: &[Field]) -> FoundNote {
    let mut found = FoundNote {
        path: note.path.clone(),
        ..FoundNote::default()
    };
    for field in fields {
        match field {
            Field::Modified => found.modified = Some(note.modified),
            Field::Size => found.size = Some(note.size),
            Field::Etag => found.etag = Some(note.etag.clone()),
            Field::Properties => found.properties = Some(note.facts.properties.clone()),
            Field::Tags => found.tags = Some(note.facts.tags.clone()),
            Field::Aliases => found.aliases = Some(note.facts.aliases.clone()),
            Field::Headings => found.headings = Some(note.facts.headings.clone()),
            Field::Links => found.links = Some(note.links.clone()),
            Field::Blocks => found.blocks = Some(note.facts.blocks.clone()),
            Field::Tasks => found.tasks = Some(note.facts.tasks.clone()),
            Field::Degree => found.degree = Some(scan.degree(note)),
        }
    }
    found
}

/// The line of a note around a place.
fn snippet(note: &Scanned, place: &std::ops::Range<usize>) -> Snippet {
    Snippet {
        line: u32::try_from(crate::text::line_of(&note.text, place.start)).unwrap_or(u32::MAX),
        text: crate::text::facts::context(&note.text, place),
    }
}
