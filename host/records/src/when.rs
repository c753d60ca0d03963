//! Parses and formats points in time: an age such as `2h`, a date, a time; always in UTC, so the same on all machines.

use chrono::{DateTime, Datelike as _, NaiveDateTime, SecondsFormat, Timelike as _, Utc};

/// A complete time.
const SHAPE: &str = "0000-00-00T00:00:00";
const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// A point in time, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment(
    /// The milliseconds.
    pub i64,
);

/// Parses `90s`, `30m`, `2h`, `7d`, `2w` (an age), `2026-11-01`, `2026-11-01T12:30`, `2026-11-01 12:30:15Z`.
pub fn moment(text: &str) -> Result<Moment, String> {
    parse(text, notehost_platform::clock::now_ms()).map(Moment).ok_or_else(|| {
        "expected an age (`90s`, `30m`, `2h`, `7d`, `2w`), a date (`2026-11-01`) or a time (`2026-11-01T12:30`, UTC)"
            .to_owned()
    })
}

fn parse(text: &str, now: i64) -> Option<i64> {
    let text = text.trim();
    if let Some(unit) = text.chars().last().filter(char::is_ascii_alphabetic)
        && let Ok(count) = text[..text.len() - 1].parse::<u32>()
    {
        let length = match unit {
            's' => SECOND,
            'm' => MINUTE,
            'h' => HOUR,
            'd' => DAY,
            'w' => 7 * DAY,
            _ => return None,
        };
        return Some(now - i64::from(count) * length);
    }
    let text = text.strip_suffix('Z').unwrap_or(text).replace(' ', "T");
    let text = match text.split_once('.') {
        Some((time, _)) if time.len() == SHAPE.len() => time,
        _ => &text,
    };
    // A date alone, or a time with or without seconds. Other lengths, and other digits, chrono would accept.
    let has_shape = [10, 16, 19].contains(&text.len())
        && text
            .bytes()
            .zip(SHAPE.bytes())
            .all(|(byte, shape)| match shape {
                b'0' => byte.is_ascii_digit(),
                separator => byte == separator,
            });
    let full = has_shape.then(|| format!("{text}{}", &SHAPE[text.len()..]))?;
    let time = NaiveDateTime::parse_from_str(&full, "%Y-%m-%dT%H:%M:%S").ok()?;
    let is_leap_second = time.nanosecond() >= 1_000_000_000;
    (time.year() >= 1970 && !is_leap_second).then(|| time.and_utc().timestamp_millis())
}

fn utc(moment: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(moment).unwrap_or(DateTime::<Utc>::MAX_UTC)
}

/// Formats `2026-11-01T12:30:15.250Z`, for programs.
pub fn iso(moment: i64) -> String {
    utc(moment).to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Formats `2026-11-01 12:30:15`, for people.
pub fn shown(moment: i64) -> String {
    utc(moment).format("%Y-%m-%d %H:%M:%S").to_string()
}

/// Formats `2026-11-01`.
pub fn shown_day(moment: i64) -> String {
    utc(moment).format("%Y-%m-%d").to_string()
}

/// Formats a duration in its largest unit: `45s`, `3m`, `2h`, `5d`.
pub fn length(milliseconds: i64) -> String {
    let units = [(DAY, "d"), (HOUR, "h"), (MINUTE, "m")];
    let fitting = units.into_iter().find(|(unit, _)| milliseconds >= *unit);
    let (unit, word) = fitting.unwrap_or((SECOND, "s"));
    format!("{}{word}", milliseconds.max(0) / unit)
}

/// Formats a time relative to now: `3 hours ago`, `in 30 days`.
pub fn ago(time: i64, now: i64) -> String {
    let seconds = now.saturating_sub(time) / 1000;
    let (number, unit) = match seconds.unsigned_abs() {
        0..60 => return "just now".to_owned(),
        away @ 60..3_600 => (away / 60, "minute"),
        away @ 3_600..86_400 => (away / 3_600, "hour"),
        away => (away / 86_400, "day"),
    };
    let plural = if number == 1 { "" } else { "s" };
    match seconds > 0 {
        true => format!("{number} {unit}{plural} ago"),
        false => format!("in {number} {unit}{plural}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_dates_and_times_are_parsed() {
        let now = 1_793_534_400_000; // 2026-11-01 12:00
        assert_eq!(iso(now), "2026-11-01T12:00:00.000Z");
        for (text, expected) in [
            ("90s", "2026-11-01T11:58:30.000Z"),
            ("2h", "2026-11-01T10:00:00.000Z"),
            ("1w", "2026-10-25T12:00:00.000Z"),
            ("2026-11-01", "2026-11-01T00:00:00.000Z"),
            ("2024-02-29T23:59", "2024-02-29T23:59:00.000Z"),
            ("2026-11-01 10:20:30Z", "2026-11-01T10:20:30.000Z"),
            ("2026-11-01T10:20:30.250Z", "2026-11-01T10:20:30.000Z"),
        ] {
            assert_eq!(
                parse(text, now).map(iso).as_deref(),
                Some(expected),
                "{text}"
            );
        }
        for text in [
            "",
            "h",
            "5y",
            "yesterday",
            "2026-13-01",
            "2026-02-30",
            "2026-1-1",
            "2026-11-01T25:00",
            "-3h",
            "ü",
        ] {
            assert_eq!(parse(text, now), None, "{text}");
        }
    }

    #[test]
    fn lengths_are_short() {
        assert_eq!(length(45_999), "45s");
        assert_eq!(length(-5), "0s");
        assert_eq!(length(2 * HOUR + 1), "2h");
        assert_eq!(length(5 * DAY), "5d");
    }

    #[test]
    fn people_count_from_now() {
        let hour = 3_600_000;
        assert_eq!(ago(0, 2 * hour), "2 hours ago");
        assert_eq!(ago(hour, 0), "in 1 hour");
        assert_eq!(ago(30 * 24 * hour, 0), "in 30 days");
        assert_eq!(ago(5, 0), "just now");
    }
}
