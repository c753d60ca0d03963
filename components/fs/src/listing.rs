//! What is in a folder: `ls` and `tree`.

use notehost_sdk::Kind;
use notehost_sdk::documents::listing::{Asked, Listed, Sort, listing};
use notehost_sdk::documents::tree::{Shown, tree};
use notehost_sdk::pages::Span;
use notehost_sdk::prelude::*;

use crate::paths;

/// List the notes and folders of a folder.
///
/// Example: `{"path": "Garden"}`
#[args]
pub struct Ls {
    /// The folder; left out: the vault.
    pub path: Option<String>,
    /// Also size and time.
    #[serde(default)]
    pub long: bool,
    /// Also files that are no notes.
    #[serde(default)]
    pub all: bool,
    /// How many, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
}

impl Action for Ls {
    type Output = Listed;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Listed> {
        let span = Span::new(self.limit, self.cursor.as_deref())?;
        let path = paths::folder(self.path.as_deref())?;
        if let Some(file) = paths::stat(vault, &path)?.filter(|entry| entry.kind == Kind::File) {
            return Ok(Listed::of(vec![file], span, self.long, self.long));
        }
        let asked = Asked {
            path: Some(&path),
            recursive: false,
            all: self.all,
            sort: Sort::Path,
            is_detailed: self.long,
            span,
        };
        listing(vault, asked)
    }

    fn text(output: &Listed) -> String {
        output.told()
    }
}

/// Show the folders and notes below a folder as a tree.
///
/// Example: `{"path": "/", "depth": 2}`
#[args]
pub struct Tree {
    /// The folder; left out: the vault.
    pub path: Option<String>,
    /// How many levels (default 3; fewer where over 500 entries would show).
    pub depth: Option<usize>,
}

impl Action for Tree {
    type Output = Shown;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Shown> {
        let path = paths::folder(self.path.as_deref())?;
        tree(vault, Some(&path), self.depth)
    }

    fn text(output: &Shown) -> String {
        output.drawn("ls")
    }
}
