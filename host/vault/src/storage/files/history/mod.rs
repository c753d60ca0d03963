//! The history of commits in SQLite, outside the vault. This file has the rows; contents are in `contents`, names
//! of versions in `names`, retention in `retention`, and the operations of a caller in `history_operations`.
//!
//! A change is written as `pending` before anything is visible and becomes `done` afterwards. If a crash happens in
//! between, the next start inspects the files to decide which.

pub(crate) mod chunks;
pub(crate) mod contents;
mod names;
pub(crate) mod retention;
mod rows;
mod schema;

use notehost_sdk::Code;
use std::{
    borrow::Cow,
    collections::{BTreeSet, HashSet},
    ffi::OsString,
    fs::File,
    path::{Path, PathBuf},
};

use parking_lot::{Mutex, MutexGuard};
use rusqlite::{Connection, OptionalExtension, params};

use crate::{
    VaultSettings,
    error::VaultError,
    path::{PRIVATE, is_below},
    storage::{
        files::{
            history::{
                contents::Stored,
                retention::Gauge,
                rows::{change_row, file_row, folder_row, kind_word},
            },
            sync::sync_parent,
        },
        records::{ChangeRow, FileRow},
        stamp::Digest,
    },
};

/// The database of one vault.
pub(crate) struct History {
    connection: Mutex<Connection>,
    /// Where SQLite puts what is committed.
    log: PathBuf,
    gauge: Gauge,
    /// Changes that could not be marked or forgotten when they were settled, as on a full disk; the next one does it.
    unsettled: Mutex<Vec<Unsettled>>,
}

/// What is left to write of a change that is settled.
struct Unsettled {
    id: String,
    is_done: bool,
}

impl History {
    pub(crate) fn open(path: &Path) -> Result<History, VaultError> {
        notehost_platform::private::create_file(path)
            .map_err(|error| VaultError::internal("create the history database", error.kind()))?;
        let mut connection = Connection::open(path).map_err(failed)?;
        schema::prepare(&mut connection).map_err(failed)?;
        // By now the database and its log are there. `sync` waits for what is in them, and a power failure must not lose
        // their names.
        sync_parent(path)
            .map_err(|error| VaultError::internal("create the history database", error.kind()))?;
        let mut log = OsString::from(path);
        log.push("-wal");
        Ok(History {
            connection: Mutex::new(connection),
            log: log.into(),
            gauge: Gauge::default(),
            unsettled: Mutex::default(),
        })
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock()
    }

    /// Waits until everything that was written is safe on disk.
    pub(crate) fn sync(&self) -> std::io::Result<()> {
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
    pub(crate) fn write_pending<'bytes>(
        &self,
        change: &ChangeRow,
        mut bytes_of: impl FnMut(usize) -> Result<Option<Cow<'bytes, [u8]>>, VaultError>,
    ) -> Result<(), VaultError> {
        let mut connection = self.connection();
        let transaction = connection.transaction().map_err(failed)?;
        let settled = self.settle_others(&transaction)?;
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
        for target in &change.undoes_run {
            transaction
                .prepare_cached("INSERT INTO undone_runs (change, target) VALUES (?1, ?2)")
                .and_then(|mut insert| insert.execute(params![number, target]))
                .map_err(failed)?;
        }
        for folder in &change.folders {
            transaction
                .prepare_cached("INSERT INTO folders (change, path, is_new) VALUES (?1, ?2, ?3)")
                .and_then(|mut insert| insert.execute(params![number, folder.path, folder.is_new]))
                .map_err(failed)?;
        }
        let files = || change.files.iter().chain(&change.data);
        let named = files().map(|file| file.path.as_str());
        let named = named.chain(change.folders.iter().map(|folder| folder.path.as_str()));
        let rows = retention::rows_size(named.chain(change.undoes_run.iter().map(String::as_str)));
        let mut stored = Stored {
            own: rows,
            chunks: 0,
        };
        let mut kept = HashSet::new();
        for (index, file) in files().enumerate() {
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
            // Two files of one change may have had the same content.
            if kept.insert(digest) {
                let more = contents::put(&transaction, number, &change.caller, &digest, &bytes)
                    .map_err(failed)?;
                stored.own += more.own;
                stored.chunks += more.chunks;
            }
        }
        transaction
            .prepare_cached("UPDATE changes SET stored = ?2 WHERE number = ?1")
            .and_then(|mut update| update.execute(params![number, stored.own as i64]))
            .map_err(failed)?;
        transaction.commit().map_err(failed)?;
        self.unsettled().drain(..settled);
        self.gauge.add(stored.own + stored.chunks);
        Ok(())
    }

    fn unsettled(&self) -> MutexGuard<'_, Vec<Unsettled>> {
        self.unsettled.lock()
    }

    /// Does what could not be written earlier. Returns how much there was.
    fn settle_others(&self, connection: &Connection) -> Result<usize, VaultError> {
        let unsettled = self.unsettled();
        for change in unsettled.iter() {
            match change.is_done {
                true => mark_done(connection, &change.id),
                false => forget(connection, &change.id),
            }
            .map_err(failed)?;
        }
        Ok(unsettled.len())
    }

    /// Writes what became of a change; where that fails, the next change does it.
    fn settle(&self, id: &str, is_done: bool) -> Result<(), VaultError> {
        let mut connection = self.connection();
        let settled = connection.transaction().and_then(|transaction| {
            match is_done {
                true => mark_done(&transaction, id)?,
                false => forget(&transaction, id)?,
            }
            transaction.commit()
        });
        settled.map_err(|error| {
            let id = id.to_owned();
            self.unsettled().push(Unsettled { id, is_done });
            failed(error)
        })
    }

    /// Marks a change as done. Not waited for: a mark that a power failure loses is found again at start.
    pub(crate) fn mark_done(&self, id: &str) -> Result<(), VaultError> {
        self.settle(id, true)
    }

    /// Forgets a change that did not happen.
    pub(crate) fn forget(&self, id: &str) -> Result<(), VaultError> {
        self.settle(id, false)
    }

    /// The changes that a crash left pending, the oldest first.
    pub(crate) fn pending(&self) -> Result<Vec<ChangeRow>, VaultError> {
        self.select("done = 0", [], i64::MAX, "ASC")
    }

    /// A change that is done.
    pub(crate) fn change(&self, id: &str) -> Result<Option<ChangeRow>, VaultError> {
        Ok(self.select("done = 1 AND id = ?1", [id], 1, "DESC")?.pop())
    }

    /// A change, and whether it is done.
    pub(crate) fn any_change(&self, id: &str) -> Result<Option<(ChangeRow, bool)>, VaultError> {
        let Some(is_done) = self.is_done(id)? else {
            return Ok(None);
        };
        let change = self.select("id = ?1", [id], 1, "DESC")?.pop();
        Ok(change.map(|change| (change, is_done)))
    }

    /// Whether a change is done; `None` if there is none.
    pub(crate) fn is_done(&self, id: &str) -> Result<Option<bool>, VaultError> {
        self.connection()
            .query_row("SELECT done FROM changes WHERE id = ?1", [id], |row| {
                row.get(0)
            })
            .optional()
            .map_err(failed)
    }

    /// The change that a call with this key made.
    pub(crate) fn change_with_key(&self, key: &str) -> Result<Option<ChangeRow>, VaultError> {
        if let Some(written) = self
            .select("done = 1 AND key = ?1", [key], 1, "DESC")?
            .pop()
        {
            return Ok(Some(written));
        }
        // It may have landed, and the mark could not be written yet.
        let landed: Vec<String> = {
            let unsettled = self.unsettled();
            let landed = unsettled.iter().filter(|change| change.is_done);
            landed.map(|change| change.id.clone()).collect()
        };
        for id in landed {
            let found = self.select("id = ?1 AND key = ?2", [id.as_str(), key], 1, "DESC")?;
            if !found.is_empty() {
                return Ok(found.into_iter().next());
            }
        }
        Ok(None)
    }

    /// Changes before one, the latest first.
    pub(crate) fn before(&self, number: i64, limit: i64) -> Result<Vec<ChangeRow>, VaultError> {
        let condition =
            "done = 1 AND number < ?1 AND (EXISTS (SELECT 1 FROM files WHERE change = number)
             OR EXISTS (SELECT 1 FROM folders WHERE change = number))";
        self.select(condition, [number], limit, "DESC")
    }

    /// The latest change before one that touched a path.
    pub(crate) fn touching(
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
    pub(crate) fn bytes(&self, digest: &Digest) -> Result<Option<Vec<u8>>, VaultError> {
        let connection = self.connection();
        match contents::get(&connection, digest).map_err(failed)? {
            Some(kept) => Ok(Some(kept)),
            None => names::content(&connection, digest).map_err(failed),
        }
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
            change.undoes_run = connection
                .prepare_cached("SELECT target FROM undone_runs WHERE change = ?1 ORDER BY rowid")
                .and_then(|mut select| {
                    select
                        .query_map([change.number], |row| row.get(0))?
                        .collect::<Result<Vec<_>, _>>()
                })
                .map_err(failed)?;
            change.files = connection
                .prepare_cached(
                    "SELECT path, source, kind, before, after, mode_before, mode_after, trash FROM files
                     WHERE change = ?1 ORDER BY rowid",
                )
                .and_then(|mut select| select.query_map([change.number], file_row)?.collect::<Result<Vec<_>, _>>())
                .map_err(failed)?;
            let is_data = |file: &mut FileRow| is_below(&file.path, PRIVATE);
            change.data = change.files.extract_if(.., is_data).collect();
            change.folders = connection
                .prepare_cached("SELECT path, is_new FROM folders WHERE change = ?1 ORDER BY rowid")
                .and_then(|mut select| {
                    select
                        .query_map([change.number], folder_row)?
                        .collect::<Result<Vec<_>, _>>()
                })
                .map_err(failed)?;
        }
        Ok(changes)
    }

    /// Forgets what is too old or too much, if it is time to look.
    pub(crate) fn prune(&self, commits: u64, settings: &VaultSettings) -> Result<(), VaultError> {
        self.gauge
            .prune(&mut self.connection(), commits, settings)
            .map_err(failed)
    }

    /// Forgets what is too old or too much, now.
    #[cfg(test)]
    pub(crate) fn prune_now(&self, settings: &VaultSettings) -> Result<(), VaultError> {
        retention::prune(&mut self.connection(), settings).map_err(failed)?;
        Ok(())
    }

    /// How many bytes are kept for each caller.
    #[cfg(test)]
    pub(crate) fn usage(&self) -> std::collections::BTreeMap<String, u64> {
        retention::usage(&self.connection()).unwrap_or_default()
    }
}

/// A change is undone if one that takes it back is in force: what this one takes back is, and what that had taken back
/// may be in force again.
fn mark_done(connection: &Connection, id: &str) -> rusqlite::Result<()> {
    let is_new = "UPDATE changes SET done = 1 WHERE id = ?1 AND done = 0";
    if connection.execute(is_new, [id])? > 0 {
        names::follow(connection, id)?;
    }
    // Ids sort by time, and a change takes back earlier ones only: the latest first, each is settled once.
    let mut ahead: BTreeSet<String> = undoes(connection, id)?.into_iter().collect();
    while let Some(id) = ahead.pop_last() {
        let changed = connection
            .prepare_cached(
                "UPDATE changes SET undone = NOT undone WHERE id = ?1 AND undone != (
                     EXISTS (SELECT 1 FROM changes AS other
                         WHERE other.undoes = ?1 AND other.undoes_whole AND other.done AND NOT other.undone)
                     OR EXISTS (SELECT 1 FROM undone_runs JOIN changes AS other ON other.number = change
                         WHERE target = ?1 AND other.done AND NOT other.undone))",
            )?
            .execute([&id])?;
        if changed > 0 {
            ahead.extend(undoes(connection, &id)?);
        }
    }
    Ok(())
}

fn forget(connection: &Connection, id: &str) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM changes WHERE id = ?1 AND done = 0", [id])?;
    Ok(())
}

/// The changes that a change takes back as a whole.
fn undoes(connection: &Connection, id: &str) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare_cached(
            "SELECT undoes FROM changes WHERE id = ?1 AND undoes_whole = 1 AND undoes IS NOT NULL
             UNION ALL
             SELECT target FROM undone_runs JOIN changes ON number = change WHERE id = ?1",
        )?
        .query_map([id], |row| row.get(0))?
        .collect()
}

fn failed(error: rusqlite::Error) -> VaultError {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DiskFull) => {
            VaultError::new(Code::Unavailable, "the disk is full; nothing was changed")
                .with_hint("free some space on the disk that holds notehost's state")
        }
        _ => VaultError::internal("access the history database", error),
    }
}

#[cfg(test)]
mod tests;
