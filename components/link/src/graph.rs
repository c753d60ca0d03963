//! The graph of notes as nodes and edges, and as a Mermaid flowchart.

use notehost_sdk::index::{Building, building, unfinished};
use notehost_sdk::pages::{checked_limit, counted};
use notehost_sdk::prelude::*;
use notehost_sdk::stem_of;

use crate::link_graph::{Direction, LinkGraph};
use crate::traversal::{checked_depth, index_in};

/// The default number of nodes.
const DEFAULT_NODES: usize = 60;
/// The maximum number of nodes.
const MAX_NODES: usize = 300;
/// The maximum number of edges; the strongest are kept.
const MAX_EDGES: usize = 1000;
/// The maximum number of nodes of a Mermaid flowchart.
const MAX_MERMAID_NODES: usize = 40;

/// Draw the graph of notes: nodes with degree, PageRank and community, and the links between them; around one note,
/// or the most central notes of the vault. Small graphs also come as a Mermaid flowchart.
///
/// Example: `{"path": "Coffee/Beans", "depth": 1}`
#[args]
pub struct Graph {
    /// The note at the center. Default: the whole vault.
    pub path: Option<String>,
    /// Distance from it in steps, 1–10 (default 2). Only with `path`.
    pub depth: Option<usize>,
    /// Maximum number of notes, 1–300 (default 60): the nearest, then the most central.
    pub limit: Option<usize>,
}

/// Notes and the links between them.
#[reply]
pub struct Subgraph {
    /// The notes: the nearest first, then the most central.
    pub items: Vec<Node>,
    /// The links between these notes, the strongest first.
    pub edges: Vec<Edge>,
    /// Total number of notes, included or not.
    pub total: usize,
    /// Number of communities among the included notes.
    pub communities: usize,
    /// What was left out because of the limits.
    pub left_out: LeftOut,
    /// Present while the index is being built.
    pub index: Option<Building>,
}

/// A note of the graph.
#[reply]
pub struct Node {
    /// Its id in `edges`.
    pub id: usize,
    /// The note.
    pub path: String,
    /// Its label.
    pub name: String,
    /// Number of notes that link to it.
    pub incoming: usize,
    /// Number of notes that it links to.
    pub outgoing: usize,
    /// Number of its broken links.
    pub broken: u32,
    /// Its PageRank as a multiple of the average: 1 is average, 10 is a hub.
    pub rank: f64,
    /// The community it belongs to; 0 is the largest of the vault.
    pub community: usize,
    /// Distance from the center in steps.
    pub distance: Option<usize>,
}

/// The links from one note to another.
#[reply]
pub struct Edge {
    /// The `id` of the linking note.
    pub from: usize,
    /// The `id` of the linked note.
    pub to: usize,
    /// Number of links.
    pub links: u32,
}

/// What is not in the graph.
#[reply]
pub struct LeftOut {
    /// Notes.
    pub notes: usize,
    /// Edges between included notes.
    pub edges: usize,
}

impl Action for Graph {
    type Output = Subgraph;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Subgraph> {
        let limit = checked_limit(self.limit, DEFAULT_NODES, MAX_NODES)?;
        if self.depth.is_some() && self.path.is_none() {
            return Err(Error::validation(
                "`depth` requires `path`: the note at the center",
            ));
        }
        let depth = checked_depth(self.depth, 2)?;
        let center = match &self.path {
            Some(path) => Some(vault.find_note(path)?),
            None => None,
        };
        let graph = LinkGraph::of(vault)?;
        let chosen: Vec<(usize, Option<usize>)> = match center {
            Some(center) => {
                let center = index_in(vault, &graph, &center)?;
                let around = graph.around(center, depth, Direction::Both);
                around
                    .into_iter()
                    .map(|reached| (reached.note, Some(reached.distance)))
                    .collect()
            }
            None => (0..graph.len()).map(|note| (note, None)).collect(),
        };
        let mut subgraph = subgraph(&graph, chosen, limit);
        subgraph.index = building(vault);
        Ok(subgraph)
    }

    fn text(output: &Subgraph) -> String {
        let mut text = format!(
            "{} and {} between them",
            counted(output.items.len() as u64, "note"),
            counted(output.edges.len() as u64, "edge")
        );
        if output.left_out.notes + output.left_out.edges > 0 {
            text.push_str(&format!(
                "; left out: {}, {}",
                counted(output.left_out.notes as u64, "note"),
                counted(output.left_out.edges as u64, "edge")
            ));
        }
        if output.items.len() <= MAX_MERMAID_NODES {
            text.push_str(&mermaid(output));
        } else {
            for node in output.items.iter().take(20) {
                text.push_str(&format!(
                    "\n{} (rank {}, {} in, {} out)",
                    node.path, node.rank, node.incoming, node.outgoing
                ));
            }
            text.push_str("\n…");
        }
        text + &unfinished(output.index.as_ref())
    }
}

/// Builds the reply for some notes, each with its distance from the center.
fn subgraph(graph: &LinkGraph, mut chosen: Vec<(usize, Option<usize>)>, limit: usize) -> Subgraph {
    let ranks = graph.ranks();
    let communities = graph.communities();
    let total = chosen.len();
    chosen.sort_by(|one, other| {
        let by_rank = ranks[other.0].total_cmp(&ranks[one.0]);
        one.1.cmp(&other.1).then(by_rank).then(one.0.cmp(&other.0))
    });
    chosen.truncate(limit);
    let mut ids = vec![None; graph.len()];
    for (id, (note, _)) in chosen.iter().enumerate() {
        ids[*note] = Some(id);
    }
    let mut edges = Vec::new();
    for (from, (note, _)) in chosen.iter().enumerate() {
        for (other, links) in graph.linked_from(*note) {
            if let Some(to) = ids[*other] {
                edges.push(Edge {
                    from,
                    to,
                    links: *links,
                });
            }
        }
    }
    edges.sort_by_key(|edge| (std::cmp::Reverse(edge.links), edge.from, edge.to));
    let left_out = LeftOut {
        notes: total - chosen.len(),
        edges: edges.len().saturating_sub(MAX_EDGES),
    };
    edges.truncate(MAX_EDGES);
    let items: Vec<Node> = chosen
        .iter()
        .enumerate()
        .map(|(id, (note, distance))| {
            let (incoming, outgoing) = graph.degree(*note);
            Node {
                id,
                path: graph.paths[*note].clone(),
                name: stem_of(&graph.paths[*note]).to_owned(),
                incoming,
                outgoing,
                broken: graph.broken[*note],
                rank: rounded(ranks[*note] * graph.len() as f64),
                community: communities[*note],
                distance: *distance,
            }
        })
        .collect();
    let mut used_communities: Vec<usize> = items.iter().map(|node| node.community).collect();
    used_communities.sort_unstable();
    used_communities.dedup();
    Subgraph {
        items,
        edges,
        total,
        communities: used_communities.len(),
        left_out,
        index: None,
    }
}

/// Rounds to two decimals.
pub(crate) fn rounded(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

/// Formats the graph as a Mermaid flowchart.
fn mermaid(subgraph: &Subgraph) -> String {
    let mut text = "\n```mermaid\ngraph LR".to_owned();
    for node in &subgraph.items {
        let name = node.name.replace('#', "#35;").replace('"', "#quot;");
        text.push_str(&format!("\n  n{}[\"{name}\"]", node.id));
    }
    for edge in &subgraph.edges {
        text.push_str(&format!("\n  n{} --> n{}", edge.from, edge.to));
    }
    text + "\n```"
}
