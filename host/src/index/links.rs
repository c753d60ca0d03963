//! What links lead to, for one asker: outgoing links, backlinks, links that lead nowhere, and who links to whom.

use std::collections::{BTreeMap, HashMap};

use notehost_sdk::fold_name;
use notehost_sdk::index::{
    Backlink, Backlinks, BacklinksOf, Degree, Edges, LinkAt, Missing, PlaceAt, Unresolved,
    UnresolvedIn,
};

use super::graph::{Graph, last_part};
use super::record::{Link, Note};
use super::text::Slots;
use super::viewer::Viewer;

/// Who links to whom, as one asker sees it. Notes that searches leave out are not in it.
pub(super) struct Web {
    /// From, to, how many links; sorted by slot.
    edges: Vec<(u32, u32, u32)>,
    degrees: HashMap<u32, Degree>,
    /// Targets that are not there: the most wanted first, then by name.
    missing: Vec<Wanted>,
    missing_links: u64,
}

/// A target that is not there.
struct Wanted {
    folded: String,
    /// Where it is linked to, in order, each with how it is spelt there.
    places: Vec<(PlaceAt, String)>,
}

impl Wanted {
    fn told(&self, places: usize) -> Missing {
        Missing {
            target: self
                .places
                .first()
                .map_or_else(String::new, |(_, target)| target.clone()),
            count: self.places.len() as u64,
            places: self
                .places
                .iter()
                .take(places)
                .map(|(place, _)| place.clone())
                .collect(),
        }
    }
}

impl Web {
    /// Follows every link of every note that the asker finds.
    pub(super) fn new(graph: &Graph, viewer: &Viewer) -> Web {
        let mut edges: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        let mut degrees: HashMap<u32, Degree> = HashMap::new();
        let mut missing: HashMap<String, Vec<(u32, u32, String)>> = HashMap::new();
        for slot in viewer.finds.iter() {
            let Some(note) = graph.note(slot) else {
                continue;
            };
            let source = graph.path(slot);
            for link in note.links() {
                match led(graph, source, &link, &viewer.sees) {
                    Led::Away => {}
                    Led::To(target) if target == slot => {}
                    Led::To(target) => {
                        degrees.entry(slot).or_default().outgoing += 1;
                        if viewer.finds.contains(target) {
                            degrees.entry(target).or_default().incoming += 1;
                            *edges.entry((slot, target)).or_default() += 1;
                        }
                    }
                    Led::Nowhere => {
                        degrees.entry(slot).or_default().broken += 1;
                        missing.entry(fold_name(link.target)).or_default().push((
                            slot,
                            link.line,
                            link.target.to_owned(),
                        ));
                    }
                }
            }
        }
        let missing_links = missing.values().map(|places| places.len() as u64).sum();
        Web {
            edges: edges
                .into_iter()
                .map(|((from, to), count)| (from, to, count))
                .collect(),
            degrees,
            missing: most_wanted(graph, missing),
            missing_links,
        }
    }

    /// How many links a note has.
    pub(super) fn degree(&self, slot: u32) -> Degree {
        self.degrees.get(&slot).copied().unwrap_or_default()
    }

    /// Who links to whom, for the asker.
    pub(super) fn told(&self, graph: &Graph, viewer: &Viewer) -> Edges {
        let mut slots: Vec<u32> = viewer.finds.iter().collect();
        slots.sort_unstable_by_key(|slot| graph.path(*slot));
        let numbers: HashMap<u32, u32> = slots.iter().copied().zip(0..).collect();
        let mut edges: Vec<[u32; 3]> = self
            .edges
            .iter()
            .filter_map(|(from, to, count)| Some([*numbers.get(from)?, *numbers.get(to)?, *count]))
            .collect();
        edges.sort_unstable();
        Edges {
            paths: slots
                .iter()
                .map(|slot| graph.path(*slot).to_owned())
                .collect(),
            edges: edges.into_iter().flatten().collect(),
            broken: slots.iter().map(|slot| self.degree(*slot).broken).collect(),
        }
    }

    /// A page of the targets that are not there.
    pub(super) fn unresolved(&self, asked: &UnresolvedIn) -> Unresolved {
        let page = |missing: &[Wanted]| -> Vec<Missing> {
            let offset = usize::try_from(asked.offset).unwrap_or(usize::MAX);
            let shown = missing.iter().skip(offset).take(asked.limit as usize);
            shown
                .map(|wanted| wanted.told(asked.places as usize))
                .collect()
        };
        if asked.under.is_empty() {
            return Unresolved {
                items: page(&self.missing),
                total: self.missing.len() as u64,
                links: self.missing_links,
            };
        }
        let mut within: Vec<Wanted> = Vec::new();
        for wanted in &self.missing {
            let places = wanted.places.iter();
            let places: Vec<(PlaceAt, String)> = places
                .filter(|(place, _)| is_under(&place.path, &asked.under))
                .cloned()
                .collect();
            if !places.is_empty() {
                within.push(Wanted {
                    folded: wanted.folded.clone(),
                    places,
                });
            }
        }
        sort_wanted(&mut within);
        Unresolved {
            items: page(&within),
            total: within.len() as u64,
            links: within.iter().map(|wanted| wanted.places.len() as u64).sum(),
        }
    }
}

/// Whether a path is this note, or lies in this folder or below it.
pub(super) fn is_under(path: &str, folder: &str) -> bool {
    folder.is_empty()
        || path
            .strip_prefix(folder)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The names by which links ask for a file.
struct Asking {
    name: String,
    stem: Option<String>,
}

impl Asking {
    fn new(path: &str) -> Asking {
        let name = fold_name(last_part(path));
        Asking {
            stem: name.strip_suffix(".md").map(str::to_owned),
            name,
        }
    }

    /// Whether a link asks for one of these names: few do, and only they have to be resolved.
    fn may_be(&self, link: &Link<'_>) -> bool {
        let asked = last_part(link.target);
        if link.external || !may_begin_alike(asked, &self.name) {
            return false;
        }
        let stem = self.stem.as_deref();
        match asked.is_ascii() {
            true => {
                self.name.eq_ignore_ascii_case(asked)
                    || stem.is_some_and(|stem| stem.eq_ignore_ascii_case(asked))
            }
            false => {
                let asked = fold_name(asked);
                asked == self.name || stem == Some(asked.as_str())
            }
        }
    }
}

/// Whether a text can fold to one that begins as `folded` does, seen at a glance.
fn may_begin_alike(text: &str, folded: &str) -> bool {
    let Some(first) = folded.chars().next().filter(char::is_ascii) else {
        return true;
    };
    match text.as_bytes() {
        // A mark that follows would change the first letter.
        [one, two, ..] if one.is_ascii() && two.is_ascii() => {
            one.to_ascii_lowercase() == first as u8
        }
        // Of other letters only a few signs and ligatures fold to plain ones, and none of these scripts.
        _ => !text.chars().next().is_some_and(
            |letter| matches!(letter, '\u{370}'..='\u{1dff}' | '\u{2e80}'..='\u{faff}'),
        ),
    }
}

/// Where a link leads.
enum Led {
    /// To this file.
    To(u32),
    /// To nothing that is there.
    Nowhere,
    /// Out of the vault.
    Away,
}

fn led(graph: &Graph, source: &str, link: &Link<'_>, sees: &Slots) -> Led {
    if link.external {
        return Led::Away;
    }
    let resolved = graph.resolve(source, link.target, sees);
    match resolved.and_then(|resolved| graph.slot(resolved.path)) {
        Some(slot) => Led::To(slot),
        None => Led::Nowhere,
    }
}

fn most_wanted(graph: &Graph, missing: HashMap<String, Vec<(u32, u32, String)>>) -> Vec<Wanted> {
    let mut told: Vec<Wanted> = missing
        .into_iter()
        .map(|(folded, places)| {
            let mut places: Vec<(PlaceAt, String)> = places
                .into_iter()
                .map(|(slot, line, target)| {
                    let path = graph.path(slot).to_owned();
                    (PlaceAt { path, line }, target)
                })
                .collect();
            // The links of one line stay in their order.
            places.sort_by(|one, other| one.0.cmp(&other.0));
            Wanted { folded, places }
        })
        .collect();
    sort_wanted(&mut told);
    told
}

fn sort_wanted(wanted: &mut [Wanted]) {
    wanted.sort_by(|one, other| {
        let by_count = other.places.len().cmp(&one.places.len());
        by_count.then_with(|| one.folded.cmp(&other.folded))
    });
}

/// The notes that link to a file, in order of path and without itself, each with how many of its links do.
pub(super) type Incoming = Vec<(u32, u32)>;

fn incoming(graph: &Graph, viewer: &Viewer, target: u32) -> Incoming {
    let mut sources: Vec<u32> = graph.asking_for(graph.path(target));
    sources.retain(|slot| *slot != target && viewer.sees.contains(*slot));
    let leads = Leads::to(graph, viewer, target);
    let counted = sources.into_iter().map(|slot| {
        let links = graph.note(slot).map(Note::links).unwrap_or_default();
        let there = links.iter().filter(|link| leads.has(slot, link));
        (slot, u32::try_from(there.count()).unwrap_or(u32::MAX))
    });
    let mut counted: Incoming = counted.filter(|(_, count)| *count > 0).collect();
    counted.sort_unstable_by_key(|(slot, _)| graph.path(*slot));
    counted
}

/// Tells links that lead to one file from others.
struct Leads<'a> {
    graph: &'a Graph,
    viewer: &'a Viewer,
    target: u32,
    asks: Asking,
}

impl<'a> Leads<'a> {
    fn to(graph: &'a Graph, viewer: &'a Viewer, target: u32) -> Leads<'a> {
        Leads {
            asks: Asking::new(graph.path(target)),
            graph,
            viewer,
            target,
        }
    }

    fn has(&self, source: u32, link: &Link<'_>) -> bool {
        self.asks.may_be(link)
            && matches!(
                led(self.graph, self.graph.path(source), link, &self.viewer.sees),
                Led::To(slot) if slot == self.target
            )
    }
}

/// The links to a file. Only the notes of the page are looked into; which notes link there is known since it was first
/// asked.
pub(super) fn backlinks(graph: &Graph, viewer: &Viewer, asked: &BacklinksOf) -> Backlinks {
    let mut answer = Backlinks::default();
    let Some(target) = graph
        .slot(&asked.path)
        .filter(|slot| viewer.sees.contains(*slot))
    else {
        return answer;
    };
    let known = viewer.incoming(graph, target, || incoming(graph, viewer, target));
    answer.notes = known.len() as u64;
    answer.total = known.iter().map(|(_, count)| u64::from(*count)).sum();
    let leads = Leads::to(graph, viewer, target);
    let mut to_skip = asked.offset;
    for &(slot, count) in known.iter() {
        let room = (asked.limit as usize).saturating_sub(answer.items.len());
        if room == 0 {
            break;
        }
        if to_skip >= u64::from(count) {
            to_skip -= u64::from(count);
            continue;
        }
        let skipped = usize::try_from(std::mem::take(&mut to_skip)).unwrap_or(usize::MAX);
        let links = graph.note(slot).map(Note::links_in_context);
        let there = links.into_iter().flatten();
        let there = there.filter(|(link, _)| leads.has(slot, link));
        let path = graph.path(slot);
        answer.items.extend(
            there
                .skip(skipped)
                .take(room)
                .map(|(link, context)| Backlink {
                    path: path.to_owned(),
                    line: link.line,
                    context: context.to_owned(),
                    kind: link.kind,
                    fragment: link.fragment.map(str::to_owned),
                }),
        );
    }
    answer
}

/// The notes that link to a file, without itself.
pub(super) fn sources(graph: &Graph, viewer: &Viewer, path: &str) -> Slots {
    let Some(target) = graph.slot(path).filter(|slot| viewer.sees.contains(*slot)) else {
        return Slots::default();
    };
    let known = viewer.incoming(graph, target, || incoming(graph, viewer, target));
    known.iter().map(|(slot, _)| *slot).collect()
}

/// The files that a note links to, without itself.
pub(super) fn targets(graph: &Graph, viewer: &Viewer, path: &str) -> Slots {
    let Some(slot) = graph.slot(path).filter(|slot| viewer.sees.contains(*slot)) else {
        return Slots::default();
    };
    let links = graph.note(slot).map(Note::links).unwrap_or_default();
    let led_to = links
        .iter()
        .filter_map(|link| match led(graph, path, link, &viewer.sees) {
            Led::To(target) if target != slot => Some(target),
            _ => None,
        });
    led_to.collect()
}

/// The links of a note, with what they lead to.
pub(super) fn outgoing(graph: &Graph, viewer: &Viewer, slot: u32) -> Vec<LinkAt> {
    let Some(note) = graph.note(slot) else {
        return Vec::new();
    };
    let source = graph.path(slot);
    let told = note.links().into_iter().map(|link| {
        let resolved = match link.external {
            true => None,
            false => graph.resolve(source, link.target, &viewer.sees),
        };
        let fragment_found = match (&resolved, &link.fragment) {
            (Some(resolved), Some(fragment)) => graph
                .slot(resolved.path)
                .and_then(|slot| graph.note(slot))
                .map(|note| has_place(note, fragment)),
            _ => None,
        };
        LinkAt {
            kind: link.kind,
            path: resolved.map(|resolved| resolved.path.to_owned()),
            rivals: resolved.map_or(0, |resolved| {
                u32::try_from(resolved.rivals).unwrap_or(u32::MAX)
            }),
            fragment_found,
            target: link.target.to_owned(),
            fragment: link.fragment.map(str::to_owned),
            text: link.text.map(str::to_owned),
            line: link.line,
            external: link.external,
        }
    });
    told.collect()
}

/// Whether a note has the heading or block that a fragment names.
fn has_place(note: &Note, fragment: &str) -> bool {
    let rest = note.rest();
    notehost_sdk::text::facts::has_place(&rest.headings, &rest.blocks, fragment)
}
