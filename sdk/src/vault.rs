//! The vault as a domain sees it. [`RawVault`] mirrors the functions of the contract; [`Vault`] adds the convenience
//! functions in `notes`. The implementation is the host, or [`MemoryVault`] in tests.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::host::{About, CallerInfo, Conventions, Now};
use crate::index::{
    Backlinks, BacklinksQuery, Edges, Found, IndexState, NameAt, Query, Tags, TagsQuery,
    Unresolved, UnresolvedQuery,
};
use crate::{MemoryVault, Result};

/// The vault of a call, with the notes that this call may see and change.
pub type Vault = dyn RawVault;

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A file.
    File,
    /// A folder.
    Folder,
}

/// A file or a folder of the vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its path in the vault.
    pub path: String,
    /// Whether it is a file or a folder.
    pub kind: Kind,
    /// In bytes; 0 for a folder.
    pub size: u64,
    /// Milliseconds since 1970.
    pub modified: u64,
}

/// A page of a list, in order of path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The entries of this page.
    pub entries: Vec<Entry>,
    /// The `after` of the next page, if there is one.
    pub next: Option<String>,
}

/// The bytes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Identifies the content: equal bytes have equal etags.
    pub etag: String,
}

/// What the caller may do at a path; each tier includes the previous ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Nothing: for this caller the path does not exist.
    None,
    /// Read.
    Read,
    /// Create, modify, rename.
    Write,
    /// Delete.
    Delete,
}

impl Tier {
    /// The notation in permissions: `none`, `r`, `rw`, `rwd`.
    pub fn as_str(self) -> &'static str {
        match self {
            Tier::None => "none",
            Tier::Read => "r",
            Tier::Write => "rw",
            Tier::Delete => "rwd",
        }
    }

    /// The hint for a person if a caller lacks this tier in a notebook.
    pub fn grant_hint(self, notebook: &str) -> String {
        let is_plain = |letter: char| letter.is_alphanumeric() || "._-".contains(letter);
        let notebook = if notebook.chars().all(is_plain) {
            notebook.to_owned()
        } else {
            format!("'{}'", notebook.replace('\'', r"'\''"))
        };
        format!(
            "an admin can allow it: `notehost permission set {notebook} {}`",
            self.as_str()
        )
    }
}

/// A file in the trash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trashed {
    /// For `restore`.
    pub id: String,
    /// Its former path.
    pub path: String,
    /// In bytes.
    pub size: u64,
    /// Time of removal, in milliseconds since 1970.
    pub removed: u64,
}

/// The kind of change to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// It was created.
    Create,
    /// Its bytes changed.
    Modify,
    /// Its path changed.
    Rename,
    /// It was deleted.
    Delete,
}

impl ChangeKind {
    /// The name that callers see.
    pub fn as_str(self) -> &'static str {
        match self {
            ChangeKind::Create => "create",
            ChangeKind::Modify => "modify",
            ChangeKind::Rename => "rename",
            ChangeKind::Delete => "delete",
        }
    }
}

/// The effect of a commit on one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The file.
    pub path: String,
    /// The kind of change.
    pub kind: ChangeKind,
    /// Its previous path, if it was renamed.
    pub from: Option<String>,
    /// Its etag before.
    pub before: Option<String>,
    /// Its etag after.
    pub after: Option<String>,
}

/// A commit, limited to the files that the caller may see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// For `undo` and `before`.
    pub id: String,
    /// In milliseconds since 1970.
    pub time: u64,
    /// The caller's name.
    pub caller: String,
    /// The action, such as `document.append`.
    pub action: String,
    /// The change that this one undoes.
    pub undoes: Option<String>,
    /// Whether a later change undoes this one.
    pub undone: bool,
    /// The changed files.
    pub files: Vec<FileChange>,
}

/// A version of a file: a state that a change left, or that another program wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// For `read_version`: the id of the change that left it. If another program wrote it, `before-` and the id of the
    /// change that replaced it, or `current`.
    pub id: String,
    /// The path of the file then.
    pub path: String,
    /// The change that left it; `None` if another program wrote it.
    pub change: Option<Change>,
    /// Its etag; `None` if the file was removed.
    pub etag: Option<String>,
    /// Its name, if a caller gave it one.
    pub name: Option<String>,
    /// Lines added since the version before (bytes, if it is not text); `None` if that is not known.
    pub added: Option<u64>,
    /// Lines removed since the version before.
    pub removed: Option<u64>,
    /// Whether its content can still be read.
    pub kept: bool,
}

/// Non-text content of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// An image.
    Image {
        /// Its bytes.
        bytes: Vec<u8>,
        /// Its MIME type.
        mime: String,
    },
    /// Audio.
    Audio {
        /// Its bytes.
        bytes: Vec<u8>,
        /// Its MIME type.
        mime: String,
    },
    /// A link to a note or file of the vault, by its path.
    Link(String),
}

/// The limits of a call, as of its start. A long list should stop before them and return a cursor for the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallLimits {
    /// The time until the call is terminated.
    pub time_left: Duration,
    /// The maximum size of the result as JSON, in bytes; the host truncates larger ones.
    pub reply_bytes: usize,
}

impl CallLimits {
    /// No limits, as in tests.
    pub const UNLIMITED: CallLimits = CallLimits {
        time_left: Duration::MAX,
        reply_bytes: usize::MAX,
    };
}

/// The level of a log line or message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Details for the author.
    Debug,
    /// Information for an admin.
    Info,
    /// A problem that an admin should check.
    Warn,
    /// A failure.
    Error,
}

/// The functions of the contract; `wit/domain.wit` specifies them.
pub trait RawVault {
    /// The file or folder at a path.
    fn stat(&self, path: &str) -> Result<Entry>;
    /// The bytes of a file.
    fn read(&self, path: &str) -> Result<Blob>;
    /// The entries of a folder, or of everything below it, sorted by path.
    fn list(&self, folder: &str, recursive: bool, after: Option<&str>, limit: u32) -> Result<Page>;
    /// The files that a link or bare name can refer to, best match first.
    fn resolve(&self, name: &str, source: Option<&str>) -> Result<Vec<String>>;
    /// The notes that contain at least one of these texts (case-insensitive).
    fn mentioning(&self, texts: &[String]) -> Result<Vec<String>>;
    /// What the caller may do at a path, regardless of this action's effect.
    fn access(&self, path: &str) -> Tier;
    /// Creates a file; returns its etag.
    fn create(&self, path: &str, bytes: &[u8]) -> Result<String>;
    /// Replaces the bytes of a file; returns its new etag.
    fn write(&self, path: &str, bytes: &[u8], if_match: Option<&str>) -> Result<String>;
    /// Creates an empty folder.
    fn create_folder(&self, path: &str) -> Result<()>;
    /// Renames or moves a file or folder.
    fn rename(&self, from: &str, to: &str) -> Result<()>;
    /// Moves a file, or a folder with its content, to the trash; returns the trash ids.
    fn remove(&self, path: &str) -> Result<Vec<String>>;
    /// The content of the trash, latest first.
    fn trash(&self, after: Option<&str>, limit: u32) -> Result<Vec<Trashed>>;
    /// Restores a file from the trash; returns its path.
    fn restore(&self, id: &str, to: Option<&str>) -> Result<String>;
    /// The commits that touched a path, or all commits, latest first.
    fn history(&self, path: Option<&str>, after: Option<&str>, limit: u32) -> Result<Vec<Change>>;
    /// The content of a file before a change; `None` if that change created it.
    fn before(&self, path: &str, change: &str) -> Result<Option<Blob>>;
    /// Stages the inverse of a change.
    fn undo(&self, change: &str) -> Result<Vec<FileChange>>;
    /// The versions of a file, latest first, also under previous names and after its removal.
    fn versions(&self, path: &str, after: Option<&str>, limit: u32) -> Result<Vec<Version>>;
    /// The content of a version of a file, by its id or name, `current`, or `before-` and the id of a change.
    fn read_version(&self, path: &str, version: &str) -> Result<Blob>;
    /// Names a version of a file, or removes its name. A call that does may not write anything else.
    fn name_version(&self, path: &str, version: &str, name: Option<&str>) -> Result<()>;

    /// The value of a key in the component's store.
    fn store_get(&self, key: &str) -> Result<Option<Vec<u8>>>;
    /// Sets the value of a key in the store.
    fn store_set(&self, key: &str, value: &[u8]) -> Result<()>;
    /// Removes a key from the store.
    fn store_remove(&self, key: &str) -> Result<()>;
    /// The keys of the store with a prefix, sorted.
    fn store_keys(&self, prefix: &str) -> Result<Vec<String>>;

    /// The state of the index.
    fn index_state(&self) -> IndexState;
    /// Notes that match a condition.
    fn find(&self, query: &Query) -> Result<Found>;
    /// Links to a file, with line and context.
    fn backlinks(&self, of: &BacklinksQuery) -> Result<Backlinks>;
    /// Unresolved links.
    fn unresolved(&self, within: &UnresolvedQuery) -> Result<Unresolved>;
    /// Tags with their counts.
    fn tags(&self, of: &TagsQuery) -> Result<Tags>;
    /// The graph of links between notes.
    fn edges(&self) -> Result<Edges>;
    /// The path of every file, sorted.
    fn files(&self) -> Result<Vec<String>>;
    /// The notes with a link that resolves to one of these files, or would if it existed.
    fn linking(&self, files: &[String]) -> Result<Vec<String>>;
    /// A superset of the notes that contain, for each of these lists, at least one of its texts (case-insensitive).
    fn containing(&self, texts: &[Vec<String>]) -> Result<Vec<String>>;
    /// The names and aliases of notes that occur in a text.
    fn names_in(&self, text: &str) -> Result<Vec<NameAt>>;

    /// The current time, with the owner's time zone.
    fn now(&self) -> Now;
    /// The host and what it serves.
    fn about(&self) -> Result<About>;
    /// The caller and the remaining rate limits.
    fn caller(&self) -> Result<CallerInfo>;
    /// Conventions for notes, from the settings of the owner's editor.
    fn conventions(&self) -> Result<Conventions>;
    /// The limits of this call. The default implementation has none.
    fn limits(&self) -> CallLimits {
        CallLimits::UNLIMITED
    }

    /// Shows a message to the operators of the host; no effect in a dry run.
    fn notify(&self, level: Level, message: &str) -> Result<()>;

    /// Reports the progress of a long call to the caller: `done` of `total` steps, and a short message. May be called
    /// often; `vault.steps` counts. Never include the content of notes. The default implementation does nothing.
    fn progress(&self, done: u64, total: Option<u64>, message: &str) {
        let _ = (done, total, message);
    }

    /// Writes a line to the host's log. Never log the content of notes.
    fn log(&self, level: Level, message: &str);
}

impl Vault {
    /// A vault in memory with the semantics of the host, for tests.
    pub fn in_memory() -> MemoryVault {
        MemoryVault::new()
    }
}
