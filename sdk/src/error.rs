//! Errors of actions: a code, a message for the model, a hint for a person.

use serde_json::Value;

/// The result type of the SDK.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The code of an error. The codes are part of the contract with callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// The arguments are invalid.
    ValidationError,
    /// It does not exist, or this caller may not see it.
    NotFound,
    /// The path or name is taken.
    AlreadyExists,
    /// The name matches several things.
    AmbiguousName,
    /// This caller, component or action lacks the permission.
    PermissionDenied,
    /// The file or the vault cannot be written.
    ReadOnly,
    /// It changed since the caller read it.
    Conflict,
    /// It exceeds a limit.
    TooLarge,
    /// The call took too long.
    Timeout,
    /// The operation is not supported for this kind of thing.
    Unsupported,
    /// It is temporarily unavailable.
    Unavailable,
    /// A bug in the component or the host.
    InternalError,
}

const CODES: [(Code, &str); 12] = [
    (Code::ValidationError, "validation_error"),
    (Code::NotFound, "not_found"),
    (Code::AlreadyExists, "already_exists"),
    (Code::AmbiguousName, "ambiguous_name"),
    (Code::PermissionDenied, "permission_denied"),
    (Code::ReadOnly, "read_only"),
    (Code::Conflict, "conflict"),
    (Code::TooLarge, "too_large"),
    (Code::Timeout, "timeout"),
    (Code::Unsupported, "unsupported"),
    (Code::Unavailable, "unavailable"),
    (Code::InternalError, "internal_error"),
];

impl Code {
    /// The code as callers see it.
    pub fn word(self) -> &'static str {
        CODES
            .iter()
            .find(|(code, _)| *code == self)
            .map_or("internal_error", |(_, text)| text)
    }

    /// Parses a code; one that this SDK does not know becomes `InternalError`.
    pub fn from_word(word: &str) -> Code {
        CODES
            .iter()
            .find(|(_, known)| *known == word)
            .map_or(Code::InternalError, |(code, _)| *code)
    }
}

/// Why an action failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Error {
    code: Code,
    message: String,
    hint: Option<String>,
    details: Option<Box<Value>>,
}

impl Error {
    /// An error with a message from which a model can correct its call: lowercase, values in backticks.
    pub fn new(code: Code, message: impl Into<String>) -> Error {
        Error {
            code,
            message: message.into(),
            hint: None,
            details: None,
        }
    }

    /// The arguments are invalid.
    pub fn validation(message: impl Into<String>) -> Error {
        Error::new(Code::ValidationError, message)
    }

    /// It does not exist.
    pub fn not_found(message: impl Into<String>) -> Error {
        Error::new(Code::NotFound, message)
    }

    /// The path or name is taken.
    pub fn already_exists(message: impl Into<String>) -> Error {
        Error::new(Code::AlreadyExists, message)
    }

    /// The name matches several things.
    pub fn ambiguous(message: impl Into<String>) -> Error {
        Error::new(Code::AmbiguousName, message)
    }

    /// It changed since the caller read it.
    pub fn conflict(message: impl Into<String>) -> Error {
        Error::new(Code::Conflict, message)
    }

    /// The operation is not supported for this kind of thing.
    pub fn unsupported(message: impl Into<String>) -> Error {
        Error::new(Code::Unsupported, message)
    }

    /// It exceeds a limit.
    pub fn too_large(message: impl Into<String>) -> Error {
        Error::new(Code::TooLarge, message)
    }

    /// Adds a hint for a person: what an admin can do about it.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Error {
        self.hint = Some(hint.into());
        self
    }

    /// Adds machine-readable details: a JSON object.
    pub fn with_details(mut self, details: Value) -> Error {
        self.details = Some(Box::new(details));
        self
    }

    /// Its code as callers see it, such as `not_found`.
    pub fn code(&self) -> &'static str {
        self.code.word()
    }

    /// Its code.
    pub fn kind(&self) -> Code {
        self.code
    }

    /// What is wrong.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What an admin can do about it.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Machine-readable details.
    pub fn details(&self) -> Option<&Value> {
        self.details.as_deref()
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}: {}", self.code(), self.message)
    }
}

impl std::error::Error for Error {}
