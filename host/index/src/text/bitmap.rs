//! A set of doc ids: one bit per note.

/// A set of doc ids. It grows as it is filled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Bitmap {
    /// Invariant: the last word is not zero, so that equal sets are equal values.
    words: Vec<u64>,
}

impl Bitmap {
    /// No doc id.
    pub(crate) fn new() -> Bitmap {
        Bitmap::default()
    }

    /// Every doc id below this one.
    #[cfg(test)]
    pub(crate) fn all_below(end: u32) -> Bitmap {
        let mut words = vec![u64::MAX; end as usize / 64];
        if !end.is_multiple_of(64) {
            words.push((1 << (end % 64)) - 1);
        }
        Bitmap { words }
    }

    /// Whether a doc id is in it.
    #[inline]
    pub(crate) fn contains(&self, doc_id: u32) -> bool {
        self.words
            .get(doc_id as usize / 64)
            .is_some_and(|word| word >> (doc_id % 64) & 1 == 1)
    }

    /// Adds a doc id; returns whether it is new.
    pub(crate) fn insert(&mut self, doc_id: u32) -> bool {
        let at = doc_id as usize / 64;
        if at >= self.words.len() {
            self.words.resize(at + 1, 0);
        }
        let bit = 1 << (doc_id % 64);
        let is_new = self.words[at] & bit == 0;
        self.words[at] |= bit;
        is_new
    }

    /// Removes a doc id; returns whether it was present.
    pub(crate) fn remove(&mut self, doc_id: u32) -> bool {
        if !self.contains(doc_id) {
            return false;
        }
        self.words[doc_id as usize / 64] &= !(1 << (doc_id % 64));
        self.trim();
        true
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.words
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }

    /// How many are in both.
    pub(crate) fn len_of_both(&self, other: &Bitmap) -> usize {
        self.words
            .iter()
            .zip(&other.words)
            .map(|(left, right)| (left & right).count_ones() as usize)
            .sum()
    }

    /// Whether all of these are in the other set too.
    pub(crate) fn is_within(&self, other: &Bitmap) -> bool {
        self.words.len() <= other.words.len()
            && self
                .words
                .iter()
                .zip(&other.words)
                .all(|(left, right)| left & !right == 0)
    }

    /// Adds all of another set.
    pub(crate) fn extend_by(&mut self, other: &Bitmap) {
        if other.words.len() > self.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word |= other;
        }
    }

    /// Keeps only what is in another set too.
    pub(crate) fn keep_within(&mut self, other: &Bitmap) {
        self.words.truncate(other.words.len());
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= other;
        }
        self.trim();
    }

    /// Takes out what is in another set.
    pub(crate) fn remove_all(&mut self, other: &Bitmap) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= !other;
        }
        self.trim();
    }

    /// What is in both.
    pub(crate) fn and(&self, other: &Bitmap) -> Bitmap {
        let mut both = self.clone();
        both.keep_within(other);
        both
    }

    /// What is in either.
    pub(crate) fn or(&self, other: &Bitmap) -> Bitmap {
        let mut either = self.clone();
        either.extend_by(other);
        either
    }

    /// What is in this and not in the other.
    pub(crate) fn without(&self, other: &Bitmap) -> Bitmap {
        let mut rest = self.clone();
        rest.remove_all(other);
        rest
    }

    /// The doc ids, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().enumerate().flat_map(|(at, word)| {
            let base = at as u32 * 64;
            let mut rest = *word;
            std::iter::from_fn(move || {
                if rest == 0 {
                    return None;
                }
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                Some(base + bit)
            })
        })
    }

    fn trim(&mut self) {
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
    }
}

impl FromIterator<u32> for Bitmap {
    fn from_iter<I: IntoIterator<Item = u32>>(doc_ids: I) -> Bitmap {
        let mut set = Bitmap::new();
        for doc_id in doc_ids {
            set.insert(doc_id);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bitmap_operations_match_a_set(left in prop::collection::btree_set(0_u32..300, 0..60), right in prop::collection::btree_set(0_u32..300, 0..60)) {
            let (one, other): (Bitmap, Bitmap) = (left.iter().copied().collect(), right.iter().copied().collect());
            prop_assert_eq!(one.iter().collect::<BTreeSet<_>>(), left.clone());
            prop_assert_eq!(one.len(), left.len());
            prop_assert_eq!(one.len_of_both(&other), left.intersection(&right).count());
            prop_assert_eq!(one.is_within(&other), left.is_subset(&right));
            let mut sum = one.clone();
            sum.extend_by(&other);
            prop_assert_eq!(&sum, &left.union(&right).copied().collect());
            let mut both = one.clone();
            both.keep_within(&other);
            prop_assert_eq!(&both, &left.intersection(&right).copied().collect());
            let mut rest = one.clone();
            rest.remove_all(&other);
            prop_assert_eq!(&rest, &left.difference(&right).copied().collect());
            for doc_id in &left {
                let mut less = one.clone();
                prop_assert!(less.remove(*doc_id) && !less.contains(*doc_id) && !less.remove(*doc_id));
                prop_assert!(less.insert(*doc_id));
                prop_assert_eq!(&less, &one);
            }
        }

        #[test]
        fn all_below_contains_every_smaller_id(end in 0_u32..300) {
            prop_assert_eq!(Bitmap::all_below(end), (0..end).collect());
        }
    }
}
