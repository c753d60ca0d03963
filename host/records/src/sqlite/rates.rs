//! Token buckets.

use std::borrow::Cow;

use rusqlite::params;

use super::Sqlite;
use crate::store::{RateRecord, RateRecords, RecordsError};

pub(super) const TABLE: &str = "
CREATE TABLE IF NOT EXISTS rates (
    caller TEXT NOT NULL,
    effect TEXT NOT NULL,           -- or another name of a bucket
    tokens REAL NOT NULL,
    time INTEGER NOT NULL,
    PRIMARY KEY (caller, effect)
) STRICT;";

impl RateRecords for Sqlite {
    fn rates(&self) -> Result<Vec<RateRecord>, RecordsError> {
        self.run("load rates", |connection| {
            let mut statement =
                connection.prepare("SELECT caller, effect, tokens, time FROM rates")?;
            let rows = statement.query_map([], |row| {
                Ok(RateRecord {
                    caller: row.get(0)?,
                    bucket: Cow::Owned(row.get(1)?),
                    tokens: row.get(2)?,
                    time: row.get(3)?,
                })
            })?;
            rows.collect()
        })
    }

    fn store_rates(&self, buckets: &[RateRecord], oldest: i64) -> Result<(), RecordsError> {
        self.run("store rates", |connection| {
            let transaction = connection.transaction()?;
            transaction.execute("DELETE FROM rates WHERE time < ?1", [oldest])?;
            {
                let mut store = transaction
                    .prepare_cached("INSERT OR REPLACE INTO rates VALUES (?1, ?2, ?3, ?4)")?;
                for bucket in buckets {
                    store.execute(params![
                        bucket.caller,
                        bucket.bucket,
                        bucket.tokens,
                        bucket.time
                    ])?;
                }
            }
            transaction.commit()
        })
    }
}
