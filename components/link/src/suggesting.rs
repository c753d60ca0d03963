//! What a note could link to and does not.

use std::collections::BTreeMap;

use notehost_sdk::index::{BacklinksQuery, Condition, Field, NameAt, Query};
use notehost_sdk::is_note;
use notehost_sdk::prelude::*;
use notehost_sdk::text::body;

use crate::asking::{indexed, shortest_name};
use crate::mentions::{Mention, Prose};
use notehost_sdk::index::{Building, building, unfinished};
use notehost_sdk::pages::counted;
use notehost_sdk::pages::{Span, more};

/// How many similar notes are looked at.
const SIMILAR: u32 = 40;
/// How many of them are told.
const MOST_SIMILAR: usize = 10;
/// A note that fits much worse than the best is not similar.
const SIMILAR_ENOUGH: f64 = 0.3;
/// How many notes that link here are known.
const MOST_BACKLINKS: u32 = 1000;

/// Suggest links for a note: other notes whose name or alias stands in it unlinked, then similar notes that it is not
/// linked with. Nothing is changed: use `document` `edit` to link.
///
/// Example: `{"path": "Garden/Sowing calendar"}`
#[args]
pub struct Suggest {
    /// The note: path, unique name or `[[link]]`.
    pub path: String,
    /// How many, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// What a note could link to.
#[reply]
pub struct Suggestions {
    /// The note.
    pub path: String,
    /// Mentions in their order, then similar notes, the most similar first.
    pub items: Vec<Suggestion>,
    /// For the next page.
    pub next_cursor: Option<String>,
    /// How many there are.
    pub total: usize,
    /// Only while the index is being built.
    pub index: Option<Building>,
}

/// Why a link is suggested.
#[reply]
#[derive(Copy, PartialEq, Eq)]
pub enum Reason {
    /// The other note's name stands in this one.
    Name,
    /// One of its aliases does.
    Alias,
    /// The two have the words in common that set them apart.
    Similar,
}

/// A note that could be linked to.
#[reply]
pub struct Suggestion {
    /// The note that would get the link.
    pub path: String,
    /// Where it mentions the other; nothing for a similar note.
    pub line: Option<u32>,
    /// The note that the link would lead to.
    pub to: String,
    /// Why.
    pub reason: Reason,
    /// The words that mention it.
    pub mention: Option<String>,
    /// How often it is mentioned.
    pub count: Option<usize>,
    /// The link to write in their place.
    pub link: String,
    /// Of a mention the line in which it stands; of a similar note a line that fits.
    pub snippet: Option<String>,
    /// How similar it is; comparable only within one reply.
    pub score: Option<f64>,
    /// Other notes that have this name or alias too.
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
        similar.truncate(MOST_SIMILAR);
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
        let mut text = format!(
            "{} for `{}`",
            counted(output.total as u64, "suggestion"),
            output.path
        );
        for item in &output.items {
            text.push_str(&match (&item.line, item.reason) {
                (Some(line), reason) => {
                    let by = if reason == Reason::Alias {
                        " (alias)"
                    } else {
                        ""
                    };
                    format!("\n{line:>5}  {} → {}{by}", item.link, item.to)
                }
                (None, _) => format!("\nsimilar  {} → {}", item.link, item.to),
            });
        }
        text + &more(output.next_cursor.as_ref()) + &unfinished(output.index.as_ref())
    }
}

/// The files that a note is linked with.
struct Linked {
    out: Vec<String>,
    into: Vec<String>,
}

fn linked_with(vault: &Vault, path: &str) -> Result<Linked> {
    let links = indexed(vault, path, vec![Field::Links])?.links;
    let out = links.unwrap_or_default();
    let into = vault.backlinks(&BacklinksQuery {
        path: path.to_owned(),
        offset: 0,
        limit: MOST_BACKLINKS,
    })?;
    Ok(Linked {
        out: out.into_iter().filter_map(|link| link.path).collect(),
        into: into.items.into_iter().map(|link| link.path).collect(),
    })
}

/// Notes that are mentioned and not linked to, by their first mention.
fn mentioned(vault: &Vault, note: &Note, linked: &[String]) -> Result<Vec<Suggestion>> {
    let prose = Prose::of(&note.text);
    let mut places: BTreeMap<(usize, usize), Vec<NameAt>> = BTreeMap::new();
    for name in vault.names_in(&note.text)? {
        // A name of the note itself also takes its place: what is shorter is not meant there.
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
        // A name that several notes have is linked if one of them is.
        if names.iter().any(|name| linked.contains(&name.path)) {
            continue;
        }
        let meant = chosen(vault, &names, &note.path)?;
        match found
            .iter_mut()
            .find(|(known, ..)| known.path == meant.path)
        {
            Some((.., count)) => *count += 1,
            None => {
                let rivals = names
                    .iter()
                    .filter(|name| name.path != meant.path)
                    .map(|name| name.path.clone())
                    .collect();
                found.push((meant.clone(), prose.mention(start..end), rivals, 1));
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

/// Of several notes with one name the one that a link would mean; a name comes before an alias.
fn chosen<'n>(vault: &Vault, names: &'n [NameAt], source: &str) -> Result<&'n NameAt> {
    let by_name: Vec<&NameAt> = names.iter().filter(|name| !name.alias).collect();
    if let [first, _, ..] = by_name.as_slice() {
        let meant = vault.resolve(notehost_sdk::stem_of(&first.path), Some(source))?;
        let best = meant
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
        limit: SIMILAR,
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
        if other.score.unwrap_or_default() < best * SIMILAR_ENOUGH {
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

/// A link to write, with the words that stand there as its text.
fn link_to(vault: &Vault, path: &str, source: &str, words: Option<&str>) -> Result<String> {
    let target = shortest_name(vault, path, source)?;
    let words = words.map(|words| words.split_whitespace().collect::<Vec<_>>().join(" "));
    Ok(match words {
        Some(words) if words != target => format!("[[{target}|{words}]]"),
        _ => format!("[[{target}]]"),
    })
}
