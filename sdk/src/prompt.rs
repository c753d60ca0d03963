//! Prompts: words that a person picks in a client to begin with, filled in with what it names. A domain brings its own in
//! the `prompts` part of `domain!`; the host lists them, completes their arguments and fills them in.

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
/// In the text `{{name}}` stands for an argument, and `{{domain.action}}` for how a client calls that action. A line that
/// names an argument which was not given, or an action that the caller does not have, is left out. A note that an
/// argument names is added to the prompt, marked as data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// Its name, as actions have names.
    pub name: String,
    /// What people see, if not the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for, in a sentence.
    pub description: String,
    /// What it takes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<PromptArgument>,
    /// What the model is told.
    pub text: String,
}

/// An argument of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// What it is for.
    #[serde(default)]
    pub description: String,
    /// Whether it must be given.
    #[serde(default)]
    pub required: bool,
    /// What it names, so that a client can complete it.
    #[serde(default)]
    pub kind: ArgumentKind,
}

/// What an argument of a prompt names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArgumentKind {
    /// A note, by its path or name. What is in it is added to the prompt.
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
    /// Anything; also what a newer SDK knows and this one does not.
    #[default]
    #[serde(other)]
    Text,
}

impl Prompt {
    /// A prompt, which still needs its text.
    pub fn new(name: &str, description: &str) -> Prompt {
        Prompt {
            name: name.to_owned(),
            title: None,
            description: description.to_owned(),
            arguments: Vec::new(),
            text: String::new(),
        }
    }

    /// What people see instead of the name.
    pub fn title(mut self, title: &str) -> Prompt {
        self.title = Some(title.to_owned());
        self
    }

    /// It takes this, too.
    pub fn argument(mut self, argument: PromptArgument) -> Prompt {
        self.arguments.push(argument);
        self
    }

    /// What the model is told.
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

    /// A note, which is added to the prompt.
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

    /// It must be given.
    pub fn required(mut self) -> PromptArgument {
        self.required = true;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_newer_sdk_knows_is_text() {
        let told = r#"{"name": "when", "kind": "moment"}"#;
        let argument: PromptArgument = serde_json::from_str(told).unwrap();
        assert_eq!(argument, PromptArgument::text("when", ""));
    }
}
