//! The links between notes as one caller sees them: numbers of incoming and outgoing links, and missing targets. Built
//! by following every link of every note once, and cached until the graph changes (`caller_view.rs`).

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use notehost_sdk::fold_name;
use notehost_sdk::index::{Degree, Edges, Missing, PlaceAt, Unresolved, UnresolvedQuery};

use super::caller_view::CallerView;
use super::links::{LinkTarget, Resolver, is_under};
use crate::graph::Graph;
use crate::limits::answer_budget::AnswerBudget;
use crate::limits::bounds::MAX_RESULTS;
use crate::limits::deadline::Deadline;
use crate::limits::order::in_order;
use notehost_vault::VaultError;

/// The link graph as one caller sees it. Notes that searches leave out are not in it.
pub(crate) struct LinkGraph {
    /// From, to, how many links; sorted by doc id.
    edges: Vec<(u32, u32, u32)>,
    degrees: HashMap<u32, Degree>,
    missing: MissingTargets,
    /// The missing targets: the most wanted first, then by name.
    most_wanted: Vec<u32>,
    missing_links: u64,
}

/// Missing targets. There may be millions of links to them, so each names its note and its spelling by number.
#[derive(Default)]
struct MissingTargets {
    targets: Vec<MissingTarget>,
    spellings: Vec<Box<str>>,
}

/// A missing target.
struct MissingTarget {
    folded: Box<str>,
    /// Where it is linked to, in order of path and line.
    places: Vec<Place>,
}

/// A link to a missing target.
#[derive(Clone, Copy)]
struct Place {
    doc_id: u32,
    line: u32,
    spelling: u32,
}

/// How many bytes three numbers take in an answer.
const EDGE_BYTES: usize = 24;

impl MissingTargets {
    /// A target of this spelling, which is a new one; returns its number and that of the spelling. `by_name` has the
    /// numbers of the targets that are known.
    fn add(&mut self, target: &str, by_name: &mut HashMap<Box<str>, u32>) -> (u32, u32) {
        let spelling = number(self.spellings.len());
        self.spellings.push(target.into());
        let folded: Box<str> = fold_name(target).into();
        let known = by_name.entry(folded).or_insert_with_key(|folded| {
            self.targets.push(MissingTarget {
                folded: folded.clone(),
                places: Vec::new(),
            });
            number(self.targets.len() - 1)
        });
        (*known, spelling)
    }

    /// A target with these of its places.
    fn rendered(
        &self,
        places: &[Place],
        most: usize,
        (graph, budget, deadline): (&Graph, &AnswerBudget, &Deadline),
    ) -> Result<Missing, VaultError> {
        let first = places.first();
        let target = first.and_then(|place| self.spellings.get(place.spelling as usize));
        let target = target.map_or("", |target| &**target);
        budget.take_item([target.len()])?;
        let mut rendered = Vec::new();
        for place in places.iter().take(most) {
            deadline.step()?;
            let path = graph.path(place.doc_id);
            budget.take_item([path.len()])?;
            rendered.push(PlaceAt {
                path: path.to_owned(),
                line: place.line,
            });
        }
        Ok(Missing {
            target: target.to_owned(),
            count: places.len() as u64,
            places: rendered,
        })
    }
}

fn number(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

impl LinkGraph {
    /// Follows every link of every note that the caller finds.
    pub(crate) fn new(
        graph: &Graph,
        view: &CallerView,
        deadline: &Deadline,
    ) -> Result<LinkGraph, VaultError> {
        let mut edges: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        let mut degrees: HashMap<u32, Degree> = HashMap::new();
        let mut missing = MissingTargets::default();
        let mut by_name: HashMap<Box<str>, u32> = HashMap::new();
        let mut by_spelling: HashMap<&str, (u32, u32)> = HashMap::new();
        for doc_id in view.finds.iter() {
            let Some(note) = graph.note(doc_id) else {
                continue;
            };
            deadline.before(note.link_bytes())?;
            let links = note.links();
            let mut resolver = Resolver::of(graph, doc_id, &view.sees);
            for link in &links {
                deadline.step()?;
                match resolver.led(link, deadline)? {
                    LinkTarget::Away => {}
                    LinkTarget::To(target) if target == doc_id => {}
                    LinkTarget::To(target) => {
                        degrees.entry(doc_id).or_default().outgoing += 1;
                        if view.finds.contains(target) {
                            degrees.entry(target).or_default().incoming += 1;
                            *edges.entry((doc_id, target)).or_default() += 1;
                        }
                    }
                    LinkTarget::Nowhere => {
                        degrees.entry(doc_id).or_default().broken += 1;
                        let (target, spelling) = *by_spelling
                            .entry(link.target)
                            .or_insert_with(|| missing.add(link.target, &mut by_name));
                        missing.targets[target as usize].places.push(Place {
                            doc_id,
                            line: link.line,
                            spelling,
                        });
                    }
                }
            }
        }
        let by_place = |one: &Place, other: &Place| {
            let by_path = graph.path(one.doc_id).cmp(graph.path(other.doc_id));
            by_path.then(one.line.cmp(&other.line))
        };
        for wanted in &mut missing.targets {
            // The links of one line stay in their order.
            wanted.places = in_order(std::mem::take(&mut wanted.places), by_place, deadline)?;
        }
        let all = (0_u32..).zip(&missing.targets);
        let all = all.map(|(target, wanted)| (target, wanted.places.len()));
        let counts: Vec<(u32, usize)> = all.collect();
        let missing_links = counts.iter().map(|(_, count)| *count as u64).sum();
        let most_wanted = most_wanted(&missing, counts, deadline)?;
        deadline.check()?;
        Ok(LinkGraph {
            edges: edges
                .into_iter()
                .map(|((from, to), count)| (from, to, count))
                .collect(),
            degrees,
            most_wanted,
            missing_links,
            missing,
        })
    }

    /// How many links a note has.
    pub(crate) fn degree(&self, doc_id: u32) -> Degree {
        self.degrees.get(&doc_id).copied().unwrap_or_default()
    }

    /// The pairs of linked notes, for the caller.
    pub(crate) fn rendered(
        &self,
        graph: &Graph,
        view: &CallerView,
        budget: &AnswerBudget,
        deadline: &Deadline,
    ) -> Result<Edges, VaultError> {
        budget.take(self.edges.len().saturating_mul(EDGE_BYTES))?;
        let by_path = |one: &u32, other: &u32| graph.path(*one).cmp(graph.path(*other));
        let doc_ids = in_order(view.finds.iter().collect(), by_path, deadline)?;
        let numbers: HashMap<u32, u32> = doc_ids.iter().copied().zip(0..).collect();
        let mut edges: Vec<[u32; 3]> = Vec::with_capacity(self.edges.len());
        for (from, to, count) in &self.edges {
            deadline.step()?;
            if let (Some(from), Some(to)) = (numbers.get(from), numbers.get(to)) {
                edges.push([*from, *to, *count]);
            }
        }
        let edges = in_order(edges, Ord::cmp, deadline)?;
        let mut rendered = Edges::default();
        for doc_id in &doc_ids {
            deadline.step()?;
            let path = graph.path(*doc_id);
            budget.take_item([path.len()])?;
            rendered.paths.push(path.to_owned());
            rendered.broken.push(self.degree(*doc_id).broken);
        }
        rendered.edges = edges.into_iter().flatten().collect();
        Ok(rendered)
    }

    /// A page of the missing targets.
    pub(crate) fn unresolved(
        &self,
        graph: &Graph,
        query: &UnresolvedQuery,
        budget: &AnswerBudget,
        deadline: &Deadline,
    ) -> Result<Unresolved, VaultError> {
        let most_places = query.places.min(MAX_RESULTS) as usize;
        let offset = usize::try_from(query.offset).unwrap_or(usize::MAX);
        let limit = query.limit.min(MAX_RESULTS) as usize;
        deadline.check()?;
        let within;
        let (order, links) = match query.under.is_empty() {
            true => (&self.most_wanted, self.missing_links),
            false => {
                let links;
                (within, links) = self.wanted_under(graph, &query.under, deadline)?;
                (&within, links)
            }
        };
        let mut items = Vec::new();
        for target in order.iter().skip(offset).take(limit) {
            let mut places = Cow::Borrowed(&self.missing.targets[*target as usize].places);
            if !query.under.is_empty() {
                places = Cow::Owned(places_under(graph, &places, &query.under, deadline)?);
            }
            let rendered =
                self.missing
                    .rendered(&places, most_places, (graph, budget, deadline))?;
            items.push(rendered);
        }
        Ok(Unresolved {
            items,
            total: order.len() as u64,
            links,
        })
    }

    /// The targets that notes below a folder link to, the most wanted first, and how many links there are.
    fn wanted_under(
        &self,
        graph: &Graph,
        folder: &str,
        deadline: &Deadline,
    ) -> Result<(Vec<u32>, u64), VaultError> {
        let mut counts: Vec<(u32, usize)> = Vec::new();
        let mut links = 0;
        for (target, wanted) in (0_u32..).zip(&self.missing.targets) {
            let count = places_under(graph, &wanted.places, folder, deadline)?.len();
            if count > 0 {
                counts.push((target, count));
                links += count as u64;
            }
        }
        Ok((most_wanted(&self.missing, counts, deadline)?, links))
    }
}

/// Those of some places that are below a folder.
fn places_under(
    graph: &Graph,
    places: &[Place],
    folder: &str,
    deadline: &Deadline,
) -> Result<Vec<Place>, VaultError> {
    let mut within = Vec::new();
    for place in places {
        deadline.step()?;
        if is_under(graph.path(place.doc_id), folder) {
            within.push(*place);
        }
    }
    Ok(within)
}

/// Targets, each with how many links lead to it: those with the most first, then by name.
fn most_wanted(
    missing: &MissingTargets,
    counts: Vec<(u32, usize)>,
    deadline: &Deadline,
) -> Result<Vec<u32>, VaultError> {
    let name = |target: u32| &missing.targets[target as usize].folded;
    let by_count = |(one, count): &(u32, usize), (other, others): &(u32, usize)| {
        let by_count = others.cmp(count);
        by_count.then_with(|| name(*one).cmp(name(*other)))
    };
    let ordered = in_order(counts, by_count, deadline)?;
    Ok(ordered.into_iter().map(|(target, _)| target).collect())
}
