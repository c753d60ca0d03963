//! Long lists in pages. A cursor tells how far a caller has come; what it is made of is nobody's business.

use crate::{Error, Result};

/// How many items a page has unless the caller says.
const USUAL: usize = 50;
/// How many a caller may ask for.
const MOST: usize = 500;
/// What every cursor begins with, so that a guessed one is told apart.
const MARK: &str = "n";

/// Which part of a list is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// How many items come before it.
    pub begin: usize,
    /// How many items it may have.
    pub limit: usize,
}

impl Span {
    /// What `limit` and `cursor` ask for.
    pub fn new(limit: Option<usize>, cursor: Option<&str>) -> Result<Span> {
        Span::within(limit, USUAL, MOST, cursor)
    }

    /// The same with another usual and greatest size of a page.
    pub fn within(
        limit: Option<usize>,
        usual: usize,
        most: usize,
        cursor: Option<&str>,
    ) -> Result<Span> {
        Ok(Span {
            limit: checked_limit(limit, usual, most)?,
            begin: match cursor {
                None => 0,
                Some(cursor) => parse_cursor(cursor).ok_or_else(|| unknown_cursor(cursor))?,
            },
        })
    }

    /// How many come before it, as the index takes it.
    pub fn offset(&self) -> u64 {
        self.begin as u64
    }

    /// The limit, as the index takes it.
    pub fn count(&self) -> u32 {
        u32::try_from(self.limit).unwrap_or(u32::MAX)
    }

    /// One more than the last item of this part, so that asking for so many tells whether more follow.
    pub fn needed(&self) -> u32 {
        u32::try_from(self.begin.saturating_add(self.limit + 1)).unwrap_or(u32::MAX)
    }

    /// The cursor for what follows a page of so many items, of so many in all.
    pub fn next(&self, shown: usize, total: u64) -> Option<String> {
        let end = self.begin.saturating_add(shown);
        (shown > 0 && (end as u64) < total).then(|| cursor_at(end))
    }

    /// The part of a list, and the cursor for what follows it.
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

/// How many items a page has, if that many may be asked for.
pub fn checked_limit(limit: Option<usize>, usual: usize, most: usize) -> Result<usize> {
    let limit = limit.unwrap_or(usual);
    if (1..=most).contains(&limit) {
        return Ok(limit);
    }
    Err(Error::validation(format!(
        "`limit` is {limit}, and may be 1 to {most}"
    )))
}

/// The refusal of a cursor that was made up.
pub fn unknown_cursor(cursor: &str) -> Error {
    Error::validation(format!(
        "`cursor` is `{cursor}`, which no reply gave: use a `next_cursor`, or leave it out to begin anew"
    ))
}

/// The cursor that leads to an item.
pub fn cursor_at(begin: usize) -> String {
    format!("{MARK}{begin:x}")
}

/// The item that a cursor leads to.
pub fn parse_cursor(cursor: &str) -> Option<usize> {
    let digits = cursor.strip_prefix(MARK)?;
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let begin = usize::from_str_radix(digits, 16)
        .ok()
        .filter(|_| is_plain)?;
    (begin > 0).then_some(begin)
}

/// The line that tells a reader of a text that a list goes on.
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
    fn pages_follow_each_other_to_the_end() {
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
    fn a_made_up_cursor_or_limit_is_refused() {
        for cursor in ["", "n", "n0", "2", "nzz", "n-1", "n+1"] {
            assert!(Span::new(None, Some(cursor)).is_err(), "{cursor}");
        }
        for limit in [0, 501] {
            assert!(Span::new(Some(limit), None).is_err(), "{limit}");
        }
    }
}
