//! Commits a transaction: its read set is validated while other commits are excluded, then the storage applies what is
//! staged.

use std::sync::Arc;

use crate::{
    error::{CommitError, VaultError},
    storage::change_set::{ChangeSet, NetChange},
    transaction::Transaction,
    types::{CommitNote, Committed},
};

impl Transaction {
    /// Applies everything that is staged, or nothing. When it returns, the result is durable.
    pub fn commit(self, by: CommitNote) -> Result<Committed, CommitError> {
        self.commit_if(by, |_| Ok(()))
    }

    /// The same, if `may` agrees at the last moment: no other commit happens between its answer and this commit. It may
    /// take rights away; what needs them is refused then.
    pub fn commit_if(
        mut self,
        by: CommitNote,
        may: impl FnOnce(&mut Transaction) -> Result<(), VaultError>,
    ) -> Result<Committed, CommitError> {
        let nothing = Committed {
            is_landed: false,
            change: None,
            files: Vec::new(),
        };
        if self.has_no_changes() {
            self.validate()?;
            return Ok(nothing);
        }
        let _span = tracing::debug_span!("vault.commit", vault = self.vault.id()).entered();
        let vault = &Arc::clone(&self.vault);
        let _held = vault.commits.lock();
        let commit = vault.storage.begin_commit()?;
        may(&mut self)?;
        self.check_rights()?;
        self.check_read_set()?;
        if let Some(naming) = self.naming.take() {
            if !self.has_no_writes() {
                let message = "a call that names a version may not write anything else";
                return Err(CommitError::Failed(VaultError::invalid(message)));
            }
            vault.storage.set_name(&by.caller, &naming)?;
            return Ok(Committed {
                is_landed: true,
                ..nothing
            });
        }
        let changes = self.change_set(&by);
        let Some(id) = commit.apply(&changes)? else {
            return Ok(nothing);
        };
        let committed = Committed {
            is_landed: true,
            change: changes.can_be_undone().then_some(id),
            files: changes.net.iter().map(NetChange::to_file_change).collect(),
        };
        if !committed.files.is_empty() {
            vault.notify_listeners(&committed);
        }
        Ok(committed)
    }

    pub(crate) fn change_set<'a>(&'a self, by: &'a CommitNote) -> ChangeSet<'a> {
        ChangeSet {
            read: &self.seen,
            staged: &self.staged,
            trashed: &self.trashed,
            new_folders: &self.new_folders,
            gone_folders: &self.gone_folders,
            undoes: self.undoes.as_ref(),
            net: self.net_changes(),
            data: self.net_data_changes(),
            folders: self.net_folders(),
            max_file_bytes: self.access.limits.max_file_bytes,
            by,
        }
    }
}
