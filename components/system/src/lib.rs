//! The system domain: this server, its caller, and guidance for models on how to work in this vault.

pub mod caller;
pub mod changes;
pub mod guide;
pub mod server;

#[cfg(test)]
mod tests;

use notehost_sdk::domain;

domain! {
    /// This server and you: `guide` (call it first: what these notes are about and how they are kept), `whoami` (your
    /// permissions and limits), `time`, `changes` (recent changes), `info`, `health`, `notify` (show a message to
    /// people).
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
