//! Parses ISO 8601 as people and editors write it: `2024-05-31`, `2024-05-31 10:00`, `2024-05-31T10:00:05.123+02:00`.

use super::{DAY, day_of};

const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;

/// A date, or a time on a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IsoTime {
    /// The days from 1970 to the date.
    pub day: i64,
    /// The time of day, if there is one.
    pub time: Option<TimeOfDay>,
}

/// A time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeOfDay {
    /// Milliseconds since midnight.
    pub milliseconds: i64,
    /// Whether it has seconds.
    pub has_seconds: bool,
    /// The offset from UTC; `None` if none is written.
    pub offset_minutes: Option<i32>,
}

impl IsoTime {
    /// Parses a date or a time. The whole text must be one.
    pub fn parse(text: &str) -> Option<IsoTime> {
        let (date, time) = match text.split_once(['T', ' ']) {
            Some((date, time)) => (date, Some(TimeOfDay::parse(time)?)),
            None => (text, None),
        };
        Some(IsoTime {
            day: day_of(date)?,
            time,
        })
    }

    /// Milliseconds since 1970. A time without an offset is in UTC, a date is its midnight.
    pub fn milliseconds(&self) -> i64 {
        let of_day = self.time.map_or(0, |time| {
            time.milliseconds - i64::from(time.offset_minutes.unwrap_or_default()) * MINUTE
        });
        self.day * DAY + of_day
    }
}

impl TimeOfDay {
    fn parse(text: &str) -> Option<TimeOfDay> {
        let (text, offset_minutes) = match text.find(['Z', '+', '-']) {
            Some(zone) => (&text[..zone], Some(offset(&text[zone..])?)),
            None => (text, None),
        };
        let (text, fraction) = match text.split_once('.') {
            Some((text, fraction)) => (text, Some(fraction)),
            None => (text, None),
        };
        let parts: Vec<i64> = text.split(':').map(number).collect::<Option<_>>()?;
        let (hour, minute, second) = match parts.as_slice() {
            [hour, minute] if fraction.is_none() => (*hour, *minute, None),
            [hour, minute, second] => (*hour, *minute, Some(*second)),
            _ => return None,
        };
        let is_time = hour < 24 && minute < 60 && second.is_none_or(|second| second < 60);
        let milliseconds = (hour * 60 + minute) * MINUTE
            + second.unwrap_or_default() * SECOND
            + fraction.map_or(Some(0), thousandths)?;
        is_time.then_some(TimeOfDay {
            milliseconds,
            has_seconds: second.is_some(),
            offset_minutes,
        })
    }
}

/// One or two digits.
fn number(text: &str) -> Option<i64> {
    let is_number = matches!(text.len(), 1 | 2) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

/// The milliseconds of a fraction of a second; further digits are cut off.
fn thousandths(digits: &str) -> Option<i64> {
    let is_fraction =
        (1..=9).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_fraction.then(|| format!("{digits:0<3}")[..3].parse().ok())?
}

/// The minutes of `Z`, `+02:00`, `+0200` or `+02`.
fn offset(zone: &str) -> Option<i32> {
    if zone == "Z" {
        return Some(0);
    }
    let (sign, digits) = match zone.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, zone.strip_prefix('+')?),
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None => (digits.get(..2)?, digits.get(2..)?),
    };
    let (hours, minutes) = match minutes {
        "" => (number(hours)?, 0),
        minutes => (number(hours)?, number(minutes)?),
    };
    let is_offset = hours < 24 && minutes < 60;
    is_offset.then(|| i32::try_from(sign * (hours * 60 + minutes)).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_are_parsed() {
        let milliseconds = |text: &str| IsoTime::parse(text).map(|time| time.milliseconds());
        assert_eq!(milliseconds("1970-01-02"), Some(DAY));
        assert_eq!(milliseconds("1970-01-01T01:00:00.500Z"), Some(3_600_500));
        assert_eq!(milliseconds("1970-01-01 01:00:00.1239"), Some(3_600_123));
        for zone in ["+01:00", "+0100", "+01"] {
            let text = format!("1970-01-01T01:00:00{zone}");
            assert_eq!(milliseconds(&text), Some(0), "{text}");
        }
        assert_eq!(milliseconds("1969-12-31T22:30-01:30"), Some(0));
        let minute = IsoTime::parse("2024-05-31 10:00").unwrap().time.unwrap();
        assert_eq!((minute.has_seconds, minute.offset_minutes), (false, None));
    }

    #[test]
    fn everything_else_is_rejected() {
        for invalid in [
            "",
            "T",
            "2024-05-31T",
            "2024-05-31T10",
            "2024-05-31T25:00",
            "2024-05-31T10:60",
            "2024-05-31T10:00:60",
            "2024-05-31T10:00.5",
            "2024-05-31T10:00:00.",
            "2024-05-31T10:00:00.1234567890",
            "2024-05-31T10:00+",
            "2024-05-31T10:00+1",
            "2024-05-31T10:00+24:00",
            "2024-05-31T10:00Z ",
            "2024-05-31T-1:00",
            "2024-13-01T10:00",
            "2024-05-31Té:00",
        ] {
            assert_eq!(IsoTime::parse(invalid), None, "{invalid}");
        }
    }
}
