//! Staged changes: create, write, rename, remove, restore. A failed operation may leave partial changes in its tree, which
//! the caller then discards.

use serde_json::json;

use super::paths;
use super::scope::Scope;
use super::tree::{self, TrashedFile, Tree};
use super::view::View;
use crate::{Entry, Error, Kind, Result, Tier, Trashed};

/// The maximum size of a component's store.
const STORE_QUOTA_BYTES: usize = 16 * 1024 * 1024;
const MAX_KEY_BYTES: usize = 200;

pub(super) struct Staging<'a> {
    pub(super) tree: &'a mut Tree,
    pub(super) scope: &'a Scope,
    pub(super) time: u64,
}

impl Staging<'_> {
    pub(super) fn view(&self) -> View<'_> {
        View {
            tree: self.tree,
            scope: self.scope,
        }
    }

    pub(super) fn create(&mut self, path: &str, bytes: &[u8]) -> Result<String> {
        let path = self.free_place(path, Kind::File, None)?;
        self.tree.put(&path, bytes, self.time);
        Ok(tree::etag(bytes))
    }

    pub(super) fn write(
        &mut self,
        path: &str,
        bytes: &[u8],
        if_match: Option<&str>,
    ) -> Result<String> {
        let view = self.view();
        let (path, file) = view.file(path)?;
        let etag = file.etag();
        self.scope.require(&path, Kind::File, Tier::Write)?;
        if if_match.is_some_and(|expected| expected != etag) {
            return Err(conflict(&path));
        }
        self.tree.put(&path, bytes, self.time);
        Ok(tree::etag(bytes))
    }

    pub(super) fn create_folder(&mut self, path: &str) -> Result<()> {
        let path = self.free_place(path, Kind::Folder, None)?;
        self.tree.put_folder(&path);
        Ok(())
    }

    pub(super) fn rename(&mut self, from: &str, to: &str) -> Result<()> {
        let found = self.some(from)?;
        if paths::is_below(to, &found.path) {
            return Err(Error::validation(format!(
                "`{}` cannot be moved into itself",
                found.path
            )));
        }
        self.scope.require(&found.path, found.kind, Tier::Write)?;
        let to = self.free_place(to, found.kind, Some(&found.path))?;
        let moving = self.visible_with_content(&found);
        for entry in &moving {
            let target = format!("{to}{}", &entry.path[found.path.len()..]);
            self.scope.require(&entry.path, entry.kind, Tier::Write)?;
            self.scope.require(&target, entry.kind, Tier::Write)?;
            match entry.kind {
                Kind::File => {
                    if let Some(file) = self.tree.files.remove(&entry.path) {
                        self.tree.put_file(&target, file);
                    }
                }
                Kind::Folder => self.tree.put_folder(&target),
            }
        }
        self.drop_folders(&moving, &to);
        Ok(())
    }

    pub(super) fn remove(&mut self, path: &str) -> Result<Vec<String>> {
        let found = self.some(path)?;
        let removing = self.visible_with_content(&found);
        for entry in &removing {
            self.scope.require(&entry.path, entry.kind, Tier::Delete)?;
        }
        let mut ids = Vec::new();
        for entry in &removing {
            ids.extend(self.discard(&entry.path));
        }
        self.drop_folders(&removing, "");
        Ok(ids)
    }

    /// Moves a file to the trash; returns its trash id.
    pub(super) fn discard(&mut self, path: &str) -> Option<String> {
        let file = self.tree.files.remove(path)?;
        let id = format!("trash-{}", self.tree.count());
        let trashed = Trashed {
            id: id.clone(),
            path: path.to_owned(),
            size: file.bytes.len() as u64,
            removed: self.time,
        };
        self.tree.trash.push(TrashedFile { trashed, file });
        Some(id)
    }

    pub(super) fn restore(&mut self, id: &str, to: Option<&str>) -> Result<String> {
        let view = self.view();
        let at = self
            .tree
            .trash
            .iter()
            .position(|item| item.trashed.id == id && view.sees(&item.trashed.path, Kind::File))
            .ok_or_else(|| Error::not_found(format!("nothing in the trash has the id `{id}`")))?;
        let item = self.tree.trash[at].clone();
        let path = self.free_place(to.unwrap_or(&item.trashed.path), Kind::File, None)?;
        self.tree.trash.remove(at);
        self.tree.put_file(&path, item.file);
        Ok(path)
    }

    pub(super) fn store_set(&mut self, key: &str, value: &[u8]) -> Result<()> {
        if key.is_empty() || key.len() > MAX_KEY_BYTES {
            return Err(Error::validation(format!(
                "a key has 1 to {MAX_KEY_BYTES} bytes"
            )));
        }
        self.tree.store.insert(key.to_owned(), value.to_owned());
        let used: usize = self
            .tree
            .store
            .iter()
            .map(|(key, value)| key.len() + value.len())
            .sum();
        if used > STORE_QUOTA_BYTES {
            return Err(Error::too_large(format!(
                "the store may hold {STORE_QUOTA_BYTES} bytes; this would make it {used}"
            )));
        }
        Ok(())
    }

    pub(super) fn store_remove(&mut self, key: &str) {
        self.tree.store.remove(key);
    }

    /// Checks a path for a new entry: the caller may write there, and no entry has the same folded name. Returns it with the
    /// spelling of existing folders. `mover` is the entry to be renamed, which may change the case of its own name.
    pub(super) fn free_place(&self, path: &str, kind: Kind, mover: Option<&str>) -> Result<String> {
        paths::check(path)?;
        if path.is_empty() {
            return Err(Error::already_exists("`` is already there"));
        }
        if paths::is_closed(path) {
            return Err(Error::validation(format!(
                "`{path}` is closed: its name begins with a dot"
            )));
        }
        let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
        let place = joined(&self.spelt_folder(above)?, name);
        self.scope.require(&place, kind, Tier::Write)?;
        match self.view().find(&place)? {
            Some(found) if mover != Some(found.path.as_str()) || found.path == place => Err(
                Error::already_exists(format!("`{}` is already there", found.path))
                    .with_details(json!({ "path": found.path })),
            ),
            _ => {
                paths::check_new_name(name)?;
                Ok(place)
            }
        }
    }

    /// A folder's path with the spelling of its existing parts.
    fn spelt_folder(&self, path: &str) -> Result<String> {
        let mut spelt = String::new();
        for part in path.split('/').filter(|part| !part.is_empty()) {
            spelt = joined(&spelt, part);
            match self.view().find(&spelt)? {
                Some(found) if found.kind == Kind::File => {
                    return Err(Error::validation(format!(
                        "`{}` is a file, not a folder",
                        found.path
                    )));
                }
                Some(found) => spelt = found.path,
                None => paths::check_new_name(part)?,
            }
        }
        Ok(spelt)
    }

    /// The entry at a non-empty path.
    fn some(&self, path: &str) -> Result<Entry> {
        if path.is_empty() {
            return Err(Error::validation("the path is empty"));
        }
        self.view().stat(path)
    }

    /// An entry and, if it is a folder, everything below it that the caller may see.
    fn visible_with_content(&self, entry: &Entry) -> Vec<Entry> {
        self.view()
            .entries()
            .filter(|other| other.path == entry.path || paths::is_below(&other.path, &entry.path))
            .collect()
    }

    /// Removes folders that are now empty, innermost first. Folders with invisible content stay.
    fn drop_folders(&mut self, entries: &[Entry], but: &str) {
        let mut folders: Vec<&str> = entries
            .iter()
            .filter(|entry| entry.kind == Kind::Folder && entry.path != but)
            .map(|entry| entry.path.as_str())
            .collect();
        // A path sorts after its folder.
        folders.sort();
        for folder in folders.into_iter().rev() {
            if self.tree.is_empty(folder) {
                self.tree.folders.remove(folder);
            }
        }
    }
}

/// The error for a file that changed since it was read.
pub(super) fn conflict(path: &str) -> Error {
    Error::conflict(format!(
        "`{path}` is not as it was: read it again and repeat the change"
    ))
    .with_details(json!({ "path": path }))
}

/// A new name in a folder, in NFC.
fn joined(folder: &str, name: &str) -> String {
    match folder {
        "" => paths::composed(name),
        _ => format!("{folder}/{}", paths::composed(name)),
    }
}
