//! Searches notes for matching lines, in order of path, within a time limit.

use std::ops::Range;
use std::time::{Duration, Instant};

use super::pattern::{Pattern, Skipped, read};
use super::places::Place;
use crate::pages::unknown_cursor;
use crate::prelude::*;
use crate::text::facts::context;

/// The time limit of one call; the next call continues where it stopped.
pub const SEARCH_TIME_LIMIT: Duration = Duration::from_secs(3);
/// The maximum length of a returned match.
const MAX_MATCH_CHARACTERS: usize = 200;
/// The maximum number of skipped notes to report.
const MAX_SKIPPED: usize = 20;
/// The prefix of every cursor.
const CURSOR_PREFIX: &str = "r";

/// A search for lines.
#[derive(Debug, Clone, Copy)]
pub struct Lines<'a> {
    /// The pattern.
    pub pattern: &'a Pattern,
    /// The scope.
    pub place: &'a Place,
    /// Whether a match may span lines.
    pub multiline: bool,
    /// The maximum number of lines per page.
    pub limit: usize,
    /// Where the previous call stopped.
    pub cursor: Option<&'a str>,
    /// The time limit. At least one note is searched, so that every call makes progress.
    pub time: Duration,
}

/// A line on which a match begins.
#[derive(Debug)]
pub struct Hit<'n> {
    /// The note.
    pub note: &'n Note,
    /// The line of the file, from 1.
    pub line: u32,
    /// The bytes of the match.
    pub range: Range<usize>,
}

impl Hit<'_> {
    /// The line, trimmed and truncated around the match.
    pub fn snippet(&self) -> String {
        context(&self.note.text, &self.range)
    }

    /// The text of the match, truncated.
    pub fn matched(&self) -> String {
        let matched = &self.note.text[self.range.clone()];
        match matched.char_indices().nth(MAX_MATCH_CHARACTERS) {
            Some((end, _)) => format!("{}…", &matched[..end]),
            None => matched.to_owned(),
        }
    }
}

/// A page of matching lines.
#[derive(Debug)]
pub struct Looked<T> {
    /// One for each line, in order of path.
    pub items: Vec<T>,
    /// The cursor of the next page.
    pub next_cursor: Option<String>,
    /// Whether the time limit was reached before the page was full.
    pub incomplete: Option<bool>,
    /// Notes that could not be searched.
    pub skipped: Option<Vec<Skipped>>,
}

/// Searches for lines; `to_item` converts each hit.
pub fn look<T>(
    vault: &Vault,
    search: Lines<'_>,
    to_item: impl Fn(&Hit<'_>) -> T,
) -> Result<Looked<T>> {
    let started = Instant::now();
    let after = search.cursor.map(Position::parse).transpose()?;
    let mut page = Looked {
        items: Vec::new(),
        next_cursor: None,
        incomplete: None,
        skipped: None,
    };
    let mut skipped = Vec::new();
    let mut done: Option<Position> = None;
    let mut last: Option<Position> = None;
    for path in search.pattern.candidates(vault, search.place)? {
        let after_line = match &after {
            Some(after) if path < after.path || after.is_whole(&path) => continue,
            Some(after) if path == after.path => after.line,
            _ => 0,
        };
        if let Some(done) = &done
            && started.elapsed() >= search.time
        {
            page.incomplete = Some(true);
            page.next_cursor = Some(done.to_cursor());
            break;
        }
        let room = search.limit - page.items.len();
        let note = match read(vault, &path)? {
            Ok(note) => note,
            Err(note) => {
                skipped.push(note);
                done = Some(Position::after(path));
                continue;
            }
        };
        let mut found = if search.multiline {
            across(search.pattern, &note, after_line, room + 1)
        } else {
            line_by_line(search.pattern, &note, after_line, room + 1)
        };
        let is_full = found.len() > room;
        found.truncate(room);
        page.items.extend(found.iter().map(&to_item));
        if let Some(hit) = found.last() {
            last = Some(Position {
                line: hit.line,
                path: path.clone(),
            });
        }
        if is_full {
            // There is at least one more line: the next page begins after the last returned one.
            page.next_cursor = last.or(done).map(|last| last.to_cursor());
            break;
        }
        done = Some(Position::after(path));
    }
    skipped.truncate(MAX_SKIPPED);
    page.skipped = (!skipped.is_empty()).then_some(skipped);
    Ok(page)
}

/// How far a search has come: all notes before this one are done, and this one up to a line.
struct Position {
    line: u32,
    path: String,
}

impl Position {
    fn parse(cursor: &str) -> Result<Position> {
        let parsed = cursor.strip_prefix(CURSOR_PREFIX).and_then(|rest| {
            let (line, path) = rest.split_once('.')?;
            let line = u32::from_str_radix(line, 16).ok()?;
            (!path.is_empty()).then(|| Position {
                line,
                path: path.to_owned(),
            })
        });
        parsed.ok_or_else(|| unknown_cursor(cursor))
    }

    /// After the whole of a note.
    fn after(path: String) -> Position {
        Position {
            line: u32::MAX,
            path,
        }
    }

    /// Whether it is after the whole of this note.
    fn is_whole(&self, path: &str) -> bool {
        self.line == u32::MAX && self.path == path
    }

    fn to_cursor(&self) -> String {
        format!("{CURSOR_PREFIX}{:x}.{}", self.line, self.path)
    }
}

/// The lines after line `after_line` that match individually.
fn line_by_line<'n>(
    pattern: &Pattern,
    note: &'n Note,
    after_line: u32,
    max: usize,
) -> Vec<Hit<'n>> {
    let mut found = Vec::new();
    let mut start = 0;
    for (line, text) in (1..).zip(note.text.split_inclusive('\n')) {
        let content = text.strip_suffix('\n').unwrap_or(text);
        let content = content.strip_suffix('\r').unwrap_or(content);
        if line > after_line
            && let Some(matched) = pattern.regex.find(content)
        {
            let range = start + matched.start()..start + matched.end();
            found.push(Hit { note, line, range });
            if found.len() == max {
                break;
            }
        }
        start += text.len();
    }
    found
}

/// The lines after line `after_line` on which multi-line matches begin.
fn across<'n>(pattern: &Pattern, note: &'n Note, after_line: u32, max: usize) -> Vec<Hit<'n>> {
    let mut found: Vec<Hit<'_>> = Vec::new();
    let mut counted = 0;
    let mut line = 1;
    for matched in pattern.regex.find_iter(&note.text) {
        let between = &note.text.as_bytes()[counted..matched.start()];
        let ends = between.iter().filter(|byte| **byte == b'\n').count();
        line += u32::try_from(ends).unwrap_or(u32::MAX);
        counted = matched.start();
        let is_reported = found.last().is_some_and(|hit| hit.line == line);
        if line > after_line && !is_reported {
            let range = matched.range();
            found.push(Hit { note, line, range });
            if found.len() == max {
                break;
            }
        }
    }
    found
}
