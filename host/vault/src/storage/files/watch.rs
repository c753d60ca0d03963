//! Edits by other programs, as the watcher of the operating system reports them.

use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use notify::{EventKindMask, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::{
    path::{PRIVATE, is_below},
    storage::{ChangeFeed, ChangeListener, ExternalChange},
};

/// A watcher of the vault's folder.
struct FileWatch {
    watcher: RecommendedWatcher,
    root: PathBuf,
}

impl ChangeFeed for FileWatch {
    fn is_reliable(&self) -> bool {
        !notehost_platform::files::is_remote(&self.root)
    }

    /// The private folder was made. Commits change files in it all the time; a watcher of it only slows them down.
    fn maintain(&mut self) {
        // It may not exist yet, and some systems watch all or nothing.
        let _ = self.watcher.unwatch(&self.root.join(PRIVATE));
    }
}

/// Watches a folder, where the operating system can.
pub(crate) fn watch(root: &Path, listener: ChangeListener) -> Option<Box<dyn ChangeFeed>> {
    let within = root.to_owned();
    let report = move |event: notify::Result<notify::Event>| {
        let Ok(event) = event else {
            return listener(ExternalChange::Unknown);
        };
        if event.need_rescan() || event.paths.is_empty() {
            listener(ExternalChange::Unknown);
        }
        for path in &event.paths {
            if let Some(change) = change_at(&within, path) {
                listener(change);
            }
        }
    };
    // Reading a note is not an edit.
    let changes = notify::Config::default().with_event_kinds(EventKindMask::CORE);
    let started = RecommendedWatcher::new(report, changes).and_then(|mut watcher| {
        watcher.watch(root, RecursiveMode::Recursive)?;
        Ok(watcher)
    });
    match started {
        Ok(watcher) => {
            let mut watch = FileWatch {
                watcher,
                root: root.to_owned(),
            };
            watch.maintain();
            Some(Box::new(watch))
        }
        Err(error) => {
            tracing::warn!("file watching is unavailable, files are scanned instead: {error}");
            None
        }
    }
}

/// What an event at a path means; `None` for the vault's own files.
fn change_at(root: &Path, path: &Path) -> Option<ExternalChange> {
    let Some(inside) = path.strip_prefix(root).ok().and_then(Path::to_str) else {
        return Some(ExternalChange::Unknown);
    };
    let inside = inside.replace(MAIN_SEPARATOR, "/");
    if inside == PRIVATE {
        return Some(ExternalChange::Maintain);
    }
    if is_below(&inside, PRIVATE) {
        return None;
    }
    if inside.split('/').any(|part| part.starts_with('.')) {
        return Some(ExternalChange::File(inside));
    }
    // A name with an extension is taken for a file; a folder, and what is gone and had none, is found by a walk.
    let is_file_name = inside
        .rsplit('/')
        .next()
        .is_some_and(|name| name.contains('.'));
    Some(match is_file_name && !path.is_dir() {
        true => ExternalChange::File(inside),
        false => ExternalChange::Unknown,
    })
}
