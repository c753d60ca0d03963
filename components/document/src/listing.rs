//! The notes and folders of a folder, as a flat list.

use std::cmp::Reverse;

use notehost_sdk::prelude::*;
use notehost_sdk::{Entry, Kind, fold_name, is_note, stem_of};

use crate::dates::Moment;
use crate::naming::folder;
use crate::pages::{Span, more};
use crate::reading::Format;

/// List the notes and folders of a folder.
#[args]
pub struct List {
    /// The folder; left out: the vault.
    pub path: Option<String>,
    /// Also all below it (notes only).
    #[serde(default)]
    pub recursive: bool,
    /// Default `path`.
    pub sort: Option<Sort>,
    /// Default `concise`.
    pub format: Option<Format>,
    /// How many, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// In which order.
#[args]
#[derive(Copy, PartialEq, Eq)]
pub enum Sort {
    /// by folder and name.
    Path,
    /// by name in any folder.
    Name,
    /// latest first.
    Modified,
    /// largest first.
    Size,
}

/// Some of what is in a folder.
#[reply]
pub struct Listed {
    /// Notes and folders.
    pub items: Vec<Item>,
    /// For the next page.
    pub next_cursor: Option<String>,
    /// How many there are on all pages.
    pub total: usize,
}

/// A note, or a folder.
#[reply]
pub struct Item {
    /// Its path.
    pub path: String,
    /// `folder`; left out for a note.
    pub kind: Option<String>,
    /// In bytes.
    pub size: Option<u64>,
    /// When it was last changed.
    pub modified: Option<String>,
}

impl Action for List {
    type Output = Listed;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Listed> {
        let span = Span::new(self.limit, self.cursor.as_deref())?;
        let mut entries = vault.list_all(folder(self.path.as_deref()), self.recursive)?;
        entries.retain(|entry| match entry.kind {
            Kind::File => is_note(&entry.path),
            Kind::Folder => !self.recursive,
        });
        let sort = self.sort.unwrap_or(Sort::Path);
        sort_by(&mut entries, sort);
        let total = entries.len();
        let is_detailed = self.format == Some(Format::Detailed);
        let (entries, next_cursor) = span.of(entries);
        let items = entries
            .into_iter()
            .map(|entry| Item {
                kind: (entry.kind == Kind::Folder).then(|| "folder".to_owned()),
                size: (entry.kind == Kind::File && (is_detailed || sort == Sort::Size))
                    .then_some(entry.size),
                modified: (entry.kind == Kind::File && (is_detailed || sort == Sort::Modified))
                    .then(|| Moment::at(entry.modified).iso()),
                path: entry.path,
            })
            .collect();
        Ok(Listed {
            items,
            next_cursor,
            total,
        })
    }

    fn text(output: &Listed) -> String {
        let mut text = match output.total {
            0 => return "nothing is there".to_owned(),
            total => format!("{} of {total}:", output.items.len()),
        };
        for item in &output.items {
            text.push_str(&format!(
                "\n{}{}",
                item.path,
                if item.kind.is_some() { "/" } else { "" }
            ));
            if let Some(size) = item.size {
                text.push_str(&format!("  {size} bytes"));
            }
            if let Some(modified) = &item.modified {
                text.push_str(&format!("  {modified}"));
            }
        }
        text + &more(output.next_cursor.as_ref())
    }
}

/// Sort entries that come in order of path; equals stay in that order.
fn sort_by(entries: &mut [Entry], sort: Sort) {
    match sort {
        Sort::Path => {}
        Sort::Name => entries.sort_by_cached_key(|entry| fold_name(stem_of(&entry.path))),
        Sort::Modified => entries.sort_by_key(|entry| Reverse(entry.modified)),
        Sort::Size => entries.sort_by_key(|entry| Reverse(entry.size)),
    }
}
