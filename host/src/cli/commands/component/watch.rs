//! Watches the sources of a project. Editors write a file in several steps, so changes are debounced.

use std::path::PathBuf;
use std::time::Duration;

use notify::{EventKindMask, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::project::Project;
use crate::cli::ui::failure::Failure;

/// The debounce time: how long no further change may follow.
const DEBOUNCE: Duration = Duration::from_millis(120);

/// Watches a project for as long as it lives.
pub(super) struct Watch {
    changes: UnboundedReceiver<PathBuf>,
    _watcher: RecommendedWatcher,
}

impl Watch {
    /// Starts watching.
    pub(super) fn start(project: &Project) -> Result<Watch, Failure> {
        let (sender, changes) = unbounded_channel();
        let (within, folder) = (project.clone(), project.folder().to_owned());
        let notify_change = move |event: notify::Result<notify::Event>| {
            for path in event.into_iter().flat_map(|event| event.paths) {
                if within.is_source(&path) {
                    // The receiver is dropped at exit.
                    let _ = sender.send(path);
                }
            }
        };
        // Read accesses, for example by a compiler, are not changes.
        let kinds = notify::Config::default().with_event_kinds(EventKindMask::CORE);
        let watcher = RecommendedWatcher::new(notify_change, kinds).and_then(|mut watcher| {
            watcher.watch(&folder, RecursiveMode::Recursive)?;
            Ok(watcher)
        });
        let watcher = watcher.map_err(|error| {
            Failure::start(format!("cannot watch `{}`: {error}", folder.display()))
        })?;
        Ok(Watch {
            changes,
            _watcher: watcher,
        })
    }

    /// Waits for the next change; returns the file that changed last.
    pub(super) async fn next(&mut self) -> PathBuf {
        let mut last = match self.changes.recv().await {
            Some(path) => path,
            // The watcher is only dropped with `self`.
            None => std::future::pending().await,
        };
        while let Ok(Some(path)) = tokio::time::timeout(DEBOUNCE, self.changes.recv()).await {
            last = path;
        }
        last
    }
}
