//! Points in time, with Moment.js formatting.

use super::{DAY, civil, days_before};
use crate::Vault;
use crate::host::Now;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// The range of days that moments can have.
const FIRST_DAY: i64 = -1_000_000;
const LAST_DAY: i64 = 3_000_000;
const DAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];

/// A point in time, split into calendar fields.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    milliseconds: i64,
    offset_minutes: i32,
    year: i64,
    month: usize,
    day: usize,
    day_of_year: usize,
    weekday: usize,
    hour: i64,
    minute: i64,
    second: i64,
}

impl Moment {
    /// The current local time of the owner.
    pub fn now(vault: &Vault) -> Moment {
        Moment::local(&vault.now())
    }

    /// The local time of `now`.
    pub fn local(now: &Now) -> Moment {
        Moment::with_offset(signed(now.milliseconds), now.offset_minutes)
    }

    /// The moment in UTC at `milliseconds` since 1970.
    pub fn at(milliseconds: u64) -> Moment {
        Moment::with_offset(signed(milliseconds), 0)
    }

    /// The moment at `milliseconds` since 1970, in a time zone with this offset from UTC.
    pub fn with_offset(milliseconds: i64, offset_minutes: i32) -> Moment {
        let local = milliseconds.saturating_add(i64::from(offset_minutes) * 60_000);
        // Times beyond the supported range are clamped.
        let days = local.div_euclid(DAY).clamp(FIRST_DAY, LAST_DAY);
        let of_day = local.rem_euclid(DAY);
        let (year, month, day) = civil(days);
        let new_year = days_before(year, 1, 1);
        Moment {
            milliseconds,
            offset_minutes,
            year,
            month: usize::try_from(month).unwrap_or(1),
            day: usize::try_from(day).unwrap_or(1),
            day_of_year: usize::try_from(days - new_year).unwrap_or_default() + 1,
            // 1970 began on a Thursday.
            weekday: usize::try_from((days + 4).rem_euclid(7)).unwrap_or_default(),
            hour: of_day / 3_600_000,
            minute: of_day / 60_000 % 60,
            second: of_day / 1000 % 60,
        }
    }

    /// Year, month and day.
    pub fn date(&self) -> (i64, usize, usize) {
        (self.year, self.month, self.day)
    }

    /// The days from 1970 to this day.
    pub fn days(&self) -> i64 {
        days_before(self.year, self.month as i64, self.day as i64)
    }

    /// In ISO 8601: `2026-01-31T09:05:00Z`, `2026-01-31T11:05:00+02:00`.
    pub fn iso(&self) -> String {
        match self.offset_minutes {
            0 => self.format("YYYY-MM-DD[T]HH:mm:ss[Z]"),
            _ => self.format("YYYY-MM-DD[T]HH:mm:ssZ"),
        }
    }

    /// In a Moment.js format, as in Obsidian's templates. Unknown letters are copied.
    pub fn format(&self, pattern: &str) -> String {
        let mut text = String::new();
        let mut rest = pattern;
        while let Some(first) = rest.chars().next() {
            if let Some((literal, after)) = rest
                .strip_prefix('[')
                .and_then(|inner| inner.split_once(']'))
            {
                text.push_str(literal);
                rest = after;
            } else if let Some((token, value)) = self.token(rest) {
                text.push_str(&value);
                rest = &rest[token.len()..];
            } else {
                text.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
        text
    }

    /// The longest token at the start of a pattern, and its value.
    fn token(&self, pattern: &str) -> Option<(&'static str, String)> {
        const TOKENS: [&str; 40] = [
            "YYYY", "YY", "GGGG", "MMMM", "MMM", "MM", "Mo", "M", "DDDD", "DDD", "DD", "Do", "D",
            "dddd", "ddd", "dd", "d", "E", "WW", "Wo", "W", "Qo", "Q", "HH", "H", "hh", "h", "mm",
            "m", "ss", "s", "SSS", "A", "a", "X", "x", "ZZ", "Z", "kk", "k",
        ];
        let token = TOKENS
            .into_iter()
            .find(|token| pattern.starts_with(token))?;
        let half_day = (self.hour + 11) % 12 + 1;
        let (week_year, week) = self.week();
        let day_hour = if self.hour == 0 { 24 } else { self.hour };
        let month = MONTHS[self.month - 1];
        let weekday = DAYS[self.weekday];
        Some((
            token,
            match token {
                "YYYY" => format!("{:04}", self.year),
                "YY" => format!("{:02}", self.year.rem_euclid(100)),
                "GGGG" => format!("{week_year:04}"),
                "MMMM" => month.to_owned(),
                "MMM" => month[..3].to_owned(),
                "MM" => format!("{:02}", self.month),
                "Mo" => ordinal(self.month),
                "M" => self.month.to_string(),
                "DDDD" => format!("{:03}", self.day_of_year),
                "DDD" => self.day_of_year.to_string(),
                "DD" => format!("{:02}", self.day),
                "Do" => ordinal(self.day),
                "D" => self.day.to_string(),
                "dddd" => weekday.to_owned(),
                "ddd" => weekday[..3].to_owned(),
                "dd" => weekday[..2].to_owned(),
                "d" => self.weekday.to_string(),
                "E" => self.iso_weekday().to_string(),
                "WW" => format!("{week:02}"),
                "Wo" => ordinal(week),
                "W" => week.to_string(),
                "Qo" => ordinal(self.month.div_ceil(3)),
                "Q" => self.month.div_ceil(3).to_string(),
                "HH" => format!("{:02}", self.hour),
                "H" => self.hour.to_string(),
                "hh" => format!("{half_day:02}"),
                "h" => half_day.to_string(),
                "kk" => format!("{day_hour:02}"),
                "k" => day_hour.to_string(),
                "mm" => format!("{:02}", self.minute),
                "m" => self.minute.to_string(),
                "ss" => format!("{:02}", self.second),
                "s" => self.second.to_string(),
                "SSS" => format!("{:03}", self.milliseconds.rem_euclid(1000)),
                "A" => (if self.hour < 12 { "AM" } else { "PM" }).to_owned(),
                "a" => (if self.hour < 12 { "am" } else { "pm" }).to_owned(),
                "X" => self.milliseconds.div_euclid(1000).to_string(),
                "x" => self.milliseconds.to_string(),
                "ZZ" => self.offset(""),
                _ => self.offset(":"),
            },
        ))
    }

    fn offset(&self, between: &str) -> String {
        let sign = if self.offset_minutes < 0 { '-' } else { '+' };
        let minutes = self.offset_minutes.unsigned_abs();
        format!("{sign}{:02}{between}{:02}", minutes / 60, minutes % 60)
    }

    /// Monday is 1, Sunday 7.
    fn iso_weekday(&self) -> usize {
        (self.weekday + 6) % 7 + 1
    }

    /// The ISO week and its year, which is the year of its Thursday.
    fn week(&self) -> (i64, usize) {
        let days = self.days();
        let thursday = days + 4 - self.iso_weekday() as i64;
        let (year, _, _) = civil(thursday);
        let day_of_year = usize::try_from(thursday - days_before(year, 1, 1)).unwrap_or_default();
        (year, day_of_year / 7 + 1)
    }
}

fn signed(milliseconds: u64) -> i64 {
    i64::try_from(milliseconds).unwrap_or(i64::MAX)
}

fn ordinal(number: usize) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_formatted_with_every_token() {
        let moment = Moment::at(1_709_200_805_042);
        assert_eq!(moment.iso(), "2024-02-29T10:00:05Z");
        assert_eq!(
            moment.format("dddd, Do MMMM YYYY, h:mm A"),
            "Thursday, 29th February 2024, 10:00 AM"
        );
        assert_eq!(
            moment.format("GGGG-[W]WW DDDD Q x"),
            "2024-W09 060 1 1709200805042"
        );
        assert_eq!(moment.format("[YYYY] 日 ["), "YYYY 日 [");
    }

    #[test]
    fn offsets_shift_the_day() {
        let berlin = Moment::with_offset(1_767_225_599_999, 60);
        assert_eq!(berlin.iso(), "2026-01-01T00:59:59+01:00");
        let west = Moment::with_offset(1_767_225_600_000, -210);
        assert_eq!(west.format("YYYY-MM-DD HH:mm ZZ"), "2025-12-31 20:30 -0330");
    }

    #[test]
    fn moments_before_1970_are_formatted() {
        let landing = Moment::with_offset(-14_182_940_000, 0);
        assert_eq!(
            landing.format("YYYY-MM-DD ddd HH:mm:ss DDDD GGGG-WW x"),
            "1969-07-20 Sun 20:17:40 201 1969-29 -14182940000"
        );
    }

    #[test]
    fn year_boundaries_are_exact() {
        assert_eq!(Moment::at(0).format("YYYY-MM-DD ddd"), "1970-01-01 Thu");
        assert_eq!(
            Moment::at(1_767_225_599_999).format("YYYY-MM-DD HH:mm:ss GGGG-WW"),
            "2025-12-31 23:59:59 2026-01"
        );
        for days in (0..60_000).step_by(17) {
            let (year, month, day) = civil(days);
            assert_eq!(days_before(year, month, day), days);
        }
    }
}
