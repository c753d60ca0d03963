//! Resolving names and links to notes, and the outline of a note: `lookup`, `outline`.

use notehost_sdk::index::{Condition, Field, Part, Progress, Query, Sort, Words};
use notehost_sdk::prelude::*;
use notehost_sdk::text::facts::facts;
use notehost_sdk::text::links::{self, Fragment};
use notehost_sdk::text::{self, Outline, TextError, section};
use notehost_sdk::{Kind, fold_name, is_note, stem_of, words};

use notehost_sdk::pages::Span;

/// Look up which notes a path, name, alias or link points to. Pass exactly one of the four.
///
/// Example: `{"name": "Beans"}`
/// Example (a link): `{"link": "[[Beans#To buy]]"}`
#[args]
pub struct Lookup {
    /// A path; `.md` is optional.
    pub path: Option<String>,
    /// A note name, in any folder.
    pub name: Option<String>,
    /// One of a note's `aliases`.
    pub alias: Option<String>,
    /// A link: `[[Note#Heading]]`, `Note#^block`, `[text](note.md)`.
    pub link: Option<String>,
}

/// The matching notes.
#[reply]
pub struct LookupResult {
    /// The notes, best match first; empty if there is no match.
    pub items: Vec<Match>,
}

/// A matching note.
#[reply]
#[derive(PartialEq)]
pub struct Match {
    /// The note.
    pub path: String,
    /// What matched: `path`, `name`, `alias`, `link`.
    #[serde(rename = "match")]
    pub by: String,
    /// The alias as the note spells it.
    pub alias: Option<String>,
    /// The heading path that the link points to.
    pub section: Option<String>,
    /// The line of that heading or block.
    pub line: Option<usize>,
    /// The heading or block named by the link that the note does not have.
    pub missing: Option<String>,
}

impl Match {
    fn new(path: String, by: &str) -> Match {
        Match {
            path,
            by: by.to_owned(),
            alias: None,
            section: None,
            line: None,
            missing: None,
        }
    }
}

impl Action for Lookup {
    type Output = LookupResult;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<LookupResult> {
        let items = match (self.path, self.name, self.alias, self.link) {
            (Some(path), None, None, None) => by_path(vault, path.trim())?,
            (None, Some(name), None, None) => by_name(vault, name.trim())?,
            (None, None, Some(alias), None) => by_alias(vault, alias.trim())?,
            (None, None, None, Some(link)) => by_link(vault, link.trim())?,
            _ => {
                return Err(Error::validation(
                    "pass exactly one of `path`, `name`, `alias` and `link`",
                ));
            }
        };
        Ok(LookupResult { items })
    }

    fn text(output: &LookupResult) -> String {
        match output.items.as_slice() {
            [] => "no matching notes".to_owned(),
            items => readable(&items),
        }
    }
}

fn by_path(vault: &Vault, path: &str) -> Result<Vec<Match>> {
    for path in [path.to_owned(), format!("{path}.md")] {
        if let Some(entry) = vault.entry(&path)?
            && entry.kind == Kind::File
            && is_note(&entry.path)
        {
            return Ok(vec![Match::new(entry.path, "path")]);
        }
    }
    Ok(Vec::new())
}

/// The notes with a name, in any folder.
fn by_name(vault: &Vault, name: &str) -> Result<Vec<Match>> {
    let folded = fold_name(stem_of(name));
    let found = vault.resolve(name, None)?;
    Ok(found
        .into_iter()
        .filter(|path| is_note(path) && fold_name(stem_of(path)) == folded)
        .map(|path| Match::new(path, "name"))
        .collect())
}

fn by_alias(vault: &Vault, alias: &str) -> Result<Vec<Match>> {
    if alias.is_empty() {
        return Err(Error::validation("`alias` is empty"));
    }
    let folded = fold_name(alias);
    let mut items = Vec::new();
    for (path, aliases) in alias_candidates(vault, alias)? {
        let alias_as_written = aliases.into_iter().find(|alias| fold_name(alias) == folded);
        if let Some(alias_as_written) = alias_as_written {
            items.push(Match {
                alias: Some(alias_as_written),
                ..Match::new(path, "alias")
            });
        }
    }
    Ok(items)
}

/// Notes with their aliases, sorted by path. A superset of the notes that have this alias.
fn alias_candidates(vault: &Vault, alias: &str) -> Result<Vec<(String, Vec<String>)>> {
    let mut found = Vec::new();
    // The query needs a complete index, and an alias with at least one word.
    if vault.index_state().state == Progress::Building || words::query_terms(alias).is_empty() {
        for path in vault.containing(&[vec![alias.to_owned()]])? {
            // Files that are not text have no aliases.
            if let Ok(note) = vault.read_text(&path) {
                found.push((path, facts(&note.text).aliases));
            }
        }
        return Ok(found);
    }
    for note in vault.find_all(Query {
        condition: Some(Condition::Words(Words {
            text: alias.to_owned(),
            part: Some(Part::Name),
        })),
        sort: Sort::by_path(),
        fields: vec![Field::Aliases],
        ..Query::default()
    }) {
        let note = note?;
        found.push((note.path, note.aliases.unwrap_or_default()));
    }
    Ok(found)
}

/// The notes that a link points to. An unresolved link is looked up as an alias. Obsidian does not resolve aliases in
/// links, so the reply shows what matched.
fn by_link(vault: &Vault, link: &str) -> Result<Vec<Match>> {
    let parsed = links::parse(link).into_iter().next();
    let parsed = match parsed {
        Some(parsed) => parsed,
        None => links::parse(&format!("[[{link}]]"))
            .into_iter()
            .next()
            .ok_or_else(|| {
                Error::validation(format!(
                    "`{link}` is not a link: write `[[Note#Heading]]` or `[text](note.md)`"
                ))
            })?,
    };
    if parsed.external || parsed.target.contains("://") {
        return Err(Error::validation(format!(
            "`{link}` points outside the vault"
        )));
    }
    if parsed.target.is_empty() {
        return Err(Error::validation(format!(
            "`{link}` points into the note that contains it: add the note name"
        )));
    }
    let mut items = Vec::new();
    for path in vault
        .resolve(&parsed.target, None)?
        .into_iter()
        .filter(|path| is_note(path))
    {
        let mut item = Match::new(path, "link");
        if let Some(fragment) = &parsed.fragment {
            resolve_fragment(vault, fragment, &mut item)?;
        }
        items.push(item);
    }
    if items.is_empty() {
        by_alias(vault, &parsed.target)
    } else {
        Ok(items)
    }
}

/// Finds the heading or block that a link points to.
fn resolve_fragment(vault: &Vault, fragment: &Fragment, item: &mut Match) -> Result<()> {
    let Ok(note) = vault.read_text(&item.path) else {
        return Ok(());
    };
    let outline = text::outline(&note.text)?;
    item.line = line_of_fragment(&note.text, &outline, fragment);
    match (fragment, item.line) {
        (Fragment::Heading(_), Some(line)) => {
            let index = outline
                .headings
                .iter()
                .position(|heading| heading.line == line);
            item.section = index.map(|index| unique_section_path(&outline, index));
        }
        (Fragment::Heading(headings), None) => {
            item.missing = Some(headings.join(text::outline::PATH_SEPARATOR))
        }
        (Fragment::Block(id), None) => item.missing = Some(format!("^{id}")),
        (Fragment::Block(_), Some(_)) => {}
    }
    Ok(())
}

/// The line of the heading or block that a fragment names, if it exists.
pub(crate) fn line_of_fragment(
    note: &str,
    outline: &Outline,
    fragment: &Fragment,
) -> Option<usize> {
    match fragment {
        Fragment::Heading(headings) => {
            match section::find(outline, &headings.join(text::outline::PATH_SEPARATOR)) {
                Ok(index) => Some(outline.headings[index].line),
                // Unlike a `section` argument, a link refers to the first of several matches.
                Err(TextError::AmbiguousSection { choices, .. }) => {
                    choices.first().map(|choice| choice.line)
                }
                Err(_) => None,
            }
        }
        Fragment::Block(id) => block_line(note, id),
    }
}

/// The line that ends with `^id`.
fn block_line(text: &str, id: &str) -> Option<usize> {
    let has_id = |line: &str| {
        let before = line.trim_end().strip_suffix(id)?.strip_suffix('^')?;
        (before.is_empty() || before.ends_with(char::is_whitespace)).then_some(())
    };
    text.lines()
        .position(|line| has_id(line).is_some())
        .map(|index| index + 1)
}

/// List the headings of a note, with line numbers and the `section` names that other actions take.
///
/// Example: `{"path": "Garden/Balcony plan"}`
#[args]
pub struct NoteOutline {
    /// The note: path, unique name or `[[link]]`.
    pub path: String,
    /// Page size, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// The headings of a note.
#[reply]
pub struct OutlinePage {
    /// The note.
    pub path: String,
    /// Etag, for `if_match`.
    pub etag: String,
    /// Number of lines in the note.
    pub lines: usize,
    /// Its headings, in document order.
    pub items: Vec<HeadingItem>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Number of headings in the note.
    pub total: usize,
}

/// A heading.
#[reply]
pub struct HeadingItem {
    /// The note.
    pub path: String,
    /// Its line.
    pub line: usize,
    /// Its level, 1–6.
    pub level: u8,
    /// Its text.
    pub heading: String,
    /// The `section` value for other actions.
    pub section: String,
}

impl Action for NoteOutline {
    type Output = OutlinePage;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<OutlinePage> {
        let span = Span::new(self.limit, self.cursor.as_deref())?;
        let note = vault.read_note(&self.path)?;
        let outline = text::outline(&note.text)?;
        let total = outline.headings.len();
        let (page, next_cursor) = span.of((0..total).collect());
        let items = page
            .into_iter()
            .map(|index| HeadingItem {
                path: note.path.clone(),
                line: outline.headings[index].line,
                level: outline.headings[index].level,
                heading: outline.headings[index].name(),
                section: unique_section_path(&outline, index),
            })
            .collect();
        let lines = text::lines::count(&note.text);
        Ok(OutlinePage {
            path: note.path,
            etag: note.etag,
            lines,
            items,
            next_cursor,
            total,
        })
    }

    fn text(output: &OutlinePage) -> String {
        let OutlinePage {
            path, lines, total, ..
        } = output;
        ReplyText::new(format!("`{path}`: {total} headings in {lines} lines"))
            .lines(&output.items, |item| {
                let indent = "  ".repeat(usize::from(item.level).saturating_sub(1));
                format!("{:>5}  {indent}{}", item.line, item.heading)
            })
            .more(&output.next_cursor)
            .into()
    }
}

/// A section path that matches only this heading: numbered if there are duplicates.
pub(crate) fn unique_section_path(outline: &Outline, index: usize) -> String {
    let path = outline.path(index);
    let heading = &outline.headings[index];
    let has_duplicate = outline
        .headings
        .iter()
        .enumerate()
        .any(|(other, duplicate)| {
            other != index
                && duplicate.line != heading.line
                && duplicate.text.to_lowercase() == heading.text.to_lowercase()
        });
    if !has_duplicate || section::find(outline, &path) == Ok(index) {
        return path;
    }
    let numbered = |number: usize| format!("{path} [{number}]");
    // Duplicates are numbered in document order, so the number is found by binary search: a note may have thousands of
    // them, and each lookup scans all headings.
    let (mut number, mut high) = (1, index + 1);
    while number < high {
        let middle = number.midpoint(high);
        match section::find(outline, &numbered(middle)) {
            Ok(found) if found < index => number = middle + 1,
            _ => high = middle,
        }
    }
    if section::find(outline, &numbered(number)) == Ok(index) {
        return numbered(number);
    }
    // A heading whose text is `A [2]` breaks the order: fall back to a linear search.
    (1..=outline.headings.len())
        .map(numbered)
        .take_while(|numbered| {
            !matches!(
                section::find(outline, numbered),
                Err(TextError::NoSection { .. })
            )
        })
        .find(|numbered| section::find(outline, numbered) == Ok(index))
        .unwrap_or(path.clone())
}
