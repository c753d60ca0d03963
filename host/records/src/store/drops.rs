//! What each caller dropped of each note. The content is opaque here: `policy::confirmation` counts it, and never while an
//! operation runs.

use super::RecordsError;

/// What a caller dropped of one note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropRecord {
    /// The note.
    pub path: String,
    /// How many words of others the caller dropped.
    pub words: u64,
    /// The counted content; `None` deletes the record.
    pub ledger: Option<Vec<u8>>,
}

/// What a landed change does to the records of one vault.
#[derive(Debug, Clone)]
pub struct DropUpdate<'a> {
    /// The caller.
    pub caller: &'a str,
    /// The vault's identity.
    pub vault: &'a str,
    /// The current time, in milliseconds since 1970.
    pub now: i64,
    /// Records of any caller that were last changed before this time are deleted.
    pub oldest: i64,
    /// The caller's records of these paths are deleted.
    pub forgotten: Vec<&'a str>,
    /// Records of other callers are renamed, all at once: notes may take each other's paths.
    pub renamed: Vec<(&'a str, &'a str)>,
    /// The caller's records as they are after it.
    pub stored: Vec<DropRecord>,
}

/// The content of one record, to be replaced by its sums.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlimUpdate {
    /// The vault's identity.
    pub vault: String,
    /// The note.
    pub path: String,
    /// The stored content.
    pub before: Vec<u8>,
    /// The sums.
    pub sums: Vec<u8>,
}

/// What callers dropped.
pub trait DropRecords: Send + Sync {
    /// The content of a caller's records of these paths, in their order, as far as they were changed at this time or later.
    fn dropped_content(
        &self,
        caller: &str,
        vault: &str,
        paths: &[&str],
        since: i64,
    ) -> Result<Vec<Option<Vec<u8>>>, RecordsError>;

    /// The number of a caller's records in all vaults.
    fn dropped_content_count(&self, caller: &str) -> Result<u64, RecordsError>;

    /// Applies an update.
    fn update_dropped_content(&self, update: &DropUpdate<'_>) -> Result<(), RecordsError>;

    /// The oldest of a caller's records that have to be replaced by their sums, until at most so many records and bytes
    /// remain: at most `limit` of them. Their `sums` are empty. The latest record remains however large it is.
    fn excess_dropped_content(
        &self,
        caller: &str,
        max_records: usize,
        max_bytes: usize,
        limit: usize,
    ) -> Result<Vec<SlimUpdate>, RecordsError>;

    /// Replaces records by their sums, unless they have changed meanwhile. Returns how many were replaced.
    fn slim_dropped_content(
        &self,
        caller: &str,
        updates: &[SlimUpdate],
    ) -> Result<usize, RecordsError>;
}
