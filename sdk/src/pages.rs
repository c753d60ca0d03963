//! Pagination of long lists. Cursors are opaque to callers.

use crate::{Error, Result};

/// Items per page if the caller sets no `limit`.
const DEFAULT_LIMIT: usize = 50;
/// The largest `limit`.
const MAX_LIMIT: usize = 500;
/// The prefix of every cursor; a value without it is rejected.
const CURSOR_PREFIX: &str = "n";

/// The requested part of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The number of items before it.
    pub begin: usize,
    /// The maximum number of items in it.
    pub limit: usize,
}

impl Span {
    /// The part that `limit` and `cursor` select, with the default limits.
    pub fn new(limit: Option<usize>, cursor: Option<&str>) -> Result<Span> {
        Span::within(limit, DEFAULT_LIMIT, MAX_LIMIT, cursor)
    }

    /// Like [`Span::new`], with another default and maximum limit.
    pub fn within(
        limit: Option<usize>,
        default: usize,
        max: usize,
        cursor: Option<&str>,
    ) -> Result<Span> {
        Ok(Span {
            limit: checked_limit(limit, default, max)?,
            begin: match cursor {
                None => 0,
                Some(cursor) => parse_cursor(cursor).ok_or_else(|| unknown_cursor(cursor))?,
            },
        })
    }

    /// The number of items before it, as an index query takes it.
    pub fn offset(&self) -> u64 {
        self.begin as u64
    }

    /// The limit, as an index query takes it.
    pub fn count(&self) -> u32 {
        u32::try_from(self.limit).unwrap_or(u32::MAX)
    }

    /// One item more than this part ends with: fetching that many shows whether more follow.
    pub fn needed(&self) -> u32 {
        u32::try_from(self.begin.saturating_add(self.limit + 1)).unwrap_or(u32::MAX)
    }

    /// The cursor after a page of `shown` items out of `total`, if more follow.
    pub fn next(&self, shown: usize, total: u64) -> Option<String> {
        let end = self.begin.saturating_add(shown);
        (shown > 0 && (end as u64) < total).then(|| cursor_at(end))
    }

    /// This part of a list, and the cursor of the next part.
    pub fn of<T>(&self, items: Vec<T>) -> (Vec<T>, Option<String>) {
        let total = items.len() as u64;
        let part: Vec<T> = items
            .into_iter()
            .skip(self.begin)
            .take(self.limit)
            .collect();
        let next = self.next(part.len(), total);
        (part, next)
    }
}

/// The page size for a `limit` argument.
///
/// # Errors
/// `validation_error` for a limit that is not 1 to `max`.
pub fn checked_limit(limit: Option<usize>, default: usize, max: usize) -> Result<usize> {
    let limit = limit.unwrap_or(default);
    if (1..=max).contains(&limit) {
        return Ok(limit);
    }
    Err(Error::validation(format!(
        "`limit` is {limit}; it must be 1 to {max}"
    )))
}

/// The error for a cursor that no reply returned.
pub fn unknown_cursor(cursor: &str) -> Error {
    Error::validation(format!(
        "invalid `cursor`: `{cursor}`; use the `next_cursor` of a reply, or omit it to start from the beginning"
    ))
}

/// The cursor of an item.
pub fn cursor_at(begin: usize) -> String {
    format!("{CURSOR_PREFIX}{begin:x}")
}

/// The item of a cursor.
pub fn parse_cursor(cursor: &str) -> Option<usize> {
    let digits = cursor.strip_prefix(CURSOR_PREFIX)?;
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let begin = usize::from_str_radix(digits, 16)
        .ok()
        .filter(|_| is_plain)?;
    (begin > 0).then_some(begin)
}

/// The last line of a text reply whose list has more items.
pub fn more(next_cursor: Option<&String>) -> String {
    next_cursor.map_or_else(String::new, |cursor| {
        format!("\nmore: call again with `cursor` \"{cursor}\"")
    })
}

/// `1 link`, `2 links`.
pub fn counted(number: u64, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_cover_the_whole_list() {
        let mut cursor = None;
        let mut seen = Vec::new();
        loop {
            let span = Span::new(Some(7), cursor.as_deref()).unwrap();
            let (part, next) = span.of((0..20).collect());
            seen.extend(part);
            cursor = next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, (0..20).collect::<Vec<_>>());
    }

    #[test]
    fn invalid_cursors_and_limits_are_rejected() {
        for cursor in ["", "n", "n0", "2", "nzz", "n-1", "n+1"] {
            assert!(Span::new(None, Some(cursor)).is_err(), "{cursor}");
        }
        for limit in [0, 501] {
            assert!(Span::new(Some(limit), None).is_err(), "{limit}");
        }
    }
}
