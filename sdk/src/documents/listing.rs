//! The notes and folders of a folder, as a flat list.

use std::cmp::Reverse;

use super::naming::folder;
use crate::dates::Moment;
use crate::pages::{Span, more};
use crate::prelude::*;
use crate::{Entry, Kind, fold_name, is_note, stem_of};

/// Arguments of a listing.
#[derive(Debug, Clone, Copy)]
pub struct ListQuery<'a> {
    /// The folder; `None` for the vault.
    pub path: Option<&'a str>,
    /// Whether to list all files below it, without folders.
    pub recursive: bool,
    /// Whether to list files that are not notes.
    pub all: bool,
    /// The order.
    pub sort: Sort,
    /// Whether to include size and time.
    pub is_detailed: bool,
    /// The part of the list.
    pub span: Span,
}

/// The order of a list.
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

/// A page of a folder's entries.
#[reply(text = Listed::to_text)]
pub struct Listed {
    /// Notes and folders.
    pub items: Vec<Item>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Number of items on all pages.
    pub total: usize,
}

/// A note, or a folder.
#[reply]
pub struct Item {
    /// Its path.
    pub path: String,
    /// `folder`; omitted for a note.
    pub kind: Option<String>,
    /// In bytes.
    pub size: Option<u64>,
    /// Time of the last change.
    pub modified: Option<String>,
}

/// Lists a folder.
pub fn listing(vault: &Vault, query: ListQuery<'_>) -> Result<Listed> {
    let mut entries = vault.list_all(folder(query.path), query.recursive)?;
    entries.retain(|entry| match entry.kind {
        Kind::File => query.all || is_note(&entry.path),
        Kind::Folder => !query.recursive,
    });
    sort_by(&mut entries, query.sort);
    Ok(Listed::of(
        entries,
        query.span,
        query.is_detailed || query.sort == Sort::Size,
        query.is_detailed || query.sort == Sort::Modified,
    ))
}

impl Listed {
    /// A page of these entries, with the size and time of files if requested.
    pub fn of(entries: Vec<Entry>, span: Span, with_size: bool, with_time: bool) -> Listed {
        let total = entries.len();
        let (entries, next_cursor) = span.of(entries);
        let items = entries.into_iter().map(|entry| {
            let is_file = entry.kind == Kind::File;
            Item {
                kind: (!is_file).then(|| "folder".to_owned()),
                size: (is_file && with_size).then_some(entry.size),
                modified: (is_file && with_time).then(|| Moment::at(entry.modified).iso()),
                path: entry.path,
            }
        });
        Listed {
            items: items.collect(),
            next_cursor,
            total,
        }
    }

    /// The list as text, one entry per line.
    pub fn to_text(&self) -> String {
        let mut text = match self.total {
            0 => return "no entries".to_owned(),
            total => format!("{} of {total}:", self.items.len()),
        };
        for item in &self.items {
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
        text + &more(self.next_cursor.as_ref())
    }
}

/// Sorts entries that are in order of path; ties stay in that order.
fn sort_by(entries: &mut [Entry], sort: Sort) {
    match sort {
        Sort::Path => {}
        Sort::Name => entries.sort_by_cached_key(|entry| fold_name(stem_of(&entry.path))),
        Sort::Modified => entries.sort_by_key(|entry| Reverse(entry.modified)),
        Sort::Size => entries.sort_by_key(|entry| Reverse(entry.size)),
    }
}
