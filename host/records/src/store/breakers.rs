//! Open circuit breakers, so that the command line can list and close them while a server runs, and a restarted server
//! continues with them. The pipeline decides when they open and close.

use serde::Serialize;

use super::RecordsError;

/// An open circuit breaker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BreakerRecord {
    /// The component.
    pub component: String,
    /// The caller it is open for; `None` means all callers.
    pub caller: Option<String>,
    /// The digest of the component's content: another version starts with a closed breaker.
    pub digest: String,
    /// Why it opened.
    pub reason: String,
    /// When it opened, in milliseconds since 1970.
    pub since: i64,
    /// When the next call is let through as a trial.
    pub until: i64,
    /// The length of the pause before that trial.
    pub pause_ms: i64,
}

/// The open circuit breakers.
pub trait BreakerRecords: Send + Sync {
    /// All open breakers, by component and caller.
    fn open_breakers(&self) -> Result<Vec<BreakerRecord>, RecordsError>;

    /// The open breakers of one component.
    fn open_breakers_of(&self, component: &str) -> Result<Vec<BreakerRecord>, RecordsError>;

    /// Stores an open breaker. Replaces that of the same component and caller.
    fn store_breaker(&self, breaker: &BreakerRecord) -> Result<(), RecordsError>;

    /// Removes the breaker of a component for one caller, or the one for all callers.
    fn close_breaker(&self, component: &str, caller: Option<&str>) -> Result<(), RecordsError>;

    /// Removes all breakers of a component. A running server checks the records before it refuses the next call. Returns
    /// whether there was one.
    fn close_breakers(&self, component: &str) -> Result<bool, RecordsError>;
}
