//! A vault in memory, for tests: it proves that transactions do not depend on files.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use parking_lot::Mutex;

use crate::{
    error::{CommitError, VaultError},
    identifier::new_id,
    path::{is_below, is_speakable, split},
    storage::{
        ChangeFeed, ChangeListener, FileStat, LinkTarget, Position, ReadOutcome, Storage,
        StorageCommit,
        change_set::ChangeSet,
        listing::Listing,
        records::{ChangeRow, FileRow, NameEdit, NameRow, TrashNote},
        stamp::{Digest, Node, Stamp, Status},
        trash_id, trash_path,
    },
};
use notehost_platform::clock::now_millis;

/// The mode of new files.
pub(crate) const NEW_MODE: u32 = 0o644;

/// Notes, trash and history in memory.
#[derive(Default)]
pub(crate) struct MemoryStorage {
    contents: Mutex<Contents>,
}

#[derive(Default)]
struct Contents {
    entries: BTreeMap<String, Entry>,
    trash: BTreeMap<String, TrashNote>,
    changes: Vec<ChangeRow>,
    kept: HashMap<Digest, Arc<[u8]>>,
    names: Vec<NameRow>,
    versions: u64,
    commits: u64,
}

/// The bytes of an entry, none for a folder, and its mode.
type Shape = (Option<Arc<[u8]>>, u32);

#[derive(Clone, PartialEq)]
struct Entry {
    /// `None` for a folder.
    bytes: Option<Arc<[u8]>>,
    mode: u32,
    /// Names the entry, also after a rename.
    identity: u64,
    version: u64,
    modified_millis: u64,
}

impl Entry {
    fn status(&self) -> Status {
        let (node, size) = match &self.bytes {
            Some(bytes) => (Node::File, bytes.len() as u64),
            None => (Node::Folder, 0),
        };
        Status {
            node,
            stamp: Stamp {
                identity: self.identity,
                size,
                modified: i128::from(self.modified_millis) * 1_000_000,
                changed: i128::from(self.version),
                is_exact: true,
            },
            mode: self.mode,
            owner: (0, 0),
        }
    }
}

impl Contents {
    fn entry(&mut self, bytes: Option<Arc<[u8]>>, mode: u32) -> Entry {
        self.versions += 1;
        Entry {
            bytes,
            mode,
            identity: self.versions,
            version: self.versions,
            modified_millis: now_millis(),
        }
    }

    /// Makes a folder and those above it.
    fn make_folder(&mut self, folder: &str) {
        if folder.is_empty() || self.entries.contains_key(folder) {
            return;
        }
        self.make_folder(split(folder).0);
        let entry = self.entry(None, 0o755);
        self.entries.insert(folder.to_owned(), entry);
    }

    /// Puts a file at a path: new content, or the content of an entry that was elsewhere.
    fn place(&mut self, path: &str, origin: Option<Entry>, bytes: Option<Arc<[u8]>>, mode: u32) {
        self.make_folder(split(path).0);
        let bytes = bytes.or_else(|| origin.as_ref()?.bytes.clone());
        let mut entry = self.entry(bytes, mode);
        if let Some(origin) = origin {
            entry.identity = origin.identity;
        }
        self.entries.insert(path.to_owned(), entry);
    }

    /// What is visible of the entries: two states that agree in it are the same.
    fn shape(&self) -> BTreeMap<String, Shape> {
        let shape =
            |(path, entry): (&String, &Entry)| (path.clone(), (entry.bytes.clone(), entry.mode));
        self.entries.iter().map(shape).collect()
    }

    fn apply(&mut self, changes: &ChangeSet<'_>) {
        let stored = self.entries.clone();
        let removed = |path: &String| stored.get(path).filter(|entry| entry.bytes.is_some());
        for (path, id) in changes.trashed {
            let Some(entry) = removed(path) else { continue };
            let mut note = TrashNote::now(path.clone(), changes.by.caller.clone(), None);
            note.size = entry.status().stamp.size;
            self.trash.insert(id.clone(), note);
            self.place(&trash_path(id), Some(entry.clone()), None, entry.mode);
            self.entries.remove(path);
        }
        for (path, file) in changes.staged {
            let origin = file.as_ref().and_then(|file| file.origin.as_ref());
            for left in origin.into_iter().chain(file.is_none().then_some(path)) {
                if removed(left).is_some() {
                    self.entries.remove(left);
                }
            }
            if let Some(id) = origin.and_then(|origin| trash_id(origin)) {
                self.trash.remove(id);
            }
        }
        for folder in changes.new_folders {
            self.make_folder(folder);
        }
        for (path, file) in changes.staged {
            let Some(file) = file else { continue };
            let origin = file.origin.as_ref().and_then(|origin| stored.get(origin));
            let mode = file.mode.or(origin.map(|origin| origin.mode));
            let mode = mode.unwrap_or(NEW_MODE);
            self.place(path, origin.cloned(), file.bytes.clone(), mode);
        }
        for folder in changes.gone_folders.iter().rev() {
            if !self.entries.keys().any(|path| is_below(path, folder)) {
                self.entries.remove(folder);
            }
        }
    }

    fn remember(&mut self, id: &str, changes: &ChangeSet<'_>, stored: &BTreeMap<String, Entry>) {
        for net in changes.net.iter().chain(&changes.data) {
            let bytes = stored
                .get(net.origin())
                .and_then(|entry| entry.bytes.clone());
            if let (Some(before), Some(bytes)) = (&net.before, bytes) {
                self.kept.insert(before.digest, bytes);
            }
        }
        let mut row = changes.to_row(id.to_owned(), now_millis());
        row.number = self.changes.len() as i64 + 1;
        for name in &mut self.names {
            let from = name.path.clone();
            let moved = |file: &&FileRow| file.from.as_ref() == Some(&from);
            if let Some(file) = row.files.iter().find(moved) {
                name.trail.push(file.path.clone());
                name.path = file.path.clone();
            }
        }
        self.changes.push(row);
        self.mark_undone();
    }

    /// A change is undone if one that reverts it is in force.
    fn mark_undone(&mut self) {
        let mut undone = BTreeSet::new();
        for row in self.changes.iter_mut().rev() {
            row.undone = undone.contains(&row.id);
            if !row.undone {
                let single = row.undoes.clone().filter(|_| row.undoes_whole);
                undone.extend(single.into_iter().chain(row.undoes_run.clone()));
            }
        }
    }
}

impl MemoryStorage {
    /// Writes a file as another program would.
    pub(crate) fn put(&self, path: &str, bytes: &[u8]) {
        let mut contents = self.contents.lock();
        let stored = contents.entries.get(path).cloned();
        let mode = stored.as_ref().map_or(NEW_MODE, |stored| stored.mode);
        contents.place(path, stored, Some(bytes.into()), mode);
    }

    pub(crate) fn set_mode(&self, path: &str, mode: u32) {
        let mut contents = self.contents.lock();
        let stored = contents.entries.get(path).cloned();
        contents.place(path, stored, None, mode);
    }

    /// Every note with its bytes and mode.
    pub(crate) fn files(&self) -> BTreeMap<String, (Vec<u8>, u32)> {
        let shape = self.contents.lock().shape().into_iter();
        let notes = shape.filter(|(path, _)| !path.starts_with('.'));
        notes
            .filter_map(|(path, (bytes, mode))| Some((path, (bytes?.to_vec(), mode))))
            .collect()
    }
}

impl Storage for MemoryStorage {
    fn folds_names(&self) -> bool {
        false
    }

    fn stat(&self, path: &str) -> Result<Option<Status>, VaultError> {
        if path.is_empty() {
            let root = Contents::default().entry(None, 0o755);
            return Ok(Some(root.status()));
        }
        Ok(self.contents.lock().entries.get(path).map(Entry::status))
    }

    fn read(
        &self,
        path: &str,
        max_bytes: u64,
        bytes: &mut Vec<u8>,
    ) -> Result<ReadOutcome, VaultError> {
        bytes.clear();
        let contents = self.contents.lock();
        let Some(entry) = contents.entries.get(path) else {
            return Ok(ReadOutcome::Absent);
        };
        Ok(match &entry.bytes {
            None => ReadOutcome::Absent,
            Some(content) if content.len() as u64 > max_bytes => {
                ReadOutcome::TooLarge(entry.status())
            }
            Some(content) => {
                bytes.extend_from_slice(content);
                ReadOutcome::Content(entry.status())
            }
        })
    }

    fn digest(&self, path: &str) -> Result<Option<(Digest, Status)>, VaultError> {
        let contents = self.contents.lock();
        Ok(contents.entries.get(path).and_then(|entry| {
            let bytes = entry.bytes.as_ref()?;
            Some((Digest::of(bytes), entry.status()))
        }))
    }

    fn link_target(&self, _path: &str) -> Option<LinkTarget> {
        None
    }

    fn list(&self, folder: &str) -> Result<Option<Arc<Listing>>, VaultError> {
        let contents = self.contents.lock();
        let is_folder = |entry: &Entry| entry.bytes.is_none();
        if !folder.is_empty() && !contents.entries.get(folder).is_some_and(is_folder) {
            return Ok(None);
        }
        let children = contents.entries.iter().filter_map(|(path, entry)| {
            let (parent, name) = split(path);
            let is_child = parent == folder && is_speakable(name);
            is_child.then(|| (name.to_owned(), entry.status().node))
        });
        Ok(Some(Arc::new(Listing::new(children.collect()))))
    }

    fn known_len(&self, _folder: &str) -> Option<usize> {
        None
    }

    fn walk(&self, keep_on: &mut dyn FnMut() -> bool) -> Result<Option<Vec<FileStat>>, VaultError> {
        let contents = self.contents.lock();
        let files = contents
            .entries
            .iter()
            .filter(|(path, entry)| entry.bytes.is_some() && path.split('/').all(is_speakable));
        let stats = files.map(|(path, entry)| FileStat {
            path: path.clone(),
            stamp: entry.status().stamp,
        });
        Ok(keep_on().then(|| stats.collect()))
    }

    fn watch(&self, _listener: ChangeListener) -> Option<Box<dyn ChangeFeed>> {
        None
    }

    fn placeholders(&self) -> Vec<String> {
        Vec::new()
    }

    fn position(&self) -> Position {
        Position(self.contents.lock().commits * 2)
    }

    fn begin_commit(&self) -> Result<Box<dyn StorageCommit + '_>, VaultError> {
        Ok(Box::new(MemoryCommit(self)))
    }

    fn change(&self, id: &str) -> Result<Option<ChangeRow>, VaultError> {
        let contents = self.contents.lock();
        Ok(contents.changes.iter().find(|row| row.id == id).cloned())
    }

    fn change_with_key(&self, key: &str) -> Result<Option<ChangeRow>, VaultError> {
        let contents = self.contents.lock();
        let mut rows = contents.changes.iter().rev();
        Ok(rows.find(|row| row.key.as_deref() == Some(key)).cloned())
    }

    fn changes_before(&self, number: i64, limit: usize) -> Result<Vec<ChangeRow>, VaultError> {
        let contents = self.contents.lock();
        let rows = contents.changes.iter().rev();
        let rows = rows.filter(|row| row.number < number && !row.is_empty());
        Ok(rows.take(limit).cloned().collect())
    }

    fn change_touching(&self, path: &str, number: i64) -> Result<Option<ChangeRow>, VaultError> {
        let contents = self.contents.lock();
        let touches = |row: &&ChangeRow| {
            let mut files = row.files.iter();
            row.number < number
                && files.any(|file| file.path == path || file.from.as_deref() == Some(path))
        };
        Ok(contents.changes.iter().rev().find(touches).cloned())
    }

    fn names(&self, path: &str) -> Result<Vec<NameRow>, VaultError> {
        let contents = self.contents.lock();
        let names = contents.names.iter().filter(|name| name.path == path);
        Ok(names.cloned().collect())
    }

    fn set_name(&self, _caller: &str, edit: &NameEdit) -> Result<(), VaultError> {
        let mut contents = self.contents.lock();
        contents.names.retain(|name| {
            (&name.path, name.digest, &name.origin) != (&edit.path, edit.digest, &edit.origin)
        });
        if let Some(name) = &edit.name {
            contents.kept.insert(edit.digest, edit.bytes.clone());
            contents.names.push(NameRow {
                path: edit.path.clone(),
                name: name.clone(),
                digest: edit.digest,
                origin: edit.origin.clone(),
                trail: vec![edit.path.clone()],
            });
        }
        Ok(())
    }

    fn kept_content(&self, digest: &Digest) -> Result<Option<Vec<u8>>, VaultError> {
        let contents = self.contents.lock();
        Ok(contents.kept.get(digest).map(|bytes| bytes.to_vec()))
    }

    fn trash(&self) -> Result<Vec<(String, TrashNote)>, VaultError> {
        let contents = self.contents.lock();
        let entries = contents.trash.iter();
        Ok(entries
            .map(|(id, note)| (id.clone(), note.clone()))
            .collect())
    }

    fn trash_entry(&self, id: &str) -> Result<Option<TrashNote>, VaultError> {
        Ok(self.contents.lock().trash.get(id).cloned())
    }
}

struct MemoryCommit<'a>(&'a MemoryStorage);

impl StorageCommit for MemoryCommit<'_> {
    fn apply(&self, changes: &ChangeSet<'_>) -> Result<Option<String>, CommitError> {
        let mut contents = self.0.contents.lock();
        let (before, stored) = (contents.shape(), contents.entries.clone());
        contents.apply(changes);
        if contents.shape() == before {
            contents.entries = stored;
            return Ok(None);
        }
        let id = new_id();
        contents.remember(&id, changes, &stored);
        contents.commits += 1;
        Ok(Some(id))
    }
}
