//! Validation of a transaction's read set.
//!
//! A file counts as unchanged if inode, size and times are the same and it was not modified just before it was read;
//! otherwise its content is compared. Searches are repeated only if another commit succeeded since the transaction
//! began.

use std::time::{Duration, Instant};

use crate::{
    VaultError,
    access::Tier,
    error::CommitError,
    storage::{change_set::ReadRecord, stamp::Node},
    transaction::Transaction,
};

/// How long a check may take. The commit lock is held meanwhile, and everybody else who writes waits for it.
const MAX_CHECK_TIME: Duration = Duration::from_secs(5);
/// How many files are looked at between two looks at the clock.
const FILES_PER_LOOK: usize = 64;

impl Transaction {
    /// For calls that only read: whether everything they saw was one state of the vault.
    pub fn validate(&self) -> Result<(), CommitError> {
        self.check_reads_agree()?;
        if self.is_undisturbed() {
            return Ok(());
        }
        let _held = self.vault.commits.lock();
        self.check_read_set()
    }

    /// Whether nothing has landed since it began: then [`Transaction::validate`] has nothing to look at.
    pub fn is_undisturbed(&self) -> bool {
        self.vault.storage.position() == self.began && self.began.is_settled()
    }

    /// Checks everything against the disk. The commit lock is held.
    pub(crate) fn check_read_set(&self) -> Result<(), CommitError> {
        self.check_read_set_until(Instant::now() + MAX_CHECK_TIME)
    }

    /// The same; fails with `timeout` where it takes longer than until then. Running the call again would not help.
    pub(crate) fn check_read_set_until(&self, until: Instant) -> Result<(), CommitError> {
        let _span = tracing::debug_span!(
            "vault.validate",
            files = self.seen.len(),
            scans = self.scans.len(),
            answers = self.relied.len()
        )
        .entered();
        self.check_reads_agree()?;
        for (number, (path, seen)) in self.seen.iter().enumerate() {
            if number % FILES_PER_LOOK == 0 {
                check_time(until)?;
            }
            if !self.is_unchanged(path, seen) {
                tracing::debug!("a file that was read changed before the commit");
                return Err(changed(Some(path)));
            }
        }
        if !self.is_undisturbed() {
            self.check_scans(until)?;
        }
        Ok(())
    }

    fn check_reads_agree(&self) -> Result<(), CommitError> {
        match &self.conflict {
            Some(path) => Err(changed(Some(path))),
            None => Ok(()),
        }
    }

    fn is_unchanged(&self, path: &str, seen: &ReadRecord) -> bool {
        let storage = &self.vault.storage;
        let Ok(now) = storage.stat(path) else {
            return false;
        };
        match (seen, now) {
            (ReadRecord::Absent, now) => now.is_none() || self.is_hidden_from_caller(path),
            (ReadRecord::Present(node), Some(now)) => now.node == *node,
            (ReadRecord::File(file), Some(now)) if now.node == Node::File => {
                file.is_proved_by(&now.stamp)
                    || storage
                        .digest(path)
                        .is_ok_and(|now| now.is_some_and(|(digest, _)| digest == file.digest))
            }
            _ => false,
        }
    }

    /// What answered as absent because the caller may not see it goes on doing so.
    fn is_hidden_from_caller(&self, path: &str) -> bool {
        self.tier(path) == Tier::None
            || matches!(self.vault.storage.stat(path), Ok(Some(now)) if matches!(now.node, Node::Special | Node::Link))
    }

    fn check_scans(&self, until: Instant) -> Result<(), CommitError> {
        for reliance in &self.relied {
            check_time(until)?;
            if (reliance.again)(self) != Some(reliance.answer) {
                tracing::debug!("what the index said changed before the commit");
                return Err(changed(None));
            }
        }
        if self.scans.is_empty() {
            return Ok(());
        }
        check_time(until)?;
        let survey = self.survey_below("", true).map_err(|_| changed(None))?;
        for (question, answer) in &self.scans {
            check_time(until)?;
            match self.stored_answer(question, &survey) {
                Ok(now) if now == *answer => {}
                _ => return Err(changed(None)),
            }
        }
        Ok(())
    }
}

fn changed(path: Option<&String>) -> CommitError {
    CommitError::Conflict {
        path: path.cloned(),
    }
}

fn check_time(until: Instant) -> Result<(), CommitError> {
    match Instant::now() > until {
        true => Err(CommitError::Failed(VaultError::timeout())),
        false => Ok(()),
    }
}
