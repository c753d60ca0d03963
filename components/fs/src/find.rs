//! Finding files and folders by name, type and time: `find`.

use notehost_sdk::documents::listing::Listed;
use notehost_sdk::documents::naming::file_name;
use notehost_sdk::matching::{Glob, escape, glob, is_glob};
use notehost_sdk::pages::Span;
use notehost_sdk::prelude::*;
use notehost_sdk::{Entry, Kind, dates, fold_name, stem_of};

use crate::paths;

/// Find files and folders by name or time, at any depth, sorted by path.
///
/// Example: `{"name": "*plan*"}`
/// Example (files of a week): `{"type": "file", "newer": "-7d"}`
#[args]
pub struct Find {
    /// The folder (default: vault root).
    pub path: Option<String>,
    /// A name or glob, case-insensitive: `plan`, `*.png`, `{a,b}*`; with `/` it matches the whole path.
    pub name: Option<String>,
    /// Default: both.
    #[serde(rename = "type")]
    pub kind: Option<FileType>,
    /// Only files changed since: `2024-05-31`, `today`, `-7d`, `-12h`.
    pub newer: Option<String>,
    /// Page size, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// A file or a folder.
#[args]
#[derive(Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub enum FileType {
    File,
    Folder,
}

impl Action for Find {
    type Output = Listed;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Listed> {
        let span = Span::new(self.limit, self.cursor.as_deref())?;
        let filter = self.filter(vault)?;
        let path = paths::folder(self.path.as_deref())?;
        let mut entries = match vault.entry(&path)? {
            Some(file) if file.kind == Kind::File => vec![file],
            _ => vault.list_all(&path, true)?,
        };
        entries.retain(|entry| filter.matches(entry));
        Ok(Listed::of(entries, span, false, self.newer.is_some()))
    }
}

impl Find {
    fn filter(&self, vault: &Vault) -> Result<EntryFilter> {
        let since = match &self.newer {
            None => None,
            Some(newer) => {
                let range = dates::parse_time_range(newer, &vault.now()).ok_or_else(|| {
                    Error::validation(format!(
                        "invalid `newer` `{newer}`: expected {}",
                        dates::TIME_FORMATS
                    ))
                })?;
                Some(range.from)
            }
        };
        Ok(EntryFilter {
            name: self.name.as_deref().map(NameGlob::parse).transpose()?,
            kind: self.kind.map(|kind| match kind {
                FileType::File => Kind::File,
                FileType::Folder => Kind::Folder,
            }),
            since,
        })
    }
}

/// The conditions that an entry must match.
struct EntryFilter {
    name: Option<NameGlob>,
    kind: Option<Kind>,
    /// Milliseconds since 1970.
    since: Option<u64>,
}

impl EntryFilter {
    fn matches(&self, entry: &Entry) -> bool {
        self.kind.is_none_or(|kind| kind == entry.kind)
            // Folders have no modification time.
            && self
                .since
                .is_none_or(|since| entry.kind == Kind::File && entry.modified >= since)
            && self.name.as_ref().is_none_or(|name| name.matches(&entry.path))
    }
}

/// A name pattern.
struct NameGlob {
    glob: Glob,
    /// Whether it matches whole paths.
    is_path: bool,
}

impl NameGlob {
    fn parse(name: &str) -> Result<NameGlob> {
        let name = name.trim();
        if name.is_empty() {
            return Err(Error::validation(
                "`name` is empty: omit it to match every name",
            ));
        }
        let name = name.strip_prefix("./").unwrap_or(name);
        let is_path = name.contains('/');
        let name = name.trim_matches('/');
        let text = match is_glob(name) {
            true => name.to_owned(),
            false => escape(name),
        };
        Ok(NameGlob {
            glob: glob(&text)?,
            is_path,
        })
    }

    /// A note also matches by its name without `.md`.
    fn matches(&self, path: &str) -> bool {
        if self.is_path {
            return self.glob.is_match(&fold_name(path));
        }
        self.glob.is_match(&fold_name(file_name(path)))
            || self.glob.is_match(&fold_name(stem_of(path)))
    }
}
