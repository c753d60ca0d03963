//! Listing folders: `list` and `tree`.

use notehost_sdk::documents::listing::{ListQuery, Listed, Sort, listing};
use notehost_sdk::documents::tree::{Shown, tree};
use notehost_sdk::pages::Span;
use notehost_sdk::prelude::*;

use crate::read_actions::Format;

/// List the notes and folders of a folder.
///
/// Example: `{"path": "Garden"}`
/// Example (the newest of all): `{"recursive": true, "sort": "modified", "limit": 5}`
#[args]
pub struct List {
    /// The folder (default: vault root).
    pub path: Option<String>,
    /// Include subfolders (notes only).
    #[serde(default)]
    pub recursive: bool,
    /// Default `path`.
    pub sort: Option<Sort>,
    /// Default `concise`.
    pub format: Option<Format>,
    /// Page size, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

impl Action for List {
    type Output = Listed;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Listed> {
        let query = ListQuery {
            path: self.path.as_deref(),
            recursive: self.recursive,
            all: false,
            sort: self.sort.unwrap_or(Sort::Path),
            is_detailed: self.format == Some(Format::Detailed),
            span: Span::new(self.limit, self.cursor.as_deref())?,
        };
        listing(vault, query)
    }
}

/// Show the folders and notes below a folder as a tree.
///
/// Example: `{"depth": 2}`
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
        tree(vault, self.path.as_deref(), self.depth)
    }

    fn text(output: &Shown) -> String {
        output.drawn("list")
    }
}
