//! A vault in memory with the semantics of the host, for native tests of domains: visibility, errors, name lookup, trash,
//! history and undo. Not implemented: durability and concurrency.

mod history;
#[cfg(feature = "markdown")]
mod index;
#[cfg(not(feature = "markdown"))]
#[path = "no_index.rs"]
mod index;
mod paths;
mod scope;
mod staging;
mod tree;
mod versions;
mod view;

#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::ops::Deref;

use crate::host::{About, CallerInfo, Conventions, Now};
use crate::index::{
    Backlinks, BacklinksQuery, Edges, Found, IndexState, NameAt, Query, Tags, TagsQuery,
    Unresolved, UnresolvedQuery,
};
use crate::{
    Blob, Change, Effect, Entry, FileChange, Level, Page, RawVault, Result, Tier, Trashed, Vault,
    Version,
};
use history::History;
use scope::Scope;
use tree::Tree;

/// The default time of a vault in memory: the first of January 2026.
const DEFAULT_TIME: u64 = 1_767_225_600_000;

/// A vault in memory, for tests.
///
/// Staged writes are visible at once; [`commit`](MemoryVault::commit) records them as one change in the history, and
/// [`rollback`](MemoryVault::rollback) discards them, as the host does after a failed call.
///
/// ```
/// use notehost_sdk::Vault;
///
/// let vault = Vault::in_memory().with("Work/Plan.md", "# Plan\n");
/// vault.write("Work/Plan.md", b"# New plan\n", None)?;
/// let change = vault.commit("document.update").unwrap();
/// vault.undo(&change)?;
/// assert_eq!(vault.text("Work/Plan.md").unwrap(), "# Plan\n");
/// # Ok::<(), notehost_sdk::Error>(())
/// ```
#[derive(Debug)]
pub struct MemoryVault {
    scope: Scope,
    time: Cell<u64>,
    /// The vault with the staged writes.
    staged: RefCell<Tree>,
    /// The vault after the last commit.
    committed: RefCell<Tree>,
    history: RefCell<History>,
    log: RefCell<Vec<(Level, String)>>,
    notices: RefCell<Vec<(Level, String)>>,
    progress: RefCell<Vec<(u64, Option<u64>, String)>>,
    offset_minutes: i32,
    conventions: Conventions,
    calls: u64,
}

impl Default for MemoryVault {
    fn default() -> MemoryVault {
        MemoryVault {
            scope: Scope::default(),
            time: Cell::new(DEFAULT_TIME),
            staged: RefCell::default(),
            committed: RefCell::default(),
            history: RefCell::default(),
            log: RefCell::default(),
            notices: RefCell::default(),
            progress: RefCell::default(),
            offset_minutes: 0,
            conventions: Conventions::default(),
            calls: 0,
        }
    }
}

/// Setup of a vault by a test.
impl MemoryVault {
    /// An empty vault in which everything is allowed.
    pub fn new() -> MemoryVault {
        MemoryVault::default()
    }

    /// The vault with a file of this text.
    pub fn with(self, path: &str, text: &str) -> MemoryVault {
        self.with_bytes(path, text.as_bytes())
    }

    /// The vault with a file of these bytes.
    pub fn with_bytes(self, path: &str, bytes: &[u8]) -> MemoryVault {
        let time = self.time.get();
        self.set_up(|tree| tree.put(path, bytes, time))
    }

    /// The vault with an empty folder.
    pub fn with_folder(self, path: &str) -> MemoryVault {
        self.set_up(|tree| tree.put_folder(path))
    }

    /// Sets the caller's tier for a notebook, or for a path within one, where it can only restrict the notebook's.
    pub fn allow(mut self, path: &str, tier: Tier) -> MemoryVault {
        self.scope.allow(path, tier);
        self
    }

    /// Sets the caller's tier for notebooks without their own. Default: everything is allowed.
    pub fn default_tier(mut self, tier: Tier) -> MemoryVault {
        self.scope.default = tier;
        self
    }

    /// Enforces an effect, as the host does.
    pub fn as_effect(mut self, effect: Effect) -> MemoryVault {
        self.scope.effect = effect;
        self
    }

    /// Sets the time, in milliseconds since 1970.
    pub fn at(self, time: u64) -> MemoryVault {
        self.set_time(time);
        self
    }

    /// Sets the owner's offset from UTC.
    pub fn in_zone(mut self, offset_minutes: i32) -> MemoryVault {
        self.offset_minutes = offset_minutes;
        self
    }

    /// Sets the owner's conventions.
    pub fn with_conventions(mut self, conventions: Conventions) -> MemoryVault {
        self.conventions = conventions;
        self
    }

    /// Sets the number of previous calls of the caller.
    pub fn after_calls(mut self, calls: u64) -> MemoryVault {
        self.calls = calls;
        self
    }

    fn set_up(self, change: impl Fn(&mut Tree)) -> MemoryVault {
        // Both trees get the change, so that it is not part of the next commit.
        change(&mut self.committed.borrow_mut());
        self.staged.replace(self.committed.borrow().clone());
        self
    }
}

/// Inspection and control by a test, independent of the caller's permissions.
impl MemoryVault {
    /// Sets the time, in milliseconds since 1970.
    pub fn set_time(&self, time: u64) {
        self.time.set(time);
    }

    /// The text of the file at exactly this path, if it exists and is UTF-8.
    pub fn text(&self, path: &str) -> Option<String> {
        String::from_utf8(self.bytes(path)?).ok()
    }

    /// The bytes of the file at exactly this path, if it exists.
    pub fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        let staged = self.staged.borrow();
        staged.files.get(path).map(|file| file.bytes.to_vec())
    }

    /// The path of every file, sorted.
    pub fn paths(&self) -> Vec<String> {
        self.staged.borrow().files.keys().cloned().collect()
    }

    /// The logged lines.
    pub fn logged(&self) -> Vec<(Level, String)> {
        self.log.borrow().clone()
    }

    /// The messages shown to operators.
    pub fn notices(&self) -> Vec<(Level, String)> {
        self.notices.borrow().clone()
    }

    /// The progress reports: done, total and message.
    pub fn progress_reports(&self) -> Vec<(u64, Option<u64>, String)> {
        self.progress.borrow().clone()
    }

    /// Commits the staged writes as one change in the history; returns its id, or `None` if nothing changed. `action` is
    /// the full name, such as `document.append`.
    pub fn commit(&self, action: &str) -> Option<String> {
        let staged = self.staged.borrow();
        let mut committed = self.committed.borrow_mut();
        let change = self
            .history
            .borrow_mut()
            .record(&committed, &staged, action, self.time.get());
        *committed = staged.clone();
        change
    }

    /// Discards the staged writes.
    pub fn rollback(&self) {
        self.staged.replace(self.committed.borrow().clone());
        self.history.borrow_mut().forget_staged();
    }
}

impl Deref for MemoryVault {
    type Target = Vault;

    fn deref(&self) -> &Vault {
        self
    }
}

impl RawVault for MemoryVault {
    fn stat(&self, path: &str) -> Result<Entry> {
        self.view(|view| view.stat(path))
    }

    fn read(&self, path: &str) -> Result<Blob> {
        self.view(|view| view.read(path))
    }

    fn list(&self, folder: &str, recursive: bool, after: Option<&str>, limit: u32) -> Result<Page> {
        self.view(|view| view.list(folder, recursive, after, limit))
    }

    fn resolve(&self, name: &str, source: Option<&str>) -> Result<Vec<String>> {
        self.view(|view| Ok(view.resolve(name, source)))
    }

    fn mentioning(&self, texts: &[String]) -> Result<Vec<String>> {
        self.view(|view| Ok(view.mentioning(texts)))
    }

    fn access(&self, path: &str) -> Tier {
        let tree = self.staged.borrow();
        let scope = &self.scope;
        view::View { tree: &tree, scope }.access(path)
    }

    fn create(&self, path: &str, bytes: &[u8]) -> Result<String> {
        self.staging(|staging| staging.create(path, bytes))
    }

    fn write(&self, path: &str, bytes: &[u8], if_match: Option<&str>) -> Result<String> {
        self.staging(|staging| staging.write(path, bytes, if_match))
    }

    fn create_folder(&self, path: &str) -> Result<()> {
        self.staging(|staging| staging.create_folder(path))
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.staging(|staging| staging.rename(from, to))
    }

    fn remove(&self, path: &str) -> Result<Vec<String>> {
        self.scope.may_remove()?;
        self.staging(|staging| staging.remove(path))
    }

    fn trash(&self, after: Option<&str>, limit: u32) -> Result<Vec<Trashed>> {
        self.view(|view| Ok(view.trash(after, limit)))
    }

    fn restore(&self, id: &str, to: Option<&str>) -> Result<String> {
        self.staging(|staging| staging.restore(id, to))
    }

    fn history(&self, path: Option<&str>, after: Option<&str>, limit: u32) -> Result<Vec<Change>> {
        self.view(|view| {
            let path = path.map(|path| view.spelt(path)).transpose()?;
            Ok(self
                .history
                .borrow()
                .history(view, path.as_deref(), after, limit))
        })
    }

    fn before(&self, path: &str, change: &str) -> Result<Option<Blob>> {
        self.view(|view| {
            let path = view.spelt(path)?;
            self.history.borrow().before(view, &path, change)
        })
    }

    fn undo(&self, change: &str) -> Result<Vec<FileChange>> {
        self.staging(|staging| {
            let mut history = self.history.borrow_mut();
            history.must_be_first(&self.committed.borrow(), staging.tree)?;
            history.undo(staging, change)
        })
    }

    fn versions(&self, path: &str, after: Option<&str>, limit: u32) -> Result<Vec<Version>> {
        self.view(|view| {
            let path = view.spelt(path)?;
            let history = self.history.borrow();
            Ok(history.versions(view, &path, after, limit))
        })
    }

    fn read_version(&self, path: &str, version: &str) -> Result<Blob> {
        self.view(|view| {
            let path = view.spelt(path)?;
            self.history.borrow().read_version(view, &path, version)
        })
    }

    fn name_version(&self, path: &str, version: &str, name: Option<&str>) -> Result<()> {
        self.scope.may_write()?;
        self.view(|view| {
            let path = view.spelt(path)?;
            let mut history = self.history.borrow_mut();
            history.name_version(view, &path, version, name)
        })
    }

    fn store_get(&self, key: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.staged.borrow().store.get(key).cloned())
    }

    fn store_set(&self, key: &str, value: &[u8]) -> Result<()> {
        self.staging(|staging| staging.store_set(key, value))
    }

    fn store_remove(&self, key: &str) -> Result<()> {
        self.staging(|staging| {
            staging.store_remove(key);
            Ok(())
        })
    }

    fn store_keys(&self, prefix: &str) -> Result<Vec<String>> {
        let staged = self.staged.borrow();
        let from_prefix = staged.store.range(prefix.to_owned()..);
        Ok(from_prefix
            .map(|(key, _)| key.clone())
            .take_while(|key| key.starts_with(prefix))
            .collect())
    }

    fn index_state(&self) -> IndexState {
        let tree = self.staged.borrow();
        let scope = &self.scope;
        index::state(&view::View { tree: &tree, scope })
    }

    fn find(&self, query: &Query) -> Result<Found> {
        query.check()?;
        self.view(|view| index::find(view, query))
    }

    fn backlinks(&self, of: &BacklinksQuery) -> Result<Backlinks> {
        self.view(|view| index::backlinks(view, of))
    }

    fn unresolved(&self, within: &UnresolvedQuery) -> Result<Unresolved> {
        self.view(|view| index::unresolved(view, within))
    }

    fn tags(&self, of: &TagsQuery) -> Result<Tags> {
        self.view(|view| index::tags(view, of))
    }

    fn edges(&self) -> Result<Edges> {
        self.view(index::edges)
    }

    fn files(&self) -> Result<Vec<String>> {
        self.view(|view| Ok(view.paths()))
    }

    fn linking(&self, files: &[String]) -> Result<Vec<String>> {
        self.view(|view| index::linking(view, files))
    }

    fn containing(&self, texts: &[Vec<String>]) -> Result<Vec<String>> {
        self.view(|view| index::containing(view, texts))
    }

    fn names_in(&self, text: &str) -> Result<Vec<NameAt>> {
        self.view(|view| index::names_in(view, text))
    }

    fn now(&self) -> Now {
        Now {
            milliseconds: self.time.get(),
            offset_minutes: self.offset_minutes,
            zone: None,
        }
    }

    fn about(&self) -> Result<About> {
        Ok(About {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            vault: "memory".to_owned(),
            vaults: vec!["memory".to_owned()],
            surface: "domain".to_owned(),
            started: DEFAULT_TIME,
            tag_policy: "open".to_owned(),
            ..About::default()
        })
    }

    fn caller(&self) -> Result<CallerInfo> {
        Ok(CallerInfo {
            name: "tester".to_owned(),
            scopes: ["read", "write", "delete"].map(str::to_owned).to_vec(),
            calls: self.calls,
            ..CallerInfo::default()
        })
    }

    fn conventions(&self) -> Result<Conventions> {
        Ok(self.conventions.clone())
    }

    fn notify(&self, level: Level, message: &str) -> Result<()> {
        self.notices.borrow_mut().push((level, message.to_owned()));
        Ok(())
    }

    fn progress(&self, done: u64, total: Option<u64>, message: &str) {
        let report = (done, total, message.to_owned());
        self.progress.borrow_mut().push(report);
    }

    fn log(&self, level: Level, message: &str) {
        self.log.borrow_mut().push((level, message.to_owned()));
    }
}

impl MemoryVault {
    fn view<T>(&self, read: impl FnOnce(&view::View<'_>) -> Result<T>) -> Result<T> {
        let tree = self.staged.borrow();
        read(&view::View {
            tree: &tree,
            scope: &self.scope,
        })
    }

    /// Runs a change atomically: a failed one leaves the staged tree unchanged.
    fn staging<T>(&self, change: impl FnOnce(&mut staging::Staging<'_>) -> Result<T>) -> Result<T> {
        self.scope.may_write()?;
        let mut tree = self.staged.borrow().clone();
        let done = change(&mut staging::Staging {
            tree: &mut tree,
            scope: &self.scope,
            time: self.time.get(),
        })?;
        self.staged.replace(tree);
        Ok(done)
    }
}
