//! The tables of the history, the settings of the connection, and migrations from earlier versions.

use rusqlite::{Connection, TransactionBehavior};

use crate::storage::files::history::{contents, names, retention};

/// The log is cut to this length when SQLite restarts it: one large commit does not leave a large file for good.
const MAX_LOG_BYTES: i64 = 16 << 20;

/// Of the tables. Increase it with each change.
const VERSION: i64 = 2;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS changes (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        time INTEGER NOT NULL,
        caller TEXT NOT NULL,
        action TEXT NOT NULL,
        undoes TEXT,
        undoes_whole INTEGER NOT NULL DEFAULT 0,
        undone INTEGER NOT NULL DEFAULT 0,
        done INTEGER NOT NULL DEFAULT 0,
        key TEXT,
        stored INTEGER NOT NULL DEFAULT 0
    );
    CREATE TABLE IF NOT EXISTS files (
        change INTEGER NOT NULL REFERENCES changes (number) ON DELETE CASCADE,
        path TEXT NOT NULL,
        source TEXT,
        kind TEXT NOT NULL,
        before BLOB,
        after BLOB,
        mode_before INTEGER,
        mode_after INTEGER,
        trash TEXT
    );
    CREATE INDEX IF NOT EXISTS files_by_change ON files (change);
    CREATE INDEX IF NOT EXISTS files_by_path ON files (path, change);
    CREATE INDEX IF NOT EXISTS files_by_source ON files (source, change) WHERE source IS NOT NULL;
    CREATE INDEX IF NOT EXISTS files_by_before ON files (before) WHERE before IS NOT NULL;
    CREATE TABLE IF NOT EXISTS folders (
        change INTEGER NOT NULL REFERENCES changes (number) ON DELETE CASCADE,
        path TEXT NOT NULL,
        is_new INTEGER NOT NULL
    );
    CREATE INDEX IF NOT EXISTS folders_by_change ON folders (change);
    -- What the undo of a run took back.
    CREATE TABLE IF NOT EXISTS undone_runs (
        change INTEGER NOT NULL REFERENCES changes (number) ON DELETE CASCADE,
        target TEXT NOT NULL
    );
    CREATE INDEX IF NOT EXISTS undone_runs_by_change ON undone_runs (change);
    CREATE INDEX IF NOT EXISTS undone_runs_by_target ON undone_runs (target);
    CREATE INDEX IF NOT EXISTS changes_by_undoes ON changes (undoes) WHERE undoes IS NOT NULL;
    CREATE INDEX IF NOT EXISTS pending ON changes (number) WHERE done = 0;
    -- Contents as they were kept before there was `contents`: read, never written.
    CREATE TABLE IF NOT EXISTS blobs (
        number INTEGER PRIMARY KEY,
        digest BLOB NOT NULL UNIQUE,
        size INTEGER NOT NULL,
        bytes BLOB NOT NULL
    );
";

/// Columns of `changes` that databases of before may lack.
const LATER_COLUMNS: [(&str, &str); 2] =
    [("key", "TEXT"), ("stored", "INTEGER NOT NULL DEFAULT 0")];

const KEYS: &str =
    "CREATE INDEX IF NOT EXISTS changes_by_key ON changes (key) WHERE key IS NOT NULL";

/// Settings and tables.
pub(super) fn prepare(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    // Of use in a new file only, and only before anything else is written.
    connection.pragma_update(None, "auto_vacuum", "incremental")?;
    // The operating system's sandbox has no folder for temporary files.
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "journal_size_limit", MAX_LOG_BYTES)?;
    // What must be safe on disk is waited for by `sync`, together with the files of the same commit.
    connection.pragma_update(None, "synchronous", "normal")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version >= VERSION {
        return Ok(());
    }
    // One process at a time, or two would add the same column.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(SCHEMA)?;
    for (column, kind) in LATER_COLUMNS {
        let is_there: bool = transaction.query_row(
            "SELECT EXISTS (SELECT 1 FROM pragma_table_info('changes') WHERE name = ?1)",
            [column],
            |row| row.get(0),
        )?;
        if !is_there {
            transaction
                .execute_batch(&format!("ALTER TABLE changes ADD COLUMN {column} {kind}"))?;
        }
    }
    for schema in [KEYS, contents::SCHEMA, names::SCHEMA, retention::SCHEMA] {
        transaction.execute_batch(schema)?;
    }
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}
