//! The current time, in the unit of every record.

use std::time::{SystemTime, UNIX_EPOCH};

/// The current time in milliseconds since 1970.
pub fn now_ms() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// The same where times have no sign: in vaults and in the contract.
pub fn now_millis() -> u64 {
    now_ms().unsigned_abs()
}
