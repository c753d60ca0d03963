//! The description of a domain as the contract's types.

use super::types;
use crate::{ActionDescription, ArgumentKind, Description, Effect, Prompt, PromptArgument};

pub(super) fn to_wire(description: Description) -> types::Description {
    types::Description {
        name: description.name,
        version: description.version,
        description: description.description,
        actions: description.actions.into_iter().map(action).collect(),
        prompts: description.prompts.into_iter().map(prompt).collect(),
    }
}

fn action(action: ActionDescription) -> types::Action {
    types::Action {
        name: action.name,
        description: action.description,
        effect: match action.effect {
            Effect::Read => types::Effect::Read,
            Effect::Write => types::Effect::Write,
            Effect::Delete => types::Effect::Delete,
        },
        input: action.input.to_string(),
        output: action.output.to_string(),
    }
}

fn prompt(prompt: Prompt) -> types::Prompt {
    types::Prompt {
        name: prompt.name,
        title: prompt.title,
        description: prompt.description,
        arguments: prompt.arguments.into_iter().map(argument).collect(),
        text: prompt.text,
    }
}

fn argument(argument: PromptArgument) -> types::PromptArgument {
    types::PromptArgument {
        name: argument.name,
        description: argument.description,
        required: argument.required,
        kind: match argument.kind {
            ArgumentKind::Text => types::ArgumentKind::Text,
            ArgumentKind::Note => types::ArgumentKind::Note,
            ArgumentKind::Notebook => types::ArgumentKind::Notebook,
            ArgumentKind::Tag => types::ArgumentKind::Tag,
            ArgumentKind::Property => types::ArgumentKind::Property,
            ArgumentKind::Heading => types::ArgumentKind::Heading,
            ArgumentKind::Vault => types::ArgumentKind::Vault,
        },
    }
}
