//! Long lists in pages. A cursor tells how far a caller has come; what it is made of is nobody's business. Also what every
//! page says of the index it was made with.

use notehost_sdk::index::Progress;
use notehost_sdk::prelude::*;

/// How many a caller may ask for.
const MOST: u32 = 200;
/// What every cursor begins with, so that a guessed one is told apart.
const MARK: &str = "n";

/// Which part of a list is asked for.
pub(crate) struct Span {
    pub(crate) offset: u64,
    pub(crate) limit: u32,
}

impl Span {
    pub(crate) fn new(limit: Option<u32>, usual: u32, cursor: Option<&str>) -> Result<Span> {
        let limit = checked_limit(limit, usual)?;
        let offset = match cursor {
            None => 0,
            Some(cursor) => parse(cursor).ok_or_else(|| bad_cursor(cursor))?,
        };
        Ok(Span { offset, limit })
    }

    /// The cursor for what follows, of so many in all.
    pub(crate) fn next(&self, total: u64) -> Option<String> {
        let end = self.offset.saturating_add(self.limit.into());
        (total > end).then(|| format!("{MARK}{end:x}"))
    }

    /// The part of a list that is known as a whole.
    pub(crate) fn of<T>(&self, items: Vec<T>) -> Vec<T> {
        let begin = usize::try_from(self.offset).unwrap_or(usize::MAX);
        let part = items.into_iter().skip(begin).take(self.limit as usize);
        part.collect()
    }
}

/// How many items a page has, if that many may be asked for.
pub(crate) fn checked_limit(limit: Option<u32>, usual: u32) -> Result<u32> {
    match limit.unwrap_or(usual) {
        limit @ 1..=MOST => Ok(limit),
        limit => Err(Error::validation(format!(
            "`limit` is {limit}, and may be 1 to {MOST}"
        ))),
    }
}

/// The refusal of a cursor that was made up.
pub(crate) fn bad_cursor(cursor: &str) -> Error {
    Error::validation(format!(
        "`cursor` is `{cursor}`, which no reply gave: use a `next_cursor`, or leave it out to begin anew"
    ))
}

fn parse(cursor: &str) -> Option<u64> {
    let begin = u64::from_str_radix(cursor.strip_prefix(MARK)?, 16).ok()?;
    (begin > 0).then_some(begin)
}

/// The line that tells a reader of a text that a list goes on.
pub(crate) fn more(next_cursor: Option<&String>) -> String {
    next_cursor.map_or_else(String::new, |cursor| {
        format!("\nmore: call again with `cursor` \"{cursor}\"")
    })
}

/// That the index was not complete when a reply was made.
#[reply]
pub struct Unfinished {
    /// `building`.
    pub state: String,
    /// How many notes are in it.
    pub done: u64,
    /// How many notes there are.
    pub total: u64,
}

/// What to tell of the index: nothing once it is complete.
pub(crate) fn unfinished(vault: &Vault) -> Option<Unfinished> {
    let state = vault.index_state();
    (state.state != Progress::Ready).then(|| Unfinished {
        state: "building".to_owned(),
        done: state.done,
        total: state.total,
    })
}

/// The line that tells a reader of a text that notes may be missing.
pub(crate) fn still_building(index: Option<&Unfinished>) -> String {
    index.map_or_else(String::new, |index| {
        format!(
            "\nthe index is being built: {} of {} notes are in it, others may be missing here",
            index.done, index.total
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_follow_each_other_to_the_end() {
        let mut cursor = None;
        let mut seen = Vec::new();
        loop {
            let span = Span::new(Some(7), 20, cursor.as_deref()).unwrap();
            seen.extend(span.of((0..20).collect()));
            cursor = span.next(20);
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, (0..20).collect::<Vec<_>>());
    }

    #[test]
    fn a_made_up_cursor_or_limit_is_refused() {
        for cursor in ["", "n", "n0", "2", "nzz", "n-1"] {
            assert!(Span::new(None, 20, Some(cursor)).is_err(), "{cursor}");
        }
        for limit in [0, 201] {
            assert!(Span::new(Some(limit), 20, None).is_err(), "{limit}");
        }
    }
}
