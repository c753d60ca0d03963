//! Links that lead nowhere, by what they name.

use notehost_sdk::index::{Condition, Field, Has, Query, UnresolvedQuery};
use notehost_sdk::prelude::*;
use notehost_sdk::{Kind, fold_name, stem_of};

use crate::asking::{Place, folder};
use notehost_sdk::index::{Building, building, unfinished};
use notehost_sdk::pages::counted;
use notehost_sdk::pages::{Span, more};

/// How many places of each missing target are told.
const PLACES: u32 = 5;
/// How many names are suggested for each.
const SUGGESTED: usize = 3;
/// Names less alike than this are no suggestion.
const ALIKE: f64 = 0.82;
/// How alike names are that differ by one letter, or two that changed places.
const SLIP: f64 = 0.9;
/// How many notes the index is asked for at once.
const AT_ONCE: u32 = 500;

/// List broken links by what they name: files that are not there, the most wanted first, with the places of the links.
///
/// Example: `{"suggest": true}`
#[args]
pub struct Unresolved {
    /// Only links in notes of this folder, or in this note.
    pub path: Option<String>,
    /// Also tell for each which files have the nearest names or aliases.
    #[serde(default)]
    pub suggest: bool,
    /// How many, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// What links name and is not there.
#[reply]
pub struct MissingPage {
    /// The missing targets, the most wanted first.
    pub items: Vec<MissingTarget>,
    /// For the next page.
    pub next_cursor: Option<String>,
    /// How many missing targets there are.
    pub total: u64,
    /// How many links lead to them.
    pub links: u64,
    /// Only while the index is being built.
    pub index: Option<Building>,
}

/// Something that links name and that is not there.
#[reply]
pub struct MissingTarget {
    /// As the first link names it. Fits `from` of `rewrite`.
    pub target: String,
    /// How many links lead to it.
    pub count: u64,
    /// Where the first five of them stand.
    pub places: Vec<Place>,
    /// Files with a similar name or alias, the nearest first; only with `suggest`.
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
            places: PLACES,
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
            "{} to {} that are not there",
            counted(output.links, "link"),
            counted(output.total, "file")
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

/// The names and aliases of all files, to compare others with.
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

    /// How alike the two are, from 0 to 1.
    fn likeness(&self, wanted: &str, length: usize) -> f64 {
        let alike = strsim::jaro_winkler(wanted, &self.folded);
        // A single slip of the finger weighs too much in a short name.
        let is_slip = length > 2
            && self.length.abs_diff(length) <= 1
            && strsim::osa_distance(wanted, &self.folded) <= 1;
        if is_slip { alike.max(SLIP) } else { alike }
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
            limit: AT_ONCE,
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

    /// The files whose names are most like that of a target.
    pub(crate) fn nearest(&self, target: &str) -> Vec<String> {
        let wanted = fold_name(stem_of(target));
        let length = wanted.chars().count();
        let mut near: Vec<(f64, &str)> = self
            .names
            .iter()
            // Names of very different length are not alike; saying so is cheaper than comparing them.
            .filter(|name| name.length <= 2 * length + 2 && length <= 2 * name.length + 2)
            .map(|name| (name.likeness(&wanted, length), name.path.as_str()))
            .filter(|(alike, _)| *alike >= ALIKE)
            .collect();
        near.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(other.1)));
        let mut paths: Vec<String> = Vec::new();
        for (_, path) in near {
            if paths.len() < SUGGESTED && !paths.iter().any(|known| known == path) {
                paths.push(path.to_owned());
            }
        }
        paths
    }
}
