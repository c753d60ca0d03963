//! Approvals through the client (elicitation). If the client supports it and its caller is *attended*, it asks its
//! user, and the call is repeated with the approval. Other callers receive `confirmation_required`, because a program
//! with a token must not answer its own question. Session-based clients get a request on the same stream; stateless
//! ones get `input_required` and send the answer back with the sealed state. The approval itself belongs to the host,
//! which knows what was shown and accepts each one once.

use std::io;
use std::path::Path;
use std::time::Duration;

use notehost_sdk::Code;
use parking_lot::Mutex;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationSchema, InputRequest, InputRequests, InputRequiredResult,
    RequestStateCodec, SealOptions,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, Peer, RoleServer};
use serde_json::{Map, Value, json};

use super::Server;
use notehost_pipeline::{CallError, ConfirmedVia, PendingApproval, Request, diff_excerpt};
use notehost_platform::private;
use notehost_policy::auth::Caller;
use notehost_vault::Effect;

/// The name of the question.
pub(crate) const QUESTION: &str = "approval";
/// How long a person has to answer, unless the host sets it.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(300);
/// The maximum size of the diff in a question. `notehost approval show` has the rest.
const MAX_DIFF_BYTES: usize = 4000;

/// Why an answer to a question is refused.
const UNATTENDED: &str = "this caller is not attended: a person decides with `notehost approval`; call again without \
    the request state";

/// A question to the user.
pub(crate) struct Question {
    /// The approval that the answer is about.
    pub(crate) id: String,
    pub(crate) form: ElicitRequestParams,
}

/// The file of the sealing key in the state folder. A question outlives the process that asked it: another one that takes
/// over its vault accepts the answer.
const KEY_FILE: &str = "question.key";

/// The sealing key of a state folder.
pub(crate) fn open_seal(state: &Path) -> io::Result<RequestStateCodec> {
    /// Two servers of this process must not create it at the same time.
    static OPENING: Mutex<()> = Mutex::new(());

    let opening = OPENING.lock();
    let key: [u8; 32] = private::key(&state.join(KEY_FILE))?;
    drop(opening);
    #[allow(
        deprecated,
        reason = "the key has the length that the other constructor checks"
    )]
    Ok(RequestStateCodec::new(key))
}

/// The answer of the user in a repeated request of a stateless client, with the id of the approval. The sealed state
/// proves which question was asked.
pub(crate) fn answer_in(
    server: &Server,
    caller: &Caller,
    sent: &CallToolRequestParams,
) -> Result<Option<(String, ElicitResult)>, ErrorData> {
    let Some(state) = &sent.request_state else {
        return Ok(None);
    };
    // It may have been attended when it was asked.
    if !server.host().is_attended(caller) {
        return Err(ErrorData::invalid_params(UNATTENDED, None));
    }
    let bound = bound_to(caller, sent);
    let id = server.seal().open_with(state, bound.as_bytes());
    let id = id.map_err(|_| {
        ErrorData::invalid_params(
            "this request state is not for this call, or no longer valid: call again without it",
            None,
        )
    })?;
    let answers = sent.input_responses.as_ref();
    let answer = answers.and_then(|answers| answers.get(QUESTION));
    let answer = answer.ok_or_else(|| {
        ErrorData::invalid_params(format!("the answer to `{QUESTION}` is missing"), None)
    })?;
    let id = String::from_utf8_lossy(&id).into_owned();
    Ok(Some((id, parse_answer(answer.clone())?)))
}

/// Parses the user's answer.
pub(crate) fn parse_answer(answer: Value) -> Result<ElicitResult, ErrorData> {
    serde_json::from_value(answer)
        .map_err(|error| ErrorData::invalid_params(error.to_string(), None))
}

/// Asks a session-based client. `None` if it did not answer.
pub(crate) async fn ask_peer(
    peer: &Peer<RoleServer>,
    form: ElicitRequestParams,
) -> Option<ElicitResult> {
    let asked = peer.create_elicitation_with_timeout(form, Some(ANSWER_TIMEOUT));
    asked
        .await
        .inspect_err(|problem| {
            tracing::debug!(%problem, "a client did not answer whether to approve a change");
        })
        .ok()
}

/// The response that makes a client ask its user and call again with the sealed state.
pub(crate) fn input_required(
    server: &Server,
    caller: &Caller,
    sent: &CallToolRequestParams,
    Question { id, form }: Question,
) -> CallToolResponse {
    let bound = bound_to(caller, sent);
    let options = SealOptions::new()
        .associated_data(bound.as_bytes())
        .ttl(ANSWER_TIMEOUT);
    let mut questions = InputRequests::new();
    questions.insert(
        QUESTION.into(),
        InputRequest::Elicitation(ElicitRequest::new(form)),
    );
    let sealed = server.seal().seal_with(id.as_bytes(), &options);
    InputRequiredResult::new(Some(questions), Some(sealed)).into()
}

/// The decision of the user.
enum Verdict {
    Yes,
    No,
    /// No decision: the question stays pending.
    Nothing,
}

fn verdict(answer: &ElicitResult) -> Verdict {
    let approves = answer
        .content
        .as_ref()
        .and_then(|content| content.get("approve"))
        .and_then(Value::as_bool);
    match (&answer.action, approves) {
        (ElicitationAction::Accept, Some(true)) => Verdict::Yes,
        (ElicitationAction::Accept, Some(false)) | (ElicitationAction::Decline, _) => Verdict::No,
        _ => Verdict::Nothing,
    }
}

/// Records the user's decision. An error if the call must not be repeated.
pub(crate) fn decide(
    server: &Server,
    caller: &Caller,
    id: &str,
    answer: &ElicitResult,
) -> Result<(), CallError> {
    // A task may have waited for this answer while the config changed.
    let host = server.host();
    let refused = |message: String| Err(CallError::new(Code::ApprovalInvalid, message));
    if !host.is_attended(caller) {
        return refused(UNATTENDED.to_owned());
    }
    let is_approved = match verdict(answer) {
        Verdict::Yes => true,
        Verdict::No => false,
        Verdict::Nothing => return refused("no decision was made; nothing was changed".into()),
    };
    let name = caller.name();
    let decided = host
        .approvals()
        .decide_via(id, is_approved, ConfirmedVia::Client, name);
    match decided {
        Err(error) => refused(format!("{error}; nothing was changed")),
        Ok(_) if !is_approved => refused("the person declined; nothing was changed".into()),
        Ok(_) => Ok(()),
    }
}

/// Whether a request is of a stateless revision of MCP.
pub(crate) fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|version| !version.has_initialize())
}

/// Whether a call may need approval: only if it changes something.
pub(crate) fn may_need_person(server: &Server, call: &Request) -> bool {
    let snapshot = server.host().registry().snapshot();
    let action = snapshot
        .domain(&call.domain)
        .and_then(|domain| domain.action(&call.action));
    action.is_some_and(|action| action.effect > Effect::Read)
}

/// Takes the arguments of a call. If its client may repeat the call, their digest is left in place for comparison.
pub(crate) fn take_arguments(
    sent: &mut CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Map<String, Value> {
    let is_compared = sent.request_state.is_some() || can_ask(context);
    let arguments = sent.arguments.take().unwrap_or_default();
    if is_compared {
        let mut hasher = blake3::Hasher::new();
        // Writing to a hasher cannot fail, and neither can writing a map of JSON values.
        let _ = serde_json::to_writer(&mut hasher, &arguments);
        let digest = hasher.finalize().to_hex().to_string();
        sent.arguments = Some(Map::from_iter([("blake3".to_owned(), digest.into())]));
    }
    arguments
}

/// Whether the client can show a form to its user.
pub(crate) fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    let elicitation = context
        .client_capabilities()
        .and_then(|capabilities| capabilities.elicitation);
    // An empty object means forms: clients of 2025-06-18 know nothing else.
    elicitation.is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
}

/// The question to the user about a change that waits for approval.
pub(crate) fn question(pending: &PendingApproval) -> Option<Question> {
    let form = json!({
        "type": "object",
        "properties": {
            "approve": {"type": "boolean", "title": "Approve", "description": "Apply this change"},
        },
        "required": ["approve"],
    });
    let message = format!(
        "{}\n\n{}",
        pending.summary,
        diff_excerpt(&pending.diff, MAX_DIFF_BYTES, &pending.id)
    );
    let form = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema: ElicitationSchema::from_json_schema(notehost_tools::object(form)).ok()?,
    };
    let id = pending.id.clone();
    Some(Question { id, form })
}

/// What a sealed state is bound to: caller, tool and arguments, of which `sent` has the digest.
fn bound_to(caller: &Caller, sent: &CallToolRequestParams) -> String {
    json!([caller.key(), sent.name, sent.arguments]).to_string()
}
