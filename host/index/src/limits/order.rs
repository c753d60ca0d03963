//! Sorting that respects the deadline, since the number of items depends on notes and callers. The sorted items are
//! small (doc ids, positions in a list); comparisons look up what they refer to.

use std::cmp::Ordering;

use super::deadline::Deadline;
use notehost_vault::VaultError;

/// How many are sorted between two deadline checks.
const RUN_LENGTH: usize = 512;

/// All of these in order; equal ones stay as they are. Runs are sorted and then merged.
pub(crate) fn in_order<T: Copy>(
    items: Vec<T>,
    compare: impl Fn(&T, &T) -> Ordering,
    deadline: &Deadline,
) -> Result<Vec<T>, VaultError> {
    in_order_by_runs(items, RUN_LENGTH, compare, || deadline.step(), deadline)
}

/// The same in runs of another length, with `before` called before each comparison of a merge. In runs of one there are no
/// other comparisons.
pub(crate) fn in_order_by_runs<T: Copy>(
    mut items: Vec<T>,
    run: usize,
    compare: impl Fn(&T, &T) -> Ordering,
    before: impl Fn() -> Result<(), VaultError>,
    deadline: &Deadline,
) -> Result<Vec<T>, VaultError> {
    let run = run.max(1);
    for run in items.chunks_mut(run) {
        match run.len() {
            1 => deadline.step()?,
            _ => deadline.check()?,
        }
        run.sort_by(&compare);
    }
    let mut length = run;
    while length < items.len() {
        let mut merged = Vec::with_capacity(items.len());
        for pair in items.chunks(length * 2) {
            let (mut left, mut right) = pair.split_at(length.min(pair.len()));
            while let ([one, others @ ..], [other, rest @ ..]) = (left, right) {
                before()?;
                if compare(one, other) == Ordering::Greater {
                    merged.push(*other);
                    right = rest;
                } else {
                    merged.push(*one);
                    left = others;
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        items = merged;
        length *= 2;
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn runs_of_any_length_sort_as_one_stable_sort_does(
            items in prop::collection::vec((0..20_u32, any::<u32>()), 0..2000),
            run in 0..600_usize,
        ) {
            let by_first = |one: &(u32, u32), other: &(u32, u32)| one.0.cmp(&other.0);
            let none = Deadline::none();
            let sorted = in_order_by_runs(items.clone(), run, by_first, || none.step(), &none);
            let mut expected = items;
            expected.sort_by(by_first);
            prop_assert_eq!(sorted.ok(), Some(expected));
        }
    }

    #[test]
    fn a_sort_ends_at_the_deadline() {
        let items: Vec<u32> = (0..2000).collect();
        let refused = in_order(items, Ord::cmp, &Deadline::after(1000));
        assert_eq!(refused.unwrap_err().code(), "timeout");
    }
}
