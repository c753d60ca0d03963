//! Pagination. A cursor is the name of the last returned item, so it stays valid when other items change.

use notehost_sdk::prelude::*;

const DEFAULT_LIMIT: usize = 50;
const MAX_LIMIT: usize = 500;

/// One page of a list.
pub(crate) struct Page<T> {
    pub(crate) items: Vec<T>,
    pub(crate) next: Option<String>,
    pub(crate) total: usize,
}

/// The page after a cursor.
pub(crate) fn page<T>(
    items: Vec<T>,
    limit: Option<usize>,
    cursor: Option<&str>,
    name: impl Fn(&T) -> &str,
) -> Result<Page<T>> {
    let limit = match limit.unwrap_or(DEFAULT_LIMIT) {
        0 => {
            return Err(Error::validation(
                "invalid `limit` `0`: expected at least 1",
            ));
        }
        limit => limit.min(MAX_LIMIT),
    };
    let begin = match cursor {
        None => 0,
        Some(cursor) => match items.iter().position(|item| name(item) == cursor) {
            Some(at) => at + 1,
            None => {
                return Err(Error::validation(format!(
                    "invalid `cursor` `{cursor}`: not in this list or no longer valid; omit it to start again"
                )));
            }
        },
    };
    let total = items.len();
    let items: Vec<T> = items.into_iter().skip(begin).take(limit).collect();
    let has_more = begin + items.len() < total;
    let next = items.last().filter(|_| has_more);
    Ok(Page {
        next: next.map(|last| name(last).to_owned()),
        items,
        total,
    })
}

/// The last line of a page's text, if there is another page.
pub(crate) fn more(shown: usize, total: usize, next: Option<&String>) -> String {
    match next {
        None => String::new(),
        Some(next) => format!("\n… {shown} of {total}; next page: `cursor` `{next}`"),
    }
}
