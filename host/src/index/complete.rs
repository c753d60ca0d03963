//! Notes by what somebody has typed of their path or name.

use notehost_sdk::{fold_name, stem_of};

use super::Index;
use crate::vault::Transaction;

/// As many as MCP lets a completion tell.
const MOST: usize = 100;

impl Index {
    /// The notes that the asker sees whose path, or else whose name, begins with what was typed, or else has it
    /// somewhere; each in order of path.
    pub fn complete(&self, transaction: &Transaction, typed: &str) -> Vec<String> {
        self.core.settle();
        let graph = self.core.graph();
        let viewer = self.core.viewers.of(transaction, &graph);
        let typed = fold_name(typed);
        let mut fitting: Vec<(u8, &str)> = viewer
            .finds
            .iter()
            .filter_map(|slot| {
                let path = graph.path(slot);
                let folded = fold_name(path);
                let rank = match () {
                    () if folded.starts_with(&typed) => 0,
                    () if stem_of(&folded).starts_with(&typed) => 1,
                    () if folded.contains(&typed) => 2,
                    () => return None,
                };
                Some((rank, path))
            })
            .collect();
        fitting.sort_unstable();
        let paths = fitting.into_iter().take(MOST);
        paths.map(|(_, path)| path.to_owned()).collect()
    }
}
