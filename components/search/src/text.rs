//! Notes by the words in them, the best first.

use notehost_sdk::dates;
use notehost_sdk::index::{Field, Found, FoundNote, Query};
use notehost_sdk::prelude::*;
use notehost_sdk::serde_json::{Map, Value};
use notehost_sdk::text;

use crate::MOST;
use crate::narrowing::{self, Type};
use crate::{order, query};
use notehost_sdk::index::{Building, building, unfinished};
use notehost_sdk::pages::{Span, more};

/// How many places of a note are told in a detailed reply.
const SNIPPETS: u32 = 5;
/// How much of a line is told, in characters.
const WIDTH: usize = 160;

/// Find notes by words. `a b` both, `"a b"` one after the other, `a*` a beginning, `-a` not, `a OR b`, parentheses.
/// Fields: `title:`, `heading:`, `content:`, `path:`, `tag:` or `#tag`, `has:tasks`; any other name is a property:
/// `status:open`, `due:>2024-01-01`, `due:<+7d`, `[status]` (is set), `[status:null]` (is not). Any script; case and
/// accents do not matter.
///
/// Example: `{"query": "radishes"}`
/// Example (words, tag and folder): `{"query": "bloom OR kettle tag:coffee", "path": "Coffee"}`
#[args]
pub struct Text {
    /// The words.
    pub query: String,
    /// Folder, note or glob.
    pub path: Option<String>,
    /// Tags that the note has, all of them; `vc` is also had by `vc/project`.
    pub tags: Option<Vec<String>>,
    /// Properties that it has: a value, a list of choices, `null`, or operators as in `query`.
    pub properties: Option<Map<String, Value>>,
    /// What must be in it, all of these.
    pub types: Option<Vec<Type>>,
    /// `relevance`, `modified`, `size`, `path`, `name` or a property; `-` before it turns it round.
    pub sort: Option<String>,
    /// How many, 1–200 (default 20).
    pub limit: Option<usize>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
    /// Default `concise`.
    pub format: Option<Format>,
}

/// How much to tell.
#[args]
#[derive(Copy, PartialEq, Eq)]
pub enum Format {
    /// one place of each.
    Concise,
    /// more places, with time, tags and properties.
    Detailed,
}

/// Notes that were found.
#[reply]
pub struct Hits {
    /// The notes.
    pub items: Vec<Hit>,
    /// For the next page.
    pub next_cursor: Option<String>,
    /// How many there are on all pages.
    pub total: u64,
    /// Words that no note has as a whole, so they were looked for within words.
    pub widened: Option<Vec<String>>,
    /// Only while the index is being built: notes may be missing.
    pub index: Option<Building>,
}

/// A note that was found.
#[reply]
pub struct Hit {
    /// The note.
    pub path: String,
    /// The line of the best place.
    pub line: Option<u32>,
    /// That line.
    pub snippet: Option<String>,
    /// How well it fits.
    pub score: Option<f64>,
    /// Other places.
    pub snippets: Option<Vec<Place>>,
    /// When it was last changed.
    pub modified: Option<String>,
    /// Its tags.
    pub tags: Option<Vec<String>>,
    /// Its properties.
    pub properties: Option<Map<String, Value>>,
}

/// A line of a note.
#[reply]
pub struct Place {
    /// The line.
    pub line: u32,
    /// Its text.
    pub snippet: String,
}

impl Action for Text {
    type Output = Hits;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Hits> {
        let span = Span::within(self.limit, 20, MOST, self.cursor.as_deref())?;
        let now = &vault.now();
        let mut conditions = vec![query::parse(&self.query, now)?];
        conditions.extend(narrowing::within(vault, self.path.as_deref())?);
        conditions.extend(narrowing::tagged(self.tags.as_deref())?);
        conditions.extend(narrowing::with_properties(self.properties.as_ref(), now)?);
        conditions.extend(narrowing::of_types(self.types.as_deref()));
        let is_detailed = self.format == Some(Format::Detailed);
        let found = vault.find(&Query {
            condition: Some(narrowing::all(conditions)),
            sort: order::parse(self.sort.as_deref())?,
            offset: span.offset(),
            limit: span.count(),
            fields: match is_detailed {
                true => vec![Field::Modified, Field::Tags, Field::Properties],
                false => Vec::new(),
            },
            snippets: if is_detailed { SNIPPETS } else { 1 },
        })?;
        Ok(hits(vault, found, &span))
    }

    fn text(output: &Hits) -> String {
        readable_hits(output)
    }
}

/// A page of hits, as a reply.
pub(crate) fn hits(vault: &Vault, found: Found, span: &Span) -> Hits {
    Hits {
        next_cursor: span.next(span.limit, found.total),
        total: found.total,
        widened: (!found.widened.is_empty()).then_some(found.widened),
        items: found
            .items
            .into_iter()
            .map(|note| hit(vault, note))
            .collect(),
        index: building(vault),
    }
}

/// Hits as a text.
pub(crate) fn readable_hits(output: &Hits) -> String {
    let mut text = match output.total {
        0 => "nothing was found".to_owned(),
        total => format!("{} of {total}:", output.items.len()),
    };
    for hit in &output.items {
        text.push('\n');
        text.push_str(&hit.path);
        if let (Some(line), Some(snippet)) = (hit.line, &hit.snippet) {
            text.push_str(&format!(":{line}: {snippet}"));
        }
        for place in hit.snippets.iter().flatten() {
            text.push_str(&format!("\n  {}: {}", place.line, place.snippet));
        }
    }
    if let Some(words) = &output.widened {
        let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        text.push_str(&format!(
            "\nno note has {} as a whole word: looked for within words",
            words.join(", ")
        ));
    }
    text + &unfinished(output.index.as_ref()) + &more(output.next_cursor.as_ref())
}

fn hit(vault: &Vault, note: FoundNote) -> Hit {
    let mut places = note.snippets.into_iter().map(|snippet| Place {
        line: snippet.line,
        snippet: snippet.text,
    });
    // What fits by its name or a property has no place; what the note begins with tells what it is.
    let first = places.next().or_else(|| beginning(vault, &note.path));
    let (line, snippet) = first.map(|place| (place.line, place.snippet)).unzip();
    let others: Vec<Place> = places.collect();
    Hit {
        path: note.path,
        line,
        snippet,
        score: note.score.map(rounded),
        snippets: (!others.is_empty()).then_some(others),
        modified: note.modified.map(dates::iso),
        tags: note.tags.filter(|tags| !tags.is_empty()).map(|tags| {
            let mut names: Vec<String> = Vec::new();
            for tag in tags {
                if !names.contains(&tag.tag) {
                    names.push(tag.tag);
                }
            }
            names
        }),
        properties: note.properties.filter(|properties| !properties.is_empty()),
    }
}

/// A score with as many digits as say something.
pub(crate) fn rounded(score: f64) -> f64 {
    (score * 1000.0).round() / 1000.0
}

/// The first line of a note's body that says something.
pub(crate) fn beginning(vault: &Vault, path: &str) -> Option<Place> {
    let note = vault.read_text(path).ok()?.text;
    let start = text::body::start(&note);
    let first = u32::try_from(text::line_of(&note, start)).ok()?;
    for (line, content) in (first..).zip(note[start..].lines()) {
        if !content.trim().is_empty() {
            return Some(Place {
                line,
                snippet: cut(content.trim(), WIDTH),
            });
        }
    }
    None
}

/// The first so many characters of a text.
pub(crate) fn cut(text: &str, width: usize) -> String {
    match text.char_indices().nth(width) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
