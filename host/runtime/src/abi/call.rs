//! Runs one call on a fresh instance, for every track: its inputs, when it is stopped, and how its end is interpreted.

use std::sync::Arc;
use std::time::{Duration, Instant};

use wasmtime::component::Resource;
use wasmtime::{Engine, Store, Trap};

use super::super::Sandbox;
use super::super::component::LoadError;
use super::super::cpu_scheduler::Turn;
use super::super::description::Description;
use super::super::fair_permits::Permit;
use super::super::state::{CallState, Meter, Stopped};
use super::super::{GuestContent, GuestReply, Job, Outcome, RunError};
use super::vault_view::{VaultHandle, VaultView};
use super::{Instances, Ready, v1};
use notehost_config::LimitSettings;
use notehost_vault::Transaction;

/// How many bytes a guest may pass to the host in one call or reply: the largest file, and what belongs to it.
const MAX_HOST_CALL_BYTES: usize = (64 << 20) + (1 << 20);

/// How many JSON values and keys a reply may have.
const MAX_REPLY_VALUES: usize = 1 << 20;

/// How many images, sounds and links a reply may have. Each link is looked up in the vault.
const MAX_CONTENT_PARTS: usize = 100;

/// How long the details of an error may be, and how many JSON values and keys they may have.
const MAX_DETAILS_BYTES: usize = 64 << 10;
const MAX_DETAILS_VALUES: usize = 10_000;

/// The message of wasmtime if it was more.
const FUEL_EXHAUSTED: &str = "fuel allocated for hostcalls has been exhausted";

/// The request to a guest.
pub(super) struct GuestRequest {
    /// The one handle of this call; it ends with it.
    pub(super) vault: Resource<VaultHandle>,
    pub(super) action: String,
    pub(super) arguments: Arc<str>,
    pub(super) time_left: Duration,
    pub(super) reply_bytes: usize,
}

/// The guest's reply or error. Untrusted until checked.
pub(super) type GuestResult = Result<GuestReply, GuestError>;

/// An error returned by a guest.
pub(super) struct GuestError {
    pub(super) code: String,
    pub(super) message: String,
    pub(super) hint: Option<String>,
    pub(super) details: Option<String>,
}

/// Runs one action on a fresh instance.
#[tracing::instrument(name = "guest.call", level = "debug", skip_all, fields(domain = %job.domain, action = %job.action))]
pub(in super::super) async fn call(
    sandbox: &Sandbox,
    ready: &Ready,
    job: Job,
    permit: Arc<Permit>,
) -> Result<Outcome, RunError> {
    let limits = &job.limits;
    let allowed = job.deadline.saturating_duration_since(Instant::now());
    let mut state = CallState::new(
        job.domain,
        Some(job.transaction),
        Some(job.index),
        Some(job.environment),
        job.deadline,
        limits,
        Turn::new(&sandbox.long_runners, job.caller),
    )
    .with_permit(permit)
    .with_egress(job.egress, limits);
    state.meter.fault_injector = job.fault_injector;
    let mut store = store(&sandbox.engine, state);
    let guest_request = GuestRequest {
        vault: Resource::new_borrow(0),
        action: job.action,
        arguments: job.arguments,
        time_left: allowed,
        reply_bytes: limits.reply_bytes,
    };
    let answered = match &ready.instances {
        Instances::V1Rc1(instances) => v1::call(instances, &mut store, guest_request).await,
    };
    let mut state = store.into_data();
    VaultView::of(&mut state).count_hidden();
    let (transaction, notices) = (state.transaction, state.notices);
    match (answered, transaction) {
        (Ok(Ok(reply)), Some(transaction)) => Ok(Outcome {
            reply: bounded_reply(reply, limits)?,
            transaction,
            notices,
        }),
        (Ok(Ok(_)), None) => Err(RunError::Failed(
            "a host call did not return the transaction".into(),
        )),
        (Ok(Err(error)), transaction) => {
            let error = bounded_error(error, limits)?;
            // The reason for its error may not hold: the vault changed while it was reading.
            let has_conflict = match transaction {
                Some(transaction) => !is_valid(transaction).await,
                None => false,
            };
            match has_conflict {
                true => Err(RunError::Conflict),
                false => Err(RunError::Refused {
                    code: error.code,
                    message: error.message,
                    hint: error.hint,
                    details: error.details,
                }),
            }
        }
        (Err(error), _) => Err(why_it_stopped(&error, allowed)),
    }
}

/// Whether the read set of a call is still valid. After another commit, the check reads files under the lock of commits.
async fn is_valid(transaction: Transaction) -> bool {
    match transaction.is_undisturbed() {
        true => transaction.validate().is_ok(),
        false => tokio::task::spawn_blocking(move || transaction.validate().is_ok())
            .await
            .unwrap_or(false),
    }
}

/// Describes a component. The description is checked for its size only.
#[tracing::instrument(name = "guest.describe", level = "debug", skip_all, fields(component = %ready.name))]
pub(in super::super) async fn describe(
    sandbox: &Sandbox,
    ready: &Ready,
    deadline: Instant,
    limits: &LimitSettings,
) -> Result<Description, LoadError> {
    let name = Arc::from(ready.name.as_str());
    let state = CallState::new(
        name,
        None,
        None,
        None,
        deadline,
        limits,
        Turn::new(&sandbox.long_runners, Arc::from("")),
    );
    let mut store = store(&sandbox.engine, state);
    let described = async {
        match &ready.instances {
            Instances::V1Rc1(instances) => v1::describe(instances, &mut store).await,
        }
    };
    let described = tokio::time::timeout_at(deadline.into(), described).await;
    let failed = |reason: String| LoadError::NoDescription {
        name: ready.name.clone(),
        reason,
    };
    match described {
        Ok(Ok(description)) => Ok(description?),
        Ok(Err(error)) => {
            let allowed = deadline.saturating_duration_since(Instant::now());
            Err(failed(why_it_stopped(&error, allowed).to_string()))
        }
        Err(_) => Err(failed("it took too long".into())),
    }
}

fn store(engine: &Engine, state: CallState) -> Store<CallState> {
    let mut store = Store::new(engine, state);
    store.limiter(|state| state);
    store.set_hostcall_fuel(MAX_HOST_CALL_BYTES);
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(Meter::tick);
    store
}

/// Rejects a reply that is over the limit before anything is done with it.
fn bounded_reply(reply: GuestReply, limits: &LimitSettings) -> Result<GuestReply, RunError> {
    let media: usize = reply
        .content
        .iter()
        .map(|content| match content {
            GuestContent::Image { bytes, mime } | GuestContent::Audio { bytes, mime } => {
                bytes.len() + mime.len()
            }
            GuestContent::Link(path) => path.len(),
        })
        .sum();
    check_size(reply.text.len() + reply.structured.len() + media, limits)?;
    let parts = reply.content.len();
    if parts > MAX_CONTENT_PARTS {
        return Err(RunError::OverLimit(format!(
            "returned {parts} parts of content; the maximum is {MAX_CONTENT_PARTS}"
        )));
    }
    if has_more_values_than(MAX_REPLY_VALUES, &reply.structured) {
        return Err(RunError::OverLimit(format!(
            "returned more than {MAX_REPLY_VALUES} JSON values"
        )));
    }
    Ok(reply)
}

/// The same for an error. Details over the limit are dropped: the message is valid without them.
fn bounded_error(mut refused: GuestError, limits: &LimitSettings) -> Result<GuestError, RunError> {
    let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let words = refused.code.len() + refused.message.len() + length(&refused.hint);
    check_size(words + length(&refused.details), limits)?;
    let is_too_much = |json: &String| {
        json.len() > MAX_DETAILS_BYTES || has_more_values_than(MAX_DETAILS_VALUES, json)
    };
    if refused.details.as_ref().is_some_and(is_too_much) {
        tracing::warn!("the details of a refusal were dropped: they are too long");
        refused.details = None;
    }
    Ok(refused)
}

fn check_size(size: usize, limits: &LimitSettings) -> Result<(), RunError> {
    // Room for a text that is then cut; beyond it a reply is an attack or a defect.
    let most = limits.reply_bytes.saturating_mul(64);
    match size > most {
        true => Err(RunError::OverLimit(format!(
            "returned {size} bytes; the maximum is {most}"
        ))),
        false => Ok(()),
    }
}

/// Whether a JSON text has more values and keys than this, counted by what separates them. Nothing is built from it: a tree
/// of values takes up to a hundred times the memory of its text.
fn has_more_values_than(most: usize, json: &str) -> bool {
    // A text that is too short needs no scan.
    if json.len() / 2 <= most {
        return false;
    }
    let (mut count, mut is_in_string, mut is_escaped) = (0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_in_string,
            b'"' => is_in_string = !is_in_string,
            b'[' | b'{' | b',' | b':' if !is_in_string => count += 1,
            _ => {}
        }
        if count > most {
            return true;
        }
    }
    false
}

fn why_it_stopped(error: &wasmtime::Error, allowed: Duration) -> RunError {
    match error.downcast_ref::<Stopped>() {
        Some(Stopped::Deadline) => return RunError::TimedOut(allowed),
        Some(Stopped::Cancelled) => return RunError::Cancelled,
        Some(Stopped::SharedMemory) => return RunError::OutOfSharedMemory,
        Some(Stopped::Revoked(reason)) => return RunError::Revoked(reason.clone()),
        Some(limit) => return RunError::OverLimit(limit.to_string()),
        None => {}
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::Interrupt) => RunError::TimedOut(allowed),
        Some(Trap::StackOverflow) => RunError::OverLimit("overflowed its stack".into()),
        _ => match format!("{error:#}") {
            // Its type is private.
            message if message.contains(FUEL_EXHAUSTED) => RunError::OverLimit(format!(
                "passed more than {} MiB to the host at once",
                MAX_HOST_CALL_BYTES >> 20
            )),
            message => RunError::Failed(message),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_outside_of_strings() {
        let list = format!("[{}0]", "0,".repeat(99));
        assert!(!has_more_values_than(100, &list));
        assert!(has_more_values_than(99, &list));
        let text = format!(r#"["{}\",[[[ {}"]"#, ",:[{".repeat(50), r#"\\"#);
        assert!(!has_more_values_than(1, &text));
    }
}
