//! The private store of a component: one file per key below `.notehost/store`, staged and committed with the
//! call's other writes.

use std::sync::Arc;

use crate::{
    access::Effect,
    error::VaultError,
    path::{PRIVATE, is_below, join},
    storage::{
        change_set::{ReadRecord, StagedFile},
        stamp::Node,
    },
    transaction::Transaction,
};

const MAX_KEY_BYTES: usize = 200;
/// Encoded keys are cut into names that every disk takes.
const MAX_NAME_BYTES: usize = 180;
/// Ends a name that goes on in a folder. No encoded key contains it.
const CONTINUATION: char = '+';

impl Transaction {
    /// The value of a key.
    pub fn store_get(&mut self, key: &str) -> Result<Option<Vec<u8>>, VaultError> {
        let path = self.store_path(key)?;
        Ok(self.store_value(&path)?.map(|value| value.to_vec()))
    }

    /// Gives a key a value.
    pub fn store_set(&mut self, key: &str, value: &[u8]) -> Result<(), VaultError> {
        self.must_have(Effect::Write)?;
        let path = self.store_path(key)?;
        let before = self
            .store_value(&path)?
            .map_or(0, |value| value.len() as u64);
        let total = self.store_total()? - before + value.len() as u64;
        let quota = self.access.limits.store_quota;
        if total > quota {
            return Err(VaultError::too_large(format!(
                "the store may hold {quota} bytes; this would make it {total}"
            ))
            .with_hint("an admin can raise the component's quota"));
        }
        self.check_room(&path, value.len() as u64)?;
        self.written += value.len() as u64;
        self.store_bytes = Some(total);
        let origin =
            matches!(self.seen.get(&path), Some(ReadRecord::File(_))).then(|| path.clone());
        self.put(
            path,
            StagedFile {
                origin,
                bytes: Some(value.into()),
                mode: None,
            },
        );
        Ok(())
    }

    /// Forgets a key.
    pub fn store_remove(&mut self, key: &str) -> Result<(), VaultError> {
        self.must_have(Effect::Write)?;
        let path = self.store_path(key)?;
        let Some(value) = self.store_value(&path)? else {
            return Ok(());
        };
        self.store_bytes = Some(self.store_total()? - value.len() as u64);
        self.take(&path)?;
        Ok(())
    }

    /// The keys that begin with a prefix, sorted.
    pub fn store_keys(&mut self, prefix: &str) -> Result<Vec<String>, VaultError> {
        let folder = self.store_folder();
        let mut paths: Vec<String> = self
            .store_files()?
            .into_iter()
            .map(|(path, _)| path)
            .collect();
        paths.retain(|path| !matches!(self.staged.get(path), Some(None)));
        let staged = self
            .staged
            .range(format!("{folder}/")..)
            .take_while(|(path, _)| is_below(path, &folder));
        paths.extend(
            staged
                .filter(|(_, file)| file.is_some())
                .map(|(path, _)| path.clone()),
        );
        let mut keys: Vec<String> = paths
            .iter()
            .filter_map(|path| decode(&path[folder.len() + 1..]))
            .filter(|key| key.starts_with(prefix))
            .collect();
        keys.sort_unstable();
        keys.dedup();
        // Keys that come or go meanwhile belong to the same component: its own calls see them one by one.
        Ok(keys)
    }

    fn store_value(&mut self, path: &str) -> Result<Option<Arc<[u8]>>, VaultError> {
        match self.staged.get(path) {
            Some(Some(StagedFile {
                bytes: Some(bytes), ..
            })) => return Ok(Some(Arc::clone(bytes))),
            Some(None) => return Ok(None),
            _ => {}
        }
        match self.vault.storage.stat(path)? {
            Some(status) if status.node == Node::File => Ok(Some(self.load(path)?.0)),
            _ => {
                self.hold_absent(path);
                Ok(None)
            }
        }
    }

    /// How many bytes the store would hold as things are staged.
    fn store_total(&mut self) -> Result<u64, VaultError> {
        if let Some(total) = self.store_bytes {
            return Ok(total);
        }
        let total = self.store_files()?.iter().map(|(_, size)| size).sum();
        self.store_bytes = Some(total);
        Ok(total)
    }

    /// The files of the store on disk.
    fn store_files(&self) -> Result<Vec<(String, u64)>, VaultError> {
        let storage = &self.vault.storage;
        let failed = |error: VaultError| VaultError::internal("read the component's store", error);
        let mut files = Vec::new();
        let mut ahead = vec![self.store_folder()];
        while let Some(folder) = ahead.pop() {
            let Some(listing) = storage.list(&folder).map_err(failed)? else {
                continue;
            };
            for (name, node) in &listing.names {
                let path = join(&folder, name);
                match node {
                    Node::Folder => ahead.push(path),
                    Node::File => {
                        let status = storage.stat(&path).map_err(failed)?;
                        files.push((path, status.map_or(0, |status| status.stamp.size())));
                    }
                    _ => {}
                }
            }
        }
        Ok(files)
    }

    fn store_folder(&self) -> String {
        format!("{PRIVATE}/store/{}", encode(&self.access.component))
    }

    fn store_path(&self, key: &str) -> Result<String, VaultError> {
        if key.is_empty() || key.len() > MAX_KEY_BYTES {
            return Err(VaultError::invalid(format!(
                "a key has 1 to {MAX_KEY_BYTES} bytes"
            )));
        }
        Ok(join(&self.store_folder(), &encode(key)))
    }
}

/// A key as a path: only characters that every disk takes, and no two keys that some disk takes for the same.
fn encode(key: &str) -> String {
    let mut encoded = String::with_capacity(key.len());
    let mut length = 0;
    for byte in key.bytes() {
        if length > MAX_NAME_BYTES {
            encoded.push(CONTINUATION);
            encoded.push('/');
            length = 0;
        }
        if byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_') {
            encoded.push(char::from(byte));
            length += 1;
        } else {
            encoded.push_str(&format!("%{byte:02x}"));
            length += 3;
        }
    }
    encoded
}

/// The key of a path; `None` for a file that no key made.
fn decode(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes().filter(|byte| !matches!(byte, b'/' | b'+'));
    while let Some(byte) = rest.next() {
        bytes.push(if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
        } else {
            byte
        });
    }
    let key = String::from_utf8(bytes).ok()?;
    (encode(&key) == path).then_some(key)
}
