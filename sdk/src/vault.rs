//! The vault as a domain sees it. [`RawVault`] is the contract's handle, function by function; [`Vault`] is the same
//! with what most actions want added in `notes`. Behind it stands the host, or [`MemoryVault`] in tests.

use crate::host::{About, CallerTold, Conventions, Now};
use crate::index::{
    Backlinks, BacklinksOf, Edges, Found, IndexState, NameAt, Query, Tags, TagsOf, Unresolved,
    UnresolvedIn,
};
use crate::{MemoryVault, Result};

/// What an action is handed: the notes, as far as this call may see and change them.
pub type Vault = dyn RawVault;

/// A file or a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// Which of the two it is.
    pub kind: Kind,
    /// In bytes; 0 for a folder.
    pub size: u64,
    /// Milliseconds since 1970.
    pub modified: u64,
}

/// Some of a longer list, in order of path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// What is on this page.
    pub entries: Vec<Entry>,
    /// Where the next page begins, if there is one.
    pub next: Option<String>,
}

/// The bytes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Names this content: equal bytes have equal etags.
    pub etag: String,
}

/// What the caller may do in a place; each includes the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Nothing: for this caller the place does not exist.
    None,
    /// Read.
    Read,
    /// Create, change, rename.
    Write,
    /// Remove.
    Delete,
}

impl Tier {
    /// The word that admins write: `none`, `r`, `rw`, `rwd`.
    pub fn word(self) -> &'static str {
        match self {
            Tier::None => "none",
            Tier::Read => "r",
            Tier::Write => "rw",
            Tier::Delete => "rwd",
        }
    }

    /// The hint for a person when a caller lacks this tier in a notebook.
    pub fn granting(self, notebook: &str) -> String {
        let is_plain = |letter: char| letter.is_alphanumeric() || "._-".contains(letter);
        let notebook = if notebook.chars().all(is_plain) {
            notebook.to_owned()
        } else {
            format!("'{}'", notebook.replace('\'', r"'\''"))
        };
        format!(
            "an admin can allow it: `notehost permission set {notebook} {}`",
            self.word()
        )
    }
}

/// Something that was removed and can be had back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trashed {
    /// For `restore`.
    pub id: String,
    /// Where it was.
    pub path: String,
    /// In bytes.
    pub size: u64,
    /// When it was removed, in milliseconds since 1970.
    pub removed: u64,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is new.
    Create,
    /// It has other bytes.
    Modify,
    /// It has another path.
    Rename,
    /// It is gone.
    Delete,
}

impl ChangeKind {
    /// The word that callers see.
    pub fn word(self) -> &'static str {
        match self {
            ChangeKind::Create => "create",
            ChangeKind::Modify => "modify",
            ChangeKind::Rename => "rename",
            ChangeKind::Delete => "delete",
        }
    }
}

/// One thing that a commit did to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The file.
    pub path: String,
    /// What happened to it.
    pub kind: ChangeKind,
    /// Its earlier path, if it was renamed.
    pub from: Option<String>,
    /// Its etag before.
    pub before: Option<String>,
    /// Its etag after.
    pub after: Option<String>,
}

/// One commit, as far as the caller may see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// For `undo` and `before`.
    pub id: String,
    /// In milliseconds since 1970.
    pub time: u64,
    /// Who called.
    pub caller: String,
    /// Which action of which domain, such as `document.append`.
    pub action: String,
    /// The change that this one took back.
    pub undoes: Option<String>,
    /// Whether a later change took this one back.
    pub undone: bool,
    /// What it did.
    pub files: Vec<FileChange>,
}

/// The part of a reply that is not text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A picture.
    Image {
        /// Its bytes.
        bytes: Vec<u8>,
        /// Its MIME type.
        mime: String,
    },
    /// A note or file of the vault, by its path.
    Link(String),
}

/// How much a log line matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// For the author.
    Debug,
    /// For an admin who looks.
    Info,
    /// For an admin to look at.
    Warn,
    /// Something is broken.
    Error,
}

/// The contract's vault, function by function; `wit/domain.wit` tells what each promises.
pub trait RawVault {
    /// What is at a path.
    fn stat(&self, path: &str) -> Result<Entry>;
    /// A file's bytes.
    fn read(&self, path: &str) -> Result<Blob>;
    /// The entries of a folder, or of everything below it, sorted by path.
    fn list(&self, folder: &str, recursive: bool, after: Option<&str>, limit: u32) -> Result<Page>;
    /// The files that a link or a bare name could mean, the best first.
    fn resolve(&self, name: &str, source: Option<&str>) -> Result<Vec<String>>;
    /// The notes that contain at least one of these texts, whatever the case.
    fn mentioning(&self, texts: &[String]) -> Result<Vec<String>>;
    /// What the caller may do at a path, whatever this action may.
    fn access(&self, path: &str) -> Tier;
    /// A new file; returns its etag.
    fn create(&self, path: &str, bytes: &[u8]) -> Result<String>;
    /// Other bytes for a file that is there; returns its etag.
    fn write(&self, path: &str, bytes: &[u8], if_match: Option<&str>) -> Result<String>;
    /// A new, empty folder.
    fn create_folder(&self, path: &str) -> Result<()>;
    /// Another path for a file or a folder.
    fn rename(&self, from: &str, to: &str) -> Result<()>;
    /// A file, or a folder with all that is in it, goes to the trash; returns the trash ids.
    fn remove(&self, path: &str) -> Result<Vec<String>>;
    /// What is in the trash, the latest first.
    fn trash(&self, after: Option<&str>, limit: u32) -> Result<Vec<Trashed>>;
    /// Something from the trash goes back; returns its path.
    fn restore(&self, id: &str, to: Option<&str>) -> Result<String>;
    /// The commits that touched a path, or any, the latest first.
    fn history(&self, path: Option<&str>, after: Option<&str>, limit: u32) -> Result<Vec<Change>>;
    /// A file as it was before a change; `None` if that change made it.
    fn before(&self, path: &str, change: &str) -> Result<Option<Blob>>;
    /// Stage the opposite of a change.
    fn undo(&self, change: &str) -> Result<Vec<FileChange>>;

    /// A value of the component's own store.
    fn store_get(&self, key: &str) -> Result<Option<Vec<u8>>>;
    /// Give a key of the store a value.
    fn store_set(&self, key: &str, value: &[u8]) -> Result<()>;
    /// Forget a key of the store.
    fn store_remove(&self, key: &str) -> Result<()>;
    /// The keys of the store that begin with a prefix, sorted.
    fn store_keys(&self, prefix: &str) -> Result<Vec<String>>;

    /// How far the index is.
    fn index_state(&self) -> IndexState;
    /// Notes that fulfil a condition.
    fn find(&self, query: &Query) -> Result<Found>;
    /// Links to a file, with line and context.
    fn backlinks(&self, of: &BacklinksOf) -> Result<Backlinks>;
    /// Links that lead nowhere.
    fn unresolved(&self, within: &UnresolvedIn) -> Result<Unresolved>;
    /// Tags and how often they are used.
    fn tags(&self, of: &TagsOf) -> Result<Tags>;
    /// Which note links to which.
    fn edges(&self) -> Result<Edges>;
    /// Every file, sorted by path.
    fn files(&self) -> Result<Vec<String>>;
    /// The notes in which a link stands that leads to one of these files, or might if it were there.
    fn linking(&self, files: &[String]) -> Result<Vec<String>>;
    /// The notes that may contain, for each of these lists, at least one of its texts, whatever the case.
    fn containing(&self, texts: &[Vec<String>]) -> Result<Vec<String>>;
    /// The names and aliases of notes that stand in a text.
    fn names_in(&self, text: &str) -> Result<Vec<NameAt>>;

    /// The moment, and what the owner's clock shows.
    fn now(&self) -> Now;
    /// The host, and what it serves.
    fn about(&self) -> Result<About>;
    /// Who calls.
    fn caller(&self) -> Result<CallerTold>;
    /// How the owner keeps the notes.
    fn conventions(&self) -> Result<Conventions>;
    /// Show a message to the people who watch the host; in a dry run nobody sees it.
    fn notify(&self, level: Level, message: &str) -> Result<()>;

    /// Tell the caller how far a long call has come: so much is done of so much, and in a few words what. It may be told
    /// often; `vault.steps` counts. Never the content of notes. Who runs actions without callers may ignore it.
    fn progress(&self, done: u64, total: Option<u64>, message: &str) {
        let _ = (done, total, message);
    }

    /// A line for the host's log. Never the content of notes.
    fn log(&self, level: Level, message: &str);
}

impl Vault {
    /// A vault in memory, with the real semantics, for tests.
    pub fn in_memory() -> MemoryVault {
        MemoryVault::new()
    }
}
