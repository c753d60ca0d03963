//! The thread that keeps the index in step with the vault: it takes up what lies on disk, reads what changed since, and
//! then follows edits by other programs, told by the system's watcher and, because watchers miss things (network
//! drives, too many folders), by looking at every file's stamp now and then.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use notehost_sdk::is_note;
use notify::{EventKindMask, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::core::Core;
use super::deadline::Deadline;
use super::ignore::{OBSIDIAN, RULES};
use notehost_platform::memory::release_free_memory;
use notehost_vault::PRIVATE;

/// How long edits may go on before they are looked at, and how long they must have rested.
const SETTLE: Duration = Duration::from_millis(80);
const SETTLE_AT_MOST: Duration = Duration::from_millis(400);
/// How often every stamp is looked at, if the watcher can be relied on and if not.
const SWEEP: Duration = Duration::from_secs(30);
const SWEEP_ALONE: Duration = Duration::from_millis(1200);
/// A sweep may take this part of the time at most.
const SWEEP_SHARE: u32 = 20;
/// More edits than this at once are read in bulk.
const MANY: usize = 64;
/// When pending texts are written down: so many of them, or none for so long.
const FLUSH_AT: usize = 256;
const FLUSH_AFTER: Duration = Duration::from_secs(3);
const SAVE_AFTER: Duration = Duration::from_secs(10);
/// After how many files of a build searches first find something.
const FIRST_FLUSH: usize = 1024;
/// Whoever leaves this file in the index's folder wants it built anew.
pub(super) const REBUILD: &str = "rebuild";

/// What the keeper is told.
pub(super) enum Told {
    /// A commit changed files.
    Committed,
    /// Something happened to this file.
    Touched(String),
    /// Something happened to a folder, or nobody knows what: look at everything.
    Sweep,
    /// What is left out of searches may have changed.
    Ignored,
    /// Our own folder was made.
    OurFolder,
    /// The end.
    Stop,
}

/// Keeps the index until it is told to stop.
pub(super) fn keep(core: &Arc<Core>, told: &Receiver<Told>, own: &Sender<Told>) {
    if core.folder.join(REBUILD).exists() {
        let _ = std::fs::remove_file(core.folder.join(REBUILD));
        tracing::info!("the index is built anew");
    } else {
        core.restore();
    }
    let mut watcher = watch(core, own);
    build(core);
    let is_watched = watcher.is_some() && !is_remote(core.vault.folder());
    let mut keeper = Keeper::new(core, is_watched);
    while keeper.listen(told, &mut watcher) && !core.is_stopping() {
        keeper.work();
    }
    drop(watcher);
    if core.expected().is_none() {
        let _ = core.texts().flush();
        core.save();
    }
}

/// Reads everything that is not known yet.
fn build(core: &Core) {
    let Ok(Some(sighted)) = core.vault.sight(|| !core.is_stopping()) else {
        return;
    };
    let changed = core.compare(&sighted);
    let notes = sighted.into_iter().map(|file| file.path);
    core.expect(Some(notes.filter(|path| is_note(path)).collect()));
    let mut next_flush = FIRST_FLUSH;
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

struct Keeper<'a> {
    core: &'a Arc<Core>,
    /// Whether the watcher can be relied on.
    is_watched: bool,
    touched: BTreeSet<String>,
    first_touch: Option<Instant>,
    last_touch: Instant,
    next_sweep: Instant,
    /// What a sweep found and the watcher had not told yet.
    unreported: BTreeSet<String>,
    last_change: Instant,
}

impl<'a> Keeper<'a> {
    fn new(core: &'a Arc<Core>, is_watched: bool) -> Keeper<'a> {
        Keeper {
            core,
            is_watched,
            touched: BTreeSet::new(),
            first_touch: None,
            last_touch: Instant::now(),
            next_sweep: Instant::now() + SWEEP_ALONE,
            unreported: BTreeSet::new(),
            last_change: Instant::now(),
        }
    }

    /// How long nothing has to be done.
    fn rest(&self) -> Duration {
        let now = Instant::now();
        let mut next = self.next_sweep.min(now + Duration::from_millis(500));
        if let Some(first) = self.first_touch {
            next = next.min((self.last_touch + SETTLE).min(first + SETTLE_AT_MOST));
        }
        next.saturating_duration_since(now)
    }

    /// Waits until there is something to do, and takes in all that was told. Whether it is to go on.
    fn listen(&mut self, told: &Receiver<Told>, watcher: &mut Option<RecommendedWatcher>) -> bool {
        let mut next = told.recv_timeout(self.rest());
        loop {
            match next {
                Ok(Told::Stop) | Err(RecvTimeoutError::Disconnected) => return false,
                Ok(Told::OurFolder) => leave_out_ours(watcher, self.core),
                Ok(message) => self.hear(message),
                Err(RecvTimeoutError::Timeout) => return true,
            }
            next = told.recv_timeout(Duration::ZERO);
        }
    }

    fn hear(&mut self, told: Told) {
        match told {
            Told::Touched(path) => {
                self.unreported.remove(&path);
                self.touched.insert(path);
                self.last_touch = Instant::now();
                self.first_touch.get_or_insert(self.last_touch);
            }
            Told::Committed => {
                if self.core.settle_until(&Deadline::none()).unwrap_or(0) > 0 {
                    self.last_change = Instant::now();
                }
            }
            Told::Sweep => self.next_sweep = self.next_sweep.min(Instant::now() + SETTLE),
            Told::Ignored => self.core.refresh_ignored(),
            Told::OurFolder | Told::Stop => {}
        }
    }

    fn work(&mut self) {
        let now = Instant::now();
        if let Some(first) = self.first_touch
            && (now >= self.last_touch + SETTLE || now >= first + SETTLE_AT_MOST)
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
        if pending >= FLUSH_AT || pending > 0 && is_quiet(FLUSH_AFTER) {
            let _ = core.texts().flush();
            release_free_memory();
        }
        if is_quiet(SAVE_AFTER) {
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
        let (changed, edits) = if paths.len() > MANY {
            let edits = self.core.load(&paths, |_| {});
            let _ = self.core.texts().flush();
            release_free_memory();
            (paths.len(), edits)
        } else {
            self.core.refresh(paths)
        };
        let edited = edits.iter().map(|edit| edit.path.clone()).collect();
        self.core.listeners.tell(edits);
        if changed > 0 {
            self.last_change = Instant::now();
        }
        edited
    }

    /// Looks at every file's stamp.
    fn sweep(&mut self) {
        // What the last sweep found and nobody has told since: the watcher misses things.
        if !self.unreported.is_empty() && self.is_watched {
            tracing::info!(
                "the system does not tell of all edits: every file is looked at more often"
            );
            self.is_watched = false;
        }
        self.unreported.clear();
        self.core.refresh_ignored();
        let began = Instant::now();
        if let Ok(Some(sighted)) = self.core.vault.sight(|| !self.core.is_stopping()) {
            let changed = self.core.compare(&sighted);
            // What was read too soon to be sure of is read again, and is no news.
            let mut edited = self.read(changed);
            edited.retain(|path| !self.touched.contains(path));
            self.unreported = edited;
        }
        let pause = if self.is_watched { SWEEP } else { SWEEP_ALONE };
        let pause = match self.unreported.is_empty() {
            true => pause,
            // Soon again, to see whether the watcher was only late.
            false => pause.min(SWEEP_ALONE),
        };
        self.next_sweep = Instant::now() + pause.max(began.elapsed() * SWEEP_SHARE);
    }

    fn rebuild(&mut self) {
        tracing::info!("the index is built anew");
        self.core.expect(Some(Vec::new()));
        self.core.clear();
        build(self.core);
        let _ = std::fs::remove_file(self.core.folder.join(REBUILD));
        self.last_change = Instant::now();
    }
}

/// The system's watcher, where it can be had.
fn watch(core: &Arc<Core>, told: &Sender<Told>) -> Option<RecommendedWatcher> {
    let root = core.vault.folder().to_owned();
    let told = told.clone();
    let within = root.clone();
    let tell = move |event: notify::Result<notify::Event>| {
        let Ok(event) = event else {
            let _ = told.send(Told::Sweep);
            return;
        };
        if event.need_rescan() || event.paths.is_empty() {
            let _ = told.send(Told::Sweep);
        }
        for path in &event.paths {
            if let Some(message) = message(&within, path) {
                let _ = told.send(message);
            }
        }
    };
    // That somebody reads a note is no news.
    let changes = notify::Config::default().with_event_kinds(EventKindMask::CORE);
    let started = RecommendedWatcher::new(tell, changes).and_then(|mut watcher| {
        watcher.watch(&root, RecursiveMode::Recursive)?;
        Ok(watcher)
    });
    let mut watcher = match started {
        Ok(watcher) => Some(watcher),
        Err(error) => {
            tracing::warn!("edits by others are looked for instead of being told: {error}");
            None
        }
    };
    leave_out_ours(&mut watcher, core);
    watcher
}

/// What commits do in our own folder is no news, and a watcher that looks at it all the same only gets in their way.
fn leave_out_ours(watcher: &mut Option<RecommendedWatcher>, core: &Core) {
    if let Some(watcher) = watcher {
        // It may not be there yet, and some systems watch all or nothing.
        let _ = watcher.unwatch(&core.vault.folder().join(PRIVATE));
    }
}

/// What a path that something happened to means; nothing if it is closed to components, as our own folder is.
fn message(root: &Path, path: &Path) -> Option<Told> {
    let Some(inside) = path.strip_prefix(root).ok().and_then(Path::to_str) else {
        return Some(Told::Sweep);
    };
    let inside = inside.replace(std::path::MAIN_SEPARATOR, "/");
    if inside == RULES || inside == OBSIDIAN {
        return Some(Told::Ignored);
    }
    if inside == PRIVATE {
        return Some(Told::OurFolder);
    }
    if inside.split('/').any(|part| part.starts_with('.')) {
        return None;
    }
    // A file by its looks; a folder, and what is gone and had no extension, is found by looking.
    let is_file_name = inside
        .rsplit('/')
        .next()
        .is_some_and(|name| name.contains('.'));
    Some(match is_file_name && !path.is_dir() {
        true => Told::Touched(inside),
        false => Told::Sweep,
    })
}

/// Whether a folder lies on a drive whose changes the system does not see when others make them.
fn is_remote(folder: &Path) -> bool {
    #[cfg(target_os = "linux")]
    {
        const REMOTE: [i64; 7] = [
            0x6969,      // NFS
            0x517b,      // SMB
            0xff53_4d42, // CIFS
            0xfe53_4d42, // SMB2
            0x6573_5546, // FUSE
            0x0102_1997, // 9P
            0x5346_414f, // AFS
        ];
        rustix::fs::statfs(folder).is_ok_and(|info| REMOTE.contains(&{ info.f_type }))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        false
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use notehost_vault::{Vault, VaultSettings};

    #[test]
    fn only_edits_that_nobody_told_of_speak_against_the_watcher() {
        let (folder, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let note = folder.path().join("Note.md");
        fs::write(&note, "first\n").unwrap();
        // However slow the machine is: nobody can be sure of a note from the future.
        let future = std::time::SystemTime::now() + Duration::from_secs(3600);
        let opened = fs::File::options().append(true).open(&note).unwrap();
        opened.set_modified(future).unwrap();
        let settings = VaultSettings::default();
        let vault = Vault::open("notes", folder.path(), state.path(), settings).unwrap();
        let core = Arc::new(Core::new(Arc::new(vault)));
        build(&core);
        let is_unsure = || core.graph().files().any(|(_, file)| file.is_unsure);
        assert!(is_unsure());

        let mut keeper = Keeper::new(&core, true);
        keeper.sweep();
        keeper.sweep();
        assert!(
            keeper.is_watched,
            "nothing happened that it could have missed"
        );

        fs::write(&note, "second, and longer\n").unwrap();
        keeper.sweep();
        assert!(keeper.is_watched, "it may only be late");
        keeper.hear(Told::Touched("Note.md".to_owned()));
        keeper.sweep();
        assert!(keeper.is_watched, "it was");

        fs::write(&note, "third, and longer still\n").unwrap();
        keeper.touched.clear();
        keeper.sweep();
        keeper.sweep();
        assert!(!keeper.is_watched);
    }
}
