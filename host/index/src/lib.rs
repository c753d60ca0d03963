//! The index of a vault: one per vault, maintained by its own thread and queried through [`Index::ask`]. It has two halves:
//! the note graph in memory (links, tags, properties, headings, …) and the full text on disk. Every answer is made for one
//! caller: files hidden by its rules affect neither hits nor counts nor scores nor link targets.
//!
//! ```text
//! indexer ─ core ─┬─ graph    files and their facts, in memory and in one file
//!                 └─ text     full-text search, tantivy's files
//! query ─ caller_view ─┬─ find ─ filter, sort            answers for one caller, within `limits`
//!                      └─ links, link_graph, tags, names
//! ```

mod core;
mod graph;
mod indexer;
mod limits;
mod query;
mod report;
mod text;

#[cfg(test)]
mod tests;

pub use indexer::file_events::{Edit, FileEvent};
pub use indexer::ignore::Ignored;
pub use limits::bounds::MAX_RESULTS;
pub use limits::deadline::CancelFlag;
pub use query::complete::{CompletionKind, fitting};
pub use query::{Answer, Question};
pub use report::{Report, clear_rebuild_request, is_rebuild_requested, report, request_rebuild};

use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use notehost_sdk::index::{Condition, IndexState, Progress};

use core::Core;

use indexer::{IndexerMessage, file_events};
use limits::deadline::Deadline;
use notehost_vault::{Transaction, Vault, VaultError};

/// The index of one vault.
pub struct Index {
    core: Arc<Core>,
    messages: Sender<IndexerMessage>,
    indexer: Mutex<IndexerThread>,
    /// The condition for notes written for assistants, if models are to be informed of them.
    assistant_notes: Mutex<Option<Condition>>,
}

/// What components receive in place of a tag: as a condition it means the notes that are written for assistants, which a
/// tag alone does not decide. No note has it: tags contain no spaces.
const ASSISTANT_NOTES: &str = "notes for assistants";

/// The state of the indexer.
enum IndexerThread {
    /// The receiver that the thread will read from.
    NotStarted(Receiver<IndexerMessage>),
    Running(JoinHandle<()>),
    Ended,
}

impl Index {
    /// Opens the index of a vault. Nothing is read before [`Index::start`], or before the first query.
    pub fn open(vault: &Arc<Vault>) -> Arc<Index> {
        let (messages, receiver) = channel();
        let core = Arc::new(Core::new(vault.clone()));
        // A caller always finds what it just wrote: a query reads first what commits changed. The indexer does so at once,
        // so that a query rarely has to; the commit itself does not wait for it.
        let (of_commit, sender) = (Arc::downgrade(&core), messages.clone());
        vault.on_commit(Box::new(move |committed| {
            let Some(core) = of_commit.upgrade() else {
                return;
            };
            let files = committed.files.iter();
            let paths = files.flat_map(|file| [Some(&file.path), file.from.as_ref()]);
            core.mark(paths.flatten().cloned());
            let _ = sender.send(IndexerMessage::Committed);
            core.listeners.notify(file_events::of_commit(committed));
        }));
        Arc::new(Index {
            core,
            messages,
            indexer: Mutex::new(IndexerThread::NotStarted(receiver)),
            assistant_notes: Mutex::default(),
        })
    }

    /// Starts the indexer in a thread of its own. Returns at once: `false` if it was started before.
    pub fn start(&self) -> bool {
        let mut indexer = self.indexer.lock();
        let receiver = match std::mem::replace(&mut *indexer, IndexerThread::Ended) {
            IndexerThread::NotStarted(receiver) => receiver,
            other => {
                *indexer = other;
                return false;
            }
        };
        let (core, messages) = (self.core.clone(), self.messages.clone());
        let thread = std::thread::Builder::new()
            .name("index".into())
            .spawn(move || indexer::run(&core, &receiver, &messages));
        match thread {
            Ok(thread) => *indexer = IndexerThread::Running(thread),
            Err(error) => tracing::error!("cannot start the indexer: {error}"),
        }
        true
    }

    /// Sets which notes are written for assistants.
    pub fn set_assistant_notes(&self, condition: Option<Condition>) {
        *self.assistant_notes.lock() = condition;
    }

    /// A condition in which the tag for notes written for assistants is replaced by what it means.
    fn explicit(&self, condition: Condition) -> Condition {
        let all = |conditions: Vec<Condition>| -> Vec<Condition> {
            let conditions = conditions.into_iter();
            conditions.map(|inner| self.explicit(inner)).collect()
        };
        match condition {
            Condition::Tag(tag) if tag == ASSISTANT_NOTES => {
                let known = self.assistant_notes.lock();
                let known = known.clone();
                known.unwrap_or(Condition::Any(Vec::new()))
            }
            Condition::All(inner) => Condition::All(all(inner)),
            Condition::Any(inner) => Condition::Any(all(inner)),
            Condition::Not(inner) => Condition::Not(Box::new(self.explicit(*inner))),
            other => other,
        }
    }

    /// Whether every committed change is indexed and none is being read: then no query has to wait.
    pub fn is_settled(&self) -> bool {
        self.core.is_settled()
    }

    /// The progress of the index for one caller; reads first what commits changed.
    pub fn state(&self, transaction: &Transaction) -> Result<IndexState, VaultError> {
        self.state_until(transaction, &Deadline::of(transaction, None))
    }

    /// The same on an async worker; `None` if something has to be waited for.
    pub fn state_if_quick(&self, transaction: &Transaction) -> Option<IndexState> {
        let deadline = Deadline::quick(transaction);
        match self.is_settled() {
            true => self.state_until(transaction, &deadline).ok(),
            false => None,
        }
    }

    fn state_until(
        &self,
        transaction: &Transaction,
        deadline: &Deadline,
    ) -> Result<IndexState, VaultError> {
        let assistant_notes = self.assistant_notes.lock();
        let assistant_notes = assistant_notes;
        let assistant_tag = assistant_notes.as_ref().map(|_| ASSISTANT_NOTES.to_owned());
        drop(assistant_notes);
        self.core.settle_until(deadline)?;
        let graph = self.core.graph_until(deadline)?;
        let caller_views = &self.core.caller_views;
        let view = caller_views.of(transaction, &graph, deadline)?;
        let done = view.sees.and(&graph.notes).len() as u64;
        Ok(match self.core.expected() {
            None => IndexState {
                state: Progress::Ready,
                done,
                total: done,
                assistant_tag,
            },
            Some(expected) => IndexState {
                state: Progress::Building,
                done,
                total: caller_views
                    .count(transaction, &expected, deadline)?
                    .max(done),
                assistant_tag,
            },
        })
    }

    /// The progress of the index: how many notes are indexed, and how many there are.
    pub fn progress(&self) -> IndexState {
        let graph = self.core.graph();
        let done = graph.notes.len() as u64;
        match self.core.expected() {
            None => IndexState {
                state: Progress::Ready,
                done,
                total: done,
                assistant_tag: None,
            },
            Some(expected) => IndexState {
                state: Progress::Building,
                done,
                total: (expected.len() as u64).max(done),
                assistant_tag: None,
            },
        }
    }

    /// Whether every note is indexed.
    pub fn is_ready(&self) -> bool {
        self.core.expected().is_none()
    }

    /// Waits until every note is indexed, or until a moment. Returns whether every note is indexed.
    pub fn wait(&self, until: Option<Instant>) -> bool {
        while !self.is_ready() {
            if until.is_some_and(|until| Instant::now() >= until) || self.core.is_stopping() {
                return false;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        true
    }

    /// Checks every file now, instead of waiting for an event. Fails at the deadline: what was read by then is indexed, the
    /// rest is found by the next scan.
    fn catch_up(&self, deadline: &Deadline) -> Result<(), VaultError> {
        let mut is_late = Ok(());
        let scanned = self.core.vault.scan_files(|| {
            is_late = deadline.check();
            is_late.is_ok() && !self.core.is_stopping()
        });
        is_late?;
        if let Ok(Some(scanned)) = scanned {
            let changed = self.core.compare(&scanned);
            let (_, edits) = self.core.refresh_until(changed, deadline)?;
            self.core.listeners.notify(edits);
        }
        Ok(())
    }

    fn stop(&self) {
        self.core.is_stopping.store(true, Ordering::Relaxed);
        let _ = self.messages.send(IndexerMessage::Stop);
        let mut indexer = self.indexer.lock();
        if let IndexerThread::Running(thread) =
            std::mem::replace(&mut *indexer, IndexerThread::Ended)
        {
            let _ = thread.join();
        }
    }
}

impl Drop for Index {
    fn drop(&mut self) {
        self.stop();
    }
}
