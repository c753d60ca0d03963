//! Rate limits: a token bucket per caller and effect. Buckets survive a restart, so that restarting does not reset
//! limits.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use notehost_config::RateSettings;
use notehost_platform::clock::now_ms;
use notehost_records::RecordsError;
use notehost_records::store::{RateRecord, RateRecords};
use notehost_vault::Effect;

/// How often the buckets are stored.
const WRITE_EVERY_MS: i64 = 5_000;
/// A bucket unused for so long is deleted: it is full again.
const FORGOTTEN_MS: i64 = 60 * 60 * 1000;

/// The bucket for requests of every kind. It is not loaded at the next start.
const REQUEST: &str = "request";
/// How many requests a caller may make for each call that it may make.
const REQUESTS_PER_CALL: u32 = 8;
/// The minimum number of requests in a minute.
const MIN_REQUESTS: u32 = 1200;

/// The buckets of all callers.
pub struct Rates {
    records: Arc<dyn RateRecords>,
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
    /// Loads the stored buckets.
    pub fn open(records: Arc<dyn RateRecords>) -> Result<Rates, RecordsError> {
        let by_caller = records.rates()?.into_iter().filter_map(|record| {
            let effect = [Effect::Read, Effect::Write, Effect::Delete]
                .into_iter()
                .find(|known| known.as_str() == record.bucket)?;
            let bucket = Bucket {
                tokens: record.tokens,
                time: record.time,
            };
            Some(((record.caller, effect.as_str()), bucket))
        });
        let buckets = Buckets {
            by_caller: by_caller.collect(),
            written: now_ms(),
        };
        Ok(Rates {
            records,
            buckets: Mutex::new(buckets),
        })
    }

    /// Takes one call from a caller's bucket, or returns the wait in milliseconds.
    pub fn take(&self, caller: &str, effect: Effect, settings: &RateSettings) -> Result<(), u64> {
        self.take_at(caller, effect.as_str(), pace(effect, settings))
    }

    /// Takes one request from a caller's bucket for requests of every kind, before the request is parsed. There are several
    /// times as many as there are calls: a client also lists, subscribes and polls for progress.
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
        let mut buckets = self.buckets.lock();
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
            let (records, stored) = (self.records.clone(), stored(&buckets));
            drop(buckets);
            // No call waits for it.
            match tokio::runtime::Handle::try_current() {
                Ok(runtime) => drop(runtime.spawn_blocking(move || store(&*records, &stored, now))),
                Err(_) => store(&*records, &stored, now),
            }
        }
        taken
    }

    /// How many calls of an effect a caller could make now.
    pub fn left(&self, caller: &str, effect: Effect, settings: &RateSettings) -> u32 {
        let (pace, most) = pace(effect, settings);
        let buckets = self.buckets.lock();
        let bucket = buckets.by_caller.get(&(caller.to_owned(), effect.as_str()));
        bucket.map_or(most, |bucket| bucket.filled(now_ms(), pace, most)) as u32
    }
}

/// How many calls a bucket gains per millisecond, and its capacity. Without a limit it gains none.
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
    /// Its tokens at this time. A clock that was set back neither fills nor empties it.
    fn filled(&self, now: i64, pace: f64, most: f64) -> f64 {
        let passed = (now - self.time).max(0) as f64;
        (self.tokens + passed * pace).clamp(0.0, most)
    }
}

fn stored(buckets: &Buckets) -> Vec<RateRecord> {
    let buckets = buckets.by_caller.iter();
    buckets
        .map(|((caller, name), bucket)| RateRecord {
            caller: caller.clone(),
            bucket: Cow::Borrowed(*name),
            tokens: bucket.tokens,
            time: bucket.time,
        })
        .collect()
}

fn store(records: &dyn RateRecords, buckets: &[RateRecord], now: i64) {
    if let Err(error) = records.store_rates(buckets, now - FORGOTTEN_MS) {
        tracing::warn!("the rate limits of callers could not be stored: {error}");
    }
}

impl Drop for Rates {
    fn drop(&mut self) {
        store(&*self.records, &stored(&self.buckets.lock()), now_ms());
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
            let records = notehost_records::open(state.path()).expect("records");
            Rates::open(records).expect("rates")
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
