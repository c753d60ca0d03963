//! Sorts notes by the keys of a query. The sort keys of a note are computed once per note and not per comparison: a
//! note may have tens of thousands of properties, or properties of many kilobytes.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::ops::Range;

use notehost_sdk::index::{Sort, SortBy};
use notehost_sdk::{fold_name, stem_of};

use super::caller_view::CallerView;
use super::find::Hit;
use crate::graph::Graph;
use crate::limits::deadline::{Deadline, STEP_BYTES};
use crate::limits::order::in_order_by_runs;
use notehost_vault::VaultError;

/// How many are sorted between two deadline checks, if what they are sorted by is short.
const RUN_LENGTH: usize = 512;

/// How hits compare, by their places in the list of hits.
type Compare<'g> = Box<dyn Fn(u32, u32) -> Ordering + 'g>;

/// One sort key, computed for all notes.
struct Column<'g> {
    compare: Compare<'g>,
    /// How many bytes a comparison may have to look at.
    bytes: usize,
}

/// A page of hits in the requested order.
pub(crate) fn sorted(
    graph: &Graph,
    view: &CallerView,
    hits: &[Hit],
    sort: &[Sort],
    page: Range<usize>,
    deadline: &Deadline,
) -> Result<Vec<Hit>, VaultError> {
    if page.end == 0 || hits.is_empty() {
        return Ok(Vec::new());
    }
    let mut columns = Vec::new();
    for sort in distinct(sort) {
        columns.push(column(graph, view, hits, sort, deadline)?);
    }
    let order = Order {
        graph,
        hits,
        bytes: columns.iter().map(|column| column.bytes).sum(),
        columns,
        deadline,
    };
    // Only what is returned has to be in order.
    let first = order.first(page.end)?;
    let first = order.sorted(first)?;
    let shown = first.into_iter().skip(page.start);
    Ok(shown.map(|place| hits[place as usize]).collect())
}

/// Those of several that can decide anything: after the first that sorts by a property, another of the same name changes
/// nothing. Otherwise the values of a property would be kept as often as it is named.
fn distinct(sort: &[Sort]) -> impl Iterator<Item = &Sort> {
    let mut known: HashSet<String> = HashSet::new();
    sort.iter().filter(move |sort| {
        let name = sort.by.property();
        name.is_none_or(|name| known.insert(name.folded().to_owned()))
    })
}

fn column<'g>(
    graph: &'g Graph,
    view: &CallerView,
    hits: &'g [Hit],
    Sort { by, descending }: &Sort,
    deadline: &Deadline,
) -> Result<Column<'g>, VaultError> {
    let is_turned = *descending;
    let turned = move |order: Ordering| if is_turned { order.reverse() } else { order };
    let doc_id = |place: u32| hits[place as usize].0;
    let stamp = |doc_id: u32| graph.file(doc_id).map(|file| file.stamp);
    let numbers = |number: &dyn Fn(u32) -> Option<u64>| -> Result<Compare<'g>, VaultError> {
        let mut column: Vec<Option<u64>> = Vec::with_capacity(hits.len());
        for (doc_id, _) in hits {
            deadline.step()?;
            column.push(number(*doc_id));
        }
        Ok(Box::new(move |one, other| {
            turned(column[one as usize].cmp(&column[other as usize]))
        }))
    };
    let mut bytes = 0;
    let compare: Compare<'g> = match by {
        SortBy::Score => Box::new(move |one, other| {
            let score = |place: u32| hits[place as usize].1.unwrap_or(0.0);
            turned(score(one).total_cmp(&score(other)))
        }),
        SortBy::Path => Box::new(move |one, other| {
            turned(graph.path(doc_id(one)).cmp(graph.path(doc_id(other))))
        }),
        SortBy::Name => {
            let mut names: Vec<String> = Vec::with_capacity(hits.len());
            for (doc_id, _) in hits {
                deadline.step()?;
                names.push(fold_name(stem_of(graph.path(*doc_id))));
            }
            Box::new(move |one, other| turned(names[one as usize].cmp(&names[other as usize])))
        }
        SortBy::Modified => numbers(&|doc_id| stamp(doc_id).map(|stamp| stamp.modified_millis()))?,
        SortBy::Size => numbers(&|doc_id| stamp(doc_id).map(|stamp| stamp.size()))?,
        SortBy::Incoming => {
            let link_graph = view.link_graph(graph, deadline)?;
            numbers(&|doc_id| Some(link_graph.degree(doc_id).incoming.into()))?
        }
        SortBy::Outgoing => {
            let link_graph = view.link_graph(graph, deadline)?;
            numbers(&|doc_id| Some(link_graph.degree(doc_id).outgoing.into()))?
        }
        SortBy::Property(_) => {
            let name = by.property();
            let mut keys = Vec::with_capacity(hits.len());
            for (doc_id, _) in hits {
                let note = graph.note(*doc_id);
                deadline.before_all(note.map_or(0, |note| note.property_bytes()))?;
                let properties = note.and_then(|note| note.properties.as_deref());
                let named = name.as_ref().zip(properties);
                let key = named.and_then(|(name, properties)| name.sort_key(properties));
                bytes = bytes.max(key.as_ref().map_or(0, |key| key.bytes()));
                keys.push(key);
            }
            // Whatever the direction, notes without it come last.
            Box::new(
                move |one, other| match (&keys[one as usize], &keys[other as usize]) {
                    (Some(one), Some(other)) => turned(one.order(other)),
                    (one, other) => other.is_some().cmp(&one.is_some()),
                },
            )
        }
    };
    Ok(Column { compare, bytes })
}

/// How hits are ordered; equal ones by path.
struct Order<'g> {
    graph: &'g Graph,
    hits: &'g [Hit],
    columns: Vec<Column<'g>>,
    /// How many bytes a comparison may have to look at.
    bytes: usize,
    deadline: &'g Deadline,
}

impl Order<'_> {
    fn compare(&self, one: u32, other: u32) -> Ordering {
        let columns = self.columns.iter();
        let mut orders = columns.map(|column| (column.compare)(one, other));
        orders.find(|order| order.is_ne()).unwrap_or_else(|| {
            let path = |place: u32| self.graph.path(self.hits[place as usize].0);
            path(one).cmp(path(other))
        })
    }

    /// Before a comparison.
    fn step(&self) -> Result<(), VaultError> {
        self.deadline.before_all(self.bytes)
    }

    /// Whether many comparisons may be made between two deadline checks.
    fn is_light(&self) -> bool {
        self.bytes <= STEP_BYTES
    }

    fn sorted(&self, places: Vec<u32>) -> Result<Vec<u32>, VaultError> {
        in_order_by_runs(
            places,
            if self.is_light() { RUN_LENGTH } else { 1 },
            |one, other| self.compare(*one, *other),
            || self.step(),
            self.deadline,
        )
    }

    /// Those that come first, in no order. Most others are compared only once, with the last of those so far.
    fn first(&self, count: usize) -> Result<Vec<u32>, VaultError> {
        let all = (0_u32..).zip(self.hits).map(|(place, _)| place);
        if count >= self.hits.len() {
            return Ok(all.collect());
        }
        let mut first: Vec<u32> = Vec::with_capacity(self.hits.len().min(count.saturating_mul(2)));
        let mut last: Option<u32> = None;
        for place in all {
            self.step()?;
            if last.is_some_and(|last| self.compare(place, last).is_gt()) {
                continue;
            }
            first.push(place);
            if first.len() >= count.saturating_mul(2) {
                first = self.cut(first, count)?;
                last = first.last().copied();
            }
        }
        match first.len() > count {
            true => self.cut(first, count),
            false => Ok(first),
        }
    }

    /// The first of these, of which the last one comes last.
    fn cut(&self, mut places: Vec<u32>, count: usize) -> Result<Vec<u32>, VaultError> {
        if self.is_light() {
            self.deadline.check()?;
            places.select_nth_unstable_by(count - 1, |one, other| self.compare(*one, *other));
        } else {
            places = self.sorted(places)?;
        }
        places.truncate(count);
        Ok(places)
    }
}
