//! Lines that a pattern matches, note by note in order of path, for as long as there is time.

use std::ops::Range;
use std::time::{Duration, Instant};

use super::pattern::{Pattern, Skipped, read};
use super::places::Place;
use crate::pages::unknown_cursor;
use crate::prelude::*;
use crate::text::facts::context;

/// How long one call looks; the next one goes on where it stopped.
pub const LOOKING_TIME: Duration = Duration::from_secs(3);
/// How much of a match is told, in characters.
const WIDTH: usize = 200;
/// How many passed-over notes are told.
const MOST_SKIPPED: usize = 20;
/// What every cursor begins with.
const MARK: &str = "r";

/// Which lines are looked for.
#[derive(Debug, Clone, Copy)]
pub struct Lines<'a> {
    /// What they match.
    pub pattern: &'a Pattern,
    /// Where they stand.
    pub place: &'a Place,
    /// Whether a match may span lines.
    pub multiline: bool,
    /// How many are told at once.
    pub limit: usize,
    /// Where an earlier call stopped.
    pub cursor: Option<&'a str>,
    /// How long to look; into one note at least, so that every call comes further.
    pub time: Duration,
}

/// A line on which a match begins.
#[derive(Debug)]
pub struct Hit<'n> {
    /// The note.
    pub note: &'n Note,
    /// The line of the file, from 1.
    pub line: u32,
    /// What matched.
    pub range: Range<usize>,
}

impl Hit<'_> {
    /// The line, trimmed, and cut to what stands around the match.
    pub fn snippet(&self) -> String {
        context(&self.note.text, &self.range)
    }

    /// What matched, or as much of it as a reply has room for.
    pub fn matched(&self) -> String {
        let matched = &self.note.text[self.range.clone()];
        match matched.char_indices().nth(WIDTH) {
            Some((end, _)) => format!("{}…", &matched[..end]),
            None => matched.to_owned(),
        }
    }
}

/// What was found.
#[derive(Debug)]
pub struct Looked<T> {
    /// One for each line, in order of path.
    pub items: Vec<T>,
    /// To go on.
    pub next_cursor: Option<String>,
    /// Whether time was up before the page was full.
    pub incomplete: Option<bool>,
    /// Notes that could not be looked into.
    pub skipped: Option<Vec<Skipped>>,
}

/// Look for lines; `tell` makes an item of each.
pub fn look<T>(
    vault: &Vault,
    wanted: Lines<'_>,
    tell: impl Fn(&Hit<'_>) -> T,
) -> Result<Looked<T>> {
    let begun = Instant::now();
    let after = wanted.cursor.map(Position::parse).transpose()?;
    let mut looked = Looked {
        items: Vec::new(),
        next_cursor: None,
        incomplete: None,
        skipped: None,
    };
    let mut skipped = Vec::new();
    let mut done: Option<Position> = None;
    let mut last: Option<Position> = None;
    for path in wanted.pattern.candidates(vault, wanted.place)? {
        let seen = match &after {
            Some(after) if path < after.path || after.is_whole(&path) => continue,
            Some(after) if path == after.path => after.line,
            _ => 0,
        };
        if let Some(done) = &done
            && begun.elapsed() >= wanted.time
        {
            looked.incomplete = Some(true);
            looked.next_cursor = Some(done.word());
            break;
        }
        let room = wanted.limit - looked.items.len();
        let note = match read(vault, &path)? {
            Ok(note) => note,
            Err(note) => {
                skipped.push(note);
                done = Some(Position::after(path));
                continue;
            }
        };
        let mut found = if wanted.multiline {
            across(wanted.pattern, &note, seen, room + 1)
        } else {
            line_by_line(wanted.pattern, &note, seen, room + 1)
        };
        let is_full = found.len() > room;
        found.truncate(room);
        looked.items.extend(found.iter().map(&tell));
        if let Some(hit) = found.last() {
            last = Some(Position {
                line: hit.line,
                path: path.clone(),
            });
        }
        if is_full {
            // The page is full, and there is one more: the last that is told is where the next page begins.
            looked.next_cursor = last.or(done).map(|last| last.word());
            break;
        }
        done = Some(Position::after(path));
    }
    skipped.truncate(MOST_SKIPPED);
    looked.skipped = (!skipped.is_empty()).then_some(skipped);
    Ok(looked)
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
        parsed.ok_or_else(|| unknown_cursor(cursor))
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
fn line_by_line<'n>(pattern: &Pattern, note: &'n Note, seen: u32, most: usize) -> Vec<Hit<'n>> {
    let mut found = Vec::new();
    let mut start = 0;
    for (line, text) in (1..).zip(note.text.split_inclusive('\n')) {
        let content = text.strip_suffix('\n').unwrap_or(text);
        let content = content.strip_suffix('\r').unwrap_or(content);
        if line > seen
            && let Some(matched) = pattern.regex.find(content)
        {
            let range = start + matched.start()..start + matched.end();
            found.push(Hit { note, line, range });
            if found.len() == most {
                break;
            }
        }
        start += text.len();
    }
    found
}

/// The lines after a line on which matches begin.
fn across<'n>(pattern: &Pattern, note: &'n Note, seen: u32, most: usize) -> Vec<Hit<'n>> {
    let mut found: Vec<Hit<'_>> = Vec::new();
    let mut counted = 0;
    let mut line = 1;
    for matched in pattern.regex.find_iter(&note.text) {
        let between = &note.text.as_bytes()[counted..matched.start()];
        let ends = between.iter().filter(|byte| **byte == b'\n').count();
        line += u32::try_from(ends).unwrap_or(u32::MAX);
        counted = matched.start();
        let is_told = found.last().is_some_and(|hit| hit.line == line);
        if line > seen && !is_told {
            let range = matched.range();
            found.push(Hit { note, line, range });
            if found.len() == most {
                break;
            }
        }
    }
    found
}
