//! The reply of a call.

use serde_json::{Map, Value};

/// The reply of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// A short text.
    pub text: String,
    /// The structured reply; matches the action's output schema.
    pub structured: Map<String, Value>,
    /// Pictures, sounds and links.
    pub content: Vec<Content>,
}

impl Reply {
    /// For a change that landed and whose reply was lost in a panic.
    pub(crate) fn without_words(change: Option<&str>) -> Reply {
        let mut structured = Map::new();
        let mut undo = String::new();
        if let Some(change) = change {
            structured.insert("change".into(), change.into());
            undo = format!(" (change {change}, can be undone)");
        }
        Reply {
            text: format!(
                "The call was carried out{undo}. Its reply was lost in an internal error."
            ),
            structured,
            content: Vec::new(),
        }
    }
}

/// The part of a reply that is not text.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// A picture.
    Image {
        /// Its bytes.
        bytes: Vec<u8>,
        /// Its MIME type.
        mime: String,
    },
    /// A sound.
    Audio {
        /// Its bytes.
        bytes: Vec<u8>,
        /// Its MIME type.
        mime: String,
    },
    /// A note or file of the vault.
    Link {
        /// The vault's id.
        vault: String,
        /// The path in it.
        path: String,
    },
}
