//! One call on a fresh instance, whichever track it speaks: what it gets, when it ends, and what its end means.

use std::sync::Arc;
use std::time::{Duration, Instant};

use wasmtime::component::Resource;
use wasmtime::{Engine, Store, Trap};

use super::super::component::LoadError;
use super::super::state::{CallState, Meter, Stopped};
use super::super::{GuestContent, GuestReply, Job, Outcome, RunError};
use super::host_functions::VaultHandle;
use super::{Instances, Ready, v0_1, v0_2};
use crate::config::LimitSettings;

/// What a guest is asked to do.
pub(super) struct Asked {
    /// The one handle of this call; it ends with it.
    pub(super) vault: Resource<VaultHandle>,
    pub(super) action: String,
    pub(super) arguments: String,
    pub(super) time_left: Duration,
    pub(super) reply_bytes: usize,
}

/// What a guest answered: what it has to say, or why it refused. Hostile until checked.
pub(super) type Answered = Result<GuestReply, Refused>;

/// A guest's refusal, in its own words.
pub(super) struct Refused {
    pub(super) code: String,
    pub(super) message: String,
    pub(super) hint: Option<String>,
    pub(super) details: Option<String>,
}

/// Run one action on a fresh instance.
pub(in super::super) async fn call(
    engine: &Engine,
    ready: &Ready,
    job: Job,
) -> Result<Outcome, RunError> {
    let limits = &job.limits;
    let allowed = job.deadline.saturating_duration_since(Instant::now());
    let state = CallState::new(
        job.domain,
        Some(job.transaction),
        Some(job.index),
        Some(job.surroundings),
        job.deadline,
        limits,
    )
    .with_outside(job.outside, limits);
    let mut store = store(engine, state);
    let asked = Asked {
        vault: Resource::new_borrow(0),
        action: job.action,
        arguments: job.arguments,
        time_left: allowed,
        reply_bytes: limits.reply_bytes,
    };
    let answered = match &ready.instances {
        Instances::V0_1(instances) => v0_1::call(instances, &mut store, asked).await,
        Instances::V0_2(instances) => v0_2::call(instances, &mut store, asked).await,
    };
    let state = store.into_data();
    let (transaction, notices) = (state.transaction, state.notices);
    match (answered, transaction) {
        (Ok(Ok(reply)), Some(transaction)) => Ok(Outcome {
            reply: measured(reply, limits)?,
            transaction,
            notices,
        }),
        (Ok(Ok(_)), None) => Err(RunError::Broke(
            "a host call never gave back the transaction".into(),
        )),
        // What it refused for may never have been so: it saw a vault that changed under its eyes.
        (Ok(Err(_)), Some(transaction)) if transaction.validate().is_err() => Err(RunError::Torn),
        (Ok(Err(error)), _) => Err(RunError::Refused {
            code: error.code,
            message: error.message,
            hint: error.hint,
            details: error.details,
        }),
        (Err(error), _) => Err(why_it_stopped(&error, allowed)),
    }
}

/// Ask a component what it is. The answer is JSON, of the form that track 0.1 has.
pub(in super::super) async fn describe(
    engine: &Engine,
    ready: &Ready,
    deadline: Instant,
    limits: &LimitSettings,
) -> Result<String, LoadError> {
    let name = Arc::from(ready.name.as_str());
    let state = CallState::new(name, None, None, None, deadline, limits);
    let mut store = store(engine, state);
    let described = async {
        match &ready.instances {
            Instances::V0_1(instances) => v0_1::describe(instances, &mut store).await,
            Instances::V0_2(instances) => v0_2::describe(instances, &mut store).await,
        }
    };
    let described = tokio::time::timeout_at(deadline.into(), described).await;
    let failed = |reason: String| LoadError::NoDescription {
        name: ready.name.clone(),
        reason,
    };
    match described {
        Ok(Ok(json)) => Ok(json),
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
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(Meter::tick);
    store
}

/// Refuse a reply that is over the limit before anything is done with it.
fn measured(reply: GuestReply, limits: &LimitSettings) -> Result<GuestReply, RunError> {
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
    let size = reply.text.len() + reply.structured.len() + media;
    // Room for a text that is then cut; beyond it a reply is an attack or a defect.
    let most = limits.reply_bytes.saturating_mul(64);
    if size > most {
        return Err(RunError::OverLimit(format!(
            "answered with {size} bytes, and {most} is the most"
        )));
    }
    Ok(reply)
}

fn why_it_stopped(error: &wasmtime::Error, allowed: Duration) -> RunError {
    match error.downcast_ref::<Stopped>() {
        Some(Stopped::Deadline) => return RunError::TimedOut(allowed),
        Some(limit) => return RunError::OverLimit(limit.to_string()),
        None => {}
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::Interrupt) => RunError::TimedOut(allowed),
        Some(Trap::StackOverflow) => RunError::OverLimit("called itself too deeply".into()),
        _ => RunError::Broke(format!("{error:#}")),
    }
}
