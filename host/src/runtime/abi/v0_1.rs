//! Track 0.1 of the contract: the generated bindings, and how a component of this track is prepared and called.

use std::sync::Arc;
use std::time::Instant;

use wasmtime::component::{Component, HasData, Linker, Resource};
use wasmtime::{Engine, Store, Trap};

use super::super::component::LoadError;
use super::super::state::{CallState, Meter, Stopped};
use super::super::{GuestContent, GuestReply, Job, Outcome, RunError};
use super::host_functions::VaultView;
use crate::config::LimitSettings;

#[allow(missing_docs, unreachable_pub)]
pub(super) mod bindings {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "component",
        imports: { default: async | trappable },
        exports: { default: async },
        with: { "notehost:domain/vault.vault": crate::runtime::abi::host_functions::VaultHandle },
        trappable_error_type: {
            "notehost:domain/types.error" => crate::runtime::state::Refusal,
        },
    });
}

use bindings::notehost::domain::types;

/// A component of this track, linked and ready for instances.
pub(in super::super) struct Ready {
    name: String,
    instances: bindings::ComponentPre<CallState>,
}

/// Lends a call's view of the vault to the host functions, and nothing else of the host.
struct Lends;

impl HasData for Lends {
    type Data<'a> = VaultView<'a>;
}

/// Everything that a component may import.
pub(in super::super) fn linker(engine: &Engine) -> wasmtime::Result<Linker<CallState>> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    bindings::Component::add_to_linker::<_, Lends>(&mut linker, VaultView::of)?;
    Ok(linker)
}

/// Check a component against the contract.
pub(in super::super) fn ready(
    name: &str,
    linker: &Linker<CallState>,
    component: &Component,
) -> wasmtime::Result<Ready> {
    Ok(Ready {
        name: name.to_owned(),
        instances: bindings::ComponentPre::new(linker.instantiate_pre(component)?)?,
    })
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
    );
    let mut store = store(engine, state);
    let answered = async {
        let instance = ready.instances.instantiate_async(&mut store).await?;
        // The one handle of this call; it ends with it.
        let vault = Resource::new_borrow(0);
        instance
            .notehost_domain_domain()
            .call_call(&mut store, vault, &job.action, &job.arguments)
            .await
    }
    .await;
    let mut state = store.into_data();
    VaultView::of(&mut state).count_hidden();
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

/// Ask a component what it is.
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
        let instance = ready.instances.instantiate_async(&mut store).await?;
        instance
            .notehost_domain_domain()
            .call_describe(&mut store)
            .await
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
fn measured(reply: types::Reply, limits: &LimitSettings) -> Result<GuestReply, RunError> {
    let media: usize = reply
        .content
        .iter()
        .map(|content| match content {
            types::Content::Image(media) => media.bytes.len() + media.mime.len(),
            types::Content::Link(path) => path.len(),
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
    Ok(GuestReply {
        text: reply.text,
        structured: reply.structured,
        content: reply
            .content
            .into_iter()
            .map(|content| match content {
                types::Content::Image(media) => GuestContent::Image {
                    bytes: media.bytes,
                    mime: media.mime,
                },
                types::Content::Link(path) => GuestContent::Link(path),
            })
            .collect(),
    })
}

fn why_it_stopped(error: &wasmtime::Error, allowed: std::time::Duration) -> RunError {
    match error.downcast_ref::<Stopped>() {
        Some(Stopped::Deadline) => return RunError::TimedOut(allowed),
        Some(Stopped::Revoked(reason)) => return RunError::Revoked(reason.clone()),
        Some(limit) => return RunError::OverLimit(limit.to_string()),
        None => {}
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::Interrupt) => RunError::TimedOut(allowed),
        Some(Trap::StackOverflow) => RunError::OverLimit("called itself too deeply".into()),
        _ => RunError::Broke(format!("{error:#}")),
    }
}
