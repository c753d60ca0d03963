//! Write a tool domain for Notehost.
//!
//! A domain is a list of actions. An action is a struct: its fields are its arguments, its doc comment is its
//! description, [`Action::run`] is its behaviour. It receives a [`Vault`] that permits exactly what this caller may do,
//! and has access to nothing else.
//!
//! ```
//! use notehost_sdk::prelude::*;
//!
//! domain! {
//!     /// Greetings for notes.
//!     "greeting" {
//!         "hello" => Hello,
//!     }
//! }
//!
//! /// Say hello to a note.
//! #[args]
//! pub struct Hello {
//!     /// The note's path, or its unique name.
//!     pub path: String,
//! }
//!
//! /// A greeting.
//! #[reply]
//! pub struct Greeting {
//!     /// What to say.
//!     pub greeting: String,
//! }
//!
//! impl Action for Hello {
//!     type Output = Greeting;
//!     const EFFECT: Effect = Effect::Read;
//!
//!     fn run(self, vault: &Vault) -> Result<Greeting> {
//!         let path = vault.find_note(&self.path)?;
//!         Ok(Greeting { greeting: format!("hello, {path}") })
//!     }
//! }
//!
//! let vault = Vault::in_memory();
//! let error = Hello { path: "Missing".into() }.run(&vault).unwrap_err();
//! assert_eq!(error.code(), "not_found");
//! ```
//!
//! Code that several domains share is behind features: `markdown` adds [`text`], lossless editing of notes, and
//! [`documents`], operations on notes and files; `regex` adds [`matching`], regex search over notes; `fsrs` adds
//! [`scheduling`] of flashcard reviews.

// The attributes refer to this crate as `::notehost_sdk`; this makes the path valid inside it as well.
#[allow(unused_extern_crates)]
extern crate self as notehost_sdk;

mod action;
mod all_pages;
pub mod dates;
#[cfg(feature = "markdown")]
pub mod documents;
mod error;
#[cfg(target_family = "wasm")]
#[doc(hidden)]
pub mod guest;
pub mod host;
pub mod index;
mod manifest;
#[cfg(feature = "regex")]
pub mod matching;
mod memory;
mod naming;
pub mod nearest;
mod notes;
pub mod pages;
mod progress;
mod prompt;
mod readable;
mod reply_text;
#[cfg(feature = "fsrs")]
pub mod scheduling;
mod schema;
#[cfg(not(target_family = "wasm"))]
pub mod testing;
#[cfg(feature = "markdown")]
pub mod text;
mod vault;
#[doc(hidden)]
pub mod wire;
pub mod words;

pub use action::{
    Action, ActionDescription, Describes, Description, Effect, Reply, describe_action,
    describe_signature, run_action,
};
pub use error::{Code, Error, Result};
pub use memory::MemoryVault;
pub use naming::{fold_name, listed, quoted};
pub use notehost_sdk_macros::{args, reply};
pub use notes::{Note, is_note, notebook_of, parent_of, stem_of};
pub use progress::Steps;
pub use prompt::{ArgumentKind, Prompt, PromptArgument};
pub use readable::{Readable, readable};
pub use reply_text::ReplyText;
pub use vault::{
    Blob, CallLimits, Change, ChangeKind, Content, Entry, FileChange, Kind, Level, Page, RawVault,
    Tier, Trashed, Vault, Version,
};

#[doc(hidden)]
pub use manifest::bytes_of;
#[doc(hidden)]
pub use schema::unwrapped;
#[doc(hidden)]
pub use {schemars, serde, serde_json};

/// Everything that a domain usually needs.
pub mod prelude {
    pub use crate::{
        Action, Code, Content, Effect, Error, Note, Prompt, PromptArgument, ReplyText, Result,
        Tier, Vault, args, domain, readable, reply,
    };
    pub use serde_json::json;
}
