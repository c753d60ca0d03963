//! Which notes use which files: the files of a note, unused and missing files. The index provides links; canvases, HTML
//! and properties are checked in addition, so that no file in use is reported as unused.

mod unused;

use notehost_sdk::index::{Building, UnresolvedQuery, building, unfinished};
use notehost_sdk::pages::{Span, counted};
use notehost_sdk::prelude::*;
use notehost_sdk::text::links::{self, Names};
use notehost_sdk::{Code, Tier, is_note};

use crate::file_type::{self, FileKind};
use crate::list::{FileItem, Files, assets, readable_size};
use crate::paths::{file_name, folder};

/// The caveat of replies about unused files.
const CAVEAT: &str = "links in notes that this caller may not read are not considered";
/// The maximum number of unused files to remove per call.
const MAX_REMOVED: usize = 500;
/// The maximum number of places per missing file.
const MAX_PLACES: u32 = 1000;

/// List the files that a note embeds or links to, and whether they exist.
///
/// Example: `{"path": "Coffee/Gear"}`
#[args]
pub struct Of {
    /// The note.
    pub path: String,
    /// 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// The files of a note.
#[reply]
pub struct FilesOf {
    /// The note.
    pub note: String,
    /// Its links to files, in order.
    pub items: Vec<FileLink>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Number of results on all pages.
    pub total: u64,
}

/// A link to a file.
#[reply]
pub struct FileLink {
    /// The file; if it is missing, the target as written.
    pub path: String,
    /// Whether it exists.
    pub exists: bool,
    /// Whether it is embedded.
    pub embedded: bool,
    /// The line number in the note, from 1.
    pub line: usize,
    /// The kind, by name.
    pub kind: FileKind,
    /// Size in bytes, if it exists.
    pub size: Option<u64>,
}

impl Action for Of {
    type Output = FilesOf;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<FilesOf> {
        let span = Span::new(self.limit, self.cursor.as_deref())?;
        let note = vault.read_note(&self.path)?;
        let names = Names::new(vault.files()?);
        let mut used: Vec<FileLink> = links::parse(&note.text)
            .into_iter()
            .filter(|link| !link.external && !link.target.is_empty())
            .filter_map(|link| {
                let found = names.resolve(&note.path, &link.target);
                let path = match found {
                    Some(found) => found.path.to_owned(),
                    None => link.target.clone(),
                };
                // A broken link counts as a file link if it has a known file extension.
                let is_file = match found {
                    Some(_) => !is_note(&path),
                    None => file_type::known(&path).is_some(),
                };
                is_file.then(|| FileLink {
                    exists: found.is_some(),
                    embedded: matches!(link.kind, links::Kind::Embed | links::Kind::Image),
                    line: link.line,
                    kind: file_type::by_name(&path).kind,
                    size: None,
                    path,
                })
            })
            .collect();
        used.sort_by_key(|file| file.line);
        let total = used.len() as u64;
        let (mut items, next_cursor) = span.of(used);
        for file in items.iter_mut().filter(|file| file.exists) {
            file.size = vault.stat(&file.path).ok().map(|entry| entry.size);
        }
        Ok(FilesOf {
            note: note.path,
            items,
            next_cursor,
            total,
        })
    }

    fn text(output: &FilesOf) -> String {
        let first = match output.total {
            0 => format!("`{}` uses no files", output.note),
            total => format!("`{}` uses {}:", output.note, counted(total, "file")),
        };
        ReplyText::new(first)
            .lines(&output.items, |file| {
                let state = match (file.exists, file.size) {
                    (false, _) => "missing".to_owned(),
                    (true, Some(size)) => readable_size(size),
                    (true, None) => "exists".to_owned(),
                };
                let how = if file.embedded { "embedded" } else { "linked" };
                format!("line {}: {how} {}, {state}", file.line, file.path)
            })
            .more(&output.next_cursor)
            .into()
    }
}

/// List files that no note, canvas, HTML or property uses.
///
/// Example: `{}`
#[args]
pub struct Unused {
    /// Folder (recursive).
    pub path: Option<String>,
    /// Only these kinds.
    pub kinds: Option<Vec<FileKind>>,
    /// 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// A page of unused files.
#[reply]
pub struct UnusedFiles {
    /// The files, by path.
    pub items: Vec<FileItem>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Number of results on all pages.
    pub total: u64,
    /// Total size of all pages in bytes.
    pub total_size: u64,
    /// The limits of this result.
    pub caveat: String,
    /// Progress of the index, if it is being built: used files may be listed.
    pub building: Option<Building>,
}

impl Action for Unused {
    type Output = UnusedFiles;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<UnusedFiles> {
        let span = Span::new(self.limit, self.cursor.as_deref())?;
        let files = assets(vault, self.path.as_deref(), self.kinds.as_deref())?;
        let page = Files::page(unused::unused_files(vault, files)?, &span);
        Ok(UnusedFiles {
            items: page.items,
            next_cursor: page.next_cursor,
            total: page.total,
            total_size: page.total_size,
            caveat: CAVEAT.to_owned(),
            building: building(vault),
        })
    }

    fn text(output: &UnusedFiles) -> String {
        let files = Files {
            items: output.items.clone(),
            next_cursor: output.next_cursor.clone(),
            total: output.total,
            total_size: output.total_size,
        };
        let text = files.sentence("no unused files", "unused file");
        format!(
            "{text}\n{}{}",
            output.caveat,
            unfinished(output.building.as_ref())
        )
    }
}

/// Remove the files that `unused` lists: moves them to the trash.
///
/// Example: `{"kinds": ["image"]}`
#[args]
pub struct RemoveUnused {
    /// Folder (recursive).
    pub path: Option<String>,
    /// Only these kinds.
    pub kinds: Option<Vec<FileKind>>,
}

/// The result of removing unused files.
#[reply]
pub struct RemoveUnusedResult {
    /// The removed files.
    pub paths: Vec<String>,
    /// For `document.restore`, in the same order.
    pub trash_ids: Vec<String>,
    /// Their total size in bytes.
    pub size: u64,
    /// Unused files without delete permission.
    pub kept: Vec<String>,
    /// Number of remaining unused files: call again.
    pub left: usize,
    /// The limits of this result.
    pub caveat: String,
}

impl Action for RemoveUnused {
    type Output = RemoveUnusedResult;
    const EFFECT: Effect = Effect::Delete;

    fn run(self, vault: &Vault) -> Result<RemoveUnusedResult> {
        let files = assets(vault, self.path.as_deref(), self.kinds.as_deref())?;
        let unused = unused::unused_files(vault, files)?;
        // Check last: the queries above may have started the build of the index.
        if building(vault).is_some() {
            return Err(Error::new(
                Code::Unavailable,
                "the index is being built, so used files may look unused: retry in a moment",
            ));
        }
        let (removable, kept): (Vec<_>, Vec<_>) = unused
            .into_iter()
            .partition(|entry| vault.access(&entry.path) >= Tier::Delete);
        let left = removable.len().saturating_sub(MAX_REMOVED);
        let mut removed = RemoveUnusedResult {
            paths: Vec::new(),
            trash_ids: Vec::new(),
            size: 0,
            kept: kept.into_iter().map(|entry| entry.path).collect(),
            left,
            caveat: CAVEAT.to_owned(),
        };
        for entry in removable.into_iter().take(MAX_REMOVED) {
            removed.trash_ids.extend(vault.remove(&entry.path)?);
            removed.size += entry.size;
            removed.paths.push(entry.path);
        }
        Ok(removed)
    }

    fn text(output: &RemoveUnusedResult) -> String {
        let mut text = match output.paths.len() {
            0 => "nothing to remove: no unused files".to_owned(),
            count => format!(
                "removed {}, {}; restore them with `document.restore`:",
                counted(count as u64, "unused file"),
                readable_size(output.size)
            ),
        };
        for (path, id) in output.paths.iter().zip(&output.trash_ids) {
            text.push_str(&format!("\n{path}  trash_id {id}"));
        }
        for path in &output.kept {
            text.push_str(&format!("\nkept, no delete permission: {path}"));
        }
        if output.left > 0 {
            text.push_str(&format!("\n{} more: call again", output.left));
        }
        format!("{text}\n{}", output.caveat)
    }
}

/// List links and embeds of files that do not exist, with note and line.
///
/// Example: `{}`
#[args]
pub struct Missing {
    /// Folder (recursive).
    pub path: Option<String>,
    /// 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// A page of links to missing files.
#[reply]
pub struct MissingFiles {
    /// The links, by note and line.
    pub items: Vec<MissingFile>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Number of results on all pages.
    pub total: u64,
    /// Progress of the index, if it is being built.
    pub building: Option<Building>,
}

/// A link to a missing file.
#[reply]
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub struct MissingFile {
    /// The note.
    pub path: String,
    /// The line number in the file, from 1.
    pub line: u32,
    /// The target as written.
    pub target: String,
    /// Files with the same name in other folders.
    pub elsewhere: Vec<String>,
}

impl Action for Missing {
    type Output = MissingFiles;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<MissingFiles> {
        let span = Span::new(self.limit, self.cursor.as_deref())?;
        let under = folder(vault, self.path.as_deref())?;
        let names = Names::new(vault.files()?);
        let mut links: Vec<MissingFile> = Vec::new();
        for missing in vault.all_unresolved(UnresolvedQuery {
            under,
            places: MAX_PLACES,
            ..UnresolvedQuery::default()
        }) {
            let missing = missing?;
            if file_type::known(&missing.target).is_none() {
                continue;
            }
            let elsewhere: Vec<String> = names
                .matching(file_name(&missing.target))
                .into_iter()
                .take(3)
                .map(str::to_owned)
                .collect();
            links.extend(missing.places.into_iter().map(|place| MissingFile {
                path: place.path,
                line: place.line,
                target: missing.target.clone(),
                elsewhere: elsewhere.clone(),
            }));
        }
        links.sort();
        let total = links.len() as u64;
        let (items, next_cursor) = span.of(links);
        Ok(MissingFiles {
            items,
            next_cursor,
            total,
            building: building(vault),
        })
    }

    fn text(output: &MissingFiles) -> String {
        let first = match output.total {
            0 => "no links to missing files".to_owned(),
            total => format!("{} to missing files:", counted(total, "link")),
        };
        let line = |link: &MissingFile| {
            let elsewhere = (!link.elsewhere.is_empty()).then(|| link.elsewhere.join(", "));
            ReplyText::new(format!("{}:{}  {}", link.path, link.line, link.target))
                .and(elsewhere.map(|files| format!(" (elsewhere: {files})")))
        };
        ReplyText::new(first)
            .lines(&output.items, line)
            .more(&output.next_cursor)
            .unfinished(&output.building)
            .into()
    }
}
