//! The graph of notes and links, with shortest paths, PageRank, cycles and communities. All algorithms are
//! deterministic: the same vault gives the same numbers.
//!
//! Strongly connected components come from petgraph (which adds less than 1 KiB to the component). Not from it: shortest
//! paths, because it does not say which of several it takes; PageRank, because its version compares all pairs of notes; and
//! the storage, because label propagation over its edge lists took 2.5 times as long (100,000 notes, 500,000 links).

use std::collections::VecDeque;

use notehost_sdk::prelude::*;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

/// The PageRank damping factor.
const DAMPING: f64 = 0.85;
/// The maximum number of PageRank iterations.
const MAX_RANK_ITERATIONS: usize = 100;
/// PageRank stops when the total change is below this.
const RANK_TOLERANCE: f64 = 1e-9;
/// The maximum number of label propagation iterations.
const MAX_COMMUNITY_ITERATIONS: usize = 30;

/// The direction in which links are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From a note to those it links to.
    Out,
    /// From a note to those that link to it.
    In,
    /// Both.
    Both,
}

/// A note that a traversal reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reached {
    pub(crate) note: usize,
    pub(crate) distance: usize,
    /// Its predecessor on the path; the start note is its own.
    pub(crate) via: usize,
}

/// Notes by index, with their links in both directions.
#[derive(Debug, Clone, Default)]
pub(crate) struct LinkGraph {
    /// Sorted.
    pub(crate) paths: Vec<String>,
    /// For each note, the notes it links to, with the number of links.
    out: Vec<Vec<(usize, u32)>>,
    /// For each note, the notes that link to it.
    into: Vec<Vec<(usize, u32)>>,
    /// The number of broken links of each note.
    pub(crate) broken: Vec<u32>,
}

impl LinkGraph {
    pub(crate) fn of(vault: &Vault) -> Result<LinkGraph> {
        let edges = vault.edges()?;
        let triples = edges.edges.chunks_exact(3);
        let triples = triples.map(|edge| (edge[0] as usize, edge[1] as usize, edge[2]));
        let mut graph = LinkGraph::new(edges.paths, triples);
        graph.broken = edges.broken;
        graph.broken.resize(graph.paths.len(), 0);
        Ok(graph)
    }

    fn new(paths: Vec<String>, edges: impl Iterator<Item = (usize, usize, u32)>) -> LinkGraph {
        let mut graph = LinkGraph {
            out: vec![Vec::new(); paths.len()],
            into: vec![Vec::new(); paths.len()],
            broken: vec![0; paths.len()],
            paths,
        };
        for (from, to, links) in edges {
            if from < graph.len() && to < graph.len() && from != to {
                graph.out[from].push((to, links));
                graph.into[to].push((from, links));
            }
        }
        graph
    }

    pub(crate) fn len(&self) -> usize {
        self.paths.len()
    }

    /// The index of a note.
    pub(crate) fn index_of(&self, path: &str) -> Option<usize> {
        self.paths.iter().position(|known| known == path)
    }

    /// The notes that a note links to, with the number of links.
    pub(crate) fn linked_from(&self, note: usize) -> &[(usize, u32)] {
        &self.out[note]
    }

    /// The number of notes that link to a note, and that it links to.
    pub(crate) fn degree(&self, note: usize) -> (usize, usize) {
        (self.into[note].len(), self.out[note].len())
    }

    /// Whether a note links to another.
    pub(crate) fn links(&self, from: usize, to: usize) -> bool {
        self.out[from].iter().any(|(note, _)| *note == to)
    }

    /// The direct neighbours of a note, sorted and without duplicates.
    fn adjacent(&self, note: usize, direction: Direction) -> Vec<usize> {
        let mut adjacent: Vec<usize> = Vec::new();
        if direction != Direction::In {
            adjacent.extend(self.out[note].iter().map(|(other, _)| *other));
        }
        if direction != Direction::Out {
            adjacent.extend(self.into[note].iter().map(|(other, _)| *other));
        }
        adjacent.sort_unstable();
        adjacent.dedup();
        adjacent
    }

    /// The notes within `depth` steps of a note, the nearest first, then by path; the note itself is the first.
    pub(crate) fn around(&self, from: usize, depth: usize, direction: Direction) -> Vec<Reached> {
        self.search(from, depth, direction, |_| false)
    }

    /// A shortest path from a note to another, both included.
    pub(crate) fn shortest_path(
        &self,
        from: usize,
        to: usize,
        direction: Direction,
    ) -> Option<Vec<usize>> {
        let reached = self.search(from, usize::MAX, direction, |note| note == to);
        let mut via = vec![None; self.len()];
        for step in &reached {
            via[step.note] = Some(step.via);
        }
        let mut path = vec![to];
        let mut at = to;
        while at != from {
            at = via[at]?;
            path.push(at);
        }
        path.reverse();
        Some(path)
    }

    /// Breadth-first search.
    fn search(
        &self,
        from: usize,
        depth: usize,
        direction: Direction,
        is_enough: impl Fn(usize) -> bool,
    ) -> Vec<Reached> {
        let mut visited = vec![false; self.len()];
        visited[from] = true;
        let first = Reached {
            note: from,
            distance: 0,
            via: from,
        };
        let mut queue = VecDeque::from([first]);
        let mut reached = Vec::new();
        while let Some(step) = queue.pop_front() {
            reached.push(step);
            if is_enough(step.note) {
                break;
            }
            if step.distance >= depth {
                continue;
            }
            for note in self.adjacent(step.note, direction) {
                if !std::mem::replace(&mut visited[note], true) {
                    queue.push_back(Reached {
                        note,
                        distance: step.distance + 1,
                        via: step.note,
                    });
                }
            }
        }
        // Within one distance, notes are in the order of their predecessors.
        reached.sort_by_key(|step| (step.distance, step.note));
        reached
    }

    /// PageRank. The ranks add up to 1.
    pub(crate) fn ranks(&self) -> Vec<f64> {
        let count = self.len();
        if count == 0 {
            return Vec::new();
        }
        let share = 1.0 / count as f64;
        let mut ranks = vec![share; count];
        for _ in 0..MAX_RANK_ITERATIONS {
            // The rank of notes without links is distributed evenly.
            let dangling: f64 = (0..count)
                .filter(|note| self.out[*note].is_empty())
                .map(|note| ranks[note])
                .sum();
            let base = (1.0 - DAMPING) * share + DAMPING * dangling * share;
            let mut next = vec![base; count];
            for (note, links) in self.out.iter().enumerate() {
                let passed_on = DAMPING * ranks[note] / links.len().max(1) as f64;
                for (to, _) in links {
                    next[*to] += passed_on;
                }
            }
            let change: f64 = next
                .iter()
                .zip(&ranks)
                .map(|(new, old)| (new - old).abs())
                .sum();
            ranks = next;
            if change < RANK_TOLERANCE {
                break;
            }
        }
        ranks
    }

    /// Strongly connected components of two or more notes, the largest first, then by path.
    pub(crate) fn cycles(&self) -> Vec<Vec<usize>> {
        let edges = self.out.iter().enumerate().flat_map(|(from, links)| {
            let from = NodeIndex::new(from);
            links.iter().map(move |(to, _)| (from, NodeIndex::new(*to)))
        });
        // Kosaraju's algorithm, because petgraph's version of Tarjan's is recursive: chains of links may be longer than the
        // call stack of a component.
        let components = kosaraju_scc(&DiGraph::<(), ()>::from_edges(edges));
        let mut cycles: Vec<Vec<usize>> = components
            .into_iter()
            .filter(|component| component.len() > 1)
            .map(|component| {
                let mut notes: Vec<usize> = component.into_iter().map(NodeIndex::index).collect();
                notes.sort_unstable();
                notes
            })
            .collect();
        cycles.sort_by(|one, other| (other.len(), one.first()).cmp(&(one.len(), other.first())));
        cycles
    }

    /// The community of each note by label propagation: each note takes the community with which it has most links,
    /// until none changes. Communities are numbered from the largest.
    pub(crate) fn communities(&self) -> Vec<usize> {
        let mut community: Vec<usize> = (0..self.len()).collect();
        for _ in 0..MAX_COMMUNITY_ITERATIONS {
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

/// Renumbers communities from the largest; ties by their first note.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(count: usize, edges: &[(usize, usize)]) -> LinkGraph {
        let paths = (0..count).map(|number| format!("{number:04}.md")).collect();
        LinkGraph::new(paths, edges.iter().map(|(from, to)| (*from, *to, 1)))
    }

    #[test]
    fn shortest_paths_respect_the_direction() {
        let graph = graph(6, &[(0, 1), (1, 2), (2, 3), (4, 3), (0, 4)]);
        assert_eq!(
            graph.shortest_path(0, 3, Direction::Both),
            Some(vec![0, 4, 3])
        );
        assert_eq!(
            graph.shortest_path(0, 3, Direction::Out),
            Some(vec![0, 4, 3])
        );
        assert_eq!(graph.shortest_path(3, 0, Direction::Out), None);
        assert_eq!(
            graph.shortest_path(3, 0, Direction::Both),
            Some(vec![3, 4, 0])
        );
        assert_eq!(graph.shortest_path(0, 5, Direction::Both), None);
        assert_eq!(graph.shortest_path(2, 2, Direction::Out), Some(vec![2]));
    }

    #[test]
    fn ranks_sum_to_one_and_follow_links() {
        let graph = graph(4, &[(0, 3), (1, 3), (2, 3), (3, 0)]);
        let ranks = graph.ranks();
        assert!((ranks.iter().sum::<f64>() - 1.0).abs() < 1e-6);
        assert!(ranks[3] > ranks[0] && ranks[0] > ranks[1]);
        assert!((ranks[1] - ranks[2]).abs() < 1e-12);
        assert!(super::LinkGraph::default().ranks().is_empty());
    }

    #[test]
    fn long_cycles_are_found_without_recursion() {
        let small = graph(6, &[(0, 1), (1, 2), (2, 0), (3, 4), (4, 3), (2, 3), (5, 0)]);
        assert_eq!(small.cycles(), [vec![0, 1, 2], vec![3, 4]]);
        let count = 50_000;
        let ring: Vec<(usize, usize)> = (0..count).map(|note| (note, (note + 1) % count)).collect();
        let cycles = graph(count, &ring).cycles();
        assert_eq!(cycles.len(), 1);
        assert_eq!(cycles[0].len(), count);
    }

    #[test]
    fn densely_linked_notes_form_communities() {
        let graph = graph(
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
        let community = graph.communities();
        assert_eq!(community[0], community[1]);
        assert_eq!(community[3], community[5]);
        assert_ne!(community[1], community[4]);
        assert_ne!(community[6], community[0]);
    }
}
