//! Notes that nothing leads to.

use notehost_sdk::index::{Condition, Field, Has, Query, Sort, SortBy};
use notehost_sdk::prelude::*;

use crate::asking::folder;
use notehost_sdk::index::{Building, building, unfinished};
use notehost_sdk::pages::counted;
use notehost_sdk::pages::{Span, more};

/// List orphans: notes that no other note links to and that link to none.
///
/// Example: `{}`
#[args]
pub struct Orphans {
    /// Only notes in this folder.
    pub path: Option<String>,
    /// Also notes that link to others, as long as nothing links to them.
    #[serde(default)]
    pub incoming_only: bool,
    /// How many, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// Notes that nothing leads to.
#[reply]
pub struct OrphanPage {
    /// The notes, by path.
    pub items: Vec<Orphan>,
    /// For the next page.
    pub next_cursor: Option<String>,
    /// How many there are.
    pub total: u64,
    /// Only while the index is being built.
    pub index: Option<Building>,
}

/// A note that nothing leads to.
#[reply]
pub struct Orphan {
    /// The note.
    pub path: String,
    /// In bytes.
    pub size: u64,
    /// How many links it has to files that are there; always 0 without `incoming_only`.
    pub outgoing: u32,
}

/// What an orphan must fulfil.
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
            sort: vec![Sort {
                by: SortBy::Path,
                descending: false,
            }],
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
        let mut text = counted(output.total, "note") + " that nothing leads to";
        for item in &output.items {
            text.push_str(&format!("\n{}", item.path));
        }
        text + &more(output.next_cursor.as_ref()) + &unfinished(output.index.as_ref())
    }
}
