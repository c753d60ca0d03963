//! Actions, and the `domain!` macro that makes a domain of them. Independent of WIT, which is in `guest`.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{Content, Error, Result, Vault, readable, schema};

/// What an action may do to notes. The host enforces it: the vault of a `Read` action cannot write, the vault of a
/// `Write` action cannot delete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    type Output: Serialize + JsonSchema;

    /// What it may do to notes. There is no default, so that authors decide explicitly.
    const EFFECT: Effect;

    /// Runs the action.
    fn run(self, vault: &Vault) -> Result<Self::Output>;

    /// The result as a short, human-readable text.
    fn text(output: &Self::Output) -> String {
        readable(output)
    }

    /// Images and links that belong to the result.
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
    /// Images and links.
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

    /// Runs the action of that name with JSON arguments.
    fn call(vault: &Vault, action: &str, arguments: &str) -> Result<Reply>;
}

/// The entry of an action in the domain's description.
pub fn describe_action<A: Action>(name: &str) -> Value {
    let mut input = schema::of_input::<A>();
    let description = schema::take_description(&mut input);
    let mut output = schema::of_output::<A::Output>();
    schema::take_description(&mut output);
    json!({
        "name": name,
        "description": description,
        "effect": A::EFFECT.as_str(),
        "input": input,
        "output": output,
    })
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

/// Native builds are for tests only and export nothing.
#[cfg(not(target_family = "wasm"))]
#[doc(hidden)]
#[macro_export]
macro_rules! export_component {
    ($domain:ident) => {};
}
