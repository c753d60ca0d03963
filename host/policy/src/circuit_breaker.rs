//! Components that are kept from being called because they failed too often, as far as it is written down: so that the
//! command line can see and end it beside a running server, and a server that is started again goes on with it. When one
//! begins and ends is decided elsewhere.

use std::sync::Arc;

use rusqlite::{Row, params};
use serde::Serialize;

use notehost_records::database::{Database, DatabaseError};

/// Where they are written down.
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

/// A component that is kept from being called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BreakerRecord {
    /// Which component.
    pub component: String,
    /// The only caller that is kept away; `None` is everybody.
    pub caller: Option<String>,
    /// Of its content.
    pub digest: String,
    /// What it did.
    pub reason: String,
    /// When it began, in milliseconds since 1970.
    pub since: i64,
    /// When the next call is let through, as a trial.
    pub until: i64,
    /// How long the pause before that trial is.
    pub pause_ms: i64,
}

/// The quarantines in the records.
pub struct BreakerRecords {
    database: Arc<Database>,
}

impl BreakerRecords {
    /// Those in these records.
    pub fn new(database: Arc<Database>) -> BreakerRecords {
        BreakerRecords { database }
    }

    /// Those of one component.
    pub fn of(&self, component: &str) -> Result<Vec<BreakerRecord>, DatabaseError> {
        let mut all = quarantines(&self.database)?;
        all.retain(|one| one.component == component);
        Ok(all)
    }

    /// Write one down, in the place of what was there for the same component and caller.
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

    /// Forget one.
    pub fn end(&self, component: &str, caller: Option<&str>) -> Result<(), DatabaseError> {
        self.database.with(|connection| {
            connection.execute(
                "DELETE FROM quarantines WHERE component = ?1 AND caller = ?2",
                [component, caller.unwrap_or_default()],
            )
        })?;
        Ok(())
    }

    /// Forget all of a component: an admin says so. Whether there was one.
    pub fn lift(&self, component: &str) -> Result<bool, DatabaseError> {
        close_breakers(&self.database, component)
    }
}

/// All that are written down, by component.
pub fn open_breakers(database: &Database) -> Result<Vec<BreakerRecord>, DatabaseError> {
    database.with(|connection| {
        let mut statement = connection.prepare_cached(
            "SELECT component, caller, digest, reason, since, until, pause_ms FROM quarantines
             ORDER BY component, caller",
        )?;
        statement.query_map([], read)?.collect()
    })
}

/// Forget all of a component. A server that runs looks here before it refuses the next call. Whether there was one.
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
    fn what_is_written_down_is_found_and_lifted() {
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
