//! What each commit replaced, in SQLite, outside the vault. Rows and bytes only: what they mean for a caller
//! is told in `past`.
//!
//! A change is written as `pending` before anything visible happens and becomes `done` after; a crash between
//! the two is settled at the next start by looking at the files.

use std::{
    ffi::OsString,
    fs::File,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{
    VaultSettings, disk::Digest, error::VaultError, identifier::now_millis, types::ChangeKind,
};

/// After how many commits old changes are looked for.
const PRUNE_EVERY: u64 = 128;

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
        key TEXT
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
    CREATE INDEX IF NOT EXISTS pending ON changes (number) WHERE done = 0;
    -- In the order in which they come: a table in the order of digests would be gone through for every new one.
    CREATE TABLE IF NOT EXISTS blobs (
        number INTEGER PRIMARY KEY,
        digest BLOB NOT NULL UNIQUE,
        size INTEGER NOT NULL,
        bytes BLOB NOT NULL
    );
    CREATE INDEX IF NOT EXISTS blob_sizes ON blobs (size);
";

/// Databases of before may lack the column.
const KEYS: &str =
    "CREATE INDEX IF NOT EXISTS changes_by_key ON changes (key) WHERE key IS NOT NULL";

/// The database of one vault.
pub(super) struct History {
    connection: Mutex<Connection>,
    /// Where SQLite puts what is committed.
    log: PathBuf,
}

/// One commit.
#[derive(Clone, Debug)]
pub(super) struct ChangeRow {
    pub(super) number: i64,
    pub(super) id: String,
    pub(super) time: u64,
    pub(super) caller: String,
    pub(super) action: String,
    pub(super) undoes: Option<String>,
    pub(super) undoes_whole: bool,
    pub(super) undone: bool,
    /// Only told when a change is written.
    pub(super) key: Option<String>,
    pub(super) files: Vec<FileRow>,
}

/// What a commit did to one file.
#[derive(Clone, Debug)]
pub(super) struct FileRow {
    pub(super) path: String,
    pub(super) from: Option<String>,
    pub(super) kind: ChangeKind,
    pub(super) before: Option<Digest>,
    pub(super) after: Option<Digest>,
    pub(super) mode_before: Option<u32>,
    pub(super) mode_after: Option<u32>,
    pub(super) trash: Option<String>,
}

impl History {
    pub(super) fn open(path: &Path) -> Result<History, VaultError> {
        let connection = Connection::open(path).map_err(failed)?;
        connection
            .pragma_update(None, "journal_mode", "wal")
            .map_err(failed)?;
        // What must be safe on disk is waited for by `sync`, together with the files of the same commit.
        connection
            .pragma_update(None, "synchronous", "normal")
            .map_err(failed)?;
        connection
            .pragma_update(None, "foreign_keys", true)
            .map_err(failed)?;
        connection
            .busy_timeout(std::time::Duration::from_secs(5))
            .map_err(failed)?;
        connection.execute_batch(SCHEMA).map_err(failed)?;
        if connection.execute_batch(KEYS).is_err() {
            connection
                .execute_batch("ALTER TABLE changes ADD COLUMN key TEXT")
                .and_then(|()| connection.execute_batch(KEYS))
                .map_err(failed)?;
        }
        let mut log = OsString::from(path);
        log.push("-wal");
        Ok(History {
            connection: Mutex::new(connection),
            log: log.into(),
        })
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until everything that was written is safe on disk.
    pub(super) fn sync(&self) -> std::io::Result<()> {
        // The lock is held so that SQLite does not begin the log anew meanwhile. It locks its other files, never this
        // one: so it can be opened and closed beside it.
        let _held = self.connection();
        match File::options().write(true).open(&self.log) {
            Ok(log) => log.sync_data(),
            // Where a file system has no room for such a log, SQLite has waited for the disk itself.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Writes a change as pending; [`History::sync`] makes it durable. `bytes_of` gives what a file had before, one file at a time.
    pub(super) fn write_pending(
        &self,
        change: &ChangeRow,
        mut bytes_of: impl FnMut(usize) -> Result<Option<Vec<u8>>, VaultError>,
    ) -> Result<(), VaultError> {
        let mut connection = self.connection();
        let transaction = connection.transaction().map_err(failed)?;
        transaction
            .prepare_cached(
                "INSERT INTO changes (id, time, caller, action, undoes, undoes_whole, key)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )
            .and_then(|mut insert| {
                insert.execute(params![
                    change.id,
                    change.time as i64,
                    change.caller,
                    change.action,
                    change.undoes,
                    change.undoes_whole,
                    change.key
                ])
            })
            .map_err(failed)?;
        let number = transaction.last_insert_rowid();
        for (index, file) in change.files.iter().enumerate() {
            transaction
                .prepare_cached(
                    "INSERT INTO files (change, path, source, kind, before, after, mode_before, mode_after, trash)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                )
                .and_then(|mut insert| {
                    insert.execute(params![
                        number,
                        file.path,
                        file.from,
                        kind_word(file.kind),
                        file.before.as_ref().map(Digest::as_bytes),
                        file.after.as_ref().map(Digest::as_bytes),
                        file.mode_before,
                        file.mode_after,
                        file.trash
                    ])
                })
                .map_err(failed)?;
            let (Some(digest), Some(bytes)) = (file.before, bytes_of(index)?) else {
                continue;
            };
            transaction
                .prepare_cached(
                    "INSERT OR IGNORE INTO blobs (digest, size, bytes) VALUES (?1, ?2, ?3)",
                )
                .and_then(|mut insert| {
                    insert.execute(params![digest.as_bytes(), bytes.len() as i64, bytes])
                })
                .map_err(failed)?;
        }
        transaction.commit().map_err(failed)
    }

    /// Marks a change as done. Not waited for: a mark that a power failure loses is found again at start.
    pub(super) fn mark_done(&self, id: &str) -> Result<(), VaultError> {
        mark_done(&mut self.connection(), id).map_err(failed)
    }

    /// Forgets a change that did not happen.
    pub(super) fn forget(&self, id: &str) -> Result<(), VaultError> {
        let connection = self.connection();
        connection
            .execute("DELETE FROM changes WHERE id = ?1 AND done = 0", [id])
            .map_err(failed)?;
        Ok(())
    }

    /// The changes that a crash left pending, the oldest first.
    pub(super) fn pending(&self) -> Result<Vec<ChangeRow>, VaultError> {
        self.select("done = 0", [], i64::MAX, "ASC")
    }

    /// A change that is done.
    pub(super) fn change(&self, id: &str) -> Result<Option<ChangeRow>, VaultError> {
        Ok(self.select("done = 1 AND id = ?1", [id], 1, "DESC")?.pop())
    }

    /// The change that a call with this key made.
    pub(super) fn change_with_key(&self, key: &str) -> Result<Option<ChangeRow>, VaultError> {
        Ok(self
            .select("done = 1 AND key = ?1", [key], 1, "DESC")?
            .pop())
    }

    /// Changes before one, the latest first.
    pub(super) fn before(&self, number: i64, limit: i64) -> Result<Vec<ChangeRow>, VaultError> {
        self.select("done = 1 AND number < ?1", [number], limit, "DESC")
    }

    /// The latest change before one that touched a path.
    pub(super) fn touching(
        &self,
        path: &str,
        number: i64,
    ) -> Result<Option<ChangeRow>, VaultError> {
        let found = self
            .connection()
            .prepare_cached(
                "SELECT max(change) FROM (
                     SELECT change FROM files JOIN changes ON number = change AND done = 1
                         WHERE path = ?1 AND change < ?2
                     UNION ALL
                     SELECT change FROM files JOIN changes ON number = change AND done = 1
                         WHERE source = ?1 AND change < ?2)",
            )
            .and_then(|mut select| {
                select.query_row(params![path, number], |row| row.get::<_, Option<i64>>(0))
            })
            .map_err(failed)?;
        match found {
            Some(found) => Ok(self.select("number = ?1", [found], 1, "DESC")?.pop()),
            None => Ok(None),
        }
    }

    /// The bytes that a digest names, if they are still kept.
    pub(super) fn bytes(&self, digest: &Digest) -> Result<Option<Vec<u8>>, VaultError> {
        self.connection()
            .prepare_cached("SELECT bytes FROM blobs WHERE digest = ?1")
            .and_then(|mut select| {
                select
                    .query_row([digest.as_bytes()], |row| row.get(0))
                    .optional()
            })
            .map_err(failed)
    }

    fn select(
        &self,
        condition: &str,
        values: impl rusqlite::Params,
        limit: i64,
        order: &str,
    ) -> Result<Vec<ChangeRow>, VaultError> {
        let connection = self.connection();
        let query = format!(
            "SELECT number, id, time, caller, action, undoes, undoes_whole, undone FROM changes
             WHERE {condition} ORDER BY number {order} LIMIT {limit}"
        );
        let mut changes = connection
            .prepare_cached(&query)
            .and_then(|mut select| {
                select
                    .query_map(values, change_row)?
                    .collect::<Result<Vec<_>, _>>()
            })
            .map_err(failed)?;
        for change in &mut changes {
            change.files = connection
                .prepare_cached(
                    "SELECT path, source, kind, before, after, mode_before, mode_after, trash FROM files
                     WHERE change = ?1 ORDER BY rowid",
                )
                .and_then(|mut select| select.query_map([change.number], file_row)?.collect::<Result<Vec<_>, _>>())
                .map_err(failed)?;
        }
        Ok(changes)
    }

    /// Forgets what is too old or too much, once in a while.
    pub(super) fn prune(&self, commits: u64, settings: &VaultSettings) -> Result<(), VaultError> {
        if commits % PRUNE_EVERY != PRUNE_EVERY / 8 {
            return Ok(());
        }
        self.prune_now(settings)
    }

    pub(super) fn prune_now(&self, settings: &VaultSettings) -> Result<(), VaultError> {
        let mut connection = self.connection();
        let transaction = connection.transaction().map_err(failed)?;
        let age = u64::try_from(settings.history_max_age.as_millis()).unwrap_or(u64::MAX);
        let oldest = now_millis().saturating_sub(age) as i64;
        let mut forgotten = transaction
            .execute("DELETE FROM changes WHERE done = 1 AND time < ?1", [oldest])
            .map_err(failed)?;
        loop {
            if forgotten > 0 {
                transaction
                    .execute("DELETE FROM blobs WHERE digest NOT IN (SELECT before FROM files WHERE before IS NOT NULL)", [])
                    .map_err(failed)?;
            }
            let total: i64 = transaction
                .query_row("SELECT coalesce(sum(size), 0) FROM blobs", [], |row| {
                    row.get(0)
                })
                .map_err(failed)?;
            if u64::try_from(total).unwrap_or(0) <= settings.history_max_bytes {
                break;
            }
            // An eighth at a time: the loop ends soon, and little more than needed is lost.
            forgotten = transaction
                .execute(
                    "DELETE FROM changes WHERE done = 1 AND number IN (SELECT number FROM changes ORDER BY number
                         LIMIT max(1, (SELECT count(*) / 8 FROM changes)))",
                    [],
                )
                .map_err(failed)?;
            if forgotten == 0 {
                break;
            }
        }
        transaction.commit().map_err(failed)
    }
}

/// A change that takes back another marks it as undone, and what that one had taken back as in force again.
fn mark_done(connection: &mut Connection, id: &str) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    transaction.execute("UPDATE changes SET done = 1 WHERE id = ?1", [id])?;
    let mut undone = true;
    let mut next = undoes(&transaction, id)?;
    while let Some(id) = next {
        transaction.execute(
            "UPDATE changes SET undone = ?2 WHERE id = ?1",
            params![id, undone],
        )?;
        undone = !undone;
        next = undoes(&transaction, &id)?;
    }
    transaction.commit()
}

fn undoes(connection: &Connection, id: &str) -> rusqlite::Result<Option<String>> {
    connection
        .prepare_cached("SELECT undoes FROM changes WHERE id = ?1 AND undoes_whole = 1")?
        .query_row([id], |row| row.get(0))
        .optional()
        .map(Option::flatten)
}

fn change_row(row: &Row<'_>) -> rusqlite::Result<ChangeRow> {
    Ok(ChangeRow {
        number: row.get(0)?,
        id: row.get(1)?,
        time: row.get::<_, i64>(2)? as u64,
        caller: row.get(3)?,
        action: row.get(4)?,
        undoes: row.get(5)?,
        undoes_whole: row.get(6)?,
        undone: row.get(7)?,
        key: None,
        files: Vec::new(),
    })
}

fn file_row(row: &Row<'_>) -> rusqlite::Result<FileRow> {
    let digest = |index: usize| -> rusqlite::Result<Option<Digest>> {
        Ok(row
            .get::<_, Option<Vec<u8>>>(index)?
            .and_then(|bytes| Digest::from_bytes(&bytes)))
    };
    Ok(FileRow {
        path: row.get(0)?,
        from: row.get(1)?,
        kind: match row.get::<_, String>(2)?.as_str() {
            "create" => ChangeKind::Create,
            "rename" => ChangeKind::Rename,
            "delete" => ChangeKind::Delete,
            _ => ChangeKind::Modify,
        },
        before: digest(3)?,
        after: digest(4)?,
        mode_before: row.get(5)?,
        mode_after: row.get(6)?,
        trash: row.get(7)?,
    })
}

fn kind_word(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Create => "create",
        ChangeKind::Modify => "modify",
        ChangeKind::Rename => "rename",
        ChangeKind::Delete => "delete",
    }
}

fn failed(error: rusqlite::Error) -> VaultError {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DiskFull) => {
            VaultError::new("unavailable", "the disk is full; nothing was changed")
                .with_hint("free some space on the disk that holds notehost's state")
        }
        _ => VaultError::internal("use the history", error),
    }
}
