//! Parses and formats points in time: an age such as `2h`, a date, a time; always in UTC, so the same on all machines.

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
    parse(text, crate::database::now_ms()).map(Moment).ok_or_else(|| {
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
    let text = text.strip_suffix('Z').unwrap_or(text);
    let (day, time) = match text.split_once(['T', ' ']) {
        Some((day, time)) => (day, Some(time)),
        None => (text, None),
    };
    let number = |text: &str, digits: usize| -> Option<i64> {
        let is_number = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse().ok()).flatten()
    };
    let parts: Vec<&str> = day.split('-').collect();
    let [year, month, day] = parts.as_slice() else {
        return None;
    };
    let (year, month, day) = (number(year, 4)?, number(month, 2)?, number(day, 2)?);
    let mut moment = days_to(year, month, day)? * DAY;
    if let Some(time) = time {
        let parts: Vec<&str> = time.split(':').collect();
        let (hour, minute, second) = match parts.as_slice() {
            [hour, minute] => (hour, minute, &"00"),
            [hour, minute, second] => (hour, minute, second),
            _ => return None,
        };
        let second = second.split('.').next().unwrap_or(second);
        let (hour, minute, second) = (number(hour, 2)?, number(minute, 2)?, number(second, 2)?);
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        moment += hour * HOUR + minute * MINUTE + second * SECOND;
    }
    Some(moment)
}

/// The number of days from 1970 to a valid date.
fn days_to(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) || !(1970..=9999).contains(&year) {
        return None;
    }
    // Years begin in March here, so that a leap day is the last of its year.
    let (shifted_year, shifted_month) = match month {
        1 | 2 => (year - 1, month + 9),
        _ => (year, month - 3),
    };
    let of_year = (153 * shifted_month + 2) / 5 + day - 1;
    let days =
        shifted_year * 365 + shifted_year / 4 - shifted_year / 100 + shifted_year / 400 + of_year
            - 719_468;
    // A day that its month does not have would be converted to one of the next month.
    (day >= 1 && date(days) == (year, month, day)).then_some(days)
}

/// The date of a day after 1970.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// Formats `2026-11-01T12:30:15.250Z`, for programs.
pub fn iso(moment: i64) -> String {
    let (day, time) = (shown_day(moment), moment.rem_euclid(DAY));
    format!(
        "{day}T{:02}:{:02}:{:02}.{:03}Z",
        time / HOUR,
        time / MINUTE % 60,
        time / SECOND % 60,
        time % SECOND
    )
}

/// Formats `2026-11-01 12:30:15`, for people.
pub fn shown(moment: i64) -> String {
    iso(moment)[..19].replace('T', " ")
}

/// Formats `2026-11-01`.
pub fn shown_day(moment: i64) -> String {
    let (year, month, day) = date(moment.div_euclid(DAY));
    format!("{year:04}-{month:02}-{day:02}")
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
        for (text, meant) in [
            ("90s", "2026-11-01T11:58:30.000Z"),
            ("2h", "2026-11-01T10:00:00.000Z"),
            ("1w", "2026-10-25T12:00:00.000Z"),
            ("2026-11-01", "2026-11-01T00:00:00.000Z"),
            ("2024-02-29T23:59", "2024-02-29T23:59:00.000Z"),
            ("2026-11-01 10:20:30Z", "2026-11-01T10:20:30.000Z"),
            ("2026-11-01T10:20:30.250Z", "2026-11-01T10:20:30.000Z"),
        ] {
            assert_eq!(parse(text, now).map(iso).as_deref(), Some(meant), "{text}");
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
