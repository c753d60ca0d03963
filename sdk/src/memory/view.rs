//! The caller's view of the vault: lookup of names, listing, resolving. Invisible files are filtered out before any
//! comparison, so that results reveal nothing about them.

use super::paths;
use super::scope::Scope;
use super::tree::{File, Tree};
use crate::{Blob, Entry, Error, Kind, Page, Result, Tier, Trashed, fold_name, is_note, parent_of};

pub(super) struct View<'a> {
    pub(super) tree: &'a Tree,
    pub(super) scope: &'a Scope,
}

impl View<'_> {
    pub(super) fn stat(&self, path: &str) -> Result<Entry> {
        match self.find(path)? {
            Some(entry) => Ok(entry),
            None => Err(absent(path)),
        }
    }

    pub(super) fn read(&self, path: &str) -> Result<Blob> {
        let (_, file) = self.file(path)?;
        Ok(Blob {
            bytes: file.bytes.to_vec(),
            etag: file.etag(),
        })
    }

    pub(super) fn list(
        &self,
        folder: &str,
        recursive: bool,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Page> {
        let folder = match self.find(folder)? {
            Some(Entry {
                path,
                kind: Kind::Folder,
                ..
            }) => path,
            Some(Entry { path, .. }) => {
                return Err(Error::validation(format!(
                    "`{path}` is a file, not a folder"
                )));
            }
            None => return Err(Error::not_found(format!("no folder `{folder}`"))),
        };
        let mut entries: Vec<Entry> = self
            .entries()
            .filter(|entry| paths::is_below(&entry.path, &folder))
            .filter(|entry| recursive || parent_of(&entry.path) == folder)
            .filter(|entry| after.is_none_or(|after| entry.path.as_str() > after))
            .collect();
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        let limit = limit.max(1) as usize;
        let has_more = entries.len() > limit;
        entries.truncate(limit);
        let next = entries.last().filter(|_| has_more);
        Ok(Page {
            next: next.map(|last| last.path.clone()),
            entries,
        })
    }

    /// The files that a name can refer to, by Obsidian's rules.
    pub(super) fn resolve(&self, name: &str, source: Option<&str>) -> Vec<String> {
        let folder = source.map_or("", parent_of);
        let Some(name) = without_steps(name, folder) else {
            return Vec::new();
        };
        let wanted = fold_name(&name);
        let with_extension = format!("{wanted}.md");
        let folder = fold_name(folder);
        let mut found: Vec<_> = self
            .files()
            .filter_map(|(path, _)| {
                let folded = fold_name(path);
                let above = [&with_extension, &wanted].into_iter().find_map(|wanted| {
                    let above = folded.strip_suffix(wanted.as_str())?;
                    (above.is_empty() || above.ends_with('/')).then_some(above)
                })?;
                let rank = if above.is_empty() {
                    0
                } else if above.trim_end_matches('/') == folder {
                    1
                } else {
                    2
                };
                // Ties: notes before files without an extension, then the exact spelling.
                let is_other_spelling = !path.contains(name.as_str());
                let is_other_kind = !is_note(path);
                Some((rank, path.len(), is_other_kind, is_other_spelling, path))
            })
            .collect();
        found.sort();
        found.into_iter().map(|(.., path)| path.clone()).collect()
    }

    pub(super) fn mentioning(&self, texts: &[String]) -> Vec<String> {
        let wanted: Vec<String> = texts
            .iter()
            .filter(|text| !text.is_empty())
            .map(|text| fold_name(text))
            .collect();
        self.files()
            .filter(|(path, _)| is_note(path))
            .filter(|(_, file)| {
                let text = fold_name(&String::from_utf8_lossy(&file.bytes));
                wanted.iter().any(|wanted| text.contains(wanted.as_str()))
            })
            .map(|(path, _)| path.clone())
            .collect()
    }

    pub(super) fn trash(&self, after: Option<&str>, limit: u32) -> Vec<Trashed> {
        let mut visible: Vec<&Trashed> = self
            .tree
            .trash
            .iter()
            .rev()
            .map(|item| &item.trashed)
            .filter(|item| self.sees(&item.path, Kind::File))
            .collect();
        if let Some(after) = after {
            let begin = visible.iter().position(|item| item.id == after);
            visible.drain(..begin.map_or(visible.len(), |at| at + 1));
        }
        let limit = limit.max(1) as usize;
        visible.into_iter().take(limit).cloned().collect()
    }

    /// Whether the caller may see a path.
    pub(super) fn sees(&self, path: &str, kind: Kind) -> bool {
        self.scope.tier(path, kind) >= Tier::Read
    }

    /// What the caller may do at a path, whether it exists or not.
    pub(super) fn access(&self, path: &str) -> Tier {
        let kind = match self.find(path) {
            Ok(Some(entry)) => entry.kind,
            _ if is_note(path) => Kind::File,
            _ => Kind::Folder,
        };
        self.scope.tier(path, kind)
    }

    /// The entry of a path: an exact match, else equal in NFC, else equal ignoring case.
    pub(super) fn find(&self, path: &str) -> Result<Option<Entry>> {
        paths::check(path)?;
        if path.is_empty() {
            return Ok(Some(folder_entry("")));
        }
        if let Some(file) = self
            .tree
            .files
            .get(path)
            .filter(|_| self.sees(path, Kind::File))
        {
            return Ok(Some(file_entry(path, file)));
        }
        if self.tree.folders.contains(path) && self.sees(path, Kind::Folder) {
            return Ok(Some(folder_entry(path)));
        }
        let folded = fold_name(path);
        let mut matches: Vec<Entry> = self
            .entries()
            .filter(|entry| fold_name(&entry.path) == folded)
            .collect();
        if matches.len() > 1 {
            let composed = paths::composed(path);
            let same = |entry: &Entry| paths::composed(&entry.path) == composed;
            if matches.iter().any(same) {
                matches.retain(same);
            }
        }
        // An ambiguous match counts as none.
        Ok(matches.pop().filter(|_| matches.is_empty()))
    }

    /// The file at a path, and the path as the vault spells it.
    pub(super) fn file(&self, path: &str) -> Result<(String, &File)> {
        match self.find(path)? {
            Some(Entry {
                path,
                kind: Kind::Folder,
                ..
            }) => Err(Error::validation(format!(
                "`{path}` is a folder, not a file"
            ))),
            found => found
                .and_then(|entry| Some((self.tree.files.get(&entry.path)?, entry.path)))
                .map(|(file, path)| (path, file))
                .ok_or_else(|| absent(path)),
        }
    }

    /// A path as the vault spells it; unchanged if it exists only in the history.
    pub(super) fn spelt(&self, path: &str) -> Result<String> {
        Ok(match self.find(path)? {
            Some(entry) => entry.path,
            None => path.to_owned(),
        })
    }

    /// The path of every file that the caller may see, sorted.
    pub(super) fn paths(&self) -> Vec<String> {
        self.files().map(|(path, _)| path.clone()).collect()
    }

    /// All entries that the caller may see.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry> {
        let files = self.files().map(|(path, file)| file_entry(path, file));
        let folders = self
            .tree
            .folders
            .iter()
            .filter(|path| self.sees(path, Kind::Folder))
            .map(|path| folder_entry(path));
        files.chain(folders)
    }

    pub(super) fn files(&self) -> impl Iterator<Item = (&String, &File)> {
        self.tree
            .files
            .iter()
            .filter(|(path, _)| self.sees(path, Kind::File))
    }
}

fn absent(path: &str) -> Error {
    let what = if is_note(path) { "note" } else { "file" };
    Error::not_found(format!("no {what} `{path}`"))
}

fn file_entry(path: &str, file: &File) -> Entry {
    Entry {
        path: path.to_owned(),
        kind: Kind::File,
        size: file.bytes.len() as u64,
        modified: file.modified,
    }
}

fn folder_entry(path: &str) -> Entry {
    Entry {
        path: path.to_owned(),
        kind: Kind::Folder,
        size: 0,
        modified: 0,
    }
}

/// A link's name without `./`, `../` and a leading `/`; `None` if it points outside the vault or is empty.
fn without_steps(name: &str, folder: &str) -> Option<String> {
    let name = name.trim();
    let is_relative = name.starts_with("./") || name.starts_with("../");
    let mut parts: Vec<&str> = Vec::new();
    if is_relative {
        parts.extend(folder.split('/').filter(|part| !part.is_empty()));
    }
    for part in name.trim_start_matches('/').split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()?),
            "" => return None,
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}
