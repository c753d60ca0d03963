//! All results of an index query. They are fetched page by page, because a vault may have very many notes.

use crate::index::{
    Backlink, BacklinksQuery, FoundNote, Missing, Query, Sort, SortBy, UnresolvedQuery,
};
use crate::{Result, Vault};

/// The number of results per page, if a query has no `limit`.
const PAGE_SIZE: u32 = 500;

impl Vault {
    /// Every note that a query finds. Its `limit` is the number of notes to fetch at once; 0 is the default.
    pub fn find_all(&self, mut query: Query) -> impl Iterator<Item = Result<FoundNote>> {
        query.limit = page_size(query.limit);
        all_pages(query.offset, move |offset| {
            query.offset = offset;
            let found = self.find(&query)?;
            Ok((found.items, found.total))
        })
    }

    /// Every link to a file.
    pub fn all_backlinks(&self, path: &str) -> impl Iterator<Item = Result<Backlink>> {
        let mut query = BacklinksQuery {
            path: path.to_owned(),
            offset: 0,
            limit: PAGE_SIZE,
        };
        all_pages(0, move |offset| {
            query.offset = offset;
            let found = self.backlinks(&query)?;
            Ok((found.items, found.total))
        })
    }

    /// Every missing target that a query finds. Its `limit` is the number of targets to fetch at once; 0 is the default.
    pub fn all_unresolved(
        &self,
        mut query: UnresolvedQuery,
    ) -> impl Iterator<Item = Result<Missing>> {
        query.limit = page_size(query.limit);
        all_pages(query.offset, move |offset| {
            query.offset = offset;
            let found = self.unresolved(&query)?;
            Ok((found.items, found.total))
        })
    }
}

impl Sort {
    /// The order by path.
    pub fn by_path() -> Vec<Sort> {
        vec![Sort {
            by: SortBy::Path,
            descending: false,
        }]
    }
}

fn page_size(limit: u32) -> u32 {
    match limit {
        0 => PAGE_SIZE,
        limit => limit,
    }
}

/// The items of all pages from an offset on. `fetch` returns the page at an offset, and the total number of items.
fn all_pages<T>(
    offset: u64,
    fetch: impl FnMut(u64) -> Result<(Vec<T>, u64)>,
) -> impl Iterator<Item = Result<T>> {
    AllPages {
        fetch,
        next: Some(offset),
        page: Vec::new().into_iter(),
    }
}

struct AllPages<T, F> {
    fetch: F,
    /// The offset of the next page, if there may be one.
    next: Option<u64>,
    page: std::vec::IntoIter<T>,
}

impl<T, F: FnMut(u64) -> Result<(Vec<T>, u64)>> Iterator for AllPages<T, F> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Result<T>> {
        loop {
            if let Some(item) = self.page.next() {
                return Some(Ok(item));
            }
            let offset = self.next.take()?;
            match (self.fetch)(offset) {
                Ok((items, total)) => {
                    let end = offset + items.len() as u64;
                    // Notes may disappear between two pages, so the total alone does not end the loop.
                    self.next = (!items.is_empty() && end < total).then_some(end);
                    self.page = items.into_iter();
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn pages_are_fetched_until_the_last_item() {
        let items: Vec<u64> = (0..7).collect();
        let mut fetched = Vec::new();
        let pages = all_pages(2, |offset| {
            fetched.push(offset);
            let rest = items.iter().skip(offset as usize);
            Ok((rest.take(3).copied().collect(), 7))
        });
        assert_eq!(pages.collect::<Result<Vec<_>>>().unwrap(), [2, 3, 4, 5, 6]);
        assert_eq!(fetched, [2, 5]);
    }

    #[test]
    fn a_page_without_items_is_the_last_one() {
        assert_eq!(all_pages(0, |_| Ok((Vec::<u8>::new(), 9))).count(), 0);
    }

    #[test]
    fn nothing_follows_an_error() {
        let mut pages = all_pages(0, |_| Err::<(Vec<u8>, u64), _>(Error::conflict("changed")));
        assert!(pages.next().unwrap().is_err());
        assert!(pages.next().is_none());
    }
}
