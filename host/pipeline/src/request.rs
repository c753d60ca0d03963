//! A call as it reaches the pipeline, from any transport.

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::ProgressSink;

/// The argument of a tool call that brings the approval of a person.
pub(crate) const APPROVAL: &str = "approval";

/// Identifies a call of a local session, so that it can be sent again to another process and is carried out once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallId {
    /// Its id, which no other session can know.
    pub id: String,
    /// Whether it was sent before.
    pub is_repeated: bool,
}

/// A request of a caller.
#[derive(Debug, Clone)]
pub struct Request {
    /// The domain.
    pub domain: String,
    /// The action.
    pub action: String,
    /// Its arguments, without the approval.
    pub arguments: Map<String, Value>,
    /// The approval of a person that this call brings.
    pub approval: Option<String>,
    /// Ends the call when the caller gives up.
    pub cancelled: CancellationToken,
    /// The caller's span that this call belongs to, as W3C writes it. Controlled by the caller.
    pub traceparent: Option<String>,
    /// Receives progress of the call, if requested.
    pub progress: Option<ProgressSink>,
    /// Identifies the call, if it comes from a local session.
    pub call: Option<CallId>,
}

impl Request {
    /// A request from the arguments of a tool call or a command line: `approval` is taken out of them. It cannot be
    /// cancelled and reports no progress.
    pub fn new(
        domain: impl Into<String>,
        action: impl Into<String>,
        mut arguments: Map<String, Value>,
    ) -> Request {
        Request {
            domain: domain.into(),
            action: action.into(),
            approval: take_approval(&mut arguments),
            arguments,
            cancelled: CancellationToken::new(),
            traceparent: None,
            progress: None,
            call: None,
        }
    }
}

/// Takes the approval out of the arguments. A value of another type stays: validation reports it.
fn take_approval(arguments: &mut Map<String, Value>) -> Option<String> {
    if !matches!(
        arguments.get(APPROVAL),
        Some(Value::String(_) | Value::Null)
    ) {
        return None;
    }
    match arguments.shift_remove(APPROVAL) {
        Some(Value::String(id)) => Some(id),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_approval_is_taken_out_of_the_arguments() {
        let request = |arguments: Value| {
            let Value::Object(arguments) = arguments else {
                panic!("arguments are an object");
            };
            let request = Request::new("document", "remove", arguments);
            (request.approval, Value::Object(request.arguments))
        };
        let taken = request(json!({"approval": "7f3k", "path": "a"}));
        assert_eq!(taken, (Some("7f3k".into()), json!({"path": "a"})));
        let none = request(json!({"path": "a", "approval": null}));
        assert_eq!(none, (None, json!({"path": "a"})));
        let wrong = request(json!({"approval": 7}));
        assert_eq!(wrong, (None, json!({"approval": 7})));
    }
}
