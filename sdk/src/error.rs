//! Errors of actions: a code, a message for the model, a hint for a person.

use serde_json::Value;

/// The result type of the SDK.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The code of an error. The codes are part of the contract with callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
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
    /// The component or action is switched off.
    Disabled,
    /// The caller is not authenticated.
    Unauthorized,
    /// The caller lacks the scope.
    Forbidden,
    /// It changed since the caller read it.
    Conflict,
    /// A person has to confirm the change.
    ConfirmationRequired,
    /// The approval does not belong to this call, or is used up.
    ApprovalInvalid,
    /// The caller exceeded its rate, or the circuit breaker is open.
    Throttled,
    /// A call with the same key is still running.
    IdempotencyInFlight,
    /// The key was used with other arguments.
    IdempotencyMismatch,
    /// It exceeds a limit.
    TooLarge,
    /// The call took too long.
    Timeout,
    /// The component trapped, or broke the contract.
    ComponentFailed,
    /// The operation is not supported for this kind of thing.
    Unsupported,
    /// It is temporarily unavailable.
    Unavailable,
    /// A bug in the component or the host.
    InternalError,
}

impl Code {
    /// Every code, with the text that callers see.
    const TEXTS: [(Code, &str); 21] = [
        (Code::ValidationError, "validation_error"),
        (Code::NotFound, "not_found"),
        (Code::AlreadyExists, "already_exists"),
        (Code::AmbiguousName, "ambiguous_name"),
        (Code::PermissionDenied, "permission_denied"),
        (Code::ReadOnly, "read_only"),
        (Code::Disabled, "disabled"),
        (Code::Unauthorized, "unauthorized"),
        (Code::Forbidden, "forbidden"),
        (Code::Conflict, "conflict"),
        (Code::ConfirmationRequired, "confirmation_required"),
        (Code::ApprovalInvalid, "approval_invalid"),
        (Code::Throttled, "throttled"),
        (Code::IdempotencyInFlight, "idempotency_in_flight"),
        (Code::IdempotencyMismatch, "idempotency_mismatch"),
        (Code::TooLarge, "too_large"),
        (Code::Timeout, "timeout"),
        (Code::ComponentFailed, "component_failed"),
        (Code::Unsupported, "unsupported"),
        (Code::Unavailable, "unavailable"),
        (Code::InternalError, "internal_error"),
    ];

    /// Every code.
    pub fn all() -> impl Iterator<Item = Code> {
        Code::TEXTS.into_iter().map(|(code, _)| code)
    }

    /// The code as callers see it.
    pub fn as_str(self) -> &'static str {
        let found = Code::TEXTS.iter().find(|(code, _)| *code == self);
        found.map_or("internal_error", |(_, text)| text)
    }

    /// Parses a code.
    pub fn parse(text: &str) -> Option<Code> {
        let found = Code::TEXTS.iter().find(|(_, known)| *known == text);
        found.map(|(code, _)| *code)
    }

    /// Whether a component may return it. The other codes are results of the host's own checks, and a component must not
    /// be able to pretend that one of them happened.
    pub fn is_for_components(self) -> bool {
        !matches!(
            self,
            Code::Disabled
                | Code::Unauthorized
                | Code::Forbidden
                | Code::ConfirmationRequired
                | Code::ApprovalInvalid
                | Code::Throttled
                | Code::IdempotencyInFlight
                | Code::IdempotencyMismatch
                | Code::ComponentFailed
        )
    }

    /// Whether the same call may succeed later, unchanged.
    pub fn is_retryable(self) -> bool {
        matches!(
            self,
            Code::Conflict
                | Code::Throttled
                | Code::IdempotencyInFlight
                | Code::Timeout
                | Code::Unavailable
        )
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.as_str())
    }
}

impl PartialEq<&str> for Code {
    fn eq(&self, text: &&str) -> bool {
        self.as_str() == *text
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

    /// Prefixes the message with where or why it happened: `{context}: {message}`. Code, hint and details stay.
    pub fn context(self, context: impl std::fmt::Display) -> Error {
        self.map_message(|message| format!("{context}: {message}"))
    }

    /// Rewords the message. Code, hint and details stay.
    pub fn map_message(mut self, reword: impl FnOnce(String) -> String) -> Error {
        self.message = reword(self.message);
        self
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
        self.code.as_str()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn context_changes_only_the_message() {
        let error = Error::conflict("it changed")
            .with_hint("read it again")
            .with_details(serde_json::json!({ "line": 3 }));
        let prefixed = error.clone().context("`A.md`");
        assert_eq!(prefixed.message(), "`A.md`: it changed");
        assert_eq!(prefixed.map_message(|_| "it changed".to_owned()), error);
    }
}
