//! Days as learners count them: a day begins at four in the morning, local time, so that an evening that grows long is
//! still one evening.

use notehost_sdk::dates;
use notehost_sdk::prelude::*;

/// When a day begins, in milliseconds after midnight.
const DAWN: i64 = 4 * 3_600_000;

/// The moment of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    /// Milliseconds since 1970.
    pub(crate) now: i64,
    ahead: i64,
}

impl Clock {
    /// What the owner's clock says.
    pub(crate) fn of(vault: &Vault) -> Clock {
        let now = vault.now();
        Clock {
            now: i64::try_from(now.milliseconds).unwrap_or(i64::MAX / 4),
            ahead: i64::from(now.offset_minutes) * 60_000,
        }
    }

    /// The day of a moment.
    pub(crate) fn day(&self, moment: i64) -> i64 {
        moment
            .saturating_add(self.ahead - DAWN)
            .div_euclid(dates::DAY)
    }

    /// The day of now.
    pub(crate) fn today(&self) -> i64 {
        self.day(self.now)
    }

    /// When a day begins, in milliseconds since 1970.
    pub(crate) fn begin_of(&self, day: i64) -> i64 {
        day * dates::DAY + DAWN - self.ahead
    }

    /// How many days passed since a moment.
    pub(crate) fn days_since(&self, moment: i64) -> u32 {
        u32::try_from(self.today() - self.day(moment)).unwrap_or(0)
    }

    /// A moment as the owner's clock shows it: `2026-01-01 08:30`.
    pub(crate) fn shown(&self, moment: i64) -> String {
        let local = moment.saturating_add(self.ahead);
        let minutes = local.rem_euclid(dates::DAY) / 60_000;
        format!(
            "{} {:02}:{:02}",
            dates::date(local.div_euclid(dates::DAY)),
            minutes / 60,
            minutes % 60
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_at_four_local_time() {
        let clock = Clock {
            now: 0,
            ahead: 2 * 3_600_000,
        };
        let hour = 3_600_000;
        assert_eq!(clock.day(2 * hour - 1), -1);
        assert_eq!(clock.day(2 * hour), 0);
        assert_eq!(clock.shown(0), "1970-01-01 02:00");
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
