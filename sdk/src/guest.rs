//! The component side of the contract: the generated bindings, the exports, and the vault of a call. The types of the
//! SDK are converted in `description`, `index_types` and `host_types`. Not for authors; `domain!` uses it.

#![allow(missing_docs, unreachable_pub, unsafe_code)]

wit_bindgen::generate!({
    path: "../wit",
    world: "component",
    pub_export_macro: true,
    export_macro_name: "export_bindings",
    default_bindings_module: "notehost_sdk::guest",
});

mod description;
mod host_types;
mod index_types;
mod memory;

#[global_allocator]
static MEMORY: memory::Memory = memory::memory();

use std::sync::OnceLock;
use std::time::Duration;

use crate::host::{About, CallerInfo, Conventions, Now};
use crate::index::{
    Backlinks, BacklinksQuery, Edges, Found, IndexState, NameAt, Query, Tags, TagsQuery,
    Unresolved, UnresolvedQuery,
};
use crate::{
    Blob, CallLimits, Change, Code, Content, Describes, Entry, Error, FileChange, Kind, Level,
    Page, RawVault, Result, Tier, Trashed, Version,
};
pub use exports::notehost::domain::domain::Guest;
use notehost::domain::vault as wire;
use notehost::domain::{host, index as wire_index, log, progress, store, types};

/// The limits of the call. An instance runs one call.
static LIMITS: OnceLock<CallLimits> = OnceLock::new();

/// The reply of `describe`.
pub fn describe<D: Describes>() -> types::Description {
    description::to_wire(D::description())
}

/// The reply of `call`.
pub fn call<D: Describes>(
    vault: &wire::Vault,
    request: &types::Request,
) -> std::result::Result<types::Reply, types::Error> {
    LIMITS.get_or_init(|| CallLimits {
        time_left: Duration::from_millis(request.time_left.into()),
        reply_bytes: request.reply_bytes as usize,
    });
    let reply = D::call(vault, &request.action, &request.arguments).map_err(to_wire)?;
    Ok(types::Reply {
        text: reply.text,
        structured: reply.structured,
        content: reply.content.into_iter().map(content).collect(),
    })
}

fn content(content: Content) -> types::Content {
    match content {
        Content::Image { bytes, mime } => types::Content::Image(types::Media { bytes, mime }),
        Content::Audio { bytes, mime } => types::Content::Audio(types::Media { bytes, mime }),
        Content::Link(path) => types::Content::Link(path),
    }
}

/// Exports a domain as a component.
#[doc(hidden)]
#[macro_export]
macro_rules! export_component {
    ($domain:ident) => {
        #[doc(hidden)]
        struct ExportedComponent;

        impl $crate::guest::Guest for ExportedComponent {
            fn describe() -> $crate::guest::notehost::domain::types::Description {
                $crate::guest::describe::<$domain>()
            }

            fn call(
                vault: &$crate::guest::notehost::domain::vault::Vault,
                request: $crate::guest::notehost::domain::types::Request,
            ) -> Result<
                $crate::guest::notehost::domain::types::Reply,
                $crate::guest::notehost::domain::types::Error,
            > {
                $crate::guest::call::<$domain>(vault, &request)
            }
        }

        $crate::guest::export_bindings!(ExportedComponent with_types_in $crate::guest);
    };
}

fn to_wire(error: Error) -> types::Error {
    types::Error {
        code: error.code().to_owned(),
        message: error.message().to_owned(),
        hint: error.hint().map(str::to_owned),
        details: error.details().map(ToString::to_string),
    }
}

fn from_wire(error: types::Error) -> Error {
    let mut converted = Error::new(
        Code::parse(&error.code).unwrap_or(Code::InternalError),
        error.message,
    );
    if let Some(hint) = error.hint {
        converted = converted.with_hint(hint);
    }
    if let Some(details) = error
        .details
        .and_then(|text| serde_json::from_str(&text).ok())
    {
        converted = converted.with_details(details);
    }
    converted
}

impl RawVault for wire::Vault {
    fn stat(&self, path: &str) -> Result<Entry> {
        wire::Vault::stat(self, path).map(entry).map_err(from_wire)
    }

    fn read(&self, path: &str) -> Result<Blob> {
        wire::Vault::read(self, path).map(blob).map_err(from_wire)
    }

    fn list(&self, folder: &str, recursive: bool, after: Option<&str>, limit: u32) -> Result<Page> {
        let page = wire::Vault::list(self, folder, recursive, after, limit).map_err(from_wire)?;
        Ok(Page {
            entries: page.entries.into_iter().map(entry).collect(),
            next: page.next,
        })
    }

    fn resolve(&self, name: &str, source: Option<&str>) -> Result<Vec<String>> {
        wire::Vault::resolve(self, name, source).map_err(from_wire)
    }

    fn mentioning(&self, texts: &[String]) -> Result<Vec<String>> {
        wire::Vault::mentioning(self, texts).map_err(from_wire)
    }

    fn access(&self, path: &str) -> Tier {
        match wire::Vault::access(self, path) {
            wire::Tier::None => Tier::None,
            wire::Tier::Read => Tier::Read,
            wire::Tier::Write => Tier::Write,
            wire::Tier::Delete => Tier::Delete,
        }
    }

    fn create(&self, path: &str, bytes: &[u8]) -> Result<String> {
        wire::Vault::create(self, path, bytes).map_err(from_wire)
    }

    fn write(&self, path: &str, bytes: &[u8], if_match: Option<&str>) -> Result<String> {
        wire::Vault::write(self, path, bytes, if_match).map_err(from_wire)
    }

    fn create_folder(&self, path: &str) -> Result<()> {
        wire::Vault::create_folder(self, path).map_err(from_wire)
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        wire::Vault::rename(self, from, to).map_err(from_wire)
    }

    fn remove(&self, path: &str) -> Result<Vec<String>> {
        wire::Vault::remove(self, path).map_err(from_wire)
    }

    fn trash(&self, after: Option<&str>, limit: u32) -> Result<Vec<Trashed>> {
        let trashed = wire::Vault::trash(self, after, limit).map_err(from_wire)?;
        Ok(trashed
            .into_iter()
            .map(|item| Trashed {
                id: item.id,
                path: item.path,
                size: item.size,
                removed: item.removed,
            })
            .collect())
    }

    fn restore(&self, id: &str, to: Option<&str>) -> Result<String> {
        wire::Vault::restore(self, id, to).map_err(from_wire)
    }

    fn history(&self, path: Option<&str>, after: Option<&str>, limit: u32) -> Result<Vec<Change>> {
        let changes = wire::Vault::history(self, path, after, limit).map_err(from_wire)?;
        Ok(changes.into_iter().map(change).collect())
    }

    fn before(&self, path: &str, change: &str) -> Result<Option<Blob>> {
        let before = wire::Vault::before(self, path, change).map_err(from_wire)?;
        Ok(before.map(blob))
    }

    fn undo(&self, change: &str) -> Result<Vec<FileChange>> {
        let files = wire::Vault::undo(self, change).map_err(from_wire)?;
        Ok(files.into_iter().map(file_change).collect())
    }

    fn versions(&self, path: &str, after: Option<&str>, limit: u32) -> Result<Vec<Version>> {
        let versions = wire::Vault::versions(self, path, after, limit).map_err(from_wire)?;
        Ok(versions.into_iter().map(version).collect())
    }

    fn read_version(&self, path: &str, version: &str) -> Result<Blob> {
        let found = wire::Vault::read_version(self, path, version).map_err(from_wire)?;
        Ok(blob(found))
    }

    fn name_version(&self, path: &str, version: &str, name: Option<&str>) -> Result<()> {
        wire::Vault::name_version(self, path, version, name).map_err(from_wire)
    }

    fn store_get(&self, key: &str) -> Result<Option<Vec<u8>>> {
        store::get(key).map_err(from_wire)
    }

    fn store_set(&self, key: &str, value: &[u8]) -> Result<()> {
        store::set(key, value).map_err(from_wire)
    }

    fn store_remove(&self, key: &str) -> Result<()> {
        store::remove(key).map_err(from_wire)
    }

    fn store_keys(&self, prefix: &str) -> Result<Vec<String>> {
        store::keys(prefix).map_err(from_wire)
    }

    fn index_state(&self) -> IndexState {
        wire_index::state(self).into()
    }

    fn find(&self, query: &Query) -> Result<Found> {
        query.check()?;
        let found = wire_index::find(self, &index_types::query(query)).map_err(from_wire)?;
        Ok(found.into())
    }

    fn backlinks(&self, of: &BacklinksQuery) -> Result<Backlinks> {
        let query = wire_index::BacklinksQuery::from(of.clone());
        let backlinks = wire_index::backlinks(self, &query).map_err(from_wire)?;
        Ok(backlinks.into())
    }

    fn unresolved(&self, within: &UnresolvedQuery) -> Result<Unresolved> {
        let query = wire_index::UnresolvedQuery::from(within.clone());
        let unresolved = wire_index::unresolved(self, &query).map_err(from_wire)?;
        Ok(unresolved.into())
    }

    fn tags(&self, of: &TagsQuery) -> Result<Tags> {
        let query = wire_index::TagsQuery::from(of.clone());
        let tags = wire_index::tags(self, &query).map_err(from_wire)?;
        Ok(tags.into())
    }

    fn edges(&self) -> Result<Edges> {
        let graph = wire_index::edges(self).map_err(from_wire)?;
        Ok(graph.into())
    }

    fn files(&self) -> Result<Vec<String>> {
        wire_index::files(self).map_err(from_wire)
    }

    fn linking(&self, files: &[String]) -> Result<Vec<String>> {
        wire_index::linking(self, files).map_err(from_wire)
    }

    fn containing(&self, texts: &[Vec<String>]) -> Result<Vec<String>> {
        wire_index::containing(self, texts).map_err(from_wire)
    }

    fn names_in(&self, text: &str) -> Result<Vec<NameAt>> {
        let names = wire_index::names_in(self, text).map_err(from_wire)?;
        Ok(crate::wire::list(names))
    }

    fn now(&self) -> Now {
        host::now().into()
    }

    fn about(&self) -> Result<About> {
        Ok(host::about(self).map_err(from_wire)?.into())
    }

    fn caller(&self) -> Result<CallerInfo> {
        Ok(host::caller(self).map_err(from_wire)?.into())
    }

    fn conventions(&self) -> Result<Conventions> {
        Ok(host::conventions(self).map_err(from_wire)?.into())
    }

    fn limits(&self) -> CallLimits {
        LIMITS.get().copied().unwrap_or(CallLimits::UNLIMITED)
    }

    fn notify(&self, level: Level, message: &str) -> Result<()> {
        host::notify(level_of(level), message).map_err(from_wire)
    }

    fn progress(&self, done: u64, total: Option<u64>, message: &str) {
        progress::report(done, total, message);
    }

    fn log(&self, level: Level, message: &str) {
        log::write(level_of(level), message);
    }
}

fn level_of(level: Level) -> log::Level {
    match level {
        Level::Debug => log::Level::Debug,
        Level::Info => log::Level::Info,
        Level::Warn => log::Level::Warn,
        Level::Error => log::Level::Error,
    }
}

fn entry(entry: wire::Entry) -> Entry {
    Entry {
        path: entry.path,
        kind: match entry.kind {
            wire::Kind::File => Kind::File,
            wire::Kind::Folder => Kind::Folder,
        },
        size: entry.size,
        modified: entry.modified,
    }
}

fn blob(blob: wire::Blob) -> Blob {
    Blob {
        bytes: blob.bytes,
        etag: blob.etag,
    }
}

fn change(change: wire::Change) -> Change {
    Change {
        id: change.id,
        time: change.time,
        caller: change.caller,
        action: change.action,
        undoes: change.undoes,
        undone: change.undone,
        files: change.files.into_iter().map(file_change).collect(),
    }
}

fn version(version: wire::Version) -> Version {
    Version {
        id: version.id,
        path: version.path,
        change: version.change.map(change),
        etag: version.etag,
        name: version.name,
        added: version.added,
        removed: version.removed,
        kept: version.kept,
    }
}

fn file_change(change: wire::FileChange) -> FileChange {
    use crate::ChangeKind;
    FileChange {
        path: change.path,
        kind: match change.kind {
            wire::ChangeKind::Create => ChangeKind::Create,
            wire::ChangeKind::Modify => ChangeKind::Modify,
            wire::ChangeKind::Rename => ChangeKind::Rename,
            wire::ChangeKind::Delete => ChangeKind::Delete,
        },
        from: change.from,
        before: change.before,
        after: change.after,
    }
}
