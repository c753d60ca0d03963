//! Counting the contents of a notebook, and formatting counts and sizes.

use std::collections::BTreeMap;

use notehost_sdk::{Entry, Kind, is_note, notebook_of};

use crate::notebook_name::ROOT;

/// The counts and the total size of a notebook.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    pub(crate) notes: u64,
    pub(crate) folders: u64,
    pub(crate) files: u64,
    pub(crate) size: u64,
}

impl Contents {
    /// The contents of each notebook, from all entries of the vault.
    pub(crate) fn by_notebook(entries: &[Entry]) -> BTreeMap<&str, Contents> {
        let mut notebooks: BTreeMap<&str, Contents> = BTreeMap::new();
        for entry in entries {
            let notebook = notebook_of(&entry.path);
            // A top-level folder is a notebook, not part of the root notebook.
            if notebook != ROOT || entry.kind == Kind::File {
                notebooks.entry(notebook).or_default().add(entry);
            }
        }
        notebooks
    }

    /// The totals of these entries.
    pub(crate) fn of<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Contents {
        let mut contents = Contents::default();
        entries.into_iter().for_each(|entry| contents.add(entry));
        contents
    }

    fn add(&mut self, entry: &Entry) {
        match entry.kind {
            Kind::Folder => self.folders += 1,
            Kind::File if is_note(&entry.path) => self.notes += 1,
            Kind::File => self.files += 1,
        }
        self.size += entry.size;
    }
}

/// A count with its noun: `1 note`, `3 notes`.
pub(crate) fn counted(number: u64, thing: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{ending}")
}

/// A size in human-readable form: `40.2 kB`.
pub(crate) fn format_size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return counted(bytes, "byte");
    }
    let mut amount = bytes as f64 / 1000.0;
    let mut unit = 0;
    while amount >= 999.95 && unit + 1 < UNITS.len() {
        amount /= 1000.0;
        unit += 1;
    }
    format!("{amount:.1} {}", UNITS[unit])
}
