//! Lines that a regex matches, note by note in order of path, for as long as there is time.

use std::time::{Duration, Instant};

use notehost_sdk::prelude::*;
use notehost_sdk::text::facts::context;

use crate::matching::{Pattern, Skipped, Written, read};
use crate::pages::{bad_cursor, checked_limit, more};
use crate::places::Place;
use crate::text::cut;

/// How long one call looks; the next one goes on where it stopped.
const TIME: Duration = Duration::from_secs(3);
/// How much of a match is told, in characters.
const WIDTH: usize = 200;
/// How many passed-over notes are told.
const MOST_SKIPPED: usize = 20;
/// What every cursor begins with.
const MARK: &str = "r";

/// Find lines by a regex (Rust syntax: no look-around, no backreferences). Each line is matched on its own unless
/// `multiline`. One item per line. Looks for some seconds at most, then gives a `next_cursor` to go on.
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
    pub limit: Option<u32>,
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
        self.look(vault, TIME)
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
    /// Look for so long, but into one note at least, so that every call comes further.
    pub(crate) fn look(self, vault: &Vault, time: Duration) -> Result<Lines> {
        let begun = Instant::now();
        let limit = checked_limit(self.limit, 50)? as usize;
        let after = self.cursor.as_deref().map(Position::parse).transpose()?;
        let pattern = Pattern::new(
            "pattern",
            &self.pattern,
            Written::Regex,
            self.case.unwrap_or(true),
        )?;
        if pattern.names_line_end && !self.multiline {
            return Err(Error::validation(
                "`pattern` has a line end, and lines are matched one by one: set `multiline` to true",
            ));
        }
        let place = Place::find(vault, self.path.as_deref())?;
        let mut lines = Lines {
            items: Vec::new(),
            next_cursor: None,
            incomplete: None,
            skipped: None,
        };
        let mut skipped = Vec::new();
        let mut done: Option<Position> = None;
        for path in pattern.candidates(vault, &place)? {
            let seen = match &after {
                Some(after) if path < after.path || after.is_whole(&path) => continue,
                Some(after) if path == after.path => after.line,
                _ => 0,
            };
            if let Some(done) = &done
                && begun.elapsed() >= time
            {
                lines.incomplete = Some(true);
                lines.next_cursor = Some(done.word());
                break;
            }
            let room = limit - lines.items.len();
            let note = match read(vault, &path)? {
                Ok(note) => note,
                Err(note) => {
                    skipped.push(note);
                    done = Some(Position::after(path));
                    continue;
                }
            };
            let found = if self.multiline {
                across(&pattern, &note, seen, room + 1)
            } else {
                line_by_line(&pattern, &note, seen, room + 1)
            };
            let is_full = found.len() > room;
            lines.items.extend(found.into_iter().take(room));
            if is_full {
                // The page is full, and there is one more: the last that is told is where the next page begins.
                let last = lines.items.last();
                let last = last.map(|line| Position {
                    line: line.line,
                    path: line.path.clone(),
                });
                lines.next_cursor = last.or(done).map(|last| last.word());
                break;
            }
            done = Some(Position::after(path));
        }
        skipped.truncate(MOST_SKIPPED);
        lines.skipped = (!skipped.is_empty()).then_some(skipped);
        Ok(lines)
    }
}

/// How far a caller has come: all notes before this one are done, and this one up to a line.
struct Position {
    line: u32,
    path: String,
}

impl Position {
    fn parse(cursor: &str) -> Result<Position> {
        let parsed = cursor.strip_prefix(MARK).and_then(|rest| {
            let (line, path) = rest.split_once('.')?;
            let line = u32::from_str_radix(line, 16).ok()?;
            (!path.is_empty()).then(|| Position {
                line,
                path: path.to_owned(),
            })
        });
        parsed.ok_or_else(|| bad_cursor(cursor))
    }

    /// Behind a whole note.
    fn after(path: String) -> Position {
        Position {
            line: u32::MAX,
            path,
        }
    }

    /// Whether it lies behind the whole of this note.
    fn is_whole(&self, path: &str) -> bool {
        self.line == u32::MAX && self.path == path
    }

    fn word(&self) -> String {
        format!("{MARK}{:x}.{}", self.line, self.path)
    }
}

/// The lines that match on their own, after a line.
fn line_by_line(pattern: &Pattern, note: &Note, seen: u32, most: usize) -> Vec<Line> {
    let mut found = Vec::new();
    let mut start = 0;
    for (number, line) in (1..).zip(note.text.split_inclusive('\n')) {
        let content = line.strip_suffix('\n').unwrap_or(line);
        let content = content.strip_suffix('\r').unwrap_or(content);
        if number > seen
            && let Some(matched) = pattern.regex.find(content)
        {
            let range = start + matched.start()..start + matched.end();
            found.push(told(note, number, range, matched.as_str()));
            if found.len() == most {
                break;
            }
        }
        start += line.len();
    }
    found
}

/// The lines after a line on which matches begin.
fn across(pattern: &Pattern, note: &Note, seen: u32, most: usize) -> Vec<Line> {
    let mut found: Vec<Line> = Vec::new();
    let mut counted = 0;
    let mut number = 1;
    for matched in pattern.regex.find_iter(&note.text) {
        let between = &note.text.as_bytes()[counted..matched.start()];
        let ends = between.iter().filter(|byte| **byte == b'\n').count();
        number += u32::try_from(ends).unwrap_or(u32::MAX);
        counted = matched.start();
        let is_told = found.last().is_some_and(|line| line.line == number);
        if number > seen && !is_told {
            found.push(told(note, number, matched.range(), matched.as_str()));
            if found.len() == most {
                break;
            }
        }
    }
    found
}

fn told(note: &Note, line: u32, range: std::ops::Range<usize>, matched: &str) -> Line {
    Line {
        path: note.path.clone(),
        line,
        snippet: context(&note.text, &range),
        matched: cut(matched, WIDTH),
    }
}
