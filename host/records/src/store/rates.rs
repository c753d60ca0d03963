//! The token buckets of callers. They are filled and emptied in memory and stored every few seconds, so that a restart does
//! not reset the limits.

use std::borrow::Cow;

use super::RecordsError;

/// A token bucket.
#[derive(Debug, Clone, PartialEq)]
pub struct RateRecord {
    /// The caller.
    pub caller: String,
    /// The name of the bucket: an effect, or requests of every kind.
    pub bucket: Cow<'static, str>,
    /// The tokens in it.
    pub tokens: f64,
    /// The time of that count, in milliseconds since 1970.
    pub time: i64,
}

/// The token buckets.
pub trait RateRecords: Send + Sync {
    /// All stored buckets.
    fn rates(&self) -> Result<Vec<RateRecord>, RecordsError>;

    /// Stores these buckets, and deletes others whose count is older than a time.
    fn store_rates(&self, buckets: &[RateRecord], oldest: i64) -> Result<(), RecordsError>;
}
