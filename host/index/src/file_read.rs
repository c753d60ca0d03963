//! The outcome of reading a file, compared with the indexed state.

use std::sync::Arc;

use super::file_events::{Edit, FileEvent};
use super::graph::{File, Graph};
use super::ignore::Ignored;
use super::text::Measure;
use notehost_vault::Stamp;

/// What looking at a file came to.
pub(super) enum FileRead {
    Gone,
    Same,
    /// Another stamp, the same content.
    Restamped(Stamp, bool),
    Read(Box<Read>),
}

impl FileRead {
    /// What happened to the file, seen from what is known of it.
    pub(super) fn edit(&self, graph: &Graph, path: &str) -> Option<FileEvent> {
        let edit = match (self, graph.doc_id(path).is_some()) {
            (FileRead::Gone, true) => Edit::Gone,
            (FileRead::Read(_), true) => Edit::Altered,
            (FileRead::Read(_), false) => Edit::Appeared,
            (FileRead::Gone, false) | (FileRead::Same | FileRead::Restamped(..), _) => return None,
        };
        let path = path.to_owned();
        Some(FileEvent { path, edit })
    }
}

pub(super) struct Read {
    pub(super) file: File,
    pub(super) text: Option<ReadText>,
    /// Whether searches leave it out, and by which filters: decided before any lock is taken, because a pattern of a vault
    /// can take long for a path.
    pub(super) ignored: Option<(Arc<Ignored>, bool)>,
}

/// The input of the full-text half, prepared before any lock is taken because a note can be large.
pub(super) struct ReadText {
    pub(super) name: String,
    pub(super) headings: String,
    pub(super) text: Arc<str>,
    pub(super) measure: Measure,
}

/// A note that is there and cannot be read: its name is known.
pub(super) fn unreadable(path: &str, stamp: Stamp) -> FileRead {
    FileRead::Read(Box::new(Read {
        file: File {
            path: path.into(),
            stamp,
            is_unsure: false,
            note: None,
        },
        text: None,
        ignored: None,
    }))
}
