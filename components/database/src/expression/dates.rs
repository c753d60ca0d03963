//! Dates and durations: parsing, arithmetic, formatting. A date is local time of the owner and has no time zone.

use notehost_sdk::dates::{self, DAY, IsoTime, Moment, add_months, civil};

/// The supported years.
const YEARS: std::ops::RangeInclusive<i64> = 0..=9999;

/// A day, or a moment of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Date {
    /// Since 1970-01-01T00:00 local time.
    pub(crate) milliseconds: i64,
    /// Whether it has a time of day.
    pub(crate) is_timed: bool,
}

impl Date {
    pub(crate) fn day(day: i64) -> Date {
        Date {
            milliseconds: day * DAY,
            is_timed: false,
        }
    }

    pub(crate) fn moment(milliseconds: i64) -> Date {
        Date {
            milliseconds,
            is_timed: true,
        }
    }

    pub(crate) fn days(self) -> i64 {
        self.milliseconds.div_euclid(DAY)
    }

    fn of_day(self) -> i64 {
        self.milliseconds.rem_euclid(DAY)
    }

    /// Formats it as in properties: `2024-05-31`, `2024-05-31T10:00:00`.
    pub(crate) fn text(self) -> String {
        let date = dates::date(self.days());
        match self.is_timed {
            true => format!("{date}T{}", self.time()),
            false => date,
        }
    }

    pub(crate) fn time(self) -> String {
        Moment::with_offset(self.milliseconds, 0).format("HH:mm:ss")
    }

    /// A component such as `year`.
    pub(crate) fn field(self, name: &str) -> Option<i64> {
        let (year, month, day) = civil(self.days());
        let of_day = self.of_day();
        Some(match name {
            "year" => year,
            "month" => month,
            "day" => day,
            "hour" => of_day / 3_600_000,
            "minute" => of_day / 60_000 % 60,
            "second" => of_day / 1000 % 60,
            "millisecond" => of_day % 1000,
            _ => return None,
        })
    }

    /// Formats it with a Moment.js pattern.
    pub(crate) fn format(self, pattern: &str, offset_minutes: i32) -> String {
        let ahead = i64::from(offset_minutes) * 60_000;
        Moment::with_offset(self.milliseconds.saturating_sub(ahead), offset_minutes).format(pattern)
    }

    /// Adds a duration.
    pub(crate) fn plus(self, duration: Duration) -> Option<Date> {
        let mut milliseconds = self.milliseconds;
        if duration.months != 0 {
            milliseconds = add_months(self.days(), duration.months)? * DAY + self.of_day();
        }
        let milliseconds = milliseconds.checked_add(duration.rest)?;
        let date = Date {
            milliseconds,
            is_timed: self.is_timed || duration.rest % DAY != 0,
        };
        let is_known =
            (-1_000_000..4_000_000).contains(&date.days()) && YEARS.contains(&civil(date.days()).0);
        is_known.then_some(date)
    }

    /// Relative time: `3 days ago`, `in 2 hours`.
    pub(crate) fn relative(self, now: Date) -> String {
        let difference = match self.is_timed {
            true => self.milliseconds - now.milliseconds,
            false => (self.days() - now.days()) * DAY,
        };
        if !self.is_timed && difference == 0 {
            return "today".to_owned();
        }
        let words = span_words(difference.unsigned_abs());
        match difference > 0 {
            true => format!("in {words}"),
            false => format!("{words} ago"),
        }
    }
}

/// A humanised duration with the thresholds of Moment.js.
fn span_words(milliseconds: u64) -> String {
    let seconds = milliseconds as f64 / 1000.0;
    let (minutes, hours, days) = (seconds / 60.0, seconds / 3600.0, seconds / 86_400.0);
    let several = |count: f64, unit: &str| format!("{} {unit}", count.round());
    match () {
        () if seconds.round() < 45.0 => "a few seconds".to_owned(),
        () if minutes.round() <= 1.0 => "a minute".to_owned(),
        () if minutes.round() < 45.0 => several(minutes, "minutes"),
        () if hours.round() <= 1.0 => "an hour".to_owned(),
        () if hours.round() < 22.0 => several(hours, "hours"),
        () if days.round() <= 1.0 => "a day".to_owned(),
        () if days.round() < 26.0 => several(days, "days"),
        () if (days / 30.44).round() <= 1.0 => "a month".to_owned(),
        () if (days / 30.44).round() < 11.0 => several(days / 30.44, "months"),
        () if (days / 365.25).round() <= 1.0 => "a year".to_owned(),
        () => several(days / 365.25, "years"),
    }
}

/// A duration; calendar months are kept separately because their length varies.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Duration {
    pub(crate) months: i64,
    /// In milliseconds.
    pub(crate) rest: i64,
}

impl Duration {
    pub(crate) fn of(milliseconds: i64) -> Duration {
        Duration {
            months: 0,
            rest: milliseconds,
        }
    }

    /// The total in milliseconds, with months of average length.
    pub(crate) fn milliseconds(self) -> f64 {
        self.months as f64 * 30.436_875 * DAY as f64 + self.rest as f64
    }

    pub(crate) fn negated(self) -> Duration {
        Duration {
            months: self.months.saturating_neg(),
            rest: self.rest.saturating_neg(),
        }
    }

    pub(crate) fn plus(self, other: Duration) -> Duration {
        Duration {
            months: self.months.saturating_add(other.months),
            rest: self.rest.saturating_add(other.rest),
        }
    }

    /// Multiplies it by a factor.
    pub(crate) fn times(self, factor: f64) -> Duration {
        let months = self.months as f64 * factor;
        match months.fract() == 0.0 {
            true => Duration {
                months: months as i64,
                rest: (self.rest as f64 * factor) as i64,
            },
            false => Duration::of((self.milliseconds() * factor) as i64),
        }
    }

    /// The total in a unit such as `days`.
    pub(crate) fn field(self, name: &str) -> Option<f64> {
        let unit = match name {
            "years" => 365.2425 * DAY as f64,
            "months" => 30.436_875 * DAY as f64,
            "weeks" => 7.0 * DAY as f64,
            "days" => DAY as f64,
            "hours" => 3_600_000.0,
            "minutes" => 60_000.0,
            "seconds" => 1000.0,
            "milliseconds" => 1.0,
            _ => return None,
        };
        Some(self.milliseconds() / unit)
    }

    /// Parses `1d`, `2 weeks`, `1h 30m`, `-3 months`.
    pub(crate) fn parse(text: &str) -> Option<Duration> {
        let mut duration = Duration::default();
        let mut rest = text.trim();
        if rest.is_empty() {
            return None;
        }
        while !rest.is_empty() {
            let digits = rest
                .find(|letter: char| !letter.is_ascii_digit() && !matches!(letter, '.' | '-' | '+'))
                .filter(|end| *end > 0)?;
            let count: f64 = rest[..digits].parse().ok()?;
            rest = rest[digits..].trim_start();
            let end = rest
                .find(|letter: char| !letter.is_ascii_alphabetic())
                .unwrap_or(rest.len());
            let unit = match &rest[..end] {
                "y" | "year" | "years" => Duration {
                    months: 12,
                    rest: 0,
                },
                "M" | "month" | "months" => Duration { months: 1, rest: 0 },
                "w" | "week" | "weeks" => Duration::of(7 * DAY),
                "d" | "day" | "days" => Duration::of(DAY),
                "h" | "hour" | "hours" => Duration::of(3_600_000),
                "m" | "minute" | "minutes" => Duration::of(60_000),
                "s" | "second" | "seconds" => Duration::of(1000),
                "ms" | "millisecond" | "milliseconds" => Duration::of(1),
                _ => return None,
            };
            duration = duration.plus(unit.times(count));
            rest = rest[end..].trim_start_matches([' ', ',']);
        }
        Some(duration)
    }
}

/// Parses a text that is entirely a date: `2024-05-31`, `2024-05-31 10:00`, `2024-05-31T10:00:05.123`.
pub(crate) fn parse_date(text: &str) -> Option<Date> {
    let text = text.trim();
    let is_date = text.len() >= 10
        && text.is_char_boundary(10)
        && text.as_bytes()[4] == b'-'
        && text.as_bytes()[7] == b'-';
    if !is_date {
        return None;
    }
    let time = IsoTime::parse(text)?;
    Some(match time.time {
        Some(_) => Date::moment(time.milliseconds()),
        None => Date::day(time.day),
    })
}
