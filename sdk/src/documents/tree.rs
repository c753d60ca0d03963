//! The folders and notes below a folder, as a tree.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::naming::{folder, within};
use crate::prelude::*;
use crate::{Kind, is_note, stem_of};

/// Levels shown if the caller sets no `depth`.
const DEFAULT_DEPTH: usize = 3;
/// The maximum number of entries shown; the depth is reduced for larger trees.
const MAX_ENTRIES: usize = 500;

/// A tree of folders and notes.
#[reply]
pub struct Shown {
    /// The folder; `""` is the vault.
    pub path: String,
    /// Folders `{path, kind: "folder", notes, items}` and notes `{path}`. A folder without `items` is not expanded.
    pub items: Vec<Map<String, Value>>,
    /// Number of notes at any depth.
    pub total: usize,
    /// Number of levels shown.
    pub depth: usize,
    /// Number of omitted entries of the first level.
    pub left_out: Option<usize>,
}

/// A folder.
#[derive(Default)]
struct Folder {
    folders: BTreeMap<String, Folder>,
    notes: Vec<String>,
    /// Number of notes at any depth.
    total: usize,
}

/// The notes and folders below a folder, down to `depth` levels.
pub fn tree(vault: &Vault, path: Option<&str>, depth: Option<usize>) -> Result<Shown> {
    if depth == Some(0) {
        return Err(Error::validation("`depth` is 0; it must be at least 1"));
    }
    let path = match folder(path) {
        "" => String::new(),
        path => vault.stat(path)?.path,
    };
    let root = Folder::read(vault, &path)?;
    let mut depth = depth.unwrap_or(DEFAULT_DEPTH).min(root.depth()).max(1);
    while depth > 1 && root.shown_at(depth) > MAX_ENTRIES {
        depth -= 1;
    }
    let mut items = root.items(&path, depth);
    let left_out = items.len().saturating_sub(MAX_ENTRIES);
    items.truncate(MAX_ENTRIES);
    Ok(Shown {
        path,
        items,
        total: root.total,
        depth,
        left_out: (left_out > 0).then_some(left_out),
    })
}

impl Shown {
    /// The tree as text. `lister` is the action that lists the omitted entries.
    pub fn drawn(&self, lister: &str) -> String {
        let place = if self.path.is_empty() {
            "the vault"
        } else {
            &self.path
        };
        let mut text = format!("{place}: {} notes", self.total);
        draw(&self.items, "", &mut text);
        if let Some(left_out) = self.left_out {
            text.push_str(&format!("\n{left_out} more: use `{lister}`"));
        }
        text
    }
}

impl Folder {
    fn read(vault: &Vault, path: &str) -> Result<Folder> {
        let mut root = Folder::default();
        for entry in vault.list_all(path, true)? {
            let below = entry.path.strip_prefix(path).unwrap_or(&entry.path);
            let mut parts: Vec<&str> = below.trim_start_matches('/').split('/').collect();
            let note = match entry.kind {
                Kind::File if !is_note(&entry.path) => continue,
                Kind::File => parts.pop(),
                Kind::Folder => None,
            };
            let mut place = &mut root;
            place.total += usize::from(note.is_some());
            for part in parts {
                place = place.folders.entry(part.to_owned()).or_default();
                place.total += usize::from(note.is_some());
            }
            place.notes.extend(note.map(str::to_owned));
        }
        Ok(root)
    }

    fn depth(&self) -> usize {
        let below = self.folders.values().map(|folder| 1 + folder.depth()).max();
        below.unwrap_or(0).max(usize::from(!self.notes.is_empty()))
    }

    /// The number of entries in a tree of `depth` levels.
    fn shown_at(&self, depth: usize) -> usize {
        if depth == 0 {
            return 0;
        }
        let below: usize = self
            .folders
            .values()
            .map(|folder| folder.shown_at(depth - 1))
            .sum();
        self.notes.len() + self.folders.len() + below
    }

    fn items(&self, path: &str, depth: usize) -> Vec<Map<String, Value>> {
        let at = |name: &str| within(path, name);
        let folders = self.folders.iter().map(|(name, folder)| {
            let mut item = Map::new();
            item.insert("path".into(), at(name).into());
            item.insert("kind".into(), "folder".into());
            item.insert("notes".into(), folder.total.into());
            if depth > 1 {
                item.insert("items".into(), folder.items(&at(name), depth - 1).into());
            }
            item
        });
        let notes = self
            .notes
            .iter()
            .map(|name| Map::from_iter([("path".to_owned(), Value::from(at(name)))]));
        folders.chain(notes).collect()
    }
}

fn draw(items: &[Map<String, Value>], indent: &str, text: &mut String) {
    let last = items.len().saturating_sub(1);
    for (index, item) in items.iter().enumerate() {
        let (branch, below) = if index == last {
            ("└─ ", "   ")
        } else {
            ("├─ ", "│  ")
        };
        let path = item.get("path").and_then(Value::as_str).unwrap_or_default();
        let name = stem_of(path);
        text.push_str(&format!("\n{indent}{branch}{name}"));
        if let Some(notes) = item.get("notes") {
            text.push_str(&format!("/ ({notes})"));
        }
        if let Some(Value::Array(inner)) = item.get("items") {
            let inner: Vec<Map<String, Value>> = inner
                .iter()
                .filter_map(|item| item.as_object().cloned())
                .collect();
            draw(&inner, &format!("{indent}{below}"), text);
        }
    }
}
