//! To the trash and back.

use notehost_sdk::prelude::*;
use notehost_sdk::text::links::Detachment;
use notehost_sdk::text::moving::LinkLeft;

use crate::backlinks::Backlinks;
use crate::naming::{destination, new_note};
use notehost_sdk::dates::Moment;
use notehost_sdk::documents::moving::sentence;
use notehost_sdk::pages::{Span, more};

/// Remove notes: they go to the trash, and `restore` brings them back.
///
/// Example: `{"paths": ["Garden/Compost"]}`
/// Example (and the links to it): `{"paths": ["Garden/Compost"], "links": "unlink"}`
#[args]
pub struct Remove {
    /// The notes: paths, unique names or `[[links]]`.
    pub paths: Vec<String>,
    /// Links to them in other notes (default `keep`):
    pub links: Option<Links>,
}

/// What becomes of links to a note that goes.
#[args]
#[derive(Copy)]
pub enum Links {
    /// stay as they are.
    Keep,
    /// become `~~struck text~~`.
    Mark,
    /// become plain text.
    Unlink,
}

/// What was removed.
#[reply]
pub struct Removed {
    /// The notes that went.
    pub paths: Vec<String>,
    /// For `restore`, in the same order.
    pub trash_ids: Vec<String>,
    /// How many links in other notes were changed.
    pub links_rewritten: usize,
    /// Links to them that stay and lead nowhere now; not looked for with `keep`.
    pub links_left: Vec<LinkLeft>,
}

impl Action for Remove {
    type Output = Removed;
    const EFFECT: Effect = Effect::Delete;

    fn run(self, vault: &Vault) -> Result<Removed> {
        if self.paths.is_empty() {
            return Err(Error::validation(
                "`paths` is empty: name at least one note",
            ));
        }
        let mut paths: Vec<String> = Vec::new();
        for name in &self.paths {
            let path = vault.find_note(name)?;
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        let how = match self.links.unwrap_or(Links::Keep) {
            Links::Keep => Detachment::Keep,
            Links::Mark => Detachment::Mark,
            Links::Unlink => Detachment::Unlink,
        };
        let (links_rewritten, links_left) = match how {
            Detachment::Keep => (0, Vec::new()),
            how => Backlinks::to(vault, &paths)?.detach(how)?,
        };
        let mut trash_ids = Vec::new();
        for path in &paths {
            trash_ids.extend(vault.remove(path)?);
        }
        Ok(Removed {
            paths,
            trash_ids,
            links_rewritten,
            links_left,
        })
    }

    fn text(output: &Removed) -> String {
        let mut text = String::new();
        for (path, id) in output.paths.iter().zip(&output.trash_ids) {
            text.push_str(&format!(
                "removed `{path}`; restore it with `trash_id` {id}\n"
            ));
        }
        text.push_str(&sentence(output.links_rewritten, &output.links_left));
        text.trim_end().to_owned()
    }
}

/// Restore a note from the trash.
///
/// Example: `{"trash_id": "068tmz9ky5r4x2"}`
#[args]
pub struct Restore {
    /// From `remove` or `trash`.
    pub trash_id: String,
    /// Another path or name for it.
    pub to: Option<String>,
}

/// What came back.
#[reply]
pub struct Restored {
    /// Where it is.
    pub path: String,
}

impl Action for Restore {
    type Output = Restored;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Restored> {
        let to = match &self.to {
            None => None,
            // A name alone means the folder that the note was in.
            Some(to) => Some(match trashed_path(vault, &self.trash_id)? {
                Some(path) => destination(&path, to)?,
                None => new_note(to)?,
            }),
        };
        Ok(Restored {
            path: vault.restore(&self.trash_id, to.as_deref())?,
        })
    }

    fn text(output: &Restored) -> String {
        format!("restored `{}`", output.path)
    }
}

fn trashed_path(vault: &Vault, id: &str) -> Result<Option<String>> {
    let trashed = vault.trash(None, u32::MAX)?;
    Ok(trashed
        .into_iter()
        .find(|item| item.id == id)
        .map(|item| item.path))
}

/// List what is in the trash, latest first.
///
/// Example: `{}`
#[args]
pub struct Trash {
    /// How many, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// Some of what is in the trash.
#[reply]
pub struct InTrash {
    /// What was removed, the latest first.
    pub items: Vec<TrashItem>,
    /// For the next page.
    pub next_cursor: Option<String>,
}

/// Something that was removed.
#[reply]
pub struct TrashItem {
    /// For `restore`.
    pub trash_id: String,
    /// Where it was.
    pub path: String,
    /// In bytes.
    pub size: u64,
    /// When it was removed.
    pub removed: String,
}

impl Action for Trash {
    type Output = InTrash;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<InTrash> {
        let span = Span::new(self.limit, self.cursor.as_deref())?;
        let items = vault
            .trash(None, span.needed())?
            .into_iter()
            .map(|item| TrashItem {
                trash_id: item.id,
                path: item.path,
                size: item.size,
                removed: Moment::at(item.removed).iso(),
            })
            .collect();
        let (items, next_cursor) = span.of(items);
        Ok(InTrash { items, next_cursor })
    }

    fn text(output: &InTrash) -> String {
        if output.items.is_empty() {
            return "the trash is empty".to_owned();
        }
        let lines = output
            .items
            .iter()
            .map(|item| format!("{}  {}  {}", item.trash_id, item.removed, item.path));
        lines.collect::<Vec<_>>().join("\n") + &more(output.next_cursor.as_ref())
    }
}
