//! The vault API without a sandbox: a component's own code on the host's own transaction. The difference to a call
//! through the sandbox is the cost of the sandbox.

use std::cell::RefCell;
use std::sync::Arc;

use notehost::index::{Answer, Index, Question};
use notehost::runtime::CallEnvironment;
use notehost::vault::{self, Transaction, VaultError};
use notehost_sdk::host::{About, CallerInfo, Conventions, Now};
use notehost_sdk::index::{
    Backlinks, BacklinksQuery, Edges, Found, IndexState, NameAt, Query, Tags, TagsQuery,
    Unresolved, UnresolvedQuery,
};
use notehost_sdk::{
    Blob, Change, Entry, Error, FileChange, Kind, Level, Page, RawVault, Result, Tier, Trashed,
    Version,
};

/// A transaction and an index as the SDK's vault. It implements what the measured actions use.
pub(crate) struct NativeVault {
    transaction: RefCell<Transaction>,
    index: Arc<Index>,
}

impl NativeVault {
    pub(crate) fn new(transaction: Transaction, index: &Arc<Index>) -> NativeVault {
        NativeVault {
            transaction: RefCell::new(transaction),
            index: index.clone(),
        }
    }

    fn ask(&self, question: Question) -> Result<Answer> {
        let mut transaction = self.transaction.borrow_mut();
        self.index.ask(&mut transaction, question).map_err(refused)
    }

    fn answer<T: TryFrom<Answer, Error = VaultError>>(&self, question: Question) -> Result<T> {
        T::try_from(self.ask(question)?).map_err(refused)
    }

    fn paths(&self, question: Question) -> Result<Vec<String>> {
        self.answer(question)
    }
}

/// The environment of the measured calls: the same on both sides, and empty.
pub(crate) struct EmptyEnvironment;

impl CallEnvironment for EmptyEnvironment {
    fn now(&self) -> Now {
        Now {
            milliseconds: 1_767_225_600_000,
            ..Now::default()
        }
    }

    fn about(&self) -> About {
        About::default()
    }

    fn caller(&self) -> CallerInfo {
        CallerInfo {
            name: "bench".to_owned(),
            ..CallerInfo::default()
        }
    }

    fn conventions(&self, _: &mut Transaction) -> Conventions {
        Conventions::default()
    }
}

fn refused(error: VaultError) -> Error {
    Error::new(error.code(), error.to_string())
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
        self.transaction
            .borrow_mut()
            .stat(path)
            .map(entry)
            .map_err(refused)
    }

    fn read(&self, path: &str) -> Result<Blob> {
        let blob = self.transaction.borrow_mut().read(path).map_err(refused)?;
        Ok(Blob {
            bytes: blob.bytes.to_vec(),
            etag: blob.etag,
        })
    }

    fn list(&self, folder: &str, recursive: bool, after: Option<&str>, limit: u32) -> Result<Page> {
        let page = self
            .transaction
            .borrow_mut()
            .list(folder, recursive, after, limit)
            .map_err(refused)?;
        Ok(Page {
            entries: page.entries.into_iter().map(entry).collect(),
            next: page.next,
        })
    }

    fn resolve(&self, name: &str, source: Option<&str>) -> Result<Vec<String>> {
        self.transaction
            .borrow_mut()
            .resolve(name, source)
            .map_err(refused)
    }

    fn write(&self, path: &str, bytes: &[u8], if_match: Option<&str>) -> Result<String> {
        self.transaction
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
    fn versions(&self, _: &str, _: Option<&str>, _: u32) -> Result<Vec<Version>> {
        not_measured()
    }
    fn read_version(&self, _: &str, _: &str) -> Result<Blob> {
        not_measured()
    }
    fn name_version(&self, _: &str, _: &str, _: Option<&str>) -> Result<()> {
        not_measured()
    }
    fn store_get(&self, key: &str) -> Result<Option<Vec<u8>>> {
        self.transaction
            .borrow_mut()
            .store_get(key)
            .map_err(refused)
    }
    fn store_set(&self, _: &str, _: &[u8]) -> Result<()> {
        not_measured()
    }
    fn store_remove(&self, _: &str) -> Result<()> {
        not_measured()
    }
    fn store_keys(&self, prefix: &str) -> Result<Vec<String>> {
        self.transaction
            .borrow_mut()
            .store_keys(prefix)
            .map_err(refused)
    }
    fn index_state(&self) -> IndexState {
        self.index
            .state(&self.transaction.borrow())
            .expect("the index answers")
    }
    fn find(&self, query: &Query) -> Result<Found> {
        self.answer(Question::Find(query.clone()))
    }
    fn backlinks(&self, of: &BacklinksQuery) -> Result<Backlinks> {
        self.answer(Question::Backlinks(of.clone()))
    }
    fn unresolved(&self, within: &UnresolvedQuery) -> Result<Unresolved> {
        self.answer(Question::Unresolved(within.clone()))
    }
    fn tags(&self, of: &TagsQuery) -> Result<Tags> {
        self.answer(Question::Tags(of.clone()))
    }
    fn edges(&self) -> Result<Edges> {
        self.answer(Question::Edges)
    }
    fn files(&self) -> Result<Vec<String>> {
        self.paths(Question::Files)
    }
    fn linking(&self, files: &[String]) -> Result<Vec<String>> {
        self.paths(Question::Linking(files.to_vec()))
    }
    fn containing(&self, texts: &[Vec<String>]) -> Result<Vec<String>> {
        self.paths(Question::Containing(texts.to_vec()))
    }
    fn names_in(&self, text: &str) -> Result<Vec<NameAt>> {
        self.answer(Question::NamesIn(text.to_owned()))
    }
    fn now(&self) -> Now {
        EmptyEnvironment.now()
    }
    fn about(&self) -> Result<About> {
        Ok(EmptyEnvironment.about())
    }
    fn caller(&self) -> Result<CallerInfo> {
        Ok(EmptyEnvironment.caller())
    }
    fn conventions(&self) -> Result<Conventions> {
        Ok(Conventions::default())
    }
    fn notify(&self, _: Level, _: &str) -> Result<()> {
        not_measured()
    }
    fn log(&self, _: Level, _: &str) {}
}
