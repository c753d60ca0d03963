//! Review days. A day starts at 4:00 local time, so that reviews shortly after midnight count for the previous day.

use notehost_sdk::dates::{self, Moment};
use notehost_sdk::prelude::*;

/// Start of a day, in milliseconds after midnight.
const DAY_START_MS: i64 = 4 * 3_600_000;

/// The time of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    /// Milliseconds since 1970.
    pub(crate) now: i64,
    ahead: i64,
}

impl Clock {
    /// The current time of the owner.
    pub(crate) fn of(vault: &Vault) -> Clock {
        let now = vault.now();
        Clock {
            now: i64::try_from(now.milliseconds).unwrap_or(i64::MAX / 4),
            ahead: i64::from(now.offset_minutes) * 60_000,
        }
    }

    /// The day of a timestamp.
    pub(crate) fn day(&self, moment: i64) -> i64 {
        moment
            .saturating_add(self.ahead - DAY_START_MS)
            .div_euclid(dates::DAY)
    }

    /// The current day.
    pub(crate) fn today(&self) -> i64 {
        self.day(self.now)
    }

    /// The start of a day, in milliseconds since 1970.
    pub(crate) fn start_of(&self, day: i64) -> i64 {
        day * dates::DAY + DAY_START_MS - self.ahead
    }

    /// The number of days since a timestamp.
    pub(crate) fn days_since(&self, moment: i64) -> u32 {
        u32::try_from(self.today() - self.day(moment)).unwrap_or(0)
    }

    /// Formats a timestamp in local time: `2026-01-01 08:30`.
    pub(crate) fn local_time(&self, moment: i64) -> String {
        let local = moment.saturating_add(self.ahead);
        Moment::with_offset(local, 0).format("YYYY-MM-DD HH:mm")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_start_at_four_local_time() {
        let clock = Clock {
            now: 0,
            ahead: 2 * 3_600_000,
        };
        let hour = 3_600_000;
        assert_eq!(clock.day(2 * hour - 1), -1);
        assert_eq!(clock.day(2 * hour), 0);
        assert_eq!(clock.local_time(0), "1970-01-01 02:00");
        assert_eq!(
            Clock {
                now: 30 * hour,
                ahead: 0
            }
            .days_since(hour),
            2
        );
    }
}
