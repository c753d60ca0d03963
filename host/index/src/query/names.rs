//! Finds names and aliases of notes in a text, from left to right, the longest match at each position; if several
//! notes have that name, all of them. A match begins and ends at word boundaries.

use notehost_sdk::fold_name;
use notehost_sdk::index::NameAt;
use notehost_sdk::words::{self, Form};

use super::caller_view::CallerView;
use crate::graph::Graph;
use crate::limits::answer_budget::AnswerBudget;
use crate::limits::bounds::MAX_NAMES;
use crate::limits::deadline::Deadline;
use notehost_vault::VaultError;

/// Names of more words are not looked for.
const MAX_WORDS: usize = 8;
/// In scripts without spaces every letter counts as a word.
const MAX_LETTERS: usize = 24;
/// Shorter names would match everywhere.
const MIN_CHARS: usize = 2;

/// The names and aliases of notes that occur in a text, in their order; at each place the longest.
pub(crate) fn names_in(
    graph: &Graph,
    view: &CallerView,
    text: &str,
    budget: &AnswerBudget,
    deadline: &Deadline,
) -> Result<Vec<NameAt>, VaultError> {
    // Every place at which a name can begin or end, with whether spaces divide words there.
    let mut places: Vec<(usize, usize, bool)> = Vec::new();
    words::for_each_word(text, |word| match word.form {
        Form::Whole => places.push((word.range.start, word.range.end, true)),
        Form::Single => places.push((word.range.start, word.range.end, false)),
        Form::Cut | Form::Part | Form::Pair => {}
    });
    let mut found = Vec::new();
    let mut next = 0;
    while next < places.len() {
        deadline.step()?;
        let (start, _, is_spaced) = places[next];
        let most = if is_spaced { MAX_WORDS } else { MAX_LETTERS };
        let mut longest = None;
        for last in (next..places.len().min(next + most)).rev() {
            let end = places[last].1;
            let name = &text[start..end];
            deadline.before(name.len())?;
            if name.chars().nth(MIN_CHARS - 1).is_none() {
                continue;
            }
            let notes = named(graph, view, name, deadline)?;
            if !notes.is_empty() {
                longest = Some((last, end, notes));
                break;
            }
        }
        let Some((last, end, notes)) = longest else {
            next += 1;
            continue;
        };
        if found.len() + notes.len() > MAX_NAMES {
            return Err(VaultError::too_large(format!(
                "more than {MAX_NAMES} note names in one text"
            )));
        }
        for (path, alias) in notes {
            budget.take_item([path.len()])?;
            found.push(NameAt {
                path,
                start: u32::try_from(start).unwrap_or(u32::MAX),
                end: u32::try_from(end).unwrap_or(u32::MAX),
                alias,
            });
        }
        next = last + 1;
    }
    Ok(found)
}

/// The notes that have this name or alias, in order of path.
fn named(
    graph: &Graph,
    view: &CallerView,
    name: &str,
    deadline: &Deadline,
) -> Result<Vec<(String, bool)>, VaultError> {
    let folded = fold_name(name);
    let own = graph.doc_ids_named(&format!("{folded}.md"));
    let aliased = graph
        .aliases
        .get(folded.as_str())
        .map_or(&[][..], Vec::as_slice);
    let own = own.iter().map(|doc_id| (*doc_id, false));
    let all = own.chain(aliased.iter().map(|doc_id| (*doc_id, true)));
    let mut notes: Vec<(String, bool)> = Vec::new();
    for (doc_id, alias) in all {
        deadline.step()?;
        if view.finds.contains(doc_id) {
            notes.push((graph.path(doc_id).to_owned(), alias));
        }
    }
    notes.sort_unstable();
    notes.dedup_by(|later, first| later.0 == first.0);
    Ok(notes)
}
