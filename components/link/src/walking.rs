//! Going from note to note: what is near one, and the shortest way between two.

use notehost_sdk::prelude::*;

use crate::asking::{indexed, links_of};
use crate::network::{Direction, Network};
use notehost_sdk::index::{Building, building, unfinished};
use notehost_sdk::pages::counted;
use notehost_sdk::pages::{Span, more};

/// Further away everything is near everything.
const DEEPEST: usize = 10;

/// List the neighbours of a note: all notes within some steps of links, the nearest first.
///
/// Example: `{"path": "Garden/Tomatoes", "depth": 2}`
#[args]
pub struct Neighbours {
    /// The note: path, unique name or `[[link]]`.
    pub path: String,
    /// How many steps, 1–10 (default 1).
    pub depth: Option<usize>,
    /// Which links to follow (default `both`):
    pub direction: Option<Following>,
    /// How many, 1–500 (default 50).
    pub limit: Option<usize>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// Which links are followed.
#[args]
#[derive(Copy)]
pub enum Following {
    /// links from a note to others.
    Out,
    /// links from others to it.
    In,
    /// all of them.
    Both,
}

/// Notes around a note.
#[reply]
pub struct NeighbourPage {
    /// The note in the middle.
    pub path: String,
    /// The notes around it, the nearest first, then by path.
    pub items: Vec<Neighbour>,
    /// For the next page.
    pub next_cursor: Option<String>,
    /// How many there are.
    pub total: usize,
    /// Only while the index is being built.
    pub index: Option<Building>,
}

/// A note near another.
#[reply]
pub struct Neighbour {
    /// The note.
    pub path: String,
    /// How many steps away it is.
    pub distance: usize,
    /// The note before it on the way.
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
        let depth = depth_of(self.depth, 1)?;
        let direction = match self.direction.unwrap_or(Following::Both) {
            Following::Out => Direction::Out,
            Following::In => Direction::In,
            Following::Both => Direction::Both,
        };
        let path = vault.find_note(&self.path)?;
        let network = Network::of(vault)?;
        let center = number_in(vault, &network, &path)?;
        let mut around = network.around(center, depth, direction);
        around.remove(0);
        let total = around.len();
        let (around, next_cursor) = span.of(around);
        let items = around.into_iter().map(|reached| Neighbour {
            path: network.paths[reached.note].clone(),
            distance: reached.distance,
            via: network.paths[reached.via].clone(),
            linked: network.links(reached.via, reached.note),
            links_back: network.links(reached.note, reached.via),
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
        let mut text = format!(
            "{} around `{}`",
            counted(output.total as u64, "note"),
            output.path
        );
        for item in &output.items {
            let arrow = match (item.linked, item.links_back) {
                (true, true) => "↔",
                (true, false) => "→",
                _ => "←",
            };
            text.push_str(&format!("\n{:>3} {arrow} {}", item.distance, item.path));
            if item.distance > 1 {
                text.push_str(&format!(" (via {})", item.via));
            }
        }
        text + &more(output.next_cursor.as_ref()) + &unfinished(output.index.as_ref())
    }
}

/// How many steps a caller wants.
pub(crate) fn depth_of(depth: Option<usize>, usual: usize) -> Result<usize> {
    let depth = depth.unwrap_or(usual);
    if (1..=DEEPEST).contains(&depth) {
        return Ok(depth);
    }
    Err(Error::validation(format!(
        "`depth` is {depth}, and may be 1 to {DEEPEST}"
    )))
}

/// The number of a note that is there.
pub(crate) fn number_in(vault: &Vault, network: &Network, path: &str) -> Result<usize> {
    match network.number(path) {
        Some(number) => Ok(number),
        // Says why it is not there.
        None => indexed(vault, path, Vec::new()).and_then(|_| {
            Err(Error::new(
                Code::Unavailable,
                format!("`{path}` came just now: call again"),
            ))
        }),
    }
}

/// Find the shortest way of links between two notes.
///
/// Example: `{"from": "Garden/Compost", "to": "People/Supper club"}`
#[args]
pub struct Path {
    /// The note where it begins: path, unique name or `[[link]]`.
    pub from: String,
    /// The note where it ends.
    pub to: String,
    /// Follow links only forward; otherwise also from a note to those that link to it.
    #[serde(default)]
    pub directed: bool,
}

/// A way from note to note.
#[reply]
pub struct Way {
    /// Where it begins.
    pub from: String,
    /// Where it ends.
    pub to: String,
    /// How many steps it has; nothing if there is no way.
    pub length: Option<usize>,
    /// The notes on it, both ends included; empty if there is no way.
    pub notes: Vec<String>,
    /// The links that it follows, in order.
    pub items: Vec<Step>,
    /// Only while the index is being built.
    pub index: Option<Building>,
}

/// A link on the way.
#[reply]
pub struct Step {
    /// The note in which the link stands.
    pub path: String,
    /// The line of the file, from 1.
    pub line: Option<u32>,
    /// The note that it leads to.
    pub to: String,
    /// Whether the way goes against the link's direction.
    pub backward: bool,
}

impl Action for Path {
    type Output = Way;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Way> {
        let from = vault.find_note(&self.from)?;
        let to = vault.find_note(&self.to)?;
        let network = Network::of(vault)?;
        let (begin, end) = (
            number_in(vault, &network, &from)?,
            number_in(vault, &network, &to)?,
        );
        let direction = if self.directed {
            Direction::Out
        } else {
            Direction::Both
        };
        let way = network.way(begin, end, direction);
        let mut items = Vec::new();
        for pair in way.iter().flat_map(|way| way.windows(2)) {
            let backward = !network.links(pair[0], pair[1]);
            let (holder, target) = if backward {
                (pair[1], pair[0])
            } else {
                (pair[0], pair[1])
            };
            items.push(step(
                vault,
                &network.paths[holder],
                &network.paths[target],
                backward,
            )?);
        }
        let notes = way
            .iter()
            .flatten()
            .map(|note| network.paths[*note].clone());
        Ok(Way {
            from,
            to,
            length: way.as_ref().map(|way| way.len() - 1),
            notes: notes.collect(),
            items,
            index: building(vault),
        })
    }

    fn text(output: &Way) -> String {
        let Way { from, to, .. } = output;
        let mut text = match output.length {
            None => format!("no way leads from `{from}` to `{to}`"),
            Some(length) => format!(
                "{}: {}",
                counted(length as u64, "step"),
                output.notes.join(" – ")
            ),
        };
        for item in &output.items {
            let line = item
                .line
                .map_or_else(String::new, |line| format!(":{line}"));
            text.push_str(&format!("\n{}{line} → {}", item.path, item.to));
        }
        text + &unfinished(output.index.as_ref())
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
