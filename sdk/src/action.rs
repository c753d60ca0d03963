//! What an action is, and how a list of actions becomes a domain. Nothing here knows WIT: `guest` does.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{Content, Error, Result, Vault, readable, schema};

/// What an action may do to notes. The host holds it to its word: the vault that a `Read` action gets cannot
/// write, the one of a `Write` action cannot remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Looks only.
    Read,
    /// Creates, changes, renames.
    Write,
    /// May also remove.
    Delete,
}

impl Effect {
    /// The word in a domain's description.
    pub fn word(self) -> &'static str {
        match self {
            Effect::Read => "read",
            Effect::Write => "write",
            Effect::Delete => "delete",
        }
    }
}

/// One thing that a domain can do. The implementing struct is its arguments.
pub trait Action: DeserializeOwned + JsonSchema {
    /// What it answers: a struct with `#[reply]`, which becomes a JSON object. What the call changed in the vault
    /// is added by the host.
    type Output: Serialize + JsonSchema;

    /// What it may do to notes. There is no default: an author decides.
    const EFFECT: Effect;

    /// Do it.
    fn run(self, vault: &Vault) -> Result<Self::Output>;

    /// The answer as a short text, made to be read.
    fn text(output: &Self::Output) -> String {
        readable(output)
    }

    /// Pictures and links that go with the answer.
    fn content(_: &Self::Output) -> Vec<Content> {
        Vec::new()
    }
}

/// What a call answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// Short, made to be read.
    pub text: String,
    /// A JSON object, as the text that is sent.
    pub structured: String,
    /// Pictures and links.
    pub content: Vec<Content>,
}

impl Reply {
    /// The JSON object.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.structured).unwrap_or_default()
    }
}

/// What `domain!` implements for its `Domain` type.
pub trait Describes {
    /// The domain as JSON: name, version, description, actions with their schemas.
    fn describe() -> Value;

    /// Run the action of that name on arguments that are JSON.
    fn call(vault: &Vault, action: &str, arguments: &str) -> Result<Reply>;
}

/// One action, as a domain's description tells it.
pub fn describe_action<A: Action>(name: &str) -> Value {
    let mut input = schema::of_input::<A>();
    let description = schema::take_description(&mut input);
    let mut output = schema::of_output::<A::Output>();
    schema::take_description(&mut output);
    json!({
        "name": name,
        "description": description,
        "effect": A::EFFECT.word(),
        "input": input,
        "output": output,
    })
}

/// Run one action on arguments that came as JSON.
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

/// A domain: its description, its name, and the actions it offers under which names.
///
/// Names are texts, so that renaming a type never renames a tool. See the crate's example.
#[macro_export]
macro_rules! domain {
    (
        $(#[doc = $doc:literal])+ $name:literal { $($action:literal => $args:ty),+ $(,)? }
        $(prompts { $($prompt:expr),+ $(,)? })?
    ) => {
        $(#[doc = $doc])+
        pub struct Domain;

        impl $crate::Describes for Domain {
            fn describe() -> $crate::serde_json::Value {
                $crate::serde_json::json!({
                    "name": $name,
                    "version": env!("CARGO_PKG_VERSION"),
                    "description": $crate::unwrapped(concat!($($doc, "\n"),+)),
                    "actions": [$($crate::describe_action::<$args>($action)),+],
                    $("prompts": [$($prompt),+],)?
                })
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

/// Natively a domain is only tested; there is nothing to export.
#[cfg(not(target_family = "wasm"))]
#[doc(hidden)]
#[macro_export]
macro_rules! export_component {
    ($domain:ident) => {};
}
