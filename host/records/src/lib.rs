//! The records of calls and callers. `store` is the seam: what is stored, as typed operations; `sqlite` is its one
//! implementation so far. `audit` writes the audit log through it, and metrics, traces and events of each call. Rules about
//! callers are in the crate `policy`.

pub mod audit;
mod sqlite;
pub mod state_folder;
pub mod store;
pub mod visible;
pub mod when;

pub use sqlite::open;
pub use store::{Records, RecordsError};
