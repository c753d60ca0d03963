//! Reads of single files, `stat` and `read`, and how a file enters the read set.

use std::{sync::Arc, time::SystemTime};

use crate::{
    error::VaultError,
    path::parse,
    storage::{
        ReadOutcome,
        change_set::{ReadFile, ReadRecord, StagedFile},
        stamp::{Digest, Node},
    },
    transaction::{Transaction, lookup::Found},
    types::{Blob, Entry, Kind},
};

/// What an entry of the read set takes beside its path.
const SEEN_BYTES: usize = 128;
/// How much of what was read is kept in memory for a second read; beyond it only digests are.
const MAX_KEPT: u64 = 64 << 20;

/// A file that was read, or its size if that is over the limit.
enum Loaded {
    Content(Arc<[u8]>, Digest),
    TooLarge(u64),
}

impl Transaction {
    /// What is at a path.
    pub fn stat(&mut self, path: &str) -> Result<Entry, VaultError> {
        let Some(found) = self.find(path)? else {
            self.note_absent(path);
            return Err(self.absent(path));
        };
        if let Some(stored) = &found.stored {
            self.seen
                .entry(found.path.clone())
                .or_insert(ReadRecord::Present(stored.node));
        }
        self.entry(&found)
    }

    /// A file's bytes.
    pub fn read(&mut self, path: &str) -> Result<Blob, VaultError> {
        let Some(found) = self.find(path)? else {
            self.note_absent(path);
            return Err(self.absent(path));
        };
        let (bytes, digest) = self.content(&found)?;
        Ok(Blob {
            bytes,
            etag: digest.etag(),
        })
    }

    /// The same for a file of at most so many bytes; `None`, and nothing is read, if it is larger or its size is not known.
    pub fn read_up_to(&mut self, path: &str, max_bytes: u64) -> Result<Option<Blob>, VaultError> {
        if self.is_known_file(path) {
            let limit = max_bytes.min(self.access.limits.max_file_bytes);
            let loaded = self.load_up_to(path, limit)?;
            return Ok(match loaded {
                Loaded::Content(bytes, digest) => Some(Blob {
                    bytes,
                    etag: digest.etag(),
                }),
                Loaded::TooLarge(_) => None,
            });
        }
        if let Some(found) = self.find(path)? {
            let staged = self.staged.get(&found.path).and_then(Option::as_ref);
            let size = match (staged, &found.stored) {
                (Some(staged), _) => staged.bytes.as_ref().map(|bytes| bytes.len() as u64),
                (None, stored) => stored.as_ref().map(|stored| stored.stamp.size()),
            };
            if found.kind == Kind::File && size.is_none_or(|size| size > max_bytes) {
                return Ok(None);
            }
            let (bytes, digest) = self.content(&found)?;
            let etag = digest.etag();
            return Ok(Some(Blob { bytes, etag }));
        }
        self.note_absent(path);
        Err(self.absent(path))
    }

    /// Whether this is the canonical path of a stored file that this transaction has looked at, so that it need not be
    /// looked up again: most calls find a note before they read it. If something else is there by now, reading it conflicts.
    fn is_known_file(&self, path: &str) -> bool {
        let record = self.seen.get(path);
        matches!(
            record,
            Some(ReadRecord::Present(Node::File) | ReadRecord::File(_))
        ) && self.has_no_changes()
            // What an undo looked at may be closed to components.
            && parse(path).is_ok()
            && self.sees(path, Kind::File)
    }

    /// A file's content as this transaction sees it.
    pub(crate) fn content(&mut self, found: &Found) -> Result<(Arc<[u8]>, Digest), VaultError> {
        if found.kind == Kind::Folder {
            return Err(VaultError::invalid(format!(
                "`{}` is a folder, not a file",
                found.spelt
            )));
        }
        match self.staged.get(&found.path).cloned().flatten() {
            Some(StagedFile {
                bytes: Some(bytes), ..
            }) => {
                let digest = Digest::of(&bytes);
                Ok((bytes, digest))
            }
            Some(StagedFile {
                origin: Some(origin),
                ..
            }) => self.load(&origin),
            _ => self.load(&found.path),
        }
    }

    pub(crate) fn entry(&self, found: &Found) -> Result<Entry, VaultError> {
        let path = found.spelt.clone();
        let staged = self.staged.get(&found.path).and_then(Option::as_ref);
        let (size, modified) = match (found.kind, staged, &found.stored) {
            (Kind::Folder, _, Some(stored)) => (0, stored.stamp.modified_millis()),
            (
                Kind::File,
                Some(StagedFile {
                    bytes: Some(bytes), ..
                }),
                _,
            ) => (bytes.len() as u64, self.began_millis),
            (
                Kind::File,
                Some(StagedFile {
                    origin: Some(origin),
                    ..
                }),
                _,
            ) => match self.seen.get(origin) {
                Some(ReadRecord::File(file)) => (
                    file.status.stamp.size(),
                    file.status.stamp.modified_millis(),
                ),
                _ => (0, self.began_millis),
            },
            // What was read already must not report another size than what was read.
            (Kind::File, _, Some(stored)) => match self.seen.get(&found.path) {
                Some(ReadRecord::File(file)) => (
                    file.status.stamp.size(),
                    file.status.stamp.modified_millis(),
                ),
                _ => (stored.stamp.size(), stored.stamp.modified_millis()),
            },
            _ => (0, self.began_millis),
        };
        Ok(Entry {
            path,
            kind: found.kind,
            size,
            modified,
        })
    }

    /// Reads a stored file by its canonical path, once: later reads get the same bytes.
    pub(crate) fn load(&mut self, path: &str) -> Result<(Arc<[u8]>, Digest), VaultError> {
        let limit = self.access.limits.max_file_bytes;
        match self.load_up_to(path, limit)? {
            Loaded::Content(bytes, digest) => Ok((bytes, digest)),
            Loaded::TooLarge(size) => Err(VaultError::too_large(format!(
                "`{path}` has {size} bytes; at most {limit} can be read"
            ))),
        }
    }

    fn load_up_to(&mut self, path: &str, limit: u64) -> Result<Loaded, VaultError> {
        if let Some(ReadRecord::File(ReadFile {
            digest,
            content: Some(content),
            ..
        })) = self.seen.get(path)
        {
            return Ok(Loaded::Content(Arc::clone(content), *digest));
        }
        let mut bytes = Vec::new();
        // A program that writes in place can be met in the middle: read until the file held still.
        for _ in 0..4 {
            let at = SystemTime::now();
            let status = match self.vault.storage.read(path, limit, &mut bytes)? {
                ReadOutcome::Content(status) => status,
                ReadOutcome::Absent => return Err(self.mark_conflict(path)),
                ReadOutcome::TooLarge(status) => return Ok(Loaded::TooLarge(status.stamp.size())),
            };
            if bytes.len() as u64 != status.stamp.size() {
                continue;
            }
            let digest = Digest::of(&bytes);
            let content: Arc<[u8]> = bytes.as_slice().into();
            let is_kept = self.kept.0 + content.len() as u64 <= MAX_KEPT;
            if is_kept {
                self.kept.0 += content.len() as u64;
            }
            let fresh = ReadFile {
                digest,
                status,
                at,
                content: is_kept.then(|| Arc::clone(&content)),
            };
            self.record_read(path, fresh)?;
            return Ok(Loaded::Content(content, digest));
        }
        Err(self.mark_conflict(path))
    }

    /// Digests a stored file without keeping its content.
    pub(crate) fn observe(&mut self, path: &str) -> Result<ReadFile, VaultError> {
        if let Some(ReadRecord::File(file)) = self.seen.get(path) {
            return Ok(file.clone());
        }
        self.access.limits.check_deadline()?;
        let at = SystemTime::now();
        let Some((digest, status)) = self.vault.storage.digest(path)? else {
            return Err(self.mark_conflict(path));
        };
        let file = ReadFile {
            digest,
            status,
            at,
            content: None,
        };
        self.record_read(path, file.clone())?;
        Ok(file)
    }

    /// Enters a file into the read set; if it was there with other content, the transaction saw two states.
    fn record_read(&mut self, path: &str, fresh: ReadFile) -> Result<(), VaultError> {
        match self.seen.get_mut(path) {
            Some(ReadRecord::File(known)) if known.digest != fresh.digest => {
                return Err(self.mark_conflict(path));
            }
            Some(ReadRecord::File(known)) => known.content = fresh.content,
            Some(ReadRecord::Absent) => return Err(self.mark_conflict(path)),
            Some(ReadRecord::Present(Node::File)) | None => {
                self.seen.insert(path.to_owned(), ReadRecord::File(fresh));
            }
            Some(ReadRecord::Present(_)) => return Err(self.mark_conflict(path)),
        }
        Ok(())
    }

    /// The vault changed during this transaction: its answer is discarded, and the call is run again.
    fn mark_conflict(&mut self, path: &str) -> VaultError {
        self.conflict.get_or_insert_with(|| path.to_owned());
        VaultError::conflict(path)
    }

    /// That nothing was at a path matters to what the call does next.
    pub(crate) fn note_absent(&mut self, path: &str) {
        if parse(path).is_ok() && !self.staged.contains_key(path) && !self.is_gone(path) {
            self.hold_absent(path);
        }
    }

    /// Enters a path at which nothing is into the read set, unless it is there. Such a path is named by the guest, and
    /// there is no end of them: each is counted, and the next host call fails if it was too much.
    pub(crate) fn hold_absent(&mut self, path: &str) {
        if !self.seen.contains_key(path) {
            self.retained += (path.len() + SEEN_BYTES) as u64;
            self.seen.insert(path.to_owned(), ReadRecord::Absent);
        }
    }
}
