//! Updates single files in the index: those of a commit, before the next answer, and those that were found to have
//! changed. Many files are read by [`Core::load`].

use parking_lot::Mutex;
use std::collections::BTreeSet;

use super::file_events::FileEvent;
use super::file_read::FileRead;
use crate::core::Core;
use crate::graph::Graph;
use crate::limits::deadline::Deadline;
use notehost_vault::VaultError;

/// Files that are to be read. Those that are not, because the deadline passed or reading one panicked, stay marked.
struct Unread<'a> {
    dirty: &'a Mutex<BTreeSet<String>>,
    paths: BTreeSet<String>,
}

impl Drop for Unread<'_> {
    fn drop(&mut self) {
        let mut dirty = self.dirty.lock();
        dirty.append(&mut self.paths);
    }
}

impl Core {
    /// A commit changed these files: the next query reads them first.
    pub(crate) fn mark(&self, paths: impl IntoIterator<Item = String>) {
        let mut dirty = self.dirty.lock();
        dirty.extend(paths);
    }

    /// Whether every committed change was read and none is being read: then [`Core::settle_until`]
    /// returns at once.
    pub(crate) fn is_settled(&self) -> bool {
        if self.settling.is_locked() {
            return false;
        }
        let dirty = self.dirty.lock();
        dirty.is_empty()
    }

    /// Reads what commits changed. When it returns, every commit that was made before is in the index. At the deadline it
    /// fails; what is not read by then is read by the next query.
    pub(crate) fn settle_until(&self, deadline: &Deadline) -> Result<usize, VaultError> {
        let _held = deadline.lock(&self.settling)?;
        let locked = || self.dirty.lock();
        let mut left = Unread {
            dirty: &self.dirty,
            paths: std::mem::take(&mut *locked()),
        };
        let mut changed = 0;
        while let Some(path) = left.paths.pop_first() {
            // The commit has notified the listeners.
            match self.refresh_until([path.clone()], deadline) {
                Ok((count, _)) => changed += count,
                Err(error) => {
                    left.paths.insert(path);
                    return Err(error);
                }
            }
        }
        Ok(changed)
    }

    /// Reads a few files; what is in them is found at once. Returns how many differed, and their events.
    pub(crate) fn refresh(
        &self,
        paths: impl IntoIterator<Item = String>,
    ) -> (usize, Vec<FileEvent>) {
        let mut edits = Vec::new();
        let mut changed = 0;
        for path in paths {
            changed += self.refresh_one(&path, &mut edits);
        }
        (changed, edits)
    }

    /// The same until a deadline, which passes between two files. Listeners are notified of those that were read.
    pub(crate) fn refresh_until(
        &self,
        paths: impl IntoIterator<Item = String>,
        deadline: &Deadline,
    ) -> Result<(usize, Vec<FileEvent>), VaultError> {
        let mut edits = Vec::new();
        let mut changed = 0;
        for path in paths {
            if let Err(error) = deadline.check() {
                self.listeners.notify(edits);
                return Err(error);
            }
            changed += self.refresh_one(&path, &mut edits);
        }
        Ok((changed, edits))
    }

    fn refresh_one(&self, path: &str, edits: &mut Vec<FileEvent>) -> usize {
        let look = self.read_file(path);
        if matches!(look, FileRead::Same) {
            return 0;
        }
        let texts = self.texts();
        let mut graph = self.graph_to_change();
        edits.extend(look.edit(&graph, path));
        if let Some((document, measure)) = self.apply(&mut graph, path, look) {
            let doc_id = document.doc_id;
            let lengths = texts.put_measured(document, measure);
            graph.set_lengths(doc_id, lengths);
        }
        1
    }

    /// A note changed while an older state of it was on its way into the text half: whatever came last there, the text
    /// that the graph knows must stay.
    pub(crate) fn put_again(&self, path: &str) {
        let forget = |graph: &mut Graph| {
            if let Some(doc_id) = graph.remove(path) {
                self.texts().remove(doc_id);
            }
        };
        forget(&mut self.graph_to_change());
        self.refresh([path.to_owned()]);
    }
}
