//! The notes and their links as a graph, and what can be computed on it: ways, ranks, circles, communities. Everything
//! is deterministic: the same vault gives the same numbers.

use std::collections::VecDeque;

use notehost_sdk::prelude::*;

/// How much of a note's rank its links hand on.
const DAMPING: f64 = 0.85;
/// Ranks have settled long before.
const MOST_ROUNDS: usize = 100;
/// When ranks change less than this altogether, they have settled.
const SETTLED: f64 = 1e-9;
/// Communities have settled long before.
const MOST_MOVES: usize = 30;

/// In which direction links are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From a note to those it links to.
    Out,
    /// From a note to those that link to it.
    In,
    /// Both.
    Both,
}

/// A note that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reached {
    pub(crate) note: usize,
    pub(crate) distance: usize,
    /// The note before it on the way; itself at the beginning.
    pub(crate) via: usize,
}

/// Notes by number, and who links to whom.
#[derive(Debug, Clone, Default)]
pub(crate) struct Network {
    /// In order of path.
    pub(crate) paths: Vec<String>,
    /// For each note those it links to, with the number of links.
    out: Vec<Vec<(usize, u32)>>,
    /// For each note those that link to it.
    into: Vec<Vec<(usize, u32)>>,
    /// How many links of each note lead nowhere.
    pub(crate) broken: Vec<u32>,
}

impl Network {
    pub(crate) fn of(vault: &Vault) -> Result<Network> {
        let edges = vault.edges()?;
        let triples = edges.edges.chunks_exact(3);
        let triples = triples.map(|edge| (edge[0] as usize, edge[1] as usize, edge[2]));
        let mut network = Network::new(edges.paths, triples);
        network.broken = edges.broken;
        network.broken.resize(network.paths.len(), 0);
        Ok(network)
    }

    fn new(paths: Vec<String>, edges: impl Iterator<Item = (usize, usize, u32)>) -> Network {
        let mut network = Network {
            out: vec![Vec::new(); paths.len()],
            into: vec![Vec::new(); paths.len()],
            broken: vec![0; paths.len()],
            paths,
        };
        for (from, to, links) in edges {
            if from < network.len() && to < network.len() && from != to {
                network.out[from].push((to, links));
                network.into[to].push((from, links));
            }
        }
        network
    }

    pub(crate) fn len(&self) -> usize {
        self.paths.len()
    }

    /// The number of a note.
    pub(crate) fn number(&self, path: &str) -> Option<usize> {
        self.paths.iter().position(|known| known == path)
    }

    /// The notes that a note links to, with the number of links.
    pub(crate) fn linked_from(&self, note: usize) -> &[(usize, u32)] {
        &self.out[note]
    }

    /// How many notes link to a note, and to how many it links.
    pub(crate) fn degree(&self, note: usize) -> (usize, usize) {
        (self.into[note].len(), self.out[note].len())
    }

    /// Whether a note links to another.
    pub(crate) fn links(&self, from: usize, to: usize) -> bool {
        self.out[from].iter().any(|(note, _)| *note == to)
    }

    /// The notes beside a note, in order of path, each once.
    fn beside(&self, note: usize, direction: Direction) -> Vec<usize> {
        let mut beside: Vec<usize> = Vec::new();
        if direction != Direction::In {
            beside.extend(self.out[note].iter().map(|(other, _)| *other));
        }
        if direction != Direction::Out {
            beside.extend(self.into[note].iter().map(|(other, _)| *other));
        }
        beside.sort_unstable();
        beside.dedup();
        beside
    }

    /// The notes within so many steps of a note, the nearest first, then by path; the note itself is the first.
    pub(crate) fn around(&self, from: usize, depth: usize, direction: Direction) -> Vec<Reached> {
        self.walk(from, depth, direction, |_| false)
    }

    /// A shortest way from a note to another, both included.
    pub(crate) fn way(&self, from: usize, to: usize, direction: Direction) -> Option<Vec<usize>> {
        let reached = self.walk(from, usize::MAX, direction, |note| note == to);
        let mut via = vec![None; self.len()];
        for step in &reached {
            via[step.note] = Some(step.via);
        }
        let mut way = vec![to];
        let mut at = to;
        while at != from {
            at = via[at]?;
            way.push(at);
        }
        way.reverse();
        Some(way)
    }

    fn walk(
        &self,
        from: usize,
        depth: usize,
        direction: Direction,
        is_enough: impl Fn(usize) -> bool,
    ) -> Vec<Reached> {
        let mut seen = vec![false; self.len()];
        seen[from] = true;
        let first = Reached {
            note: from,
            distance: 0,
            via: from,
        };
        let mut waiting = VecDeque::from([first]);
        let mut reached = Vec::new();
        while let Some(step) = waiting.pop_front() {
            reached.push(step);
            if is_enough(step.note) {
                break;
            }
            if step.distance >= depth {
                continue;
            }
            for note in self.beside(step.note, direction) {
                if !std::mem::replace(&mut seen[note], true) {
                    waiting.push_back(Reached {
                        note,
                        distance: step.distance + 1,
                        via: step.note,
                    });
                }
            }
        }
        // Within one distance the order was that of the notes before them.
        reached.sort_by_key(|step| (step.distance, step.note));
        reached
    }

    /// PageRank: how likely somebody is to be at a note who follows links at random. The ranks add up to 1.
    pub(crate) fn ranks(&self) -> Vec<f64> {
        let count = self.len();
        if count == 0 {
            return Vec::new();
        }
        let share = 1.0 / count as f64;
        let mut ranks = vec![share; count];
        for _ in 0..MOST_ROUNDS {
            // Whoever is at a note without links begins anew anywhere.
            let stranded: f64 = (0..count)
                .filter(|note| self.out[*note].is_empty())
                .map(|note| ranks[note])
                .sum();
            let base = (1.0 - DAMPING) * share + DAMPING * stranded * share;
            let mut next = vec![base; count];
            for (note, links) in self.out.iter().enumerate() {
                let handed = DAMPING * ranks[note] / links.len().max(1) as f64;
                for (to, _) in links {
                    next[*to] += handed;
                }
            }
            let change: f64 = next
                .iter()
                .zip(&ranks)
                .map(|(new, old)| (new - old).abs())
                .sum();
            ranks = next;
            if change < SETTLED {
                break;
            }
        }
        ranks
    }

    /// Sets of two or more notes in which one can come from each to each by links (strongly connected components); the
    /// largest first, then by path.
    pub(crate) fn circles(&self) -> Vec<Vec<usize>> {
        let mut search = CircleSearch::new(self.len());
        for note in 0..self.len() {
            if search.order[note].is_none() {
                search.from(self, note);
            }
        }
        let mut circles = search.circles;
        circles.sort_by(|one, other| (other.len(), one.first()).cmp(&(one.len(), other.first())));
        circles
    }

    /// Which notes belong together, by the links between them: each note takes the community that most of its links
    /// lead to or come from, until none changes. Communities are numbered from the largest.
    pub(crate) fn communities(&self) -> Vec<usize> {
        let mut community: Vec<usize> = (0..self.len()).collect();
        for _ in 0..MOST_MOVES {
            let mut has_changed = false;
            for note in 0..self.len() {
                let mut weights: Vec<(usize, u64)> = self.out[note]
                    .iter()
                    .chain(&self.into[note])
                    .map(|(other, links)| (community[*other], u64::from(*links)))
                    .collect();
                weights.sort_unstable();
                weights.dedup_by(|later, kept| {
                    let is_same = later.0 == kept.0;
                    if is_same {
                        kept.1 += later.1;
                    }
                    is_same
                });
                let own = weights
                    .iter()
                    .find(|(other, _)| *other == community[note])
                    .map_or(0, |(_, weight)| *weight);
                let strongest = weights
                    .iter()
                    .max_by_key(|(other, weight)| (*weight, std::cmp::Reverse(*other)));
                if let Some((other, weight)) = strongest
                    && *weight > own
                {
                    community[note] = *other;
                    has_changed = true;
                }
            }
            if !has_changed {
                break;
            }
        }
        numbered_by_size(&community)
    }
}

/// The same communities, numbered from the largest; equals by their first note.
fn numbered_by_size(community: &[usize]) -> Vec<usize> {
    let mut sizes = vec![0usize; community.len()];
    let mut first = vec![usize::MAX; community.len()];
    for (note, name) in community.iter().enumerate() {
        sizes[*name] += 1;
        first[*name] = first[*name].min(note);
    }
    let mut names: Vec<usize> = (0..community.len())
        .filter(|name| sizes[*name] > 0)
        .collect();
    names.sort_by_key(|name| (std::cmp::Reverse(sizes[*name]), first[*name]));
    let mut numbers = vec![0; community.len()];
    for (number, name) in names.into_iter().enumerate() {
        numbers[name] = number;
    }
    community.iter().map(|name| numbers[*name]).collect()
}

/// Tarjan's search, with a stack of its own: a vault may have longer chains than a component has stack.
struct CircleSearch {
    /// When each note was met.
    order: Vec<Option<usize>>,
    /// The earliest note that can be reached from it.
    lowest: Vec<usize>,
    is_open: Vec<bool>,
    open: Vec<usize>,
    met: usize,
    circles: Vec<Vec<usize>>,
}

impl CircleSearch {
    fn new(count: usize) -> CircleSearch {
        CircleSearch {
            order: vec![None; count],
            lowest: vec![0; count],
            is_open: vec![false; count],
            open: Vec::new(),
            met: 0,
            circles: Vec::new(),
        }
    }

    fn from(&mut self, network: &Network, start: usize) {
        self.meet(start);
        // Each note with the number of its links that were followed.
        let mut path = vec![(start, 0)];
        while let Some((note, followed)) = path.last_mut() {
            let note = *note;
            if let Some((next, _)) = network.out[note].get(*followed) {
                *followed += 1;
                match self.order[*next] {
                    None => {
                        self.meet(*next);
                        path.push((*next, 0));
                    }
                    Some(order) if self.is_open[*next] => {
                        self.lowest[note] = self.lowest[note].min(order);
                    }
                    Some(_) => {}
                }
                continue;
            }
            path.pop();
            if let Some((before, _)) = path.last() {
                self.lowest[*before] = self.lowest[*before].min(self.lowest[note]);
            }
            if self.order[note] == Some(self.lowest[note]) {
                self.close(note);
            }
        }
    }

    fn meet(&mut self, note: usize) {
        self.order[note] = Some(self.met);
        self.lowest[note] = self.met;
        self.met += 1;
        self.open.push(note);
        self.is_open[note] = true;
    }

    fn close(&mut self, root: usize) {
        let mut circle = Vec::new();
        while let Some(note) = self.open.pop() {
            self.is_open[note] = false;
            circle.push(note);
            if note == root {
                break;
            }
        }
        if circle.len() > 1 {
            circle.sort_unstable();
            self.circles.push(circle);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(count: usize, edges: &[(usize, usize)]) -> Network {
        let paths = (0..count).map(|number| format!("{number:04}.md")).collect();
        Network::new(paths, edges.iter().map(|(from, to)| (*from, *to, 1)))
    }

    #[test]
    fn the_shortest_way_is_found_in_either_direction() {
        let network = network(6, &[(0, 1), (1, 2), (2, 3), (4, 3), (0, 4)]);
        assert_eq!(network.way(0, 3, Direction::Both), Some(vec![0, 4, 3]));
        assert_eq!(network.way(0, 3, Direction::Out), Some(vec![0, 4, 3]));
        assert_eq!(network.way(3, 0, Direction::Out), None);
        assert_eq!(network.way(3, 0, Direction::Both), Some(vec![3, 4, 0]));
        assert_eq!(network.way(0, 5, Direction::Both), None);
        assert_eq!(network.way(2, 2, Direction::Out), Some(vec![2]));
    }

    #[test]
    fn ranks_add_up_and_follow_links() {
        let network = network(4, &[(0, 3), (1, 3), (2, 3), (3, 0)]);
        let ranks = network.ranks();
        assert!((ranks.iter().sum::<f64>() - 1.0).abs() < 1e-6);
        assert!(ranks[3] > ranks[0] && ranks[0] > ranks[1]);
        assert!((ranks[1] - ranks[2]).abs() < 1e-12);
        assert!(super::Network::default().ranks().is_empty());
    }

    #[test]
    fn circles_are_found_however_long_they_are() {
        let small = network(6, &[(0, 1), (1, 2), (2, 0), (3, 4), (4, 3), (2, 3), (5, 0)]);
        assert_eq!(small.circles(), [vec![0, 1, 2], vec![3, 4]]);
        let count = 50_000;
        let ring: Vec<(usize, usize)> = (0..count).map(|note| (note, (note + 1) % count)).collect();
        let circles = network(count, &ring).circles();
        assert_eq!(circles.len(), 1);
        assert_eq!(circles[0].len(), count);
    }

    #[test]
    fn communities_are_where_links_are_dense() {
        let network = network(
            7,
            &[
                (0, 1),
                (1, 2),
                (2, 0),
                (3, 4),
                (4, 5),
                (5, 3),
                (5, 4),
                (2, 3),
            ],
        );
        let community = network.communities();
        assert_eq!(community[0], community[1]);
        assert_eq!(community[3], community[5]);
        assert_ne!(community[1], community[4]);
        assert_ne!(community[6], community[0]);
    }
}
