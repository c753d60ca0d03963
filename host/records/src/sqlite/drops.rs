//! What callers dropped of notes.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::{Sqlite, count, integer};
use crate::store::{DropRecord, DropRecords, DropUpdate, RecordsError, SlimUpdate};

pub(super) const TABLE: &str = "
CREATE TABLE IF NOT EXISTS dropped_content (
    caller TEXT NOT NULL,
    vault TEXT NOT NULL,            -- its identity
    path TEXT NOT NULL,
    updated INTEGER NOT NULL,       -- milliseconds since 1970
    words INTEGER NOT NULL,         -- how many words of others were dropped
    is_slim INTEGER NOT NULL,       -- 1: only sums are left
    ledger BLOB NOT NULL,
    PRIMARY KEY (caller, vault, path)
) STRICT;
CREATE INDEX IF NOT EXISTS dropped_content_updated ON dropped_content (updated);";

impl DropRecords for Sqlite {
    fn dropped_content(
        &self,
        caller: &str,
        vault: &str,
        paths: &[&str],
        since: i64,
    ) -> Result<Vec<Option<Vec<u8>>>, RecordsError> {
        self.run("find dropped content", |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT ledger FROM dropped_content WHERE caller = ?1 AND vault = ?2 AND path = ?3 AND updated >= ?4",
            )?;
            let ledgers = paths.iter().map(|path| {
                let row = params![caller, vault, path, since];
                statement.query_row(row, |row| row.get(0)).optional()
            });
            ledgers.collect()
        })
    }

    fn dropped_content_count(&self, caller: &str) -> Result<u64, RecordsError> {
        let counted = self.run("count dropped content", |connection| {
            connection.query_row(
                "SELECT count(*) FROM dropped_content WHERE caller = ?1",
                [caller],
                |row| row.get(0),
            )
        })?;
        Ok(count(counted))
    }

    fn update_dropped_content(&self, update: &DropUpdate<'_>) -> Result<(), RecordsError> {
        self.run("update dropped content", |connection| {
            let transaction = connection.transaction()?;
            transaction.execute(
                "DELETE FROM dropped_content WHERE updated < ?1",
                [update.oldest],
            )?;
            for path in &update.forgotten {
                delete(&transaction, update, path)?;
            }
            rename(&transaction, update)?;
            for record in &update.stored {
                store(&transaction, update, record)?;
            }
            transaction.commit()
        })
    }

    fn excess_dropped_content(
        &self,
        caller: &str,
        max_records: usize,
        max_bytes: usize,
        limit: usize,
    ) -> Result<Vec<SlimUpdate>, RecordsError> {
        self.run("find excess dropped content", |connection| {
            let excess: i64 = connection
                .prepare_cached(
                    "SELECT count(*) FROM (
                         SELECT row_number() OVER latest AS records, sum(length(ledger)) OVER latest AS bytes
                         FROM dropped_content WHERE caller = ?1 AND is_slim = 0
                         WINDOW latest AS (ORDER BY updated DESC, rowid DESC))
                     WHERE records > ?2 OR bytes > ?3 AND records > 1",
                )?
                .query_row(
                    params![caller, integer(max_records), integer(max_bytes)],
                    |row| row.get(0),
                )?;
            if excess == 0 {
                return Ok(Vec::new());
            }
            let mut statement = connection.prepare_cached(
                "SELECT vault, path, ledger FROM dropped_content WHERE caller = ?1 AND is_slim = 0
                 ORDER BY updated, rowid LIMIT ?2",
            )?;
            let rows = statement.query_map(params![caller, excess.min(integer(limit))], |row| {
                Ok(SlimUpdate {
                    vault: row.get(0)?,
                    path: row.get(1)?,
                    before: row.get(2)?,
                    sums: Vec::new(),
                })
            })?;
            rows.collect()
        })
    }

    fn slim_dropped_content(
        &self,
        caller: &str,
        updates: &[SlimUpdate],
    ) -> Result<usize, RecordsError> {
        self.run("slim dropped content", |connection| {
            let transaction = connection.transaction()?;
            let mut changed = 0;
            {
                let mut slim = transaction.prepare_cached(
                    "UPDATE dropped_content SET is_slim = 1, ledger = ?5
                     WHERE caller = ?1 AND vault = ?2 AND path = ?3 AND ledger = ?4",
                )?;
                for update in updates {
                    changed += slim.execute(params![
                        caller,
                        update.vault,
                        update.path,
                        update.before,
                        update.sums
                    ])?;
                }
            }
            transaction.commit()?;
            Ok(changed)
        })
    }
}

/// Notes may take each other's names, so all records leave their old paths first.
fn rename(connection: &Connection, update: &DropUpdate<'_>) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "UPDATE OR REPLACE dropped_content SET path = ?1 WHERE vault = ?2 AND path = ?3 AND caller <> ?4",
    )?;
    // No path begins like that.
    let between = |path: &str| format!("//{path}");
    for (from, to) in &update.renamed {
        statement.execute(params![between(to), update.vault, from, update.caller])?;
    }
    for (_, to) in &update.renamed {
        statement.execute(params![to, update.vault, between(to), update.caller])?;
    }
    Ok(())
}

fn delete(connection: &Connection, update: &DropUpdate<'_>, path: &str) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "DELETE FROM dropped_content WHERE caller = ?1 AND vault = ?2 AND path = ?3",
        )?
        .execute(params![update.caller, update.vault, path])?;
    Ok(())
}

fn store(
    connection: &Connection,
    update: &DropUpdate<'_>,
    record: &DropRecord,
) -> rusqlite::Result<()> {
    let Some(ledger) = &record.ledger else {
        return delete(connection, update, &record.path);
    };
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO dropped_content (caller, vault, path, updated, words, is_slim, ledger)
             VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6)",
        )?
        .execute(params![
            update.caller,
            update.vault,
            record.path,
            update.now,
            integer(record.words),
            ledger
        ])?;
    Ok(())
}
