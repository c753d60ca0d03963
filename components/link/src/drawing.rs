//! The graph of notes, ready for drawing.

use notehost_sdk::prelude::*;
use notehost_sdk::stem_of;

use crate::network::{Direction, Network};
use crate::walking::{depth_of, number_in};
use notehost_sdk::index::{Building, building, unfinished};
use notehost_sdk::pages::counted;

/// How many notes are drawn unless the caller says.
const USUAL: usize = 60;
/// How many a caller may ask for.
const MOST: usize = 300;
/// How many links are told; the strongest.
const MOST_EDGES: usize = 1000;
/// A picture of more notes than this cannot be read as text.
const MOST_IN_PICTURE: usize = 40;

/// Draw the graph of notes: nodes with degree, PageRank and community, and the links between them; around one note, or
/// the most central of the vault. Small graphs come also as Mermaid.
///
/// Example: `{"path": "Coffee/Beans", "depth": 1}`
#[args]
pub struct Graph {
    /// The note in the middle; left out: the whole vault.
    pub path: Option<String>,
    /// How many steps around it, 1–10 (default 2). Only with `path`.
    pub depth: Option<usize>,
    /// How many notes at most, 1–300 (default 60): the nearest, then the most central.
    pub limit: Option<usize>,
}

/// Notes and the links between them.
#[reply]
pub struct Drawing {
    /// The notes: the nearest first, then the most central.
    pub items: Vec<Node>,
    /// The links between these notes, the strongest first.
    pub edges: Vec<Edge>,
    /// How many notes there are, drawn or not.
    pub total: usize,
    /// How many communities the drawn notes belong to.
    pub communities: usize,
    /// What was left out to keep the drawing small.
    pub left_out: LeftOut,
    /// Only while the index is being built.
    pub index: Option<Building>,
}

/// A note of the graph.
#[reply]
pub struct Node {
    /// Its number in `edges`.
    pub id: usize,
    /// The note.
    pub path: String,
    /// What to write beside it.
    pub name: String,
    /// How many notes link to it.
    pub incoming: usize,
    /// To how many notes it links.
    pub outgoing: usize,
    /// How many of its links lead nowhere.
    pub broken: u32,
    /// Its PageRank as a multiple of the average: 1 is usual, 10 is a hub.
    pub rank: f64,
    /// The community it belongs to; 0 is the largest of the vault.
    pub community: usize,
    /// How many steps it is away from the note in the middle.
    pub distance: Option<usize>,
}

/// Links from a note to another.
#[reply]
pub struct Edge {
    /// The `id` of the note that has the links.
    pub from: usize,
    /// The `id` of the note that they lead to.
    pub to: usize,
    /// How many links.
    pub links: u32,
}

/// How much is not in a drawing.
#[reply]
pub struct LeftOut {
    /// Notes.
    pub notes: usize,
    /// Pairs of drawn notes whose links are not told.
    pub edges: usize,
}

impl Action for Graph {
    type Output = Drawing;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Drawing> {
        let limit = self.limit.unwrap_or(USUAL);
        if !(1..=MOST).contains(&limit) {
            return Err(Error::validation(format!(
                "`limit` is {limit}, and may be 1 to {MOST}"
            )));
        }
        if self.depth.is_some() && self.path.is_none() {
            return Err(Error::validation(
                "`depth` needs a `path`: name the note in the middle",
            ));
        }
        let depth = depth_of(self.depth, 2)?;
        let center = match &self.path {
            Some(path) => Some(vault.find_note(path)?),
            None => None,
        };
        let network = Network::of(vault)?;
        let chosen: Vec<(usize, Option<usize>)> = match center {
            Some(center) => {
                let center = number_in(vault, &network, &center)?;
                let around = network.around(center, depth, Direction::Both);
                around
                    .into_iter()
                    .map(|reached| (reached.note, Some(reached.distance)))
                    .collect()
            }
            None => (0..network.len()).map(|note| (note, None)).collect(),
        };
        let mut drawing = drawn(&network, chosen, limit);
        drawing.index = building(vault);
        Ok(drawing)
    }

    fn text(output: &Drawing) -> String {
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
        if output.items.len() <= MOST_IN_PICTURE {
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

/// The drawing of some notes, each with its distance from the middle.
fn drawn(network: &Network, mut chosen: Vec<(usize, Option<usize>)>, limit: usize) -> Drawing {
    let ranks = network.ranks();
    let communities = network.communities();
    let total = chosen.len();
    chosen.sort_by(|one, other| {
        let by_rank = ranks[other.0].total_cmp(&ranks[one.0]);
        one.1.cmp(&other.1).then(by_rank).then(one.0.cmp(&other.0))
    });
    chosen.truncate(limit);
    let mut ids = vec![None; network.len()];
    for (id, (note, _)) in chosen.iter().enumerate() {
        ids[*note] = Some(id);
    }
    let mut edges = Vec::new();
    for (from, (note, _)) in chosen.iter().enumerate() {
        for (other, links) in network.linked_from(*note) {
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
        edges: edges.len().saturating_sub(MOST_EDGES),
    };
    edges.truncate(MOST_EDGES);
    let items: Vec<Node> = chosen
        .iter()
        .enumerate()
        .map(|(id, (note, distance))| {
            let (incoming, outgoing) = network.degree(*note);
            Node {
                id,
                path: network.paths[*note].clone(),
                name: stem_of(&network.paths[*note]).to_owned(),
                incoming,
                outgoing,
                broken: network.broken[*note],
                rank: rounded(ranks[*note] * network.len() as f64),
                community: communities[*note],
                distance: *distance,
            }
        })
        .collect();
    let mut seen: Vec<usize> = items.iter().map(|node| node.community).collect();
    seen.sort_unstable();
    seen.dedup();
    Drawing {
        items,
        edges,
        total,
        communities: seen.len(),
        left_out,
        index: None,
    }
}

/// Two digits behind the point are enough to compare.
pub(crate) fn rounded(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

/// The drawing as a Mermaid flowchart.
fn mermaid(drawing: &Drawing) -> String {
    let mut text = "\n```mermaid\ngraph LR".to_owned();
    for node in &drawing.items {
        let name = node.name.replace('#', "#35;").replace('"', "#quot;");
        text.push_str(&format!("\n  n{}[\"{name}\"]", node.id));
    }
    for edge in &drawing.edges {
        text.push_str(&format!("\n  n{} --> n{}", edge.from, edge.to));
    }
    text + "\n```"
}
