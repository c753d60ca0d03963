//! The one SQLite file in the state folder that the server and the command line share: tokens, approvals, idempotency
//! keys, rates, quarantines, audit. Each room keeps its own tables and its own SQL; here is only how the file is opened and locked.
//!
//! The command line writes while a server runs (an approval, a revoked token), so nothing of it is believed from
//! memory for longer than [`Database::version`] stays the same.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::Connection;

/// How long one process waits while another one writes.
const PATIENCE: Duration = Duration::from_secs(10);

/// Every table, each beside the code that uses it.
const TABLES: [&str; 8] = [
    crate::auth::TOKENS_TABLE,
    crate::policy::APPROVALS_TABLE,
    crate::policy::DROPPED_TABLE,
    crate::policy::IDEMPOTENCY_TABLE,
    crate::policy::RATES_TABLE,
    crate::policy::QUARANTINE_TABLE,
    crate::audit::AUDIT_TABLE,
    crate::audit::USAGE_TABLE,
];

/// Columns that a table has got since it was first released: table, column, type.
const ADDED_COLUMNS: [(&str, &str, &str); 6] = [
    ("tokens", "attended", "INTEGER NOT NULL DEFAULT 0"),
    ("approvals", "decided_via", "TEXT"),
    ("approvals", "frozen", "TEXT"),
    ("approvals", "valid_ms", "INTEGER NOT NULL DEFAULT 0"),
    ("audit", "confirmed", "TEXT"),
    ("audit", "confirmed_by", "TEXT"),
];

/// What this machine remembers about calls and callers.
pub struct Database {
    connection: Mutex<Connection>,
    path: PathBuf,
}

/// The file cannot be used.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the records in `{}` cannot be used: {reason}", path.display())]
pub struct DatabaseError {
    path: PathBuf,
    reason: String,
}

impl Database {
    /// Open the file in a state folder, making what is missing.
    pub fn open(state: &Path) -> Result<Database, DatabaseError> {
        let path = state.join("records.sqlite");
        let failed = |reason: String| DatabaseError {
            path: path.clone(),
            reason,
        };
        crate::state_folder::open_state(state).map_err(|error| failed(error.to_string()))?;
        let connection = prepared(&path).map_err(|error| failed(error.to_string()))?;
        Ok(Database {
            connection: Mutex::new(connection),
            path,
        })
    }

    /// Another connection to the same file, for work that must not hold up the calls.
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

    /// Do something with the file.
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
    // Hashed tokens and the names of notes are nobody else's affair. Where it cannot be made, opening it says why.
    let _ = crate::private::create_file(path);
    let connection = Connection::open(path)?;
    // The operating system's sandbox has no folder for temporary files.
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    for table in TABLES {
        connection.execute_batch(table)?;
    }
    for (table, column, kind) in ADDED_COLUMNS {
        add_column(&connection, table, column, kind)?;
    }
    Ok(connection)
}

/// Add a column to a table of an earlier version.
fn add_column(
    connection: &Connection,
    table: &str,
    column: &str,
    kind: &str,
) -> rusqlite::Result<()> {
    let has_it = || connection.column_exists(None, table, column);
    if has_it()? {
        return Ok(());
    }
    let added =
        connection.execute_batch(&format!("ALTER TABLE {table} ADD COLUMN {column} {kind}"));
    match added {
        // Another process that started at the same moment was faster.
        Err(_) if has_it()? => Ok(()),
        added => added,
    }
}

/// Milliseconds since 1970, as every table keeps time.
pub fn now_ms() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// A name for something new that nobody can guess: so many random bytes as lower-case letters and digits.
pub fn random_word(bytes: usize) -> Result<String, getrandom::Error> {
    const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let mut random = vec![0; bytes];
    getrandom::fill(&mut random)?;
    Ok(random
        .iter()
        .map(|byte| char::from(LETTERS[usize::from(byte % 32)]))
        .collect())
}
