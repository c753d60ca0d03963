//! Sorts notes.

use std::cmp::Ordering;

use super::scan::{Scan, Scanned};
use crate::index::{Sort, SortBy, order, sort_value};
use crate::{fold_name, stem_of};

type Found<'n> = (&'n Scanned, Option<f64>);

pub(super) fn compare(scan: &Scan, sort: &[Sort], one: Found<'_>, other: Found<'_>) -> Ordering {
    sort.iter()
        .map(|sort| compare_by(scan, sort, one, other))
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

fn compare_by(scan: &Scan, sort: &Sort, one: Found<'_>, other: Found<'_>) -> Ordering {
    let (first, second) = (one.0, other.0);
    let by = match &sort.by {
        SortBy::Score => one.1.unwrap_or(0.0).total_cmp(&other.1.unwrap_or(0.0)),
        SortBy::Path => first.path.cmp(&second.path),
        SortBy::Name => name(first).cmp(&name(second)),
        SortBy::Modified => first.modified.cmp(&second.modified),
        SortBy::Size => first.size.cmp(&second.size),
        SortBy::Incoming => {
            let incoming = |note| scan.degree(note).incoming;
            incoming(first).cmp(&incoming(second))
        }
        SortBy::Outgoing => {
            let outgoing = |note| scan.degree(note).outgoing;
            outgoing(first).cmp(&outgoing(second))
        }
        SortBy::Property(key) => match (
            sort_value(&first.facts.properties, key),
            sort_value(&second.facts.properties, key),
        ) {
            (Some(one), Some(other)) => order(one, other),
            // Notes without the property come last in both directions.
            (one, other) => return other.is_some().cmp(&one.is_some()),
        },
    };
    if sort.descending { by.reverse() } else { by }
}

fn name(note: &Scanned) -> String {
    fold_name(stem_of(&note.path))
}
