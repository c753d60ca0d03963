//! Renaming, moving and copying notes: `rename`, `move`, `copy`.

use notehost_sdk::documents::moving::{Copied, Moved, copy, into_folder, relocate};
use notehost_sdk::prelude::*;

use crate::naming::{destination, folder};

/// Rename a note; links to it are rewritten everywhere.
///
/// Example: `{"path": "Garden/Compost", "to": "Worm bin"}`
#[args]
pub struct Rename {
    /// The note: path, unique name or `[[link]]`.
    pub path: String,
    /// A new name in the same folder, or a full path.
    pub to: String,
}

/// Move notes into a folder, created if missing; links are rewritten everywhere.
///
/// Example: `{"paths": ["Garden/Compost"], "to": "Garden/Soil"}`
#[args]
pub struct Move {
    /// The notes: paths, unique names or `[[links]]`.
    pub paths: Vec<String>,
    /// The folder; `/` is the vault root.
    pub to: String,
}

impl Action for Rename {
    type Output = Moved;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Moved> {
        let from = vault.find_note(&self.path)?;
        let to = destination(&from, &self.to)?;
        relocate(vault, vec![(from, to)])
    }
}

impl Action for Move {
    type Output = Moved;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Moved> {
        if self.paths.is_empty() {
            return Err(Error::validation(
                "`paths` is empty: name at least one note",
            ));
        }
        let found: Result<Vec<String>> = self
            .paths
            .iter()
            .map(|name| vault.find_note(name))
            .collect();
        let moves = into_folder(found?, folder(Some(&self.to)))?;
        relocate(vault, moves)
    }
}

/// Copy a note. Links keep pointing to the original.
///
/// Example: `{"path": "Journal/2026-04-12", "to": "Journal/2026-04-13.md"}`
#[args]
pub struct Copy {
    /// The note: path, unique name or `[[link]]`.
    pub path: String,
    /// A name in the same folder, a full path, or a folder ending with `/`.
    pub to: String,
}

impl Action for Copy {
    type Output = Copied;
    const EFFECT: Effect = Effect::Write;

    fn run(self, vault: &Vault) -> Result<Copied> {
        let from = vault.find_note(&self.path)?;
        let to = destination(&from, &self.to)?;
        copy(vault, from, &to)
    }
}
