//! The notes that fulfil a query: conditions about words go to the full-text half, all others to the graph, and both
//! meet here.

use std::cmp::Ordering;
use std::sync::Arc;

use notehost_sdk::index::{
    Condition, Field, Found, FoundNote, Query, Sort, SortBy, order, sort_value,
};
use notehost_sdk::{fold_name, stem_of};

use super::filter::fulfilling;
use super::graph::Graph;
use super::links;
use super::text::{Failure, Texts, Tree, snippets};
use super::viewer::Viewer;
use crate::vault::VaultError;

/// The largest page.
const MOST: u32 = 10_000;
/// How deep conditions may nest.
const DEEPEST: usize = 32;

/// Why there is no answer.
pub(super) enum Broken {
    /// The question is at fault.
    Question(VaultError),
    /// The full-text half is, and has to be made anew.
    Texts(Failure),
}

impl From<VaultError> for Broken {
    fn from(error: VaultError) -> Broken {
        Broken::Question(error)
    }
}

/// A note that fits, and how well.
type Hit = (u32, Option<f32>);

/// The notes that fulfil a query, as one asker sees them.
pub(super) fn find(
    graph: &Graph,
    texts: &Texts,
    viewer: &Viewer,
    query: &Query,
) -> Result<Found, Broken> {
    let limit = query.limit.min(MOST) as usize;
    let offset = usize::try_from(query.offset).unwrap_or(usize::MAX);
    let everything = Condition::All(Vec::new());
    let condition = query.condition.as_ref().unwrap_or(&everything);
    check(condition, 0)?;
    let asks_words = has_words(condition);
    let by_score = match query.sort.as_slice() {
        [] => asks_words,
        [
            Sort {
                by: SortBy::Score,
                descending: true,
            },
        ] => asks_words,
        _ => false,
    };
    let tree = match asks_words {
        true => Some(tree(graph, viewer, condition)?),
        false => None,
    };
    let mut found = Found::default();
    let page: Vec<Hit> = match &tree {
        Some(tree) if by_score => {
            let count = offset.saturating_add(limit);
            let by_path = |one: u32, other: u32| graph.path(one).cmp(graph.path(other));
            let best = texts.best(tree, &viewer.finds, count, &by_path);
            let best = best.map_err(Broken::Texts)?;
            found.total = best.total;
            found.widened = best.widened;
            let hits = best.hits.into_iter().skip(offset);
            hits.map(|hit| (hit.slot, Some(hit.score))).collect()
        }
        Some(tree) => {
            let all = texts.all(tree, &viewer.finds).map_err(Broken::Texts)?;
            found.total = all.total;
            found.widened = all.widened;
            let hits = all.hits.into_iter();
            let hits: Vec<Hit> = hits.map(|hit| (hit.slot, Some(hit.score))).collect();
            sorted(graph, viewer, hits, &query.sort, offset, limit)
        }
        None => {
            let fitting = fulfilling(graph, viewer, condition)?;
            found.total = fitting.len() as u64;
            let hits: Vec<Hit> = fitting.iter().map(|slot| (slot, None)).collect();
            sorted(graph, viewer, hits, &query.sort, offset, limit)
        }
    };
    for hit in page {
        found.items.push(told(graph, viewer, hit, &query.fields));
        if let (Some(tree), Some(note)) = (&tree, found.items.last_mut())
            && query.snippets > 0
            && let Some(text) = texts.text_of(hit.0)
        {
            note.snippets = snippets(&text, tree, query.snippets as usize);
        }
    }
    Ok(found)
}

/// Refuses what would only exhaust the stack.
fn check(condition: &Condition, depth: usize) -> Result<(), VaultError> {
    if depth > DEEPEST {
        return Err(VaultError::invalid(format!(
            "conditions may nest {DEEPEST} deep"
        )));
    }
    match condition {
        Condition::All(inner) | Condition::Any(inner) => {
            inner.iter().try_for_each(|inner| check(inner, depth + 1))
        }
        Condition::Not(inner) => check(inner, depth + 1),
        _ => Ok(()),
    }
}

fn has_words(condition: &Condition) -> bool {
    match condition {
        Condition::All(inner) | Condition::Any(inner) => inner.iter().any(has_words),
        Condition::Not(inner) => has_words(inner),
        Condition::Words(_) | Condition::Prefix(_) | Condition::Like(_) => true,
        _ => false,
    }
}

/// The condition with everything about facts answered already.
fn tree(graph: &Graph, viewer: &Viewer, condition: &Condition) -> Result<Tree, VaultError> {
    if !has_words(condition) {
        return Ok(Tree::Slots(Arc::new(fulfilling(graph, viewer, condition)?)));
    }
    let inner = |inner: &[Condition]| -> Result<Vec<Tree>, VaultError> {
        let trees = inner.iter();
        trees
            .map(|condition| tree(graph, viewer, condition))
            .collect()
    };
    Ok(match condition {
        Condition::All(all) => Tree::All(inner(all)?),
        Condition::Any(any) => Tree::Any(inner(any)?),
        Condition::Not(not) => Tree::Not(Box::new(tree(graph, viewer, not)?)),
        Condition::Words(words) => Tree::Words {
            text: words.text.clone(),
            part: words.part,
        },
        Condition::Prefix(words) => Tree::Prefix {
            text: words.text.clone(),
            part: words.part,
        },
        Condition::Like(text) => Tree::Like(text.clone()),
        facts => Tree::Slots(Arc::new(fulfilling(graph, viewer, facts)?)),
    })
}

/// A page of these in the order that was asked for.
fn sorted(
    graph: &Graph,
    viewer: &Viewer,
    hits: Vec<Hit>,
    sort: &[Sort],
    offset: usize,
    limit: usize,
) -> Vec<Hit> {
    let web = sort
        .iter()
        .any(|sort| matches!(sort.by, SortBy::Incoming | SortBy::Outgoing))
        .then(|| viewer.web(graph));
    let degree = |hit: &Hit| {
        let web = web.as_ref();
        web.map(|web| web.degree(hit.0)).unwrap_or_default()
    };
    let stamp = |hit: &Hit| graph.file(hit.0).map(|file| file.stamp);
    let value = |hit: &Hit, key: &str| {
        let note = graph.note(hit.0)?;
        sort_value(note.properties.as_deref()?, key)
    };
    let compare = |one: &Hit, other: &Hit| -> Ordering {
        for Sort { by, descending } in sort {
            let turned = |order: Ordering| if *descending { order.reverse() } else { order };
            let order = match by {
                SortBy::Score => turned(one.1.unwrap_or(0.0).total_cmp(&other.1.unwrap_or(0.0))),
                SortBy::Path => turned(graph.path(one.0).cmp(graph.path(other.0))),
                SortBy::Name => {
                    let name = |hit: &Hit| fold_name(stem_of(graph.path(hit.0)));
                    turned(name(one).cmp(&name(other)))
                }
                SortBy::Modified => {
                    let time = |hit: &Hit| stamp(hit).map(|stamp| stamp.modified_millis());
                    turned(time(one).cmp(&time(other)))
                }
                SortBy::Size => {
                    let size = |hit: &Hit| stamp(hit).map(|stamp| stamp.size());
                    turned(size(one).cmp(&size(other)))
                }
                SortBy::Incoming => turned(degree(one).incoming.cmp(&degree(other).incoming)),
                SortBy::Outgoing => turned(degree(one).outgoing.cmp(&degree(other).outgoing)),
                // Whatever the direction, notes without it come last.
                SortBy::Property(key) => match (value(one, key), value(other, key)) {
                    (Some(one), Some(other)) => turned(order(one, other)),
                    (Some(_), None) => Ordering::Less,
                    (None, Some(_)) => Ordering::Greater,
                    (None, None) => Ordering::Equal,
                },
            };
            if order != Ordering::Equal {
                return order;
            }
        }
        graph.path(one.0).cmp(graph.path(other.0))
    };
    let wanted = offset.saturating_add(limit);
    if wanted == 0 {
        return Vec::new();
    }
    // Only what is told has to be in order.
    let mut first = first_of(hits, wanted, compare);
    first.sort_unstable_by(compare);
    first.into_iter().skip(offset).collect()
}

/// Those that come first, in no order. Most others are compared only once, with the last of those so far.
fn first_of(hits: Vec<Hit>, count: usize, compare: impl Fn(&Hit, &Hit) -> Ordering) -> Vec<Hit> {
    if count >= hits.len() {
        return hits;
    }
    let mut first: Vec<Hit> = Vec::with_capacity(hits.len().min(count.saturating_mul(2)));
    let mut last: Option<Hit> = None;
    for hit in hits {
        if last.is_some_and(|last| compare(&hit, &last) == Ordering::Greater) {
            continue;
        }
        first.push(hit);
        if first.len() >= count.saturating_mul(2) {
            first.select_nth_unstable_by(count - 1, &compare);
            first.truncate(count);
            last = first.last().copied();
        }
    }
    if first.len() > count {
        first.select_nth_unstable_by(count - 1, &compare);
        first.truncate(count);
    }
    first
}

fn told(graph: &Graph, viewer: &Viewer, (slot, score): Hit, fields: &[Field]) -> FoundNote {
    let mut told = FoundNote {
        path: graph.path(slot).to_owned(),
        score: score.map(rounded),
        ..FoundNote::default()
    };
    let Some(file) = graph.file(slot) else {
        return told;
    };
    let asks = |field: Field| fields.contains(&field);
    told.modified = asks(Field::Modified).then(|| file.stamp.modified_millis());
    told.size = asks(Field::Size).then(|| file.stamp.size());
    let Some(note) = &file.note else { return told };
    told.etag = asks(Field::Etag).then(|| note.etag.to_string());
    told.properties = asks(Field::Properties).then(|| {
        let properties = note.properties.as_deref();
        properties.cloned().unwrap_or_default()
    });
    told.links = asks(Field::Links).then(|| links::outgoing(graph, viewer, slot));
    told.degree = asks(Field::Degree).then(|| viewer.web(graph).degree(slot));
    let of_rest = [
        Field::Tags,
        Field::Aliases,
        Field::Headings,
        Field::Blocks,
        Field::Tasks,
    ];
    if of_rest.into_iter().any(asks) {
        let rest = note.rest();
        told.tags = asks(Field::Tags).then_some(rest.tags);
        told.aliases = asks(Field::Aliases).then_some(rest.aliases);
        told.headings = asks(Field::Headings).then_some(rest.headings);
        told.blocks = asks(Field::Blocks).then_some(rest.blocks);
        told.tasks = asks(Field::Tasks).then_some(rest.tasks);
    }
    told
}

/// Scores are told with four digits: more says nothing.
fn rounded(score: f32) -> f64 {
    (f64::from(score) * 10_000.0).round() / 10_000.0
}
