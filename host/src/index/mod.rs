//! The index: where is it said? One per vault, kept by a thread of its own and asked through [`Index::ask`]. It has two
//! halves: the note graph in memory (links, tags, properties, headings, …) and the full text on disk. Every answer is
//! made for one asker: what its rules hide takes part in nothing, neither hits nor counts nor scores nor what a link
//! leads to.
//!
//! ```text
//! keeper ─ core ─┬─ graph ── record ── disk          files and what is in them
//!                └─ text                             which words stand where
//! ask ─ viewer ─┬─ find ─ filter                     for one asker
//!               └─ links, tags, names
//! ```

mod ask;
mod complete;
mod core;
mod disk;
mod edits;
mod filter;
mod find;
mod graph;
mod ignore;
mod keeper;
mod links;
mod look;
mod names;
mod record;
mod report;
mod tags;
mod text;
mod viewer;

#[cfg(test)]
mod tests;

pub use ask::{Answer, Question};
pub use complete::{Completing, fitting};
pub use edits::{Edit, Edited};
pub use ignore::Ignored;
pub use report::{Report, condemn, forgive, is_condemned, report};

use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use notehost_sdk::index::{IndexState, Progress};

use crate::vault::{Transaction, Vault};
use core::Core;
use keeper::Told;

/// The index of one vault.
pub struct Index {
    core: Arc<Core>,
    told: Sender<Told>,
    keeper: Mutex<Keeper>,
    /// The tag of notes that are written for assistants, if models are to be told of them.
    assistant_tag: Mutex<Option<String>>,
}

/// The thread that keeps an index.
enum Keeper {
    /// It will hear what it is told from here.
    Waits(Receiver<Told>),
    Runs(JoinHandle<()>),
    Ended,
}

impl Index {
    /// Opens the index of a vault. Nothing is read before [`Index::start`], or before somebody asks.
    pub fn open(vault: &Arc<Vault>) -> Arc<Index> {
        let (told, hears) = channel();
        let core = Arc::new(Core::new(vault.clone()));
        // A caller always finds what it just wrote: whoever asks reads first what commits changed. The keeper does so at
        // once, so that mostly nobody has to; the commit itself does not wait for it.
        let (of_commit, tell) = (Arc::downgrade(&core), told.clone());
        vault.on_commit(Box::new(move |committed| {
            let Some(core) = of_commit.upgrade() else {
                return;
            };
            let files = committed.files.iter();
            let paths = files.flat_map(|file| [Some(&file.path), file.from.as_ref()]);
            core.mark(paths.flatten().cloned());
            let _ = tell.send(Told::Committed);
            core.listeners.tell(edits::of_commit(committed));
        }));
        Arc::new(Index {
            core,
            told,
            keeper: Mutex::new(Keeper::Waits(hears)),
            assistant_tag: Mutex::default(),
        })
    }

    /// Begins to keep the index, in a thread of its own. Returns at once; whether it was not begun before.
    pub fn start(&self) -> bool {
        let mut keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner);
        let hears = match std::mem::replace(&mut *keeper, Keeper::Ended) {
            Keeper::Waits(hears) => hears,
            other => {
                *keeper = other;
                return false;
            }
        };
        let (core, told) = (self.core.clone(), self.told.clone());
        let thread = std::thread::Builder::new()
            .name("index".into())
            .spawn(move || keeper::keep(&core, &hears, &told));
        match thread {
            Ok(thread) => *keeper = Keeper::Runs(thread),
            Err(error) => tracing::error!("the index cannot be kept: {error}"),
        }
        true
    }

    /// Says which notes are written for assistants.
    pub fn set_assistant_tag(&self, tag: Option<String>) {
        let known = self.assistant_tag.lock();
        *known.unwrap_or_else(PoisonError::into_inner) = tag;
    }

    /// How far it is, for one asker.
    pub fn state(&self, transaction: &Transaction) -> IndexState {
        let assistant_tag = self.assistant_tag.lock();
        let assistant_tag = assistant_tag
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        self.core.settle();
        let graph = self.core.graph();
        let viewer = self.core.viewers.of(transaction, &graph);
        let done = viewer.sees.and(&graph.notes).len() as u64;
        match self.core.expected() {
            None => IndexState {
                state: Progress::Ready,
                done,
                total: done,
                assistant_tag,
            },
            Some(expected) => IndexState {
                state: Progress::Building,
                done,
                total: self.core.viewers.count(transaction, &expected).max(done),
                assistant_tag,
            },
        }
    }

    /// How far it is in all: notes that are in it, notes that there are.
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

    /// Whether every note is in it.
    pub fn is_ready(&self) -> bool {
        self.core.expected().is_none()
    }

    /// Waits until every note is in it, or until a moment. Whether it is.
    pub fn wait(&self, until: Option<Instant>) -> bool {
        while !self.is_ready() {
            if until.is_some_and(|until| Instant::now() >= until) || self.core.is_stopping() {
                return false;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        true
    }

    /// Looks at every file now, instead of waiting to be told.
    fn catch_up(&self) {
        if let Ok(Some(sighted)) = self.core.vault.sight(|| !self.core.is_stopping()) {
            let changed = self.core.compare(&sighted);
            let (_, edits) = self.core.refresh(changed);
            self.core.listeners.tell(edits);
        }
    }

    fn stop(&self) {
        self.core.is_stopping.store(true, Ordering::Relaxed);
        let _ = self.told.send(Told::Stop);
        let mut keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner);
        if let Keeper::Runs(thread) = std::mem::replace(&mut *keeper, Keeper::Ended) {
            let _ = thread.join();
        }
    }
}

impl Drop for Index {
    fn drop(&mut self) {
        self.stop();
    }
}
