//! The outcome of a call: a reply, or an error that states who can act.

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
    /// One of [`CODES`].
    pub code: &'static str,
    /// For the model: how to fix the call.
    pub message: String,
    /// For a person: what an admin can do.
    pub hint: Option<String>,
    /// For programs.
    pub details: Option<Value>,
}

/// The codes that callers see.
pub const CODES: [&str; 21] = [
    "validation_error",
    "not_found",
    "already_exists",
    "ambiguous_name",
    "permission_denied",
    "read_only",
    "disabled",
    "unauthorized",
    "forbidden",
    "conflict",
    "confirmation_required",
    "approval_invalid",
    "throttled",
    "idempotency_in_flight",
    "idempotency_mismatch",
    "too_large",
    "timeout",
    "component_failed",
    "unsupported",
    "unavailable",
    "internal_error",
];

/// The codes reserved for the host: a component must not be able to pretend that one of its checks failed.
const OF_THE_HOST: [&str; 9] = [
    "disabled",
    "unauthorized",
    "forbidden",
    "confirmation_required",
    "approval_invalid",
    "throttled",
    "idempotency_in_flight",
    "idempotency_mismatch",
    "component_failed",
];

/// Parses an error code.
pub fn known_code(word: &str) -> Option<&'static str> {
    CODES.into_iter().find(|code| *code == word)
}

/// Parses an error code of a component; `None` if the contract does not allow it.
pub fn component_code(word: &str) -> Option<&'static str> {
    known_code(word).filter(|code| !OF_THE_HOST.contains(code))
}

impl CallError {
    /// An error with a message for the model.
    pub fn new(code: &'static str, message: impl Into<String>) -> CallError {
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
        matches!(
            self.code,
            "conflict" | "throttled" | "idempotency_in_flight" | "timeout" | "unavailable"
        )
    }

    /// `{"error": {…}}`, as callers see it.
    pub fn to_json(&self) -> Map<String, Value> {
        let mut error = Map::new();
        error.insert("code".into(), self.code.into());
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
            code: known_code(error.code()).unwrap_or("internal_error"),
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
    fn components_cannot_use_host_codes() {
        assert_eq!(component_code("not_found"), Some("not_found"));
        assert_eq!(component_code("made_up"), None);
        for code in OF_THE_HOST {
            assert_eq!(known_code(code), Some(code));
            assert_eq!(component_code(code), None, "{code}");
        }
        // What is left is what `wit/domain.wit` lists.
        let contract = include_str!("../../../wit/domain.wit");
        for code in CODES
            .into_iter()
            .filter(|code| component_code(code).is_some())
        {
            assert!(contract.contains(&format!("`{code}`")), "{code}");
        }
    }
}
