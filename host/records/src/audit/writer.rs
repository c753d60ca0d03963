//! The thread that writes calls to the records in batches, on a handle of its own: calls do not wait for the disk.
//! It also deletes entries beyond the retention.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use parking_lot::{Condvar, Mutex};

use super::entry::Entry;
use super::metrics;
use crate::store::{Records, RecordsError};
use notehost_config::AuditSettings;
use notehost_platform::clock::now_ms;

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
/// How many old entries are deleted at once.
const PRUNE_CHUNK: u32 = 2000;
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

/// The handle of the writing thread.
pub(super) struct Writer {
    queue: Arc<Queue>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(
        records: &dyn Records,
        settings: Arc<ArcSwap<AuditSettings>>,
    ) -> Result<Writer, RecordsError> {
        let queue = Arc::new(Queue::default());
        let work = WriterThread {
            records: records.reopen()?,
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
        let mut waiting = self.queue.state.lock();
        while waiting.entries.len() >= QUEUE_CAPACITY {
            self.queue.done.wait(&mut waiting);
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
        let mut waiting = self.queue.state.lock();
        let all = waiting.handed;
        while waiting.dealt_with < all {
            waiting.hurry = true;
            self.queue.work.notify_one();
            self.queue.done.wait(&mut waiting);
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue.state.lock().ending = true;
        self.queue.work.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct WriterThread {
    records: Arc<dyn Records>,
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
                let mut waiting = self.queue.state.lock();
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
        let mut waiting = self.queue.state.lock();
        let is_idle = |waiting: &mut Pending| waiting.entries.is_empty() && !waiting.ending;
        let work = &self.queue.work;
        work.wait_while_for(&mut waiting, is_idle, IDLE_INTERVAL);
        let is_early = |waiting: &mut Pending| {
            let is_idle = waiting.entries.is_empty();
            !is_idle && waiting.entries.len() < BATCH_SIZE && !waiting.hurry && !waiting.ending
        };
        work.wait_while_for(&mut waiting, is_early, BATCH_DELAY);
        waiting.hurry = false;
        (std::mem::take(&mut waiting.entries), waiting.ending)
    }

    fn insert(&mut self, batch: &[Entry]) {
        self.since_pruned += batch.len();
        let mut written = self.records.append_calls(batch);
        if written.is_err() {
            std::thread::sleep(BATCH_DELAY);
            written = self.records.append_calls(batch);
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
        let first_kept = self.records.first_kept_call(oldest, settings.keep_rows);
        // In chunks, so that other writers do not wait for all of them.
        let pruned = first_kept.and_then(|first| {
            while self.records.delete_calls_before(first, PRUNE_CHUNK)? == PRUNE_CHUNK {}
            Ok(())
        });
        if let Err(error) = pruned {
            tracing::warn!("cannot delete old calls from the audit log: {error}");
        }
    }
}
