//! The link domain: what links to what, what leads nowhere, what could be linked.
//!
//! The host's index knows links, names and words; here its answers are put together. One file per group of actions;
//! `network` is the graph of notes that several of them compute on. Links that follow a note which moves are the
//! document domain's affair.

mod asking;
pub mod drawing;
pub mod health;
pub mod incoming;
mod mentions;
mod network;
pub mod orphans;
pub mod outgoing;
pub mod rewriting;
pub mod suggesting;
pub mod unresolved;
pub mod walking;

#[cfg(test)]
mod tests;

use notehost_sdk::domain;

domain! {
    /// Links between notes: backlinks, outgoing, broken and missing ones, orphans, neighbours, shortest path, graph,
    /// suggestions, health. A note is named by its path (`.md` may be left out), its unique name or a `[[link]]`. `path`
    /// and `line` tell where a link stands, `to` where it leads.
    "link" {
        "outgoing" => outgoing::Outgoing,
        "backlinks" => incoming::Backlinks,
        "unresolved" => unresolved::Unresolved,
        "orphans" => orphans::Orphans,
        "neighbours" => walking::Neighbours,
        "path" => walking::Path,
        "suggest" => suggesting::Suggest,
        "rewrite" => rewriting::Rewrite,
        "graph" => drawing::Graph,
        "health" => health::Health,
    }
}
