//! The link domain: backlinks, outgoing and broken links, link suggestions, and the graph of notes.
//!
//! The host's index provides links, names and words; the actions combine them. One file per group of actions;
//! `link_graph` is the graph of notes that several of them use. Updating links when a note moves belongs to the
//! document domain.

pub mod backlinks;
pub mod graph;
pub mod health;
mod index_queries;
mod link_graph;
mod mentions;
pub mod orphans;
pub mod outgoing;
pub mod rewrite;
pub mod suggest;
pub mod traversal;
pub mod unresolved;

#[cfg(test)]
mod tests;

use notehost_sdk::domain;

domain! {
    /// Links between notes: backlinks, outgoing, broken and missing links, orphans, neighbours, shortest path, graph,
    /// suggestions, health. Notes are given by path (`.md` is optional), unique name or `[[link]]`. `path` and `line`
    /// are the position of a link, `to` is its target.
    "link" {
        "outgoing" => outgoing::Outgoing,
        "backlinks" => backlinks::Backlinks,
        "unresolved" => unresolved::Unresolved,
        "orphans" => orphans::Orphans,
        "neighbours" => traversal::Neighbours,
        "path" => traversal::Path,
        "suggest" => suggest::Suggest,
        "rewrite" => rewrite::Rewrite,
        "graph" => graph::Graph,
        "health" => health::Health,
    }
}
