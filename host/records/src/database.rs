//! The one SQLite file in the state folder that the server and the command line share: tokens, approvals, idempotency
//! keys, rates, circuit breakers, audit. Each crate has its own tables and SQL; here the file is only opened and locked.
//!
//! The command line writes while a server runs (an approval, a revoked token), so nothing may be cached in
//! memory for longer than [`Database::version`] stays the same.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::Connection;

/// How long a process waits while another one writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// The records of this machine.
pub struct Database {
    connection: Mutex<Connection>,
    path: PathBuf,
}

/// The file cannot be opened, read or written.
#[derive(Debug, Clone, thiserror::Error)]
#[error("cannot use the records in `{}`: {reason}", path.display())]
pub struct DatabaseError {
    path: PathBuf,
    reason: String,
}

impl Database {
    /// Opens the file in a state folder, and creates missing tables. `tables` are the statements of the crates that store
    /// something in it.
    pub fn open(state: &Path, tables: &[&'static str]) -> Result<Database, DatabaseError> {
        let path = state.join("records.sqlite");
        let failed = |reason: String| DatabaseError {
            path: path.clone(),
            reason,
        };
        crate::state_folder::open_state(state).map_err(|error| failed(error.to_string()))?;
        let made = prepared(&path).and_then(|connection| {
            connection.execute_batch(&tables.concat())?;
            Ok(connection)
        });
        let connection = made.map_err(|error| failed(error.to_string()))?;
        Ok(Database {
            connection: Mutex::new(connection),
            path,
        })
    }

    /// Another connection to the same file, for work that must not delay calls.
    pub fn reopen(&self) -> Result<Database, DatabaseError> {
        let connection = prepared(&self.path).map_err(|error| self.failed(&error))?;
        Ok(Database {
            connection: Mutex::new(connection),
            path: self.path.clone(),
        })
    }

    /// The state folder that the file is in.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// Runs a closure with the connection.
    pub fn with<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T, DatabaseError> {
        work(&mut self.lock()).map_err(|error| self.failed(&error))
    }

    /// Changes whenever another process has written to the file.
    pub fn version(&self) -> Result<i64, DatabaseError> {
        self.with(|connection| {
            connection.pragma_query_value(None, "data_version", |row| row.get(0))
        })
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, error: &rusqlite::Error) -> DatabaseError {
        DatabaseError {
            path: self.path.clone(),
            reason: error.to_string(),
        }
    }
}

fn prepared(path: &Path) -> rusqlite::Result<Connection> {
    // Hashed tokens and names of notes are private. If the file cannot be created, opening it returns the error.
    let _ = notehost_platform::private::create_file(path);
    let connection = Connection::open(path)?;
    // The operating system's sandbox has no folder for temporary files.
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    Ok(connection)
}

/// The current time in milliseconds since 1970, the unit of all tables.
pub fn now_ms() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// An unguessable id: so many random bytes as lower-case letters and digits.
pub fn random_word(bytes: usize) -> Result<String, getrandom::Error> {
    const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let mut random = vec![0; bytes];
    getrandom::fill(&mut random)?;
    Ok(random
        .iter()
        .map(|byte| char::from(LETTERS[usize::from(byte % 32)]))
        .collect())
}
