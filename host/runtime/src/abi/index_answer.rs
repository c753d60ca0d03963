//! The answers of the index as the contract's types of the `index` interface.

use notehost_sdk::index as own;
use serde_json::Value;

use super::v1::bindings::notehost::domain::index as wire;
use super::{same_cases, same_fields};

same_cases! {
    own::LinkKind => wire::LinkKind { Wiki, Embed, Markdown, Image, Definition, Property }
}

same_fields! {
    own::Snippet => wire::Snippet { line, text }
    own::TagAt => wire::TagAt { tag, line, property }
    own::HeadingAt => wire::HeadingAt { level, text, line }
    own::BlockAt => wire::BlockAt { id, line }
    own::TaskAt => wire::TaskAt { status, text, line }
    own::Degree => wire::Degree { incoming, outgoing, broken }
    own::PlaceAt => wire::Place { path, line }
    own::NameAt => wire::NameAt { path, start, end, alias }
}

/// The list with each item converted.
pub(super) fn list<From, To: std::convert::From<From>>(items: Vec<From>) -> Vec<To> {
    items.into_iter().map(To::from).collect()
}

impl From<Option<own::IndexState>> for wire::IndexState {
    fn from(state: Option<own::IndexState>) -> Self {
        match state {
            Some(state) => wire::IndexState {
                readiness: match state.state {
                    own::Progress::Building => wire::Readiness::Building,
                    own::Progress::Ready => wire::Readiness::Ready,
                },
                done: state.done,
                total: state.total,
                assistant_tag: state.assistant_tag,
            },
            // Nothing is known yet.
            None => wire::IndexState {
                readiness: wire::Readiness::Building,
                done: 0,
                total: 0,
                assistant_tag: None,
            },
        }
    }
}

impl From<own::Found> for wire::Found {
    fn from(found: own::Found) -> Self {
        wire::Found {
            items: list(found.items),
            total: found.total,
            widened: found.widened,
        }
    }
}

impl From<own::FoundNote> for wire::FoundNote {
    fn from(note: own::FoundNote) -> Self {
        wire::FoundNote {
            path: note.path,
            score: note.score,
            snippets: list(note.snippets),
            modified: note.modified,
            size: note.size,
            etag: note.etag,
            properties: note
                .properties
                .map(|properties| Value::Object(properties).to_string()),
            tags: note.tags.map(list),
            aliases: note.aliases,
            headings: note.headings.map(list),
            links: note.links.map(list),
            blocks: note.blocks.map(list),
            tasks: note.tasks.map(list),
            degree: note.degree.map(wire::Degree::from),
        }
    }
}

impl From<own::LinkAt> for wire::LinkAt {
    fn from(link: own::LinkAt) -> Self {
        wire::LinkAt {
            kind: link.kind.into(),
            target: link.target,
            fragment: link.fragment,
            text: link.text,
            line: link.line,
            path: link.path,
            rivals: link.rivals,
            fragment_found: link.fragment_found,
            external: link.external,
        }
    }
}

impl From<own::Backlinks> for wire::BacklinksPage {
    fn from(backlinks: own::Backlinks) -> Self {
        let items = backlinks.items.into_iter();
        let items = items.map(|link| wire::Backlink {
            path: link.path,
            line: link.line,
            context: link.context,
            kind: link.kind.into(),
            fragment: link.fragment,
        });
        wire::BacklinksPage {
            items: items.collect(),
            total: backlinks.total,
            notes: backlinks.notes,
        }
    }
}

impl From<own::Unresolved> for wire::UnresolvedPage {
    fn from(unresolved: own::Unresolved) -> Self {
        let items = unresolved.items.into_iter();
        let items = items.map(|missing| wire::MissingTarget {
            target: missing.target,
            count: missing.count,
            places: list(missing.places),
        });
        wire::UnresolvedPage {
            items: items.collect(),
            total: unresolved.total,
            links: unresolved.links,
        }
    }
}

impl From<own::Tags> for wire::TagsPage {
    fn from(tags: own::Tags) -> Self {
        let items = tags.items.into_iter().map(|tag| wire::TagCount {
            tag: tag.tag,
            notes: tag.notes,
            exact: tag.own,
        });
        wire::TagsPage {
            items: items.collect(),
            total: tags.total,
        }
    }
}

impl From<own::Edges> for wire::LinkGraph {
    fn from(graph: own::Edges) -> Self {
        let (triples, _) = graph.edges.as_chunks();
        let edges = triples.iter().map(|&[source, target, links]| wire::Edge {
            source,
            target,
            links,
        });
        wire::LinkGraph {
            edges: edges.collect(),
            paths: graph.paths,
            broken: graph.broken,
        }
    }
}
