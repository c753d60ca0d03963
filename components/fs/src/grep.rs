//! Searching lines: `grep`.

use notehost_sdk::matching::{
    Hit, Lines, Pattern, Place, SEARCH_TIME_LIMIT, Skipped, Written as Syntax, look,
};
use notehost_sdk::pages::{checked_limit, counted, more};
use notehost_sdk::prelude::*;
use notehost_sdk::{Kind, is_note};

use crate::paths;

/// Maximum number of lines per page.
const MAX_LINES: usize = 200;
/// Maximum number of context lines before and after a match.
const MAX_CONTEXT: usize = 20;
/// Context lines are truncated to this length, in characters.
const MAX_LINE_CHARS: usize = 200;

/// Find lines in notes by a regex (Rust syntax) or plain text. Stops after a few seconds and returns a `next_cursor`.
///
/// Example: `{"pattern": "\\[ \\]", "path": "People"}`
/// Example (a plain text): `{"pattern": "bread knife", "fixed": true}`
#[args]
pub struct Grep {
    /// The regex, such as `TODO\b.*\d{4}`.
    pub pattern: String,
    /// Folder, file or glob (`Work/**`); default: the vault.
    pub path: Option<String>,
    /// Match case-insensitively.
    #[serde(default)]
    pub ignore_case: bool,
    /// `pattern` is plain text, not a regex.
    #[serde(default)]
    pub fixed: bool,
    /// Context lines before and after, 0–20.
    pub context: Option<usize>,
    /// Page size, 1–200 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// Matching lines.
#[reply]
pub struct GrepPage {
    /// The lines, sorted by path.
    pub items: Vec<GrepLine>,
    /// Cursor to continue with.
    pub next_cursor: Option<String>,
    /// `true`: the time limit was reached before the page was full; there may be more.
    pub incomplete: Option<bool>,
    /// Files that could not be searched.
    pub skipped: Option<Vec<Skipped>>,
}

/// A matching line.
#[reply]
pub struct GrepLine {
    /// The file.
    pub path: String,
    /// The line number.
    pub line: u32,
    /// Its text.
    pub snippet: String,
    /// The matched text.
    #[serde(rename = "match")]
    pub matched: String,
    /// The lines before it.
    pub before: Option<Vec<String>>,
    /// The lines after it.
    pub after: Option<Vec<String>>,
}

impl Action for Grep {
    type Output = GrepPage;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<GrepPage> {
        let limit = checked_limit(self.limit, 50, MAX_LINES)?;
        let around = self.context.unwrap_or(0);
        if around > MAX_CONTEXT {
            return Err(Error::validation(format!(
                "invalid `context` `{around}`: expected 0 to {MAX_CONTEXT}"
            )));
        }
        let syntax = match self.fixed {
            true => Syntax::Plain,
            false => Syntax::Regex,
        };
        let pattern = Pattern::new("pattern", &self.pattern, syntax, !self.ignore_case)?;
        if pattern.names_line_end {
            return Err(Error::validation(
                "`pattern` contains a line break, but `grep` matches single lines: use `search.regex` with `multiline`",
            ));
        }
        let query = Lines {
            pattern: &pattern,
            place: &place(vault, self.path.as_deref())?,
            multiline: false,
            limit,
            cursor: self.cursor.as_deref(),
            time: SEARCH_TIME_LIMIT,
        };
        let found = look(vault, query, |hit: &Hit<'_>| GrepLine {
            path: hit.note.path.clone(),
            line: hit.line,
            snippet: hit.snippet(),
            matched: hit.matched(),
            before: (around > 0).then(|| lines_before(hit, around)),
            after: (around > 0).then(|| lines_after(hit, around)),
        })?;
        Ok(GrepPage {
            items: found.items,
            next_cursor: found.next_cursor,
            incomplete: found.incomplete,
            skipped: found.skipped,
        })
    }

    fn text(output: &GrepPage) -> String {
        let mut text = match (output.items.len(), output.incomplete) {
            (0, None) => "no matches".to_owned(),
            (0, Some(_)) => "no matches so far".to_owned(),
            (count, _) => format!("{}:", counted(count as u64, "matching line")),
        };
        for item in &output.items {
            let GrepLine { path, line, .. } = item;
            let before = item.before.as_deref().unwrap_or_default();
            let first = (*line as usize).saturating_sub(before.len());
            for (number, context) in (first..).zip(before) {
                text.push_str(&format!("\n{path}-{number}- {context}"));
            }
            text.push_str(&format!("\n{path}:{line}: {}", item.snippet));
            let after = item.after.as_deref().unwrap_or_default();
            for (number, context) in (*line as usize + 1..).zip(after) {
                text.push_str(&format!("\n{path}-{number}- {context}"));
            }
        }
        for file in output.skipped.iter().flatten() {
            text.push_str(&format!("\nskipped: {} ({})", file.path, file.reason));
        }
        if output.incomplete.is_some() {
            text.push_str("\nthe time limit was reached before all notes were searched");
        }
        text + &more(output.next_cursor.as_ref())
    }
}

/// The place to search. A file that is not a note is only searched if it is named exactly.
fn place(vault: &Vault, written: Option<&str>) -> Result<Place> {
    let path = paths::folder(written)?;
    match vault.entry(&path) {
        Ok(Some(file)) if file.kind == Kind::File && !is_note(&file.path) => {
            Ok(Place::Note(file.path))
        }
        // A glob may contain characters that a path cannot.
        _ => Place::find(vault, Some(&path)),
    }
}

/// The lines directly before the line where a match starts.
fn lines_before(hit: &Hit<'_>, count: usize) -> Vec<String> {
    let text = &hit.note.text[..hit.range.start];
    let Some(end) = text.rfind('\n') else {
        return Vec::new();
    };
    let mut lines: Vec<String> = text[..end].rsplit('\n').take(count).map(trimmed).collect();
    lines.reverse();
    lines
}

/// The lines directly after the line where a match starts.
fn lines_after(hit: &Hit<'_>, count: usize) -> Vec<String> {
    let text = &hit.note.text[hit.range.start..];
    let Some(end) = text.find('\n') else {
        return Vec::new();
    };
    text[end + 1..].lines().take(count).map(trimmed).collect()
}

/// A context line, without trailing whitespace and truncated.
fn trimmed(line: &str) -> String {
    let line = line.trim_end();
    match line.char_indices().nth(MAX_LINE_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
