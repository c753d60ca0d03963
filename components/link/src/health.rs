//! How well a vault hangs together, and what to do about it.

use notehost_sdk::index::{Condition, Field, Has, Query, Sort, SortBy, UnresolvedQuery};
use notehost_sdk::prelude::*;

use crate::asking::Place;
use crate::drawing::rounded;
use crate::network::Network;
use crate::orphans;
use crate::outgoing::State;
use notehost_sdk::index::{Building, building, unfinished};
use notehost_sdk::pages::counted;

/// How many of each kind are told unless the caller says.
const USUAL: usize = 10;
/// How many a caller may ask for.
const MOST: usize = 100;
/// How many notes the index is asked for at once.
const AT_ONCE: u32 = 500;
/// How many notes of a circle are told.
const IN_CIRCLE: usize = 10;
/// A note is a hub if it has so many times the incoming links of the average note, and at least [`FEWEST`].
const HUB: f64 = 5.0;
const FEWEST: usize = 5;

/// Check the links of the vault: broken links and fragments, ambiguous links, orphans, circles, hubs, with counts, a
/// score and what to do.
///
/// Example: `{}`
#[args]
pub struct Health {
    /// How many of each kind to list, 1–100 (default 10).
    pub limit: Option<usize>,
}

/// How the links of the vault are.
#[reply]
pub struct Report {
    /// 0 to 100: half for links that lead somewhere, a third for notes that are linked, the rest for fragments that are
    /// there and links that mean one file.
    pub score: u32,
    /// How many there are of everything.
    pub counts: HealthCounts,
    /// What to do, the most useful first.
    pub advice: Vec<String>,
    /// What broken links name, the most wanted first.
    pub broken: Vec<BrokenTarget>,
    /// Links to a heading or block that is not in its note.
    pub broken_fragments: Vec<DoubtfulLink>,
    /// Links whose words fit several files.
    pub ambiguous: Vec<DoubtfulLink>,
    /// Notes without any links, in or out.
    pub orphans: Vec<String>,
    /// Sets of notes that lead to each other in circles, the largest first.
    pub cycles: Vec<Circle>,
    /// Notes that unusually many others link to.
    pub hubs: Vec<Hub>,
    /// Only while the index is being built.
    pub index: Option<Building>,
}

/// How many there are of everything.
#[reply]
#[derive(Default)]
pub struct HealthCounts {
    /// Notes.
    pub notes: u64,
    /// Links to files of the vault, whether they are there or not.
    pub links: u64,
    /// Links that lead nowhere.
    pub broken_links: u64,
    /// What those name.
    pub missing_targets: u64,
    /// Links to a heading or block that is not there.
    pub broken_fragments: u64,
    /// Links whose words fit several files.
    pub ambiguous_links: u64,
    /// Notes without any links.
    pub orphans: u64,
    /// Notes that no other links to.
    pub without_incoming: u64,
    /// Sets of notes that lead to each other.
    pub cycles: u64,
    /// Notes that unusually many others link to.
    pub hubs: u64,
}

/// Something that links name and that is not there.
#[reply]
pub struct BrokenTarget {
    /// As a link names it.
    pub target: String,
    /// How many links do.
    pub count: u64,
    /// Where the first stands.
    pub places: Vec<Place>,
}

/// A link that may not mean what it should.
#[reply]
pub struct DoubtfulLink {
    /// The note in which it stands.
    pub path: String,
    /// The line of the file, from 1.
    pub line: u32,
    /// The target as it is written, with its fragment.
    pub target: String,
    /// The file that it leads to.
    pub to: String,
    /// How many other files its words fit.
    pub rivals: Option<u32>,
}

/// Notes that lead to each other in circles.
#[reply]
pub struct Circle {
    /// How many notes.
    pub size: usize,
    /// The first ten of them, by path.
    pub notes: Vec<String>,
}

/// A note that many others link to.
#[reply]
pub struct Hub {
    /// The note.
    pub path: String,
    /// How many notes link to it.
    pub incoming: usize,
    /// To how many it links.
    pub outgoing: usize,
    /// Its PageRank as a multiple of the average.
    pub rank: f64,
}

impl Action for Health {
    type Output = Report;
    const EFFECT: Effect = Effect::Read;

    fn run(self, vault: &Vault) -> Result<Report> {
        let limit = self.limit.unwrap_or(USUAL);
        if !(1..=MOST).contains(&limit) {
            return Err(Error::validation(format!(
                "`limit` is {limit}, and may be 1 to {MOST}"
            )));
        }
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
        report.look_at_missing(vault, limit)?;
        report.look_at_links(vault, limit)?;
        report.look_at_orphans(vault, limit)?;
        report.look_at_network(&Network::of(vault)?, limit);
        report.score = score(&report.counts);
        report.advice = advice(&report.counts);
        Ok(report)
    }

    fn text(output: &Report) -> String {
        let counts = &output.counts;
        let mut text = format!(
            "score {} of 100: {}, {}, {} broken, {} to missing places, {} ambiguous, {} orphaned, {}, {}",
            output.score,
            counted(counts.notes, "note"),
            counted(counts.links, "link"),
            counts.broken_links,
            counts.broken_fragments,
            counts.ambiguous_links,
            counts.orphans,
            counted(counts.cycles, "cycle"),
            counted(counts.hubs, "hub")
        );
        for advice in &output.advice {
            text.push_str(&format!("\n- {advice}"));
        }
        for item in &output.broken {
            text.push_str(&format!("\nbroken: {} ({})", item.target, item.count));
        }
        for item in &output.broken_fragments {
            text.push_str(&format!(
                "\nno such place: {} ({}, line {})",
                item.target, item.path, item.line
            ));
        }
        for item in &output.ambiguous {
            text.push_str(&format!(
                "\nambiguous: {} → {} ({}, line {})",
                item.target, item.to, item.path, item.line
            ));
        }
        for path in &output.orphans {
            text.push_str(&format!("\norphan: {path}"));
        }
        for circle in &output.cycles {
            text.push_str(&format!(
                "\ncycle of {}: {}",
                circle.size,
                circle.notes.join(", ")
            ));
        }
        for hub in &output.hubs {
            text.push_str(&format!("\nhub: {} ({} in)", hub.path, hub.incoming));
        }
        text + &unfinished(output.index.as_ref())
    }
}

impl Report {
    fn look_at_missing(&mut self, vault: &Vault, limit: usize) -> Result<()> {
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
            places: missing
                .places
                .into_iter()
                .map(|place| Place {
                    path: place.path,
                    line: place.line,
                })
                .collect(),
        });
        self.broken = items.collect();
        Ok(())
    }

    /// Look at every link of every note.
    fn look_at_links(&mut self, vault: &Vault, limit: usize) -> Result<()> {
        let mut query = Query {
            condition: Some(Condition::Has(Has::Links)),
            sort: by_path(),
            limit: AT_ONCE,
            fields: vec![Field::Links],
            ..Query::default()
        };
        loop {
            let page = vault.find(&query)?;
            let is_last = page.items.is_empty();
            query.offset += page.items.len() as u64;
            for note in page.items {
                for link in note.links.unwrap_or_default() {
                    if link.external || link.target.is_empty() && link.fragment.is_none() {
                        continue;
                    }
                    self.counts.links += 1;
                    let state = State::of(&link);
                    let Some(to) = link.path else { continue };
                    let doubtful = DoubtfulLink {
                        path: note.path.clone(),
                        line: link.line,
                        target: link.target + link.fragment.as_deref().unwrap_or_default(),
                        to,
                        rivals: (link.rivals > 0).then_some(link.rivals),
                    };
                    if link.rivals > 0 {
                        self.counts.ambiguous_links += 1;
                        if self.ambiguous.len() < limit {
                            self.ambiguous.push(doubtful.clone());
                        }
                    }
                    if state == State::BrokenFragment {
                        self.counts.broken_fragments += 1;
                        if self.broken_fragments.len() < limit {
                            self.broken_fragments.push(doubtful);
                        }
                    }
                }
            }
            if is_last || query.offset >= page.total {
                return Ok(());
            }
        }
    }

    fn look_at_orphans(&mut self, vault: &Vault, limit: usize) -> Result<()> {
        let ask = |incoming_only: bool, limit: usize| {
            vault.find(&Query {
                condition: Some(orphans::condition(String::new(), incoming_only)),
                sort: by_path(),
                limit: u32::try_from(limit).unwrap_or(u32::MAX),
                ..Query::default()
            })
        };
        let found = ask(false, limit)?;
        self.counts.orphans = found.total;
        self.orphans = found.items.into_iter().map(|note| note.path).collect();
        self.counts.without_incoming = ask(true, 0)?.total;
        Ok(())
    }

    fn look_at_network(&mut self, network: &Network, limit: usize) {
        self.counts.notes = network.len() as u64;
        let circles = network.circles();
        self.counts.cycles = circles.len() as u64;
        let shown = circles.into_iter().take(limit).map(|circle| Circle {
            size: circle.len(),
            notes: circle
                .iter()
                .take(IN_CIRCLE)
                .map(|note| network.paths[*note].clone())
                .collect(),
        });
        self.cycles = shown.collect();

        let incoming = |note: usize| network.degree(note).0;
        let all: usize = (0..network.len()).map(incoming).sum();
        let usual = all as f64 / network.len().max(1) as f64;
        let mut hubs: Vec<usize> = (0..network.len())
            .filter(|note| incoming(*note) >= FEWEST && incoming(*note) as f64 >= HUB * usual)
            .collect();
        hubs.sort_by_key(|note| (std::cmp::Reverse(incoming(*note)), *note));
        self.counts.hubs = hubs.len() as u64;
        if hubs.is_empty() {
            return;
        }
        let ranks = network.ranks();
        let shown = hubs.into_iter().take(limit).map(|note| Hub {
            path: network.paths[note].clone(),
            incoming: incoming(note),
            outgoing: network.degree(note).1,
            rank: rounded(ranks[note] * network.len() as f64),
        });
        self.hubs = shown.collect();
    }
}

fn by_path() -> Vec<Sort> {
    vec![Sort {
        by: SortBy::Path,
        descending: false,
    }]
}

fn score(counts: &HealthCounts) -> u32 {
    let good = |bad: u64, all: u64| 1.0 - bad.min(all) as f64 / all.max(1) as f64;
    let score = 50.0 * good(counts.broken_links, counts.links)
        + 30.0 * good(counts.orphans, counts.notes)
        + 10.0 * good(counts.broken_fragments, counts.links)
        + 10.0 * good(counts.ambiguous_links, counts.links);
    // A whole number from 0 to 100. Only what is perfect gets 100.
    let is_perfect = counts.broken_links + counts.orphans == 0
        && counts.broken_fragments + counts.ambiguous_links == 0;
    let score = score.round() as u32;
    if is_perfect { score } else { score.min(99) }
}

fn advice(counts: &HealthCounts) -> Vec<String> {
    let mut advice = Vec::new();
    if counts.broken_links > 0 {
        advice.push(format!(
            "{} to {}: see `unresolved` with `suggest`, then create the notes, or lead the links elsewhere with `rewrite`",
            counted(counts.broken_links, "broken link"),
            counted(counts.missing_targets, "missing file")
        ));
    }
    if counts.broken_fragments > 0 {
        advice.push(format!(
            "{} to a heading or block that is not there: correct the part behind `#`",
            counted(counts.broken_fragments, "link")
        ));
    }
    if counts.ambiguous_links > 0 {
        advice.push(format!(
            "{} could mean several files: write the path, or give the files different names",
            counted(counts.ambiguous_links, "link")
        ));
    }
    if counts.orphans > 0 {
        advice.push(format!(
            "{} without links: see `suggest` for what each could be linked with",
            counted(counts.orphans, "note")
        ));
    }
    if advice.is_empty() {
        advice.push("nothing to do".to_owned());
    }
    advice
}
