//! Notehost: an MCP server for folders of Markdown notes, built as a plugin host.
//!
//! The rooms follow the path of a call: `transport` takes it from the wire, `auth` says who calls, `dispatch` runs
//! the checks of `policy` in order, `registry` knows the component, `runtime` runs it in its sandbox, `vault` stages
//! and commits what it writes, `index` finds what is in it, `audit` writes down what came of it. `config` holds the settings, `cli` the terminal. `ARCHITECTURE.md` draws it.

pub mod audit;
pub mod auth;
pub mod cli;
pub mod config;
pub mod database;
pub mod dispatch;
pub mod index;
pub mod kit;
mod memory;
pub mod os_sandbox;
pub mod packages;
pub mod policy;
mod private;
pub mod registry;
pub mod runtime;
mod state_folder;
pub mod transport;
pub mod vault;
mod visible;
pub mod when;
