//! What a guest may ask of where it runs, and what it may say to people. Whoever runs a call answers.

use notehost_sdk::host::{About, CallerTold, Conventions, Now};

use crate::vault::Transaction;

/// Answers a guest's questions about where it runs, for one call.
pub trait Surroundings: Send + Sync {
    /// The moment, and the owner's clock.
    fn now(&self) -> Now;
    /// The host, and what it serves.
    fn about(&self) -> About;
    /// Who calls. It may wait for the disk.
    fn caller(&self) -> CallerTold;
    /// How the owner keeps the notes. It may wait for the index.
    fn conventions(&self, transaction: &mut Transaction) -> Conventions;
}

/// A message for the people who watch, as a guest gave it: bounded, and hostile until it is shown as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// `debug`, `info`, `warn` or `error`.
    pub level: &'static str,
    /// What it says.
    pub message: String,
}
