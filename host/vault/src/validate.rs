//! Validation of a transaction's read set.
//!
//! A file counts as unchanged if inode, size and times are the same and it was not modified just before it was read;
//! otherwise its content is compared. Searches are repeated only if another commit succeeded since the transaction
//! began.

use super::{
    disk::Node,
    error::Conflict,
    transaction::{ReadRecord, Transaction},
};

impl Transaction {
    /// For calls that only read: whether everything they saw was one state of the vault.
    pub fn validate(&self) -> Result<(), Conflict> {
        if let Some(path) = &self.torn {
            return Err(Conflict {
                path: Some(path.clone()),
            });
        }
        if self.is_undisturbed() {
            return Ok(());
        }
        let _held = self.vault.commit_lock();
        self.check_read_set()
    }

    /// Whether nothing has landed since it began: then [`Transaction::validate`] has nothing to look at.
    pub fn is_undisturbed(&self) -> bool {
        self.vault.sequence() == self.began && self.began.is_multiple_of(2)
    }

    /// Checks everything against the disk. The commit lock is held.
    pub(super) fn check_read_set(&self) -> Result<(), Conflict> {
        if let Some(path) = &self.torn {
            return Err(Conflict {
                path: Some(path.clone()),
            });
        }
        for (path, seen) in &self.seen {
            if !self.is_unchanged(path, seen) {
                tracing::debug!("a file that was read changed before the commit");
                return Err(Conflict {
                    path: Some(path.clone()),
                });
            }
        }
        if self.vault.sequence() != self.began || !self.began.is_multiple_of(2) {
            self.check_scans()?;
        }
        Ok(())
    }

    fn is_unchanged(&self, path: &str, seen: &ReadRecord) -> bool {
        let root = &self.vault.root;
        let Ok(now) = root.status_below(path) else {
            return false;
        };
        match (seen, now) {
            (ReadRecord::Absent, now) => now.is_none() || self.is_hidden_from_caller(path),
            (ReadRecord::Present(node), Some(now)) => now.node == *node,
            (ReadRecord::File(file), Some(now)) if now.node == Node::File => {
                file.vouches_for(&now.signature)
                    || root
                        .place(path)
                        .and_then(|(folder, name)| folder.digest(name))
                        .is_ok_and(|now| now.is_some_and(|(digest, _)| digest == file.digest))
            }
            _ => false,
        }
    }

    /// What answered as absent because the caller may not see it goes on doing so.
    fn is_hidden_from_caller(&self, path: &str) -> bool {
        self.tier(path) == super::Tier::None
            || matches!(self.vault.root.status_below(path), Ok(Some(now)) if matches!(now.node, Node::Special | Node::Link))
    }

    fn check_scans(&self) -> Result<(), Conflict> {
        for reliance in &self.relied {
            if (reliance.again)(self) != Some(reliance.answer) {
                tracing::debug!("an answer of the index changed before the commit");
                return Err(Conflict { path: None });
            }
        }
        if self.scans.is_empty() {
            return Ok(());
        }
        let survey = self
            .survey_below("", true)
            .map_err(|_| Conflict { path: None })?;
        for scan in &self.scans {
            match self.answer_of_disk(&scan.question, &survey) {
                Ok(answer) if answer == scan.answer => {}
                _ => return Err(Conflict { path: None }),
            }
        }
        Ok(())
    }
}
