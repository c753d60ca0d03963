//! The records of open circuit breakers, so that the command line can list and close them beside a running server, and
//! a restarted server continues with them. Opening and closing is decided in the pipeline.

use std::sync::Arc;

use rusqlite::{Row, params};
use serde::Serialize;

use notehost_records::database::{Database, DatabaseError};

/// The table of open breakers.
pub const BREAKER_TABLE: &str = "
CREATE TABLE IF NOT EXISTS quarantines (
    component TEXT NOT NULL,
    caller TEXT NOT NULL,       -- the only caller that is kept away; empty is everybody
    digest TEXT NOT NULL,       -- of the component's content: another version begins anew
    reason TEXT NOT NULL,
    since INTEGER NOT NULL,     -- milliseconds since 1970
    until INTEGER NOT NULL,     -- when the next call is let through, as a trial
    pause_ms INTEGER NOT NULL,
    PRIMARY KEY (component, caller)
) STRICT;";

/// An open circuit breaker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BreakerRecord {
    /// The component.
    pub component: String,
    /// The caller it is open for; `None` means all callers.
    pub caller: Option<String>,
    /// The digest of its content.
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

/// The recorded open breakers.
pub struct BreakerRecords {
    database: Arc<Database>,
}

impl BreakerRecords {
    /// The open breakers in these records.
    pub fn new(database: Arc<Database>) -> BreakerRecords {
        BreakerRecords { database }
    }

    /// The open breakers of one component.
    pub fn of(&self, component: &str) -> Result<Vec<BreakerRecord>, DatabaseError> {
        let mut all = open_breakers(&self.database)?;
        all.retain(|one| one.component == component);
        Ok(all)
    }

    /// Stores one, replacing that of the same component and caller.
    pub fn put(&self, quarantine: &BreakerRecord) -> Result<(), DatabaseError> {
        self.database.with(|connection| {
            connection.execute(
                "INSERT OR REPLACE INTO quarantines VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    quarantine.component,
                    quarantine.caller.as_deref().unwrap_or_default(),
                    quarantine.digest,
                    quarantine.reason,
                    quarantine.since,
                    quarantine.until,
                    quarantine.pause_ms,
                ],
            )
        })?;
        Ok(())
    }

    /// Removes one.
    pub fn end(&self, component: &str, caller: Option<&str>) -> Result<(), DatabaseError> {
        self.database.with(|connection| {
            connection.execute(
                "DELETE FROM quarantines WHERE component = ?1 AND caller = ?2",
                [component, caller.unwrap_or_default()],
            )
        })?;
        Ok(())
    }

    /// Removes all of a component on behalf of an admin. Returns whether there was one.
    pub fn lift(&self, component: &str) -> Result<bool, DatabaseError> {
        close_breakers(&self.database, component)
    }
}

/// All open breakers, by component.
pub fn open_breakers(database: &Database) -> Result<Vec<BreakerRecord>, DatabaseError> {
    database.with(|connection| {
        let mut statement = connection.prepare_cached(
            "SELECT component, caller, digest, reason, since, until, pause_ms FROM quarantines
             ORDER BY component, caller",
        )?;
        statement.query_map([], read)?.collect()
    })
}

/// Closes all breakers of a component. A running server checks the records before it refuses the next call. Returns
/// whether there was one.
pub fn close_breakers(database: &Database, component: &str) -> Result<bool, DatabaseError> {
    let lifted = database.with(|connection| {
        connection.execute("DELETE FROM quarantines WHERE component = ?1", [component])
    })?;
    Ok(lifted > 0)
}

fn read(row: &Row<'_>) -> rusqlite::Result<BreakerRecord> {
    let caller: String = row.get(1)?;
    Ok(BreakerRecord {
        component: row.get(0)?,
        caller: Some(caller).filter(|caller| !caller.is_empty()),
        digest: row.get(2)?,
        reason: row.get(3)?,
        since: row.get(4)?,
        until: row.get(5)?,
        pause_ms: row.get(6)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_breakers_are_found_and_closed() {
        let state = tempfile::tempdir().expect("a folder");
        let open = || Arc::new(crate::open_records(state.path()).expect("records"));
        let (server, terminal) = (BreakerRecords::new(open()), open());
        let quarantine = BreakerRecord {
            component: "echo".into(),
            caller: None,
            digest: "1".into(),
            reason: "it trapped".into(),
            since: 1,
            until: 2,
            pause_ms: 3,
        };
        let for_one = BreakerRecord {
            caller: Some("phone".into()),
            ..quarantine.clone()
        };
        for one in [&quarantine, &for_one] {
            server.put(one).expect("written");
        }
        assert_eq!(
            open_breakers(&terminal).expect("rows"),
            [quarantine, for_one]
        );
        server.end("echo", Some("phone")).expect("ended");
        assert_eq!(server.of("echo").expect("rows").len(), 1);
        assert!(close_breakers(&terminal, "echo").expect("lifted"));
        assert!(!server.lift("echo").expect("nothing there"));
        assert_eq!(server.of("echo").expect("rows"), []);
    }
}
