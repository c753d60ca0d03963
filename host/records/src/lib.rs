//! What this machine remembers of calls and callers: the database of the state folder, and the audit log, metrics, traces
//! and events that are made from each call. It does not know what the records of other rooms mean: each brings its tables.

pub mod audit;
pub mod database;
pub mod state_folder;
pub mod visible;
pub mod when;
