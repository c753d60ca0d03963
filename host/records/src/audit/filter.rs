//! The filter of queries: by caller, action, path, time and outcome.

/// A filter of calls; `None` matches all.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// By this caller.
    pub caller: Option<String>,
    /// Through `stdio`, `http` or `cli`.
    pub transport: Option<String>,
    /// Of this domain.
    pub domain: Option<String>,
    /// Of this action.
    pub action: Option<String>,
    /// On this vault.
    pub vault: Option<String>,
    /// With this path, or a path in this folder.
    pub path: Option<String>,
    /// With this outcome; `failed` is everything but `ok`.
    pub outcome: Option<String>,
    /// That began at this time or later, in milliseconds since 1970.
    pub since: Option<i64>,
    /// That began before this time.
    pub until: Option<i64>,
    /// With a smaller row number than this.
    pub before: Option<i64>,
    /// In one of these vaults, or without a vault.
    pub vaults: Option<Vec<String>>,
}
