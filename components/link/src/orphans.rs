//! Notes that no other note links to.

use notehost_sdk::index::{Building, Condition, Field, Has, Query, Sort, building};
use notehost_sdk::pages::{Span, counted};
use notehost_sdk::prelude::*;

use crate::index_queries::folder;

/// List orphans: notes that no other note links to and that link to none.
///
/// Example: `{}`
#[args]
pub struct Orphans {
    /// Only notes in this folder.
    pub path: Option<String>,
    /// Also notes that link to others but have no incoming links.
    #[serde(default)]
    pub incoming_only: bool,
    /// Page size, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// A page of orphans.
#[reply]
pub struct OrphanPage {
    /// The notes, by path.
    pub items: Vec<Orphan>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Total number of results.
    pub total: u64,
    /// Present while the index is being built.
    pub index: Option<Building>,
}

/// A note that no other note links to.
#[reply]
pub struct Orphan {
    /// The note.
    pub path: String,
    /// Size in bytes.
    pub size: u64,
    /// Number of its links to existing files; always 0 without `incoming_only`.
    pub outgoing: u32,
}

/// The condition for orphans.
pub(crate) fn condition(under: String, incoming_only: bool) -> Condition {
    let not = |has: Has| Condition::Not(Box::new(Condition::Has(has)));
    let mut all = vec![Condition::Under(under), not(Has::Backlinks)];
    if !incoming_only {
        all.push(not(Has::Links));
    }
    Condition::All(all)
}

impl Action for Orphans {
    type Output = OrphanPage;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<OrphanPage> {
        let span = Span::new(self.limit, self.cursor.as_deref())?;
        let under = folder(vault, self.path.as_deref())?;
        let found = vault.find(&Query {
            condition: Some(condition(under, self.incoming_only)),
            sort: Sort::by_path(),
            offset: span.begin as u64,
            limit: span.count(),
            fields: vec![Field::Size, Field::Degree],
            ..Query::default()
        })?;
        let next_cursor = span.next(found.items.len(), found.total);
        let items = found.items.into_iter().map(|note| Orphan {
            size: note.size.unwrap_or_default(),
            outgoing: note.degree.unwrap_or_default().outgoing,
            path: note.path,
        });
        Ok(OrphanPage {
            items: items.collect(),
            next_cursor,
            total: found.total,
            index: building(vault),
        })
    }

    fn text(output: &OrphanPage) -> String {
        ReplyText::new(counted(output.total, "orphan"))
            .lines(&output.items, |item| &item.path)
            .more(&output.next_cursor)
            .unfinished(&output.index)
            .into()
    }
}
