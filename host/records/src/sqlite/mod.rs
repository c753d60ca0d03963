//! The shared records in one SQLite file of the state folder, which the server and the command line use at the same time.
//! Only this module uses SQLite; everything else goes through the traits of `store`, each of which has its tables and its
//! implementation in one file here.
//!
//! The command line writes while a server runs (an approval, a revoked token), so nothing may be cached in memory for
//! longer than the version of the file stays the same.

mod approvals;
mod audit;
mod breakers;
mod drops;
mod idempotency;
mod rates;
mod tokens;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rusqlite::Connection;

use crate::store::{Records, RecordsError};

/// How long a process waits while another one writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// The tables of all records.
const TABLES: [&str; 7] = [
    approvals::TABLE,
    audit::TABLES,
    breakers::TABLE,
    drops::TABLE,
    idempotency::TABLE,
    rates::TABLE,
    tokens::TABLE,
];

/// Records in a SQLite file.
struct Sqlite {
    connection: Mutex<Connection>,
    path: PathBuf,
}

/// Opens the records of a state folder, and creates what is missing.
pub fn open(state: &Path) -> Result<Arc<dyn Records>, RecordsError> {
    let path = state.join("records.sqlite");
    crate::state_folder::open_state(state)
        .map_err(|error| RecordsError::unavailable(path.display(), error))?;
    let sqlite = Sqlite::open(path)?;
    sqlite.run("create tables", |connection| {
        connection.execute_batch(&TABLES.concat())
    })?;
    Ok(Arc::new(sqlite))
}

impl Records for Sqlite {
    fn reopen(&self) -> Result<Arc<dyn Records>, RecordsError> {
        Ok(Arc::new(Sqlite::open(self.path.clone())?))
    }
}

impl Sqlite {
    fn open(path: PathBuf) -> Result<Sqlite, RecordsError> {
        match connect(&path) {
            Ok(connection) => Ok(Sqlite {
                connection: Mutex::new(connection),
                path,
            }),
            Err(error) => Err(RecordsError::unavailable(path.display(), error)),
        }
    }

    /// Runs an operation with the connection. Its span includes the time that it waits for other operations.
    fn run<T>(
        &self,
        operation: &'static str,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T, RecordsError> {
        let _span = tracing::debug_span!("records", operation).entered();
        work(&mut self.connection.lock())
            .map_err(|error| RecordsError::unavailable(self.path.display(), error))
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
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

/// A struct from the columns that have the names of its fields; fields after the semicolon are given.
macro_rules! from_columns {
    ($row:expr => $type:ident { $($field:ident),+ $(; $($other:ident: $value:expr),+)? $(,)? }) => {
        $type {
            $($field: $row.get(stringify!($field))?,)+
            $($($other: $value,)+)?
        }
    };
}

use from_columns;

/// A number for a column; SQLite has no unsigned ones.
fn integer(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// A number from a column that holds no negative ones.
fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

/// A text for a column: what is stored as JSON can always be written.
fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
