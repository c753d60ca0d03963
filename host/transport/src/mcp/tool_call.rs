//! One tool call, from its request to its response.
//!
//! Between rmcp and the pipeline are three layers, each for one reason:
//!
//! - `Server::call_tool` reads the message: who calls, and which action the names mean. What is answered without a call
//!   (help, a search for actions, an unknown tool) is recorded there.
//! - `ToolCall`, here, holds the conversation with the client: progress while the call runs, a question to the user and
//!   the same call again with the approval, a task if the call outlives its request.
//! - `Server::run` isolates the call: it leaves the thread that reads requests if it takes long, and a panic ends only
//!   this call.

use std::future::{Future, ready};
use std::pin::Pin;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CreateTaskResult, ElicitRequest,
    ElicitResult, InputRequest,
};
use rmcp::service::RequestContext;
use rmcp::task_manager::{TaskContext, TaskExit};
use rmcp::{ErrorData, RoleServer};
use tokio_util::sync::CancellationToken;

use super::Server;
use super::elicitation::{self, QUESTION, Question};
use super::progress::{self, ProgressNotifier, ProgressReceiver};
use super::tasks::{status_message, supports_tasks};
use notehost_pipeline::{CallError, Progress, Reply, Request};
use notehost_policy::auth::Caller;

/// A call that takes longer becomes a task, if its client supports tasks.
const TASK_AFTER: Duration = Duration::from_secs(1);

type Work = Pin<Box<dyn Future<Output = Result<Reply, CallError>> + Send>>;

/// A running call, independent of the request that waits for it.
pub(crate) struct ToolCall {
    server: Server,
    caller: Caller,
    sent: CallToolRequestParams,
    context: RequestContext<RoleServer>,
    /// Whether its client may be asked for an approval. A call is asked about once.
    may_ask: bool,
    /// The same call, to be made again with the approval. A stateless client makes it again by itself.
    repeat: Option<Request>,
    /// Cancels it. Not the request's own token: a request ends when its response is a task, but the call continues.
    cancelled: CancellationToken,
    progress: ProgressReceiver,
    work: Work,
}

/// The first event while a request waits.
enum Event {
    Ended(Result<Reply, CallError>),
    Cancelled,
    TakesLong,
}

impl ToolCall {
    /// Prepares a call. If it was sent before and brings the user's answer to a question, that is applied first.
    pub(crate) fn new(
        server: &Server,
        caller: Caller,
        sent: CallToolRequestParams,
        mut request: Request,
        context: RequestContext<RoleServer>,
    ) -> Result<ToolCall, ErrorData> {
        let (sink, progress) = progress::channel();
        let cancelled = CancellationToken::new();
        let supports_tasks = may_be_task(server, &context);
        let is_observed = supports_tasks || context.meta.get_progress_token().is_some();
        request.cancelled = cancelled.clone();
        request.progress = is_observed.then_some(sink);
        let answer = elicitation::answer_in(server, &caller, &sent)?;
        let may_ask = answer.is_none()
            && server.host().is_attended(&caller)
            && elicitation::can_ask(&context)
            && elicitation::may_need_person(server, &request);
        let is_repeated_here = supports_tasks || !elicitation::is_stateless(&context);
        let repeat = (may_ask && is_repeated_here).then(|| request.clone());
        let work = match answer {
            None => run(server, &caller, request),
            Some((id, answer)) => run_decided(server, &caller, request, id, &answer),
        };
        Ok(ToolCall {
            server: server.clone(),
            caller,
            sent,
            context,
            may_ask,
            repeat,
            cancelled,
            progress,
            work,
        })
    }

    /// Runs it and returns the response: its result, a question to the user, or a task.
    pub(crate) async fn respond(mut self) -> Result<CallToolResponse, ErrorData> {
        let request_cancelled = self.context.ct.clone();
        let notifier = ProgressNotifier::of(&self.context);
        let mut may_be_task = may_be_task(&self.server, &self.context);
        loop {
            let progress = self.progress.clone();
            let event = tokio::select! {
                biased;
                outcome = notifying(notifier.as_ref(), progress, self.work.as_mut()) => Event::Ended(outcome),
                () = request_cancelled.cancelled(), if !self.cancelled.is_cancelled() => Event::Cancelled,
                () = tokio::time::sleep(TASK_AFTER), if may_be_task => Event::TakesLong,
            };
            match event {
                Event::Ended(outcome) => match self.question(&outcome) {
                    None => return Ok(self.result(outcome).await.into()),
                    Some(question) if elicitation::is_stateless(&self.context) => {
                        let (server, caller) = (&self.server, &self.caller);
                        return Ok(elicitation::input_required(
                            server, caller, &self.sent, question,
                        ));
                    }
                    Some(question) => {
                        if !self.ask_in_session(question).await {
                            return Ok(self.result(outcome).await.into());
                        }
                    }
                },
                Event::Cancelled => {
                    self.cancelled.cancel();
                    may_be_task = false;
                }
                Event::TakesLong => {
                    let server = self.server.clone();
                    match server.tasks().take(self) {
                        Ok(task) => return Ok(CreateTaskResult::new(task).into()),
                        Err(no_room) => self = *no_room,
                    }
                    may_be_task = false;
                }
            }
        }
    }

    /// Continues it as a task.
    pub(crate) async fn run_as_task(
        mut self,
        task: TaskContext,
    ) -> Result<CallToolResult, TaskExit> {
        loop {
            let outcome = self.end_of_work(&task).await;
            if let Some(Question { id, form }) = self.question(&outcome) {
                let form = InputRequest::Elicitation(ElicitRequest::new(form));
                let answer = task.request_input(QUESTION, form).await?;
                self.repeat_decided(id, &elicitation::parse_answer(answer)?);
                continue;
            }
            // A commit that had begun when the task was cancelled is complete, and its result is returned.
            return match outcome.is_err() && task.is_cancel_requested() {
                true => Err(TaskExit::Cancelled),
                false => Ok(self.result(outcome).await),
            };
        }
    }

    /// Whose call it is.
    pub(crate) fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Its latest progress.
    pub(crate) fn latest_progress(&self) -> Option<Progress> {
        self.progress.borrow().clone()
    }

    /// The question to the user, if the outcome requires an approval and the client may be asked.
    fn question(&self, outcome: &Result<Reply, CallError>) -> Option<Question> {
        let error = outcome.as_ref().err().filter(|_| self.may_ask)?;
        elicitation::question(error.pending_approval()?)
    }

    /// Asks a session-based client on the stream of the request. Returns whether it answered, so that there is work
    /// again.
    async fn ask_in_session(&mut self, question: Question) -> bool {
        let Question { id, form } = question;
        let answer = elicitation::ask_peer(&self.context.peer, form).await;
        if let Some(answer) = &answer {
            if self.context.ct.is_cancelled() {
                self.cancelled.cancel();
            }
            self.repeat_decided(id, answer);
        }
        answer.is_some()
    }

    /// Applies the user's answer, and makes the call again if it was approved.
    fn repeat_decided(&mut self, id: String, answer: &ElicitResult) {
        self.may_ask = false;
        if let Some(request) = self.repeat.take() {
            self.work = run_decided(&self.server, &self.caller, request, id, answer);
        }
    }

    /// Waits for the end of the work, updates the task's status meanwhile, and forwards a cancellation to the call.
    async fn end_of_work(&mut self, task: &TaskContext) -> Result<Reply, CallError> {
        loop {
            tokio::select! {
                biased;
                outcome = self.work.as_mut() => return outcome,
                () = task.cancelled(), if !self.cancelled.is_cancelled() => self.cancelled.cancel(),
                Ok(()) = self.progress.changed() => {
                    if let Some(progress) = &*self.progress.borrow_and_update() {
                        task.set_status_message(status_message(progress));
                    }
                }
            }
        }
    }

    /// The result for the client. The future has no part in the work, which cannot be shared between threads.
    fn result(
        self,
        outcome: Result<Reply, CallError>,
    ) -> impl Future<Output = CallToolResult> + Send {
        let ToolCall {
            server,
            caller,
            context,
            ..
        } = self;
        async move { server.first_result(&caller, &context, outcome).await }
    }
}

/// Whether the client supports tasks, and a task would outlive what ends this server: the call of another program stays a
/// request, which its relay sends again if this process ends.
fn may_be_task(server: &Server, context: &RequestContext<RoleServer>) -> bool {
    supports_tasks(context) && !server.is_local_session()
}

fn run(server: &Server, caller: &Caller, request: Request) -> Work {
    let (server, caller) = (server.clone(), caller.clone());
    Box::pin(async move { server.run(&caller, request).await })
}

/// Records the user's decision, and makes the call if it was approved.
fn run_decided(
    server: &Server,
    caller: &Caller,
    mut request: Request,
    id: String,
    answer: &ElicitResult,
) -> Work {
    match elicitation::decide(server, caller, &id, answer) {
        Ok(()) => {
            request.approval = Some(id.to_owned());
            run(server, caller, request)
        }
        Err(error) => Box::pin(ready(Err(error))),
    }
}

/// The outcome of the work, with progress notifications meanwhile if the client wants them.
async fn notifying<T>(
    notifier: Option<&ProgressNotifier>,
    progress: ProgressReceiver,
    work: impl Future<Output = T>,
) -> T {
    match notifier {
        Some(notifier) => notifier.during(progress, work).await,
        None => work.await,
    }
}
