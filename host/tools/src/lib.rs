//! The tools of the host, as plain values: which tools a surface has, their names, texts and schemas (`surface`,
//! `wording`), what a call of one of them means (`resolve`), help, and the search for actions (`finder`). Everything
//! here is a function of a snapshot of domains. Nothing is called or checked here (that is the pipeline), and nothing
//! knows the protocol (that is the transport).

mod finder;
pub mod help;
mod ranking;
mod resolve;
mod schema;
mod short_description;
mod surface;
mod synonyms;
#[cfg(test)]
mod tests;
mod tool;
pub mod uris;
mod wording;

pub use resolve::{
    CalledNames, FLAT_SEPARATOR, Target, Unresolved, action_of, flat_name, resolve, split_tool,
};
pub use schema::object;
pub use surface::{ToolSet, tools};
pub use tool::{Annotations, Tool};
