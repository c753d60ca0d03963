//! Open circuit breakers.

use rusqlite::{Row, params};

use super::Sqlite;
use crate::store::{BreakerRecord, BreakerRecords, RecordsError};

pub(super) const TABLE: &str = "
CREATE TABLE IF NOT EXISTS circuit_breakers (
    component TEXT NOT NULL,
    caller TEXT NOT NULL,       -- the only caller that it is open for; empty is everybody
    digest TEXT NOT NULL,       -- of the component's content
    reason TEXT NOT NULL,
    since INTEGER NOT NULL,     -- milliseconds since 1970
    until INTEGER NOT NULL,     -- when the next call is let through, as a trial
    pause_ms INTEGER NOT NULL,
    PRIMARY KEY (component, caller)
) STRICT;";

const SELECT: &str =
    "SELECT component, caller, digest, reason, since, until, pause_ms FROM circuit_breakers";

impl BreakerRecords for Sqlite {
    fn open_breakers(&self) -> Result<Vec<BreakerRecord>, RecordsError> {
        self.run("list circuit breakers", |connection| {
            let query = format!("{SELECT} ORDER BY component, caller");
            let mut statement = connection.prepare_cached(&query)?;
            statement.query_map([], record)?.collect()
        })
    }

    fn open_breakers_of(&self, component: &str) -> Result<Vec<BreakerRecord>, RecordsError> {
        self.run("find circuit breakers", |connection| {
            let query = format!("{SELECT} WHERE component = ?1 ORDER BY caller");
            let mut statement = connection.prepare_cached(&query)?;
            statement.query_map([component], record)?.collect()
        })
    }

    fn store_breaker(&self, breaker: &BreakerRecord) -> Result<(), RecordsError> {
        self.run("store circuit breaker", |connection| {
            connection.execute(
                "INSERT OR REPLACE INTO circuit_breakers VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    breaker.component,
                    breaker.caller.as_deref().unwrap_or_default(),
                    breaker.digest,
                    breaker.reason,
                    breaker.since,
                    breaker.until,
                    breaker.pause_ms,
                ],
            )
        })?;
        Ok(())
    }

    fn close_breaker(&self, component: &str, caller: Option<&str>) -> Result<(), RecordsError> {
        self.run("close circuit breaker", |connection| {
            connection.execute(
                "DELETE FROM circuit_breakers WHERE component = ?1 AND caller = ?2",
                [component, caller.unwrap_or_default()],
            )
        })?;
        Ok(())
    }

    fn close_breakers(&self, component: &str) -> Result<bool, RecordsError> {
        let closed = self.run("close circuit breakers", |connection| {
            connection.execute(
                "DELETE FROM circuit_breakers WHERE component = ?1",
                [component],
            )
        })?;
        Ok(closed > 0)
    }
}

fn record(row: &Row<'_>) -> rusqlite::Result<BreakerRecord> {
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
        let open = || crate::sqlite::open(state.path()).expect("records");
        let (server, terminal) = (open(), open());
        let breaker = BreakerRecord {
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
            ..breaker.clone()
        };
        for one in [&breaker, &for_one] {
            server.store_breaker(one).expect("written");
        }
        assert_eq!(terminal.open_breakers().expect("rows"), [breaker, for_one]);
        server.close_breaker("echo", Some("phone")).expect("closed");
        assert_eq!(server.open_breakers_of("echo").expect("rows").len(), 1);
        assert!(terminal.close_breakers("echo").expect("closed"));
        assert!(!server.close_breakers("echo").expect("nothing there"));
        assert_eq!(server.open_breakers_of("echo").expect("rows"), []);
    }
}
