//! Search for files that are not notes, by name.

use notehost_sdk::pages::Span;
use notehost_sdk::prelude::*;
use notehost_sdk::{Entry, Kind, fold_name, is_note};

use crate::MAX_PAGE_SIZE;
use notehost_sdk::dates;
use notehost_sdk::matching::{self, Place};

/// Find files that are not notes (pictures, PDFs, canvases) by name.
///
/// Example: `{"query": "kettle"}`
#[args]
pub struct Assets {
    /// Parts of the path (`invoice 2024`), or a glob (`*.png`, `Work/**/*.pdf`). Default: all.
    pub query: Option<String>,
    /// Folder or glob.
    pub path: Option<String>,
    /// Page size, 1–200 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// Matching files.
#[reply]
pub struct Files {
    /// The files; those whose name starts with the query first.
    pub items: Vec<AssetFile>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Number of results on all pages.
    pub total: u64,
}

/// A file.
#[reply]
pub struct AssetFile {
    /// The file.
    pub path: String,
    /// Size in bytes.
    pub size: u64,
    /// The time of the last change.
    pub modified: String,
}

impl Action for Assets {
    type Output = Files;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Files> {
        let span = Span::within(self.limit, 50, MAX_PAGE_SIZE, self.cursor.as_deref())?;
        let place = Place::find(vault, self.path.as_deref())?;
        let folder = match &place {
            Place::Note(note) => {
                return Err(Error::validation(format!(
                    "`path` is the note `{note}`, expected a folder or a glob"
                )));
            }
            Place::Folder(folder) => folder.as_str(),
            Place::Vault | Place::Glob(..) => "",
        };
        let name_query = NameQuery::parse(self.query.as_deref().unwrap_or_default().trim())?;
        let mut files: Vec<(u8, Entry)> = vault
            .list_all(folder, true)?
            .into_iter()
            .filter(|entry| entry.kind == Kind::File && !is_note(&entry.path))
            .filter(|entry| place.holds(&entry.path))
            .filter_map(|entry| Some((name_query.rank(&entry.path)?, entry)))
            .collect();
        // The files are in path order, and the sort is stable.
        files.sort_by_key(|(rank, _)| *rank);
        let total = files.len() as u64;
        let items = span.of(files).0.into_iter().map(|(_, entry)| AssetFile {
            path: entry.path,
            size: entry.size,
            modified: dates::iso(entry.modified),
        });
        Ok(Files {
            items: items.collect(),
            next_cursor: span.next(span.limit, total),
            total,
        })
    }

    fn text(output: &Files) -> String {
        let first = match output.total {
            0 => "no files match".to_owned(),
            total => format!("{} of {total}:", output.items.len()),
        };
        ReplyText::new(first)
            .lines(&output.items, |file| {
                format!("{}  {} bytes", file.path, file.size)
            })
            .more(&output.next_cursor)
            .into()
    }
}

/// A parsed file name query.
enum NameQuery {
    Glob(matching::Glob),
    /// Folded parts; all must match.
    Parts(Vec<String>),
}

impl NameQuery {
    fn parse(query: &str) -> Result<NameQuery> {
        if matching::is_glob(query) {
            let glob = match query.contains('/') {
                true => query.to_owned(),
                false => format!("**/{query}"),
            };
            return Ok(NameQuery::Glob(matching::glob(&glob)?));
        }
        let parts = query.split_whitespace().map(fold_name);
        Ok(NameQuery::Parts(parts.collect()))
    }

    /// The rank of a path, 0 is best; `None` if it does not match.
    fn rank(&self, path: &str) -> Option<u8> {
        let folded = fold_name(path);
        match self {
            NameQuery::Glob(glob) => glob.is_match(&folded).then_some(0),
            NameQuery::Parts(parts) => {
                let name = folded.rsplit('/').next().unwrap_or(&folded);
                let begins = parts.first().is_none_or(|first| name.starts_with(first));
                let is_in_name = parts.iter().all(|part| name.contains(part));
                let is_in_path = parts.iter().all(|part| folded.contains(part));
                match (is_in_name, is_in_path) {
                    (true, _) => Some(u8::from(!begins)),
                    (false, true) => Some(2),
                    (false, false) => None,
                }
            }
        }
    }
}
