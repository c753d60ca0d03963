//! A report on the links of the vault, with advice.

use notehost_sdk::index::{
    Building, Condition, Field, Has, LinkAt, Query, Sort, UnresolvedQuery, building,
};
use notehost_sdk::pages::{checked_limit, counted};
use notehost_sdk::prelude::*;

use crate::graph::rounded;
use crate::index_queries::Place;
use crate::link_graph::LinkGraph;
use crate::orphans;
use crate::outgoing::State;

/// The default number of items per list.
const DEFAULT_LIMIT: usize = 10;
/// The maximum number of items per list.
const MAX_LIMIT: usize = 100;
/// The maximum number of notes listed per cycle.
const MAX_CYCLE_NOTES: usize = 10;
/// A note is a hub if it has at least this many times the average number of incoming links, and at least
/// [`MIN_HUB_LINKS`].
const HUB_FACTOR: f64 = 5.0;
const MIN_HUB_LINKS: usize = 5;

/// Check the links of the vault: broken links and fragments, ambiguous links, orphans, cycles, hubs, with counts, a
/// score and advice on what to do.
///
/// Example: `{}`
#[args]
pub struct Health {
    /// Maximum items per list, 1–100 (default 10).
    pub limit: Option<usize>,
}

/// A report on the links of the vault.
#[reply]
pub struct Report {
    /// 0 to 100: 50 % for resolved links, 30 % for linked notes, 10 % each for existing fragments and unambiguous
    /// links.
    pub score: u32,
    /// Counts of everything.
    pub counts: HealthCounts,
    /// What to do, the most useful first.
    pub advice: Vec<String>,
    /// Targets of broken links, the most linked first.
    pub broken: Vec<BrokenTarget>,
    /// Links to a heading or block that is not in its note.
    pub broken_fragments: Vec<SuspectLink>,
    /// Links that match several files.
    pub ambiguous: Vec<SuspectLink>,
    /// Notes without any links, in or out.
    pub orphans: Vec<String>,
    /// Sets of notes that link to each other in cycles, the largest first.
    pub cycles: Vec<Cycle>,
    /// Notes with unusually many incoming links.
    pub hubs: Vec<Hub>,
    /// Present while the index is being built.
    pub index: Option<Building>,
}

/// Counts of everything.
#[reply]
#[derive(Default)]
pub struct HealthCounts {
    /// Notes.
    pub notes: u64,
    /// Links to files of the vault, existing or not.
    pub links: u64,
    /// Broken links.
    pub broken_links: u64,
    /// Distinct targets of broken links.
    pub missing_targets: u64,
    /// Links to a heading or block that does not exist.
    pub broken_fragments: u64,
    /// Links that match several files.
    pub ambiguous_links: u64,
    /// Notes without any links.
    pub orphans: u64,
    /// Notes without incoming links.
    pub without_incoming: u64,
    /// Sets of notes that link to each other in cycles.
    pub cycles: u64,
    /// Notes with unusually many incoming links.
    pub hubs: u64,
}

/// A missing target of links.
#[reply]
pub struct BrokenTarget {
    /// The target as written in a link.
    pub target: String,
    /// Number of links to it.
    pub count: u64,
    /// The first places that link to it.
    pub places: Vec<Place>,
}

/// A link that may resolve to the wrong place.
#[reply]
pub struct SuspectLink {
    /// The note that contains the link.
    pub path: String,
    /// The line number in the file, from 1.
    pub line: u32,
    /// The target as written, with its fragment.
    pub target: String,
    /// The file that it resolves to.
    pub to: String,
    /// Number of other files that it matches.
    pub rivals: Option<u32>,
}

/// Notes that link to each other in cycles.
#[reply]
pub struct Cycle {
    /// Number of notes.
    pub size: usize,
    /// The first ten of them, by path.
    pub notes: Vec<String>,
}

/// A note with many incoming links.
#[reply]
pub struct Hub {
    /// The note.
    pub path: String,
    /// Number of notes that link to it.
    pub incoming: usize,
    /// Number of notes that it links to.
    pub outgoing: usize,
    /// Its PageRank as a multiple of the average.
    pub rank: f64,
}

impl Action for Health {
    type Output = Report;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Report> {
        let limit = checked_limit(self.limit, DEFAULT_LIMIT, MAX_LIMIT)?;
        let mut report = Report {
            score: 0,
            counts: HealthCounts::default(),
            advice: Vec::new(),
            broken: Vec::new(),
            broken_fragments: Vec::new(),
            ambiguous: Vec::new(),
            orphans: Vec::new(),
            cycles: Vec::new(),
            hubs: Vec::new(),
            index: building(vault),
        };
        report.add_missing(vault, limit)?;
        report.add_links(vault, limit)?;
        report.add_orphans(vault, limit)?;
        report.add_graph(&LinkGraph::of(vault)?, limit);
        report.score = score(&report.counts);
        report.advice = advice(&report.counts);
        Ok(report)
    }

    fn text(output: &Report) -> String {
        let counts = &output.counts;
        ReplyText::new(format!(
            "score {} of 100: {}, {}, {} broken, {} with a missing fragment, {} ambiguous, {} orphaned, {}, {}",
            output.score,
            counted(counts.notes, "note"),
            counted(counts.links, "link"),
            counts.broken_links,
            counts.broken_fragments,
            counts.ambiguous_links,
            counts.orphans,
            counted(counts.cycles, "cycle"),
            counted(counts.hubs, "hub")
        ))
            .lines(&output.advice, |advice| format!("- {advice}"))
            .lines(&output.broken, |item| format!("broken: {} ({})", item.target, item.count))
            .lines(&output.broken_fragments, |item| format!("missing fragment: {} ({}, line {})",
                item.target, item.path, item.line))
            .lines(&output.ambiguous, |item| format!("ambiguous: {} → {} ({}, line {})",
                item.target, item.to, item.path, item.line))
            .lines(&output.orphans, |path| format!("orphan: {path}"))
            .lines(&output.cycles, |cycle| format!("cycle of {}: {}",
                cycle.size,
                cycle.notes.join(", ")))
            .lines(&output.hubs, |hub| format!("hub: {} ({} in)", hub.path, hub.incoming))
            .unfinished(&output.index)
            .into()
    }
}

impl Report {
    fn add_missing(&mut self, vault: &Vault, limit: usize) -> Result<()> {
        let missing = vault.unresolved(&UnresolvedQuery {
            limit: u32::try_from(limit).unwrap_or(u32::MAX),
            places: 3,
            ..UnresolvedQuery::default()
        })?;
        self.counts.missing_targets = missing.total;
        self.counts.broken_links = missing.links;
        let items = missing.items.into_iter().map(|missing| BrokenTarget {
            target: missing.target,
            count: missing.count,
            places: missing.places.into_iter().map(Place::from).collect(),
        });
        self.broken = items.collect();
        Ok(())
    }

    /// Checks every link of every note.
    fn add_links(&mut self, vault: &Vault, limit: usize) -> Result<()> {
        for note in vault.find_all(Query {
            condition: Some(Condition::Has(Has::Links)),
            sort: Sort::by_path(),
            fields: vec![Field::Links],
            ..Query::default()
        }) {
            let note = note?;
            for link in note.links.unwrap_or_default() {
                self.add_link(&note.path, link, limit);
            }
        }
        Ok(())
    }

    fn add_link(&mut self, path: &str, link: LinkAt, limit: usize) {
        if link.external || link.target.is_empty() && link.fragment.is_none() {
            return;
        }
        self.counts.links += 1;
        let state = State::of(&link);
        let Some(to) = link.path else { return };
        let suspect = SuspectLink {
            path: path.to_owned(),
            line: link.line,
            target: link.target + link.fragment.as_deref().unwrap_or_default(),
            to,
            rivals: (link.rivals > 0).then_some(link.rivals),
        };
        if link.rivals > 0 {
            self.counts.ambiguous_links += 1;
            if self.ambiguous.len() < limit {
                self.ambiguous.push(suspect.clone());
            }
        }
        if state == State::BrokenFragment {
            self.counts.broken_fragments += 1;
            if self.broken_fragments.len() < limit {
                self.broken_fragments.push(suspect);
            }
        }
    }

    fn add_orphans(&mut self, vault: &Vault, limit: usize) -> Result<()> {
        let find = |incoming_only: bool, limit: usize| {
            vault.find(&Query {
                condition: Some(orphans::condition(String::new(), incoming_only)),
                sort: Sort::by_path(),
                limit: u32::try_from(limit).unwrap_or(u32::MAX),
                ..Query::default()
            })
        };
        let found = find(false, limit)?;
        self.counts.orphans = found.total;
        self.orphans = found.items.into_iter().map(|note| note.path).collect();
        self.counts.without_incoming = find(true, 0)?.total;
        Ok(())
    }

    fn add_graph(&mut self, graph: &LinkGraph, limit: usize) {
        self.counts.notes = graph.len() as u64;
        let cycles = graph.cycles();
        self.counts.cycles = cycles.len() as u64;
        let shown = cycles.into_iter().take(limit).map(|cycle| Cycle {
            size: cycle.len(),
            notes: cycle
                .iter()
                .take(MAX_CYCLE_NOTES)
                .map(|note| graph.paths[*note].clone())
                .collect(),
        });
        self.cycles = shown.collect();

        let incoming = |note: usize| graph.degree(note).0;
        let all: usize = (0..graph.len()).map(incoming).sum();
        let average = all as f64 / graph.len().max(1) as f64;
        let mut hubs: Vec<usize> = (0..graph.len())
            .filter(|note| {
                incoming(*note) >= MIN_HUB_LINKS && incoming(*note) as f64 >= HUB_FACTOR * average
            })
            .collect();
        hubs.sort_by_key(|note| (std::cmp::Reverse(incoming(*note)), *note));
        self.counts.hubs = hubs.len() as u64;
        if hubs.is_empty() {
            return;
        }
        let ranks = graph.ranks();
        let shown = hubs.into_iter().take(limit).map(|note| Hub {
            path: graph.paths[note].clone(),
            incoming: incoming(note),
            outgoing: graph.degree(note).1,
            rank: rounded(ranks[note] * graph.len() as f64),
        });
        self.hubs = shown.collect();
    }
}

fn score(counts: &HealthCounts) -> u32 {
    let share = |bad: u64, all: u64| 1.0 - bad.min(all) as f64 / all.max(1) as f64;
    let score = 50.0 * share(counts.broken_links, counts.links)
        + 30.0 * share(counts.orphans, counts.notes)
        + 10.0 * share(counts.broken_fragments, counts.links)
        + 10.0 * share(counts.ambiguous_links, counts.links);
    // A whole number from 0 to 100. Only a vault without problems gets 100.
    let is_perfect = counts.broken_links + counts.orphans == 0
        && counts.broken_fragments + counts.ambiguous_links == 0;
    let score = score.round() as u32;
    if is_perfect { score } else { score.min(99) }
}

fn advice(counts: &HealthCounts) -> Vec<String> {
    let mut advice = Vec::new();
    if counts.broken_links > 0 {
        advice.push(format!(
            "{} to {}: see `unresolved` with `suggest`, then create the notes, or redirect the links with `rewrite`",
            counted(counts.broken_links, "broken link"),
            counted(counts.missing_targets, "missing file")
        ));
    }
    if counts.broken_fragments > 0 {
        advice.push(format!(
            "{} to a heading or block that does not exist: correct the part after `#`",
            counted(counts.broken_fragments, "link")
        ));
    }
    if counts.ambiguous_links > 0 {
        advice.push(format!(
            "{} can match several files: use the path, or rename the files",
            counted(counts.ambiguous_links, "link")
        ));
    }
    if counts.orphans > 0 {
        advice.push(format!(
            "{} without links: see `suggest` for possible links",
            counted(counts.orphans, "note")
        ));
    }
    if advice.is_empty() {
        advice.push("nothing to do".to_owned());
    }
    advice
}
