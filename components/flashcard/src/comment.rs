//! Schedule comments in notes: `<!--SR:!2023-09-02,4,270!fsrs,…-->`, one entry for each sibling. An entry is replaced
//! in place and keeps its format; the rest of the comment does not change.

use std::fmt::Write as _;
use std::ops::Range;

use notehost_sdk::dates::{self, IsoTime, Moment};
use notehost_sdk::scheduling::{Interval, Memory, Phase};

use crate::lines::SCHEDULE;

/// The date of an entry of a sibling that was never reviewed.
const NEVER: &str = "2000-01-01";
/// The initial ease of a card.
pub(crate) const FIRST_EASE: i64 = 250;

/// A comment with schedules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Comment {
    /// From `<!--` to `-->`.
    pub(crate) range: Range<usize>,
    /// Its entries, each without its `!`.
    pub(crate) entries: Vec<Range<usize>>,
}

/// One schedule.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Entry {
    /// The sibling was never reviewed.
    New,
    /// An SM-2 schedule.
    Sm2(Sm2),
    /// An FSRS schedule.
    Fsrs(Fsrs),
}

/// An SM-2 schedule: due day, interval and ease.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sm2 {
    /// The due day.
    pub(crate) due: i64,
    /// In days.
    pub(crate) interval: f64,
    /// In percent.
    pub(crate) ease: i64,
}

/// An FSRS schedule.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fsrs {
    /// When it is due, in milliseconds since 1970.
    pub(crate) due: i64,
    /// In days; 0 during learning steps.
    pub(crate) interval: u32,
    /// `None` for a card that was never reviewed.
    pub(crate) memory: Option<Memory>,
    pub(crate) reps: u32,
    pub(crate) lapses: u32,
    /// When it was last reviewed, in milliseconds since 1970.
    pub(crate) last: Option<i64>,
    /// Unknown trailing fields, kept as written.
    pub(crate) rest: String,
}

/// Parses the comment at a range of a note.
pub(crate) fn parse(note: &str, range: Range<usize>) -> Comment {
    let inner = range.start + SCHEDULE.len()
        ..range
            .end
            .saturating_sub(3)
            .max(range.start + SCHEDULE.len());
    let mut entries = Vec::new();
    let mut at = inner.start;
    for (index, part) in note[inner.clone()].split('!').enumerate() {
        let is_entry = index > 0 || !part.trim().is_empty();
        if is_entry {
            entries.push(at..at + part.len());
        }
        at += part.len() + 1;
    }
    Comment { range, entries }
}

impl Comment {
    /// The entry of a sibling; `None` if the comment has none, an error if it is invalid.
    pub(crate) fn entry(&self, note: &str, sibling: usize) -> Option<Result<Entry, ()>> {
        let text = note.get(self.entries.get(sibling)?.clone())?;
        Some(read(text.trim()).ok_or(()))
    }

    /// Whether its entries are FSRS schedules.
    pub(crate) fn is_fsrs(&self, note: &str) -> bool {
        let first = self
            .entries
            .first()
            .and_then(|range| note.get(range.clone()));
        first.is_some_and(|text| text.trim_start().starts_with("fsrs,"))
    }

    /// The edit that sets the entry of a sibling: the range to replace, and the new text.
    pub(crate) fn with(
        &self,
        note: &str,
        sibling: usize,
        entry: &Entry,
        now: i64,
    ) -> (Range<usize>, String) {
        let written = entry.written();
        if let Some(range) = self.entries.get(sibling) {
            return (range.clone(), written);
        }
        let at = self
            .entries
            .last()
            .map_or(self.range.start + SCHEDULE.len(), |range| range.end);
        let mut added = String::new();
        for _ in self.entries.len()..sibling {
            let _ = match self.is_fsrs(note) {
                true => write!(added, "!fsrs,{},0,0,0,0,0,0,0,-", timestamp(now)),
                false => write!(added, "!{NEVER},1,{FIRST_EASE}"),
            };
        }
        let _ = write!(added, "!{written}");
        (at..at, added)
    }
}

fn read(text: &str) -> Option<Entry> {
    let fields: Vec<&str> = text.split(',').map(str::trim).collect();
    if fields.first() == Some(&"fsrs") {
        return read_fsrs(&fields);
    }
    let [date, interval, ease] = fields.as_slice() else {
        return None;
    };
    if *date == NEVER {
        return Some(Entry::New);
    }
    let interval = interval
        .parse::<f64>()
        .ok()
        .filter(|days| (0.0..1e6).contains(days))?;
    let ease = ease
        .parse::<f64>()
        .ok()
        .filter(|ease| (0.0..1e5).contains(ease))?;
    Some(Entry::Sm2(Sm2 {
        due: dates::day_of(date)?,
        interval,
        ease: ease.round() as i64,
    }))
}

fn read_fsrs(fields: &[&str]) -> Option<Entry> {
    let [
        _,
        due,
        interval,
        stability,
        difficulty,
        state,
        reps,
        lapses,
        rest @ ..,
    ] = fields
    else {
        return None;
    };
    let due = moment(due)?;
    let number = |text: &str| {
        text.parse::<f32>()
            .ok()
            .filter(|number| number.is_finite() && *number >= 0.0)
    };
    let count = |text: &str| number(text).map(|number| number as u32);
    let phase = match *state {
        "0" => None,
        "1" => Some(Phase::Learning),
        "2" => Some(Phase::Review),
        "3" => Some(Phase::Relearning),
        _ => return None,
    };
    let (stability, difficulty) = (number(stability)?, number(difficulty)?);
    let step = rest
        .first()
        .map_or(Some(0), |text| text.parse::<u8>().ok())?;
    let last = match rest.get(1) {
        None | Some(&"-") => None,
        Some(text) => Some(moment(text)?),
    };
    Some(Entry::Fsrs(Fsrs {
        due,
        interval: count(interval)?,
        memory: phase.map(|phase| Memory {
            stability,
            difficulty,
            phase,
            step,
        }),
        reps: count(reps)?,
        lapses: count(lapses)?,
        last,
        rest: rest.get(2..).map_or_else(String::new, |rest| {
            rest.iter().map(|field| format!(",{field}")).collect()
        }),
    }))
}

impl Entry {
    /// Formats it for a comment.
    pub(crate) fn written(&self) -> String {
        match self {
            Entry::New => format!("{NEVER},1,{FIRST_EASE}"),
            Entry::Sm2(sm2) => format!("{},{},{}", dates::date(sm2.due), sm2.interval, sm2.ease),
            Entry::Fsrs(fsrs) => {
                let (stability, difficulty, state, step) = match &fsrs.memory {
                    None => (0.0, 0.0, 0, 0),
                    Some(memory) => {
                        let state = match memory.phase {
                            Phase::Learning => 1,
                            Phase::Review => 2,
                            Phase::Relearning => 3,
                        };
                        (memory.stability, memory.difficulty, state, memory.step)
                    }
                };
                let last = fsrs.last.map_or_else(|| "-".to_owned(), timestamp);
                format!(
                    "fsrs,{},{},{stability},{difficulty},{state},{},{},{step},{last}{}",
                    timestamp(fsrs.due),
                    fsrs.interval,
                    fsrs.reps,
                    fsrs.lapses,
                    fsrs.rest
                )
            }
        }
    }
}

impl Fsrs {
    /// The schedule after a review.
    pub(crate) fn after(&self, memory: Memory, interval: Interval, now: i64, lapsed: bool) -> Fsrs {
        let (days, due) = match interval {
            Interval::Soon(wait) => (0, now + wait as i64),
            Interval::Days(days) => (days, now + i64::from(days) * dates::DAY),
        };
        Fsrs {
            due,
            interval: days,
            memory: Some(memory),
            reps: self.reps.saturating_add(1),
            lapses: self.lapses.saturating_add(u32::from(lapsed)),
            last: Some(now),
            rest: self.rest.clone(),
        }
    }
}

/// Formats a timestamp as `2024-05-31T10:00:00.000Z`.
fn timestamp(milliseconds: i64) -> String {
    Moment::with_offset(milliseconds, 0).format("YYYY-MM-DD[T]HH:mm:ss.SSS[Z]")
}

/// Parses `2024-05-31T10:00:00.000Z`, or a date.
fn moment(text: &str) -> Option<i64> {
    IsoTime::parse(text).map(|time| time.milliseconds())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(note: &str) -> Vec<Option<Result<Entry, ()>>> {
        let comment = parse(note, 0..note.len());
        (0..comment.entries.len())
            .map(|sibling| comment.entry(note, sibling))
            .collect()
    }

    #[test]
    fn entries_round_trip_in_both_formats() {
        let fsrs = "fsrs,2026-01-11T08:30:00.000Z,10,10.5,5.25,2,3,1,0,2026-01-01T08:30:00.000Z";
        let note = format!("<!--SR:!2023-09-02,4,270!{NEVER},1,250!{fsrs}!nonsense-->");
        let entries = read_all(&note);
        assert_eq!(entries[1], Some(Ok(Entry::New)));
        assert_eq!(entries[3], Some(Err(())));
        let texts = ["2023-09-02,4,270", "", fsrs];
        for at in [0, 2] {
            let Some(Ok(entry)) = &entries[at] else {
                panic!("{entries:?}")
            };
            assert_eq!(entry.written(), texts[at]);
        }
        assert_eq!(read_all("<!--SR:2021-09-20,4.5,270-->").len(), 1);
        assert_eq!(read_all("<!--SR:-->"), []);
        assert!(parse("<!--SR:-->", 0..9).entries.is_empty());
    }

    #[test]
    fn a_missing_entry_is_appended() {
        let note = "<!--SR:!2023-09-02,4,270-->";
        let comment = parse(note, 0..note.len());
        let (range, with) = comment.with(note, 2, &Entry::New, 0);
        let (before, after) = (&note[..range.start], &note[range.end..]);
        assert_eq!(
            format!("{before}{with}{after}"),
            "<!--SR:!2023-09-02,4,270!2000-01-01,1,250!2000-01-01,1,250-->"
        );
    }

    #[test]
    fn timestamps_are_parsed_with_any_zone() {
        assert_eq!(moment("1970-01-02"), Some(dates::DAY));
        assert_eq!(moment("1970-01-01T01:00:00.500Z"), Some(3_600_500));
        assert_eq!(moment("1970-01-01T01:00:00+01:00"), Some(0));
        assert_eq!(timestamp(3_600_500), "1970-01-01T01:00:00.500Z");
        for bad in [
            "",
            "x",
            "1970-01-01T25:00:00Z",
            "1970-13-01",
            "T",
            "1970-01-01T",
        ] {
            assert_eq!(moment(bad), None, "{bad}");
        }
    }
}
