//! Reading notebooks: `list`, `get`, `permissions`.

use notehost_sdk::{Kind, prelude::*};

use crate::contents::{Contents, counted, format_size};
use crate::notebook_name::NotebookName;
use crate::paging::{self, Page, page};
use crate::settings::{Settings, Sort};

/// A notebook.
#[reply]
pub struct Notebook {
    /// Its name; `.` for the root.
    pub notebook: String,
    /// Its folder in the vault; empty for the root.
    pub path: String,
    /// Your access: `r` read, `rw` also write, `rwd` also remove.
    pub access: String,
    /// Number of notes (`.md`) in it and its folders.
    pub notes: u64,
    /// Number of folders in it.
    pub folders: u64,
    /// Number of other files: images, PDFs.
    pub files: u64,
    /// Total size of its files in bytes.
    pub size: u64,
    /// An emoji or short text.
    pub icon: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// The sort order of `children`.
    pub sort: Sort,
}

impl Notebook {
    fn new(vault: &Vault, name: &NotebookName, contents: Contents) -> Result<Notebook> {
        let settings = Settings::load(vault, name.as_str())?;
        Ok(Notebook {
            notebook: name.as_str().to_owned(),
            path: name.path().to_owned(),
            access: name.access(vault).as_str().to_owned(),
            notes: contents.notes,
            folders: contents.folders,
            files: contents.files,
            size: contents.size,
            icon: settings.icon,
            description: settings.description,
            sort: settings.sort.unwrap_or_default(),
        })
    }

    /// On one line: `📘 Work (rw): 12 notes, 3 folders, 1 file, 40.2 kB – what it is for`.
    fn line(&self) -> String {
        let mut counts = vec![counted(self.notes, "note")];
        if self.folders > 0 {
            counts.push(counted(self.folders, "folder"));
        }
        if self.files > 0 {
            counts.push(counted(self.files, "file"));
        }
        counts.push(format_size(self.size));
        let icon = self.icon.as_ref().map(|icon| format!("{icon} "));
        let description = self.description.as_ref().map(|text| {
            let line = text.lines().next().unwrap_or_default();
            format!(" – {line}")
        });
        format!(
            "{}{} ({}): {}{}",
            icon.unwrap_or_default(),
            self.notebook,
            self.access,
            counts.join(", "),
            description.unwrap_or_default()
        )
    }
}

/// List all notebooks (top-level folders) with icon, description, counts of notes, folders and files, size, and your
/// access to each. Start here to learn what a vault contains.
///
/// Example: `{}`
#[args]
pub struct List {
    /// Page size, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// Notebooks, sorted by name.
#[reply]
pub struct NotebookPage {
    /// The notebooks; `.`, the vault root, comes first if it contains files.
    pub items: Vec<Notebook>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Total number of items.
    pub total: usize,
}

impl Action for List {
    type Output = NotebookPage;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<NotebookPage> {
        let names = NotebookName::all(vault)?;
        let page = name_page(names, self.limit, &self.cursor)?;
        let entries = vault.list_all("", true)?;
        let contents = Contents::by_notebook(&entries);
        let items = page.items.iter().map(|name| {
            let contents = contents.get(name.as_str()).copied().unwrap_or_default();
            Notebook::new(vault, name, contents)
        });
        Ok(NotebookPage {
            items: items.collect::<Result<_>>()?,
            next_cursor: page.next,
            total: page.total,
        })
    }

    fn text(page: &NotebookPage) -> String {
        let lines = page.items.iter().map(Notebook::line).collect();
        match page.total {
            0 => "no notebooks yet: use `create`".to_owned(),
            total => page_text(lines, total, &page.next_cursor),
        }
    }
}

/// Get one notebook: counts of notes, folders and files, size in bytes, icon, description, sort order, and your access to
/// it.
///
/// Example: `{"notebook": "Garden"}`
#[args]
pub struct Get {
    /// The notebook's name, such as `Work`; `.` for the notes in the vault root.
    pub notebook: String,
}

impl Action for Get {
    type Output = Notebook;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Notebook> {
        let name = NotebookName::find(vault, &self.notebook)?;
        let mut entries = vault.list_all(name.path(), !name.is_root())?;
        if name.is_root() {
            entries.retain(|entry| entry.kind == Kind::File);
        }
        Notebook::new(vault, &name, Contents::of(&entries))
    }

    fn text(notebook: &Notebook) -> String {
        notebook.line()
    }
}

/// Return your permissions in a notebook, or in all of them: read, write, remove. Only an admin can change them.
///
/// Example: `{"notebook": "Garden"}`
#[args]
pub struct Permissions {
    /// The notebook's name; `.` for the root (default: all notebooks).
    pub notebook: Option<String>,
    /// Page size, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// The caller's access to a notebook.
#[reply]
pub struct Permission {
    /// Its name; `.` for the root.
    pub notebook: String,
    /// Its folder in the vault; empty for the root.
    pub path: String,
    /// Access: `r`, `rw` or `rwd`.
    pub access: String,
    /// Whether you may create, change and rename.
    pub write: bool,
    /// Whether you may remove.
    pub remove: bool,
}

/// Permissions, sorted by notebook name.
#[reply]
pub struct PermissionPage {
    /// One item per notebook. Folders and notes in it can have narrower permissions.
    pub items: Vec<Permission>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Total number of items.
    pub total: usize,
}

impl Action for Permissions {
    type Output = PermissionPage;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<PermissionPage> {
        let names = match &self.notebook {
            Some(name) => vec![NotebookName::find(vault, name)?],
            None => NotebookName::all(vault)?,
        };
        let page = name_page(names, self.limit, &self.cursor)?;
        let permissions = page.items.iter().map(|name| {
            let access = name.access(vault);
            Permission {
                notebook: name.as_str().to_owned(),
                path: name.path().to_owned(),
                access: access.as_str().to_owned(),
                write: access >= Tier::Write,
                remove: access >= Tier::Delete,
            }
        });
        Ok(PermissionPage {
            items: permissions.collect(),
            next_cursor: page.next,
            total: page.total,
        })
    }

    fn text(page: &PermissionPage) -> String {
        let lines = page.items.iter().map(Permission::line).collect();
        match page.total {
            0 => "no notebooks yet".to_owned(),
            total => page_text(lines, total, &page.next_cursor),
        }
    }
}

impl Permission {
    fn line(&self) -> String {
        let rights = match (self.write, self.remove) {
            (_, true) => "read, write, remove",
            (true, false) => "read, write; no remove",
            (false, false) => "read only",
        };
        format!("{}: {rights}", self.notebook)
    }
}

fn name_page(
    names: Vec<NotebookName>,
    limit: Option<usize>,
    cursor: &Option<String>,
) -> Result<Page<NotebookName>> {
    page(names, limit, cursor.as_deref(), NotebookName::as_str)
}

/// One line per item, and how many more there are.
fn page_text(lines: Vec<String>, total: usize, next_cursor: &Option<String>) -> String {
    let more = paging::more(lines.len(), total, next_cursor.as_ref());
    format!("{}{more}", lines.join("\n"))
}
