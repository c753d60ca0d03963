//! The system domain: this server, its caller, and what a model should know of these notes before it works in them.

pub mod caller;
pub mod changes;
pub mod guide;
pub mod server;

#[cfg(test)]
mod tests;

use notehost_sdk::domain;

domain! {
    /// This server and you: `guide` (call it when you begin: what these notes are about and how they are kept), `whoami`
    /// (what you may do), `time`, `changes` (what was changed of late), `info`, `health`, `notify` (tell the people who watch).
    "system" {
        "guide" => guide::Guide,
        "whoami" => caller::Whoami,
        "time" => caller::Time,
        "changes" => changes::Changes,
        "info" => server::Info,
        "health" => server::Health,
        "notify" => server::Notify,
    }
}
