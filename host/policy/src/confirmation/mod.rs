//! Which changes a person has to confirm because of the content that they drop, also in small steps over several calls.
//!
//! `word_bag` turns texts into bags of hashed words, `weights` computes what one call does to its notes, `loss` counts that
//! against what the caller did before, and `drop_ledger` stores it between calls.

mod drop_ledger;
mod loss;
mod weights;
mod word_bag;

pub use drop_ledger::{DropCount, DropLedger, NotCounted};
pub use weights::CallWeights;
