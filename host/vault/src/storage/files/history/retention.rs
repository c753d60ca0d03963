//! Retention of the history: how much is kept, and whose changes are removed first.
//!
//! The size limit is shared by all callers. When it is reached, every caller has an equal share, plus what others do
//! not use: only callers above that level lose changes, oldest first. So the volume of one caller never removes a
//! change of a caller within its share. The latest change of each caller is always kept, because its reply offered an
//! undo. Versions with a name are kept whatever their age; where nothing but names is left above the level, the oldest go.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::{Connection, params};

use crate::{
    VaultSettings,
    storage::files::history::{contents, names},
};
use notehost_platform::clock::now_millis;

/// After how many commits old changes are looked for, whatever was written.
const PRUNE_EVERY: u64 = 128;
/// So much more than needed is removed at once, as a part of the bound: removing a little at each commit would slow all of
/// them down.
const SLACK: u64 = 16;
/// So many pages are given back to the disk at once.
const MAX_PAGES_PER_VACUUM: u64 = 16 << 10;
const UNKNOWN: u64 = u64::MAX;

pub(crate) const SCHEMA: &str = "
    CREATE INDEX IF NOT EXISTS changes_by_caller ON changes (caller, number, stored)
";

/// About what a change takes besides the contents: its rows and their indexes.
pub(crate) fn rows_size<'path>(paths: impl Iterator<Item = &'path str>) -> u64 {
    256 + paths.map(|path| 384 + 2 * path.len() as u64).sum::<u64>()
}

/// How many bytes are kept, as far as this process knows: it alone writes.
#[derive(Debug)]
pub(crate) struct Gauge {
    used: AtomicU64,
    /// What was left after the last time: what cannot be removed is not tried again and again.
    left: AtomicU64,
}

impl Default for Gauge {
    fn default() -> Self {
        Gauge {
            used: AtomicU64::new(UNKNOWN),
            left: AtomicU64::new(0),
        }
    }
}

impl Gauge {
    /// More was written.
    pub(crate) fn add(&self, bytes: u64) {
        if self.used.load(Ordering::Relaxed) != UNKNOWN {
            self.used.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    /// Removes what is too old or too much, if it is time to look.
    pub(crate) fn prune(
        &self,
        connection: &mut Connection,
        commits: u64,
        settings: &VaultSettings,
    ) -> rusqlite::Result<()> {
        let mut is_due = commits % PRUNE_EVERY == PRUNE_EVERY / 8;
        if self.used.load(Ordering::Relaxed) == UNKNOWN {
            let total = usage(connection)?.values().sum();
            self.used.store(total, Ordering::Relaxed);
            // A process that makes one commit has to look as well.
            is_due |= is_oldest_too_old(connection, settings)?;
        }
        let bound = settings.history_max_bytes;
        let left = self.left.load(Ordering::Relaxed);
        let is_over = self.used.load(Ordering::Relaxed) > bound.max(left + bound / SLACK);
        if is_due || is_over {
            let left = prune(connection, settings)?;
            self.used.store(left, Ordering::Relaxed);
            self.left.store(left, Ordering::Relaxed);
        }
        Ok(())
    }
}

fn oldest_time(settings: &VaultSettings) -> i64 {
    let age = u64::try_from(settings.history_max_age.as_millis()).unwrap_or(u64::MAX);
    now_millis().saturating_sub(age) as i64
}

fn is_oldest_too_old(connection: &Connection, settings: &VaultSettings) -> rusqlite::Result<bool> {
    connection.query_row(
        "SELECT coalesce((SELECT time FROM changes WHERE done = 1 ORDER BY number LIMIT 1) < ?1, 0)",
        [oldest_time(settings)],
        |row| row.get(0),
    )
}

/// Removes what is too old or too much. Returns how many bytes are kept after it.
pub(crate) fn prune(
    connection: &mut Connection,
    settings: &VaultSettings,
) -> rusqlite::Result<u64> {
    let transaction = connection.transaction()?;
    transaction.execute(
        "DELETE FROM changes WHERE done = 1 AND time < ?1",
        [oldest_time(settings)],
    )?;
    contents::sweep(&transaction)?;
    let mut usage_now = usage(&transaction)?;
    let bound = settings.history_max_bytes;
    if usage_now.values().sum::<u64>() > bound {
        let target = bound - bound / SLACK;
        loop {
            let level = level(usage_now.values().copied(), target);
            let mut removed = 0;
            for (caller, used) in usage_now.iter().filter(|(_, used)| **used > level) {
                removed += remove_oldest(&transaction, caller, used - level)?;
            }
            if removed == 0 {
                // Names go last.
                for (caller, used) in usage_now.iter().filter(|(_, used)| **used > level) {
                    removed += names::remove_oldest(&transaction, caller, used - level)?;
                }
            }
            if removed == 0 {
                break;
            }
            contents::sweep(&transaction)?;
            usage_now = usage(&transaction)?;
            if usage_now.values().sum::<u64>() <= target {
                break;
            }
        }
    }
    transaction.commit()?;
    release_free_memory(connection, bound)?;
    Ok(usage_now.values().sum())
}

/// How many bytes are kept for each caller.
pub(crate) fn usage(connection: &Connection) -> rusqlite::Result<BTreeMap<String, u64>> {
    let mut used: BTreeMap<String, u64> = BTreeMap::new();
    let mut add = |query: &str| -> rusqlite::Result<()> {
        let mut select = connection.prepare_cached(query)?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let bytes = u64::try_from(row.get::<_, i64>(1)?).unwrap_or(0);
            *used.entry(row.get(0)?).or_default() += bytes;
        }
        Ok(())
    };
    add("SELECT caller, sum(stored) FROM changes GROUP BY caller")?;
    add("SELECT caller, sum(size) FROM chunks GROUP BY caller")?;
    add("SELECT caller, sum(size) FROM names GROUP BY caller")?;
    if contents::has_old_contents(connection)? {
        // What two changes share counts for the later one.
        add("SELECT caller, sum(size) FROM blobs JOIN changes
                 ON changes.number = (SELECT max(change) FROM files WHERE before = blobs.digest)
             GROUP BY caller")?;
    }
    Ok(used)
}

/// The most that each may have so that all together have no more than `bound`: who has less leaves the rest to the others.
fn level(used: impl Iterator<Item = u64>, bound: u64) -> u64 {
    let mut used: Vec<u64> = used.collect();
    used.sort_unstable();
    let mut left = bound;
    for (index, bytes) in used.iter().enumerate() {
        let share = left / (used.len() - index) as u64;
        if *bytes > share {
            return share;
        }
        left -= bytes;
    }
    u64::MAX
}

/// Removes the oldest changes of a caller that take so much, or a part of them where it is not known what they take: chunks
/// are shared between changes. Returns how many.
fn remove_oldest(connection: &Connection, caller: &str, excess: u64) -> rusqlite::Result<usize> {
    let (count, latest): (i64, Option<i64>) = connection
        .prepare_cached("SELECT count(*), max(number) FROM changes WHERE caller = ?1 AND done = 1")?
        .query_row([caller], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut select = connection.prepare_cached(
        "SELECT number, stored FROM changes WHERE caller = ?1 AND done = 1 AND number < ?2
         ORDER BY number LIMIT ?3",
    )?;
    let most = (count / SLACK as i64).max(1);
    let mut rows = select.query(params![caller, latest, most])?;
    let mut oldest: Vec<i64> = Vec::new();
    let mut freed = 0;
    while freed < excess
        && let Some(row) = rows.next()?
    {
        oldest.push(row.get(0)?);
        freed += u64::try_from(row.get::<_, i64>(1)?).unwrap_or(0);
    }
    drop(rows);
    let mut remove = connection.prepare_cached("DELETE FROM changes WHERE number = ?1")?;
    for number in &oldest {
        remove.execute([number])?;
    }
    Ok(oldest.len())
}

/// Pages that are free are used again. Where there are very many of them, some go back to the disk.
fn release_free_memory(connection: &Connection, bound: u64) -> rusqlite::Result<()> {
    let number = |name: &str| -> rusqlite::Result<u64> {
        let value: i64 = connection.pragma_query_value(None, name, |row| row.get(0))?;
        Ok(u64::try_from(value).unwrap_or(0))
    };
    let (free, size) = (number("freelist_count")?, number("page_size")?.max(1));
    let most = (bound / 8).max(16 << 20) / size;
    if free > most {
        let pages = (free - most).min(MAX_PAGES_PER_VACUUM);
        let mut vacuum = connection.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
        let mut rows = vacuum.query([])?;
        while rows.next()?.is_some() {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_callers_above_the_level_lose_changes() {
        let level = |used: &[u64], bound| level(used.iter().copied(), bound);
        assert_eq!(level(&[10, 20, 1000], 100), 70);
        assert_eq!(level(&[10, 20, 30], 100), u64::MAX);
        assert_eq!(level(&[60, 60, 60], 90), 30);
        assert_eq!(level(&[90, 40], 100), 60);
        assert_eq!(level(&[], 0), u64::MAX);
    }
}
