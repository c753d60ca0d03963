//! A call that needs a person's word: where the client can ask its person, it is asked, and the call is made again with
//! the approval. Clients of the older era are sent a request on the same stream; those of the newer one get
//! `input_required`, and bring the answer back with the sealed state. The approval itself is the host's affair: it knows
//! what was shown, and takes each once.

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationSchema, InputRequest, InputRequests, InputRequiredResult,
    RequestStateCodec, SealOptions,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use super::mcp::Server;
use super::schema;
use crate::auth::Caller;
use crate::dispatch::{CallError, Reply, Request};

/// The name of the question.
pub(super) const QUESTION: &str = "approval";
/// How long a person has, where the host does not say.
const PATIENCE: Duration = Duration::from_secs(300);
/// How much of a diff fits into a question. The rest is seen with `notehost approval show`.
const MOST_DIFF: usize = 4000;

/// What became of a call.
pub(super) enum Asked {
    /// It has an outcome.
    Answered(Result<Reply, CallError>),
    /// The client has to ask its person, and bring the answer.
    Question(Question),
}

/// What a person is to be asked.
pub(super) struct Question {
    /// The approval that the answer is about.
    pub(super) id: String,
    pub(super) form: ElicitRequestParams,
}

/// A key for sealing that lives as long as this process.
pub(super) fn new_seal() -> RequestStateCodec {
    let mut key = [0; 32];
    // A machine without random numbers could not have started.
    if let Err(error) = getrandom::fill(&mut key) {
        tracing::error!("no random numbers: {error}");
    }
    #[allow(
        deprecated,
        reason = "the key has the length that the other constructor checks"
    )]
    RequestStateCodec::new(key)
}

/// Make a call; where it needs a person's word, ask for it.
pub(super) async fn call(
    server: &Server,
    caller: &Caller,
    sent: &CallToolRequestParams,
    call: Request,
    context: &RequestContext<RoleServer>,
) -> Result<Asked, ErrorData> {
    if let Some(state) = &sent.request_state {
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
        return Ok(Asked::Answered(outcome));
    }
    let repeated = can_ask(context).then(|| call.clone());
    let outcome = server.call(caller, call).await;
    let asked = outcome.as_ref().err().and_then(question).zip(repeated);
    let Some((question, repeated)) = asked else {
        return Ok(Asked::Answered(outcome));
    };
    let is_stateless = context
        .protocol_version()
        .is_some_and(|version| !version.has_initialize());
    if is_stateless {
        return Ok(Asked::Question(question));
    }
    let Question { id, form } = question;
    let answer = context
        .peer
        .create_elicitation_with_timeout(form, Some(PATIENCE))
        .await;
    match answer {
        Ok(answer) => Ok(Asked::Answered(
            decided(server, caller, repeated, &id, verdict(&answer)).await,
        )),
        Err(problem) => {
            tracing::debug!(%problem, "a client did not answer whether a change may land");
            Ok(Asked::Answered(outcome))
        }
    }
}

/// The answer that has a client ask its person and call again, with the sealed state.
pub(super) fn input_required(
    server: &Server,
    caller: &Caller,
    sent: &CallToolRequestParams,
    Question { id, form }: Question,
) -> CallToolResponse {
    let bound = bound_to(caller, sent);
    let options = SealOptions::new()
        .associated_data(bound.as_bytes())
        .ttl(PATIENCE);
    let mut questions = InputRequests::new();
    questions.insert(
        QUESTION.into(),
        InputRequest::Elicitation(ElicitRequest::new(form)),
    );
    let sealed = server.seal().seal_with(id.as_bytes(), &options);
    InputRequiredResult::new(Some(questions), Some(sealed)).into()
}

/// What becomes of a call whose person was asked, and answered this.
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

/// What a person said.
enum Verdict {
    Yes,
    No,
    /// Neither: the question stands.
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

/// Write down what the person said, and make the call again if it was yes.
async fn decided(
    server: &Server,
    caller: &Caller,
    mut call: Request,
    id: &str,
    verdict: Verdict,
) -> Result<Reply, CallError> {
    let by = format!("{}, asked by its client", caller.name());
    let refused = |message: String| Err(CallError::new("approval_invalid", message));
    let yes = match verdict {
        Verdict::Yes => true,
        Verdict::No => false,
        Verdict::Nothing => return refused("nobody decided; nothing was changed".into()),
    };
    if let Err(error) = server.host().approvals().decide(id, yes, &by) {
        return refused(format!("{error}; nothing was changed"));
    }
    if !yes {
        return refused("the person declined; nothing was changed".into());
    }
    call.arguments.insert("approval".into(), id.into());
    server.call(caller, call).await
}

/// Whether the client can show a form to its person.
fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    let elicitation = context
        .client_capabilities()
        .and_then(|capabilities| capabilities.elicitation);
    // An empty object means forms: clients of 2025-06-18 know nothing else.
    elicitation.is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
}

/// The approval that an error asks for, and the question to the person.
fn question(error: &CallError) -> Option<Question> {
    if error.code != "confirmation_required" {
        return None;
    }
    let details = error.details.as_ref()?;
    let text = |name: &str| details.get(name).and_then(Value::as_str);
    let id = text("approval")?;
    let form = json!({
        "type": "object",
        "properties": {
            "approve": {"type": "boolean", "title": "Approve", "description": "Let this change happen"},
        },
        "required": ["approve"],
    });
    let message = format!("{}\n\n{}", text("summary")?, shortened(text("diff")?, id));
    let form = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema: ElicitationSchema::from_json_schema(schema::object(form)).ok()?,
    };
    let id = id.to_owned();
    Some(Question { id, form })
}

fn shortened(diff: &str, id: &str) -> String {
    if diff.len() <= MOST_DIFF {
        return diff.to_owned();
    }
    let end = diff.floor_char_boundary(MOST_DIFF);
    let end = diff[..end].rfind('\n').map_or(end, |line| line + 1);
    format!(
        "{}… (the whole diff: `notehost approval show {id}`)",
        &diff[..end]
    )
}

/// What a sealed state holds for: this caller, this tool, these arguments.
fn bound_to(caller: &Caller, sent: &CallToolRequestParams) -> String {
    json!([caller.key(), sent.name, sent.arguments]).to_string()
}
