//! Broken links, grouped by target.

use notehost_sdk::index::{Condition, Field, Has, Query, UnresolvedQuery};
use notehost_sdk::prelude::*;
use notehost_sdk::{Kind, fold_name, stem_of};

use crate::index_queries::{Place, folder};
use notehost_sdk::index::{Building, building, unfinished};
use notehost_sdk::pages::counted;
use notehost_sdk::pages::{Span, more};

/// The maximum number of places listed per missing target.
const MAX_PLACES: u32 = 5;
/// The maximum number of suggestions per target.
const MAX_SUGGESTIONS: usize = 3;
/// The minimum similarity of a suggestion.
const MIN_SIMILARITY: f64 = 0.82;
/// The similarity of names that differ by one letter or one transposition.
const TYPO_SIMILARITY: f64 = 0.9;
/// How many notes to fetch per index query.
const BATCH_SIZE: u32 = 500;

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
            true => Some(KnownNames::of(vault)?),
            false => None,
        };
        let items = found.items.into_iter().map(|missing| MissingTarget {
            suggestions: known.as_ref().map(|known| known.nearest(&missing.target)),
            target: missing.target,
            count: missing.count,
            places: missing
                .places
                .into_iter()
                .map(|place| Place {
                    path: place.path,
                    line: place.line,
                })
                .collect(),
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
        if output.total == 0 {
            return "no broken links".to_owned() + &unfinished(output.index.as_ref());
        }
        let mut text = format!(
            "{} to {}",
            counted(output.links, "link"),
            counted(output.total, "missing file")
        );
        for item in &output.items {
            text.push_str(&format!("\n{:>5}  {}", item.count, item.target));
            if let Some(place) = item.places.first() {
                text.push_str(&format!(" ({}, line {})", place.path, place.line));
            }
            if let Some([nearest, ..]) = item.suggestions.as_deref() {
                text.push_str(&format!("; perhaps {nearest}"));
            }
        }
        text + &more(output.next_cursor.as_ref()) + &unfinished(output.index.as_ref())
    }
}

/// The names and aliases of all files, for similarity search.
pub(crate) struct KnownNames {
    names: Vec<KnownName>,
}

struct KnownName {
    folded: String,
    length: usize,
    path: String,
}

impl KnownName {
    fn new(name: &str, path: String) -> KnownName {
        let folded = fold_name(name);
        KnownName {
            length: folded.chars().count(),
            folded,
            path,
        }
    }

    /// The similarity of the two names, from 0 to 1.
    fn similarity(&self, name: &str, length: usize) -> f64 {
        let similarity = strsim::jaro_winkler(name, &self.folded);
        // A single typo weighs too much in a short name.
        let is_typo = length > 2
            && self.length.abs_diff(length) <= 1
            && strsim::osa_distance(name, &self.folded) <= 1;
        if is_typo {
            similarity.max(TYPO_SIMILARITY)
        } else {
            similarity
        }
    }
}

impl KnownNames {
    pub(crate) fn of(vault: &Vault) -> Result<KnownNames> {
        let mut files = vault.list_all("", true)?;
        files.retain(|entry| entry.kind == Kind::File);
        let mut names: Vec<KnownName> = files
            .into_iter()
            .map(|entry| KnownName::new(stem_of(&entry.path), entry.path.clone()))
            .collect();
        let mut query = Query {
            condition: Some(Condition::Has(Has::Aliases)),
            limit: BATCH_SIZE,
            fields: vec![Field::Aliases],
            ..Query::default()
        };
        loop {
            let page = vault.find(&query)?;
            let is_last = page.items.is_empty();
            query.offset += page.items.len() as u64;
            for note in page.items {
                for alias in note.aliases.unwrap_or_default() {
                    names.push(KnownName::new(&alias, note.path.clone()));
                }
            }
            if is_last || query.offset >= page.total {
                return Ok(KnownNames { names });
            }
        }
    }

    /// The files whose names are most similar to a target.
    pub(crate) fn nearest(&self, target: &str) -> Vec<String> {
        let target = fold_name(stem_of(target));
        let length = target.chars().count();
        let mut near: Vec<(f64, &str)> = self
            .names
            .iter()
            // Names of very different length are not similar; this check is cheaper than the comparison.
            .filter(|name| name.length <= 2 * length + 2 && length <= 2 * name.length + 2)
            .map(|name| (name.similarity(&target, length), name.path.as_str()))
            .filter(|(similarity, _)| *similarity >= MIN_SIMILARITY)
            .collect();
        near.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(other.1)));
        let mut paths: Vec<String> = Vec::new();
        for (_, path) in near {
            if paths.len() < MAX_SUGGESTIONS && !paths.iter().any(|known| known == path) {
                paths.push(path.to_owned());
            }
        }
        paths
    }
}
