//! Which notes use which files: what a note shows, what nothing uses, what is used and not there. Links are the index's
//! affair; what it does not see as a link (canvases, HTML, properties) is looked at here, so that nothing in use is called
//! unused.

mod uses;

use notehost_sdk::index::{Building, UnresolvedQuery, building, unfinished};
use notehost_sdk::pages::{Span, counted, more};
use notehost_sdk::prelude::*;
use notehost_sdk::text::links::{self, Names};
use notehost_sdk::{Code, Tier, is_note};

use crate::kinds::{self, FileKind};
use crate::listing::{FileTold, Files, assets, readable_size};
use crate::places::{file_name, folder};

/// What an answer about unused files cannot know.
const CAVEAT: &str = "links in notes that this caller may not read are not known";
/// How many unused files one call removes.
const MOST_REMOVED: usize = 500;
/// How many places of one missing file are told.
const MOST_PLACES: u32 = 1000;

/// The files that a note embeds or links to, and whether they are there.
///
/// Example: `{"path": "Coffee/Gear"}`
#[args]
pub struct Of {
    /// The note.
    pub path: String,
    /// 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// The files of a note.
#[reply]
pub struct FilesOf {
    /// The note.
    pub note: String,
    /// Its links to files, in their order.
    pub items: Vec<FileUsed>,
    /// For the next page.
    pub next_cursor: Option<String>,
    /// How many there are on all pages.
    pub total: u64,
}

/// A link to a file.
#[reply]
pub struct FileUsed {
    /// The file; if it is not there, as the link has it.
    pub path: String,
    /// Whether it is there.
    pub exists: bool,
    /// Whether it is shown in place.
    pub embedded: bool,
    /// The line of the note, from 1.
    pub line: usize,
    /// By its name.
    pub kind: FileKind,
    /// In bytes, if it is there.
    pub size: Option<u64>,
}

impl Action for Of {
    type Output = FilesOf;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<FilesOf> {
        let span = Span::new(self.limit, self.cursor.as_deref())?;
        let note = vault.read_note(&self.path)?;
        let names = Names::new(vault.files()?);
        let mut used: Vec<FileUsed> = links::parse(&note.text)
            .into_iter()
            .filter(|link| !link.external && !link.target.is_empty())
            .filter_map(|link| {
                let found = names.resolve(&note.path, &link.target);
                let path = match found {
                    Some(found) => found.path.to_owned(),
                    None => link.target.clone(),
                };
                // A link that leads nowhere is one to a file if its name says so.
                let is_file = match found {
                    Some(_) => !is_note(&path),
                    None => kinds::known(&path).is_some(),
                };
                is_file.then(|| FileUsed {
                    exists: found.is_some(),
                    embedded: matches!(link.kind, links::Kind::Embed | links::Kind::Image),
                    line: link.line,
                    kind: kinds::by_name(&path).kind,
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
        let mut text = match output.total {
            0 => format!("`{}` uses no files", output.note),
            total => format!("`{}` uses {}:", output.note, counted(total, "file")),
        };
        for file in &output.items {
            let state = match (file.exists, file.size) {
                (false, _) => "is not there".to_owned(),
                (true, Some(size)) => readable_size(size),
                (true, None) => "is there".to_owned(),
            };
            let how = if file.embedded { "embedded" } else { "linked" };
            text.push_str(&format!(
                "\nline {}: {} {}, {state}",
                file.line, how, file.path
            ));
        }
        text + &more(output.next_cursor.as_ref())
    }
}

/// List files that no note, canvas, HTML or property uses.
///
/// Example: `{}`
#[args]
pub struct Unused {
    /// Only in this folder and below.
    pub path: Option<String>,
    /// Only these kinds.
    pub kinds: Option<Vec<FileKind>>,
    /// 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// Files that nothing uses.
#[reply]
pub struct UnusedFiles {
    /// The files, by path.
    pub items: Vec<FileTold>,
    /// For the next page.
    pub next_cursor: Option<String>,
    /// How many there are on all pages.
    pub total: u64,
    /// In bytes, of all pages.
    pub total_size: u64,
    /// What could not be known.
    pub caveat: String,
    /// How far the index is, if it is being built: then files may be wrongly here.
    pub building: Option<Building>,
}

impl Action for Unused {
    type Output = UnusedFiles;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<UnusedFiles> {
        let span = Span::new(self.limit, self.cursor.as_deref())?;
        let files = assets(vault, self.path.as_deref(), self.kinds.as_deref())?;
        let page = Files::page(uses::unused(vault, files)?, &span);
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
        let text = files.sentence("every file is used", "unused file");
        format!(
            "{text}\n{}{}",
            output.caveat,
            unfinished(output.building.as_ref())
        )
    }
}

/// Remove the files that `unused` lists: they go to the trash.
///
/// Example: `{"kinds": ["image"]}`
#[args]
pub struct RemoveUnused {
    /// Only in this folder and below.
    pub path: Option<String>,
    /// Only these kinds.
    pub kinds: Option<Vec<FileKind>>,
}

/// What was removed.
#[reply]
pub struct UnusedRemoved {
    /// The files that went.
    pub paths: Vec<String>,
    /// For `document.restore`, in the same order.
    pub trash_ids: Vec<String>,
    /// How many bytes went.
    pub size: u64,
    /// Unused files that this caller may not remove.
    pub kept: Vec<String>,
    /// How many more there are: call again.
    pub left: usize,
    /// What could not be known.
    pub caveat: String,
}

impl Action for RemoveUnused {
    type Output = UnusedRemoved;
    const EFFECT: Effect = Effect::Delete;

    fn run(self, vault: &Vault) -> Result<UnusedRemoved> {
        let files = assets(vault, self.path.as_deref(), self.kinds.as_deref())?;
        let unused = uses::unused(vault, files)?;
        // Asked last: an index that nobody had asked before is only begun by the questions above.
        if building(vault).is_some() {
            return Err(Error::new(
                Code::Unavailable,
                "the index is being built, and until it is complete a used file may look unused: try again in a moment",
            ));
        }
        let (removable, kept): (Vec<_>, Vec<_>) = unused
            .into_iter()
            .partition(|entry| vault.access(&entry.path) >= Tier::Delete);
        let left = removable.len().saturating_sub(MOST_REMOVED);
        let mut removed = UnusedRemoved {
            paths: Vec::new(),
            trash_ids: Vec::new(),
            size: 0,
            kept: kept.into_iter().map(|entry| entry.path).collect(),
            left,
            caveat: CAVEAT.to_owned(),
        };
        for entry in removable.into_iter().take(MOST_REMOVED) {
            removed.trash_ids.extend(vault.remove(&entry.path)?);
            removed.size += entry.size;
            removed.paths.push(entry.path);
        }
        Ok(removed)
    }

    fn text(output: &UnusedRemoved) -> String {
        let mut text = match output.paths.len() {
            0 => "nothing to remove: every file is used".to_owned(),
            count => format!(
                "removed {}, {}; `document.restore` brings them back:",
                counted(count as u64, "unused file"),
                readable_size(output.size)
            ),
        };
        for (path, id) in output.paths.iter().zip(&output.trash_ids) {
            text.push_str(&format!("\n{path}  trash_id {id}"));
        }
        for path in &output.kept {
            text.push_str(&format!("\nkept, as this caller may not remove it: {path}"));
        }
        if output.left > 0 {
            text.push_str(&format!("\n{} more: call again", output.left));
        }
        format!("{text}\n{}", output.caveat)
    }
}

/// Links and embeds of files that are not there, with note and line.
///
/// Example: `{}`
#[args]
pub struct Missing {
    /// Only in this folder and below.
    pub path: Option<String>,
    /// 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// Links to files that are not there.
#[reply]
pub struct MissingFiles {
    /// The links, by note and line.
    pub items: Vec<MissingFile>,
    /// For the next page.
    pub next_cursor: Option<String>,
    /// How many there are on all pages.
    pub total: u64,
    /// How far the index is, if it is being built.
    pub building: Option<Building>,
}

/// A link to a file that is not there.
#[reply]
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub struct MissingFile {
    /// The note.
    pub path: String,
    /// The line of the file, from 1.
    pub line: u32,
    /// What the link names.
    pub target: String,
    /// Files of the same name in other places.
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
        let mut asked = UnresolvedQuery {
            under,
            offset: 0,
            limit: 500,
            places: MOST_PLACES,
        };
        loop {
            let page = vault.unresolved(&asked)?;
            asked.offset += page.items.len() as u64;
            let is_last = page.items.is_empty() || asked.offset >= page.total;
            for missing in page.items {
                if kinds::known(&missing.target).is_none() {
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
            if is_last {
                break;
            }
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
        let mut text = match output.total {
            0 => "no link to a file leads nowhere".to_owned(),
            total => format!("{} to files that are not there:", counted(total, "link")),
        };
        for link in &output.items {
            text.push_str(&format!("\n{}:{}  {}", link.path, link.line, link.target));
            if !link.elsewhere.is_empty() {
                text.push_str(&format!(" (there is {})", link.elsewhere.join(", ")));
            }
        }
        text + &more(output.next_cursor.as_ref()) + &unfinished(output.building.as_ref())
    }
}
