//! Lists files.

use notehost_sdk::pages::{Span, counted, more};
use notehost_sdk::prelude::*;
use notehost_sdk::{Entry, Kind, dates, is_note};

use crate::file_type::{self, FileKind};
use crate::paths::folder;

/// List files that are not notes, with kind and size.
///
/// Example: `{"kinds": ["image"]}`
#[args]
pub struct List {
    /// Folder (recursive).
    pub path: Option<String>,
    /// Only these kinds.
    pub kinds: Option<Vec<FileKind>>,
    /// 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// A page of files.
#[reply]
pub struct Files {
    /// The files, by path.
    pub items: Vec<FileItem>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Number of results on all pages.
    pub total: u64,
    /// Total size of all pages in bytes.
    pub total_size: u64,
}

/// A file.
#[reply]
pub struct FileItem {
    /// The file.
    pub path: String,
    /// The kind, by name.
    pub kind: FileKind,
    /// The MIME type, by name.
    pub mime: String,
    /// Size in bytes.
    pub size: u64,
    /// The time of the last change.
    pub modified: String,
}

impl FileItem {
    pub(crate) fn of(entry: Entry) -> FileItem {
        let found = file_type::by_name(&entry.path);
        FileItem {
            path: entry.path,
            kind: found.kind,
            mime: found.mime.to_owned(),
            size: entry.size,
            modified: dates::iso(entry.modified),
        }
    }
}

impl Action for List {
    type Output = Files;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Files> {
        let span = Span::new(self.limit, self.cursor.as_deref())?;
        let files = assets(vault, self.path.as_deref(), self.kinds.as_deref())?;
        Ok(Files::page(files, &span))
    }

    fn text(output: &Files) -> String {
        output.sentence("no files", "file")
    }
}

impl Files {
    pub(crate) fn page(files: Vec<Entry>, span: &Span) -> Files {
        let total = files.len() as u64;
        let total_size = files.iter().map(|entry| entry.size).sum();
        let (items, next_cursor) = span.of(files);
        Files {
            items: items.into_iter().map(FileItem::of).collect(),
            next_cursor,
            total,
            total_size,
        }
    }

    pub(crate) fn sentence(&self, none: &str, what: &str) -> String {
        let mut text = match self.total {
            0 => none.to_owned(),
            total => format!(
                "{}, {}:",
                counted(total, what),
                readable_size(self.total_size)
            ),
        };
        for file in &self.items {
            text.push_str(&format!(
                "\n{}  {}, {}",
                file.path,
                file.kind.as_str(),
                readable_size(file.size)
            ));
        }
        text + &more(self.next_cursor.as_ref())
    }
}

/// The files in a folder (recursive) that are not notes, by path.
pub(crate) fn assets(
    vault: &Vault,
    path: Option<&str>,
    only: Option<&[FileKind]>,
) -> Result<Vec<Entry>> {
    if only.is_some_and(<[FileKind]>::is_empty) {
        return Err(Error::validation(
            "`kinds` is empty: give at least one kind, or omit it for all",
        ));
    }
    let folder = folder(vault, path)?;
    let mut files = vault.list_all(&folder, true)?;
    files.retain(|entry| {
        entry.kind == Kind::File
            && !is_note(&entry.path)
            && only.is_none_or(|only| only.contains(&file_type::by_name(&entry.path).kind))
    });
    Ok(files)
}

/// `12 bytes`, `3.4 KiB`.
pub(crate) fn readable_size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return counted(bytes, "byte");
    }
    let mut size = bytes as f64 / 1024.0;
    let mut unit = 0;
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    format!("{size:.1} {}", UNITS[unit])
}
