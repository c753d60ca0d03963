//! Actions, the description of a domain, and the `domain!` macro that makes a domain of actions. Independent of WIT,
//! which is in `guest`.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Content, Error, Prompt, Readable, Result, Vault, schema};

/// What an action may do to notes. The host enforces it: the vault of a `Read` action cannot write, the vault of a
/// `Write` action cannot delete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Reads only.
    Read,
    /// Creates, changes, renames.
    Write,
    /// May also delete.
    Delete,
}

impl Effect {
    /// The name in a domain's description.
    pub fn as_str(self) -> &'static str {
        match self {
            Effect::Read => "read",
            Effect::Write => "write",
            Effect::Delete => "delete",
        }
    }
}

/// An action of a domain. The fields of the implementing struct are its arguments.
pub trait Action: DeserializeOwned + JsonSchema {
    /// The result: a struct with `#[reply]`, which becomes a JSON object. The host adds the changes that the call made in
    /// the vault.
    type Output: Serialize + JsonSchema + Readable;

    /// What it may do to notes. There is no default, so that authors decide explicitly.
    const EFFECT: Effect;

    /// Runs the action.
    fn run(self, vault: &Vault) -> Result<Self::Output>;

    /// The result as a short, human-readable text: by default as its type states it (`#[reply(text = …)]`).
    fn text(output: &Self::Output) -> String {
        output.to_readable()
    }

    /// Images, audio and links that belong to the result.
    fn content(_: &Self::Output) -> Vec<Content> {
        Vec::new()
    }
}

/// The reply of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// A short, human-readable text.
    pub text: String,
    /// A JSON object, serialized.
    pub structured: String,
    /// Images, audio and links.
    pub content: Vec<Content>,
}

impl Reply {
    /// The JSON object.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.structured).unwrap_or_default()
    }
}

/// The description of a domain.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Description {
    /// Its name for callers.
    pub name: String,
    /// The component's own version.
    pub version: String,
    /// What it does.
    pub description: String,
    /// Its actions, in the order in which they should be listed.
    pub actions: Vec<ActionDescription>,
    /// Prompts that users can pick in their client.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<Prompt>,
}

/// The description of an action.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ActionDescription {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What it may do to notes.
    pub effect: Effect,
    /// The JSON Schema of its arguments.
    pub input: Value,
    /// The JSON Schema of its result.
    pub output: Value,
}

/// What `domain!` implements for its `Domain` type.
pub trait Describes {
    /// The domain: name, version, description, actions with their schemas, prompts.
    fn description() -> Description;

    /// The same as JSON.
    fn describe() -> Value {
        serde_json::to_value(Self::description()).unwrap_or_default()
    }

    /// Runs the action of that name with JSON arguments.
    fn call(vault: &Vault, action: &str, arguments: &str) -> Result<Reply>;
}

/// The entry of an action in the domain's description.
pub fn describe_action<A: Action>(name: &str) -> ActionDescription {
    describe_signature::<A, A::Output>(name, A::EFFECT)
}

/// The entry of an action with these arguments and this result, which need not implement [`Action`]: the host describes its
/// own actions with it.
pub fn describe_signature<Arguments: JsonSchema, Output: JsonSchema>(
    name: &str,
    effect: Effect,
) -> ActionDescription {
    let mut input = schema::of_input::<Arguments>();
    let description = schema::take_description(&mut input);
    let mut output = schema::of_output::<Output>();
    schema::take_description(&mut output);
    ActionDescription {
        name: name.to_owned(),
        description,
        effect,
        input,
        output,
    }
}

/// Runs an action with JSON arguments.
pub fn run_action<A: Action>(vault: &Vault, arguments: &str) -> Result<Reply> {
    let action: A =
        serde_json::from_str(arguments).map_err(|error| Error::validation(error.to_string()))?;
    let output = action.run(vault)?;
    let structured = serde_json::to_string(&output)
        .map_err(|error| Error::new(crate::Code::InternalError, error.to_string()))?;
    Ok(Reply {
        text: A::text(&output),
        structured,
        content: A::content(&output),
    })
}

/// Defines a domain: its description, its name, and its actions by name.
///
/// Names are strings, so that renaming a type never renames a tool. See the crate's example.
#[macro_export]
macro_rules! domain {
    (
        $(#[doc = $doc:literal])+ $name:literal { $($action:literal => $args:ty),+ $(,)? }
        $(prompts { $($prompt:expr),+ $(,)? })?
    ) => {
        $(#[doc = $doc])+
        pub struct Domain;

        impl $crate::Describes for Domain {
            fn description() -> $crate::Description {
                $crate::Description {
                    name: $name.to_owned(),
                    version: env!("CARGO_PKG_VERSION").to_owned(),
                    description: $crate::unwrapped(concat!($($doc, "\n"),+)),
                    actions: vec![$($crate::describe_action::<$args>($action)),+],
                    prompts: vec![$($($prompt),+)?],
                }
            }

            fn call(
                vault: &$crate::Vault,
                action: &str,
                arguments: &str,
            ) -> $crate::Result<$crate::Reply> {
                match action {
                    $($action => $crate::run_action::<$args>(vault, arguments),)+
                    _ => Err($crate::Error::not_found(format!(
                        "`{}` has no action `{action}`", $name
                    ))),
                }
            }
        }

        $crate::export_component!(Domain);
    };
}

/// Native builds are for tests only and export nothing.
#[cfg(not(target_family = "wasm"))]
#[doc(hidden)]
#[macro_export]
macro_rules! export_component {
    ($domain:ident) => {};
}
