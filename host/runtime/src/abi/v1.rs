//! The track 1.0.0-rc.1 of the contract: the generated bindings, and how a component of this track is checked, described
//! and called.

use notehost_sdk::{ArgumentKind, Prompt, PromptArgument};
use notehost_vault::Effect;
use serde_json::{Map, Value};
use wasmtime::Store;
use wasmtime::component::{Component, Linker, Resource};

use super::super::contract::Track;
use super::super::description::{
    ActionDescription, Description, DescriptionError, MAX_DESCRIPTION_BYTES,
};
use super::super::state::CallState;
use super::super::{GuestContent, GuestReply};
use super::Lends;
use super::call::{GuestError, GuestRequest, GuestResult};
use super::form::{ContractMismatch, Form};
use super::vault_view::{VaultHandle, VaultView};

#[allow(missing_docs, unreachable_pub)]
pub(super) mod bindings {
    wasmtime::component::bindgen!({
        path: "../../wit",
        world: "component",
        imports: { default: async | trappable },
        exports: { default: async },
        with: { "notehost:domain/vault.vault": crate::abi::vault_view::VaultHandle },
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

/// Checks a component against the contract.
pub(super) fn instances(
    linker: &Linker<CallState>,
    component: &Component,
) -> Result<Instances, ContractMismatch> {
    type Parameters = (Resource<VaultHandle>, types::Request);
    type Returned = (Result<types::Reply, types::Error>,);
    let form = Form::of(Track::V1Rc1, linker, component)?;
    form.check::<(), (types::Description,)>("describe", "describe() -> description")?;
    form.check::<Parameters, Returned>(
        "call",
        "call(vault, request: request) -> result<reply, error>",
    )?;
    let instances = linker.instantiate_pre(component);
    let instances = instances.and_then(bindings::ComponentPre::new);
    instances.map_err(|error| form.mismatch(&error))
}

/// Describes a component.
pub(super) async fn describe(
    instances: &Instances,
    store: &mut Store<CallState>,
) -> wasmtime::Result<Result<Description, DescriptionError>> {
    let instance = instances.instantiate_async(&mut *store).await?;
    let domain = instance.notehost_domain_domain();
    Ok(description(domain.call_describe(store).await?))
}

/// The description without a check of its content, which is untrusted.
fn description(described: types::Description) -> Result<Description, DescriptionError> {
    let bytes = size_of(&described);
    if bytes > MAX_DESCRIPTION_BYTES {
        // Before anything is parsed: a tree of values takes many times the memory of its text.
        return Err(DescriptionError::TooLong(bytes));
    }
    let actions = described.actions.into_iter().map(action);
    Ok(Description {
        name: described.name,
        version: described.version,
        description: described.description,
        actions: actions.collect::<Result<_, _>>()?,
        prompts: described.prompts.into_iter().map(prompt).collect(),
    })
}

/// The size of the texts of a description.
fn size_of(described: &types::Description) -> usize {
    let own = [&described.name, &described.version, &described.description];
    let actions = described.actions.iter();
    let actions = actions.flat_map(|one| [&one.name, &one.description, &one.input, &one.output]);
    let prompts = described.prompts.iter();
    let prompts = prompts.flat_map(|prompt| {
        let arguments = prompt.arguments.iter();
        let arguments = arguments.flat_map(|argument| [&argument.name, &argument.description]);
        [&prompt.name, &prompt.description, &prompt.text]
            .into_iter()
            .chain(&prompt.title)
            .chain(arguments)
    });
    let texts = own.into_iter().chain(actions).chain(prompts);
    texts.map(String::len).sum()
}

fn action(action: types::Action) -> Result<ActionDescription, DescriptionError> {
    let schema = |part: &'static str, json: &str| -> Result<Map<String, Value>, _> {
        serde_json::from_str(json).map_err(|error| DescriptionError::BadSchema {
            action: action.name.chars().take(60).collect(),
            part,
            reason: error.to_string(),
        })
    };
    Ok(ActionDescription {
        input: schema("input", &action.input)?,
        output: schema("output", &action.output)?,
        name: action.name,
        description: action.description,
        effect: match action.effect {
            types::Effect::Read => Effect::Read,
            types::Effect::Write => Effect::Write,
            types::Effect::Delete => Effect::Delete,
        },
    })
}

fn prompt(prompt: types::Prompt) -> Prompt {
    let arguments = prompt.arguments.into_iter();
    let arguments = arguments.map(|argument| PromptArgument {
        name: argument.name,
        description: argument.description,
        required: argument.required,
        kind: match argument.kind {
            types::ArgumentKind::Text => ArgumentKind::Text,
            types::ArgumentKind::Note => ArgumentKind::Note,
            types::ArgumentKind::Notebook => ArgumentKind::Notebook,
            types::ArgumentKind::Tag => ArgumentKind::Tag,
            types::ArgumentKind::Property => ArgumentKind::Property,
            types::ArgumentKind::Heading => ArgumentKind::Heading,
            types::ArgumentKind::Vault => ArgumentKind::Vault,
        },
    });
    Prompt {
        name: prompt.name,
        title: prompt.title,
        description: prompt.description,
        arguments: arguments.collect(),
        text: prompt.text,
    }
}

/// Runs one action.
pub(super) async fn call(
    instances: &Instances,
    store: &mut Store<CallState>,
    guest_request: GuestRequest,
) -> wasmtime::Result<GuestResult> {
    let instance = instances.instantiate_async(&mut *store).await?;
    let domain = instance.notehost_domain_domain();
    let request = types::Request {
        action: guest_request.action,
        arguments: guest_request.arguments.to_string(),
        time_left: u32::try_from(guest_request.time_left.as_millis()).unwrap_or(u32::MAX),
        reply_bytes: u32::try_from(guest_request.reply_bytes).unwrap_or(u32::MAX),
    };
    let answered = domain.call_call(store, guest_request.vault, &request);
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

    fn described(input: String) -> types::Description {
        types::Description {
            name: "liar".to_owned(),
            version: "1.0.0".to_owned(),
            description: "A lie.".to_owned(),
            actions: vec![types::Action {
                name: "read".to_owned(),
                description: "A lie.".to_owned(),
                effect: types::Effect::Read,
                input,
                output: "{}".to_owned(),
            }],
            prompts: Vec::new(),
        }
    }

    #[test]
    fn a_long_description_is_refused_before_its_schemas_are_parsed() {
        let schema = |values: usize| format!("{{\"enum\": [{}0]}}", "0,".repeat(values));
        assert!(description(described(schema(10))).is_ok());
        let refused = description(described(schema(600_000)));
        assert!(matches!(refused, Err(DescriptionError::TooLong(_))));
        let prompt = types::Prompt {
            name: "p".to_owned(),
            title: None,
            description: String::new(),
            arguments: Vec::new(),
            text: "x".repeat(MAX_DESCRIPTION_BYTES),
        };
        let mut long = described(schema(1));
        long.prompts.push(prompt);
        assert!(matches!(
            description(long),
            Err(DescriptionError::TooLong(_))
        ));
    }

    #[test]
    fn a_schema_must_be_a_json_object() {
        for garbage in ["", "not JSON { at all", "[]", "\"object\""] {
            let refused = description(described(garbage.to_owned())).expect_err("not a schema");
            let text = refused.to_string();
            assert!(text.contains("input schema of action `read`"), "{text}");
        }
    }
}
