//! The outcome of a call: a reply, or an error that states who can act.

use notehost_sdk::Code;
use serde_json::{Map, Value, json};

use notehost_vault::VaultError;

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
    pub(super) fn without_words(change: Option<&str>) -> Reply {
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

/// Why a call was refused or failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct CallError {
    /// The kind of failure.
    pub code: Code,
    /// For the model: how to fix the call.
    pub message: String,
    /// For a person: what an admin can do.
    pub hint: Option<String>,
    /// For programs.
    pub details: Option<Value>,
}

impl CallError {
    /// An error with a message for the model.
    pub fn new(code: Code, message: impl Into<String>) -> CallError {
        CallError {
            code,
            message: message.into(),
            hint: None,
            details: None,
        }
    }

    /// Adds a hint on what an admin can do.
    pub fn with_hint(mut self, hint: impl Into<String>) -> CallError {
        self.hint = Some(hint.into());
        self
    }

    /// Adds details for programs.
    pub fn with_details(mut self, details: Value) -> CallError {
        self.details = Some(details);
        self
    }

    /// Whether the same call may succeed later, unchanged.
    pub fn retryable(&self) -> bool {
        self.code.is_retryable()
    }

    /// `{"error": {…}}`, as callers see it.
    pub fn to_json(&self) -> Map<String, Value> {
        let mut error = Map::new();
        error.insert("code".into(), self.code.as_str().into());
        error.insert("message".into(), self.message.clone().into());
        if let Some(hint) = &self.hint {
            error.insert("hint".into(), hint.clone().into());
        }
        if let Some(details) = &self.details {
            error.insert("details".into(), details.clone());
        }
        error.insert("retryable".into(), self.retryable().into());
        Map::from_iter([("error".to_owned(), json!(error))])
    }
}

impl From<VaultError> for CallError {
    fn from(error: VaultError) -> Self {
        CallError {
            code: error.code(),
            message: error.to_string(),
            hint: error.hint(),
            details: error.details.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contract_lists_the_codes_of_components() {
        let contract = include_str!("../../../wit/domain.wit");
        for code in Code::all().filter(|code| code.is_for_components()) {
            assert!(contract.contains(&format!("`{code}`")), "{code}");
        }
    }
}
