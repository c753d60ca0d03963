//! Parses time arguments: dates, moments, `today`, `-7d`. Days are in the owner's time zone.

use super::{DAY, IsoTime, add_months, date, day_of, days_before};
use crate::host::Now;

/// A time range: a date is a whole day, a time of day a minute or a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeRange {
    /// The start, in milliseconds since 1970.
    pub from: u64,
    /// The exclusive end.
    pub to: u64,
}

/// The accepted forms, for error messages.
pub const TIME_FORMATS: &str = "a date (`2024-05-31`), a moment (`2024-05-31T10:00:00Z`), `today`, `yesterday`, or a relative time (`-7d`, `-12h`)";

/// Parses a time argument.
pub fn parse_time_range(text: &str, now: &Now) -> Option<TimeRange> {
    let text = text.trim();
    if let Some(day) = relative_day(text, now) {
        return local(now, day * DAY, (day + 1) * DAY);
    }
    if let Some(moment) = hours_ago(text, now.milliseconds) {
        return Some(TimeRange {
            from: moment,
            to: moment,
        });
    }
    let Some(IsoTime {
        day,
        time: Some(time),
    }) = IsoTime::parse(text)
    else {
        let (first, last) = period(text)?;
        return local(now, first * DAY, last * DAY);
    };
    let length = if time.has_seconds { 1000 } else { 60_000 };
    let from = day * DAY + time.milliseconds / length * length;
    let zone = Now {
        offset_minutes: time.offset_minutes.unwrap_or(now.offset_minutes),
        ..Now::default()
    };
    local(&zone, from, from + length)
}

/// A day relative to today (`today`, `-7d`, `+2w`) as an ISO date: `2024-05-31`.
pub fn relative_date(text: &str, now: &Now) -> Option<String> {
    relative_day(text.trim(), now).map(date)
}

/// A range of local milliseconds, in UTC.
fn local(now: &Now, from: i64, to: i64) -> Option<TimeRange> {
    let ahead = i64::from(now.offset_minutes) * 60_000;
    Some(TimeRange {
        from: u64::try_from(from - ahead).ok()?,
        to: u64::try_from(to - ahead).ok()?,
    })
}

/// A day, a month or a year: `2024-05-31`, `2024-05`, `2024`.
fn period(text: &str) -> Option<(i64, i64)> {
    let digits = |part: &str, count: usize| {
        (part.len() == count && part.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| part.parse::<i64>().ok())
            .flatten()
    };
    let parts: Vec<&str> = text.split('-').collect();
    Some(match parts.as_slice() {
        [year] => {
            let year = digits(year, 4)?;
            let first = days_before(year, 1, 1);
            (first, add_months(first, 12)?)
        }
        [year, month] => {
            let (year, month) = (digits(year, 4)?, digits(month, 2)?);
            let first = (1..=12)
                .contains(&month)
                .then(|| days_before(year, month, 1))?;
            (first, add_months(first, 1)?)
        }
        _ => {
            let day = day_of(text)?;
            (day, day + 1)
        }
    })
}

fn relative_day(text: &str, now: &Now) -> Option<i64> {
    let ahead = i64::from(now.offset_minutes) * 60_000;
    let today = (i64::try_from(now.milliseconds).ok()? + ahead).div_euclid(DAY);
    match text.to_ascii_lowercase().as_str() {
        "today" => return Some(today),
        "yesterday" => return Some(today - 1),
        "tomorrow" => return Some(today + 1),
        _ => {}
    }
    let (count, unit) = counted(text)?;
    match unit {
        'd' => Some(today + count),
        'w' => Some(today + count * 7),
        'm' => add_months(today, count),
        'y' => add_months(today, count * 12),
        _ => None,
    }
}

fn hours_ago(text: &str, now: u64) -> Option<u64> {
    match counted(text)? {
        (count, 'h') => now.checked_add_signed(count * 3_600_000),
        _ => None,
    }
}

/// `-7d` as (-7, `d`). The sign is required: a bare number is not a time.
fn counted(text: &str) -> Option<(i64, char)> {
    let unit = text.chars().next_back()?.to_ascii_lowercase();
    let number = &text[..text.len() - text.chars().next_back()?.len_utf8()];
    let digits = number.strip_prefix(['-', '+'])?;
    let is_number =
        (1..=5).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| number.parse().ok().map(|count| (count, unit)))?
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::dates::iso;

    /// The 29th of February 2024, 10:00:05.
    const NOW: Now = Now {
        milliseconds: 1_709_200_805_042,
        offset_minutes: 0,
        zone: None,
    };

    #[test]
    fn every_form_of_time_is_parsed() {
        let parsed =
            |text: &str| parse_time_range(text, &NOW).map(|time| (iso(time.from), iso(time.to)));
        let day =
            |from: &str, to: &str| Some((format!("{from}T00:00:00Z"), format!("{to}T00:00:00Z")));
        assert_eq!(parsed("2024-02-29"), day("2024-02-29", "2024-03-01"));
        assert_eq!(parsed("2023-12"), day("2023-12-01", "2024-01-01"));
        assert_eq!(parsed("2024"), day("2024-01-01", "2025-01-01"));
        assert_eq!(parsed("today"), day("2024-02-29", "2024-03-01"));
        assert_eq!(parsed("-1y"), day("2023-02-28", "2023-03-01"));
        assert_eq!(parsed("-7d"), day("2024-02-22", "2024-02-23"));
        let second = (
            "2024-05-31T10:00:05Z".to_owned(),
            "2024-05-31T10:00:06Z".to_owned(),
        );
        assert_eq!(parsed("2024-05-31T10:00:05Z"), Some(second));
        assert_eq!(parsed("-2h").unwrap().0, "2024-02-29T08:00:05Z");
        for invalid in [
            "",
            "soon",
            "2024-13-01",
            "2023-02-29",
            "7",
            "-d",
            "2024-1",
            "2024-05-31T25:00",
            "-é",
            "é",
        ] {
            assert_eq!(parsed(invalid), None, "{invalid}");
        }
    }

    #[test]
    fn days_are_in_the_owners_time_zone() {
        let tokyo = Now {
            offset_minutes: 540,
            milliseconds: NOW.milliseconds + 6 * 3_600_000,
            zone: None,
        };
        let day = parse_time_range("today", &tokyo).unwrap();
        assert_eq!(iso(day.from), "2024-02-29T15:00:00Z");
        assert_eq!(
            relative_date("today", &tokyo).as_deref(),
            Some("2024-03-01")
        );
        let noon = parse_time_range("2024-03-01T12:00", &tokyo).unwrap();
        assert_eq!(iso(noon.from), "2024-03-01T03:00:00Z");
        let utc = parse_time_range("2024-03-01T12:00Z", &tokyo).unwrap();
        assert_eq!(iso(utc.from), "2024-03-01T12:00:00Z");
    }

    #[test]
    fn relative_days_become_iso_dates() {
        assert_eq!(relative_date("+1m", &NOW).as_deref(), Some("2024-03-29"));
        assert_eq!(
            relative_date("tomorrow", &NOW).as_deref(),
            Some("2024-03-01")
        );
        assert_eq!(relative_date("2024-05-31", &NOW), None);
    }
}
