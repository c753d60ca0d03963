//! Full-text search, best matches first.

use notehost_sdk::dates;
use notehost_sdk::index::{Building, Field, Found, FoundNote, Query, building, unfinished};
use notehost_sdk::pages::{Span, more};
use notehost_sdk::prelude::*;
use notehost_sdk::quoted;
use notehost_sdk::serde_json::{Map, Value};
use notehost_sdk::text;

use crate::MAX_PAGE_SIZE;
use crate::restrictions::{self, Type};
use crate::{query, sort_order};

/// How many snippets of a note a detailed reply has.
const DETAILED_SNIPPETS: u32 = 5;
/// The maximum length of a snippet, in characters.
const MAX_SNIPPET_CHARS: usize = 160;

/// Find notes by words (full-text search). `a b` both words, `"a b"` phrase, `a*` prefix, `-a` excludes, `a OR b`,
/// parentheses. Fields: `title:`, `heading:`, `content:`, `path:`, `tag:` or `#tag`, `has:tasks`; any other name is a
/// property: `status:open`, `due:>2024-01-01`, `due:<+7d`, `[status]` (set), `[status:null]` (not set). Any script;
/// ignores case and accents.
///
/// Example: `{"query": "radishes"}`
/// Example (words, tag and folder): `{"query": "bloom OR kettle tag:coffee", "path": "Coffee"}`
#[args]
pub struct Text {
    /// The search query.
    pub query: String,
    /// Folder, note or glob.
    pub path: Option<String>,
    /// Tags the notes must have, all of them; `vc` also matches `vc/project`.
    pub tags: Option<Vec<String>>,
    /// Properties to match: a value, a list of alternatives, `null`, or operators as in `query`.
    pub properties: Option<Map<String, Value>>,
    /// What the notes must contain, all of these.
    pub types: Option<Vec<Type>>,
    /// `relevance`, `modified`, `size`, `path`, `name` or a property; a leading `-` reverses the order.
    pub sort: Option<String>,
    /// Page size, 1–200 (default 20).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
    /// Default `concise`.
    pub format: Option<Format>,
}

/// The level of detail.
#[args]
#[derive(Copy, PartialEq, Eq)]
pub enum Format {
    /// one snippet per note.
    Concise,
    /// more snippets, with time, tags and properties.
    Detailed,
}

/// Search results.
#[reply]
pub struct Hits {
    /// The matching notes.
    pub items: Vec<Hit>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Number of results on all pages.
    pub total: u64,
    /// Query words that no note contains as a whole word: they were matched within words.
    pub widened: Option<Vec<String>>,
    /// Present while the index is being built: notes may be missing.
    pub index: Option<Building>,
}

/// A matching note.
#[reply]
pub struct Hit {
    /// The note.
    pub path: String,
    /// The line number of the best match.
    pub line: Option<u32>,
    /// The text of that line.
    pub snippet: Option<String>,
    /// The relevance score.
    pub score: Option<f64>,
    /// Other matching lines.
    pub snippets: Option<Vec<Place>>,
    /// The time of the last change.
    pub modified: Option<String>,
    /// Its tags.
    pub tags: Option<Vec<String>>,
    /// Its properties.
    pub properties: Option<Map<String, Value>>,
}

/// A line of a note.
#[reply]
pub struct Place {
    /// The line number.
    pub line: u32,
    /// The text of the line.
    pub snippet: String,
}

impl Action for Text {
    type Output = Hits;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Hits> {
        let span = Span::within(self.limit, 20, MAX_PAGE_SIZE, self.cursor.as_deref())?;
        let now = &vault.now();
        let mut conditions = vec![query::parse(&self.query, now)?];
        conditions.extend(restrictions::path_condition(vault, self.path.as_deref())?);
        conditions.extend(restrictions::tag_conditions(self.tags.as_deref())?);
        conditions.extend(restrictions::property_conditions(
            self.properties.as_ref(),
            now,
        )?);
        conditions.extend(restrictions::type_conditions(self.types.as_deref()));
        let is_detailed = self.format == Some(Format::Detailed);
        let found = vault.find(&Query {
            condition: Some(restrictions::all_of(conditions)),
            sort: sort_order::parse(self.sort.as_deref())?,
            offset: span.offset(),
            limit: span.count(),
            fields: match is_detailed {
                true => vec![Field::Modified, Field::Tags, Field::Properties],
                false => Vec::new(),
            },
            snippets: if is_detailed { DETAILED_SNIPPETS } else { 1 },
        })?;
        Ok(hits(vault, found, &span))
    }

    fn text(output: &Hits) -> String {
        readable_hits(output)
    }
}

/// Builds the reply for a page of hits.
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

/// Formats hits as text.
pub(crate) fn readable_hits(output: &Hits) -> String {
    let mut text = match output.total {
        0 => "no results".to_owned(),
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
        text.push_str(&format!(
            "\nno note has {} as a whole word: matched within words",
            quoted(words)
        ));
    }
    text + &unfinished(output.index.as_ref()) + &more(output.next_cursor.as_ref())
}

fn hit(vault: &Vault, note: FoundNote) -> Hit {
    let mut places = note.snippets.into_iter().map(|snippet| Place {
        line: snippet.line,
        snippet: snippet.text,
    });
    // A note that matches by name or property has no snippet: show its first line instead.
    let first = places.next().or_else(|| first_line(vault, &note.path));
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

/// Rounds a score to three decimals.
pub(crate) fn rounded(score: f64) -> f64 {
    (score * 1000.0).round() / 1000.0
}

/// The first non-empty line of a note's body.
pub(crate) fn first_line(vault: &Vault, path: &str) -> Option<Place> {
    let note = vault.read_text(path).ok()?.text;
    let start = text::body::start(&note);
    let first = u32::try_from(text::line_of(&note, start)).ok()?;
    for (line, content) in (first..).zip(note[start..].lines()) {
        if !content.trim().is_empty() {
            return Some(Place {
                line,
                snippet: truncated(content.trim(), MAX_SNIPPET_CHARS),
            });
        }
    }
    None
}

/// Truncates a text to `width` characters.
pub(crate) fn truncated(text: &str, width: usize) -> String {
    match text.char_indices().nth(width) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
