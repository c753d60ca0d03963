//! Track 0.1 of the contract: the generated bindings, and how a component of this track is checked and called.

use wasmtime::Store;
use wasmtime::component::{Component, Linker, Resource};

use super::super::contract::Track;
use super::super::state::CallState;
use super::super::{GuestContent, GuestReply};
use super::Lends;
use super::call::{GuestError, GuestRequest, GuestResult};
use super::form::{ContractMismatch, Form};
use super::host_functions::{VaultHandle, VaultView};

#[allow(missing_docs, unreachable_pub)]
pub(super) mod bindings {
    wasmtime::component::bindgen!({
        path: "../../wit",
        world: "component",
        imports: { default: async | trappable },
        exports: { default: async },
        with: { "notehost:domain/vault.vault": crate::abi::host_functions::VaultHandle },
        trappable_error_type: {
            "notehost:domain/types.error" => crate::state::Refusal,
        },
    });
}

use bindings::notehost::domain::types;

/// What makes instances of a component.
pub(super) type Instances = bindings::ComponentPre<CallState>;

pub(super) fn add_to_linker(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    bindings::Component::add_to_linker::<_, Lends>(linker, VaultView::of)
}

/// Check a component against the contract.
pub(super) fn instances(
    linker: &Linker<CallState>,
    component: &Component,
) -> Result<Instances, ContractMismatch> {
    type Parameters = (Resource<VaultHandle>, String, String);
    type Returned = (Result<types::Reply, types::Error>,);
    let form = Form::of(Track::V0_1, linker, component)?;
    form.check::<(), (String,)>("describe", "describe() -> json")?;
    form.check::<Parameters, Returned>(
        "call",
        "call(vault, action: string, arguments: json) -> result<reply, error>",
    )?;
    let instances = linker.instantiate_pre(component);
    let instances = instances.and_then(bindings::ComponentPre::new);
    instances.map_err(|error| form.mismatch(&error))
}

/// Ask what it is.
pub(super) async fn describe(
    instances: &Instances,
    store: &mut Store<CallState>,
) -> wasmtime::Result<String> {
    let instance = instances.instantiate_async(&mut *store).await?;
    let domain = instance.notehost_domain_domain();
    domain.call_describe(store).await
}

/// Do one action.
pub(super) async fn call(
    instances: &Instances,
    store: &mut Store<CallState>,
    guest_request: GuestRequest,
) -> wasmtime::Result<GuestResult> {
    let instance = instances.instantiate_async(&mut *store).await?;
    let domain = instance.notehost_domain_domain();
    let arguments = guest_request.arguments.to_string();
    let answered = domain.call_call(
        store,
        guest_request.vault,
        &guest_request.action,
        &arguments,
    );
    Ok(match answered.await? {
        Ok(reply) => Ok(GuestReply {
            text: reply.text,
            structured: reply.structured,
            content: reply.content.into_iter().map(content).collect(),
        }),
        Err(error) => Err(GuestError {
            code: error.code,
            message: error.message,
            hint: error.hint,
            details: error.details,
        }),
    })
}

fn content(content: types::Content) -> GuestContent {
    match content {
        types::Content::Image(media) => GuestContent::Image {
            bytes: media.bytes,
            mime: media.mime,
        },
        types::Content::Link(path) => GuestContent::Link(path),
    }
}
