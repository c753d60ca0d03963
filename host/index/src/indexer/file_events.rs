//! File events for subscribers: changes by commits as soon as they are applied, changes by other programs as soon as
//! they are found. Visibility is not checked here.

use parking_lot::RwLock;

use crate::Index;
use notehost_vault::{ChangeKind, Committed};

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// It was not there before.
    Appeared,
    /// Its content changed.
    Altered,
    /// It was removed.
    Gone,
}

/// A file that something happened to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEvent {
    /// The file.
    pub path: String,
    /// What happened to it.
    pub edit: Edit,
}

type Listener = Box<dyn Fn(FileEvent) + Send + Sync>;

/// The subscribers of file events.
#[derive(Default)]
pub(crate) struct Listeners(RwLock<Vec<Listener>>);

impl Listeners {
    pub(crate) fn notify(&self, edits: impl IntoIterator<Item = FileEvent>) {
        let listeners = self.0.read();
        for edited in edits {
            for listener in &*listeners {
                listener(edited.clone());
            }
        }
    }
}

/// What a commit did to files.
pub(crate) fn of_commit(committed: &Committed) -> impl Iterator<Item = FileEvent> {
    committed.files.iter().flat_map(|file| {
        let edit = match file.kind {
            ChangeKind::Create | ChangeKind::Rename => Edit::Appeared,
            ChangeKind::Modify => Edit::Altered,
            ChangeKind::Delete => Edit::Gone,
        };
        let left = file.from.clone().map(|path| FileEvent {
            path,
            edit: Edit::Gone,
        });
        let path = file.path.clone();
        left.into_iter().chain([FileEvent { path, edit }])
    })
}

impl Index {
    /// Calls a function for each file that something happened to, in this order for one file. Commits and the index wait
    /// for it, so it should hand the event over and return.
    pub fn on_edit(&self, listener: impl Fn(FileEvent) + Send + Sync + 'static) {
        let listeners = &self.core.listeners.0;
        let mut listeners = listeners.write();
        listeners.push(Box::new(listener));
    }
}
