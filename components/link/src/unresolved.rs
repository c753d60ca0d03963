//! Broken links, grouped by target.

use notehost_sdk::index::{Building, Condition, Field, Has, Query, UnresolvedQuery, building};
use notehost_sdk::nearest::KnownNames;
use notehost_sdk::pages::{Span, counted};
use notehost_sdk::prelude::*;
use notehost_sdk::{Kind, stem_of};

use crate::index_queries::{Place, folder};

/// The maximum number of places listed per missing target.
const MAX_PLACES: u32 = 5;
/// The maximum number of suggestions per target.
const MAX_SUGGESTIONS: usize = 3;
/// The minimum similarity of a suggestion.
const MIN_SIMILARITY: f64 = 0.82;

/// List broken links by missing target, the most wanted first, with the places of the links.
///
/// Example: `{"suggest": true}`
#[args]
pub struct Unresolved {
    /// Only links in this folder or note.
    pub path: Option<String>,
    /// Also suggest files with similar names or aliases for each.
    #[serde(default)]
    pub suggest: bool,
    /// Page size, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// A page of missing targets.
#[reply]
pub struct MissingPage {
    /// The missing targets, the most linked first.
    pub items: Vec<MissingTarget>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Total number of missing targets.
    pub total: u64,
    /// Total number of links to them.
    pub links: u64,
    /// Present while the index is being built.
    pub index: Option<Building>,
}

/// A missing target of links.
#[reply]
pub struct MissingTarget {
    /// As written in the first link. Accepted as `from` by `rewrite`.
    pub target: String,
    /// Number of links to it.
    pub count: u64,
    /// The places of the first five of them.
    pub places: Vec<Place>,
    /// Files with a similar name or alias, the most similar first; only with `suggest`.
    pub suggestions: Option<Vec<String>>,
}

impl Action for Unresolved {
    type Output = MissingPage;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<MissingPage> {
        let span = Span::new(self.limit, self.cursor.as_deref())?;
        let found = vault.unresolved(&UnresolvedQuery {
            under: folder(vault, self.path.as_deref())?,
            offset: span.begin as u64,
            limit: span.count(),
            places: MAX_PLACES,
        })?;
        let next_cursor = span.next(found.items.len(), found.total);
        let known = match self.suggest && !found.items.is_empty() {
            true => Some(KnownFiles::of(vault)?),
            false => None,
        };
        let items = found.items.into_iter().map(|missing| MissingTarget {
            suggestions: known.as_ref().map(|known| known.nearest(&missing.target)),
            target: missing.target,
            count: missing.count,
            places: missing.places.into_iter().map(Place::from).collect(),
        });
        Ok(MissingPage {
            items: items.collect(),
            next_cursor,
            total: found.total,
            links: found.links,
            index: building(vault),
        })
    }

    fn text(output: &MissingPage) -> String {
        let (links, files) = (
            counted(output.links, "link"),
            counted(output.total, "missing file"),
        );
        let first = match output.total {
            0 => "no broken links".to_owned(),
            _ => format!("{links} to {files}"),
        };
        let line = |item: &MissingTarget| {
            let place = item.places.first();
            let nearest = item.suggestions.as_ref().and_then(|names| names.first());
            ReplyText::new(format!("{:>5}  {}", item.count, item.target))
                .and(place.map(|place| format!(" ({}, line {})", place.path, place.line)))
                .and(nearest.map(|nearest| format!("; perhaps {nearest}")))
        };
        ReplyText::new(first)
            .lines(&output.items, line)
            .more(&output.next_cursor)
            .unfinished(&output.index)
            .into()
    }
}

/// The files with similar names or aliases.
pub(crate) struct KnownFiles(KnownNames<String>);

impl KnownFiles {
    pub(crate) fn of(vault: &Vault) -> Result<KnownFiles> {
        let mut files = vault.list_all("", true)?;
        files.retain(|entry| entry.kind == Kind::File);
        let mut names: KnownNames<String> = files
            .into_iter()
            .map(|entry| (stem_of(&entry.path).to_owned(), entry.path))
            .collect();
        for note in vault.find_all(Query {
            condition: Some(Condition::Has(Has::Aliases)),
            fields: vec![Field::Aliases],
            ..Query::default()
        }) {
            let note = note?;
            for alias in note.aliases.unwrap_or_default() {
                names.add(&alias, note.path.clone());
            }
        }
        Ok(KnownFiles(names))
    }

    /// The files whose names are most similar to a target.
    pub(crate) fn nearest(&self, target: &str) -> Vec<String> {
        let near = self
            .0
            .nearest(stem_of(target), MIN_SIMILARITY, MAX_SUGGESTIONS);
        near.into_iter().cloned().collect()
    }
}
