//! Long calls as MCP tasks: if a client supports tasks, a call that is not answered quickly becomes one, and its client
//! polls its status, answers its questions, or cancels it. Quick calls never become tasks. A task belongs to its caller
//! and does not exist for others.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, CreateTaskResult,
    DetailedTask, ElicitRequest, GetTaskParams, InputRequest, Task, UpdateTaskParams,
};
use rmcp::service::RequestContext;
use rmcp::task_manager::{TaskContext, TaskExit, TaskManager, TaskOptions};
use rmcp::{ErrorData, RoleServer};
use tokio_util::sync::CancellationToken;

use super::elicitation::{self, CallOutcome, QUESTION, Question};
use super::mcp::Server;
use super::progress::{self, ProgressNotifier, ProgressReceiver};
use notehost_pipeline::{CallError, Progress, Reply, Request};
use notehost_policy::auth::Caller;

/// A call that takes longer becomes a task.
const TASK_AFTER: Duration = Duration::from_secs(1);
/// How long a task is kept and may run: longer than the wait for an approval.
const TTL_MS: u64 = 600_000;
/// The polling interval for clients.
const POLL_MS: u64 = 500;
/// The maximum number of tasks.
const MAX_TASKS: usize = 256;
/// The maximum per caller, so that none can lock out the others.
const MAX_TASKS_OF_CALLER: usize = 32;

type Work = Pin<Box<dyn Future<Output = Result<CallOutcome, ErrorData>> + Send>>;

/// The tasks with their owners.
#[derive(Default)]
pub(super) struct Tasks {
    manager: TaskManager,
    owned: Mutex<Vec<Owned>>,
}

struct Owned {
    task: String,
    by: String,
}

impl Tasks {
    /// The status or outcome of a task of this caller.
    pub(super) fn look(
        &self,
        caller: &Caller,
        asked: &GetTaskParams,
    ) -> Result<DetailedTask, ErrorData> {
        self.check(caller, &asked.task_id)?;
        self.manager.get_task(&asked.task_id)
    }

    /// Answers a question of a task of this caller.
    pub(super) fn answer(
        &self,
        caller: &Caller,
        answers: UpdateTaskParams,
    ) -> Result<(), ErrorData> {
        self.check(caller, &answers.task_id)?;
        self.manager
            .update_task(&answers.task_id, answers.input_responses)
    }

    /// Cancels a task of this caller.
    pub(super) fn cancel(
        &self,
        caller: &Caller,
        asked: &CancelTaskParams,
    ) -> Result<(), ErrorData> {
        self.check(caller, &asked.task_id)?;
        self.manager.cancel_task(&asked.task_id)
    }

    fn check(&self, caller: &Caller, task: &str) -> Result<(), ErrorData> {
        let owned = self.owned.lock().unwrap_or_else(PoisonError::into_inner);
        let by = caller.key();
        match owned.iter().any(|one| one.task == task && one.by == by) {
            true => Ok(()),
            false => Err(ErrorData::invalid_params(
                format!("unknown task: {task}"),
                None,
            )),
        }
    }

    /// Continues a call as a task; returns the call if there is no room.
    fn take(&self, call: LongCall) -> Result<Task, Box<LongCall>> {
        let by = call.caller.key();
        let mut owned = self.owned.lock().unwrap_or_else(PoisonError::into_inner);
        owned.retain(|one| self.manager.get_task(&one.task).is_ok());
        let of_one = owned.iter().filter(|one| one.by == by).count();
        if owned.len() >= MAX_TASKS || of_one >= MAX_TASKS_OF_CALLER {
            return Err(Box::new(call));
        }
        let options = TaskOptions::new()
            .with_ttl_ms(TTL_MS)
            .with_poll_interval_ms(POLL_MS);
        let options = match &*call.heard.borrow() {
            Some(progress) => options.with_status_message(in_words(progress)),
            None => options,
        };
        let task = self
            .manager
            .spawn(options, |context| Box::pin(call.go_on(context)));
        owned.push(Owned {
            task: task.task_id.clone(),
            by,
        });
        Ok(task)
    }
}

/// Makes a call. If it takes long and the client supports tasks, the response is a task.
pub(super) async fn call(
    server: &Server,
    caller: Caller,
    sent: CallToolRequestParams,
    call: Request,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let given_up = context.ct.clone();
    let notifier = ProgressNotifier::of(&context);
    let mut may_be_task = knows_tasks(&context);
    let is_heard = may_be_task || notifier.is_some();
    let mut long = LongCall::begin(server, caller, sent, call, context, is_heard);
    loop {
        let next = tokio::select! {
            biased;
            asked = told(notifier.as_ref(), long.heard.clone(), long.work.as_mut()) => Next::Ended(Box::new(asked)),
            () = given_up.cancelled(), if !long.cancelled.is_cancelled() => Next::GivenUp,
            () = tokio::time::sleep(TASK_AFTER), if may_be_task => Next::TakesLong,
        };
        match next {
            Next::Ended(asked) => return long.response((*asked)?).await,
            Next::GivenUp => {
                long.cancelled.cancel();
                may_be_task = false;
            }
            Next::TakesLong => match server.tasks().take(long) {
                Ok(task) => return Ok(CreateTaskResult::new(task).into()),
                Err(back) => {
                    long = *back;
                    may_be_task = false;
                }
            },
        }
    }
}

/// The first event of a call.
enum Next {
    Ended(Box<Result<CallOutcome, ErrorData>>),
    GivenUp,
    TakesLong,
}

/// The outcome of a call, with progress notifications meanwhile.
async fn told<T>(
    notifier: Option<&ProgressNotifier>,
    heard: ProgressReceiver,
    work: impl Future<Output = T>,
) -> T {
    match notifier {
        Some(notifier) => notifier.during(heard, work).await,
        None => work.await,
    }
}

/// A running call, independent of its waiter.
struct LongCall {
    server: Server,
    caller: Caller,
    sent: Arc<CallToolRequestParams>,
    context: Arc<RequestContext<RoleServer>>,
    /// The same call, to be made again when a person has approved it. Kept of calls that may
    /// become a task and change something.
    again: Option<Request>,
    /// Cancels it. Not the request's own token: a request ends when its response is a task, but the call continues.
    cancelled: CancellationToken,
    heard: ProgressReceiver,
    work: Work,
}

impl LongCall {
    fn begin(
        server: &Server,
        caller: Caller,
        sent: CallToolRequestParams,
        mut call: Request,
        context: RequestContext<RoleServer>,
        is_heard: bool,
    ) -> LongCall {
        let cancelled = CancellationToken::new();
        let (sink, heard) = progress::channel();
        call.cancelled = cancelled.clone();
        call.progress = is_heard.then_some(sink);
        let may_ask = knows_tasks(&context)
            && server.host().is_attended(&caller)
            && elicitation::may_need_person(server, &call);
        let again = may_ask.then(|| call.clone());
        let (sent, context) = (Arc::new(sent), Arc::new(context));
        let work = {
            let (server, caller) = (server.clone(), caller.clone());
            let (sent, context) = (sent.clone(), context.clone());
            async move { elicitation::call(&server, &caller, &sent, call, &context).await }
        };
        LongCall {
            server: server.clone(),
            caller,
            sent,
            context,
            again,
            cancelled,
            heard,
            work: Box::pin(work),
        }
    }

    /// The response to a waiting client.
    async fn response(self, asked: CallOutcome) -> Result<CallToolResponse, ErrorData> {
        match asked {
            CallOutcome::Answered(outcome) => Ok(self.result(outcome).await.into()),
            CallOutcome::Question(question) => Ok(elicitation::input_required(
                &self.server,
                &self.caller,
                &self.sent,
                question,
            )),
        }
    }

    /// Made from copies: the work itself cannot be shared between threads.
    fn result(
        &self,
        outcome: Result<Reply, CallError>,
    ) -> impl Future<Output = CallToolResult> + Send + use<> {
        let (server, caller) = (self.server.clone(), self.caller.clone());
        let context = self.context.clone();
        async move { server.first_result(&caller, &context, outcome).await }
    }

    /// Runs it as a task.
    async fn go_on(mut self, task: TaskContext) -> Result<CallToolResult, TaskExit> {
        let outcome = loop {
            match self.end(&task).await? {
                CallOutcome::Answered(outcome) => break outcome,
                CallOutcome::Question(question) => self.work = self.ask(&task, question).await?,
            }
        };
        let is_cancelled = outcome.is_err() && task.is_cancel_requested();
        // A commit that had begun when it was cancelled has landed, and says so.
        match is_cancelled {
            true => Err(TaskExit::Cancelled),
            false => Ok(self.result(outcome).await),
        }
    }

    /// Repeats the call with the user's decision.
    async fn ask(&mut self, task: &TaskContext, question: Question) -> Result<Work, TaskExit> {
        let Question { id, form } = question;
        let request = InputRequest::Elicitation(ElicitRequest::new(form));
        let answer = task.request_input(QUESTION, request).await?;
        let (server, caller) = (self.server.clone(), self.caller.clone());
        let missing = || ErrorData::internal_error("the call cannot be repeated", None);
        let again = self.again.clone().ok_or_else(missing)?;
        Ok(Box::pin(async move {
            let outcome = elicitation::answered(&server, &caller, again, &id, answer).await?;
            Ok(CallOutcome::Answered(outcome))
        }))
    }

    /// Waits for its end, updates the task status meanwhile, and forwards a cancellation to the guest.
    async fn end(&mut self, task: &TaskContext) -> Result<CallOutcome, ErrorData> {
        loop {
            tokio::select! {
                biased;
                asked = self.work.as_mut() => return asked,
                () = task.cancelled(), if !self.cancelled.is_cancelled() => self.cancelled.cancel(),
                Ok(()) = self.heard.changed() => {
                    if let Some(progress) = &*self.heard.borrow_and_update() {
                        task.set_status_message(in_words(progress));
                    }
                }
            }
        }
    }
}

/// Whether a client supports tasks, an extension of the stateless revisions.
fn knows_tasks(context: &RequestContext<RoleServer>) -> bool {
    let is_stateless = context
        .protocol_version()
        .is_some_and(|version| !version.has_initialize());
    let capabilities = context.client_capabilities();
    is_stateless && capabilities.is_some_and(|capabilities| capabilities.supports_tasks())
}

/// `120 of 500 notes read`
fn in_words(progress: &Progress) -> String {
    let Progress {
        done,
        total,
        message,
    } = progress;
    let count = match total {
        Some(total) => format!("{done} of {total}"),
        None => done.to_string(),
    };
    format!("{count} {message}").trim_end().to_owned()
}
