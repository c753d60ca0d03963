//! Why an action refused or failed, in words that a model and a person can act on.

use serde_json::Value;

/// The result of everything here.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What kind of failure. The words are part of the contract with callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// The arguments cannot mean anything.
    ValidationError,
    /// It is not there, or this caller may not know that it is.
    NotFound,
    /// The place is taken.
    AlreadyExists,
    /// The name means several things.
    AmbiguousName,
    /// This caller, component or action may not do that.
    PermissionDenied,
    /// The file or the vault cannot be written.
    ReadOnly,
    /// It changed since the caller looked.
    Conflict,
    /// It is over a limit.
    TooLarge,
    /// It took too long.
    Timeout,
    /// This cannot be done with such a thing.
    Unsupported,
    /// It cannot be done now.
    Unavailable,
    /// A defect.
    InternalError,
}

const WORDS: [(Code, &str); 12] = [
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
    /// The word that callers see.
    pub fn word(self) -> &'static str {
        WORDS
            .iter()
            .find(|(code, _)| *code == self)
            .map_or("internal_error", |(_, word)| word)
    }

    /// The code of a word; a word that this SDK does not know is an internal error.
    pub fn from_word(word: &str) -> Code {
        WORDS
            .iter()
            .find(|(_, known)| *known == word)
            .map_or(Code::InternalError, |(code, _)| *code)
    }
}

/// Why an action refused or failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Error {
    code: Code,
    message: String,
    hint: Option<String>,
    details: Option<Box<Value>>,
}

impl Error {
    /// An error with a message that tells a model how to mend its call: lowercase, values in backticks.
    pub fn new(code: Code, message: impl Into<String>) -> Error {
        Error {
            code,
            message: message.into(),
            hint: None,
            details: None,
        }
    }

    /// The arguments cannot mean anything.
    pub fn validation(message: impl Into<String>) -> Error {
        Error::new(Code::ValidationError, message)
    }

    /// It is not there.
    pub fn not_found(message: impl Into<String>) -> Error {
        Error::new(Code::NotFound, message)
    }

    /// The place is taken.
    pub fn already_exists(message: impl Into<String>) -> Error {
        Error::new(Code::AlreadyExists, message)
    }

    /// The name means several things.
    pub fn ambiguous(message: impl Into<String>) -> Error {
        Error::new(Code::AmbiguousName, message)
    }

    /// It changed since the caller looked.
    pub fn conflict(message: impl Into<String>) -> Error {
        Error::new(Code::Conflict, message)
    }

    /// This cannot be done with such a thing.
    pub fn unsupported(message: impl Into<String>) -> Error {
        Error::new(Code::Unsupported, message)
    }

    /// It is over a limit.
    pub fn too_large(message: impl Into<String>) -> Error {
        Error::new(Code::TooLarge, message)
    }

    /// Tell a person what an admin can do about it.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Error {
        self.hint = Some(hint.into());
        self
    }

    /// Add what a program may want to know: a JSON object.
    pub fn with_details(mut self, details: Value) -> Error {
        self.details = Some(Box::new(details));
        self
    }

    /// The word of its code, such as `not_found`.
    pub fn code(&self) -> &'static str {
        self.code.word()
    }

    /// Its code.
    pub fn kind(&self) -> Code {
        self.code
    }

    /// What was wrong.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What an admin can do about it.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// What a program may want to know.
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
