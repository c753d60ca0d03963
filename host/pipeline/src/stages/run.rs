//! Runs the action: a fresh instance, a fresh transaction, and nothing visible to others yet.

use notehost_sdk::Code;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use super::authorize::Allowed;
use super::circuit_breaker::Cleared;
use super::conform::{QUICK_REPLY_BYTES, off_worker};
use super::stop::Stop;
use crate::admin;
use crate::capabilities::call_environment::HostCallEnvironment;
use crate::registry::Origin;
use crate::{CallError, Host};
use notehost_policy::FrozenEnvironment;
use notehost_records::audit::Failure;
use notehost_runtime::{GuestContent, Job, Notice, Outcome, RunError};
use notehost_vault::{Access, DataChanges, Limits, Transaction};

/// The longest message returned to a caller, in characters. It may repeat an argument of any length.
const MAX_MESSAGE_CHARS: usize = 2000;

/// A future whose type does not contain the types of the sandbox, which the compiler would otherwise check again for every
/// future that awaits a call.
type Boxed<'f, T> = Pin<Box<dyn Future<Output = T> + Send + 'f>>;

/// The reply of an action and its staged changes, both unchecked.
#[must_use]
pub struct Ran(pub(crate) Box<Run>);

/// One run of an action.
pub(crate) struct Run {
    pub(crate) text: String,
    pub(crate) structured: Map<String, Value>,
    pub(crate) content: Vec<GuestContent>,
    pub(crate) transaction: Transaction,
    pub(crate) notices: Vec<Notice>,
}

/// Runs the action once, with a frozen clock and randomness if given.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn run(
    host: &Host,
    allowed: &Allowed,
    _cleared: &Cleared<'_>,
    frozen: Option<&FrozenEnvironment>,
) -> Result<Ran, Stop> {
    let _stage = allowed.clock.stage("run");
    let settings = host.settings();
    let found = &allowed.checked.found;
    let failure = |error| {
        let mut failure = why(error, &found.domain.name, &found.request.action);
        if allowed.egress.may_have_changed() {
            failure.message += "; a request that it had sent may have changed something elsewhere";
        }
        failure
    };
    let Some(component) = &found.domain.component else {
        let running: Boxed<'_, _> = Box::pin(admin::run(host, allowed));
        return Ok(running.await?);
    };
    // A component is compiled once, which does not count as time of the call: the deadline starts after it.
    let compiled = component.prepare(host.runtime()).await;
    compiled.map_err(|error| failure(RunError::Load(error)))?;
    let limits = found.domain.limits(&settings);
    let deadline = Instant::now() + Duration::from_millis(limits.call_ms);
    let mut transaction = allowed.vault.begin(Access {
        rules: allowed.rules.clone(),
        effect: allowed.effect,
        component: found.domain.name.clone(),
        limits: Limits {
            max_staged_bytes: limits.staged_bytes,
            store_quota: limits.store_bytes,
            deadline: Some(deadline),
            ..Limits::default()
        },
    });
    transaction.show_data_changes(data_changes(allowed));
    let job = Job {
        caller: Arc::from(allowed.caller.key()),
        domain: found.domain.shared_name.clone(),
        action: found.request.action.clone(),
        arguments: allowed.checked.arguments.clone(),
        transaction,
        index: allowed.index.clone(),
        environment: Arc::new(HostCallEnvironment::of(host, allowed, frozen)),
        egress: allowed.egress.clone(),
        deadline,
        limits,
        cancelled: found.request.cancelled.clone(),
        fault_injector: None,
    };
    let running: Boxed<'_, _> = Box::pin(host.runtime().run(component, job));
    let outcome = running.await;
    note(allowed, &outcome);
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(RunError::Conflict) => return Err(Stop::Rerun { conflict: None }),
        Err(error) => return Err(failure(error).into()),
    };
    let json = outcome.reply.structured;
    let is_quick = json.len() <= QUICK_REPLY_BYTES;
    let parsed = off_worker(is_quick, move || serde_json::from_str::<Value>(&json)).await?;
    let structured = match parsed {
        Ok(Value::Object(structured)) => structured,
        _ => {
            tracing::error!(
                domain = found.domain.name,
                "returned something that is not a JSON object"
            );
            return Err(failed(&found.domain.name).into());
        }
    };
    Ok(Ran(Box::new(Run {
        text: outcome.reply.text,
        structured,
        content: outcome.reply.content,
        transaction: outcome.transaction,
        notices: outcome.notices,
    })))
}

/// Whose changes of nothing but data of components the call may see and undo. A third-party component's grant says nothing of
/// the data of others.
fn data_changes(allowed: &Allowed) -> DataChanges {
    let caller = &allowed.caller;
    match allowed.checked.found.domain.origin {
        Origin::Embedded if caller.is_owner_at_terminal() => DataChanges::All,
        Origin::Embedded => DataChanges::Of(caller.key()),
        Origin::Installed | Origin::File => DataChanges::Hidden,
    }
}

/// Records the component's outcome. What the caller or the vault caused is not its failure, nor is a deadline that
/// passed in the queue.
fn note(allowed: &Allowed, outcome: &Result<Outcome, RunError>) {
    allowed.live_rights.note(|guest| {
        let has_run = guest.used.is_some();
        guest.failure = match outcome {
            Err(RunError::TimedOut(_)) if has_run => Some(Failure::TimedOut),
            Err(RunError::OverLimit(_)) => Some(Failure::OverLimit),
            Err(RunError::Failed(_)) => Some(Failure::Trap),
            _ => None,
        };
        if let Some(used) = &mut guest.used {
            used.denials += allowed.egress.take_denials();
        }
        guest.has_answered = matches!(outcome, Ok(_) | Err(RunError::Refused { .. }));
    });
}

/// The error returned for a failed run. A trap is never returned verbatim.
fn why(error: RunError, domain: &str, action: &str) -> CallError {
    match error {
        RunError::Refused { code, message, hint, details } => {
            // Controlled by the component: an unknown code is its defect.
            let Some(code) = Code::parse(&code).filter(|code| code.is_for_components()) else {
                tracing::error!(domain, action, "returned the unknown error code `{}`", code.escape_debug());
                return failed(domain);
            };
            let mut error = CallError::new(code, bounded(message));
            error.hint = hint.map(bounded);
            match details.and_then(|json| serde_json::from_str(&json).ok()) {
                Some(details) => error.with_details(details),
                None => error,
            }
        }
        RunError::TimedOut(allowed) => CallError::new(
            Code::Timeout,
            format!(
                "`{domain}.{action}` was stopped after {} ms; nothing was changed: request less at once",
                allowed.as_millis()
            ),
        )
        .with_hint("an admin can allow more: `limits.call_ms` in the config"),
        RunError::NotStarted(allowed) => CallError::new(
            Code::Timeout,
            format!(
                "`{domain}.{action}` could not start within {} ms: too many calls of this caller, or of all callers, \
                are running; wait for their replies and try again",
                allowed.as_millis()
            ),
        )
        .with_hint("an admin can allow more at once: `limits.concurrent_calls` in the config"),
        RunError::OutOfSharedMemory => CallError::new(
            Code::Unavailable,
            format!("the running calls use the memory that `{domain}.{action}` needs; nothing was changed, try again"),
        ),
        RunError::Conflict => CallError::new(Code::Conflict, "the vault changed while the call ran; nothing was changed, try again"),
        RunError::Revoked(reason) => CallError::from(*reason),
        RunError::Cancelled => CallError::new(Code::Unavailable, "the call was cancelled and changed nothing"),
        RunError::OverLimit(limit) => {
            tracing::warn!(domain, action, "stopped: {limit}");
            CallError::new(Code::ComponentFailed, format!("`{domain}` was stopped because it {limit}; nothing was changed"))
                .with_hint("the limits of a call are set under `[limits]` in the config")
        }
        RunError::Failed(reason) => {
            tracing::error!(domain, action, "failed: {reason}");
            failed(domain)
        }
        RunError::Load(error) => {
            tracing::error!(domain, "cannot be loaded: {error}");
            CallError::new(Code::ComponentFailed, format!("the component `{domain}` cannot be loaded"))
                .with_hint(error.to_string())
        }
    }
}

fn bounded(text: String) -> String {
    match text.char_indices().nth(MAX_MESSAGE_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn failed(domain: &str) -> CallError {
    CallError::new(
        Code::ComponentFailed,
        format!("the component `{domain}` failed; nothing was changed"),
    )
    .with_hint("the server log has the cause; report it to the component's author")
}
