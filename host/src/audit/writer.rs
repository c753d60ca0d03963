//! The thread that puts calls into the records, many at once, on a connection of its own: no call waits for the disk.
//! It also forgets what is too old or too much.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use rusqlite::{Connection, params};

use super::entry::Entry;
use super::metrics;
use crate::config::AuditSettings;
use crate::database::{Database, DatabaseError, now_ms};

/// How many calls may wait to be written before the next one waits itself.
const WAITING: usize = 8192;
/// How many are written at once at most.
const BATCH: usize = 512;
/// How long a call may wait for others to be written with it.
const GATHERING: Duration = Duration::from_millis(50);
/// How often the thread looks around when nothing is called.
const IDLE: Duration = Duration::from_secs(10);
/// After how many rows, or how long, the oldest are looked for.
const PRUNE_ROWS: usize = 256;
const PRUNE_EVERY: Duration = Duration::from_secs(60);
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

enum Message {
    Entry(Box<Entry>),
    /// Write what waits, and say when it is there.
    Flush(SyncSender<()>),
}

/// The writing thread, from outside.
pub(super) struct Writer {
    /// `None` when it is time to end.
    sender: Option<SyncSender<Message>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(
        database: &Database,
        settings: Arc<ArcSwap<AuditSettings>>,
    ) -> Result<Writer, DatabaseError> {
        let database = database.reopen()?;
        let (sender, receiver) = sync_channel(WAITING);
        let work = Work {
            database,
            settings,
            since_pruned: 0,
            pruned: Instant::now(),
        };
        let thread = std::thread::Builder::new()
            .name("notehost-audit".into())
            .spawn(move || work.run(&receiver));
        match thread {
            Ok(thread) => Ok(Writer {
                sender: Some(sender),
                thread: Some(thread),
            }),
            Err(error) => {
                tracing::error!("calls are not written down: {error}");
                Ok(Writer {
                    sender: None,
                    thread: None,
                })
            }
        }
    }

    /// Hand a call over. Where the thread is far behind, this waits: no call is forgotten.
    pub(super) fn write(&self, entry: Entry) {
        let sent = self
            .sender
            .as_ref()
            .map(|sender| sender.send(Message::Entry(Box::new(entry))));
        if !matches!(sent, Some(Ok(()))) {
            metrics::lost(1);
        }
    }

    /// Wait until everything that was handed over is written.
    pub(super) fn flush(&self) {
        let (done, written) = sync_channel(1);
        let sent = self
            .sender
            .as_ref()
            .map(|sender| sender.send(Message::Flush(done)));
        if matches!(sent, Some(Ok(()))) {
            // An error means that the thread has ended, after writing what it had.
            let _ = written.recv();
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.sender.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Work {
    database: Database,
    settings: Arc<ArcSwap<AuditSettings>>,
    since_pruned: usize,
    pruned: Instant,
}

impl Work {
    fn run(mut self, receiver: &Receiver<Message>) {
        self.prune();
        loop {
            match receiver.recv_timeout(IDLE) {
                Ok(Message::Flush(done)) => drop(done.send(())),
                Ok(Message::Entry(first)) => self.gather(receiver, *first),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            // What was counted but never asked for would gather without end.
            metrics::tidy();
            if self.since_pruned >= PRUNE_ROWS || self.pruned.elapsed() >= PRUNE_EVERY {
                self.prune();
            }
        }
        self.prune();
    }

    /// Write a call together with those that come right after it.
    fn gather(&mut self, receiver: &Receiver<Message>, first: Entry) {
        let until = Instant::now() + GATHERING;
        let mut batch = vec![first];
        let mut waiting = None;
        while batch.len() < BATCH {
            let left = until.saturating_duration_since(Instant::now());
            match receiver.recv_timeout(left) {
                Ok(Message::Entry(entry)) => batch.push(*entry),
                Ok(Message::Flush(done)) => {
                    waiting = Some(done);
                    break;
                }
                Err(_) => break,
            }
        }
        self.insert(&batch);
        if let Some(done) = waiting {
            let _ = done.send(());
        }
    }

    fn insert(&mut self, batch: &[Entry]) {
        self.since_pruned += batch.len();
        let mut written = self.database.with(|connection| insert(connection, batch));
        if written.is_err() {
            std::thread::sleep(GATHERING);
            written = self.database.with(|connection| insert(connection, batch));
        }
        if let Err(error) = written {
            // A full disk must not stop people from reading their notes.
            tracing::error!("{} calls could not be written down: {error}", batch.len());
            metrics::lost(batch.len() as u64);
        }
    }

    fn prune(&mut self) {
        (self.since_pruned, self.pruned) = (0, Instant::now());
        let settings = self.settings.load();
        let days = i64::try_from(settings.keep_days).unwrap_or(i64::MAX);
        let oldest = now_ms().saturating_sub(days.saturating_mul(DAY_MS));
        let rows = i64::try_from(settings.keep_rows).unwrap_or(i64::MAX);
        // In pieces: whoever wants to write meanwhile does not wait for all of them. Numbers have no gaps but at the old
        // end.
        loop {
            let pruned = self.database.with(|connection| {
                connection.execute(
                    "DELETE FROM audit WHERE number IN (
                         SELECT number FROM audit
                         WHERE time < ?1 OR number <= (SELECT max(number) FROM audit) - ?2
                         ORDER BY number LIMIT 2000)",
                    params![oldest, rows],
                )
            });
            match pruned {
                Ok(2000) => {}
                Ok(_) => return,
                Err(error) => {
                    tracing::warn!("old calls could not be forgotten: {error}");
                    return;
                }
            }
        }
    }
}

fn insert(connection: &mut Connection, batch: &[Entry]) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    {
        let mut insert = transaction.prepare_cached(
            "INSERT INTO audit (time, caller, transport, domain, action, vault, paths, bytes_added, bytes_removed,
                 microseconds, outcome, version, arguments, change, tokens_in, tokens_out)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
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
            ])?;
        }
    }
    transaction.commit()
}
