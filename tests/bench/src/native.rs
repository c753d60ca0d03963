//! The vault handle without a sandbox: a component's own code on the host's own transaction. What a call through the
//! sandbox costs more than this is what the sandbox costs.

use std::cell::RefCell;

use notehost::vault::{self, Transaction, VaultError};
use notehost_sdk::index::{
    Backlinks, BacklinksOf, Edges, Found, IndexState, NameAt, Progress, Query, Tags, TagsOf,
    Unresolved, UnresolvedIn,
};
use notehost_sdk::{
    Blob, Change, Code, Entry, Error, FileChange, Kind, Level, Page, RawVault, Result, Tier,
    Trashed,
};

/// A transaction as the SDK's vault. It offers what the measured actions use.
pub(crate) struct NativeVault(pub(crate) RefCell<Transaction>);

fn refused(error: VaultError) -> Error {
    Error::new(Code::from_word(error.code()), error.to_string())
}

fn not_measured<T>() -> Result<T> {
    Err(Error::unsupported(
        "this function is not part of the measurement",
    ))
}

fn entry(entry: vault::Entry) -> Entry {
    Entry {
        path: entry.path,
        kind: match entry.kind {
            vault::Kind::File => Kind::File,
            vault::Kind::Folder => Kind::Folder,
        },
        size: entry.size,
        modified: entry.modified,
    }
}

impl RawVault for NativeVault {
    fn stat(&self, path: &str) -> Result<Entry> {
        self.0.borrow_mut().stat(path).map(entry).map_err(refused)
    }

    fn read(&self, path: &str) -> Result<Blob> {
        let blob = self.0.borrow_mut().read(path).map_err(refused)?;
        Ok(Blob {
            bytes: blob.bytes.to_vec(),
            etag: blob.etag,
        })
    }

    fn list(&self, folder: &str, recursive: bool, after: Option<&str>, limit: u32) -> Result<Page> {
        let page = self
            .0
            .borrow_mut()
            .list(folder, recursive, after, limit)
            .map_err(refused)?;
        Ok(Page {
            entries: page.entries.into_iter().map(entry).collect(),
            next: page.next,
        })
    }

    fn resolve(&self, name: &str, source: Option<&str>) -> Result<Vec<String>> {
        self.0.borrow_mut().resolve(name, source).map_err(refused)
    }

    fn write(&self, path: &str, bytes: &[u8], if_match: Option<&str>) -> Result<String> {
        self.0
            .borrow_mut()
            .write(path, bytes, if_match)
            .map_err(refused)
    }

    fn access(&self, _: &str) -> Tier {
        Tier::Delete
    }

    fn mentioning(&self, _: &[String]) -> Result<Vec<String>> {
        not_measured()
    }
    fn create(&self, _: &str, _: &[u8]) -> Result<String> {
        not_measured()
    }
    fn create_folder(&self, _: &str) -> Result<()> {
        not_measured()
    }
    fn rename(&self, _: &str, _: &str) -> Result<()> {
        not_measured()
    }
    fn remove(&self, _: &str) -> Result<Vec<String>> {
        not_measured()
    }
    fn trash(&self, _: Option<&str>, _: u32) -> Result<Vec<Trashed>> {
        not_measured()
    }
    fn restore(&self, _: &str, _: Option<&str>) -> Result<String> {
        not_measured()
    }
    fn history(&self, _: Option<&str>, _: Option<&str>, _: u32) -> Result<Vec<Change>> {
        not_measured()
    }
    fn before(&self, _: &str, _: &str) -> Result<Option<Blob>> {
        not_measured()
    }
    fn undo(&self, _: &str) -> Result<Vec<FileChange>> {
        not_measured()
    }
    fn store_get(&self, _: &str) -> Result<Option<Vec<u8>>> {
        not_measured()
    }
    fn store_set(&self, _: &str, _: &[u8]) -> Result<()> {
        not_measured()
    }
    fn store_remove(&self, _: &str) -> Result<()> {
        not_measured()
    }
    fn store_keys(&self, _: &str) -> Result<Vec<String>> {
        not_measured()
    }
    fn index_state(&self) -> IndexState {
        IndexState {
            state: Progress::Building,
            done: 0,
            total: 0,
            assistant_tag: None,
        }
    }
    fn find(&self, _: &Query) -> Result<Found> {
        not_measured()
    }
    fn backlinks(&self, _: &BacklinksOf) -> Result<Backlinks> {
        not_measured()
    }
    fn unresolved(&self, _: &UnresolvedIn) -> Result<Unresolved> {
        not_measured()
    }
    fn tags(&self, _: &TagsOf) -> Result<Tags> {
        not_measured()
    }
    fn edges(&self) -> Result<Edges> {
        not_measured()
    }
    fn files(&self) -> Result<Vec<String>> {
        not_measured()
    }
    fn linking(&self, _: &[String]) -> Result<Vec<String>> {
        not_measured()
    }
    fn containing(&self, _: &[Vec<String>]) -> Result<Vec<String>> {
        not_measured()
    }
    fn names_in(&self, _: &str) -> Result<Vec<NameAt>> {
        not_measured()
    }
    fn log(&self, _: Level, _: &str) {}
}
