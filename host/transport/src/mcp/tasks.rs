//! Long calls as MCP tasks: if a client supports tasks, a call that is not answered quickly becomes one, and its client
//! polls its status, answers its questions, or cancels it. Quick calls never become tasks. A task belongs to its caller
//! and does not exist for others. The call itself is in `tool_call`.

use parking_lot::Mutex;
use rmcp::model::{CancelTaskParams, DetailedTask, GetTaskParams, Task, UpdateTaskParams};
use rmcp::service::RequestContext;
use rmcp::task_manager::{TaskManager, TaskOptions};
use rmcp::{ErrorData, RoleServer};

use super::elicitation::is_stateless;
use super::tool_call::ToolCall;
use notehost_pipeline::Progress;
use notehost_policy::auth::Caller;

/// How long a task is kept and may run: longer than the wait for an approval.
const TTL_MS: u64 = 600_000;
/// The polling interval for clients.
const POLL_MS: u64 = 500;
/// The maximum number of tasks.
const MAX_TASKS: usize = 256;
/// The maximum per caller, so that none can lock out the others.
const MAX_TASKS_OF_CALLER: usize = 32;

/// The tasks with their owners.
#[derive(Default)]
pub(crate) struct Tasks {
    manager: TaskManager,
    owned: Mutex<Vec<Owned>>,
}

struct Owned {
    task: String,
    by: String,
}

impl Tasks {
    /// The status or outcome of a task of this caller.
    pub(crate) fn status(
        &self,
        caller: &Caller,
        params: &GetTaskParams,
    ) -> Result<DetailedTask, ErrorData> {
        self.check(caller, &params.task_id)?;
        self.manager.get_task(&params.task_id)
    }

    /// Answers a question of a task of this caller.
    pub(crate) fn answer(
        &self,
        caller: &Caller,
        answers: UpdateTaskParams,
    ) -> Result<(), ErrorData> {
        self.check(caller, &answers.task_id)?;
        self.manager
            .update_task(&answers.task_id, answers.input_responses)
    }

    /// Cancels a task of this caller.
    pub(crate) fn cancel(
        &self,
        caller: &Caller,
        params: &CancelTaskParams,
    ) -> Result<(), ErrorData> {
        self.check(caller, &params.task_id)?;
        self.manager.cancel_task(&params.task_id)
    }

    fn check(&self, caller: &Caller, task: &str) -> Result<(), ErrorData> {
        let owned = self.owned.lock();
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
    pub(crate) fn take(&self, call: ToolCall) -> Result<Task, Box<ToolCall>> {
        let by = call.caller().key();
        let mut owned = self.owned.lock();
        owned.retain(|one| self.manager.get_task(&one.task).is_ok());
        let of_caller = owned.iter().filter(|one| one.by == by).count();
        if owned.len() >= MAX_TASKS || of_caller >= MAX_TASKS_OF_CALLER {
            return Err(Box::new(call));
        }
        let options = TaskOptions::new()
            .with_ttl_ms(TTL_MS)
            .with_poll_interval_ms(POLL_MS);
        let options = match call.latest_progress() {
            Some(progress) => options.with_status_message(status_message(&progress)),
            None => options,
        };
        let task = self
            .manager
            .spawn(options, |context| Box::pin(call.run_as_task(context)));
        owned.push(Owned {
            task: task.task_id.clone(),
            by,
        });
        Ok(task)
    }
}

/// Whether a client supports tasks, an extension of the stateless revisions.
pub(crate) fn supports_tasks(context: &RequestContext<RoleServer>) -> bool {
    let capabilities = context.client_capabilities();
    is_stateless(context) && capabilities.is_some_and(|capabilities| capabilities.supports_tasks())
}

/// `120 of 500 notes read`
pub(crate) fn status_message(progress: &Progress) -> String {
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
