//! The only place where bytes of a note change.

use super::error::TextError;
use std::ops::Range;

/// Bytes of a text that are to be replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splice {
    /// The bytes that go. Empty: something is inserted there.
    pub range: Range<usize>,
    /// What comes in their place.
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

    /// Takes `range` out.
    pub fn delete(range: Range<usize>) -> Self {
        Self::replace(range, String::new())
    }
}

/// Applies splices, given in any order, to a text. Those at the same place keep the order they were given in.
///
/// # Errors
/// [`TextError::BadSplice`] where one lies outside the text, cuts a character in two or overlaps another.
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
    fn splices_land_where_they_say() {
        let splices = vec![
            Splice::delete(4..5),
            Splice::insert(0, "«"),
            Splice::replace(1..3, "語"),
            Splice::insert(0, "‹"),
        ];
        assert_eq!(apply("abcde", splices).unwrap(), "«‹a語d");
    }

    #[test]
    fn a_splice_that_cuts_a_character_or_another_splice_is_refused() {
        assert!(apply("語", vec![Splice::insert(1, "x")]).is_err());
        assert!(apply("abc", vec![Splice::delete(0..2), Splice::delete(1..3)]).is_err());
        assert!(apply("abc", vec![Splice::insert(4, "x")]).is_err());
    }
}
