//! Regex search: matching lines, note by note in path order, within a time limit.

use std::time::Duration;

use notehost_sdk::matching::{
    Hit, Lines as LineSearch, Pattern, Place, SEARCH_TIME_LIMIT, Skipped, Written, look,
};
use notehost_sdk::pages::checked_limit;
use notehost_sdk::prelude::*;

use crate::MAX_PAGE_SIZE;

/// Find lines by a regex (Rust syntax: no look-around, no backreferences). Each line is matched separately unless
/// `multiline`. One item per line. Stops after a few seconds and returns a `next_cursor` to continue.
///
/// Example: `{"pattern": "\\d+ g\\b", "path": "Coffee"}`
#[args]
pub struct RegexSearch {
    /// The regex, such as `TODO\b.*\d{4}`.
    pub pattern: String,
    /// Folder, note or glob.
    pub path: Option<String>,
    /// Case-sensitive (default true).
    pub case: Option<bool>,
    /// Let a match span lines; `^` and `$` match at every line, `(?s)` lets `.` match line breaks.
    #[serde(default)]
    pub multiline: bool,
    /// Page size, 1–200 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// Matching lines.
#[reply]
pub struct Lines {
    /// The lines, in path order.
    pub items: Vec<Line>,
    /// Cursor to continue.
    pub next_cursor: Option<String>,
    /// Whether the time limit was reached before the page was full: more may follow.
    pub incomplete: Option<bool>,
    /// Notes that could not be searched.
    pub skipped: Option<Vec<Skipped>>,
}

/// A line where a match begins.
#[reply]
pub struct Line {
    /// The note.
    pub path: String,
    /// The line number.
    pub line: u32,
    /// The text of the line.
    pub snippet: String,
    /// The matched text.
    #[serde(rename = "match")]
    pub matched: String,
}

impl Action for RegexSearch {
    type Output = Lines;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Lines> {
        self.search(vault, SEARCH_TIME_LIMIT)
    }

    fn text(output: &Lines) -> String {
        let first = match (output.items.len(), output.incomplete) {
            (0, None) => "no matches".to_owned(),
            (0, Some(_)) => "no matches so far".to_owned(),
            (count, _) => format!("{count} matching lines:"),
        };
        ReplyText::new(first)
            .lines(&output.items, |line| {
                format!("{}:{}: {}", line.path, line.line, line.snippet)
            })
            .lines(output.skipped.iter().flatten(), |note| {
                format!("not searched: {} ({})", note.path, note.reason)
            })
            .line_if(
                output
                    .incomplete
                    .is_some()
                    .then_some("the time limit was reached before all notes were searched"),
            )
            .more(&output.next_cursor)
            .into()
    }
}

impl RegexSearch {
    /// Searches until the page is full or the time is up.
    pub(crate) fn search(self, vault: &Vault, time: Duration) -> Result<Lines> {
        let limit = checked_limit(self.limit, 50, MAX_PAGE_SIZE)?;
        let case = self.case.unwrap_or(true);
        let pattern = Pattern::new("pattern", &self.pattern, Written::Regex, case)?;
        if pattern.names_line_end && !self.multiline {
            return Err(Error::validation(
                "`pattern` contains a line break, but lines are matched one by one: set `multiline` to true",
            ));
        }
        let line_search = LineSearch {
            pattern: &pattern,
            place: &Place::find(vault, self.path.as_deref())?,
            multiline: self.multiline,
            limit,
            cursor: self.cursor.as_deref(),
            time,
        };
        let page = look(vault, line_search, |hit: &Hit<'_>| Line {
            path: hit.note.path.clone(),
            line: hit.line,
            snippet: hit.snippet(),
            matched: hit.matched(),
        })?;
        Ok(Lines {
            items: page.items,
            next_cursor: page.next_cursor,
            incomplete: page.incomplete,
            skipped: page.skipped,
        })
    }
}
