//! The records of calls and callers: the database of the state folder, and the audit log, metrics, traces
//! and events of each call. The tables of other crates are defined by those crates.

pub mod audit;
pub mod database;
pub mod state_folder;
pub mod visible;
pub mod when;
