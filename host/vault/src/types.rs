//! Input and output types of a transaction: the records of the contract's `vault` interface in Rust.
//! The SDK has those that are the same for components.

use std::sync::Arc;

use crate::diff::LineDiff;

pub use notehost_sdk::{ChangeKind, Entry, Kind, Page, Trashed};

/// The bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// The content.
    pub bytes: Arc<[u8]>,
    /// Identifies the content: equal bytes have equal etags.
    pub etag: String,
}

/// One thing that a commit did to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The file; after a rename its new path.
    pub path: String,
    /// What happened to it.
    pub kind: ChangeKind,
    /// The earlier path of a file that was renamed.
    pub from: Option<String>,
    /// Its etag before, if it was there.
    pub before: Option<String>,
    /// Its etag after, if it is there.
    pub after: Option<String>,
}

/// One commit, as far as the caller may see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// For `undo` and `before`.
    pub id: String,
    /// Milliseconds since 1970.
    pub time: u64,
    /// Who called.
    pub caller: String,
    /// Which action of which domain.
    pub action: String,
    /// The change that this one took back.
    pub undoes: Option<String>,
    /// Whether a later change took this one back.
    pub undone: bool,
    /// What happened to files that the caller may see.
    pub files: Vec<FileChange>,
}

/// Whether a change was made by a caller, through whatever client: changes are recorded with the client's name, as in
/// `stdio (claude-code)`. A signed token is another caller.
pub fn is_by(recorded: &str, caller: &str) -> bool {
    let rest = recorded.strip_prefix(caller);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" (") && rest != " (signed)")
}

/// The changes of one caller in a time span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSelection {
    /// Who made them.
    pub caller: String,
    /// The beginning, in milliseconds since 1970.
    pub since: u64,
    /// The end, inclusive; `None` for now.
    pub until: Option<u64>,
}

/// What the undo of a run comes to, besides what is staged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunUndo {
    /// The changes of the run, the latest first.
    pub changes: Vec<Change>,
    /// Files that stay as they are, by path.
    pub conflicts: Vec<UndoConflict>,
}

/// A file that the undo of a run leaves as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoConflict {
    /// The file, by its path after the change.
    pub path: String,
    /// The change that cannot be undone in it.
    pub change: String,
    /// Why.
    pub reason: String,
}

/// A version of a file: a state that a change left, or that another program wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// The id of the change that left it; else `before-` and the id of the change that replaced it, or `current`.
    pub id: String,
    /// The path of the file then.
    pub path: String,
    /// The change that left it; `None` if another program wrote it.
    pub change: Option<Change>,
    /// Its etag; `None` if the file was removed.
    pub etag: Option<String>,
    /// Its name, if a caller gave it one.
    pub name: Option<String>,
    /// Lines added since the version before, for binary content bytes; `None` if that is not known.
    pub added: Option<u64>,
    /// Lines removed since the version before.
    pub removed: Option<u64>,
    /// Whether its content can be read.
    pub kept: bool,
}

/// The net effect of a transaction on one file, before it is committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagedChange {
    /// The file; after a rename its new path.
    pub path: String,
    /// What would happen to it.
    pub kind: ChangeKind,
    /// The earlier path of a file that is renamed.
    pub from: Option<String>,
    /// Its bytes now; `None` if it is not there, if it is only renamed, or if it is too large to show.
    pub before: Option<Arc<[u8]>>,
    /// Its bytes then; `None` if it will not be there, or if it is only renamed.
    pub after: Option<Arc<[u8]>>,
    /// Its etag now, if it is there.
    pub etag_before: Option<String>,
    /// Its etag then.
    pub etag: Option<String>,
    /// Lines added; for binary content bytes.
    pub added: u64,
    /// Lines removed; for binary content bytes.
    pub removed: u64,
    /// How the lines differ, for [`crate::unified_diff`].
    pub lines: LineDiff,
}

impl StagedChange {
    /// A note of which only the text changes. Tests of code that assesses changes use it.
    #[doc(hidden)]
    pub fn of_texts(path: &str, before: &str, after: &str) -> StagedChange {
        let lines = |text: &str| text.lines().count() as u64;
        StagedChange {
            path: path.into(),
            kind: ChangeKind::Modify,
            from: None,
            before: Some(before.as_bytes().into()),
            after: Some(after.as_bytes().into()),
            etag_before: Some("before".into()),
            etag: None,
            added: lines(after),
            removed: lines(before),
            lines: LineDiff::default(),
        }
    }
}

/// In whose name something is committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitNote {
    /// Who called.
    pub caller: String,
    /// Which action, as `document.append`.
    pub action: String,
    /// The key of this call, to find out later whether it was committed.
    pub key: Option<String>,
}

/// What a commit did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// Whether anything changed: a note, a folder, or the store of a component.
    pub is_landed: bool,
    /// For `undo`; `None` if nothing changed.
    pub change: Option<String>,
    /// What happened to which file.
    pub files: Vec<FileChange>,
}
