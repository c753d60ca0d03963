//! The background indexing thread: it loads the index from disk, reads changed files, and then follows edits by other
//! programs. It uses the system's file watcher and, because watchers miss events (network drives, too many folders), a
//! periodic scan of all file stamps.
//!
//! `file_read` compares a file with its indexed state, `refresh` applies single files, `ignore` has the rules for what
//! searches leave out, `file_events` informs subscribers.

pub(crate) mod file_events;
pub(crate) mod file_read;
pub(crate) mod ignore;
mod refresh;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use notehost_sdk::is_note;

use crate::core::Core;
use crate::limits::deadline::Deadline;
use ignore::{OBSIDIAN, RULES};
use notehost_platform::memory::release_free_memory;
use notehost_vault::{ChangeFeed, ExternalChange};

/// Edits are read after this pause, or at the latest after the maximum.
const EDIT_DEBOUNCE: Duration = Duration::from_millis(80);
const MAX_EDIT_DEBOUNCE: Duration = Duration::from_millis(400);
/// How often all stamps are scanned, with and without a reliable watcher.
const SCAN_INTERVAL: Duration = Duration::from_secs(30);
const SCAN_INTERVAL_UNWATCHED: Duration = Duration::from_millis(1200);
/// A sweep may take this part of the time at most.
const SCAN_PAUSE_FACTOR: u32 = 20;
/// More edits than this at once are read in bulk.
const BULK_READ_THRESHOLD: usize = 64;
/// When pending texts are saved: so many of them, or none for so long.
const FLUSH_BATCH_SIZE: usize = 256;
const FLUSH_DELAY: Duration = Duration::from_secs(3);
const SAVE_DELAY: Duration = Duration::from_secs(10);
/// After how many files of a build searches first find something.
const FIRST_FLUSH_FILES: usize = 1024;
/// The presence of this file in the index's folder requests a rebuild.
pub(crate) const REBUILD: &str = "rebuild";

/// Messages to the indexer.
pub(crate) enum IndexerMessage {
    /// A commit changed files.
    Committed,
    /// Something happened to this file.
    Touched(String),
    /// A folder changed, or the change is unknown: scan everything.
    Sweep,
    /// What is left out of searches may have changed.
    Ignored,
    /// The feed of edits needs maintenance.
    MaintainFeed,
    /// The end.
    Stop,
}

/// Runs the indexer until it receives `Stop`.
pub(crate) fn run(
    core: &Arc<Core>,
    messages: &Receiver<IndexerMessage>,
    own: &Sender<IndexerMessage>,
) {
    if core.folder.join(REBUILD).exists() {
        let _ = std::fs::remove_file(core.folder.join(REBUILD));
        tracing::info!("rebuilding the index");
    } else {
        core.restore();
    }
    let mut feed = watch(core, own);
    build(core);
    let is_watched = feed.as_ref().is_some_and(|feed| feed.is_reliable());
    let mut indexer = Indexer::new(core, is_watched);
    while indexer.listen(messages, &mut feed) && !core.is_stopping() {
        indexer.work();
    }
    drop(feed);
    if core.expected().is_none() {
        let _ = core.texts().flush();
        core.save();
    }
}

/// Reads every file that is not indexed yet.
fn build(core: &Core) {
    let Ok(Some(scanned)) = core.vault.scan_files(|| !core.is_stopping()) else {
        return;
    };
    let changed = core.compare(&scanned);
    let notes = scanned.into_iter().map(|file| file.path);
    core.expect(Some(notes.filter(|path| is_note(path)).collect()));
    let mut next_flush = FIRST_FLUSH_FILES;
    core.load(&changed, |done| {
        if done >= next_flush {
            // Ever rarer: each one has the segments before it merged.
            next_flush = done * 3;
            let _ = core.texts().flush();
        }
    });
    if core.is_stopping() {
        return;
    }
    if !changed.is_empty() {
        let _ = core.texts().flush();
    }
    core.expect(None);
    core.save();
    release_free_memory();
}

struct Indexer<'a> {
    core: &'a Arc<Core>,
    /// Whether the watcher can be relied on.
    is_watched: bool,
    touched: BTreeSet<String>,
    first_touch: Option<Instant>,
    last_touch: Instant,
    next_sweep: Instant,
    /// What a scan found before the watcher reported it.
    unreported: BTreeSet<String>,
    last_change: Instant,
}

impl<'a> Indexer<'a> {
    fn new(core: &'a Arc<Core>, is_watched: bool) -> Indexer<'a> {
        Indexer {
            core,
            is_watched,
            touched: BTreeSet::new(),
            first_touch: None,
            last_touch: Instant::now(),
            next_sweep: Instant::now() + SCAN_INTERVAL_UNWATCHED,
            unreported: BTreeSet::new(),
            last_change: Instant::now(),
        }
    }

    /// How long the indexer may wait.
    fn rest(&self) -> Duration {
        let now = Instant::now();
        let mut next = self.next_sweep.min(now + Duration::from_millis(500));
        if let Some(first) = self.first_touch {
            next = next.min((self.last_touch + EDIT_DEBOUNCE).min(first + MAX_EDIT_DEBOUNCE));
        }
        next.saturating_duration_since(now)
    }

    /// Waits until there is something to do, and takes in all messages. Whether to continue.
    fn listen(
        &mut self,
        messages: &Receiver<IndexerMessage>,
        feed: &mut Option<Box<dyn ChangeFeed>>,
    ) -> bool {
        let mut next = messages.recv_timeout(self.rest());
        loop {
            match next {
                Ok(IndexerMessage::Stop) | Err(RecvTimeoutError::Disconnected) => return false,
                Ok(IndexerMessage::MaintainFeed) => {
                    if let Some(feed) = feed {
                        feed.maintain();
                    }
                }
                Ok(message) => self.handle(message),
                Err(RecvTimeoutError::Timeout) => return true,
            }
            next = messages.recv_timeout(Duration::ZERO);
        }
    }

    fn handle(&mut self, message: IndexerMessage) {
        match message {
            IndexerMessage::Touched(path) => {
                self.unreported.remove(&path);
                self.touched.insert(path);
                self.last_touch = Instant::now();
                self.first_touch.get_or_insert(self.last_touch);
            }
            IndexerMessage::Committed => {
                if self.core.settle_until(&Deadline::none()).unwrap_or(0) > 0 {
                    self.last_change = Instant::now();
                }
            }
            IndexerMessage::Sweep => {
                self.next_sweep = self.next_sweep.min(Instant::now() + EDIT_DEBOUNCE)
            }
            IndexerMessage::Ignored => self.core.refresh_ignored(),
            IndexerMessage::MaintainFeed | IndexerMessage::Stop => {}
        }
    }

    fn work(&mut self) {
        let now = Instant::now();
        if let Some(first) = self.first_touch
            && (now >= self.last_touch + EDIT_DEBOUNCE || now >= first + MAX_EDIT_DEBOUNCE)
        {
            let touched = std::mem::take(&mut self.touched);
            self.first_touch = None;
            self.read(touched.into_iter().collect());
        }
        if now >= self.next_sweep {
            self.sweep();
        }
        let core = self.core;
        let is_quiet = |after: Duration| self.last_change.elapsed() > after;
        let pending = core.texts().pending();
        if pending >= FLUSH_BATCH_SIZE || pending > 0 && is_quiet(FLUSH_DELAY) {
            let _ = core.texts().flush();
            release_free_memory();
        }
        if is_quiet(SAVE_DELAY) {
            core.save();
        }
        if core.folder.join(REBUILD).exists() {
            self.rebuild();
        }
    }

    /// Reads files that may have changed. Returns those that had.
    fn read(&mut self, paths: Vec<String>) -> BTreeSet<String> {
        if paths.is_empty() {
            return BTreeSet::new();
        }
        let (changed, edits) = if paths.len() > BULK_READ_THRESHOLD {
            let edits = self.core.load(&paths, |_| {});
            let _ = self.core.texts().flush();
            release_free_memory();
            (paths.len(), edits)
        } else {
            self.core.refresh(paths)
        };
        let edited = edits.iter().map(|edit| edit.path.clone()).collect();
        self.core.listeners.notify(edits);
        if changed > 0 {
            self.last_change = Instant::now();
        }
        edited
    }

    /// Compares the stamp of every file.
    fn sweep(&mut self) {
        // What the last sweep found and nothing reported since: the watcher misses edits.
        if !self.unreported.is_empty() && self.is_watched {
            tracing::info!("the file watcher misses edits: all files are scanned more often");
            self.is_watched = false;
        }
        self.unreported.clear();
        self.core.refresh_ignored();
        let began = Instant::now();
        if let Ok(Some(scanned)) = self.core.vault.scan_files(|| !self.core.is_stopping()) {
            let changed = self.core.compare(&scanned);
            // What was read too soon to be sure of is read again, without an event.
            let mut edited = self.read(changed);
            edited.retain(|path| !self.touched.contains(path));
            self.unreported = edited;
        }
        let pause = if self.is_watched {
            SCAN_INTERVAL
        } else {
            SCAN_INTERVAL_UNWATCHED
        };
        let pause = match self.unreported.is_empty() {
            true => pause,
            // Soon again, to see whether the watcher was only late.
            false => pause.min(SCAN_INTERVAL_UNWATCHED),
        };
        self.next_sweep = Instant::now() + pause.max(began.elapsed() * SCAN_PAUSE_FACTOR);
    }

    fn rebuild(&mut self) {
        tracing::info!("rebuilding the index");
        self.core.expect(Some(Vec::new()));
        self.core.clear();
        build(self.core);
        let _ = std::fs::remove_file(self.core.folder.join(REBUILD));
        self.last_change = Instant::now();
    }
}

/// Follows edits by other programs, where the vault can report them.
fn watch(core: &Core, messages: &Sender<IndexerMessage>) -> Option<Box<dyn ChangeFeed>> {
    let messages = messages.clone();
    core.vault.watch(Box::new(move |change| {
        if let Some(message) = message(change) {
            let _ = messages.send(message);
        }
    }))
}

/// What an edit by another program means for the index; nothing if components cannot access the file.
fn message(change: ExternalChange) -> Option<IndexerMessage> {
    match change {
        ExternalChange::Unknown => Some(IndexerMessage::Sweep),
        ExternalChange::Maintain => Some(IndexerMessage::MaintainFeed),
        ExternalChange::File(path) if path == RULES || path == OBSIDIAN => {
            Some(IndexerMessage::Ignored)
        }
        ExternalChange::File(path) if path.split('/').any(|part| part.starts_with('.')) => None,
        ExternalChange::File(path) => Some(IndexerMessage::Touched(path)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use notehost_vault::{Vault, VaultSettings};

    #[test]
    fn only_unreported_edits_disable_the_watcher() {
        let (folder, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let note = folder.path().join("Note.md");
        fs::write(&note, "first\n").unwrap();
        // Independent of the speed of the machine: a note from the future is never certain.
        let future = std::time::SystemTime::now() + Duration::from_secs(3600);
        let opened = fs::File::options().append(true).open(&note).unwrap();
        opened.set_modified(future).unwrap();
        let settings = VaultSettings::default();
        let vault = Vault::open("notes", folder.path(), state.path(), settings).unwrap();
        let core = Arc::new(Core::new(Arc::new(vault)));
        build(&core);
        let is_unsure = || core.graph().files().any(|(_, file)| file.is_unsure);
        assert!(is_unsure());

        let mut indexer = Indexer::new(&core, true);
        indexer.sweep();
        indexer.sweep();
        assert!(
            indexer.is_watched,
            "nothing happened that it could have missed"
        );

        fs::write(&note, "second, and longer\n").unwrap();
        indexer.sweep();
        assert!(indexer.is_watched, "it may only be late");
        indexer.handle(IndexerMessage::Touched("Note.md".to_owned()));
        indexer.sweep();
        assert!(indexer.is_watched, "it was");

        fs::write(&note, "third, and longer still\n").unwrap();
        indexer.touched.clear();
        indexer.sweep();
        indexer.sweep();
        assert!(!indexer.is_watched);
    }
}
