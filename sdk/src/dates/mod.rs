//! Parsing and formatting of dates and times.
//!
//! A day is a number of days since 1970, a moment a number of milliseconds; both in the proleptic Gregorian calendar. Local
//! time uses the UTC offset of [`Vault::now`](crate::RawVault::now).
//!
//! This is the only calendar of the SDK and its domains. It is written here instead of taken from chrono, because it is 25
//! lines that work for every number of days, while chrono's (0.4.45, without default features) added 30 KiB of WebAssembly
//! to a component with nothing but these functions (14 to 44 KiB, optimised as in a release).

mod iso;
mod moment;
mod time_range;

pub use iso::{IsoTime, TimeOfDay};
pub use moment::Moment;
pub use time_range::{TIME_FORMATS, TimeRange, parse_time_range, relative_date};

/// Milliseconds per day.
pub const DAY: i64 = 86_400_000;
/// Months are added up to this year, before and after 1 BC.
const MAX_YEAR: i64 = 1_000_000;

/// Year, month and day of a number of days since 1970. Internally years begin in March, so that the leap day is the last
/// day of a year; 400 years have 146,097 days.
pub fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// The days from 1970 to a date: the inverse of [`civil`].
pub fn days_before(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = (month + 9) % 12;
    let of_year = (153 * month_from_march + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year - 719_468
}

/// The day some months after or before a day. A month that is too short ends on its last day: a month after January 31 is
/// the end of February. `None` if the year is out of range.
pub fn add_months(day: i64, months: i64) -> Option<i64> {
    let (year, month, of_month) = civil(day);
    let months = (year * 12 + month - 1).checked_add(months)?;
    let first = |months: i64| days_before(months.div_euclid(12), months.rem_euclid(12) + 1, 1);
    let is_year = (-MAX_YEAR..=MAX_YEAR).contains(&months.div_euclid(12));
    is_year.then(|| (first(months) + of_month - 1).min(first(months + 1) - 1))
}

/// The day of `2024-05-31`, if it exists.
pub fn day_of(date: &str) -> Option<i64> {
    let mut parts = date.split('-').map(|part| {
        let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        (is_number && part.len() <= 4).then(|| part.parse::<i64>().ok())?
    });
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let days = days_before(year, month, day);
    let is_real =
        parts.next().is_none() && (1..=12).contains(&month) && civil(days) == (year, month, day);
    is_real.then_some(days)
}

/// A day as `2024-05-31`.
pub fn date(day: i64) -> String {
    let (year, month, day) = civil(day);
    format!("{year:04}-{month:02}-{day:02}")
}

/// A moment as `2024-05-31T10:00:00Z`.
pub fn iso(milliseconds: u64) -> String {
    Moment::at(milliseconds).iso()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_end_on_their_last_day() {
        let after = |day: &str, months: i64| add_months(day_of(day).unwrap(), months).map(date);
        for (day, months, expected) in [
            ("2024-01-31", 1, "2024-02-29"),
            ("2023-01-31", 1, "2023-02-28"),
            ("2024-02-29", 12, "2025-02-28"),
            ("2024-03-31", -1, "2024-02-29"),
            ("2024-12-15", 1, "2025-01-15"),
            ("2024-01-01", -1, "2023-12-01"),
        ] {
            assert_eq!(
                after(day, months).as_deref(),
                Some(expected),
                "{day} {months}"
            );
        }
        assert_eq!(after("2024-01-01", i64::MAX), None);
        assert_eq!(after("2024-01-01", 12 * MAX_YEAR), None);
    }
}
