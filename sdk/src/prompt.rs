//! Prompts: templates that users pick in their MCP client. A domain defines them in the `prompts` part of `domain!`; the
//! host lists them, completes their arguments and renders them.

use serde::{Deserialize, Serialize};

/// A prompt of a domain.
///
/// ```
/// use notehost_sdk::{Prompt, PromptArgument};
///
/// Prompt::new("plan_week", "Plan the week from the open tasks")
///     .argument(PromptArgument::notebook("notebook", "Where the tasks are").required())
///     .argument(PromptArgument::text("hours", "How many hours there are"))
///     .text(
///         "Plan my week.\n\
///          1. Find the open tasks of the notebook `{{notebook}}` with {{todo.list}}.\n\
///          2. There are {{hours}} hours; leave out what does not fit.",
///     );
/// ```
///
/// In the text, `{{name}}` is replaced with an argument, and `{{domain.action}}` with the name under which the client calls
/// that action. A line with a missing argument, or an action that the caller does not have, is omitted. If an argument
/// names a note, its content is added to the prompt, marked as data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// Its name, in the syntax of action names.
    pub name: String,
    /// The title that users see, if not the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its purpose, in a sentence.
    pub description: String,
    /// Its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<PromptArgument>,
    /// The text for the model.
    pub text: String,
}

/// An argument of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// Its purpose.
    #[serde(default)]
    pub description: String,
    /// Whether it is required.
    #[serde(default)]
    pub required: bool,
    /// Its kind, for completion.
    #[serde(default)]
    pub kind: ArgumentKind,
}

/// The kind of an argument of a prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArgumentKind {
    /// A note, by its path or name. Its content is added to the prompt.
    Note,
    /// A notebook.
    Notebook,
    /// A tag.
    Tag,
    /// A property.
    Property,
    /// A heading of the note that another argument names.
    Heading,
    /// One of the vaults.
    Vault,
    /// Any text; also the value for kinds that only newer SDKs know.
    #[default]
    #[serde(other)]
    Text,
}

impl Prompt {
    /// A prompt; [`Prompt::text()`] sets its text.
    pub fn new(name: &str, description: &str) -> Prompt {
        Prompt {
            name: name.to_owned(),
            title: None,
            description: description.to_owned(),
            arguments: Vec::new(),
            text: String::new(),
        }
    }

    /// Sets the title that users see instead of the name.
    pub fn title(mut self, title: &str) -> Prompt {
        self.title = Some(title.to_owned());
        self
    }

    /// Adds an argument.
    pub fn argument(mut self, argument: PromptArgument) -> Prompt {
        self.arguments.push(argument);
        self
    }

    /// Sets the text for the model.
    pub fn text(mut self, text: &str) -> Prompt {
        self.text = text.to_owned();
        self
    }
}

impl PromptArgument {
    fn of(kind: ArgumentKind, name: &str, description: &str) -> PromptArgument {
        PromptArgument {
            name: name.to_owned(),
            description: description.to_owned(),
            required: false,
            kind,
        }
    }

    /// A note, whose content is added to the prompt.
    pub fn note(name: &str, description: &str) -> PromptArgument {
        PromptArgument::of(ArgumentKind::Note, name, description)
    }

    /// A notebook.
    pub fn notebook(name: &str, description: &str) -> PromptArgument {
        PromptArgument::of(ArgumentKind::Notebook, name, description)
    }

    /// A tag.
    pub fn tag(name: &str, description: &str) -> PromptArgument {
        PromptArgument::of(ArgumentKind::Tag, name, description)
    }

    /// A property.
    pub fn property(name: &str, description: &str) -> PromptArgument {
        PromptArgument::of(ArgumentKind::Property, name, description)
    }

    /// A heading of the note that another argument names.
    pub fn heading(name: &str, description: &str) -> PromptArgument {
        PromptArgument::of(ArgumentKind::Heading, name, description)
    }

    /// One of the vaults.
    pub fn vault(name: &str, description: &str) -> PromptArgument {
        PromptArgument::of(ArgumentKind::Vault, name, description)
    }

    /// Any text.
    pub fn text(name: &str, description: &str) -> PromptArgument {
        PromptArgument::of(ArgumentKind::Text, name, description)
    }

    /// Makes it required.
    pub fn required(mut self) -> PromptArgument {
        self.required = true;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_argument_kinds_are_text() {
        let json = r#"{"name": "when", "kind": "moment"}"#;
        let argument: PromptArgument = serde_json::from_str(json).unwrap();
        assert_eq!(argument, PromptArgument::text("when", ""));
    }
}
