//! What looking at a file came to, compared with what is known of it.

use std::sync::Arc;

use super::edits::{Edit, Edited};
use super::graph::{File, Graph};
use super::ignore::Ignored;
use super::text::Measure;
use notehost_vault::Stamp;

/// What looking at a file came to.
pub(super) enum Look {
    Gone,
    Same,
    /// Another stamp, the same content.
    Restamped(Stamp, bool),
    Read(Box<Read>),
}

impl Look {
    /// What happened to the file, seen from what is known of it.
    pub(super) fn edit(&self, graph: &Graph, path: &str) -> Option<Edited> {
        let edit = match (self, graph.slot(path).is_some()) {
            (Look::Gone, true) => Edit::Gone,
            (Look::Read(_), true) => Edit::Altered,
            (Look::Read(_), false) => Edit::Appeared,
            (Look::Gone, false) | (Look::Same | Look::Restamped(..), _) => return None,
        };
        let path = path.to_owned();
        Some(Edited { path, edit })
    }
}

pub(super) struct Read {
    pub(super) file: File,
    pub(super) text: Option<ReadText>,
    /// Whether searches leave it out, and by which filters: decided before any lock is taken, because a pattern of a vault
    /// can take long for a path.
    pub(super) ignored: Option<(Arc<Ignored>, bool)>,
}

/// What the full-text half is told of a note: made before any lock is taken, because a note can be large.
pub(super) struct ReadText {
    pub(super) name: String,
    pub(super) headings: String,
    pub(super) text: Arc<str>,
    pub(super) measure: Measure,
}

/// A note that is there and cannot be read: its name is known.
pub(super) fn unreadable(path: &str, stamp: Stamp) -> Look {
    Look::Read(Box::new(Read {
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
