//! Suggestions for a missing path: the names nearest to it.

use serde_json::json;

use crate::{
    error::VaultError,
    path::{join, split},
    storage::stamp::Node,
    transaction::Transaction,
};

impl Transaction {
    /// `not_found`, with the nearest names of the same folder that the caller may see.
    pub(crate) fn absent(&self, path: &str) -> VaultError {
        self.with_nearest(path, VaultError::absent(path))
    }

    fn with_nearest(&self, path: &str, error: VaultError) -> VaultError {
        const MAX_NAMES: usize = 1000;
        /// No disk has longer names, and comparing a long one with each takes as long as it is.
        const MAX_NAME_CHARS: usize = 255;
        let (folder, name) = split(path);
        if name.len() > MAX_NAME_CHARS {
            return error;
        }
        let Ok(Some(found)) = self.find(folder) else {
            return error;
        };
        let Ok(Some(listing)) = self.vault.storage.list(&found.path) else {
            return error;
        };
        if listing.names.len() > MAX_NAMES {
            return error;
        }
        let visible: Vec<&str> = listing
            .names
            .iter()
            .filter(|(name, node)| {
                let path = join(&found.path, name);
                matches!(node, Node::File | Node::Folder)
                    && self.sees_node(&path, *node)
                    && !self.is_gone(&path)
            })
            .map(|(name, _)| name.as_str())
            .collect();
        let nearest: Vec<String> = similar::get_close_matches(name, &visible, 3, 0.7)
            .into_iter()
            .map(|name| join(&found.spelt, name))
            .collect();
        if nearest.is_empty() {
            error
        } else {
            error.with_details(json!({ "nearest": nearest }))
        }
    }
}
