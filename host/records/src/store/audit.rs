//! The audit log: one record per call, and sums that outlive them.

use std::collections::HashMap;

use super::RecordsError;
use crate::audit::{Entry, Filter, Row, UsageSum};

/// The part of a call that statistics are computed from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSample {
    /// The start time in milliseconds since 1970.
    pub time: i64,
    /// The caller.
    pub caller: String,
    /// The requested domain.
    pub domain: String,
    /// The requested action.
    pub action: String,
    /// `ok`, an error code, or `cancelled`.
    pub outcome: String,
    /// The duration.
    pub microseconds: i64,
    /// The estimated number of model tokens of the arguments.
    pub tokens_in: i64,
    /// The estimated number of model tokens of the reply.
    pub tokens_out: i64,
}

/// The duration of a call of a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallDuration {
    /// The domain.
    pub domain: String,
    /// The component's version.
    pub version: String,
    /// The duration.
    pub microseconds: i64,
}

/// The audit log.
pub trait AuditRecords: Send + Sync {
    /// Appends calls in this order, counts the successful ones of each caller and vault, and adds up the resource usage of
    /// components.
    fn append_calls(&self, batch: &[Entry]) -> Result<(), RecordsError>;

    /// The latest calls that match a filter, the newest last.
    fn latest_calls(&self, filter: &Filter, limit: u32) -> Result<Vec<Row>, RecordsError>;

    /// The calls after one that match a filter, the oldest first. `0` is before all of them.
    fn calls_after(
        &self,
        filter: &Filter,
        number: i64,
        limit: u32,
    ) -> Result<Vec<Row>, RecordsError>;

    /// The number of the latest call; `0` if there is none. Numbers ascend and are not reused.
    fn latest_call_number(&self) -> Result<i64, RecordsError>;

    /// The samples of the calls that match a filter, by time.
    fn call_samples(&self, filter: &Filter) -> Result<Vec<CallSample>, RecordsError>;

    /// The durations of the latest calls of components, of this many calls at most.
    fn call_durations(&self, max_calls: u32) -> Result<Vec<CallDuration>, RecordsError>;

    /// The number of successful calls of a caller in a vault, also of those that were deleted.
    fn successful_calls(&self, caller: &str, vault: &str) -> Result<u64, RecordsError>;

    /// The total usage of components by name and digest, also of calls that were deleted.
    fn component_usage(&self) -> Result<HashMap<(String, String), UsageSum>, RecordsError>;

    /// The number of the first call to keep: of the latest `max_calls`, the first that began at this time or later.
    fn first_kept_call(&self, oldest: i64, max_calls: u64) -> Result<i64, RecordsError>;

    /// Deletes calls before a number, the oldest first, at most `limit`: other writers do not wait for all of them.
    /// Returns how many were deleted.
    fn delete_calls_before(&self, number: i64, limit: u32) -> Result<u32, RecordsError>;
}
