//! The error of a call: it states who can act. A call that waits for a person is an error too, with the typed question.

use notehost_sdk::Code;
use notehost_vault::{ChangeKind, VaultError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

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
    details: Details,
}

/// What programs read of an error.
#[derive(Debug, Clone, PartialEq)]
enum Details {
    None,
    Json(Value),
    PendingApproval(Box<PendingApproval>),
}

/// A change that a person has to approve before the same call can make it.
#[must_use]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingApproval {
    /// The approval's id: the argument `approval` of the repeated call.
    #[serde(rename = "approval")]
    pub id: String,
    /// When the question expires, in milliseconds since 1970.
    #[serde(rename = "expires_at")]
    pub expires: i64,
    /// What would happen, in one sentence.
    pub summary: String,
    /// The files that would change; empty if the question is about another caller's call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<PendingChange>,
    /// The diff, as far as it is sent.
    pub diff: String,
}

/// A file that a pending change would touch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingChange {
    /// Its path.
    pub path: String,
    /// What would happen to it.
    pub kind: ChangeKind,
    /// How many lines would be added.
    pub added: u64,
    /// How many lines would be removed.
    pub removed: u64,
}

impl CallError {
    /// An error with a message for the model.
    pub fn new(code: Code, message: impl Into<String>) -> CallError {
        CallError {
            code,
            message: message.into(),
            hint: None,
            details: Details::None,
        }
    }

    /// The outcome of a call whose change waits for a person.
    pub fn confirmation_required(
        message: impl Into<String>,
        pending: PendingApproval,
    ) -> CallError {
        CallError {
            details: Details::PendingApproval(Box::new(pending)),
            ..CallError::new(Code::ConfirmationRequired, message)
        }
    }

    /// Adds a hint on what an admin can do.
    pub fn with_hint(mut self, hint: impl Into<String>) -> CallError {
        self.hint = Some(hint.into());
        self
    }

    /// Adds details for programs.
    pub fn with_details(mut self, details: Value) -> CallError {
        self.details = Details::Json(details);
        self
    }

    /// The change that waits for a person, if this call made one wait.
    pub fn pending_approval(&self) -> Option<&PendingApproval> {
        match &self.details {
            Details::PendingApproval(pending) => Some(pending),
            Details::None | Details::Json(_) => None,
        }
    }

    /// The details for programs, as callers see them.
    pub fn details(&self) -> Option<Value> {
        match &self.details {
            Details::None => None,
            Details::Json(details) => Some(details.clone()),
            // Strings and numbers can always be written.
            Details::PendingApproval(pending) => serde_json::to_value(pending).ok(),
        }
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
        if let Some(details) = self.details() {
            error.insert("details".into(), details);
        }
        error.insert("retryable".into(), self.retryable().into());
        Map::from_iter([("error".to_owned(), error.into())])
    }

    /// The error of a call on another Notehost, from what [`CallError::to_json`] made there; `text` is its message if that
    /// has none.
    pub fn from_json(structured: &Map<String, Value>, text: String) -> CallError {
        let error = structured.get("error");
        let string = |name: &str| error.and_then(|error| error.get(name)?.as_str());
        // A newer server may have codes that this one does not know.
        let code = string("code")
            .and_then(Code::parse)
            .unwrap_or(Code::InternalError);
        let details = error.and_then(|error| error.get("details")).cloned();
        CallError {
            code,
            message: string("message").map_or(text, str::to_owned),
            hint: string("hint").map(str::to_owned),
            details: match details {
                None => Details::None,
                Some(details) => Details::parse(code, details),
            },
        }
    }
}

impl Details {
    fn parse(code: Code, details: Value) -> Details {
        match PendingApproval::deserialize(&details) {
            Ok(pending) if code == Code::ConfirmationRequired => {
                Details::PendingApproval(Box::new(pending))
            }
            _ => Details::Json(details),
        }
    }
}

impl From<VaultError> for CallError {
    fn from(error: VaultError) -> Self {
        CallError {
            code: error.code(),
            message: error.to_string(),
            hint: error.hint(),
            details: error.details.clone().map_or(Details::None, Details::Json),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_contract_lists_the_codes_of_components() {
        let contract = include_str!("../../../wit/domain.wit");
        for code in Code::all().filter(|code| code.is_for_components()) {
            assert!(contract.contains(&format!("`{code}`")), "{code}");
        }
    }

    #[test]
    fn a_pending_approval_keeps_its_form_on_the_wire() {
        let pending = PendingApproval {
            id: "7f3k9q2m".into(),
            expires: 5,
            summary: "removes 1 note".into(),
            changes: vec![PendingChange {
                path: "a.md".into(),
                kind: ChangeKind::Delete,
                added: 0,
                removed: 3,
            }],
            diff: "-a".into(),
        };
        let error = CallError::confirmation_required("wait", pending.clone()).with_hint("ask");
        let wire = error.to_json();
        assert_eq!(
            Value::from(wire.clone()).to_string(),
            r#"{"error":{"code":"confirmation_required","message":"wait","hint":"ask","details":{"approval":"7f3k9q2m","expires_at":5,"summary":"removes 1 note","changes":[{"path":"a.md","kind":"delete","added":0,"removed":3}],"diff":"-a"},"retryable":false}}"#
        );
        assert_eq!(CallError::from_json(&wire, String::new()), error);
        assert_eq!(error.pending_approval(), Some(&pending));
        let others = PendingApproval {
            changes: Vec::new(),
            ..pending
        };
        let details = CallError::confirmation_required("wait", others).details();
        assert_eq!(
            details,
            Some(
                json!({"approval": "7f3k9q2m", "expires_at": 5, "summary": "removes 1 note", "diff": "-a"})
            )
        );
    }

    #[test]
    fn only_a_confirmation_has_a_pending_approval() {
        let details = json!({"approval": "x", "expires_at": 1, "summary": "", "diff": ""});
        let error = CallError::new(Code::NotFound, "no note").with_details(details);
        let back = CallError::from_json(&error.to_json(), String::new());
        assert_eq!((back.pending_approval(), &back), (None, &error));
    }
}
