//! The vault's error type, with the error codes of the contract, and the outcome of a commit.
//!
//! Invariant: no message contains an absolute path or reveals a path that the caller may not see.

use notehost_platform::shell::quoted;
use notehost_sdk::Code;
use serde_json::{Value, json};

use crate::access::Tier;

/// Why the vault refused or failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct VaultError {
    code: Code,
    /// What was wrong, for the model that called.
    pub message: String,
    /// Boxed, as few errors have one and every result has room for an error.
    hint: Option<Box<Hint>>,
    /// Details for programs, as a JSON object.
    pub details: Option<Value>,
}

/// What an admin can do.
#[derive(Debug, Clone, PartialEq)]
struct Hint(String);

impl VaultError {
    /// An error with a code of the contract.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        VaultError {
            code,
            message: message.into(),
            hint: None,
            details: None,
        }
    }

    /// Adds what a person can do.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(Box::new(Hint(hint.into())));
        self
    }

    pub(crate) fn with_details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// An internal error.
    pub fn broken(what: &str) -> Self {
        VaultError::new(Code::InternalError, what)
    }

    /// The contract's code: `not_found`, `already_exists`, ….
    pub fn code(&self) -> Code {
        self.code
    }

    /// Whether another process holds the vault.
    pub fn is_held(&self) -> bool {
        let details = self.details.as_ref();
        self.code == Code::Unavailable
            && details.is_some_and(|known| known.get("process").is_some())
    }

    /// What an admin can do about it.
    pub fn hint(&self) -> Option<String> {
        self.hint.as_ref().map(|hint| hint.0.clone())
    }

    /// `validation_error`.
    pub fn invalid(message: impl Into<String>) -> Self {
        VaultError::new(Code::ValidationError, message)
    }

    pub(crate) fn absent(path: &str) -> Self {
        let what = if path.to_ascii_lowercase().ends_with(".md") {
            "note"
        } else {
            "file"
        };
        VaultError::new(Code::NotFound, format!("no {what} `{path}`"))
    }

    pub(crate) fn absent_folder(path: &str) -> Self {
        VaultError::new(Code::NotFound, format!("no folder `{path}`"))
    }

    pub(crate) fn exists(path: &str) -> Self {
        VaultError::new(Code::AlreadyExists, format!("`{path}` is already there"))
            .with_details(json!({ "path": path }))
    }

    pub(crate) fn conflict(path: &str) -> Self {
        VaultError::new(
            Code::Conflict,
            format!("`{path}` is not as it was: read it again and repeat the change"),
        )
        .with_details(json!({ "path": path }))
    }

    /// Too low a tier at a path that the caller may see, or that looks the same whether it exists or not.
    /// `rule` is the glob of the rule that allows less here than in the rest of the notebook.
    pub(crate) fn denied(path: &str, needed: Tier, rule: Option<String>) -> Self {
        let notebook = match path.split_once('/') {
            Some((notebook, _)) => notebook,
            None if path.contains('.') => ".",
            None => path,
        };
        let verb = if needed == Tier::Delete {
            "remove"
        } else {
            "write"
        };
        let hint = match rule {
            Some(glob) => {
                format!("an admin can allow it: a rule in the config limits access to `{glob}`")
            }
            None => format!(
                "an admin can allow it: `notehost permission set {} {needed}`",
                quoted(notebook)
            ),
        };
        VaultError::new(
            Code::PermissionDenied,
            format!("may not {verb} at `{path}`"),
        )
        .with_hint(hint)
    }

    pub(crate) fn read_only(path: &str) -> Self {
        VaultError::new(Code::ReadOnly, format!("`{path}` is read-only on disk"))
            .with_hint("make the file and its folder writable for the user that runs notehost")
    }

    /// `too_large`.
    pub fn too_large(message: impl Into<String>) -> Self {
        VaultError::new(Code::TooLarge, message)
    }

    /// `timeout`: the call used up its time.
    pub fn timeout() -> Self {
        VaultError::new(
            Code::Timeout,
            "the call's time limit was reached while reading the vault",
        )
    }

    /// `internal_error`, with what was being done and why it failed.
    pub fn internal(doing: &str, cause: impl std::fmt::Display) -> Self {
        VaultError::new(Code::InternalError, format!("could not {doing}: {cause}"))
    }
}

/// Why a commit failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CommitError {
    /// What the call had read changed: run it again.
    #[error("files that the call has read were changed meanwhile")]
    Conflict {
        /// The file that changed, where it was one file.
        path: Option<String>,
    },
    /// It cannot be done; running it again does not help.
    #[error(transparent)]
    Failed(#[from] VaultError),
    /// It failed half way and could not be taken back: the next start decides whether it happened.
    #[error(transparent)]
    Unsettled(VaultError),
}
