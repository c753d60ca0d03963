//! The trash: `remove`, `restore`, `trash`.

use notehost_sdk::pages::{Span, more};
use notehost_sdk::prelude::*;
use notehost_sdk::text::links::Detachment;
use notehost_sdk::text::moving::LinkLeft;

use crate::backlinks::Backlinks;
use crate::naming::{destination, new_note};
use notehost_sdk::dates::Moment;
use notehost_sdk::documents::moving::sentence;

/// Remove notes: they go to the trash; `restore` recovers them.
///
/// Example: `{"paths": ["Garden/Compost"]}`
/// Example (and the links to it): `{"paths": ["Garden/Compost"], "links": "unlink"}`
#[args]
pub struct Remove {
    /// The notes: paths, unique names or `[[links]]`.
    pub paths: Vec<String>,
    /// Links to them in other notes (default `keep`):
    pub links: Option<LinkHandling>,
}

/// What to do with links to a removed note.
#[args]
#[derive(Copy)]
pub enum LinkHandling {
    /// leave unchanged.
    Keep,
    /// turn into `~~struck text~~`.
    Mark,
    /// turn into plain text.
    Unlink,
}

/// The result of a removal.
#[reply]
pub struct RemovedNotes {
    /// The removed notes.
    pub paths: Vec<String>,
    /// Trash ids for `restore`, in the same order.
    pub trash_ids: Vec<String>,
    /// Number of links changed in other notes.
    pub links_rewritten: usize,
    /// Links to them that could not be changed and are now broken; not reported with `keep`.
    pub links_left: Vec<LinkLeft>,
}

impl Action for Remove {
    type Output = RemovedNotes;
    const EFFECT: Effect = Effect::Delete;

    fn run(self, vault: &Vault) -> Result<RemovedNotes> {
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
        let detachment = match self.links.unwrap_or(LinkHandling::Keep) {
            LinkHandling::Keep => Detachment::Keep,
            LinkHandling::Mark => Detachment::Mark,
            LinkHandling::Unlink => Detachment::Unlink,
        };
        let (links_rewritten, links_left) = match detachment {
            Detachment::Keep => (0, Vec::new()),
            how => Backlinks::to(vault, &paths)?.detach(how)?,
        };
        let mut trash_ids = Vec::new();
        for path in &paths {
            trash_ids.extend(vault.remove(path)?);
        }
        Ok(RemovedNotes {
            paths,
            trash_ids,
            links_rewritten,
            links_left,
        })
    }

    fn text(output: &RemovedNotes) -> String {
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
    /// A new path or name for it.
    pub to: Option<String>,
}

/// A restored note.
#[reply]
pub struct RestoredNote {
    /// Its path.
    pub path: String,
}

impl Action for Restore {
    type Output = RestoredNote;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<RestoredNote> {
        let to = match &self.to {
            None => None,
            // A name without a folder refers to the note's original folder.
            Some(to) => Some(match trashed_path(vault, &self.trash_id)? {
                Some(path) => destination(&path, to)?,
                None => new_note(to)?,
            }),
        };
        Ok(RestoredNote {
            path: vault.restore(&self.trash_id, to.as_deref())?,
        })
    }

    fn text(output: &RestoredNote) -> String {
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

/// List the items in the trash, newest first.
///
/// Example: `{}`
#[args]
pub struct Trash {
    /// Page size, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// Items in the trash.
#[reply]
pub struct TrashPage {
    /// The removed files, newest first.
    pub items: Vec<TrashItem>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
}

/// A removed file.
#[reply]
pub struct TrashItem {
    /// Trash id, for `restore`.
    pub trash_id: String,
    /// Its original path.
    pub path: String,
    /// Size in bytes.
    pub size: u64,
    /// When it was removed.
    pub removed: String,
}

impl Action for Trash {
    type Output = TrashPage;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<TrashPage> {
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
        Ok(TrashPage { items, next_cursor })
    }

    fn text(output: &TrashPage) -> String {
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
