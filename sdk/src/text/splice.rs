//! Replacement of byte ranges; all edits go through it.

use super::error::TextError;
use std::ops::Range;

/// The replacement of a byte range of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splice {
    /// The bytes to replace; empty for an insertion.
    pub range: Range<usize>,
    /// The replacement.
    pub with: String,
}

impl Splice {
    /// Replaces `range` by `with`.
    pub fn replace(range: Range<usize>, with: impl Into<String>) -> Self {
        Self {
            range,
            with: with.into(),
        }
    }

    /// Inserts `with` before the byte `at`.
    pub fn insert(at: usize, with: impl Into<String>) -> Self {
        Self::replace(at..at, with)
    }

    /// Deletes `range`.
    pub fn delete(range: Range<usize>) -> Self {
        Self::replace(range, String::new())
    }
}

/// Applies splices, in any order, to a text. Insertions at the same place keep their order.
///
/// # Errors
/// [`TextError::BadSplice`] if one is out of bounds, splits a character or overlaps another.
pub fn apply(text: &str, mut splices: Vec<Splice>) -> Result<String, TextError> {
    splices.sort_by_key(|splice| (splice.range.start, splice.range.end));
    let mut result = String::with_capacity(
        text.len()
            + splices
                .iter()
                .map(|splice| splice.with.len())
                .sum::<usize>(),
    );
    let mut copied = 0;
    for splice in &splices {
        let Range { start, end } = splice.range;
        let bad = || TextError::BadSplice {
            start,
            end,
            length: text.len(),
        };
        if start < copied || end < start {
            return Err(bad());
        }
        text.get(start..end).ok_or_else(bad)?;
        result.push_str(text.get(copied..start).ok_or_else(bad)?);
        result.push_str(&splice.with);
        copied = end;
    }
    result.push_str(&text[copied..]);
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splices_apply_at_their_ranges() {
        let splices = vec![
            Splice::delete(4..5),
            Splice::insert(0, "«"),
            Splice::replace(1..3, "語"),
            Splice::insert(0, "‹"),
        ];
        assert_eq!(apply("abcde", splices).unwrap(), "«‹a語d");
    }

    #[test]
    fn out_of_bounds_and_overlapping_splices_are_rejected() {
        assert!(apply("語", vec![Splice::insert(1, "x")]).is_err());
        assert!(apply("abc", vec![Splice::delete(0..2), Splice::delete(1..3)]).is_err());
        assert!(apply("abc", vec![Splice::insert(4, "x")]).is_err());
    }
}
