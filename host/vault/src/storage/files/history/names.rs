//! Names of versions. A name keeps the content of its version, whatever retention removes, and follows its note through renames.
//!
//! The bytes count for the caller who gave the name. Invariant: their volume is bounded: per caller by a share of the
//! history's size, and for all callers together by `retention`, which removes names last.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::{
    error::VaultError,
    storage::{
        files::history::{History, failed},
        records::{NameEdit, NameRow},
        stamp::Digest,
    },
};

/// Names per note and caller.
const MAX_NAMES: i64 = 50;
/// A note that had more paths loses its names: who may see them depends on every one.
const MAX_TRAIL: usize = 100;
/// What a name takes besides the content and the paths.
const ROW_BYTES: u64 = 512;
/// Between the paths of a trail; no path contains it.
const SEPARATOR: char = '\n';

pub(crate) const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS names (
        number INTEGER PRIMARY KEY,
        path TEXT NOT NULL,
        name TEXT NOT NULL,
        digest BLOB NOT NULL,
        origin TEXT NOT NULL,
        trail TEXT NOT NULL,
        caller TEXT NOT NULL,
        size INTEGER NOT NULL,
        bytes BLOB NOT NULL
    );
    CREATE INDEX IF NOT EXISTS names_by_path ON names (path);
    CREATE INDEX IF NOT EXISTS names_by_digest ON names (digest);
    CREATE INDEX IF NOT EXISTS names_by_caller ON names (caller, number, size);
";

impl History {
    /// The names of the versions of a note, the latest last.
    pub(crate) fn names(&self, path: &str) -> Result<Vec<NameRow>, VaultError> {
        self.connection()
            .prepare_cached(
                "SELECT path, name, digest, origin, trail FROM names WHERE path = ?1 ORDER BY number",
            )
            .and_then(|mut select| {
                select
                    .query_map([path], name_row)?
                    .filter_map(Result::transpose)
                    .collect::<Result<Vec<_>, _>>()
            })
            .map_err(failed)
    }

    /// Names a version, instead of the name that it has. The caller's names may take `most` bytes.
    pub(crate) fn set_name(
        &self,
        caller: &str,
        edit: &NameEdit,
        most: u64,
    ) -> Result<(), VaultError> {
        let mut connection = self.connection();
        let transaction = connection.transaction().map_err(failed)?;
        transaction
            .execute(
                "DELETE FROM names WHERE path = ?1 AND digest = ?2 AND origin = ?3",
                params![edit.path, edit.digest.as_bytes(), edit.origin],
            )
            .map_err(failed)?;
        let mut size = 0;
        if let Some(name) = &edit.name {
            size = ROW_BYTES + edit.bytes.len() as u64 + (name.len() + 2 * edit.path.len()) as u64;
            let (count, used): (i64, i64) = transaction
                .query_row(
                    "SELECT count(*) FILTER (WHERE path = ?2), coalesce(sum(size), 0) FROM names WHERE caller = ?1",
                    params![caller, edit.path],
                    |row| Ok((row.get(0)?, row.get(1)?)),
                )
                .map_err(failed)?;
            if count >= MAX_NAMES {
                return Err(VaultError::too_large(format!(
                    "{MAX_NAMES} versions of this note have a name that you gave: remove a name first"
                )));
            }
            if u64::try_from(used).unwrap_or(u64::MAX) + size > most {
                return Err(VaultError::too_large(format!(
                    "the versions that you named may have {most} bytes in all: remove a name first"
                ))
                .with_hint(
                    "they may take an eighth of the history; an admin can change `history.keep_bytes` in the config",
                ));
            }
            transaction
                .execute(
                    "INSERT INTO names (path, name, digest, origin, trail, caller, size, bytes)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                    params![
                        edit.path,
                        name,
                        edit.digest.as_bytes(),
                        edit.origin,
                        edit.path,
                        caller,
                        size as i64,
                        &edit.bytes[..]
                    ],
                )
                .map_err(failed)?;
        }
        transaction.commit().map_err(failed)?;
        self.gauge.add(size);
        Ok(())
    }
}

/// Names follow the notes that a change renamed.
pub(super) fn follow(connection: &Connection, change: &str) -> rusqlite::Result<()> {
    let mut moved: Vec<(i64, String, String)> = Vec::new();
    let mut select = connection.prepare_cached(
        "SELECT names.number, files.path, names.trail FROM changes
         JOIN files ON files.change = changes.number AND files.source IS NOT NULL
         JOIN names ON names.path = files.source WHERE changes.id = ?1",
    )?;
    let mut rows = select.query([change])?;
    // First all are found, then all are moved: two notes may have changed places.
    while let Some(row) = rows.next()? {
        moved.push((row.get(0)?, row.get(1)?, row.get(2)?));
    }
    for (number, path, trail) in moved {
        let mut paths: BTreeSet<&str> = trail.split(SEPARATOR).collect();
        paths.insert(&path);
        if paths.len() > MAX_TRAIL {
            connection.execute("DELETE FROM names WHERE number = ?1", [number])?;
            continue;
        }
        let joined: Vec<&str> = paths.into_iter().collect();
        let joined = joined.join(&SEPARATOR.to_string());
        let more = joined.len().saturating_sub(trail.len()) as i64;
        connection
            .prepare_cached(
                "UPDATE names SET path = ?2, trail = ?3, size = size + ?4 WHERE number = ?1",
            )?
            .execute(params![number, path, joined, more])?;
    }
    Ok(())
}

/// The content that a digest names, if a name keeps it.
pub(super) fn content(
    connection: &Connection,
    digest: &Digest,
) -> rusqlite::Result<Option<Vec<u8>>> {
    let kept: Option<Vec<u8>> = connection
        .prepare_cached("SELECT bytes FROM names WHERE digest = ?1 LIMIT 1")?
        .query_row([digest.as_bytes()], |row| row.get(0))
        .optional()?;
    Ok(kept.filter(|content| Digest::of(content) == *digest))
}

/// Removes the oldest names of a caller that take so much. Returns how many.
pub(super) fn remove_oldest(
    connection: &Connection,
    caller: &str,
    excess: u64,
) -> rusqlite::Result<usize> {
    let mut oldest: Vec<i64> = Vec::new();
    let mut freed = 0;
    let mut select = connection
        .prepare_cached("SELECT number, size FROM names WHERE caller = ?1 ORDER BY number")?;
    let mut rows = select.query([caller])?;
    while freed < excess
        && let Some(row) = rows.next()?
    {
        oldest.push(row.get(0)?);
        freed += u64::try_from(row.get::<_, i64>(1)?).unwrap_or(0);
    }
    drop(rows);
    for number in &oldest {
        connection.execute("DELETE FROM names WHERE number = ?1", [number])?;
    }
    Ok(oldest.len())
}

fn name_row(row: &Row<'_>) -> rusqlite::Result<Option<NameRow>> {
    let digest = Digest::from_bytes(&row.get::<_, Vec<u8>>(2)?);
    let trail: String = row.get(4)?;
    let (path, name, origin) = (row.get(0)?, row.get(1)?, row.get(3)?);
    Ok(digest.map(|digest| NameRow {
        path,
        name,
        digest,
        origin,
        trail: trail.split(SEPARATOR).map(str::to_owned).collect(),
    }))
}
