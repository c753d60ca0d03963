//! The outcome of reading a file, compared with the indexed state.

use std::sync::Arc;

use super::file_events::{Edit, FileEvent};
use super::ignore::Ignored;
use crate::graph::{File, Graph};
use crate::text::Measure;
use notehost_vault::Stamp;

/// The outcome of reading a file.
pub(crate) enum FileRead {
    Gone,
    Same,
    /// Another stamp, the same content.
    Restamped(Stamp, bool),
    Read(Box<Read>),
}

impl FileRead {
    /// What happened to the file, seen from what is known of it.
    pub(crate) fn edit(&self, graph: &Graph, path: &str) -> Option<FileEvent> {
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

pub(crate) struct Read {
    pub(crate) file: File,
    pub(crate) text: Option<ReadText>,
    /// Whether searches leave it out, and by which filters: decided before any lock is taken, because a pattern of a vault
    /// can take long for a path.
    pub(crate) ignored: Option<(Arc<Ignored>, bool)>,
}

/// The input of the full-text half, prepared before any lock is taken because a note can be large.
pub(crate) struct ReadText {
    pub(crate) name: String,
    pub(crate) headings: String,
    pub(crate) text: Arc<str>,
    pub(crate) measure: Measure,
}

/// A file of which only the name is indexed: it is not a note, or cannot be read.
pub(crate) fn without_note(path: &str, stamp: Stamp) -> FileRead {
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
