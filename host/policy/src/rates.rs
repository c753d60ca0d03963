//! Rate limits: a token bucket per caller and effect. Buckets survive a restart, so that restarting does not reset
//! limits.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::params;

use notehost_config::RateSettings;
use notehost_records::database::{Database, DatabaseError, now_ms};
use notehost_vault::Effect;

/// The table of buckets.
pub const RATES_TABLE: &str = "
CREATE TABLE IF NOT EXISTS rates (
    caller TEXT NOT NULL,
    effect TEXT NOT NULL,
    tokens REAL NOT NULL,
    time INTEGER NOT NULL,
    PRIMARY KEY (caller, effect)
) STRICT;";

/// How often the buckets are stored.
const WRITE_EVERY_MS: i64 = 5_000;
/// A bucket unused for so long is dropped, as it is full again at any rate.
const FORGOTTEN_MS: i64 = 60 * 60 * 1000;

/// The bucket for requests of every kind. It is not taken over by the next start.
const REQUEST: &str = "request";
/// How many requests a caller may make for each call that it may make.
const REQUESTS_PER_CALL: u32 = 8;
/// And how many at least, in a minute.
const MIN_REQUESTS: u32 = 1200;

/// What every caller has left.
pub struct Rates {
    database: Arc<Database>,
    buckets: Mutex<Buckets>,
}

#[derive(Default)]
struct Buckets {
    by_caller: HashMap<(String, &'static str), Bucket>,
    written: i64,
}

#[derive(Clone, Copy)]
struct Bucket {
    tokens: f64,
    time: i64,
}

impl Rates {
    /// The buckets as they were left.
    pub fn open(database: Arc<Database>) -> Result<Rates, DatabaseError> {
        let kept = database.with(|connection| {
            let mut statement =
                connection.prepare("SELECT caller, effect, tokens, time FROM rates")?;
            let rows = statement.query_map([], |row| {
                let effect: String = row.get(1)?;
                Ok((row.get(0)?, effect, row.get(2)?, row.get(3)?))
            })?;
            rows.collect::<rusqlite::Result<Vec<(String, String, f64, i64)>>>()
        })?;
        let by_caller = kept
            .into_iter()
            .filter_map(|(caller, effect, tokens, time)| {
                let effect = [Effect::Read, Effect::Write, Effect::Delete]
                    .into_iter()
                    .find(|known| known.as_str() == effect)?;
                Some(((caller, effect.as_str()), Bucket { tokens, time }))
            })
            .collect();
        Ok(Rates {
            database,
            buckets: Mutex::new(Buckets {
                by_caller,
                written: now_ms(),
            }),
        })
    }

    /// Takes one call from a caller's bucket, or returns the wait in milliseconds.
    pub fn take(&self, caller: &str, effect: Effect, settings: &RateSettings) -> Result<(), u64> {
        self.take_at(caller, effect.as_str(), pace(effect, settings))
    }

    /// Take one request out of a caller's bucket for requests of every kind, before it is known what it asks for. There are
    /// several times as many as there are calls: a client also lists, subscribes and asks how far something is.
    pub fn take_request(&self, caller: &str, settings: &RateSettings) -> Result<(), u64> {
        self.take_at(caller, REQUEST, request_pace(settings))
    }

    fn take_at(
        &self,
        caller: &str,
        bucket: &'static str,
        (pace, most): (f64, f64),
    ) -> Result<(), u64> {
        if pace == 0.0 {
            return Ok(());
        }
        let now = now_ms();
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = buckets
            .by_caller
            .entry((caller.to_owned(), bucket))
            .or_insert(Bucket {
                tokens: most,
                time: now,
            });
        bucket.tokens = bucket.filled(now, pace, most);
        bucket.time = now;
        let taken = if bucket.tokens >= 1.0 {
            bucket.tokens -= 1.0;
            Ok(())
        } else {
            Err(((1.0 - bucket.tokens) / pace).ceil() as u64)
        };
        if now - buckets.written >= WRITE_EVERY_MS {
            buckets.written = now;
            buckets
                .by_caller
                .retain(|_, bucket| now - bucket.time < FORGOTTEN_MS);
            let (database, rows) = (self.database.clone(), rows(&buckets));
            drop(buckets);
            // Nobody who calls waits for it.
            match tokio::runtime::Handle::try_current() {
                Ok(runtime) => drop(runtime.spawn_blocking(move || write(&database, &rows))),
                Err(_) => write(&database, &rows),
            }
        }
        taken
    }

    /// How many calls of an effect a caller could make now.
    pub fn left(&self, caller: &str, effect: Effect, settings: &RateSettings) -> u32 {
        let (pace, most) = pace(effect, settings);
        let buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = buckets.by_caller.get(&(caller.to_owned(), effect.as_str()));
        bucket.map_or(most, |bucket| bucket.filled(now_ms(), pace, most)) as u32
    }
}

/// How many calls a millisecond fills in, and how many there may be at most. Without a limit nothing fills in.
fn pace(effect: Effect, settings: &RateSettings) -> (f64, f64) {
    let per_minute = match effect {
        Effect::Read => settings.read,
        Effect::Write => settings.write,
        Effect::Delete => settings.delete,
    };
    per_minute_pace(per_minute, settings)
}

/// The same for requests of every kind. Where calls have no limit, requests have none.
fn request_pace(settings: &RateSettings) -> (f64, f64) {
    let calls = [settings.read, settings.write, settings.delete];
    if calls.contains(&0) {
        return (0.0, 0.0);
    }
    let calls = calls
        .iter()
        .fold(0u32, |sum, count| sum.saturating_add(*count));
    let per_minute = calls.saturating_mul(REQUESTS_PER_CALL).max(MIN_REQUESTS);
    per_minute_pace(per_minute, settings)
}

fn per_minute_pace(per_minute: u32, settings: &RateSettings) -> (f64, f64) {
    let pace = f64::from(per_minute) / 60_000.0;
    let most = (pace * 1000.0 * f64::from(settings.burst_seconds)).max(1.0);
    (pace, most)
}

impl Bucket {
    /// What is in it at a moment. A clock that was set back neither fills nor empties anything.
    fn filled(&self, now: i64, pace: f64, most: f64) -> f64 {
        let passed = (now - self.time).max(0) as f64;
        (self.tokens + passed * pace).clamp(0.0, most)
    }
}

type Row = (String, &'static str, Bucket);

fn rows(buckets: &Buckets) -> Vec<Row> {
    let rows = buckets.by_caller.iter();
    rows.map(|((caller, effect), bucket)| (caller.clone(), *effect, *bucket))
        .collect()
}

fn write(database: &Database, rows: &[Row]) {
    let written = database.with(|connection| {
        let transaction = connection.transaction()?;
        transaction.execute("DELETE FROM rates", [])?;
        for (caller, effect, bucket) in rows {
            transaction.execute(
                "INSERT INTO rates VALUES (?1, ?2, ?3, ?4)",
                params![caller, effect, bucket.tokens, bucket.time],
            )?;
        }
        transaction.commit()
    });
    if let Err(error) = written {
        tracing::warn!("the rate limits of callers could not be stored: {error}");
    }
}

impl Drop for Rates {
    fn drop(&mut self) {
        let buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        write(&self.database, &rows(&buckets));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_limits_survive_a_restart() {
        let state = tempfile::tempdir().expect("a folder");
        let settings = RateSettings {
            delete: 6,
            burst_seconds: 30,
            ..RateSettings::default()
        };
        let open = || {
            let database = Arc::new(crate::open_records(state.path()).expect("records"));
            Rates::open(database).expect("rates")
        };
        let rates = open();
        for _ in 0..3 {
            rates
                .take("phone", Effect::Delete, &settings)
                .expect("one left");
        }
        let wait = rates
            .take("phone", Effect::Delete, &settings)
            .expect_err("none left");
        assert!((1..=10_000).contains(&wait), "{wait}");
        rates
            .take("other", Effect::Delete, &settings)
            .expect("its own bucket");
        rates
            .take("phone", Effect::Read, &settings)
            .expect("its own bucket");
        drop(rates);
        assert!(open().take("phone", Effect::Delete, &settings).is_err());
        let unlimited = RateSettings {
            delete: 0,
            ..settings
        };
        open()
            .take("phone", Effect::Delete, &unlimited)
            .expect("unlimited");
    }
}
