//! One past change with the differences in each file, as far as the history still has both sides.

use notehost_sdk::Code;
use std::sync::Arc;

use crate::{
    diff::{DiffBudget, compare},
    error::VaultError,
    transaction::Transaction,
    types::{Change, StagedChange},
};

impl Transaction {
    /// A change as it was when it landed. Content that is no longer kept, or that was only moved, is `None` on both
    /// sides.
    pub fn past_change(&mut self, change: &str) -> Result<(Change, Vec<StagedChange>), VaultError> {
        let row = self.known_change(change)?;
        let budget = DiffBudget::new();
        let mut files = Vec::new();
        for file in &row.files {
            let Some(seen) = self.visible_file(file) else {
                continue;
            };
            let bytes = |etag: &Option<String>, digest| -> Option<Arc<[u8]>> {
                etag.as_ref()?;
                self.kept_bytes(change, file, &digest?).ok()
            };
            let is_moved = seen.from.is_some() && seen.before == seen.after;
            let before = bytes(&seen.before, file.before).filter(|_| !is_moved);
            let after = bytes(&seen.after, file.after).filter(|_| !is_moved);
            let is_whole = before.is_some() == seen.before.is_some()
                && after.is_some() == seen.after.is_some();
            let (before, after) = match is_whole {
                true => (before, after),
                false => (None, None),
            };
            let (added, removed, lines) = compare(before.as_deref(), after.as_deref(), &budget);
            files.push(StagedChange {
                path: seen.path,
                kind: seen.kind,
                from: seen.from,
                before,
                after,
                etag_before: seen.before,
                etag: seen.after,
                added,
                removed,
                lines,
            });
        }
        let change = self.visible_change(&row);
        let change = change.ok_or_else(|| VaultError::new(Code::NotFound, "no such change"))?;
        Ok((change, files))
    }
}
