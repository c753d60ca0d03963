//! Runs the action: a fresh instance, a fresh transaction, and nothing visible to others yet.

use notehost_sdk::Code;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use super::admin;
use super::authorize::Allowed;
use super::call_environment::HostCallEnvironment;
use super::conform::{QUICK_REPLY_BYTES, off_worker};
use super::{CallError, Host};
use notehost_policy::FrozenEnvironment;
use notehost_records::audit::Failure;
use notehost_runtime::{GuestContent, Job, Notice, Outcome, RunError};
use notehost_vault::{Access, Limits, Transaction};

/// The longest message returned to a caller, in characters. It may repeat an argument of any length.
const MAX_MESSAGE_CHARS: usize = 2000;

/// The outcome of a run.
pub(super) enum Attempt {
    Ran(Box<Ran>),
    /// The vault changed while the action read it.
    Conflict,
}

/// The reply of an action and its staged changes.
pub(super) struct Ran {
    pub(super) text: String,
    pub(super) structured: Map<String, Value>,
    pub(super) content: Vec<GuestContent>,
    pub(super) transaction: Transaction,
    pub(super) notices: Vec<Notice>,
}

/// Runs the action once, with a frozen clock and randomness if given.
pub(super) async fn run(
    host: &Host,
    allowed: &Allowed,
    frozen: Option<&FrozenEnvironment>,
) -> Result<Attempt, CallError> {
    let settings = host.settings();
    let found = &allowed.checked.found;
    // Compiling happens once and is nobody's fault: the clock starts after it.
    let told = |error| {
        let mut told = why(error, &found.domain.name, &found.request.action);
        if allowed.outside.may_have_changed() {
            told.message += "; a request that it had sent may have changed something elsewhere";
        }
        told
    };
    let Some(component) = &found.domain.component else {
        return admin::run(host, allowed).await;
    };
    let compiled = component.prepare(host.runtime()).await;
    compiled.map_err(|error| told(RunError::Load(error)))?;
    let limits = found.domain.limits(&settings);
    let deadline = Instant::now() + Duration::from_millis(limits.call_ms);
    let transaction = allowed.vault.begin(Access {
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
    let job = Job {
        caller: Arc::from(allowed.caller.key()),
        domain: found.domain.shared_name.clone(),
        action: found.request.action.clone(),
        arguments: allowed.checked.arguments.clone(),
        transaction,
        index: allowed.index.clone(),
        environment: Arc::new(HostCallEnvironment::of(host, allowed, frozen)),
        egress: allowed.outside.clone(),
        deadline,
        limits,
        cancelled: found.request.cancelled.clone(),
        fault_injector: None,
    };
    let outcome = host.runtime().run(component, job).await;
    note(allowed, &outcome);
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(RunError::Conflict) => return Ok(Attempt::Conflict),
        Err(error) => return Err(told(error)),
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
            return Err(failed(&found.domain.name));
        }
    };
    Ok(Attempt::Ran(Box::new(Ran {
        text: outcome.reply.text,
        structured,
        content: outcome.reply.content,
        transaction: outcome.transaction,
        notices: outcome.notices,
    })))
}

/// Records the component's outcome. What the caller or the vault caused is not its failure, nor is a deadline that
/// passed in the queue.
fn note(allowed: &Allowed, outcome: &Result<Outcome, RunError>) {
    allowed.standing.note(|conduct| {
        let has_run = conduct.used.is_some();
        conduct.failure = match outcome {
            Err(RunError::TimedOut(_)) if has_run => Some(Failure::TimedOut),
            Err(RunError::OverLimit(_)) => Some(Failure::OverLimit),
            Err(RunError::Failed(_)) => Some(Failure::Trap),
            _ => None,
        };
        if let Some(used) = &mut conduct.used {
            used.denials += allowed.outside.take_denials();
        }
        conduct.has_answered = matches!(outcome, Ok(_) | Err(RunError::Refused { .. }));
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
            CallError {
                code,
                message: bounded(message),
                hint: hint.map(bounded),
                details: details.and_then(|json| serde_json::from_str(&json).ok()),
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
