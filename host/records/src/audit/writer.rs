//! The thread that writes calls to the records in batches, on a separate connection: calls do not wait for the disk.
//! It also deletes entries beyond the retention.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::entry::Entry;
use super::{metrics, usage};
use crate::database::{Database, DatabaseError, now_ms};
use notehost_config::AuditSettings;

/// The maximum number of pending entries; then calls wait.
const QUEUE_CAPACITY: usize = 8192;
/// The maximum number of entries per transaction.
const BATCH_SIZE: usize = 512;
/// How long entries are batched before they are written.
const BATCH_DELAY: Duration = Duration::from_millis(50);
/// The interval of maintenance without calls.
const IDLE_INTERVAL: Duration = Duration::from_secs(10);
/// After how many rows, or how long, old entries are pruned.
const PRUNE_ROWS: usize = 256;
const PRUNE_INTERVAL: Duration = Duration::from_secs(60);
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// The pending entries. A caller wakes the thread only if it sleeps: a wake-up costs more than
/// the rest of queueing an entry.
#[derive(Default)]
struct Queue {
    state: Mutex<Pending>,
    /// Signals pending entries, a flush request or the end.
    work: Condvar,
    /// Signals written entries.
    done: Condvar,
}

#[derive(Default)]
struct Pending {
    entries: Vec<Entry>,
    /// The total number of queued entries, and of processed ones.
    handed: u64,
    dealt_with: u64,
    /// Whether a flush is requested.
    hurry: bool,
    ending: bool,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The handle of the writing thread.
pub(super) struct Writer {
    queue: Arc<Queue>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(
        database: &Database,
        settings: Arc<ArcSwap<AuditSettings>>,
    ) -> Result<Writer, DatabaseError> {
        let queue = Arc::new(Queue::default());
        let work = WriterThread {
            database: database.reopen()?,
            queue: queue.clone(),
            settings,
            since_pruned: 0,
            pruned: Instant::now(),
        };
        let thread = std::thread::Builder::new()
            .name("notehost-audit".into())
            .spawn(move || work.run());
        let thread = thread
            .inspect_err(|error| tracing::error!("the audit log is not written: {error}"))
            .ok();
        Ok(Writer { queue, thread })
    }

    /// Queues an entry. If the queue is full, this waits: no entry is lost.
    pub(super) fn write(&self, entry: Entry) {
        if self.thread.is_none() {
            return metrics::count_lost(1);
        }
        let mut waiting = self.queue.lock();
        while waiting.entries.len() >= QUEUE_CAPACITY {
            waiting = self
                .queue
                .done
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
        waiting.entries.push(entry);
        waiting.handed += 1;
        // The first entry wakes the thread; it then waits for more by itself.
        if matches!(waiting.entries.len(), 1 | BATCH_SIZE) {
            self.queue.work.notify_one();
        }
    }

    /// Waits until all queued entries are written.
    pub(super) fn flush(&self) {
        if self.thread.is_none() {
            return;
        }
        let mut waiting = self.queue.lock();
        let all = waiting.handed;
        while waiting.dealt_with < all {
            waiting.hurry = true;
            self.queue.work.notify_one();
            waiting = self
                .queue
                .done
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue.lock().ending = true;
        self.queue.work.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct WriterThread {
    database: Database,
    queue: Arc<Queue>,
    settings: Arc<ArcSwap<AuditSettings>>,
    since_pruned: usize,
    pruned: Instant,
}

impl WriterThread {
    fn run(mut self) {
        self.prune();
        loop {
            let (batch, ending) = self.gather();
            for part in batch.chunks(BATCH_SIZE) {
                self.insert(part);
            }
            if !batch.is_empty() {
                let mut waiting = self.queue.lock();
                waiting.dealt_with += batch.len() as u64;
                self.queue.done.notify_all();
            }
            // Samples of metrics that are never read would accumulate.
            metrics::run_upkeep();
            if self.since_pruned >= PRUNE_ROWS || self.pruned.elapsed() >= PRUNE_INTERVAL {
                self.prune();
            }
            if ending {
                break;
            }
        }
        self.prune();
    }

    /// A batch of entries, and whether to stop.
    fn gather(&self) -> (Vec<Entry>, bool) {
        let waiting = self.queue.lock();
        let (waiting, _) = self
            .queue
            .work
            .wait_timeout_while(waiting, IDLE_INTERVAL, |waiting| {
                waiting.entries.is_empty() && !waiting.ending
            })
            .unwrap_or_else(PoisonError::into_inner);
        let (mut waiting, _) = self
            .queue
            .work
            .wait_timeout_while(waiting, BATCH_DELAY, |waiting| {
                let is_idle = waiting.entries.is_empty();
                !is_idle && waiting.entries.len() < BATCH_SIZE && !waiting.hurry && !waiting.ending
            })
            .unwrap_or_else(PoisonError::into_inner);
        waiting.hurry = false;
        (std::mem::take(&mut waiting.entries), waiting.ending)
    }

    fn insert(&mut self, batch: &[Entry]) {
        self.since_pruned += batch.len();
        let mut written = self.database.with(|connection| insert(connection, batch));
        if written.is_err() {
            std::thread::sleep(BATCH_DELAY);
            written = self.database.with(|connection| insert(connection, batch));
        }
        if let Err(error) = written {
            // A full disk must not prevent calls.
            tracing::error!(
                "cannot write {} calls to the audit log: {error}",
                batch.len()
            );
            metrics::count_lost(batch.len() as u64);
        }
    }

    fn prune(&mut self) {
        (self.since_pruned, self.pruned) = (0, Instant::now());
        let settings = self.settings.load();
        let days = i64::try_from(settings.keep_days).unwrap_or(i64::MAX);
        let oldest = now_ms().saturating_sub(days.saturating_mul(DAY_MS));
        let rows = i64::try_from(settings.keep_rows).unwrap_or(i64::MAX);
        // Numbers have no gaps except at the old end: rows before the first retained one are deleted.
        let first_kept = self.database.with(|connection| {
            let last: i64 =
                connection.query_row("SELECT coalesce(max(number), 0) FROM audit", [], |row| {
                    row.get(0)
                })?;
            // Without the index on times: the first row is usually young enough.
            let young = "SELECT number FROM audit WHERE +time >= ?1 ORDER BY number LIMIT 1";
            let young: Option<i64> = connection
                .query_row(young, [oldest], |row| row.get(0))
                .optional()?;
            Ok(young
                .unwrap_or(last + 1)
                .max((last + 1).saturating_sub(rows)))
        });
        // In chunks, so that other writers do not wait for all of them.
        let forget = |before: i64| {
            self.database.with(|connection| {
                connection.execute(
                    "DELETE FROM audit WHERE number IN (
                         SELECT number FROM audit WHERE number < ?1 ORDER BY number LIMIT 2000)",
                    [before],
                )
            })
        };
        let forgotten = first_kept.and_then(|first| {
            while forget(first)? == 2000 {}
            Ok(())
        });
        if let Err(error) = forgotten {
            tracing::warn!("cannot delete old calls from the audit log: {error}");
        }
    }
}

fn insert(connection: &mut Connection, batch: &[Entry]) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    {
        let mut insert = transaction.prepare_cached(
            "INSERT INTO audit (time, caller, transport, domain, action, vault, paths, bytes_added, bytes_removed,
                 microseconds, outcome, version, arguments, change, tokens_in, tokens_out, confirmed, confirmed_by)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
        )?;
        let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        for entry in batch {
            insert.execute(params![
                entry.time,
                entry.caller,
                entry.transport,
                entry.domain,
                entry.action,
                entry.vault,
                serde_json::to_string(&entry.paths).unwrap_or_else(|_| "[]".into()),
                number(entry.bytes_added),
                number(entry.bytes_removed),
                number(entry.microseconds),
                entry.outcome,
                entry.version,
                entry.arguments,
                entry.change,
                number(entry.tokens_in),
                number(entry.tokens_out),
                entry.confirmed,
                entry.confirmed_by,
            ])?;
        }
        let mut count = transaction.prepare_cached(
            "INSERT INTO calls VALUES (?1, ?2, 1) ON CONFLICT DO UPDATE SET count = count + 1",
        )?;
        for entry in batch.iter().filter(|entry| entry.is_counted()) {
            if let Some(vault) = &entry.vault {
                count.execute([&entry.caller, vault])?;
            }
        }
        usage::add(&transaction, batch)?;
    }
    transaction.commit()
}
