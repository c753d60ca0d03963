//! Notes by modification time.

use notehost_sdk::dates;
use notehost_sdk::index::{
    Building, Condition, Field, Query, Sort, SortBy, Span as Between, building,
};
use notehost_sdk::pages::Span;
use notehost_sdk::prelude::*;

use crate::MAX_PAGE_SIZE;
use crate::restrictions;

/// List recent notes: those changed last, the latest first.
///
/// Example: `{"since": "-7d"}`
#[args]
pub struct Recent {
    /// Folder, note or glob.
    pub path: Option<String>,
    /// Only changes since: `2024-05-31`, `today`, `-7d`, `-12h`.
    pub since: Option<String>,
    /// Page size, 1–200 (default 20).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// Recently changed notes.
#[reply]
pub struct RecentNotes {
    /// The notes.
    pub items: Vec<RecentNote>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Number of results on all pages.
    pub total: u64,
    /// Present while the index is being built: notes may be missing.
    pub index: Option<Building>,
}

/// A note that was changed.
#[reply]
pub struct RecentNote {
    /// The note.
    pub path: String,
    /// The time of the last change.
    pub modified: String,
    /// Size in bytes.
    pub size: u64,
}

impl Action for Recent {
    type Output = RecentNotes;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<RecentNotes> {
        let span = Span::within(self.limit, 20, MAX_PAGE_SIZE, self.cursor.as_deref())?;
        let mut conditions = Vec::new();
        conditions.extend(restrictions::path_condition(vault, self.path.as_deref())?);
        if let Some(since) = &self.since {
            let time = dates::parse_time_range(since, &vault.now()).ok_or_else(|| {
                Error::validation(format!(
                    "`since` is `{since}`, expected {}",
                    dates::TIME_FORMATS
                ))
            })?;
            conditions.push(Condition::Modified(Between {
                from: Some(time.from),
                to: None,
            }));
        }
        let found = vault.find(&Query {
            condition: Some(restrictions::all_of(conditions)),
            sort: vec![Sort {
                by: SortBy::Modified,
                descending: true,
            }],
            offset: span.offset(),
            limit: span.count(),
            fields: vec![Field::Modified, Field::Size],
            snippets: 0,
        })?;
        Ok(RecentNotes {
            next_cursor: span.next(span.limit, found.total),
            total: found.total,
            items: found
                .items
                .into_iter()
                .map(|note| RecentNote {
                    path: note.path,
                    modified: dates::iso(note.modified.unwrap_or_default()),
                    size: note.size.unwrap_or_default(),
                })
                .collect(),
            index: building(vault),
        })
    }

    fn text(output: &RecentNotes) -> String {
        let first = match output.total {
            0 => "no notes were changed in that time".to_owned(),
            total => format!("{} of {total}:", output.items.len()),
        };
        ReplyText::new(first)
            .lines(&output.items, |note| {
                format!("{}  {}", note.modified, note.path)
            })
            .unfinished(&output.index)
            .more(&output.next_cursor)
            .into()
    }
}
