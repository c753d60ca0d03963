//! Listing folders: `ls` and `tree`.

use notehost_sdk::Kind;
use notehost_sdk::documents::listing::{ListQuery, Listed, Sort, listing};
use notehost_sdk::documents::tree::{Shown, tree};
use notehost_sdk::pages::Span;
use notehost_sdk::prelude::*;

use crate::paths;

/// List the notes and folders of a folder.
///
/// Example: `{"path": "Garden"}`
#[args]
pub struct Ls {
    /// The folder (default: vault root).
    pub path: Option<String>,
    /// Include size and time.
    #[serde(default)]
    pub long: bool,
    /// Include non-note files.
    #[serde(default)]
    pub all: bool,
    /// Page size, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

impl Action for Ls {
    type Output = Listed;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Listed> {
        let span = Span::new(self.limit, self.cursor.as_deref())?;
        let path = paths::folder(self.path.as_deref())?;
        if let Some(file) = vault.entry(&path)?.filter(|entry| entry.kind == Kind::File) {
            return Ok(Listed::of(vec![file], span, self.long, self.long));
        }
        let query = ListQuery {
            path: Some(&path),
            recursive: false,
            all: self.all,
            sort: Sort::Path,
            is_detailed: self.long,
            span,
        };
        listing(vault, query)
    }
}

/// Show the folders and notes below a folder as a tree.
///
/// Example: `{"path": "/", "depth": 2}`
#[args]
pub struct Tree {
    /// The folder (default: vault root).
    pub path: Option<String>,
    /// Number of levels (default 3; fewer if over 500 entries).
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
