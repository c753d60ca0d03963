//! Track 0.2 of the contract. Its imports are those of 0.1 under another version, so the same host functions serve
//! both; its exports are adapted here.

use serde_json::{Value, json};
use wasmtime::Store;
use wasmtime::component::{Component, InstancePre, Linker, Resource};

use super::super::contract::Track;
use super::super::description::MAX_DESCRIPTION_BYTES;
use super::super::state::CallState;
use super::super::{GuestContent, GuestReply};
use super::Lends;
use super::call::{GuestError, GuestRequest, GuestResult};
use super::form::{ContractMismatch, Form};
use super::host_functions::{VaultHandle, VaultView};
use super::v0_1::bindings::notehost::domain as imported;

#[allow(missing_docs, unreachable_pub)]
mod bindings {
    wasmtime::component::bindgen!({
        path: "../../wit/0.2",
        // What is exported, and the handle that goes with it. The functions to import are those of 0.1, and the linker
        // is told below under which names.
        interfaces: "export notehost:domain/domain@0.2.0;",
        exports: { default: async },
        with: {
            "notehost:domain/vault": crate::abi::v0_1::bindings::notehost::domain::vault,
        },
    });
}

use bindings::exports::notehost::domain::domain::{Guest, GuestIndices};
use bindings::notehost::domain::types;

/// What makes instances of a component.
pub(super) struct Instances {
    instances: InstancePre<CallState>,
    domain: GuestIndices,
}

impl Instances {
    async fn fresh(&self, store: &mut Store<CallState>) -> wasmtime::Result<Guest> {
        let instance = self.instances.instantiate_async(&mut *store).await?;
        self.domain.load(store, &instance)
    }
}

pub(super) fn add_to_linker(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    // Types alone, but a component imports them by name.
    linker.instance("notehost:domain/types@0.2.0")?;
    let mut vault = linker.instance("notehost:domain/vault@0.2.0")?;
    imported::vault::add_to_linker_instance::<_, Lends>(&mut vault, VaultView::of)?;
    let mut store = linker.instance("notehost:domain/store@0.2.0")?;
    imported::store::add_to_linker_instance::<_, Lends>(&mut store, VaultView::of)?;
    let mut index = linker.instance("notehost:domain/index@0.2.0")?;
    imported::index::add_to_linker_instance::<_, Lends>(&mut index, VaultView::of)?;
    let mut host = linker.instance("notehost:domain/host@0.2.0")?;
    imported::host::add_to_linker_instance::<_, Lends>(&mut host, VaultView::of)?;
    let mut progress = linker.instance("notehost:domain/progress@0.2.0")?;
    imported::progress::add_to_linker_instance::<_, Lends>(&mut progress, VaultView::of)?;
    let mut log = linker.instance("notehost:domain/log@0.2.0")?;
    imported::log::add_to_linker_instance::<_, Lends>(&mut log, VaultView::of)
}

/// Check a component against the contract.
pub(super) fn instances(
    linker: &Linker<CallState>,
    component: &Component,
) -> Result<Instances, ContractMismatch> {
    type Parameters = (Resource<VaultHandle>, types::Request);
    type Returned = (Result<types::Reply, types::Error>,);
    let form = Form::of(Track::V0_2, linker, component)?;
    form.check::<(), (types::Description,)>("describe", "describe() -> description")?;
    form.check::<Parameters, Returned>(
        "call",
        "call(vault, request: request) -> result<reply, error>",
    )?;
    let instances = linker.instantiate_pre(component).and_then(|instances| {
        Ok(Instances {
            domain: GuestIndices::new(&instances)?,
            instances,
        })
    });
    instances.map_err(|error| form.mismatch(&error))
}

/// Ask what it is; told as a component of track 0.1 would tell it.
pub(super) async fn describe(
    instances: &Instances,
    store: &mut Store<CallState>,
) -> wasmtime::Result<String> {
    let domain = instances.fresh(store).await?;
    to_json(&domain.call_describe(store).await?)
}

fn to_json(described: &types::Description) -> wasmtime::Result<String> {
    let size = size_of(described);
    if size > MAX_DESCRIPTION_BYTES {
        // Before anything is parsed: a tree of values takes many times the memory of its text.
        return Err(wasmtime::Error::msg(format!(
            "its description has {size} bytes; at most {MAX_DESCRIPTION_BYTES} are taken"
        )));
    }
    let actions: Vec<Value> = described.actions.iter().map(action).collect();
    let whole = json!({
        "name": described.name,
        "version": described.version,
        "description": described.about,
        "actions": actions,
    });
    Ok(whole.to_string())
}

/// How many bytes a guest describes itself with.
fn size_of(described: &types::Description) -> usize {
    let own = [&described.name, &described.version, &described.about];
    let actions = described.actions.iter();
    let actions = actions.flat_map(|one| [&one.name, &one.about, &one.input, &one.output]);
    own.into_iter().chain(actions).map(String::len).sum()
}

fn action(action: &types::Action) -> Value {
    // Controlled by the guest: what is no JSON stays a text, and is then refused as no schema.
    let schema = |json: &str| serde_json::from_str(json).unwrap_or_else(|_| Value::from(json));
    json!({
        "name": action.name,
        "description": action.about,
        "effect": match action.effect {
            types::Effect::Read => "read",
            types::Effect::Write => "write",
            types::Effect::Delete => "delete",
        },
        "input": schema(&action.input),
        "output": schema(&action.output),
    })
}

/// Do one action.
pub(super) async fn call(
    instances: &Instances,
    store: &mut Store<CallState>,
    guest_request: GuestRequest,
) -> wasmtime::Result<GuestResult> {
    let domain = instances.fresh(store).await?;
    let request = types::Request {
        action: guest_request.action,
        arguments: guest_request.arguments.to_string(),
        time_left: u32::try_from(guest_request.time_left.as_millis()).unwrap_or(u32::MAX),
        reply_bytes: u32::try_from(guest_request.reply_bytes).unwrap_or(u32::MAX),
    };
    Ok(
        match domain
            .call_call(store, guest_request.vault, &request)
            .await?
        {
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
        },
    )
}

fn content(content: types::Content) -> GuestContent {
    match content {
        types::Content::Image(media) => GuestContent::Image {
            bytes: media.bytes,
            mime: media.mime,
        },
        types::Content::Audio(media) => GuestContent::Audio {
            bytes: media.bytes,
            mime: media.mime,
        },
        types::Content::Link(path) => GuestContent::Link(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_description_is_refused_before_its_schemas_are_parsed() {
        let described = |values: usize| types::Description {
            name: "liar".to_owned(),
            version: "1.0.0".to_owned(),
            about: "A lie.".to_owned(),
            actions: vec![types::Action {
                name: "read".to_owned(),
                about: "A lie.".to_owned(),
                effect: types::Effect::Read,
                input: format!("[{}0]", "0,".repeat(values)),
                output: "{}".to_owned(),
            }],
        };
        assert!(to_json(&described(10)).is_ok_and(|json| json.contains("[0,0,")));
        let error = to_json(&described(600_000)).expect_err("too long");
        assert!(error.to_string().contains("at most"), "{error}");
    }
}
