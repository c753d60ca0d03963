//! Graph traversal: the neighbours of a note, and the shortest path between two notes.

use notehost_sdk::index::{Building, building};
use notehost_sdk::pages::{Span, counted};
use notehost_sdk::prelude::*;

use crate::index_queries::{indexed, links_of};
use crate::link_graph::{Direction, LinkGraph};

/// The maximum traversal depth.
const MAX_DEPTH: usize = 10;

/// List the neighbours of a note: all notes within some steps (hops) of links, the nearest first.
///
/// Example: `{"path": "Garden/Tomatoes", "depth": 2}`
#[args]
pub struct Neighbours {
    /// The note: path, unique name or `[[link]]`.
    pub path: String,
    /// Maximum distance in steps, 1–10 (default 1).
    pub depth: Option<usize>,
    /// Which links to follow (default `both`):
    pub direction: Option<DirectionFilter>,
    /// Page size, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// Which links are followed.
#[args]
#[derive(Copy)]
pub enum DirectionFilter {
    /// links from a note to others.
    Out,
    /// links from others to it.
    In,
    /// all of them.
    Both,
}

/// A page of neighbours.
#[reply]
pub struct NeighbourPage {
    /// The note at the center.
    pub path: String,
    /// The notes around it, the nearest first, then by path.
    pub items: Vec<Neighbour>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Total number of results.
    pub total: usize,
    /// Present while the index is being built.
    pub index: Option<Building>,
}

/// A note near another.
#[reply]
pub struct Neighbour {
    /// The note.
    pub path: String,
    /// Its distance in steps.
    pub distance: usize,
    /// The previous note on the path to it.
    pub via: String,
    /// Whether that note links to it.
    pub linked: bool,
    /// Whether it links to that note.
    pub links_back: bool,
}

impl Action for Neighbours {
    type Output = NeighbourPage;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<NeighbourPage> {
        let span = Span::new(self.limit, self.cursor.as_deref())?;
        let depth = checked_depth(self.depth, 1)?;
        let direction = match self.direction.unwrap_or(DirectionFilter::Both) {
            DirectionFilter::Out => Direction::Out,
            DirectionFilter::In => Direction::In,
            DirectionFilter::Both => Direction::Both,
        };
        let path = vault.find_note(&self.path)?;
        let graph = LinkGraph::of(vault)?;
        let center = index_in(vault, &graph, &path)?;
        let mut reached = graph.around(center, depth, direction);
        reached.remove(0);
        let total = reached.len();
        let (reached, next_cursor) = span.of(reached);
        let items = reached.into_iter().map(|reached| Neighbour {
            path: graph.paths[reached.note].clone(),
            distance: reached.distance,
            via: graph.paths[reached.via].clone(),
            linked: graph.links(reached.via, reached.note),
            links_back: graph.links(reached.note, reached.via),
        });
        Ok(NeighbourPage {
            path,
            items: items.collect(),
            next_cursor,
            total,
            index: building(vault),
        })
    }

    fn text(output: &NeighbourPage) -> String {
        let line = |item: &Neighbour| {
            let arrow = match (item.linked, item.links_back) {
                (true, true) => "↔",
                (true, false) => "→",
                _ => "←",
            };
            ReplyText::new(format!("{:>3} {arrow} {}", item.distance, item.path))
                .and((item.distance > 1).then(|| format!(" (via {})", item.via)))
        };
        let notes = counted(output.total as u64, "note");
        ReplyText::new(format!("{notes} around `{}`", output.path))
            .lines(&output.items, line)
            .more(&output.next_cursor)
            .unfinished(&output.index)
            .into()
    }
}

/// Validates the `depth` argument.
pub(crate) fn checked_depth(depth: Option<usize>, default: usize) -> Result<usize> {
    let depth = depth.unwrap_or(default);
    if (1..=MAX_DEPTH).contains(&depth) {
        return Ok(depth);
    }
    Err(Error::validation(format!(
        "`depth` is {depth}; it must be 1 to {MAX_DEPTH}"
    )))
}

/// The index of an existing note in the graph.
pub(crate) fn index_in(vault: &Vault, graph: &LinkGraph, path: &str) -> Result<usize> {
    match graph.index_of(path) {
        Some(index) => Ok(index),
        // Returns the reason why it is missing.
        None => indexed(vault, path, Vec::new()).and_then(|_| {
            Err(Error::new(
                Code::Unavailable,
                format!("`{path}` was just created: retry"),
            ))
        }),
    }
}

/// Find the shortest path of links between two notes: how they are connected.
///
/// Example: `{"from": "Garden/Compost", "to": "People/Supper club"}`
#[args]
pub struct Path {
    /// The start note: path, unique name or `[[link]]`.
    pub from: String,
    /// The end note.
    pub to: String,
    /// Follow links only forward; by default also backward.
    #[serde(default)]
    pub directed: bool,
}

/// A path from note to note.
#[reply]
pub struct LinkPath {
    /// The start note.
    pub from: String,
    /// The end note.
    pub to: String,
    /// Number of steps; missing if there is no path.
    pub length: Option<usize>,
    /// The notes on it, both ends included; empty if there is no path.
    pub notes: Vec<String>,
    /// The links that it follows, in order.
    pub items: Vec<Step>,
    /// Present while the index is being built.
    pub index: Option<Building>,
}

/// A link on the path.
#[reply]
pub struct Step {
    /// The note that contains the link.
    pub path: String,
    /// The line number in the file, from 1.
    pub line: Option<u32>,
    /// The note that it links to.
    pub to: String,
    /// Whether the path goes against the direction of the link.
    pub backward: bool,
}

impl Action for Path {
    type Output = LinkPath;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<LinkPath> {
        let from = vault.find_note(&self.from)?;
        let to = vault.find_note(&self.to)?;
        let graph = LinkGraph::of(vault)?;
        let (begin, end) = (
            index_in(vault, &graph, &from)?,
            index_in(vault, &graph, &to)?,
        );
        let direction = if self.directed {
            Direction::Out
        } else {
            Direction::Both
        };
        let path = graph.shortest_path(begin, end, direction);
        let mut items = Vec::new();
        for pair in path.iter().flat_map(|path| path.windows(2)) {
            let backward = !graph.links(pair[0], pair[1]);
            let (holder, target) = if backward {
                (pair[1], pair[0])
            } else {
                (pair[0], pair[1])
            };
            items.push(step(
                vault,
                &graph.paths[holder],
                &graph.paths[target],
                backward,
            )?);
        }
        let notes = path.iter().flatten().map(|note| graph.paths[*note].clone());
        Ok(LinkPath {
            from,
            to,
            length: path.as_ref().map(|path| path.len() - 1),
            notes: notes.collect(),
            items,
            index: building(vault),
        })
    }

    fn text(output: &LinkPath) -> String {
        let LinkPath { from, to, .. } = output;
        let first = match output.length {
            None => format!("no path from `{from}` to `{to}`"),
            Some(length) => format!(
                "{}: {}",
                counted(length as u64, "step"),
                output.notes.join(" – ")
            ),
        };
        ReplyText::new(first)
            .lines(&output.items, |item| {
                ReplyText::new(&item.path)
                    .and(item.line.map(|line| format!(":{line}")))
                    .and(Some(format!(" → {}", item.to)))
            })
            .unfinished(&output.index)
            .into()
    }
}

fn step(vault: &Vault, holder: &str, target: &str, backward: bool) -> Result<Step> {
    let links = links_of(vault, holder)?;
    let link = links
        .iter()
        .find(|link| link.path.as_deref() == Some(target));
    Ok(Step {
        path: holder.to_owned(),
        line: link.map(|link| link.line),
        to: target.to_owned(),
        backward,
    })
}
