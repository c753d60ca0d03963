//! Links of single notes for one caller: outgoing links, backlinks, and the notes that link to a file. The links of
//! the whole vault are in `link_graph.rs`.

use std::borrow::Cow;
use std::collections::HashMap;

use notehost_sdk::fold_name;
use notehost_sdk::index::{Backlink, Backlinks, BacklinksQuery, LinkAt};
use notehost_sdk::text::facts::has_place;
use notehost_sdk::text::links::Resolved;

use super::caller_view::CallerView;
use crate::graph::contexts;
use crate::graph::record::{Link, Note};
use crate::graph::{Graph, last_part};
use crate::limits::answer_budget::AnswerBudget;
use crate::limits::bounds::MAX_RESULTS;
use crate::limits::deadline::Deadline;
use crate::limits::order::in_order;
use crate::text::Bitmap;
use notehost_vault::VaultError;

/// Whether a path is this note, or is in this folder or below it.
pub(crate) fn is_under(path: &str, folder: &str) -> bool {
    folder.is_empty()
        || path
            .strip_prefix(folder)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The names by which links refer to a file.
struct TargetNames {
    name: String,
    stem: Option<String>,
}

impl TargetNames {
    fn new(path: &str) -> TargetNames {
        let name = fold_name(last_part(path));
        TargetNames {
            stem: name.strip_suffix(".md").map(str::to_owned),
            name,
        }
    }

    /// Whether a link refers to one of these names: few do, and only they have to be resolved.
    fn may_be(&self, link: &Link<'_>) -> bool {
        let name = last_part(link.target);
        if link.external || !may_begin_alike(name, &self.name) {
            return false;
        }
        let stem = self.stem.as_deref();
        match name.is_ascii() {
            true => {
                self.name.eq_ignore_ascii_case(name)
                    || stem.is_some_and(|stem| stem.eq_ignore_ascii_case(name))
            }
            false => {
                let name = fold_name(name);
                name == self.name || stem == Some(name.as_str())
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

/// The target of a link.
#[derive(Clone, Copy)]
pub(crate) enum LinkTarget {
    /// To this file.
    To(u32),
    /// To a missing file.
    Nowhere,
    /// Out of the vault.
    Away,
}

/// Follows the links of one note. Each target is resolved once: many links of a note are to the same file, and many files
/// may have the name that they refer to.
pub(crate) struct Resolver<'a> {
    graph: &'a Graph,
    source: &'a str,
    sees: &'a Bitmap,
    known: HashMap<&'a str, Option<Resolved<'a>>>,
}

impl<'a> Resolver<'a> {
    pub(crate) fn of(graph: &'a Graph, source: u32, sees: &'a Bitmap) -> Resolver<'a> {
        Resolver {
            graph,
            source: graph.path(source),
            sees,
            known: HashMap::new(),
        }
    }

    fn resolve(
        &mut self,
        target: &'a str,
        deadline: &Deadline,
    ) -> Result<Option<Resolved<'a>>, VaultError> {
        if let Some(known) = self.known.get(target) {
            return Ok(*known);
        }
        deadline.check()?;
        let resolved = self.graph.resolve(self.source, target, self.sees);
        self.known.insert(target, resolved);
        Ok(resolved)
    }

    pub(crate) fn led(
        &mut self,
        link: &Link<'a>,
        deadline: &Deadline,
    ) -> Result<LinkTarget, VaultError> {
        if link.external {
            return Ok(LinkTarget::Away);
        }
        let resolved = self.resolve(link.target, deadline)?;
        let doc_id = resolved.and_then(|resolved| self.graph.doc_id(resolved.path));
        Ok(doc_id.map_or(LinkTarget::Nowhere, LinkTarget::To))
    }
}

/// The encoded lines in which the links of a note occur; none if they cannot be read.
fn contexts_of<'g>(note: &'g Note, deadline: &Deadline) -> Result<Cow<'g, [u8]>, VaultError> {
    deadline.before(note.contexts().len())?;
    let read = note.contexts().bytes();
    Ok(read.unwrap_or_else(|error| {
        tracing::warn!("cannot read the lines of links: {}", error.kind());
        Cow::default()
    }))
}

/// The links of a note, decoded.
fn links_of<'g>(
    graph: &'g Graph,
    doc_id: u32,
    deadline: &Deadline,
) -> Result<impl Iterator<Item = Link<'g>>, VaultError> {
    let note = graph.note(doc_id);
    deadline.before(note.map_or(0, Note::link_bytes))?;
    Ok(note.into_iter().flat_map(Note::links))
}

/// The notes that link to a file, in order of path and without itself, each with how many of its links do.
pub(crate) type Incoming = Vec<(u32, u32)>;

fn incoming(
    graph: &Graph,
    view: &CallerView,
    target: u32,
    deadline: &Deadline,
) -> Result<Incoming, VaultError> {
    let mut sources: Vec<u32> = graph.sources_naming(graph.path(target));
    deadline.before_all(sources.len() * size_of::<u32>())?;
    sources.retain(|doc_id| *doc_id != target && view.sees.contains(*doc_id));
    let names = TargetNames::new(graph.path(target));
    let mut counted: Incoming = Vec::new();
    for doc_id in sources {
        let mut leads = LinkMatcher::to(graph, view, doc_id, target, &names);
        let mut count = 0_u32;
        for link in links_of(graph, doc_id, deadline)? {
            deadline.step()?;
            count = count.saturating_add(u32::from(leads.has(&link, deadline)?));
        }
        if count > 0 {
            counted.push((doc_id, count));
        }
    }
    let by_path =
        |(one, _): &(u32, u32), (other, _): &(u32, u32)| graph.path(*one).cmp(graph.path(*other));
    in_order(counted, by_path, deadline)
}

/// Finds the links of a note that lead to one file.
struct LinkMatcher<'a> {
    resolver: Resolver<'a>,
    target: u32,
    names: &'a TargetNames,
}

impl<'a> LinkMatcher<'a> {
    fn to(
        graph: &'a Graph,
        view: &'a CallerView,
        source: u32,
        target: u32,
        names: &'a TargetNames,
    ) -> LinkMatcher<'a> {
        LinkMatcher {
            resolver: Resolver::of(graph, source, &view.sees),
            target,
            names,
        }
    }

    fn has(&mut self, link: &Link<'a>, deadline: &Deadline) -> Result<bool, VaultError> {
        if !self.names.may_be(link) {
            return Ok(false);
        }
        let led = self.resolver.led(link, deadline)?;
        Ok(matches!(led, LinkTarget::To(doc_id) if doc_id == self.target))
    }
}

/// The links to a file. Only the notes of the page are looked into; which notes link there is cached by the first
/// query.
pub(crate) fn backlinks(
    graph: &Graph,
    view: &CallerView,
    query: &BacklinksQuery,
    budget: &AnswerBudget,
    deadline: &Deadline,
) -> Result<Backlinks, VaultError> {
    let mut answer = Backlinks::default();
    let Some(target) = graph
        .doc_id(&query.path)
        .filter(|doc_id| view.sees.contains(*doc_id))
    else {
        return Ok(answer);
    };
    let find = || incoming(graph, view, target, deadline);
    let known = view.incoming(graph, target, find)?;
    answer.notes = known.len() as u64;
    answer.total = known.iter().map(|(_, count)| u64::from(*count)).sum();
    let names = TargetNames::new(graph.path(target));
    let limit = query.limit.min(MAX_RESULTS) as usize;
    let mut to_skip = query.offset;
    for &(doc_id, count) in known.iter() {
        deadline.step()?;
        if answer.items.len() >= limit {
            break;
        }
        if to_skip >= u64::from(count) {
            to_skip -= u64::from(count);
            continue;
        }
        let mut leads = LinkMatcher::to(graph, view, doc_id, target, &names);
        let path = graph.path(doc_id);
        let room = limit - answer.items.len();
        let mut shown = Vec::new();
        for (at, link) in links_of(graph, doc_id, deadline)?.enumerate() {
            deadline.step()?;
            if !leads.has(&link, deadline)? {
                continue;
            }
            if to_skip > 0 {
                to_skip -= 1;
                continue;
            }
            if shown.len() >= room {
                break;
            }
            shown.push((at, link));
        }
        let contexts = match graph.note(doc_id) {
            Some(note) if !shown.is_empty() => contexts_of(note, deadline)?,
            _ => Cow::default(),
        };
        let contexts = contexts::decoded(&contexts);
        for (at, link) in shown {
            deadline.step()?;
            let context = contexts.get(at).copied().unwrap_or_default();
            budget.take_item([path.len(), context.len(), link.fragment.map_or(0, str::len)])?;
            answer.items.push(Backlink {
                path: path.to_owned(),
                line: link.line,
                context: context.to_owned(),
                kind: link.kind,
                fragment: link.fragment.map(str::to_owned),
            });
        }
    }
    Ok(answer)
}

/// The notes that link to a file, without itself.
pub(crate) fn sources(
    graph: &Graph,
    view: &CallerView,
    path: &str,
    deadline: &Deadline,
) -> Result<Bitmap, VaultError> {
    let Some(target) = graph
        .doc_id(path)
        .filter(|doc_id| view.sees.contains(*doc_id))
    else {
        return Ok(Bitmap::default());
    };
    let find = || incoming(graph, view, target, deadline);
    let known = view.incoming(graph, target, find)?;
    Ok(known.iter().map(|(doc_id, _)| *doc_id).collect())
}

/// The files that a note links to, without itself.
pub(crate) fn targets(
    graph: &Graph,
    view: &CallerView,
    path: &str,
    deadline: &Deadline,
) -> Result<Bitmap, VaultError> {
    let mut led_to = Bitmap::default();
    let Some(doc_id) = graph
        .doc_id(path)
        .filter(|doc_id| view.sees.contains(*doc_id))
    else {
        return Ok(led_to);
    };
    let mut resolver = Resolver::of(graph, doc_id, &view.sees);
    for link in links_of(graph, doc_id, deadline)? {
        deadline.step()?;
        match resolver.led(&link, deadline)? {
            LinkTarget::To(target) if target != doc_id => {
                led_to.insert(target);
            }
            _ => {}
        }
    }
    Ok(led_to)
}

/// The links of a note, with what they lead to.
pub(crate) fn outgoing(
    graph: &Graph,
    view: &CallerView,
    doc_id: u32,
    budget: &AnswerBudget,
    deadline: &Deadline,
) -> Result<Vec<LinkAt>, VaultError> {
    let mut resolver = Resolver::of(graph, doc_id, &view.sees);
    let mut rendered = Vec::new();
    let mut fragments: HashMap<u32, Vec<(usize, &str)>> = HashMap::new();
    for (at, link) in links_of(graph, doc_id, deadline)?.enumerate() {
        deadline.step()?;
        let resolved = match link.external {
            true => None,
            false => resolver.resolve(link.target, deadline)?,
        };
        if let (Some(resolved), Some(fragment)) = (&resolved, link.fragment)
            && let Some(target) = graph.doc_id(resolved.path)
        {
            fragments.entry(target).or_default().push((at, fragment));
        }
        budget.take_item([
            link.target.len(),
            resolved.map_or(0, |resolved| resolved.path.len()),
            link.fragment.map_or(0, str::len),
            link.text.map_or(0, str::len),
        ])?;
        rendered.push(LinkAt {
            kind: link.kind,
            path: resolved.map(|resolved| resolved.path.to_owned()),
            rivals: resolved.map_or(0, |resolved| {
                u32::try_from(resolved.rivals).unwrap_or(u32::MAX)
            }),
            fragment_found: None,
            target: link.target.to_owned(),
            fragment: link.fragment.map(str::to_owned),
            text: link.text.map(str::to_owned),
            line: link.line,
            external: link.external,
        });
    }
    for (target, fragments) in fragments {
        let Some(note) = graph.note(target) else {
            continue;
        };
        for (at, is_found) in places_in(note, &fragments, deadline)? {
            rendered[at].fragment_found = Some(is_found);
        }
    }
    Ok(rendered)
}

/// For each fragment, which names a heading or a block, whether a note has it. The note is decoded once, and each fragment
/// looked for once.
fn places_in(
    note: &Note,
    fragments: &[(usize, &str)],
    deadline: &Deadline,
) -> Result<Vec<(usize, bool)>, VaultError> {
    let bytes = note.rest_bytes();
    deadline.before(bytes)?;
    let rest = note.rest();
    let mut known: HashMap<&str, bool> = HashMap::new();
    let mut found = Vec::with_capacity(fragments.len());
    for (at, fragment) in fragments {
        deadline.step()?;
        let is_found = match known.get(fragment) {
            Some(is_found) => *is_found,
            None => {
                // All headings are compared with it.
                deadline.before(bytes)?;
                let is_found = has_place(&rest.headings, &rest.blocks, fragment);
                known.insert(fragment, is_found);
                is_found
            }
        };
        found.push((*at, is_found));
    }
    Ok(found)
}
