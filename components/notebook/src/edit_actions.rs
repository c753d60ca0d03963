//! Changing notebooks: `create`, `configure`, `rename`, `remove`. The host reports the changed files.

use notehost_sdk::{
    prelude::*,
    text::moving::{LinkLeft, move_with_links},
};

use crate::contents::counted;
use crate::notebook_name::{NotebookName, is_same, new_name};
use crate::settings::{Settings, Sort};

/// Maximum number of trash ids in a reply; the remaining files are in the trash as well.
const MAX_TRASH_IDS: usize = 100;

/// Create a new, empty notebook (top-level folder), with an optional icon and description.
///
/// Example: `{"notebook": "Recipes", "icon": "🍲", "description": "What to cook when they come"}`
#[args]
pub struct Create {
    /// The new notebook's name, without `/`.
    pub notebook: String,
    /// An emoji or short text.
    pub icon: Option<String>,
    /// What the notebook is for.
    pub description: Option<String>,
}

/// A notebook and its settings.
#[reply]
pub struct NotebookSettings {
    /// Its name.
    pub notebook: String,
    /// Its folder in the vault; empty for the root.
    pub path: String,
    /// Its icon.
    pub icon: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// The sort order of `children`.
    pub sort: Sort,
}

impl NotebookSettings {
    fn new(name: &str, path: &str, settings: Settings) -> NotebookSettings {
        NotebookSettings {
            notebook: name.to_owned(),
            path: path.to_owned(),
            icon: settings.icon,
            description: settings.description,
            sort: settings.sort.unwrap_or_default(),
        }
    }

    /// The icon and the name: `📘 Work`.
    fn title(&self) -> String {
        match &self.icon {
            Some(icon) => format!("{icon} {}", self.notebook),
            None => self.notebook.clone(),
        }
    }
}

impl Action for Create {
    type Output = NotebookSettings;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<NotebookSettings> {
        let name = new_name(&self.notebook)?;
        let mut settings = Settings::default();
        settings.update(self.icon, self.description)?;
        vault.create_folder(name)?;
        let path = vault.stat(name)?.path;
        // Also clears the settings of an earlier notebook of this name that another program removed.
        settings.save(vault, &path)?;
        Ok(NotebookSettings::new(&path, &path, settings))
    }

    fn text(created: &NotebookSettings) -> String {
        format!("created the notebook {}", created.title())
    }
}

/// Set a notebook's icon, description or sort order. Omitted settings stay unchanged; an empty string removes the icon or
/// description. Notes are not changed.
///
/// Example: `{"notebook": "Garden", "icon": "🌱", "sort": "newest"}`
#[args]
pub struct Configure {
    /// The notebook's name, such as `Work`; `.` for the root.
    pub notebook: String,
    /// An emoji or short text, up to 32 characters.
    pub icon: Option<String>,
    /// What the notebook is for, up to 2000 characters.
    pub description: Option<String>,
    /// The sort order of `children`.
    pub sort: Option<Sort>,
}

impl Action for Configure {
    type Output = NotebookSettings;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<NotebookSettings> {
        if self.icon.is_none() && self.description.is_none() && self.sort.is_none() {
            return Err(Error::validation(
                "nothing to set: pass `icon`, `description` or `sort`",
            ));
        }
        let name = NotebookName::find(vault, &self.notebook)?;
        name.require_write(vault)?;
        let mut settings = Settings::load(vault, name.as_str())?;
        settings.update(self.icon, self.description)?;
        settings.sort = self.sort.or(settings.sort);
        settings.save(vault, name.as_str())?;
        Ok(NotebookSettings::new(name.as_str(), name.path(), settings))
    }

    fn text(configured: &NotebookSettings) -> String {
        match &configured.description {
            Some(description) => format!("{} – {description}", configured.title()),
            None => configured.title(),
        }
    }
}

/// Rename a notebook. Its notes move with it; links, embeds and Markdown links to them are rewritten in every note you
/// may write; icon, description and sort order stay. Links that cannot be rewritten are listed in `links_left`: use
/// `dry_run` first to see them.
///
/// Example: `{"notebook": "Journal", "to": "Diary"}`
#[args]
pub struct Rename {
    /// The notebook's current name.
    pub notebook: String,
    /// Its new name, without `/`.
    pub to: String,
}

/// A renamed notebook.
#[reply]
pub struct RenamedNotebook {
    /// Its new name.
    pub notebook: String,
    /// Its folder in the vault.
    pub path: String,
    /// Its old name.
    pub from: String,
    /// Number of files moved with it.
    pub files: usize,
    /// Number of rewritten links.
    pub links_rewritten: usize,
    /// Links that could not be rewritten.
    pub links_left: Vec<LinkLeft>,
}

impl Action for Rename {
    type Output = RenamedNotebook;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<RenamedNotebook> {
        let name = NotebookName::find_folder(vault, &self.notebook, "renamed")?;
        let to = new_name(&self.to)?;
        if to == name.as_str() {
            return Err(Error::validation(format!(
                "the notebook already has the name `{to}`"
            )));
        }
        if !is_same(to, name.as_str())
            && let Ok(taken) = vault.stat(to)
        {
            return Err(Error::already_exists(format!(
                "`{}` already exists",
                taken.path
            )));
        }
        let moved = move_with_links(vault, &[(name.as_str().to_owned(), to.to_owned())])?;
        let path = vault.stat(to)?.path;
        let settings = Settings::load(vault, name.as_str())?;
        if !is_same(to, name.as_str()) {
            Settings::delete(vault, name.as_str())?;
            settings.save(vault, &path)?;
        }
        Ok(RenamedNotebook {
            notebook: path.clone(),
            path,
            from: name.as_str().to_owned(),
            files: moved.files.len(),
            links_rewritten: moved.links_rewritten,
            links_left: moved.links_left,
        })
    }

    fn text(renamed: &RenamedNotebook) -> String {
        let mut text = format!(
            "renamed {} to {}: {} moved, {} rewritten",
            renamed.from,
            renamed.notebook,
            counted(renamed.files as u64, "file"),
            counted(renamed.links_rewritten as u64, "link")
        );
        if !renamed.links_left.is_empty() {
            let left = counted(renamed.links_left.len() as u64, "link");
            text.push_str(&format!("\n{left} could not be rewritten:"));
            for left in renamed.links_left.iter().take(10) {
                text.push_str(&format!(
                    "\n- {}:{}: {} ({})",
                    left.path, left.line, left.link, left.reason
                ));
            }
            let more = renamed.links_left.len().saturating_sub(10);
            if more > 0 {
                text.push_str(&format!("\n… and {more} more"));
            }
        }
        text
    }
}

/// Remove a notebook with all its notes, folders and files. They are moved to the trash; `document` `restore`
/// recovers them. Icon, description and sort order are deleted. Links to its notes are left unchanged.
///
/// Example: `{"notebook": "Journal"}`
#[args]
pub struct Remove {
    /// The notebook's name.
    pub notebook: String,
}

/// A removed notebook.
#[reply]
pub struct RemovedNotebook {
    /// Its name.
    pub notebook: String,
    /// Its path.
    pub path: String,
    /// Number of files moved to the trash.
    pub files: usize,
    /// Their trash ids, for `document` `restore`; the first 100.
    pub trash_ids: Vec<String>,
}

impl Action for Remove {
    type Output = RemovedNotebook;
    const EFFECT: Effect = Effect::Delete;

    fn run(self, vault: &Vault) -> Result<RemovedNotebook> {
        let name = NotebookName::find_folder(vault, &self.notebook, "removed")?;
        let mut trash_ids = vault.remove(name.path())?;
        Settings::delete(vault, name.as_str())?;
        let files = trash_ids.len();
        trash_ids.truncate(MAX_TRASH_IDS);
        Ok(RemovedNotebook {
            notebook: name.as_str().to_owned(),
            path: name.path().to_owned(),
            files,
            trash_ids,
        })
    }

    fn text(removed: &RemovedNotebook) -> String {
        let files = counted(removed.files as u64, "file");
        format!(
            "removed the notebook {}: {files} in the trash",
            removed.notebook
        )
    }
}
