//! Suggestions for missing links of a note.

use std::collections::BTreeMap;

use notehost_sdk::index::{BacklinksQuery, Building, Condition, Field, NameAt, Query, building};
use notehost_sdk::is_note;
use notehost_sdk::pages::{Span, counted};
use notehost_sdk::prelude::*;
use notehost_sdk::text::body;

use crate::index_queries::{indexed, shortest_name};
use crate::mentions::{Mention, Prose};

/// How many similar notes to fetch.
const SIMILAR_CANDIDATES: u32 = 40;
/// The maximum number of similar notes to suggest.
const MAX_SIMILAR: usize = 10;
/// The minimum score of a similar note, relative to the best one.
const MIN_RELATIVE_SCORE: f64 = 0.3;
/// The maximum number of backlinks to fetch.
const MAX_BACKLINKS: u32 = 1000;

/// Suggest links for a note: other notes whose name or alias occurs in it unlinked, then similar notes that it is not
/// linked with. Changes nothing: use `document` `edit` to add a link.
///
/// Example: `{"path": "Garden/Sowing calendar"}`
#[args]
pub struct Suggest {
    /// The note: path, unique name or `[[link]]`.
    pub path: String,
    /// Page size, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// Link suggestions for a note.
#[reply]
pub struct Suggestions {
    /// The note.
    pub path: String,
    /// Mentions in text order, then similar notes, the most similar first.
    pub items: Vec<Suggestion>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Total number of results.
    pub total: usize,
    /// Present while the index is being built.
    pub index: Option<Building>,
}

/// Why a link is suggested.
#[reply]
#[derive(Copy, PartialEq, Eq)]
pub enum Reason {
    /// This note mentions the other's name.
    Name,
    /// This note mentions one of its aliases.
    Alias,
    /// The two notes share distinctive words.
    Similar,
}

/// A suggested link.
#[reply]
pub struct Suggestion {
    /// The note that would get the link.
    pub path: String,
    /// The line of the mention; missing for a similar note.
    pub line: Option<u32>,
    /// The note to link to.
    pub to: String,
    /// The reason.
    pub reason: Reason,
    /// The words that mention it.
    pub mention: Option<String>,
    /// Number of mentions.
    pub count: Option<usize>,
    /// The link to write instead.
    pub link: String,
    /// For a mention its line; for a similar note a matching line.
    pub snippet: Option<String>,
    /// Similarity score; comparable only within one reply.
    pub score: Option<f64>,
    /// Other notes with the same name or alias.
    pub rivals: Option<Vec<String>>,
}

impl Action for Suggest {
    type Output = Suggestions;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Suggestions> {
        let span = Span::new(self.limit, self.cursor.as_deref())?;
        let note = vault.read_note(&self.path)?;
        let linked = linked_with(vault, &note.path)?;
        let mut items = mentioned(vault, &note, &linked.out)?;
        let is_known = |path: &str, items: &[Suggestion]| {
            let either = linked.out.iter().chain(&linked.into);
            either.clone().any(|known| known == path) || items.iter().any(|item| item.to == path)
        };
        let mut similar = similar(vault, &note)?;
        similar.retain(|item| !is_known(&item.to, &items));
        similar.truncate(MAX_SIMILAR);
        items.extend(similar);
        let total = items.len();
        let (items, next_cursor) = span.of(items);
        Ok(Suggestions {
            path: note.path,
            items,
            next_cursor,
            total,
            index: building(vault),
        })
    }

    fn text(output: &Suggestions) -> String {
        let line = |item: &Suggestion| {
            let is_alias = item.line.is_some() && item.reason == Reason::Alias;
            let place = match item.line {
                Some(line) => format!("{line:>5}"),
                None => "similar".to_owned(),
            };
            ReplyText::new(format!("{place}  {} → {}", item.link, item.to))
                .and(is_alias.then_some(" (alias)"))
        };
        let suggestions = counted(output.total as u64, "suggestion");
        ReplyText::new(format!("{suggestions} for `{}`", output.path))
            .lines(&output.items, line)
            .more(&output.next_cursor)
            .unfinished(&output.index)
            .into()
    }
}

/// The files that a note links to or that link to it.
struct LinkedFiles {
    out: Vec<String>,
    into: Vec<String>,
}

fn linked_with(vault: &Vault, path: &str) -> Result<LinkedFiles> {
    let links = indexed(vault, path, vec![Field::Links])?.links;
    let out = links.unwrap_or_default();
    let into = vault.backlinks(&BacklinksQuery {
        path: path.to_owned(),
        offset: 0,
        limit: MAX_BACKLINKS,
    })?;
    Ok(LinkedFiles {
        out: out.into_iter().filter_map(|link| link.path).collect(),
        into: into.items.into_iter().map(|link| link.path).collect(),
    })
}

/// Notes that are mentioned but not linked, by their first mention.
fn mentioned(vault: &Vault, note: &Note, linked: &[String]) -> Result<Vec<Suggestion>> {
    let prose = Prose::of(&note.text);
    let mut places: BTreeMap<(usize, usize), Vec<NameAt>> = BTreeMap::new();
    for name in vault.names_in(&note.text)? {
        // The note's own name also occupies its range, so that shorter names in it do not match.
        if is_note(&name.path) {
            let place = (name.start as usize, name.end as usize);
            places.entry(place).or_default().push(name);
        }
    }
    let ranges = places.keys().map(|(start, end)| *start..*end).collect();
    let mentions = prose.mentions(ranges);
    places.retain(|(start, end), names| {
        mentions.contains(&(*start..*end)) && names.iter().all(|name| name.path != note.path)
    });
    let mut found: Vec<(NameAt, Mention, Vec<String>, usize)> = Vec::new();
    for ((start, end), names) in places {
        // An ambiguous name counts as linked if any of its notes is linked.
        if names.iter().any(|name| linked.contains(&name.path)) {
            continue;
        }
        let target = preferred(vault, &names, &note.path)?;
        match found
            .iter_mut()
            .find(|(known, ..)| known.path == target.path)
        {
            Some((.., count)) => *count += 1,
            None => {
                let rivals = names
                    .iter()
                    .filter(|name| name.path != target.path)
                    .map(|name| name.path.clone())
                    .collect();
                found.push((target.clone(), prose.mention(start..end), rivals, 1));
            }
        }
    }
    let mut items = Vec::new();
    for (name, mention, rivals, count) in found {
        let words = &note.text[mention.range.clone()];
        items.push(Suggestion {
            path: note.path.clone(),
            line: Some(mention.line),
            link: link_to(vault, &name.path, &note.path, Some(words))?,
            to: name.path,
            reason: if name.alias {
                Reason::Alias
            } else {
                Reason::Name
            },
            mention: Some(words.to_owned()),
            count: Some(count),
            snippet: Some(mention.context),
            score: None,
            rivals: (!rivals.is_empty()).then_some(rivals),
        });
    }
    Ok(items)
}

/// Of several notes with the same name, the one that a link would resolve to; names take precedence over aliases.
fn preferred<'n>(vault: &Vault, names: &'n [NameAt], source: &str) -> Result<&'n NameAt> {
    let by_name: Vec<&NameAt> = names.iter().filter(|name| !name.alias).collect();
    if let [first, _, ..] = by_name.as_slice() {
        let target = vault.resolve(notehost_sdk::stem_of(&first.path), Some(source))?;
        let best = target
            .iter()
            .find_map(|path| by_name.iter().find(|name| name.path == *path));
        return Ok(best.copied().unwrap_or(first));
    }
    Ok(by_name.first().copied().unwrap_or(&names[0]))
}

fn similar(vault: &Vault, note: &Note) -> Result<Vec<Suggestion>> {
    let found = vault.find(&Query {
        condition: Some(Condition::All(vec![
            Condition::Like(body(&note.text).to_owned()),
            Condition::Not(Box::new(Condition::Under(note.path.clone()))),
        ])),
        limit: SIMILAR_CANDIDATES,
        snippets: 1,
        ..Query::default()
    })?;
    let best = found
        .items
        .iter()
        .filter_map(|note| note.score)
        .fold(0.0, f64::max);
    let mut items = Vec::new();
    for other in found.items {
        if other.score.unwrap_or_default() < best * MIN_RELATIVE_SCORE {
            continue;
        }
        items.push(Suggestion {
            path: note.path.clone(),
            line: None,
            link: link_to(vault, &other.path, &note.path, None)?,
            to: other.path,
            reason: Reason::Similar,
            mention: None,
            count: None,
            snippet: other
                .snippets
                .into_iter()
                .next()
                .map(|snippet| snippet.text),
            score: other.score,
            rivals: None,
        });
    }
    Ok(items)
}

/// The link to write, with the mentioning words as its text.
fn link_to(vault: &Vault, path: &str, source: &str, words: Option<&str>) -> Result<String> {
    let target = shortest_name(vault, path, source)?;
    let words = words.map(|words| words.split_whitespace().collect::<Vec<_>>().join(" "));
    Ok(match words {
        Some(words) if words != target => format!("[[{target}|{words}]]"),
        _ => format!("[[{target}]]"),
    })
}
