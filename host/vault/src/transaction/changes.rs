//! The net effect of a transaction on each file, independent of the operations that led to it.

use std::sync::Arc;

use crate::{
    diff::{DiffBudget, LineDiff, compare},
    path::{DATA, PRIVATE, is_below},
    storage::{
        change_set::{NetChange, ReadFile, ReadRecord, StagedFile},
        records::FolderRow,
        stamp::{Digest, Node},
    },
    transaction::Transaction,
    types::{ChangeKind, StagedChange},
};

/// The largest removed file whose content a diff shows.
const MAX_SHOWN: u64 = 1 << 20;

impl Transaction {
    /// The net effect per file, sorted by path. Files of the store and changes that amount to nothing are not
    /// among them.
    pub fn changes(&self) -> Vec<StagedChange> {
        let budget = DiffBudget::new();
        self.net_changes()
            .into_iter()
            .map(|net| self.show(net, &budget))
            .collect()
    }

    /// How many bytes [`Transaction::changes`] has to look at, about.
    pub fn bytes_to_compare(&self) -> u64 {
        let length =
            |bytes: &Option<Arc<[u8]>>| bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
        let staged = self.staged.iter().map(|(path, file)| {
            let origin = file
                .as_ref()
                .and_then(|file| file.origin.as_ref())
                .unwrap_or(path);
            let before = match self.seen.get(origin) {
                Some(ReadRecord::File(seen)) => seen.status.stamp.size(),
                _ => 0,
            };
            before + file.as_ref().map_or(0, |file| length(&file.bytes))
        });
        staged.sum()
    }

    /// Whether the bytes of a file come from the trash or from the history, so that the caller did not write them.
    pub fn has_restored_bytes(&self, path: &str) -> bool {
        let origin = self.staged_origin(path);
        self.undoes.is_some() || origin.is_some_and(|origin| is_below(&origin, PRIVATE))
    }

    pub(crate) fn net_changes(&self) -> Vec<NetChange> {
        let mut changes = Vec::new();
        for (path, file) in self
            .staged
            .iter()
            .filter(|(path, _)| !is_below(path, PRIVATE))
        {
            let trash = self.trashed.get(path).cloned();
            let removed = trash.is_some().then(|| self.seen_file(path)).flatten();
            match file {
                Some(file) => self.net_of_file(path, file, removed, trash, &mut changes),
                None => {
                    // Without an id it went elsewhere, and is reported there.
                    changes.extend(removed.map(|before| net_removal(path, before, trash)));
                }
            }
        }
        changes
    }

    /// The net effect on the data of components.
    pub(crate) fn net_data_changes(&self) -> Vec<NetChange> {
        let mut changes = Vec::new();
        let data = self.staged.range(format!("{DATA}/")..);
        for (path, file) in data.take_while(|(path, _)| is_below(path, DATA)) {
            match file {
                Some(file) => self.net_of_data(path, file, &mut changes),
                None => {
                    let before = self.seen_file(path);
                    changes.extend(before.map(|before| net_removal(path, before, None)));
                }
            }
        }
        changes
    }

    fn net_of_data(&self, path: &str, file: &StagedFile, changes: &mut Vec<NetChange>) {
        let before = self.seen_file(path);
        changes.push(NetChange {
            path: path.to_owned(),
            kind: match before {
                Some(_) => ChangeKind::Modify,
                None => ChangeKind::Create,
            },
            from: None,
            after: file.bytes.as_deref().map(Digest::of),
            bytes: file.bytes.clone(),
            mode_after: file
                .mode
                .or(before.as_ref().map(|before| before.status.mode)),
            before,
            trash: None,
        });
    }

    /// The folders that are not there yet, or no longer.
    pub(crate) fn net_folders(&self) -> Vec<FolderRow> {
        let is_there = |path: &&String| {
            let status = self.vault.storage.stat(path).ok().flatten();
            status.is_some_and(|status| status.node == Node::Folder)
        };
        let row = |path: &String, is_new| FolderRow {
            path: path.clone(),
            is_new,
        };
        let made = self.new_folders.iter().filter(|path| !is_there(path));
        let gone = self.gone_folders.iter().filter(is_there);
        let made = made.map(|path| row(path, true));
        made.chain(gone.map(|path| row(path, false))).collect()
    }

    fn net_of_file(
        &self,
        path: &str,
        file: &StagedFile,
        removed: Option<ReadFile>,
        trash: Option<String>,
        changes: &mut Vec<NetChange>,
    ) {
        let origin = file
            .origin
            .as_deref()
            .and_then(|origin| self.seen_file(origin));
        let after = match &file.bytes {
            Some(bytes) => Some(Digest::of(bytes)),
            None => origin.as_ref().map(|origin| origin.digest),
        };
        let (kind, from, before) = match &file.origin {
            Some(own) if own == path => (ChangeKind::Modify, None, origin.clone()),
            Some(other) if !is_below(other, PRIVATE) => {
                changes.extend(removed.map(|before| net_removal(path, before, trash.clone())));
                (ChangeKind::Rename, Some(other.clone()), origin.clone())
            }
            _ if removed.is_some() => (ChangeKind::Modify, None, removed),
            _ => (ChangeKind::Create, None, None),
        };
        changes.push(NetChange {
            path: path.to_owned(),
            trash: if kind == ChangeKind::Modify {
                trash
            } else {
                None
            },
            kind,
            from,
            before,
            after,
            bytes: file.bytes.clone(),
            mode_after: file.mode.or(origin.map(|origin| origin.status.mode)),
        });
    }

    pub(crate) fn seen_file(&self, path: &str) -> Option<ReadFile> {
        match self.seen.get(path) {
            Some(ReadRecord::File(file)) => Some(file.clone()),
            _ => None,
        }
    }

    fn show(&self, net: NetChange, budget: &DiffBudget) -> StagedChange {
        let is_only_renamed = net.kind == ChangeKind::Rename && net.bytes.is_none();
        let before = if is_only_renamed {
            None
        } else {
            self.shown_before(&net)
        };
        let after = match (&net.bytes, net.after) {
            (Some(bytes), _) => Some(Arc::clone(bytes)),
            // Restored or given another mode: its bytes are those of its origin.
            (None, Some(_)) if !is_only_renamed => self
                .staged_origin(&net.path)
                .and_then(|origin| self.peek(&origin)),
            _ => None,
        };
        let (added, removed, lines) = if is_only_renamed {
            (0, 0, LineDiff::default())
        } else {
            compare(before.as_deref(), after.as_deref(), budget)
        };
        StagedChange {
            etag_before: net.before.as_ref().map(|before| before.digest.etag()),
            path: net.path,
            kind: net.kind,
            from: net.from,
            before,
            after,
            etag: net.after.map(|after| after.etag()),
            added,
            removed,
            lines,
        }
    }

    fn shown_before(&self, net: &NetChange) -> Option<Arc<[u8]>> {
        let before = net.before.as_ref()?;
        match &before.content {
            Some(content) => Some(Arc::clone(content)),
            None => self
                .peek(net.origin())
                .filter(|bytes| Digest::of(bytes) == before.digest),
        }
    }

    fn staged_origin(&self, path: &str) -> Option<String> {
        self.staged.get(path)?.as_ref()?.origin.clone()
    }

    /// A file's bytes for showing only, if they are few: they do not enter the read set.
    fn peek(&self, path: &str) -> Option<Arc<[u8]>> {
        if let Some(content) = self.seen_file(path).and_then(|seen| seen.content) {
            return Some(content);
        }
        let content = self.vault.read_content(path, MAX_SHOWN).ok()??;
        content.bytes.map(Arc::from)
    }
}

fn net_removal(path: &str, before: ReadFile, trash: Option<String>) -> NetChange {
    NetChange {
        path: path.to_owned(),
        kind: ChangeKind::Delete,
        from: None,
        before: Some(before),
        after: None,
        bytes: None,
        mode_after: None,
        trash,
    }
}
