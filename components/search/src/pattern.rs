//! Lines that a regex matches, note by note in order of path, for as long as there is time.

use std::time::Duration;

use notehost_sdk::matching::{
    Hit, Lines as Wanted, Pattern, Place, SEARCH_TIME_LIMIT, Skipped, Written, look,
};
use notehost_sdk::pages::{checked_limit, more};
use notehost_sdk::prelude::*;

use crate::MOST;

/// Find lines by a regex (Rust syntax: no look-around, no backreferences). Each line is matched on its own unless
/// `multiline`. One item per line. Looks for some seconds at most, then gives a `next_cursor` to go on.
///
/// Example: `{"pattern": "\\d+ g\\b", "path": "Coffee"}`
#[args]
pub struct RegexSearch {
    /// The regex, such as `TODO\b.*\d{4}`.
    pub pattern: String,
    /// Folder, note or glob.
    pub path: Option<String>,
    /// Whether upper and lower case differ (default true).
    pub case: Option<bool>,
    /// Let a match span lines; `^` and `$` stay those of lines, `(?s)` lets `.` match line ends.
    #[serde(default)]
    pub multiline: bool,
    /// How many, 1–200 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// Lines that match.
#[reply]
pub struct Lines {
    /// The lines, in order of path.
    pub items: Vec<Line>,
    /// To go on.
    pub next_cursor: Option<String>,
    /// Whether time was up before the page was full: more may follow.
    pub incomplete: Option<bool>,
    /// Notes that could not be looked into.
    pub skipped: Option<Vec<Skipped>>,
}

/// A line on which a match begins.
#[reply]
pub struct Line {
    /// The note.
    pub path: String,
    /// The line.
    pub line: u32,
    /// Its text.
    pub snippet: String,
    /// What matched.
    #[serde(rename = "match")]
    pub matched: String,
}

impl Action for RegexSearch {
    type Output = Lines;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Lines> {
        self.look(vault, SEARCH_TIME_LIMIT)
    }

    fn text(output: &Lines) -> String {
        let mut text = match (output.items.len(), output.incomplete) {
            (0, None) => "nothing matches".to_owned(),
            (0, Some(_)) => "nothing matches so far".to_owned(),
            (count, _) => format!("{count} matching lines:"),
        };
        for line in &output.items {
            text.push_str(&format!("\n{}:{}: {}", line.path, line.line, line.snippet));
        }
        for note in output.skipped.iter().flatten() {
            text.push_str(&format!(
                "\nnot looked into: {} ({})",
                note.path, note.reason
            ));
        }
        if output.incomplete.is_some() {
            text.push_str("\ntime was up before all notes were looked into");
        }
        text + &more(output.next_cursor.as_ref())
    }
}

impl RegexSearch {
    /// Look for so long.
    pub(crate) fn look(self, vault: &Vault, time: Duration) -> Result<Lines> {
        let limit = checked_limit(self.limit, 50, MOST)?;
        let case = self.case.unwrap_or(true);
        let pattern = Pattern::new("pattern", &self.pattern, Written::Regex, case)?;
        if pattern.names_line_end && !self.multiline {
            return Err(Error::validation(
                "`pattern` has a line end, and lines are matched one by one: set `multiline` to true",
            ));
        }
        let wanted = Wanted {
            pattern: &pattern,
            place: &Place::find(vault, self.path.as_deref())?,
            multiline: self.multiline,
            limit,
            cursor: self.cursor.as_deref(),
            time,
        };
        let looked = look(vault, wanted, |hit: &Hit<'_>| Line {
            path: hit.note.path.clone(),
            line: hit.line,
            snippet: hit.snippet(),
            matched: hit.matched(),
        })?;
        Ok(Lines {
            items: looked.items,
            next_cursor: looked.next_cursor,
            incomplete: looked.incomplete,
            skipped: looked.skipped,
        })
    }
}
