//! Listing the contents of a notebook as a tree: `children`.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use notehost_sdk::{Entry, Kind, fold_name, is_note, parent_of, prelude::*};

use crate::contents::{counted, format_size};
use crate::notebook_name::NotebookName;
use crate::paging::{self, page};
use crate::settings::{Settings, Sort};

/// Maximum `depth`.
const MAX_DEPTH: usize = 20;

/// List the contents of a notebook or one of its folders: notes, folders and files, in the notebook's sort order, each
/// folder followed by its contents down to `depth`.
///
/// Example: `{"notebook": "Garden"}`
#[args]
pub struct Children {
    /// The notebook's name, such as `Work`; `.` for the notes in the vault root.
    pub notebook: String,
    /// A folder in it: `Projects`, or with the notebook `Work/Projects` (default: the notebook).
    pub path: Option<String>,
    /// Number of levels, 1–20 (default 1).
    pub depth: Option<usize>,
    /// Page size, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// Kind of an item.
#[reply]
#[derive(Copy, PartialEq, Eq)]
pub enum ChildKind {
    /// A folder.
    Folder,
    /// A note: a `.md` file.
    Note,
    /// Another file.
    File,
}

/// An item in a notebook.
#[reply]
pub struct Child {
    /// Its path in the vault.
    pub path: String,
    /// Its kind.
    pub kind: ChildKind,
    /// Its level, from 1.
    pub depth: usize,
    /// File size in bytes.
    pub size: Option<u64>,
    /// Number of notes in a folder and its subfolders.
    pub notes: Option<u64>,
}

/// The contents of a notebook or folder.
#[reply]
pub struct ChildrenPage {
    /// The notebook.
    pub notebook: String,
    /// The listed folder; empty for the root.
    pub path: String,
    /// Its contents.
    pub items: Vec<Child>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Total number of items.
    pub total: usize,
}

impl Action for Children {
    type Output = ChildrenPage;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<ChildrenPage> {
        let depth = match self.depth.unwrap_or(1) {
            depth @ 1..=MAX_DEPTH => depth,
            depth => {
                return Err(Error::validation(format!(
                    "invalid `depth` `{depth}`: expected 1 to {MAX_DEPTH}"
                )));
            }
        };
        let name = NotebookName::find(vault, &self.notebook)?;
        let folder = self.folder(vault, &name)?;
        let sort = Settings::load(vault, name.as_str())?
            .sort
            .unwrap_or_default();
        let mut entries = vault.list_all(&folder, !name.is_root())?;
        if name.is_root() {
            entries.retain(|entry| entry.kind == Kind::File);
        }
        let children = Tree::new(&entries).flatten(&folder, depth, sort);
        let page = page(children, self.limit, self.cursor.as_deref(), |child| {
            &child.path
        })?;
        Ok(ChildrenPage {
            notebook: name.as_str().to_owned(),
            path: folder,
            items: page.items,
            next_cursor: page.next,
            total: page.total,
        })
    }

    fn text(page: &ChildrenPage) -> String {
        if page.total == 0 {
            let place = if page.path.is_empty() {
                "."
            } else {
                &page.path
            };
            return format!("`{place}` is empty");
        }
        let lines: Vec<String> = page.items.iter().map(Child::line).collect();
        let more = paging::more(page.items.len(), page.total, page.next_cursor.as_ref());
        format!("{}{more}", lines.join("\n"))
    }
}

impl Children {
    /// The requested folder, in the spelling of the vault.
    fn folder(&self, vault: &Vault, name: &NotebookName) -> Result<String> {
        let requested = self.path.as_deref().unwrap_or_default().trim();
        let requested = requested.trim_end_matches('/');
        if requested.is_empty()
            || requested == "."
            || fold_name(requested) == fold_name(name.path())
        {
            return Ok(name.path().to_owned());
        }
        if name.is_root() {
            return Err(Error::validation(format!(
                "the notebook `.` has no folders: `{requested}` belongs to another notebook"
            )));
        }
        let is_full_path =
            fold_name(requested).starts_with(&format!("{}/", fold_name(name.path())));
        let within = format!("{}/{requested}", name.path());
        // A folder can have the name of its notebook; the full path from the vault root has precedence.
        let candidates = if is_full_path {
            vec![requested, &within]
        } else {
            vec![within.as_str()]
        };
        for candidate in candidates {
            let Some(entry) = vault.entry(candidate)? else {
                continue;
            };
            return match entry.kind {
                Kind::Folder => Ok(entry.path),
                Kind::File => Err(Error::validation(format!(
                    "`{}` is a file, not a folder",
                    entry.path
                ))),
            };
        }
        Err(Error::not_found(format!(
            "no folder `{requested}` in the notebook `{}`",
            name.as_str()
        )))
    }
}

impl Child {
    /// On one line, indented: `Projects/ (3 notes)`, `Plan.md (1.2 kB)`.
    fn line(&self) -> String {
        let indent = "  ".repeat(self.depth - 1);
        let name = self.path.rsplit('/').next().unwrap_or(&self.path);
        match self.kind {
            ChildKind::Folder => {
                format!(
                    "{indent}{name}/ ({})",
                    counted(self.notes.unwrap_or(0), "note")
                )
            }
            ChildKind::Note | ChildKind::File => {
                format!("{indent}{name} ({})", format_size(self.size.unwrap_or(0)))
            }
        }
    }
}

/// Entries by parent folder.
struct Tree<'e> {
    by_folder: BTreeMap<&'e str, Vec<&'e Entry>>,
    notes_below: BTreeMap<&'e str, u64>,
}

impl<'e> Tree<'e> {
    fn new(entries: &'e [Entry]) -> Tree<'e> {
        let mut tree = Tree {
            by_folder: BTreeMap::new(),
            notes_below: BTreeMap::new(),
        };
        for entry in entries {
            let mut folder = parent_of(&entry.path);
            tree.by_folder.entry(folder).or_default().push(entry);
            if entry.kind == Kind::File && is_note(&entry.path) {
                while !folder.is_empty() {
                    *tree.notes_below.entry(folder).or_default() += 1;
                    folder = parent_of(folder);
                }
            }
        }
        tree
    }

    /// The contents of a folder in depth-first order.
    fn flatten(mut self, folder: &str, depth: usize, sort: Sort) -> Vec<Child> {
        for children in self.by_folder.values_mut() {
            children.sort_by(|one, other| compare(one, other, sort));
        }
        let mut children = Vec::new();
        self.push_children(folder, 1, depth, &mut children);
        children
    }

    fn push_children(&self, folder: &str, level: usize, depth: usize, children: &mut Vec<Child>) {
        for entry in self.by_folder.get(folder).into_iter().flatten() {
            let is_folder = entry.kind == Kind::Folder;
            children.push(Child {
                path: entry.path.clone(),
                kind: match entry.kind {
                    Kind::Folder => ChildKind::Folder,
                    Kind::File if is_note(&entry.path) => ChildKind::Note,
                    Kind::File => ChildKind::File,
                },
                depth: level,
                size: (!is_folder).then_some(entry.size),
                notes: is_folder.then(|| {
                    self.notes_below
                        .get(entry.path.as_str())
                        .copied()
                        .unwrap_or(0)
                }),
            });
            if is_folder && level < depth {
                self.push_children(&entry.path, level + 1, depth, children);
            }
        }
    }
}

/// Folders come first. They have no time or size, so those orders sort them by name.
fn compare(one: &Entry, other: &Entry, sort: Sort) -> Ordering {
    let by_name = || {
        let names = fold_name(&one.path).cmp(&fold_name(&other.path));
        names.then_with(|| one.path.cmp(&other.path))
    };
    let are_files = match (one.kind, other.kind) {
        (Kind::Folder, Kind::File) => return Ordering::Less,
        (Kind::File, Kind::Folder) => return Ordering::Greater,
        (Kind::File, Kind::File) => true,
        (Kind::Folder, Kind::Folder) => false,
    };
    let first = match sort {
        Sort::NameReversed => by_name().reverse(),
        Sort::Newest if are_files => other.modified.cmp(&one.modified),
        Sort::Oldest if are_files => one.modified.cmp(&other.modified),
        Sort::Largest if are_files => other.size.cmp(&one.size),
        Sort::Name | Sort::Newest | Sort::Oldest | Sort::Largest => Ordering::Equal,
    };
    first.then_with(by_name)
}
