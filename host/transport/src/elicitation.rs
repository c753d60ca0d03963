//! Approvals through the client (elicitation). If the client supports it and its caller is *attended*, it asks its
//! user, and the call is repeated with the approval. Other callers receive `confirmation_required`, because a program
//! with a token must not answer its own question. Session-based clients get a request on the same stream; stateless
//! ones get `input_required` and send the answer back with the sealed state. The approval itself belongs to the host,
//! which knows what was shown and accepts each one once.

use notehost_sdk::Code;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationSchema, InputRequest, InputRequests, InputRequiredResult,
    RequestStateCodec, SealOptions,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Map, Value, json};

use super::mcp::Server;
use super::schema;
use notehost_pipeline::{CallError, ConfirmedVia, Reply, Request, diff_excerpt};
use notehost_policy::auth::Caller;
use notehost_vault::Effect;

/// The name of the question.
pub(super) const QUESTION: &str = "approval";
/// How long a person has to answer, unless the host sets it.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(300);
/// The maximum size of the diff in a question. `notehost approval show` has the rest.
const MAX_DIFF_BYTES: usize = 4000;

/// Why an answer to a question is refused.
const UNATTENDED: &str = "this caller is not attended: a person decides with `notehost approval`; call again without \
    the request state";

/// The outcome of a call.
pub(super) enum CallOutcome {
    /// The call ended.
    Answered(Result<Reply, CallError>),
    /// The client has to ask its user and return the answer.
    Question(Question),
}

/// A question to the user.
pub(super) struct Question {
    /// The approval that the answer is about.
    pub(super) id: String,
    pub(super) form: ElicitRequestParams,
}

/// A sealing key for the lifetime of this process.
pub(super) fn new_seal() -> Result<RequestStateCodec, getrandom::Error> {
    let mut key = [0; 32];
    getrandom::fill(&mut key)?;
    #[allow(
        deprecated,
        reason = "the key has the length that the other constructor checks"
    )]
    Ok(RequestStateCodec::new(key))
}

/// Makes a call, and asks for approval if it needs one.
pub(super) async fn call(
    server: &Server,
    caller: &Caller,
    sent: &CallToolRequestParams,
    call: Request,
    context: &RequestContext<RoleServer>,
) -> Result<CallOutcome, ErrorData> {
    let is_attended = server.host().is_attended(caller);
    if let Some(state) = &sent.request_state {
        // It may have been attended when it was asked.
        if !is_attended {
            return Err(ErrorData::invalid_params(UNATTENDED, None));
        }
        let bound = bound_to(caller, sent);
        let id = server
            .seal()
            .open_with(state, bound.as_bytes())
            .map_err(|_| {
                ErrorData::invalid_params(
                    "this request state is not for this call, or no longer valid: call again without it",
                    None,
                )
            })?;
        let id = String::from_utf8_lossy(&id).into_owned();
        let answer = sent
            .input_responses
            .as_ref()
            .and_then(|answers| answers.get(QUESTION))
            .ok_or_else(|| {
                ErrorData::invalid_params(format!("the answer to `{QUESTION}` is missing"), None)
            })?;
        let outcome = answered(server, caller, call, &id, answer.clone()).await?;
        return Ok(CallOutcome::Answered(outcome));
    }
    let is_stateless = context
        .protocol_version()
        .is_some_and(|version| !version.has_initialize());
    let may_ask = is_attended && can_ask(context) && may_need_person(server, &call);
    // A stateless client makes the call again by itself.
    let repeated = (may_ask && !is_stateless).then(|| call.clone());
    let outcome = server.call(caller, call).await;
    let asked = outcome.as_ref().err().and_then(question);
    let Some(question) = asked.filter(|_| may_ask) else {
        return Ok(CallOutcome::Answered(outcome));
    };
    let Some(repeated) = repeated else {
        return Ok(CallOutcome::Question(question));
    };
    let Question { id, form } = question;
    let answer = context
        .peer
        .create_elicitation_with_timeout(form, Some(ANSWER_TIMEOUT))
        .await;
    match answer {
        Ok(answer) => Ok(CallOutcome::Answered(
            decided(server, caller, repeated, &id, verdict(&answer)).await,
        )),
        Err(problem) => {
            tracing::debug!(%problem, "a client did not answer whether to approve a change");
            Ok(CallOutcome::Answered(outcome))
        }
    }
}

/// The response that makes a client ask its user and call again with the sealed state.
pub(super) fn input_required(
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

/// Continues a call after its user answered.
pub(super) async fn answered(
    server: &Server,
    caller: &Caller,
    call: Request,
    id: &str,
    answer: Value,
) -> Result<Result<Reply, CallError>, ErrorData> {
    let answer: ElicitResult = serde_json::from_value(answer)
        .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
    Ok(decided(server, caller, call, id, verdict(&answer)).await)
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

/// Records the decision, and repeats the call if it was approved.
async fn decided(
    server: &Server,
    caller: &Caller,
    mut call: Request,
    id: &str,
    verdict: Verdict,
) -> Result<Reply, CallError> {
    // A task may have waited for this answer while the config changed.
    let host = server.host();
    if !host.is_attended(caller) {
        return Err(CallError::new(Code::ApprovalInvalid, UNATTENDED));
    }
    let refused = |message: String| Err(CallError::new(Code::ApprovalInvalid, message));
    let yes = match verdict {
        Verdict::Yes => true,
        Verdict::No => false,
        Verdict::Nothing => return refused("no decision was made; nothing was changed".into()),
    };
    if let Err(error) = host
        .approvals()
        .decide_via(id, yes, ConfirmedVia::Client, caller.name())
    {
        return refused(format!("{error}; nothing was changed"));
    }
    if !yes {
        return refused("the person declined; nothing was changed".into());
    }
    call.arguments.insert("approval".into(), id.into());
    server.call(caller, call).await
}

/// Whether a call may need approval: only if it changes something.
pub(super) fn may_need_person(server: &Server, call: &Request) -> bool {
    let snapshot = server.host().registry().snapshot();
    let action = snapshot
        .domain(&call.domain)
        .and_then(|domain| domain.action(&call.action));
    action.is_some_and(|action| action.effect > Effect::Read)
}

/// Takes the arguments of a call. If its client may repeat the call, their digest is left in place for comparison.
pub(super) fn take_arguments(
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
fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    let elicitation = context
        .client_capabilities()
        .and_then(|capabilities| capabilities.elicitation);
    // An empty object means forms: clients of 2025-06-18 know nothing else.
    elicitation.is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
}

/// The question of an error that requires approval.
fn question(error: &CallError) -> Option<Question> {
    if error.code != Code::ConfirmationRequired {
        return None;
    }
    let details = error.details.as_ref()?;
    let text = |name: &str| details.get(name).and_then(Value::as_str);
    let id = text("approval")?;
    let form = json!({
        "type": "object",
        "properties": {
            "approve": {"type": "boolean", "title": "Approve", "description": "Apply this change"},
        },
        "required": ["approve"],
    });
    let message = format!(
        "{}\n\n{}",
        text("summary")?,
        diff_excerpt(text("diff")?, MAX_DIFF_BYTES, id)
    );
    let form = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema: ElicitationSchema::from_json_schema(schema::object(form)).ok()?,
    };
    let id = id.to_owned();
    Some(Question { id, form })
}

/// What a sealed state is bound to: caller, tool and arguments, of which `sent` has the digest.
fn bound_to(caller: &Caller, sent: &CallToolRequestParams) -> String {
    json!([caller.key(), sent.name, sent.arguments]).to_string()
}
